"""How many tokens of KV does an engine find room for when it starts?

        device memory  =  driver + weights + KV pool + what is set aside
        SGLang: free memory x mem_fraction_static     is for weights and pool
        vLLM:   CUDA's memory x gpu_memory_utilization  is for weights, pool, profile

So the same word "0.9" leaves different pools: SGLang's fraction must keep activations
and graphs outside, vLLM's holds what a profile run measured, graphs come on top.
Units: bytes on each device; tokens for the whole engine.
Error: of eleven posted start-up logs eight are met within 1.5 GiB a device, which is
3 % of a large pool and a fifth of one of 7 GiB; two left 2.2 and 2.9 GiB less (an fp8
model's embeddings are wider, and some weights are not split: give the weights that a
log states), and one release of vLLM left 6 GiB less.
Left out: draft models, LoRA, encoders. Source: SGLang 0.5.14, server_args.py;
article 1, section 1.2; posted logs for `DRIVER` and `PROFILE`.
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
DRIVER = 1024 * MIB
"""What CUDA keeps of nvidia-smi's total: half of it is never shown (79.19 of an H100's
79.65 GiB, 44.42 of an L40S' 44.99), half is the context (78.7 free before weights)."""
PROFILE = 1740 * MIB
"""Activations and libraries in vLLM's profile run: 1.2 to 2.2 GiB for 8 B to 235 B
parameters with default batches; less for short ones, more with images."""

SOURCES: dict[str, dict[str, str]] = {
    "sglang": {
        "memory": "nvidia-smi's total, as in the table of accelerators",
        "driver": "what CUDA keeps of it, as posted logs show",
        "weights": "parameters x bytes / tp; embeddings taken to be split too",
        "activations": "SGLang's own start-up estimate: 512 MiB + 1.5 MiB a token of "
        "the chunk, 2048 at least, + 128 MiB a rank",
        "graphs": "SGLang's own estimate: 2 MiB for each of 256 batch sizes",
        "kv": "(memory - driver) x mem_fraction_static - weights",
        "unused": "what the fraction leaves beyond the two reserves",
    },
    "vllm": {
        "memory": "nvidia-smi's total, as in the table of accelerators",
        "driver": "what CUDA keeps of it, as posted logs show",
        "weights": "parameters x bytes / tp; embeddings taken to be split too",
        "activations": "a guess: vLLM measures them in a profile run; 1.7 GiB is usual",
        "graphs": "a guess: captured later, on top of the fraction; SGLang's formula",
        "kv": "(memory - driver / 2) x gpu_memory_utilization - weights - activations",
        "unused": "what gpu_memory_utilization leaves to others",
    },
}
"""Where each part's figure comes from, by engine; estimates and guesses say so."""


class Startup(Struct, frozen=True, kw_only=True):
    """Where the memory of each device goes. Units: bytes, but `pool_tokens`.

    `fraction` is mem_fraction_static or gpu_memory_utilization; the six parts sum to
    `memory`, but for less than the KV of a token.
    """

    memory: int
    driver: int
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
    weights: int | None = None,
) -> Startup:
    """Return the memory plan of an engine on `tp` devices.

    Without `fraction`, SGLang takes its own estimate and vLLM 0.9; `weights` are bytes
    on each device, where they are known better than by the count of parameters.
    Raises: ConfigError if nothing is left for KV.

    >>> from kvlab.run.accelerators import accelerator
    >>> from kvlab.run.model_shapes import model_shape
    >>> plan = start_up(model_shape("llama-3-70b"), accelerator("h100"), tp=8)
    >>> round(plan.fraction, 2), plan.pool_tokens
    (0.82, 1268394)
    """
    if not 1 <= tp <= 1024:
        raise ConfigError(f"tp is {tp}; use 1 to 1024")
    if fraction is not None and not 0 < fraction <= 1:
        raise ConfigError(f"fraction is {fraction}; use 0 to 1")
    if weights is None:
        weights = int(model.weights * model.weight_bytes / tp)
    activations = 512 * MIB + int(max(chunk, 2048) * 1.5 * MIB) + tp * 128 * MIB
    graphs = GRAPH_BATCH * 2 * MIB
    memory = device.memory_bytes
    if engine == "sglang":
        share = (
            (memory - activations - graphs) / memory if fraction is None else fraction
        )
        kv = int((memory - DRIVER) * share) - weights
    else:
        share, activations = fraction or VLLM_UTILIZATION, PROFILE
        kv = int((memory - DRIVER // 2) * share) - weights - activations
    if kv <= 0:
        raise ConfigError(_no_room(model, device, weights, share))
    a_token = model.kv_bytes / min(tp, model.kv_heads)
    return Startup(
        memory=memory, driver=DRIVER, fraction=share, weights=weights,
        activations=activations, graphs=graphs, kv=kv,
        unused=memory - DRIVER - weights - kv - activations - graphs,
        pool_tokens=int(kv / a_token),
    )  # fmt: skip


def _no_room(model: ModelShape, device: Accelerator, weights: int, share: float) -> str:
    gib = 2**30
    return (
        f"{model.name} has {weights / gib:.1f} GiB of weights a device; {share:.2f} of "
        f"{device.name}'s {device.memory_bytes / gib:.1f} GiB leaves no room for KV: "
        "raise tp or the fraction"
    )
