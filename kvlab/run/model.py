"""How does a transformer read K and V out of a pool?

A model small enough to read: bytes in, a few layers, a byte out. Each layer adds what
attention finds in the past, then what a gated MLP makes of it:

        x = embed[token]                          (n, hidden)   n new tokens
        x = x + attention(norm(x))                writes n rows of K and V, reads all
        x = x + mlp(norm(x))
        logits = norm(x) @ head                   (n, 256)

Nobody trained it: the weights are random numbers from a seed, so it speaks nonsense,
but the same nonsense every time, and every byte of it depends on every row of K and V
before. That is what makes it a witness. Left out: batches (requests go one by one, so
no request's sums depend on its neighbours), biases, weights of a real model.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from msgspec import Struct

from ..memory.kv_form import DType, KVForm
from ..memory.kv_tensors import KVTensors
from ..memory.pool import Slots
from ..record.events import Tokens
from .attention import Attention, Heads, Latent, Weights, rms_norm

VOCABULARY = 256
"""A token is a byte."""

Wait = Callable[[int], None]
"""Called with a layer's number before it reads the past, which may be on its way."""


class Spec(Struct, frozen=True, kw_only=True):
    """The size of a model. `rank` makes its attention MLA: it keeps one latent of so
    many numbers a token, and `rope_dim` more, instead of K and V of `kv_heads`.

    >>> Spec(layers=2).form.token_bytes, Spec(layers=2, rank=16).form.token_bytes
    (512, 192)
    """

    layers: int = 3
    hidden: int = 64
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 16
    inner: int = 160
    rank: int | None = None
    rope_dim: int = 8
    dtype: DType = "float32"
    seed: int = 0

    @property
    def form(self) -> KVForm:
        """What a layer keeps of one token; `dtype` is that of K and V alone."""
        if self.rank is not None:
            return KVForm.of_latent(self.layers, self.rank, self.rope_dim, self.dtype)
        return KVForm.of_heads(self.layers, self.kv_heads, self.head_dim, self.dtype)


class Model:
    """A decoder with fixed random weights, drawn on the CPU wherever they go.

    Raises: ConfigError where torch has no such device.

    >>> model = Model(Spec(layers=1))
    >>> model.forward(as_bytes("hi"), np.arange(2), 0, model.scratch(2)).shape
    torch.Size([2, 256])
    """

    def __init__(self, spec: Spec, device: str = "cpu") -> None:
        self.spec = spec
        self.device = device
        spec.form.dtype_on(device)
        draw = Weights(spec.seed, device)
        self.embed = draw(VOCABULARY, spec.hidden, scale=1.0)
        self.layers = [Layer(spec, draw) for _ in range(spec.layers)]
        self.head = draw(spec.hidden, VOCABULARY)

    def scratch(self, num_tokens: int) -> KVTensors:
        """Return K and V of one sequence, in a pool of its own where token i has slot
        i: the model without any cache."""
        return KVTensors(self.spec.form, num_tokens, device=self.device)

    @torch.no_grad()
    def forward(
        self,
        tokens: Tokens,
        slots: Slots,
        start: int,
        kv: KVTensors,
        wait: Wait = lambda layer: None,
    ) -> torch.Tensor:
        """Compute the tokens from `start` on, whose past has K and V already; return
        their logits.

        Shapes: tokens and slots (end,); logits (end - start, 256).
        Changes: K and V in the slots of the new tokens.
        """
        new = torch.from_numpy(tokens[start:].astype(np.int64)).to(self.device)
        at = torch.arange(start, len(tokens), device=self.device)
        where = torch.from_numpy(slots).to(self.device)
        x = self.embed[new]
        for number, layer in enumerate(self.layers):
            if start:
                wait(number)
            x = x + layer.attention(rms_norm(x), at, where, kv, number)
            x = x + layer.mlp(rms_norm(x))
        return rms_norm(x) @ self.head

    def prefill(
        self, tokens: Tokens, cuts: tuple[int, ...] = ()
    ) -> tuple[torch.Tensor, KVTensors]:
        """Compute a whole sequence from nothing, in chunks that end at `cuts`; return
        the last token's logits, (256,), and K and V of all."""
        kv, slots = self.scratch(len(tokens)), np.arange(len(tokens))
        ends = [*cuts, len(tokens)]
        for start, end in zip([0, *cuts], ends, strict=True):
            logits = self.forward(tokens[:end], slots[:end], start, kv)
        return logits[-1], kv

    def speak(self, tokens: Tokens, count: int) -> list[int]:
        """Return the model's next tokens, the whole past computed anew for each."""
        said: list[int] = []
        for _ in range(count):
            past = np.concatenate((tokens, np.array(said, np.int32)))
            said.append(greedy(self.prefill(past)[0]))
        return said


class Layer:
    """One layer: an attention and an MLP with the gate of SwiGLU."""

    def __init__(self, spec: Spec, draw: Weights) -> None:
        self.attention: Attention
        if spec.rank is None:
            self.attention = Heads(
                draw, spec.hidden, spec.heads, spec.kv_heads, spec.head_dim
            )
        else:
            self.attention = Latent(
                draw, spec.hidden, spec.heads, spec.head_dim, spec.rank, spec.rope_dim
            )
        self.gate = draw(spec.hidden, spec.inner)
        self.up = draw(spec.hidden, spec.inner)
        self.down = draw(spec.inner, spec.hidden)

    def mlp(self, x: torch.Tensor) -> torch.Tensor:
        """Return silu(x gate) * (x up), brought back down. Shapes: (n, hidden)."""
        return (torch.nn.functional.silu(x @ self.gate) * (x @ self.up)) @ self.down


def greedy(logits: torch.Tensor) -> int:
    """Return the likeliest token, the lowest of several. Shapes: logits (256,)."""
    return int(logits.argmax())


def as_bytes(text: str) -> Tokens:
    """Return the text as tokens.

    >>> as_bytes("KV").tolist()
    [75, 86]
    """
    tokens = np.frombuffer(text.encode(), np.uint8).astype(np.int32)
    tokens.flags.writeable = False
    return tokens
