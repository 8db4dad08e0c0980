"""What does a layer keep of a token, and what does it read of the past?

Both kinds write the rows of their new tokens into the pool first and then gather the
rows of all tokens, in token order, through their slots. So a row that was computed now,
found in L1 or brought back from L2 is read the same way, and where it lies is of no
account.

        Heads   q, k, v of each token; `heads / kv_heads` query heads share a KV head
        Latent  one short vector a token, from which K and V of every head are made when
                they are read, and one rotated key that all heads share

Left out: kernels that never make the whole score matrix.
"""

from __future__ import annotations

import math
from typing import Protocol

import torch

from ..memory.kv_tensors import KVTensors

ROPE_BASE = 10_000.0
EPSILON = 1e-6


class Weights:
    """Draws random matrices in a fixed order. `scale` over the root of the rows keeps
    sums as large as their terms."""

    def __init__(self, seed: int, device: str = "cpu") -> None:
        self._numbers = torch.Generator().manual_seed(seed)
        self._device = device

    def __call__(
        self, rows: int, columns: int, scale: float | None = None
    ) -> torch.Tensor:
        drawn = torch.randn(rows, columns, generator=self._numbers)
        return (drawn * (scale or rows**-0.5)).to(self._device)


class Attention(Protocol):
    """One layer's attention."""

    def __call__(
        self,
        x: torch.Tensor,
        at: torch.Tensor,
        slots: torch.Tensor,
        kv: KVTensors,
        layer: int,
    ) -> torch.Tensor:
        """Return what the new tokens find. Changes: their rows in the pool.

        Shapes: x (n, hidden); `at` (n,), their positions; slots (end,).
        """


class Heads:
    """Attention with K and V for each KV head: GQA, or MHA where all heads have one."""

    def __init__(
        self, draw: Weights, hidden: int, heads: int, kv_heads: int, head_dim: int
    ) -> None:
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, head_dim
        self.q = draw(hidden, heads * head_dim)
        self.k = draw(hidden, kv_heads * head_dim)
        self.v = draw(hidden, kv_heads * head_dim)
        self.out = draw(heads * head_dim, hidden)

    def __call__(
        self,
        x: torch.Tensor,
        at: torch.Tensor,
        slots: torch.Tensor,
        kv: KVTensors,
        layer: int,
    ) -> torch.Tensor:
        q = rope((x @ self.q).view(-1, self.heads, self.head_dim), at)
        k = rope((x @ self.k).view(-1, self.kv_heads, self.head_dim), at)
        v = (x @ self.v).view(-1, self.kv_heads, self.head_dim)
        kv.write(layer, slots[at], [k, v])
        keys, values = kv.read(layer, slots)
        shared = self.heads // self.kv_heads
        keys = keys.repeat_interleave(shared, dim=1)
        values = values.repeat_interleave(shared, dim=1)
        return attend(q, keys, values, at).flatten(1) @ self.out


class Latent:
    """MLA: K and V of all heads are made from one latent of `rank` numbers."""

    def __init__(
        self,
        draw: Weights,
        hidden: int,
        heads: int,
        head_dim: int,
        rank: int,
        rope_dim: int,
    ) -> None:
        self.heads, self.head_dim, self.rank, self.rope_dim = (
            heads, head_dim, rank, rope_dim,
        )  # fmt: skip
        self.q = draw(hidden, heads * head_dim)
        self.q_rope = draw(hidden, heads * rope_dim)
        self.latent = draw(hidden, rank)
        self.k_rope = draw(hidden, rope_dim)
        self.to_k = draw(rank, heads * head_dim)
        self.to_v = draw(rank, heads * head_dim)
        self.out = draw(heads * head_dim, hidden)

    def __call__(
        self,
        x: torch.Tensor,
        at: torch.Tensor,
        slots: torch.Tensor,
        kv: KVTensors,
        layer: int,
    ) -> torch.Tensor:
        q = (x @ self.q).view(-1, self.heads, self.head_dim)
        q_rope = rope((x @ self.q_rope).view(-1, self.heads, self.rope_dim), at)
        latent = rms_norm(x @ self.latent)[:, None]
        k_rope = rope((x @ self.k_rope)[:, None], at)
        kv.write(layer, slots[at], [torch.cat((latent, k_rope), dim=2)])
        (rows,) = kv.read(layer, slots)
        latents, ropes = rows[:, 0, : self.rank], rows[:, :, self.rank :]
        keys = (latents @ self.to_k).view(-1, self.heads, self.head_dim)
        values = (latents @ self.to_v).view(-1, self.heads, self.head_dim)
        keys = torch.cat((keys, ropes.expand(-1, self.heads, -1)), dim=2)
        return attend(torch.cat((q, q_rope), 2), keys, values, at).flatten(1) @ self.out


def attend(
    q: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, at: torch.Tensor
) -> torch.Tensor:
    """Return the values, weighted by how well their keys answer each query; a query
    sees its own position and those before it.

    Shapes: q (n, heads, width); keys and values (end, heads, ...); at (n,).
    """
    scores = torch.einsum("qhd,khd->hqk", q, keys) / math.sqrt(q.shape[2])
    future = torch.arange(len(keys), device=at.device) > at[:, None]
    scores = scores.masked_fill(future, -math.inf)
    return torch.einsum("hqk,khd->qhd", scores.softmax(dim=2), values)


def rope(x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    """Turn pairs of numbers by angles that grow with the position, so that q . k knows
    how far apart the two are. Shapes: x (n, heads, width), width even; at (n,)."""
    half = x.shape[2] // 2
    speed = ROPE_BASE ** (-torch.arange(half, device=x.device) / half)
    angle = (at[:, None] * speed)[:, None]
    first, second = x[..., :half], x[..., half:]
    cos, sin = angle.cos(), angle.sin()
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=2)


def rms_norm(x: torch.Tensor) -> torch.Tensor:
    """Return x, scaled so that the mean of its squares is 1. Shapes: (n, width)."""
    return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + EPSILON)
