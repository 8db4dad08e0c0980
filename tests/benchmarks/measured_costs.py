"""How far are the cost model's steps from measured ones?

    python tests/benchmarks/measured_costs.py

Prints, for steps and runs that others measured and published, what was measured, what
kvlab says with its default factors, and the ratio (1 is right, under 1 too fast). What
each figure stands for was settled before kvlab's own was computed:

    prefill  one step of the prompts given; measured as time to the first token
    decode   one step; a request holds its prompt and half its output by then
    run      prompts given at once, then all steps of their outputs, one batch
    serve    a decode step, and its share of the prefills of the others: each request
             sees those of batch - 1 others while it makes its output

Points of 8-bit weights are fp8's; with 4-bit weights the peak is four times bf16's,
which kvlab's own accelerators do not know. llama-2-70b is told by llama-3-70b's sizes
(2 % more weights).
Not taken: figures whose device, tensor parallel or lengths could not be read; times to
first token of runs that had cached each other's prompts.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from msgspec.structs import replace

from kvlab.cli.parser import Help, Parser
from kvlab.run.accelerators import ACCELERATORS, Accelerator
from kvlab.run.cost import FS, Cost, Factors
from kvlab.run.model_shapes import model_shape

GIT = "https://github.com/"
SOURCES = {
    "trt 0.5": (
        "TensorRT-LLM 0.5", GIT + "NVIDIA/TensorRT-LLM/blob/release/0.5.0/docs/"
        "source/performance.md"),
    "trt 0.6": (
        "TensorRT-LLM 0.6.1 (first tokens and L40S: 0.5)", GIT + "NVIDIA/TensorRT-LLM/"
        "blob/77d24b5fa178f11ed7fafdd9833b7245e075f721/docs/source/performance.md"),
    "trt 0.21": (
        "TensorRT-LLM 0.21.0rc2, EP=None",
        GIT + "NVIDIA/TensorRT-LLM/issues/5929"),
    "nim": (
        "NIM 1.8.0, 2 x H100 80G (taken as SXM), fp8",
        "https://docs.nvidia.com/nim/benchmarking/llm/1.0.0/performance.md"),
    "vllm 0.2": (
        "vLLM, December 2023, its own all-reduce", GIT + "vllm-project/vllm/pull/2192"),
    "vllm ci": (
        "vLLM's own benchmark, latency tests",
        "https://buildkite.com/vllm/performance-benchmark/builds/9515"),
    "vllm 2026": ("vLLM, June 2026, fp8 KV", GIT + "vllm-project/vllm/pull/43232"),
    "tt 143": ("vLLM", GIT + "tenstorrent/tt-inference-server/issues/143"),
    "tt 340": (
        "vLLM, A100 (taken as 80 GB)",
        GIT + "tenstorrent/tt-inference-server/issues/340"),
    "tt 356": (
        "SGLang, two nodes over InfiniBand",
        GIT + "tenstorrent/tt-inference-server/issues/356"),
    "sglang log": (
        "SGLang, two nodes, log", GIT + "sgl-project/sglang/issues/3909"),
    "sglang 0.5.7": (
        "SGLang 0.5.7, no radix cache, no speculation",
        GIT + "SemiAnalysisAI/InferenceX/issues/870"),
    "nvbandwidth 42": ("nvbandwidth", GIT + "NVIDIA/nvbandwidth/issues/42"),
    "nvbandwidth 24": ("nvbandwidth", GIT + "NVIDIA/nvbandwidth/issues/24"),
    "nvbandwidth 15": ("nvbandwidth", GIT + "NVIDIA/nvbandwidth/issues/15"),
    "nvbandwidth 23": ("nvbandwidth", GIT + "NVIDIA/nvbandwidth/issues/23"),
    "sglang 2904": (
        "SGLang, its own all-reduce", GIT + "sgl-project/sglang/pull/2904"),
    "nccl 1264": ("p2pBandwidthLatencyTest", GIT + "NVIDIA/nccl/issues/1264"),
}  # fmt: skip
"""What measured, and where it is told."""

H20 = Accelerator(
    name="h20", flops=148e12, memory_bytes=97871 << 20, memory_rate=4.0e12,
    host_rate=64e9, peer_rate=450e9,
    fp8_flops=296e12,
    source="NVIDIA H20 96 GB: 148 TFLOPS bf16, twice that in fp8, 4.0 TB/s; no sheet "
    "was read for it",
)  # fmt: skip


class Point(NamedTuple):
    """One measurement and what it stands for.

    Units: `weights` bytes each, `kv` the share of a 16-bit KV; `given` and `made`
    tokens a request; `seconds` of a step, or of the run; `quoted` as printed.
    """

    kind: str
    model: str
    device: str
    tp: int
    weights: float
    kv: float
    batch: int
    given: int
    made: int
    seconds: float
    source: str
    quoted: str

    @property
    def group(self) -> str:
        """What the bands tell apart: nodes, mixtures, prefill and the rest."""
        shape = model_shape(self.model)
        if self.tp > 8:
            return "two nodes"
        if shape.active < shape.weights:
            alone = self.kind == "prefill" or self.batch == 1
            return f"mixture, {self.kind}" if alone else "mixture, batches"
        if self.kind != "prefill":
            return "dense, decode and runs"
        return f"dense, prefill {'under' if self.given < 1000 else 'over'} 1000"


BIG, R1, MOE = "llama-3-70b", "deepseek-v3", "qwen3-30b-a3b"
SINGLES = (
    Point("run", BIG, "a100", 4, 2.0, 1, 64, 256, 256, 14.57, "vllm 0.2",
          "Llama 70B A100-80G 4 64: L after (s) 14.57"),
    Point("run", "llama-3-8b", "h200", 1, 2.0, 1, 8, 32, 128, 0.833421, "vllm ci",
          "latency_llama8B_tp1 H200 833.421"),
    Point("run", BIG, "h200", 4, 2.0, 1, 8, 32, 128, 2.07753, "vllm ci",
          "latency_llama70B_tp4 H200 2077.53"),
    Point("run", "mixtral-8x7b", "h200", 2, 2.0, 1, 8, 32, 128, 1.91744, "vllm ci",
          "latency_mixtral8x7B_tp2 H200 1917.44"),
    Point("decode", "qwen2.5-72b", "h100", 2, 2.0, 1, 1, 128, 1024, 0.0309,
          "tt 143", "128 | 1024 | 1: TPOT (ms) 30.9"),
    Point("decode", "qwen2.5-72b", "h100", 2, 2.0, 1, 1, 8192, 128, 0.0313,
          "tt 143", "8192 | 128 | 1: TPOT (ms) 31.3"),
    Point("decode", "qwen3-14b", "a100", 1, 2.0, 1, 1, 128, 128, 0.0243, "tt 340",
          "128 | 128 | 1: TPOT (ms) 24.3; other rows 22.8 to 29.1"),
    Point("decode", MOE, "a100", 1, 2.0, 1, 1, 128, 1024, 0.0097, "tt 340",
          "128 | 1024 | 1: TPOT (ms) 9.7"),
    Point("decode", MOE, "a100", 1, 2.0, 1, 1, 8192, 128, 0.0106, "tt 340",
          "8192 | 128 | 1: TPOT (ms) 10.6"),
    Point("decode", BIG, "h100", 2, 1.0, 1, 1, 5000, 500, 0.01858, "nim",
          "5000 / 500, concurrency 1: ITL (ms) 18.58"),
    Point("decode", BIG, "h100", 2, 1.0, 1, 1, 500, 2000, 0.01891, "nim",
          "500 / 2000, concurrency 1: ITL (ms) 18.91"),
    Point("prefill", BIG, "h100", 2, 1.0, 1, 1, 5000, 1, 0.40677, "nim",
          "5000 / 500, concurrency 1: TTFT (ms) 406.77"),
    Point("prefill", BIG, "h100", 2, 1.0, 1, 1, 500, 1, 0.04777, "nim",
          "500 / 2000, concurrency 1: TTFT (ms) 47.77"),
    Point("run", "qwen3-235b-a22b", "b200", 4, 1.0, 0.5, 64, 30000, 1000,
          151.11 / 2, "vllm 2026", "128 requests, 64 at a time: duration 151.11"),
    Point("decode", R1, "h100", 16, 1.0, 1, 1, 128, 128, 0.0231, "tt 356",
          "128 | 128 | 1: TPOT (ms) 23.1"),
    Point("serve", R1, "h100", 16, 1.0, 1, 32, 128, 128, 0.0325, "tt 356",
          "128 | 128 | 32: TPOT (ms) 32.5"),
    Point("decode", R1, "h20", 16, 1.0, 1, 8, 7816, 0, 8 / 186.64, "sglang log",
          "Decode batch. #running-req: 8, #token: 62531, "
          "gen throughput (token/s): 186.64"),
)  # fmt: skip


def _first_tokens() -> Iterator[Point]:
    """TensorRT-LLM's table of first tokens, one prompt at a time."""
    lat = "1st Token Latency (ms) {}"
    for model, device, tp, weights, rows in (
        ("llama-2-7b", "a100", 1, 2.0, ((128, 16), (2048, 133))),
        ("llama-3-70b", "a100", 4, 2.0, ((128, 47), (2048, 377))),
        ("llama-2-7b", "h100", 1, 1.0, ((128, 7), (2048, 36))),
        ("llama-3-70b", "h100", 4, 1.0, ((128, 26), (2048, 109))),
        ("llama-2-7b", "l40s", 1, 1.0, ((128, 14), (2048, 73))),
    ):
        for given, ms in rows:
            yield Point("prefill", model, device, tp, weights, weights / 2, 1, given,
                        1, ms / 1e3, "trt 0.6", lat.format(ms))  # fmt: skip


def _runs() -> Iterator[Point]:
    """TensorRT-LLM's tables of throughput, every LLaMA row; one batch at a time."""
    for model, device, tp, weights, batch, given, made, rate, source in (
        ("llama-2-7b", "a100", 1, 2.0, 384, 128, 128, 5586, "trt 0.6"),
        ("llama-2-7b", "a100", 1, 2.0, 60, 128, 2048, 1928, "trt 0.6"),
        ("llama-2-7b", "a100", 1, 2.0, 52, 2048, 128, 591, "trt 0.6"),
        ("llama-2-7b", "a100", 2, 2.0, 64, 2048, 2048, 782, "trt 0.6"),
        ("llama-3-70b", "a100", 4, 2.0, 1280, 128, 128, 670, "trt 0.6"),
        ("llama-3-70b", "a100", 4, 2.0, 240, 128, 2048, 525, "trt 0.6"),
        ("llama-3-70b", "a100", 4, 2.0, 120, 2048, 128, 79, "trt 0.6"),
        ("llama-2-7b", "l40s", 1, 1.0, 64, 128, 128, 3240, "trt 0.6"),
        ("llama-2-7b", "l40s", 1, 1.0, 64, 128, 2048, 1622, "trt 0.6"),
        ("llama-2-7b", "l40s", 1, 1.0, 32, 2048, 128, 581, "trt 0.6"),
        ("llama-2-7b", "l40s", 1, 1.0, 16, 2048, 2048, 531, "trt 0.6"),
        ("llama-2-7b", "h100", 1, 1.0, 768, 128, 128, 19694, "trt 0.6"),
        ("llama-2-7b", "h100", 1, 1.0, 112, 128, 2048, 6818, "trt 0.6"),
        ("llama-2-7b", "h100", 1, 1.0, 80, 2048, 128, 2244, "trt 0.6"),
        ("llama-2-7b", "h100", 1, 1.0, 48, 2048, 2048, 2740, "trt 0.6"),
        ("llama-3-70b", "h100", 2, 1.0, 1024, 128, 128, 2657, "trt 0.6"),
        ("llama-3-70b", "h100", 4, 1.0, 480, 128, 2048, 1486, "trt 0.6"),
        ("llama-3-70b", "h100", 2, 1.0, 96, 2048, 128, 306, "trt 0.6"),
        ("llama-3-70b", "h100", 2, 1.0, 64, 2048, 2048, 547, "trt 0.6"),
        ("llama-2-7b", "h100", 1, 1.0, 64, 128, 128, 9193, "trt 0.5"),
        ("llama-2-7b", "h100", 1, 1.0, 64, 128, 2048, 5367, "trt 0.5"),
        ("llama-2-7b", "h100", 1, 1.0, 64, 2048, 128, 2058, "trt 0.5"),
        ("llama-2-7b", "h100", 1, 1.0, 32, 2048, 2048, 2230, "trt 0.5"),
        ("llama-3-70b", "h100", 4, 1.0, 64, 128, 128, 3317, "trt 0.5"),
        ("llama-3-70b", "h100", 4, 1.0, 64, 128, 2048, 2616, "trt 0.5"),
        ("llama-3-70b", "h100", 4, 1.0, 64, 2048, 128, 843, "trt 0.5"),
        ("llama-3-70b", "h100", 4, 1.0, 64, 2048, 2048, 1583, "trt 0.5"),
    ):
        each = source == "trt 0.6"
        seconds = batch * made / (rate * tp if each else rate)
        quoted = f"Throughput (out tok/s{'/GPU' if each else ''}) {rate:,}"
        yield Point("run", model, device, tp, weights, weights / 2, batch, given, made,
                    seconds, source, quoted)  # fmt: skip


def _alone() -> Iterator[Point]:
    """TensorRT-LLM's DeepSeek-R1, one request running."""
    for device, weights, rows in (
        ("h200", 1.0, ((1600, 13.78, 164.63), (8192, 14.53, 515.83))),
        ("b200", 0.53, ((1600, 6.78, 161.04), (8192, 7.14, 394.11))),
    ):
        for given, gap, first in rows:
            quoted = f"Batch Size 1, Input {given}: ITL p50 {gap / 1e3:.5f}"
            yield Point("decode", R1, device, 8, weights, 1, 1, given, 600, gap / 1e3,
                        "trt 0.21", quoted)  # fmt: skip
            quoted = f"Batch Size 1, Input {given}: TTFT p50 {first / 1e3:.5f}"
            yield Point("prefill", R1, device, 8, weights, 1, 1, given, 1, first / 1e3,
                        "trt 0.21", quoted)  # fmt: skip


def _together() -> Iterator[Point]:
    """SGLang's DeepSeek-R1, more and more requests running."""
    for batch, ms in ((8, 12.8), (16, 17.2), (32, 25.6), (64, 34.6)):
        yield Point("serve", R1, "h200", 8, 1.0, 1, batch, 1024, 1024, ms / 1e3,
                    "sglang 0.5.7", f"conc={batch}: Mean TPOT (ms) {ms}")  # fmt: skip


POINTS = (*_first_tokens(), *_runs(), *SINGLES, *_alone(), *_together())

LINKS = (
    ("host, a100", ACCELERATORS["a100"].host_rate, 25.13e9, "nvbandwidth 42",
     "host_to_device_memcpy_sm 25.13"),
    ("host, RTX 4090, PCIe as l40s", ACCELERATORS["l40s"].host_rate, 26.30e9,
     "nvbandwidth 15", "host_to_device_memcpy_ce 26.30"),
    ("host, h100", ACCELERATORS["h100"].host_rate, 52.77e9, "nvbandwidth 24",
     "device_to_host_memcpy_sm 52.77"),
    ("host, GH200 over C2C", 450e9, 346e9, "nvbandwidth 23",
     "Host-to-device: CE (346 GB/s)"),
    ("peer, h100", ACCELERATORS["h100"].peer_rate, 380e9, "nccl 1264",
     "unidirectional 380GB/s out of 450GB/s"),
)  # fmt: skip
"""Links: bytes a second at their peak, and those of a copy from pinned memory."""

REDUCES = (
    (2, 32768, 4.5e-6), (4, 32768, 4.8e-6), (8, 32768, 7.8e-6),
    (2, 1 << 20, 19.9e-6), (4, 1 << 20, 31.1e-6), (8, 1 << 20, 33.8e-6),
)  # fmt: skip
"""SGLang's own all-reduce on H100 ("sglang 2904"): tp, bytes, seconds."""


def cost_of(point: Point, factors: Factors | None = None) -> Cost:
    """Return the cost model at the point's precision."""
    shape = model_shape(point.model)
    shape = replace(
        shape, weight_bytes=point.weights, kv_bytes=int(shape.kv_bytes * point.kv),
        fp8=point.weights < 2,
    )  # fmt: skip
    device = ACCELERATORS.get(point.device, H20)
    if point.weights < 1:
        device = replace(device, fp8_flops=4 * device.flops)
    return Cost(shape, device, tp=point.tp, factors=factors)


def said(point: Point, cost: Cost | None = None) -> float:
    """Return the seconds that kvlab says for what was measured."""
    cost = cost or cost_of(point)
    batch, given, made = point.batch, point.given, point.made
    if point.kind == "prefill":
        return cost.prefill([(given, 0)] * batch) / FS
    if point.kind == "run":
        first = cost.prefill([(given, 0)] * batch)
        return (first + cost.decode(batch, batch * (given + 1), made - 1)) / FS
    step = cost.decode(batch, batch * (given + made // 2))
    if point.kind == "decode":
        return step / FS
    return (step + (batch - 1) * cost.prefill([(given, 0)]) / made) / FS


def reduced(tp: int, size: int) -> float:
    """Return the seconds that kvlab says for an all-reduce of `size` bytes on H100."""
    factors = Factors()
    rate = ACCELERATORS["h100"].peer_rate * factors.peer
    return factors.reduce_latency_s + 2 * (tp - 1) / tp * size / rate


def ratios() -> dict[str, list[float]]:
    """Return what kvlab says over what was measured, by group, each in order."""
    found: dict[str, list[float]] = {}
    for point in POINTS:
        found.setdefault(point.group, []).append(said(point) / point.seconds)
    return {group: sorted(values) for group, values in found.items()}


def main() -> None:
    """Print every point, then the groups."""
    for point in sorted(POINTS, key=lambda point: point.group):
        kvlab = said(point)
        name = f"{point.kind} {point.model} on {point.tp} x {point.device}"
        size = f"{point.batch} x {point.given}/{point.made}"
        print(f"{name:38} {size:17} {point.seconds * 1e3:11.2f} ms, kvlab "
              f"{kvlab * 1e3:11.2f} ms, ratio {kvlab / point.seconds:.2f}  "
              f"{SOURCES[point.source][0]}: {point.quoted}")  # fmt: skip
    for group, values in sorted(ratios().items()):
        print(f"{group}: median {median(values):.2f}, {values[0]:.2f} to "
              f"{values[-1]:.2f}, {len(values)} points")  # fmt: skip
    for link, peak, rate, source, quoted in LINKS:
        print(f"link to {link}: {rate / 1e9:.1f} of {peak / 1e9:.0f} GB/s, "
              f"{rate / peak:.2f} ({SOURCES[source][0]}: {quoted})")  # fmt: skip
    for tp, size, seconds in REDUCES:
        print(f"all-reduce of {size:,} bytes over {tp}: measured {seconds * 1e6:.1f} "
              f"us, kvlab {reduced(tp, size) * 1e6:.1f} us")  # fmt: skip
    for engine, address in SOURCES.values():
        print(f"{engine}: {address}")


if __name__ == "__main__":
    Parser(description=__doc__, formatter_class=Help).parse_args()
    main()
