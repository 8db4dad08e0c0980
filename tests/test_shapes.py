"""Are logs of shapes that no rule was written for read all the same, and truly?"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from engine_text import log, scrapes

from kvlab import Workbench
from kvlab.errors import InputError
from kvlab.observe.diagnose import diagnose, diagnose_run
from kvlab.record import events as ev

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


def prefill(at: int, usage: float, running: int, queue: int, new: int, hit: int) -> str:
    return (
        f"[2026-03-02 {clock(at)} TP0] Prefill batch, #new-seq: 1, #new-token: {new}, "
        f"#cached-token: {hit}, token usage: {usage:.2f}, #running-req: {running}, "
        f"#queue-req: {queue}, input throughput (token/s): {new / 9:.2f}, "
    )


def long_unique_prompts(full: float) -> list[str]:
    """Whole chunks all the time; the pool touches its end in the part `full`."""
    lines = [f"[2026-03-02 08:00:00 TP0] {START}"]
    for at in range(100):
        usage = 0.99 if at % 100 >= 100 - 100 * full else 0.5 + at % 7 * 0.05
        lines.append(prefill(at, usage, 9, at * 4, 8192, 0))
        lines.append(f"[2026-03-02 {clock(at)} TP0] {decode(usage, 9, at * 4)}")
    retract = "KV cache pool is full. Retract requests. #retracted_reqs: 1, "
    retract += "#new_tokens_gained: 9000, #new_token_ratio: 0.1 -> 0.5"
    return [*lines, f"[2026-03-02 {clock(99)} TP0] {retract}"]


def test_prefill_limits_though_the_pool_touches_its_end_now_and_then(tmp_path):
    told = log(tmp_path, *long_unique_prompts(0.02))
    assert (told.verdict, told.cause) == ("compute_bound", "prefill_throughput")
    assert any("full (at most 0.99) for moments only" in why for why in told.reasons)


def test_prefill_is_not_blamed_for_a_pool_that_is_full(tmp_path):
    told = log(tmp_path, *long_unique_prompts(0.9))
    assert told.cause == "pool_exhausted_retract"


def waits_beside_room(l2: bool) -> list[str]:
    """Nearly all is hit, little is computed, the pool has room, and requests wait."""
    flags = f"server_args=ServerArgs(page_size=64, enable_hierarchical_cache={l2})"
    lines = [f"[2026-03-02 08:00:00] {flags}", f"[2026-03-02 08:00:00 TP0] {START}"]
    return lines + [
        prefill(at, 0.6, 17 + at % 5, 20 + at % 9, 900, 24000) for at in range(60)
    ]


def test_a_log_with_l2_and_many_hits_makes_loads_a_suspect(tmp_path):
    told = log(tmp_path, *waits_beside_room(l2=True))
    assert (told.cause, told.confidence) == ("l2_load_serialised", "possible")
    assert any("load_back_tokens_total" in step for step in told.next)
    assert "admission_too_conservative" in {other.cause for other in told.considered}


def test_without_l2_the_same_log_is_of_reservations(tmp_path):
    told = log(tmp_path, *waits_beside_room(l2=False))
    assert told.cause == "admission_too_conservative"


def of_an_old_release(at: int, retracted: int) -> str:
    bounds = {"1.0": 10 * at, "60.0": 10 * at + max(0, at - 20), "+Inf": 11 * at + 5}
    ttft = "sglang:time_to_first_token_seconds_bucket"
    said = {"token_usage": 0.99, "num_running_reqs": 30, "num_queue_reqs": 5 * at,
            "num_retracted_reqs": retracted,
            "prompt_tokens_total": 100 * at}  # fmt: skip
    lines = [f"sglang:{name} {value}" for name, value in said.items()]
    lines += [f'{ttft}{{le="{bound}"}} {n}' for bound, n in bounds.items()]
    return "\n".join(lines) + "\n"


def test_a_gauge_of_retractions_is_told_and_not_counted(tmp_path):
    told = scrapes(tmp_path, *(of_an_old_release(at, at % 3) for at in range(9)))
    assert told.cause == "two_of_three_signs"
    assert any("above 0 in 6 of 9 scrapes" in why for why in told.reasons)
    assert told.facts["retracted_total"] is None
    assert any("Retract requests" in step for step in told.next)


def test_a_long_series_is_told_in_nine_parts_to_its_end(tmp_path):
    told = scrapes(tmp_path, *(of_an_old_release(at, 0) for at in range(91)))
    assert told.facts["prompt_tokens_window_9"] == 1000
    assert told.facts["ttft_p99_window_1_gt"] == 60
    assert "prompt_tokens_window_10" not in told.facts


def test_a_run_whose_slots_are_wrong_is_not_called_healthy():
    bench = Workbench(pool_tokens=40)
    bench.insert(range(12))
    trace = bench.trace
    events = [*trace.events, ev.Compared(-1, 12, 1),
              ev.Wrong(-1, "L1", 3, "n1", 3, "1 2 3", "9 9 9", 2)]  # fmt: skip
    told = diagnose_run(type(trace)(trace.header, events), "run")
    assert (told.cause, told.confidence) == ("wrong_slots", "certain")
    assert "1 of 12 slots" in told.reasons[0]
    assert told.evidence[1].text == "L1 slot 3, written by event 2"


def answer(**series: list[float]) -> str:
    """As query_range returns it: a value each 15 s."""
    made = [
        {"metric": {"__name__": f"vllm:{name}", "engine": "0", "pod": 'a"b'},
         "values": [[1772438400 + 15 * at, str(v)] for at, v in enumerate(values)]}
        for name, values in series.items()
    ]  # fmt: skip
    return json.dumps({"status": "success", "data": {"resultType": "matrix",
                                                     "result": made}})  # fmt: skip


def test_an_answer_of_prometheus_is_judged_like_the_scrapes(tmp_path):
    path = tmp_path / "range.json"
    steps = range(40)
    path.write_text(answer(
        num_requests_running=[30] * 40, num_requests_waiting=[3 * at for at in steps],
        kv_cache_usage_perc=[0.998] * 40,
        num_preemptions_total=[2 * at for at in steps],
    ))  # fmt: skip
    told = diagnose([path])
    assert told.cause == "pool_exhausted_preempt"
    assert told.facts["window_s"] == 585
    assert told.facts["preemptions_total"] == 78
    assert "range.json: places count its moments, not lines" in told.notes


SICK = {
    "num_requests_running": [30] * 40,
    "num_requests_waiting": [3 * at for at in range(40)],
    "kv_cache_usage_perc": [0.998] * 40,
    "num_preemptions_total": [2 * at for at in range(40)],
}


@pytest.mark.parametrize("late", [0, 2])
def test_answers_of_one_metric_each_are_one_series(tmp_path, late):
    """They are asked for one after the other, perhaps seconds apart."""
    paths = []
    for number, (name, values) in enumerate(SICK.items()):
        paths.append(tmp_path / f"{name}.json")
        text = answer(**{name: values})
        for at in range(40):
            old = 1772438400 + 15 * at
            text = text.replace(str(old), str(old + late * number))
        paths[-1].write_text(text)
    told = diagnose(paths)
    assert told.cause == "pool_exhausted_preempt"
    assert (told.facts["n_samples"], told.facts["window_s"]) == (40, 585)
    assert told.inputs == tuple(path.name for path in paths)
    assert any("4 answers of Prometheus are one series" in n for n in told.notes)
    assert not any("left out" in note for note in diagnose([tmp_path]).notes)


def test_answers_over_ranges_that_overlap_count_no_moment_twice(tmp_path):
    paths = [tmp_path / "early.json", tmp_path / "late.json"]
    paths[0].write_text(answer(**{name: read[:30] for name, read in SICK.items()}))
    late = {name: read[20:] for name, read in SICK.items()}
    text = answer(**late)
    for at in reversed(range(20)):
        text = text.replace(str(1772438400 + 15 * at), str(1772438700 + 15 * at))
    paths[1].write_text(text)
    told = diagnose(paths)
    assert told.cause == "pool_exhausted_preempt"
    assert (told.facts["n_samples"], told.facts["preemptions_total"]) == (40, 78)


def test_an_answer_without_the_names_of_metrics_is_refused(tmp_path):
    path = tmp_path / "rate.json"
    path.write_text(answer(x=[1]).replace("__name__", "job"))
    with pytest.raises(InputError, match="series without the metric's name"):
        diagnose([path])


def test_half_an_answer_is_refused(tmp_path):
    path = tmp_path / "half.json"
    path.write_text(answer(num_requests_waiting=[1, 2])[:-9])
    with pytest.raises(InputError, match="is no whole answer of Prometheus"):
        diagnose([path])
