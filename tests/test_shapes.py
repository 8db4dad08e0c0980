"""Are logs of shapes that no rule was written for read all the same, and truly?"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from engine_text import log

START = (
    "max_total_num_tokens=400000, chunked_prefill_size=8192, max_prefill_tokens=16384, "
    "max_running_requests=48, context_len=32768, available_gpu_mem=7.10 GB"
)


def clock(at: int) -> str:
    return f"08:{at // 6:02}:{at % 6 * 10:02}"


def decode(usage: float, running: int, queue: int) -> str:
    return (
        f"Decode batch, #running-req: {running}, #token: {int(usage * 400000)}, token "
        f"usage: {usage:.2f}, cuda graph: True, gen throughput (token/s): 900.00, "
        f"#queue-req: {queue}"
    )


def overloaded() -> list[tuple[int, str]]:
    """Seconds / 10 and messages of a pool that fills, with three retractions."""
    said = [(0, START)]
    for at in range(40):
        said.append((at, decode(min(0.99, 0.5 + at * 0.03), 40, max(0, at - 14) * 3)))
        if at in (25, 31, 36):
            said.append((at, "KV cache pool is full. Retract requests. #retracted_reqs"
                             f": 2, #new_tokens_gained: 9000, #new_token_ratio: 0.1{at}"
                             f" -> 0.5{at}"))  # fmt: skip
    return said


def renamed(at: int, text: str) -> str:
    return json.dumps(
        {"ts": f"2026-03-02T{clock(at)}.500Z", "lvl": "info", "message": text}
    )


def nested(at: int, text: str) -> str:
    where = {"pod_name": "sgl-0", "labels": {"app": "x"}}
    time = f"2026-03-02T{clock(at)}Z"
    return json.dumps({"time": time, "kubernetes": where, "event": text})


def epochs(at: int, text: str) -> str:
    """As Rust's tracing writes JSON, with milliseconds since 1970."""
    inner = {"message": text, "target": "engine"}
    return json.dumps({"timestamp": 1772438400000 + at * 10000, "fields": inner})


def logfmt(at: int, text: str) -> str:
    return f'time="2026-03-02T{clock(at)}Z" level=info msg="{text}"'


SHAPES: list[Callable[[int, str], str]] = [renamed, nested, epochs, logfmt]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_an_overload_is_found_whatever_logging_wraps_it(tmp_path, shape):
    told = log(tmp_path, *(shape(at, text) for at, text in overloaded()))
    assert (told.status, told.cause) == ("ok", "pool_exhausted_retract")
    assert told.facts["retracted_total"] == 6
    assert told.facts["window_s"] == pytest.approx(390)
    assert told.facts["pool_tokens"] == 400000


def test_engines_apart_behind_dates_of_another_language(tmp_path):
    lines = []
    for at in range(30):
        for engine in (0, 1):
            full = engine == 1
            usage = min(99.8, 60 + at * 3) if full else 20 + at % 3
            again = f"Preemptions: {at % 4 + 1}, " if full and at > 15 else ""
            lines.append(
                f"2026-3月-02 {clock(at)},123 (EngineCore_DP{engine} pid=7{engine}) "
                f"INFO 03-02 {clock(at)} [loggers.py:257] Engine 00{engine}: Avg "
                "prompt throughput: 800.0 tokens/s, Avg generation throughput: 400.1 "
                f"tokens/s, Running: {20 if full else 3} reqs, Waiting: "
                f"{max(0, at - 12) * 4 if full else 0} reqs, {again}GPU KV cache "
                f"usage: {usage:.1f}%, Prefix cache hit rate: 41.0%"
            )
    told = log(tmp_path, *lines)
    assert told.cause == "rank_imbalance_one_rank_full"
    assert told.facts["binding_rank"] == "engine 1"
    assert told.facts["window_s"] == 290


def test_an_engine_between_the_lines_of_a_proxy(tmp_path):
    lines = [f"[2026-03-02 07:59:00 TP0] {START}"]
    for at in range(30):
        lines += [
            f"10.1.2.{at} - - [02/Mar/2026:{clock(at)} +0000] "
            '"POST /v1/completions HTTP/1.1" 200 1000 "-" "python-requests/2.31"',
            f"[2026-03-02 {clock(at)} TP0] {decode(0.38, 48, at * 2)}",
            f"nginx: [warn] 7#7: *{at} upstream server temporarily disabled",
        ]
    told = log(tmp_path, *lines)
    assert (told.cause, told.confidence) == ("max_running_cap", "certain")
    assert told.facts["n_samples"] == 30


def test_a_prefill_worker_of_a_split_server_is_bound_by_compute(tmp_path):
    lines = [f"[2026-03-02 07:59:00 TP0] {START}"]
    lines += [
        f"[2026-03-02 {clock(at)} TP0] Prefill batch, #new-seq: 1, #new-token: 8192, "
        f"#cached-token: 0, token usage: 0.3{at % 9}, #running-req: 0, #queue-req: "
        f"{at * 3}, #pending-token: {at * 20000}, cuda graph: False, #bootstrap-req: "
        f"2, #inflight-req: 1, input throughput (token/s): {21000 + at}.00"
        for at in range(30)
    ]
    assert log(tmp_path, *lines).cause == "prefill_throughput"


def test_a_logfmt_line_that_is_not_key_and_value_throughout_is_left_alone(tmp_path):
    told = log(tmp_path, *(f"x=1 {decode(0.3, 9, 0)} y" for _ in range(3)),
               *(f"[{clock(at)}] {decode(0.3, 9, 0)}" for at in range(9)))  # fmt: skip
    assert told.facts["n_samples"] >= 9
