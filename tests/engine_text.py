"""Lines and scrapes as engines write them, for the tests of observe/."""

from __future__ import annotations

from pathlib import Path

from kvlab.observe.diagnose import diagnose
from kvlab.record.diagnosis import Diagnosis


def clock(second: int) -> str:
    return f"{10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def stamp(second: int, rank: str = " TP0") -> str:
    return f"[2026-05-01 {clock(second)}{rank}] "


def decode(
    second: int, running: int, usage: float, queue: int, rank: str = " TP0",
    extra: str = "", gen: float = 900.0,
) -> str:  # fmt: skip
    """SGLang 0.5.23's decode line (SD5)."""
    return (
        f"{stamp(second, rank)}Decode batch, #running-req: {running}, "
        f"#token: {int(usage * 100000)}, token usage: {usage:.2f}, {extra}"
        f"cuda graph: True, gen throughput (token/s): {gen:.2f}, #queue-req: {queue}"
    )


def prefill(
    second: int, new: int, cached: int, usage: float, running: int, queue: int,
    rank: str = " TP0", pending: int = 0,
) -> str:  # fmt: skip
    """SGLang 0.5.23's prefill line (SP5)."""
    return (
        f"{stamp(second, rank)}Prefill batch, #new-seq: 1, #new-token: {new}, "
        f"#cached-token: {cached}, token usage: {usage:.2f}, #running-req: {running}, "
        f"#queue-req: {queue}, #pending-token: {pending}, cuda graph: False, "
        "input throughput (token/s): 9000.00"
    )


def retract(second: int, count: int = 2, rank: str = " TP0", ratio: float = 0.3) -> str:
    """SGLang 0.5.23's retraction (SR4)."""
    return (
        f"{stamp(second, rank)}KV cache pool is full. Retract requests. "
        f"#retracted_reqs: {count}, #new_tokens_gained: 4096, "
        f"#new_token_ratio: {ratio:.4f} -> {ratio + 0.2:.4f}"
    )


def start(pool: int = 100000, cap: int = 64, chunk: int = 4096) -> str:
    return (
        f"{stamp(0)}max_total_num_tokens={pool}, chunked_prefill_size={chunk}, "
        f"max_prefill_tokens=16384, max_running_requests={cap}, context_len=32768, "
        "available_gpu_mem=9.87 GB"
    )


def stats(
    second: int, running: int, waiting: int, usage: float, *, prompt: float = 1000.0,
    gen: float = 500.0, hits: float = 40.0, extra: str = "", after: str = "",
    engine: str = "000",
) -> str:  # fmt: skip
    """vLLM V1's stats line (VL2); usage and hits in percent."""
    return (
        f"(APIServer pid=1) INFO 05-01 {clock(second)} [loggers.py:271] "
        f"Engine {engine}: "
        f"Avg prompt throughput: {prompt:.1f} tokens/s, "
        f"Avg generation throughput: {gen:.1f} tokens/s, Running: {running} reqs, "
        f"Waiting: {waiting} reqs, {extra}GPU KV cache usage: {usage:.1f}%, "
        f"Prefix cache hit rate: {hits:.1f}%{after}"
    )


def sglang(labels: str = 'tp_rank="0"', **values: float) -> str:
    """A scrape of SGLang: names without prefix; `a__mode_b` is `a{mode="b"}`."""
    return _scrape("sglang", labels, values)


def vllm(labels: str = 'engine="0"', **values: float) -> str:
    """A scrape of vLLM."""
    return _scrape("vllm", labels, values)


def _scrape(engine: str, labels: str, values: dict[str, float]) -> str:
    lines = []
    for key, value in values.items():
        name, _, more = key.partition("__")
        label, _, said = more.partition("_")
        extra = f',{label.replace("-", "_")}="{said}"' if more else ""
        lines.append(f"{engine}:{name}{{{labels}{extra}}} {float(value)}")
    return "\n".join(lines) + "\n"


def judged(folder: Path, *texts: str, ending: str = "log") -> Diagnosis:
    """Return what kvlab says of these files."""
    paths = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.{ending}"
        path.write_text(text)
        paths.append(path)
    return diagnose(paths)


def log(folder: Path, *lines: str) -> Diagnosis:
    """Return what kvlab says of one log of these lines."""
    return judged(folder, "\n".join(lines) + "\n")


def scrapes(folder: Path, *texts: str) -> Diagnosis:
    """Return what kvlab says of a series of scrapes."""
    return judged(folder, *texts, ending="txt")
