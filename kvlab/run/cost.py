"""How long does a step take?

A roofline, part by part: each part of a step takes the longer of its arithmetic and its
memory traffic, and parts follow one another.

        prefill of t tokens   weights   max(2 x active x t FLOPs, weights read once)
                              attention 4 x layers x width x (query, key) pairs FLOPs
        decode of b requests  weights   max(2 x active x b FLOPs, weights read once)
                              attention max(KV of all b read, its FLOPs)
        both                  two all-reduces a layer where tp > 1; a fixed overhead
        copy L1 <-> L2        bytes / link

All are whole femtoseconds and decode is linear in the KV tokens, so many steps of one
batch have an exact sum: a jump over them takes what they take one by one.

Error: over published measurements (tests/benchmarks/measured_costs.py, 66 of them), the
time said here over the time measured, median and range:

        dense models    decode, whole runs         0.95   0.38 to 1.18
                        prompts over 1,000 tokens  0.88   0.72 to 1.10
                        shorter prompts            0.65   0.43 to 0.84
        mixtures        8 and more running         0.90   0.73 to 0.99
                        decode, one running        0.49   0.30 to 0.63
                        prefill of one prompt      0.20   0.11 to 0.33
        two nodes       (it knows no network)      0.21   0.17 to 0.65

Why: an engine's overhead grows with layers and with a mixture's kernels, here it is one
figure a step. Weights in fp8 multiply at the accelerator's fp8 peak, if it has one,
attention at bf16's: 8-bit prefill is too fast then, and at bf16's alone too slow
(1.27 to 1.73). Runs of 7B and 8B models lie at 0.83 to 1.18 on four accelerators; the
low ones are large batches of 70B under engines of 2023, whose kernels for grouped KV
heads were experimental. An all-reduce of 1 MiB over eight takes 34 us, here 13. It
orders alternatives; it does not promise seconds.
Left out: pipeline parallel, speculative decoding, CUDA-graph capture, attention in fp8.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ..errors import ConfigError
from .accelerators import Accelerator
from .model_shapes import ModelShape

FS = 10**15
"""Femtoseconds of a second: the read of one KV token takes some thousand of them."""
NS = 10**6
"""Femtoseconds of a nanosecond."""


class Factors(Struct, frozen=True, kw_only=True):
    """What an engine reaches of the peaks, each 0 to 1, and its overhead a step.

    Units: `overhead_s` seconds a step (launches, sampling, the scheduler's own work);
    `reduce_latency_s` seconds for one all-reduce of nothing. The defaults are estimates
    for dense 16-bit models on one node, not fitted to the measurements above. For a
    mixture, `overhead_s=0.006, prefill_flops=0.15` come nearer: 0.57 to 1.09 with one
    running, 0.97 to 1.24 with more, 0.15 to 0.72 in prefill. Set your own after one
    measurement.
    Raises: ConfigError for a share outside 0 to 1, or more than 10 seconds.
    """

    prefill_flops: float = 0.65
    attention_flops: float = 0.45
    memory: float = 0.80
    peer: float = 0.90
    overhead_s: float = 0.002
    reduce_latency_s: float = 8e-6

    def __post_init__(self) -> None:
        for name in ("prefill_flops", "attention_flops", "memory", "peer"):
            value = getattr(self, name)
            if not 0 < value <= 1:
                raise ConfigError(f"{name} is {value}; a share of a peak is 0 to 1")
        for name in ("overhead_s", "reduce_latency_s"):
            value = getattr(self, name)
            if not 0 <= value <= 10:
                raise ConfigError(f"{name} is {value}; use 0 to 10 seconds")


class Cost:
    """The durations of one model on `tp` accelerators and one link to the host.

    Units: femtoseconds, tokens; `link_rate` bytes a second in each direction, for the
    KV of all ranks together: the links' peak unless given. Copies from pinned memory
    were measured at 0.77 to 0.82 of it.
    Raises: ConfigError for a tp outside 1 to 1024, or a link that moves nothing.

    >>> from kvlab.run.accelerators import accelerator
    >>> from kvlab.run.model_shapes import model_shape
    >>> cost = Cost(model_shape("llama-3-70b"), accelerator("h100"), tp=8)
    >>> round(cost.prefill([(8192, 0)]) / FS, 3), round(cost.decode(1, 32768) / FS, 4)
    (0.346, 0.0104)
    """

    def __init__(
        self,
        model: ModelShape,
        device: Accelerator,
        *,
        tp: int = 1,
        link_rate: float | None = None,
        factors: Factors | None = None,
    ) -> None:
        if not 1 <= tp <= 1024:
            raise ConfigError(f"tp is {tp}; use 1 to 1024")
        rate = device.host_rate * tp if link_rate is None else link_rate
        if not 0 < rate <= 1e15:
            raise ConfigError(f"the link moves {rate} bytes a second; use more than 0")
        self.model = model
        self.link_rate = rate
        factors = factors or Factors()
        peak = (model.fp8 and device.fp8_flops) or device.flops
        flops = peak * tp * factors.prefill_flops
        self._memory = device.memory_rate * tp * factors.memory
        self._token = _fs(2 * model.active, flops)
        self._pair = _fs(
            4 * model.layers * model.attention_width,
            device.flops * tp * factors.attention_flops,
        )
        split = min(tp, model.kv_heads)
        kv_read = _fs(model.kv_bytes * tp / split, self._memory)
        self._kv_token = max(kv_read, self._pair)
        self._copy = _fs(model.kv_bytes, rate)
        self._dense: dict[int, int] = {}
        self._fixed = _fs(factors.overhead_s, 1)
        self._reduce_token = 0
        if tp > 1:
            share = 2 * (tp - 1) / tp
            reduced = 2 * model.layers * model.hidden * 2 * share
            self._reduce_token = _fs(reduced, device.peer_rate * factors.peer)
            self._fixed += _fs(2 * model.layers * factors.reduce_latency_s, 1)

    def prefill(self, parts: Iterable[tuple[int, int]]) -> int:
        """Return what one prefill of (new, cached before them) tokens takes."""
        return self.mixed(parts, 0, 0)

    def decode(self, batch: int, kv_tokens: int, steps: int = 1) -> int:
        """Return what `steps` decode steps of a batch take, exactly.

        `kv_tokens` are those that the first step attends to, its own included; every
        step adds one a request.
        """
        grown = steps * kv_tokens + batch * (steps * (steps - 1) // 2)
        return steps * self._weights(batch) + grown * self._kv_token

    def mixed(
        self, parts: Iterable[tuple[int, int]], batch: int, kv_tokens: int
    ) -> int:
        """Return what one step takes that prefills `parts` and decodes a batch: the
        weights are read once for both.

        With no parts it is a `decode`, with no batch a `prefill`.
        """
        tokens = pairs = 0
        for new, cached in parts:
            tokens += new
            pairs += new * cached + new * (new + 1) // 2
        decoding = kv_tokens * self._kv_token
        return self._weights(tokens + batch) + pairs * self._pair + decoding

    def steps_to(self, batch: int, kv_tokens: int, budget: int) -> int:
        """Return the fewest decode steps, at least one, that take `budget` or more."""
        a, b = batch * self._kv_token, self._weights(batch)
        linear = b + self._kv_token * (kv_tokens - batch / 2)
        root = (linear * linear + 2.0 * a * max(budget, 0)) ** 0.5
        steps = max(1, int((root - linear) / a))
        while steps > 1 and self.decode(batch, kv_tokens, steps - 1) >= budget:
            steps -= 1
        while self.decode(batch, kv_tokens, steps) < budget:
            steps += 1
        return steps

    def copy(self, tokens: int) -> int:
        """Return what a copy of that many tokens' KV over the link takes."""
        return tokens * self._copy

    def overlapped(self, load: int, compute: int) -> int:
        """Return what a prefill takes whose KV comes in layer by layer: a layer begins
        when its KV is there and the layer before is done."""
        layers = self.model.layers
        return max(load // layers + compute, load + compute // layers)

    def _weights(self, tokens: int) -> int:
        """The dense part of a step, which all its tokens share; kept for each number
        of tokens, since batches of one size come again and again."""
        dense = self._dense.get(tokens)
        if dense is None:
            dense = self._dense[tokens] = self._read_and_multiply(tokens)
        return dense

    def _read_and_multiply(self, tokens: int) -> int:
        """A mixture reads the experts that any of its tokens picks, each token on its
        own: those of one token are the active weights, those of many are all."""
        model = self.model
        unread = (1 - model.active / model.weights) ** max(tokens, 1)
        read = model.weights * (1 - unread) * model.weight_bytes
        dense = max(tokens * self._token, _fs(read, self._memory))
        return dense + tokens * self._reduce_token + self._fixed


def _fs(amount: float, rate: float) -> int:
    """Return the whole femtoseconds, at least one, that `amount` takes at `rate`."""
    return max(1, round(amount / rate * FS)) if amount else 0
