"""What of a model decides how long a step takes?

Its weights (read once a step), the weights that one token uses (two FLOPs each), the
width of attention, and the KV bytes of a token. Figures are those of the published
config.json; parameters are the rounded counts of the model cards.
Left out: reading any config.json (the geometry of KV is not a matter of time).
"""

from __future__ import annotations

from msgspec import Struct

from ..errors import ConfigError


class ModelShape(Struct, frozen=True, kw_only=True):
    """One model, as the cost of a step sees it.

    Units: `weights` and `active` in parameters (all, and those one token uses);
    `attention_width` = query heads x head size; `kv_bytes` bytes of KV a token, all
    layers; `weight_bytes` bytes a parameter. `kv_heads` bounds how far tensor parallel
    splits the KV.
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


def _dense(
    name: str, billions: float, layers: int, hidden: int, heads: int, kv_heads: int,
    head_dim: int = 128,
) -> ModelShape:  # fmt: skip
    return ModelShape(
        name=name, weights=billions * 1e9, active=billions * 1e9, layers=layers,
        hidden=hidden, attention_width=heads * head_dim, kv_heads=kv_heads,
        kv_bytes=2 * layers * kv_heads * head_dim * 2,
    )  # fmt: skip


_TABLE = (
    _dense("llama-3-8b", 8.03, 32, 4096, 32, 8),
    _dense("llama-3-70b", 70.6, 80, 8192, 64, 8),
    _dense("llama-3.1-405b", 405.9, 126, 16384, 128, 8),
    _dense("llama-3.2-1b", 1.24, 16, 2048, 32, 8, 64),
    _dense("llama-3.2-3b", 3.21, 28, 3072, 24, 8),
    _dense("qwen2.5-0.5b", 0.494, 24, 896, 14, 2, 64),
    _dense("qwen2.5-7b", 7.62, 28, 3584, 28, 4),
    _dense("qwen2.5-72b", 72.7, 80, 8192, 64, 8),
    _dense("qwen3-8b", 8.19, 36, 4096, 32, 8),
    _dense("qwen3-32b", 32.8, 64, 5120, 64, 8),
    _dense("mistral-7b-v0.3", 7.25, 32, 4096, 32, 8),
    ModelShape(
        name="deepseek-v3", weights=671e9, active=37e9, layers=61, hidden=7168,
        attention_width=128 * 160, kv_heads=1, kv_bytes=70272, weight_bytes=1.0,
    ),
)  # fmt: skip
"""DeepSeek-V3: weights are fp8; a head multiplies 192 wide for scores and 128 for
values, where others have the same size twice, so it counts as (192 + 128) / 2 wide."""

SHAPES: dict[str, ModelShape] = {entry.name: entry for entry in _TABLE}
"""The models by name."""


def model_shape(name: str) -> ModelShape:
    """Return the model of that name.

    Raises: ConfigError for one that the table has not.

    >>> model_shape("llama-3-70b").kv_bytes
    327680
    """
    found = SHAPES.get(name.lower())
    if found is None:
        raise ConfigError(f"no model {name!r}; kvlab knows {', '.join(SHAPES)}")
    return found
