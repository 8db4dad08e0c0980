"""What of a model decides how long a step takes?

Its weights (read once a step), the weights that one token uses (two FLOPs each), the
width of attention, and the KV bytes of a token. All but the weights are read from the
model's config.json, by the reader and the table that `kvlab capacity` uses; how many
weights there are, a table says for named models (the rounded counts of their cards),
and for any other file its sizes do.
Error: a count from sizes leaves out norms and biases and takes every MLP to be gated:
within 1 % for Llama-like models, some per cent too high for others. Window layers cost
as if they kept the whole context; recurrent layers keep no KV.
Left out: adapters, encoders, draft layers.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ..model_keys import Keys, text_config
from ..model_table import CONFIGS, known_name
from ..models import KvShape, read_config


class ModelShape(Struct, frozen=True, kw_only=True):
    """One model, as the cost of a step sees it.

    Units: `weights` and `active` in parameters (all, and those one token uses);
    `attention_width` = query heads x head size; `kv_bytes` bytes of KV a token, all
    layers; `weight_bytes` bytes a parameter. `kv_heads` bounds how far tensor parallel
    splits the KV. With `fp8` its matrices multiply in fp8; 8-bit integers do not.
    """

    name: str
    weights: float
    active: float
    layers: int
    hidden: int
    attention_width: int
    kv_heads: int
    kv_bytes: int
    weight_bytes: float = 2.0
    fp8: bool = False


PARAMETERS: dict[str, tuple[float, float]] = {
    "llama-3-8b": (8.03, 8.03), "llama-3-70b": (70.6, 70.6),
    "llama-3.1-405b": (405.9, 405.9), "llama-3.2-1b": (1.24, 1.24),
    "llama-3.2-3b": (3.21, 3.21), "llama-2-7b": (6.74, 6.74),
    "qwen2.5-0.5b": (0.494, 0.494), "qwen2.5-1.5b": (1.54, 1.54),
    "qwen2.5-7b": (7.62, 7.62), "qwen2.5-14b": (14.8, 14.8),
    "qwen2.5-32b": (32.8, 32.8), "qwen2.5-72b": (72.7, 72.7),
    "qwen3-0.6b": (0.6, 0.6), "qwen3-4b": (4.02, 4.02), "qwen3-8b": (8.19, 8.19),
    "qwen3-14b": (14.8, 14.8), "qwen3-32b": (32.8, 32.8),
    "qwen3-30b-a3b": (30.5, 3.3), "qwen3-235b-a22b": (235, 22),
    "qwen3-next-80b-a3b": (80, 3), "qwen3.8-27b": (27, 27),
    "mistral-7b-v0.1": (7.24, 7.24),
    "mistral-7b-v0.2": (7.25, 7.25), "mistral-nemo-12b": (12.2, 12.2),
    "mistral-large-2407": (123, 123), "mixtral-8x7b": (46.7, 12.9),
    "gemma-2-9b": (9.24, 9.24), "gemma-2-27b": (27.2, 27.2),
    "gemma-3-4b": (4.3, 4.3), "gemma-3-12b": (12.2, 12.2), "gemma-3-27b": (27.4, 27.4),
    "deepseek-v2-lite": (15.7, 2.4), "deepseek-v2": (236, 21),
    "deepseek-v3": (671, 37), "gpt-oss-120b": (117, 5.1), "gpt-oss-20b": (21, 3.6),
    "phi-2": (2.78, 2.78), "phi-3-mini-4k": (3.82, 3.82), "phi-4": (14.7, 14.7),
    "phi-4-mini": (3.84, 3.84), "minimax-text-01": (456, 45.9),
    "minimax-m2": (230, 10), "jamba-v0.1": (52, 12), "jamba-1.5-large": (398, 94),
    "glm-4-9b": (9.4, 9.4), "falcon-7b": (7.22, 7.22), "opt-125m": (0.125, 0.125),
}  # fmt: skip
"""Billions of parameters, all of them and those that one token uses."""
_BYTES = {"deepseek-v3": 1.0, "minimax-m2": 1.0, "gpt-oss-120b": 0.53,
          "gpt-oss-20b": 0.53}  # fmt: skip
"""Bytes a parameter where the published weights are not 16 bits: fp8, and MXFP4."""


def model_shape(name: str) -> ModelShape:
    """Return the model of that name; publishers and suffixes do not matter.

    Raises: ConfigError for one that the table has not.

    >>> model_shape("meta-llama/Llama-3.1-70B-Instruct").kv_bytes
    327680
    """
    key = known_name(name)
    weights, active = (billions * 1e9 for billions in PARAMETERS[key])
    size = _BYTES.get(key, 2.0)
    return _shape(key, CONFIGS[key], weights, active, size, fp8=size == 1)


def shape_of(config: Any, where: str = "config.json") -> ModelShape:
    """Return the shape that a config.json describes.

    Raises: InputError naming the key where the file says too little or nonsense.

    >>> llama = {"num_hidden_layers": 32, "hidden_size": 4096, "vocab_size": 128256,
    ...          "num_attention_heads": 32, "num_key_value_heads": 8,
    ...          "intermediate_size": 14336}
    >>> round(shape_of(llama).weights / 1e9, 2)
    8.03
    """
    kv = read_config(config, where)
    weights, active = _parameters(Keys(text_config(config), where), kv)
    size = _weight_bytes(config)
    fp8 = _quantisation(config).get("quant_method") == "fp8"
    return _shape(where, config, weights, active, size, fp8)


def _shape(
    name: str,
    config: Any,
    weights: float,
    active: float,
    weight_bytes: float,
    fp8: bool,
) -> ModelShape:
    kv = read_config(config, name)
    keys = Keys(text_config(config), name)
    kv_bytes = kv.bytes_full() + kv.bytes_window() + kv.indexer_bytes
    return ModelShape(
        name=name, weights=weights, active=active, layers=_layers(kv),
        hidden=_hidden(keys), attention_width=_attention_width(keys, kv),
        kv_heads=kv.kv_heads or 1, kv_bytes=kv_bytes, weight_bytes=weight_bytes,
        fp8=fp8,
    )  # fmt: skip


def _layers(kv: KvShape) -> int:
    return kv.full_layers + kv.window_layers + kv.state_layers


def _hidden(keys: Keys) -> int:
    return keys.need("hidden_size", "n_embd", "d_model", "dim")


def _heads(keys: Keys) -> int:
    return keys.need("num_attention_heads", "n_head", "n_heads", "num_heads")


def _attention_width(keys: Keys, kv: KvShape) -> int:
    """Return query heads x head size; an MLA head multiplies one size for scores and
    another for values, so it counts as half of both."""
    if kv.head_dim is not None:
        return _heads(keys) * kv.head_dim
    scores = (keys.count("qk_nope_head_dim") or 0) + (
        keys.count("qk_rope_head_dim") or 0
    )
    return _heads(keys) * (scores + (keys.count("v_head_dim") or scores)) // 2


# --- how many weights a file's sizes make


def _parameters(keys: Keys, kv: KvShape) -> tuple[float, float]:
    """Return all weights, and those that one token uses."""
    hidden, layers = _hidden(keys), _layers(kv)
    inner = keys.count("intermediate_size", "n_inner", "ffn_dim") or 4 * hidden
    copies = 1 if keys.values.get("tie_word_embeddings") is True else 2
    both = layers * _attention(keys, kv) + copies * keys.need("vocab_size") * hidden
    experts = keys.count("num_experts", "num_local_experts", "n_routed_experts") or 0
    sparse = layers - (keys.count("first_k_dense_replace") or 0) if experts else 0
    both += (layers - sparse) * 3 * hidden * inner
    width = keys.count("moe_intermediate_size") or inner
    shared = (keys.count("n_shared_experts") or 0) * width
    shared += keys.count("shared_expert_intermediate_size") or 0
    both += sparse * 3 * hidden * shared
    each = sparse * 3 * hidden * width
    used = keys.count("num_experts_per_tok", "experts_per_token") or 1
    return float(both + experts * each), float(both + min(used, experts) * each)


def _attention(keys: Keys, kv: KvShape) -> int:
    """Return the weights of one layer's attention."""
    hidden, heads = _hidden(keys), _heads(keys)
    if kv.head_dim is not None:
        return 2 * hidden * heads * kv.head_dim + hidden * kv.width
    rope = keys.count("qk_rope_head_dim") or 0
    nope = keys.count("qk_nope_head_dim") or 0
    value, latent = keys.count("v_head_dim") or nope, kv.width - rope
    rank = keys.count("q_lora_rank")
    query = heads * (nope + rope)
    asked = rank * (hidden + query) if rank else hidden * query
    return asked + hidden * kv.width + latent * heads * (nope + value) + (
        heads * value * hidden
    )  # fmt: skip


def _quantisation(config: Any) -> dict[str, Any]:
    said = config.get("quantization_config")
    return said if isinstance(said, dict) else {}


def _weight_bytes(config: Any) -> float:
    """Return the bytes of a weight: what the file's quantisation says, or its dtype."""
    if quantised := _quantisation(config):
        bits = quantised.get("bits")
        if isinstance(bits, int) and 1 <= bits <= 32:
            return bits / 8
        method = str(quantised.get("quant_method") or "")
        return {"fp8": 1.0, "mxfp4": 0.53}.get(method, 2.0)
    inner = text_config(config)
    dtype = str(inner.get("dtype") or inner.get("torch_dtype") or "")
    return 4.0 if dtype == "float32" else 2.0
