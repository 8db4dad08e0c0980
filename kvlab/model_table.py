"""Which models does kvlab know by name?

The keys of each model's config.json that decide its KV, read by the same reader as a
file (models.py). Values are those of the published files; compare with the file you
serve where a byte matters.
"""

from __future__ import annotations

import difflib
import re
from typing import Any

from .errors import ConfigError
from .model_keys import Config
from .models import KvShape, read_config


def _model(
    layers: int, hidden: int, heads: int, kv_heads: int | None = None,
    head_dim: int | None = None, **more: Any,
) -> Config:  # fmt: skip
    return {
        "num_hidden_layers": layers, "hidden_size": hidden,
        "num_attention_heads": heads, "num_key_value_heads": kv_heads,
        "head_dim": head_dim, **more,
    }  # fmt: skip


def _mla(layers: int, hidden: int, heads: int) -> Config:
    return _model(
        layers, hidden, heads, heads, kv_lora_rank=512, qk_rope_head_dim=64,
        qk_nope_head_dim=128, v_head_dim=128,
    )  # fmt: skip


def _qwen2(layers: int, hidden: int, heads: int, kv_heads: int) -> Config:
    return _model(
        layers, hidden, heads, kv_heads, sliding_window=131072,
        use_sliding_window=False, max_window_layers=layers,
    )  # fmt: skip


def _gemma3(layers: int, **more: Any) -> Config:
    text = {"model_type": "gemma3_text", "num_hidden_layers": layers}
    return {
        "model_type": "gemma3",
        "text_config": text | {"sliding_window": 1024} | more,
    }


def _mixed(full: int, state: int) -> list[int]:
    """Return MiniMax's list: one full layer after so many linear ones."""
    return ([0] * (state // full) + [1]) * full


CONFIGS: dict[str, Config] = {
    "llama-3-8b": _model(32, 4096, 32, 8),
    "llama-3-70b": _model(80, 8192, 64, 8),
    "llama-3.1-405b": _model(126, 16384, 128, 8),
    "llama-3.2-1b": _model(16, 2048, 32, 8, 64),
    "llama-3.2-3b": _model(28, 3072, 24, 8, 128),
    "llama-2-7b": _model(32, 4096, 32),
    "qwen2.5-0.5b": _qwen2(24, 896, 14, 2),
    "qwen2.5-1.5b": _qwen2(28, 1536, 12, 2),
    "qwen2.5-7b": _qwen2(28, 3584, 28, 4),
    "qwen2.5-14b": _qwen2(48, 5120, 40, 8),
    "qwen2.5-32b": _qwen2(64, 5120, 40, 8),
    "qwen2.5-72b": _qwen2(80, 8192, 64, 8),
    "qwen3-0.6b": _model(28, 1024, 16, 8, 128),
    "qwen3-4b": _model(36, 2560, 32, 8, 128),
    "qwen3-8b": _model(36, 4096, 32, 8, 128),
    "qwen3-14b": _model(40, 5120, 40, 8, 128),
    "qwen3-32b": _model(64, 5120, 64, 8, 128),
    "qwen3-30b-a3b": _model(48, 2048, 32, 4, 128),
    "qwen3-235b-a22b": _model(94, 4096, 64, 4, 128),
    "qwen3-next-80b-a3b": _model(48, 2048, 16, 2, 256, full_attention_interval=4),
    "qwen3.8-27b": {
        "model_type": "qwen3_5",
        "text_config": _model(64, 5120, 24, 4, 256, full_attention_interval=4),
    },
    "mistral-7b-v0.1": _model(
        32, 4096, 32, 8, sliding_window=4096, max_position_embeddings=32768
    ),
    "mistral-7b-v0.2": _model(32, 4096, 32, 8, sliding_window=None),
    "mistral-nemo-12b": _model(40, 5120, 32, 8, 128),
    "mistral-large-2407": _model(88, 12288, 96, 8, 128),
    "mixtral-8x7b": _model(32, 4096, 32, 8, sliding_window=None),
    "gemma-2-9b": _model(
        42, 3584, 16, 8, 256, model_type="gemma2", sliding_window=4096
    ),
    "gemma-2-27b": _model(
        46, 4608, 32, 16, 128, model_type="gemma2", sliding_window=4096
    ),
    "gemma-3-4b": _gemma3(34, hidden_size=2560),
    "gemma-3-12b": _gemma3(
        48, hidden_size=3840, num_attention_heads=16, num_key_value_heads=8,
        head_dim=256,
    ),
    "gemma-3-27b": _gemma3(
        62, hidden_size=5376, num_attention_heads=32, num_key_value_heads=16,
        head_dim=128,
    ),
    "deepseek-v2-lite": _mla(27, 2048, 16),
    "deepseek-v2": _mla(60, 5120, 128),
    "deepseek-v3": _mla(61, 7168, 128),
    "gpt-oss-120b": _model(
        36, 2880, 64, 8, 64, model_type="gpt_oss", sliding_window=128
    ),
    "gpt-oss-20b": _model(
        24, 2880, 64, 8, 64, model_type="gpt_oss", sliding_window=128
    ),
    "phi-2": _model(32, 2560, 32, 32),
    "phi-3-mini-4k": _model(
        32, 3072, 32, 32, sliding_window=2047, max_position_embeddings=4096
    ),
    "phi-4": _model(40, 5120, 40, 10, sliding_window=None),
    "phi-4-mini": _model(
        32, 3072, 24, 8, sliding_window=262144, max_position_embeddings=131072
    ),
    "minimax-text-01": _model(80, 6144, 64, 8, 128, attn_type_list=_mixed(10, 70)),
    "minimax-m2": _model(62, 3072, 48, 8, 128, attn_type_list=[1] * 62),
    "jamba-v0.1": _model(
        32, 4096, 32, 8, attn_layer_period=8, attn_layer_offset=4
    ),
    "jamba-1.5-large": _model(
        72, 8192, 64, 8, attn_layer_period=8, attn_layer_offset=4
    ),
    "glm-4-9b": {
        "num_layers": 40, "hidden_size": 4096, "num_attention_heads": 32,
        "multi_query_attention": True, "multi_query_group_num": 2, "kv_channels": 128,
    },
    "falcon-7b": {
        "num_hidden_layers": 32, "hidden_size": 4544, "num_attention_heads": 71,
        "multi_query": True, "new_decoder_architecture": False,
    },
    "opt-125m": _model(12, 768, 12),
}  # fmt: skip
"""47 models, by the name that their publishers use, shortened."""

ALIASES = {
    "llama-3.1-8b": "llama-3-8b",
    "llama-3.1-70b": "llama-3-70b",
    "llama-3.3-70b": "llama-3-70b",
    "mistral-7b-v0.3": "mistral-7b-v0.2",
    "mistral-nemo": "mistral-nemo-12b",
    "deepseek-r1": "deepseek-v3",
    "phi-3-medium": "phi-4",
    "phi-4-14b": "phi-4",
    "phi-3-mini": "phi-3-mini-4k",
    "minimax-m1": "minimax-text-01",
    "jamba-1.5-mini": "jamba-v0.1",
}

_NOISE = re.compile(
    r"-(?:instruct|chat|hf|base|it|fp8|bf16|awq|gptq|int4|int8|thinking|\d{4})(?=-|$)"
)


def known_shape(name: str) -> KvShape:
    """Return the shape of a model by its name; publishers and suffixes do not matter.

    Raises: ConfigError with the nearest names for one that is not known.

    >>> known_shape("meta-llama/Llama-3.1-8B-Instruct").bytes_full()
    131072
    """
    key = known_name(name)
    return read_config({"_name_or_path": key} | CONFIGS[key], key)


def known_name(name: str) -> str:
    """Return the name under which `CONFIGS` has the model.

    Raises: ConfigError with the nearest names for one that is not known.
    """
    key = _key(name)
    key = ALIASES.get(key, key)
    if key not in CONFIGS:
        near = difflib.get_close_matches(key, [*CONFIGS, *ALIASES], 3, 0.5)
        listed = "see kvlab capacity --list"
        hint = f"did you mean {', '.join(near)}?" if near else listed
        raise ConfigError(f"no model {name!r}; {hint} or give its config.json")
    return key


def _key(name: str) -> str:
    low = name.strip().lower().rsplit("/", 1)[-1].replace("_", "-")
    low = low.removeprefix("meta-")
    if low in CONFIGS or low in ALIASES:
        return low
    return _NOISE.sub("", low)
