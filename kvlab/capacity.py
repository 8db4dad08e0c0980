"""How many sequences fit, and what would have to change to fit more?

The article's formula, with what deployments add: tensor and pipeline parallelism, data
parallel attention, the KV dtype, windows, and the page that each request wastes.
Units are bytes and tokens throughout. In a notebook:

        shape = known_shape("llama-3-70b")               # kvlab.model_table
        plan = Deployment(tp=8, kv_memory=60 * GIB, context=32768)
        capacity(shape, plan).max_concurrency            # 48
        to_fit(shape, plan, 100)                         # what 100 would take
        SVG(ceiling_svg(ceiling(shape, plan), "sequences"))  # kvlab.views.ceiling

Left out: fixed states of recurrent layers (given as an option), draft layers.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import Any

import msgspec
from msgspec import Struct

from .errors import ConfigError
from .geometry import ceil_page, floor_page
from .models import KvShape

GIB = 1 << 30
DTYPES: dict[str, float] = {
    "auto": 2, "bf16": 2, "bfloat16": 2, "fp16": 2, "float16": 2, "fp32": 4,
    "float32": 4, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1, "int8": 1,
    "fp4": 0.5625, "fp4_e2m1": 0.5625, "nvfp4": 0.5625,
}  # fmt: skip
"""Bytes of an element; fp4 has a one-byte scale for every 16 elements."""
DS_MLA = "fp8_ds_mla"
_DS_MLA_BYTES = 656
"""vLLM's layout of an MLA token in one layer: fp8 latent, scales, bf16 rope part."""
MOST = 1 << 40
"""The largest count of anything: a trillion of tokens, ranks or sequences."""
_COUNTS = {
    "tp": "--tp", "pp": "--pp", "dp_attention": "--dp-attention",
    "page_size": "--page-size", "context": "--context", "pool_tokens": "--pool-tokens",
}  # fmt: skip
_BYTES = {
    "kv_memory": "--kv-gib", "memory": "--memory-gib", "weights": "--weights-gib",
    "reserve": "--reserve-gib", "state": "--state-mib",
}  # fmt: skip
_MAY_BE_ZERO = ("weights", "reserve", "state")


class Deployment(Struct, frozen=True, kw_only=True):
    """How a model is served.

    Units: memory in bytes on each GPU: `kv_memory` is what is left for KV, or else
    `memory` x `fraction` - `weights` - `reserve`. `context` is input plus output tokens
    of a sequence; `state` bytes that recurrent layers keep for one, on each GPU.
    Raises: ConfigError for a value that no server has, or a pool that is said twice.
    """

    tp: int = 1
    pp: int = 1
    dp_attention: int = 1
    kv_dtype: str = "auto"
    kv_memory: float | None = None
    memory: float | None = None
    fraction: float = 0.9
    weights: float = 0.0
    reserve: float = 0.0
    context: int | None = None
    page_size: int = 1
    state: float = 0.0
    pool_tokens: int | None = None

    def __post_init__(self) -> None:
        for name, option in _COUNTS.items():
            _check_count(name, option, getattr(self, name))
        for name, option in _BYTES.items():
            check_bytes(name, option, getattr(self, name))
        if self.tp % self.dp_attention:
            raise ConfigError(
                f"dp_attention {self.dp_attention} does not divide tp {self.tp}; use a "
                "divisor"
            )
        if not 0 < self.fraction <= 1:
            raise ConfigError(f"fraction is {self.fraction}; use 0 to 1")
        if self.kv_dtype not in DTYPES and self.kv_dtype != DS_MLA:
            raise ConfigError(
                f"kv_dtype {self.kv_dtype!r}; use one of {', '.join(DTYPES)}, {DS_MLA}"
            )
        self._check_one_size()

    def _check_one_size(self) -> None:
        """Refuse a size of L1 that is given twice, or a part of a sum without it."""
        sizes = ("pool_tokens", "kv_memory", "memory")
        given = [name for name in sizes if getattr(self, name) is not None]
        if len(given) > 1:
            raise ConfigError(f"{given[0]} and {given[1]} both size L1; give one")
        if self.memory is not None:
            return
        for name in ("weights", "reserve"):
            if getattr(self, name):
                raise ConfigError(
                    f"{name} is taken from memory, and none is given; give memory "
                    "(--memory-gib), or kv_memory alone, which is what is left"
                )

    @property
    def room(self) -> float | None:
        """Bytes for KV on each GPU; None if no memory was given.

        Raises: ConfigError if weights and reserve leave nothing.
        """
        if self.kv_memory is not None:
            return self.kv_memory
        if self.memory is None:
            return None
        left = self.memory * self.fraction - self.weights - self.reserve
        if left <= 0:
            raise ConfigError(
                f"weights and reserve leave no room for KV ({left / GIB:.2f} GiB); use "
                "more GPUs or memory"
            )
        return left


def _check_count(name: str, option: str, value: int | None) -> None:
    if value is not None and not 1 <= value <= MOST:
        raise ConfigError(f"{name} is {str(value)[:20]}; use {option} 1 to {MOST}")


def check_bytes(name: str, option: str, value: float | None) -> None:
    """Raises: ConfigError for a number of bytes that no device has."""
    if value is None or (value == 0 and name in _MAY_BE_ZERO):
        return
    if not (math.isfinite(value) and 0 < value <= 1 << 60):
        least = "0" if name in _MAY_BE_ZERO else "more than 0"
        raise ConfigError(
            f"{name} is {value / GIB:g} GiB; use {option} {least} to {1 << 30} GiB"
        )


class Capacity(Struct, frozen=True, kw_only=True):
    """What fits. `_per_gpu` sizes are those of one GPU; pools and sequences are of the
    whole deployment. None where no memory, or no context length, was given."""

    model: str
    bytes_per_token_full: int
    bytes_per_token_window: int
    window: int | None
    bytes_per_token_full_per_gpu: int
    bytes_per_token_window_per_gpu: int
    full_layers: int
    window_layers: int
    state_layers: int
    kv_heads: int | None
    head_dim: int | None
    indexer_bytes_per_token: int
    kv_bytes_per_gpu: int | None
    pool_tokens: int | None
    bytes_per_sequence: int | None
    max_concurrency: int | None
    max_concurrency_exact: float | None
    inputs: dict[str, Any]


def capacity(shape: KvShape, plan: Deployment) -> Capacity:
    """Return how much KV a token takes, and how many tokens and sequences fit.

    Raises: ConfigError for a plan with which nothing fits, or more stages than layers.

    >>> from kvlab.model_table import known_shape
    >>> plan = Deployment(tp=8, kv_memory=60 * GIB, context=32768)
    >>> fits = capacity(known_shape("llama-3-70b"), plan)
    >>> fits.bytes_per_token_full, fits.pool_tokens, fits.max_concurrency
    (327680, 1572864, 48)
    """
    layers = shape.full_layers + shape.window_layers + shape.state_layers
    if plan.pp > layers:
        raise ConfigError(f"pp is {plan.pp}; the model has {layers} layers, use fewer")
    full, window = _bytes(shape, plan, shape.full_layers, shape.window_layers)
    on_gpu = _per_gpu(shape, plan)
    ranks = plan.dp_attention
    room = plan.room
    pool = _pool(shape, plan, on_gpu)
    needs = None
    if plan.context is not None:
        needs = _sequence(shape, plan, on_gpu, plan.context)
    exact = _sequences(shape, plan, pool, needs)
    return Capacity(
        model=shape.name,
        bytes_per_token_full=full,
        bytes_per_token_window=window,
        window=shape.window,
        bytes_per_token_full_per_gpu=on_gpu[0],
        bytes_per_token_window_per_gpu=on_gpu[1],
        full_layers=shape.full_layers,
        window_layers=shape.window_layers,
        state_layers=shape.state_layers,
        kv_heads=shape.kv_heads,
        head_dim=shape.head_dim,
        indexer_bytes_per_token=shape.indexer_bytes,
        kv_bytes_per_gpu=None if room is None else int(room),
        pool_tokens=None if pool is None else pool * ranks,
        bytes_per_sequence=needs,
        max_concurrency=None if exact is None else int(exact) * ranks,
        max_concurrency_exact=None if exact is None else round(exact * ranks, 2),
        inputs=msgspec.structs.asdict(plan),
    )


def to_fit(shape: KvShape, plan: Deployment, sequences: int) -> dict[str, Any]:
    """Return what would have to change for so many sequences: each number by itself.

    Units: GiB for each GPU; tokens. Raises: ConfigError without a context length, or
    for a number of sequences that is none.
    """
    if plan.context is None:
        raise ConfigError("--fit needs --context: a sequence has a length")
    _check_count("sequences", "--fit", sequences)
    each = _sequence(shape, plan, _per_gpu(shape, plan), plan.context)
    per_rank = -(-sequences // plan.dp_attention)
    told: dict[str, Any] = {
        "sequences": sequences,
        "kv_gib_per_gpu_needed": round(per_rank * each / GIB, 3),
    }
    room = plan.room
    if room is None:
        return told
    told["fits"] = per_rank * each <= room
    told["kv_memory_factor_needed"] = round(per_rank * each / room, 3)
    told["context_that_fits"] = _longest(shape, plan, room / per_rank)
    return told


def ceiling(shape: KvShape, plan: Deployment) -> list[tuple[int, float]]:
    """Return (context, sequences that fit) for contexts from 1 K to 512 K tokens.

    Raises: ConfigError where neither memory nor a pool was given.

    >>> from kvlab.model_table import known_shape
    >>> plan = Deployment(tp=8, kv_memory=60 * GIB)
    >>> ceiling(known_shape("llama-3-70b"), plan)[5:8]
    [(32768, 48.0), (65536, 24.0), (131072, 12.0)]
    """
    if plan.room is None and plan.pool_tokens is None:
        raise ConfigError("--figure needs memory: give --kv-gib or --memory-gib")
    points = []
    for power in range(10, 20):
        at = msgspec.structs.replace(plan, context=1 << power)
        points.append((1 << power, capacity(shape, at).max_concurrency_exact or 0.0))
    return points


# --- bytes


def _bytes(shape: KvShape, plan: Deployment, full: int, window: int) -> tuple[int, int]:
    """Return bytes of a token in so many full and window layers, not split."""
    if plan.kv_dtype == DS_MLA:
        if shape.kv_heads is not None:
            raise ConfigError(f"kv_dtype {DS_MLA} is for MLA models")
        return full * _DS_MLA_BYTES, window * _DS_MLA_BYTES
    size = DTYPES[plan.kv_dtype]
    if plan.kv_dtype == "auto" and shape.kv_bits is not None:
        size = {8: 1.0, 4: 0.5625}.get(shape.kv_bits, shape.kv_bits / 8)
    return int(full * shape.width * size), int(window * shape.window_width * size)


def _per_gpu(shape: KvShape, plan: Deployment) -> tuple[int, int]:
    """Return bytes of a token on the fullest GPU: pipeline stages divide the layers,
    tensor ranks the KV heads, as far as there are some; MLA is on every rank."""
    full = -(-shape.full_layers // plan.pp)
    window = -(-shape.window_layers // plan.pp)
    whole = _bytes(shape, plan, full, window)
    ranks = plan.tp // plan.dp_attention
    if shape.kv_heads is None or ranks == 1:
        return whole
    heads = shape.kv_heads
    most = -(-heads // ranks)
    return whole[0] * most // heads, whole[1] * most // heads


def _sequence(
    shape: KvShape, plan: Deployment, on_gpu: tuple[int, int], context: int
) -> int:
    """Return bytes of one sequence on a GPU: whole pages, windows no longer than the
    window and a page."""
    tokens = ceil_page(context, plan.page_size)
    kept = tokens
    if shape.window is not None:
        kept = min(tokens, ceil_page(shape.window, plan.page_size))
    index = shape.indexer_bytes * tokens // plan.pp
    return int(on_gpu[0] * tokens + on_gpu[1] * kept + index + plan.state)


def _pool(shape: KvShape, plan: Deployment, on_gpu: tuple[int, int]) -> int | None:
    """Return the tokens of one rank's pool; with windows, at the context's mixture."""
    if plan.pool_tokens is not None:
        return plan.pool_tokens
    room = plan.room
    if room is None:
        return None
    context = plan.context or max(shape.window or 1, 1)
    each = _sequence(shape, plan, on_gpu, context) - plan.state
    if each <= 0:
        return None
    if not on_gpu[1] or shape.window is None:
        each_token = on_gpu[0] + on_gpu[1] + shape.indexer_bytes // plan.pp
        return floor_page(int(room // each_token), plan.page_size)
    return floor_page(int(room * context / each), plan.page_size)


def _sequences(
    shape: KvShape, plan: Deployment, pool: int | None, needs: int | None
) -> float | None:
    """Return how many sequences one rank holds."""
    if needs is None or not needs or plan.context is None:
        return None
    if plan.pool_tokens is not None:
        return plan.pool_tokens / ceil_page(plan.context, plan.page_size)
    room = plan.room
    if room is None or pool is None:
        return None
    if shape.window is None and not plan.state:
        return pool / ceil_page(plan.context, plan.page_size)
    return room / needs


def _longest(shape: KvShape, plan: Deployment, room: float) -> int:
    """Return the longest context of which one sequence fits the room, by halving."""
    on_gpu = _per_gpu(shape, plan)
    contexts = range(1, MOST + 1)
    return bisect_right(contexts, room, key=lambda n: _sequence(shape, plan, on_gpu, n))
