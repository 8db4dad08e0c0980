"""How many bytes of KV does a token of this model take?

Any Hugging Face config.json is read into a `KvShape`: which layers keep KV for the
whole context, which for a window, which keep a fixed state instead; and how wide a
token's KV is in each. The quirks of such files are handled by what the file says, by
its model type only where it says nothing.
Left out: the names under which a file says it (model_keys.py), named models
(model_table.py), memory and concurrency (capacity.py), encoder layers, draft layers for
speculation.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .errors import InputError
from .model_keys import Config, Keys, text_config

Layer = Literal["full", "window", "state"]
MOST_LAYERS = 10_000


class KvShape(Struct, frozen=True, kw_only=True):
    """What of a model decides the size of its KV.

    Units: `width` and `window_width` in elements that one layer keeps of one token
    (K and V of all heads together, or MLA's latent); `window` in tokens; `kv_heads` is
    None for MLA, which tensor parallelism does not split. `indexer_bytes` come on top
    for sparse attention, bytes a token over all layers. `kv_bits` is what the file asks
    for, None where it leaves that to the server.
    """

    name: str
    full_layers: int
    window_layers: int
    state_layers: int
    width: int
    window_width: int
    window: int | None
    kv_heads: int | None
    head_dim: int | None
    indexer_bytes: int = 0
    kv_bits: int | None = None

    def bytes_full(self, element: float = 2) -> int:
        """Return bytes a token takes in the layers that keep everything, all GPUs."""
        return int(self.full_layers * self.width * element)

    def bytes_window(self, element: float = 2) -> int:
        """Return bytes a token takes in window layers, while it is in the window."""
        return int(self.window_layers * self.window_width * element)


def read_config(config: Config, where: str = "config.json") -> KvShape:
    """Return the shape that a config.json describes.

    Raises: InputError naming the key where the file says too little or nonsense.

    >>> llama = {"num_hidden_layers": 32, "hidden_size": 4096,
    ...          "num_attention_heads": 32, "num_key_value_heads": 8}
    >>> read_config(llama).bytes_full()
    131072
    """
    if not isinstance(config, dict):
        raise InputError(where, "is not a JSON object", "give a model's config.json")
    text = Keys(text_config(config), where)
    kinds = _kinds(text)
    window = _window(text)
    width, heads, head_dim = _width(text)
    return KvShape(
        name=str(config.get("_name_or_path") or config.get("model_type") or where)[:80],
        full_layers=kinds.count("full"),
        window_layers=kinds.count("window"),
        state_layers=kinds.count("state"),
        width=width,
        window_width=_window_width(text, width),
        window=window if "window" in kinds else None,
        kv_heads=heads,
        head_dim=head_dim,
        indexer_bytes=_indexer(text, kinds.count("full")),
        kv_bits=_kv_bits(config),
    )


# --- which layers keep what


def _num_layers(text: Keys) -> int:
    layers = text.need("num_hidden_layers", "n_layer", "num_layers", "n_layers")
    if layers > MOST_LAYERS:
        raise InputError(text.where, f"has {layers} layers", "give a model's config")
    return layers


def _kinds(text: Keys) -> list[Layer]:
    """Return what each layer keeps; layers that borrow another's KV are left out."""
    layers = _num_layers(text)
    kinds = _listed(text, layers) or _linear(text, layers) or _sliding(text, layers)
    if _window(text) is None:
        kinds = ["full" if kind == "window" else kind for kind in kinds]
    shared = text.count("num_kv_shared_layers") or 0
    if shared >= len(kinds):
        raise InputError(
            text.where, f"{shared} of {len(kinds)} layers borrow their KV",
            "at least one must have its own",
        )  # fmt: skip
    return kinds[: len(kinds) - shared]


_KINDS: dict[str, Layer] = {
    "full_attention": "full", "attention": "full", "full": "full", "global": "full",
    "hybrid": "full", "sliding_attention": "window", "sliding": "window",
    "local": "window", "chunked_attention": "window", "linear_attention": "state",
    "mamba": "state", "mamba2": "state", "conv": "state", "recurrent": "state",
    "linear": "state",
}  # fmt: skip


def _listed(text: Keys, layers: int) -> list[Layer]:
    """Return the kinds that the file lists layer by layer, or for a few that repeat;
    empty if it does not.

    Raises: InputError for a list that ends before the last layer.
    """
    for key in ("layer_types", "layers_block_type", "block_types"):
        names = text.names(key) * (layers if key == "block_types" else 1)
        if 0 < len(names) < layers:
            raise InputError(
                text.where, f"{key} names {len(names)} of {layers} layers",
                "check num_hidden_layers",
            )  # fmt: skip
        if names:
            told = names[:layers]
            return [_KINDS.get(str(name), "full") for name in told if name != "moe"]
    if groups := _groups(text):
        return ["full"] * len(groups)
    types = text.names("attn_type_list")
    if types:
        return ["full" if kind == 1 else "state" for kind in types]
    pattern = text.values.get("hybrid_override_pattern")
    if isinstance(pattern, str):
        kept: dict[str, Layer] = {"*": "full", "M": "state"}
        return [kept[char] for char in pattern if char in kept]
    return []


def _groups(text: Keys) -> list[int]:
    """Return how many heads share one of KV, for each layer that attends, where the
    file says it layer by layer (nemotron-nas); empty if it does not."""
    blocks = [b for b in text.names("block_configs") if isinstance(b, dict)]
    told = [b["attention"] for b in blocks if isinstance(b.get("attention"), dict)]
    kept = [Keys(one, text.where).count("n_heads_in_group") for one in told]
    return [heads for heads in kept if heads]


def _linear(text: Keys, layers: int) -> list[Layer]:
    """Return the kinds of a model with recurrent layers; empty if it has none."""
    period = text.count("attn_layer_period")
    offset = text.count("attn_layer_offset") or 0
    interval = text.count("full_attention_interval")
    chosen = set(text.names("attn_layer_indices"))
    inner = text.values.get("linear_attn_config")
    if isinstance(inner, dict) and isinstance(inner.get("full_attn_layers"), list):
        chosen = {index - 1 for index in inner["full_attn_layers"]}
    if period:
        chosen = {i for i in range(layers) if i % period == offset}
    elif interval:
        chosen = {i for i in range(layers) if (i + 1) % interval == 0}
    if not chosen:
        return []
    return ["full" if index in chosen else "state" for index in range(layers)]


def _window(text: Keys) -> int | None:
    """Return the window in tokens; None where the file says that there is none, or one
    as long as the context."""
    if text.values.get("use_sliding_window") is False:
        return None
    window = text.count("sliding_window", "attention_window_size",
                        "attention_chunk_size", "sliding_window_size")  # fmt: skip
    longest = text.count("max_position_embeddings")
    if not window or (longest and window >= longest and _slides_everywhere(text)):
        return None
    return window


def _slides_everywhere(text: Keys) -> bool:
    return not any(
        key in text.values
        for key in ("layer_types", "sliding_window_pattern", "_sliding_window_pattern")
    )


def _sliding(text: Keys, layers: int) -> list[Layer]:
    """Return the kinds of a model whose layers slide by a pattern."""
    if _window(text) is None:
        return ["full"] * layers
    pattern = text.count("sliding_window_pattern", "_sliding_window_pattern")
    pattern = pattern or _PATTERNS.get(text.model_type)
    ropes = text.names("no_rope_layers")
    if ropes:
        return ["window" if rope else "full" for rope in ropes]
    if pattern:
        return [_every(pattern, index) for index in range(layers)]
    first = 0
    if text.values.get("use_sliding_window") is True:
        first = min(text.count("max_window_layers") or 0, layers)
    return [*(["full"] * first), *(["window"] * (layers - first))]  # type: ignore[list-item]


_PATTERNS = {
    "gemma2": 2, "gemma3_text": 6, "gemma3": 6, "gpt_oss": 2, "cohere2": 4,
    "llama4_text": 4,
}  # fmt: skip
"""Every how many layers one is full, where files of these types omit it."""


def _every(pattern: int, index: int) -> Layer:
    return "full" if (index + 1) % pattern == 0 else "window"


# --- how wide a token is


def _width(text: Keys) -> tuple[int, int | None, int | None]:
    """Return elements a layer keeps of a token, KV heads, size of a head."""
    latent = text.count("kv_lora_rank")
    if latent:
        return latent + (text.count("qk_rope_head_dim") or 0), None, None
    heads = text.need("num_attention_heads", "n_head", "n_heads", "num_heads")
    shared = _groups(text)
    kv_heads = heads // min(shared) if shared else _kv_heads(text, heads)
    head_dim = text.some("head_dim", "kv_channels", "attention_head_dim")
    if head_dim is None:
        hidden = text.need("hidden_size", "n_embd", "d_model", "dim")
        head_dim = hidden // heads
    if not head_dim or not 1 <= kv_heads <= heads:
        raise InputError(
            text.where, f"{heads} heads, {kv_heads} of KV, {head_dim} wide, cannot be",
            "check num_attention_heads, num_key_value_heads and hidden_size",
        )  # fmt: skip
    value_dim = text.count("v_head_dim") or head_dim
    return kv_heads * (head_dim + value_dim), kv_heads, head_dim


def _kv_heads(text: Keys, heads: int) -> int:
    """Return the KV heads under any of their names; without one, all heads (MHA)."""
    values = text.values
    inner = values.get("attn_config")
    if isinstance(inner, dict):
        if inner.get("attn_type") == "multiquery_attention":
            return 1
        return Keys(inner, text.where).some("kv_n_heads") or heads
    if "multi_query_attention" in values:
        groups = text.count("multi_query_group_num") or 1
        return groups if values["multi_query_attention"] else heads
    if values.get("multi_query") and not values.get("new_decoder_architecture"):
        return 1
    listed = text.names("num_key_value_heads") or text.names("num_kv_heads")
    if listed:
        return max(Keys({"n": n}, text.where).some("n") or 1 for n in listed)
    return text.some(
        "num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num"
    ) or heads  # fmt: skip


def _window_width(text: Keys, width: int) -> int:
    """Return the width in window layers, where a model gives them other heads."""
    heads = text.count("swa_num_key_value_heads")
    if not heads:
        return width
    key = text.count("swa_head_dim", "head_dim") or 0
    value = text.count("swa_v_head_dim", "v_head_dim") or key
    return heads * (key + value)


def _indexer(text: Keys, layers: int) -> int:
    """Return the bytes of a sparse-attention index: fp8 keys, and a 4-byte scale for
    every 128 of their elements.

    Source: SGLang 0.5.14, mem_cache/memory_pool.py, DSATokenToKVPool.
    """
    size = text.count("index_head_dim")
    return layers * (size + 4 * -(-size // 128)) if size else 0


def _kv_bits(config: Config) -> int | None:
    """Return the bits of an element that the file asks for its KV, if it does. What it
    says of quantised weights is no matter."""
    quantised = config.get("quantization_config")
    if not isinstance(quantised, dict):
        return None
    scheme = quantised.get("kv_cache_scheme")
    if isinstance(scheme, dict) and isinstance(scheme.get("num_bits"), int):
        return int(scheme["num_bits"])
    algorithm = str(quantised.get("kv_cache_quant_algo") or "").lower()
    return {"fp8": 8, "int8": 8, "nvfp4": 4, "fp4": 4}.get(algorithm)
