"""What does a layer keep of one token, and in how many bytes?

        GQA (MHA where every head has its own)   MLA
        K  (kv_heads, head_dim)                  latent and rope part
        V  (kv_heads, head_dim)                  (1, rank + rope_dim)

Left out: where the bytes lie (kv_tensors.py), how a model makes them (run/).
"""

from __future__ import annotations

from typing import Literal, Self

import torch
from msgspec import Struct

from ..errors import ConfigError
from ..geometry import heads_width, latent_width, pool_bytes

DType = Literal["float32", "bfloat16", "fp8"]

_TORCH = {"float32": "float32", "bfloat16": "bfloat16", "fp8": "float8_e4m3fn"}
_BYTES = {"float32": 4, "bfloat16": 2, "fp8": 1}


class KVForm(Struct, frozen=True, kw_only=True):
    """The shape of a model's KV.

    Shapes: `rows` holds the shape of one token's row in each part of a layer: K and V,
    or the one part of MLA.
    Raises: ConfigError for less than one layer or number, or a dtype that is none.

    >>> form = KVForm.of_heads(layers=2, kv_heads=2, head_dim=8, dtype="bfloat16")
    >>> form.rows, form.token_bytes
    (((2, 8), (2, 8)), 128)
    """

    layers: int
    width: int
    rows: tuple[tuple[int, int], ...]
    dtype: DType = "float32"

    def __post_init__(self) -> None:
        if self.layers < 1 or self.width < 1:
            raise ConfigError(
                f"KV of {self.layers} layers, {self.width} wide; use at least 1 of each"
            )
        if self.dtype not in _BYTES:
            raise ConfigError(f"KV dtype {self.dtype!r}; use {', '.join(_BYTES)}")

    @classmethod
    def of_heads(
        cls, layers: int, kv_heads: int, head_dim: int, dtype: DType = "float32"
    ) -> Self:
        """Return the form of GQA, or of MHA where every query head has its KV head."""
        row = (kv_heads, head_dim)
        width = heads_width(kv_heads, head_dim)
        return cls(layers=layers, width=width, rows=(row, row), dtype=dtype)

    @classmethod
    def of_latent(
        cls, layers: int, rank: int, rope_dim: int, dtype: DType = "float32"
    ) -> Self:
        """Return the form of MLA: one row for K and V together, whatever the heads."""
        width = latent_width(rank, rope_dim)
        return cls(layers=layers, width=width, rows=((1, width),), dtype=dtype)

    @property
    def token_bytes(self) -> int:
        """Bytes of one token in all layers."""
        return pool_bytes(1, self.layers, self.width, _BYTES[self.dtype])

    def dtype_on(self, device: str) -> torch.dtype:
        """Return torch's name of the dtype.

        Raises: ConfigError where torch has no such device, or cannot hold it there.
        """
        found = getattr(torch, _TORCH[self.dtype], None)
        try:
            one = torch.ones(1, device=device)
        except (AssertionError, RuntimeError) as problem:
            raise ConfigError(
                f"no device {device!r} here: {_first_line(problem)}; use cpu"
            ) from None
        try:
            assert isinstance(found, torch.dtype), "this torch does not know it"
            one.to(found).float()
        except (AssertionError, RuntimeError) as problem:
            raise ConfigError(
                f"KV dtype {self.dtype} on {device}: {_first_line(problem)}; "
                "use bfloat16"
            ) from None
        return found


def _first_line(problem: Exception) -> str:
    return str(problem).partition("\n")[0]
