"""How many tokens of KV does an engine find room for when it starts?

        device memory  =  weights + KV pool + what is set aside
        SGLang: memory x mem_fraction_static     is for weights and pool
        vLLM:   memory x gpu_memory_utilization  is for weights, pool, activations

So the same word "0.9" leaves different pools: SGLang's fraction must keep activations
and graphs outside, vLLM's is a bound on all, and a profile run measures what they take.
Units: bytes on each device; tokens for the whole engine.
Error: the reserves are SGLang's own start-up estimate and a stated guess for vLLM's
profile; a real start differs by some per cent of the pool.
Left out: draft models, LoRA, encoders. Source: SGLang 0.5.14, server_args.py;
article 1, section 1.2.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..errors import ConfigError
from .accelerators import Accelerator
from .model_shapes import ModelShape

MIB = 1 << 20
GRAPH_BATCH = 256
"""The largest batch with a CUDA graph (SGLang: cuda_graph_max_bs on large devices)."""
VLLM_UTILIZATION = 0.9


SOURCES: dict[str, dict[str, str]] = {
    "sglang": {
        "memory": "nvidia-smi's total, as in the table of accelerators",
        "weights": "parameters x bytes / tp; embeddings taken to be split too",
        "activations": "SGLang's own start-up estimate: 512 MiB + 1.5 MiB a token of "
        "the chunk, 2048 at least, + 128 MiB a rank",
        "graphs": "SGLang's own estimate: 2 MiB for each of 256 batch sizes",
        "kv": "memory x mem_fraction_static - weights",
        "unused": "what the fraction leaves beyond the two reserves",
    },
    "vllm": {
        "memory": "nvidia-smi's total, as in the table of accelerators",
        "weights": "parameters x bytes / tp; embeddings taken to be split too",
        "activations": "a guess: vLLM measures them in a profile run; SGLang's formula",
        "graphs": "a guess: vLLM measures them when it captures; SGLang's formula",
        "kv": "memory x gpu_memory_utilization - weights - activations - graphs",
        "unused": "what gpu_memory_utilization leaves to others",
    },
}
"""Where each part's figure comes from, by engine; estimates and guesses say so."""


class Startup(Struct, frozen=True, kw_only=True):
    """Where the memory of each device goes. Units: bytes, but `pool_tokens`.

    `fraction` is mem_fraction_static or gpu_memory_utilization; the five parts sum to
    `memory` but for less than the KV of a token.
    """

    memory: int
    fraction: float
    weights: int
    activations: int
    graphs: int
    unused: int
    kv: int
    pool_tokens: int


def start_up(
    model: ModelShape,
    device: Accelerator,
    *,
    engine: Literal["sglang", "vllm"] = "sglang",
    tp: int = 1,
    chunk: int = 8192,
    fraction: float | None = None,
) -> Startup:
    """Return the memory plan of an engine on `tp` devices.

    Without `fraction`, SGLang takes its own estimate and vLLM 0.9.
    Raises: ConfigError if nothing is left for KV.

    >>> from kvlab.run.accelerators import accelerator
    >>> from kvlab.run.model_shapes import model_shape
    >>> plan = start_up(model_shape("llama-3-70b"), accelerator("h100"), tp=8)
    >>> round(plan.fraction, 2), plan.pool_tokens
    (0.82, 1290000)
    """
    if not 1 <= tp <= 1024:
        raise ConfigError(f"tp is {tp}; use 1 to 1024")
    if fraction is not None and not 0 < fraction <= 1:
        raise ConfigError(f"fraction is {fraction}; use 0 to 1")
    weights = int(model.weights * model.weight_bytes / tp)
    activations = 512 * MIB + int(max(chunk, 2048) * 1.5 * MIB) + tp * 128 * MIB
    graphs = GRAPH_BATCH * 2 * MIB
    memory = device.memory_bytes
    if engine == "sglang":
        share = (
            (memory - activations - graphs) / memory if fraction is None else fraction
        )
        kv = int(memory * share) - weights
    else:
        share = VLLM_UTILIZATION if fraction is None else fraction
        kv = int(memory * share) - weights - activations - graphs
    if kv <= 0:
        raise ConfigError(_no_room(model, device, weights, share))
    a_token = model.kv_bytes / min(tp, model.kv_heads)
    return Startup(
        memory=memory, fraction=share, weights=weights, activations=activations,
        graphs=graphs, unused=memory - weights - kv - activations - graphs, kv=kv,
        pool_tokens=int(kv / a_token),
    )  # fmt: skip


def _no_room(model: ModelShape, device: Accelerator, weights: int, share: float) -> str:
    gib = 2**30
    return (
        f"{model.name} has {weights / gib:.1f} GiB of weights a device; {share:.2f} of "
        f"{device.name}'s {device.memory_bytes / gib:.1f} GiB leaves no room for KV: "
        "raise tp or the fraction"
    )
