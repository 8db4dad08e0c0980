"""Does each condition of a rule decide something?

One input a condition: it holds all but one sign of a cause, or has it in the one form
that no other test has. Each was found by breaking the condition and seeing no red.
"""

from __future__ import annotations

import pytest
from engine_text import (
    decode,
    log,
    prefill,
    retract,
    scrapes,
    sglang,
    stamp,
    start,
    stats,
    vllm,
)

from kvlab.observe.samples import Place, Recording, Sample
from kvlab.observe.verdict import judge

MINUTES = range(10, 200, 10)
DUMP = (
    "[full] total=1000, available={}, evictable={}, protected={}, session_held={}, "
    "uncached=0"
)


def waits(usage: float, running: int = 20, **more: float) -> list[str]:
    return [decode(t, running + t // 10 % 4, usage, t) for t in MINUTES]


def state(second: int, usage: float, queue: int) -> str:
    return (
        f"{stamp(second)}Decode batch, #running-req: 8, #full token: 9, full token "
        f"usage: 0.21, mamba num: 48, mamba usage: {usage:.2f}, cuda graph: True, gen "
        f"throughput (token/s): 9.00, #queue-req: {queue}"
    )


def before(prealloc: int, retracted: int) -> str:
    return (
        f"pre-allocated usage: 0.05, #prealloc-req: {prealloc}, #transfer-req: 3, "
        f"#retracted-req: {retracted}, "
    )


def l2(hits: float, backup: int, back: int, evicted: int) -> str:
    return sglang(
        token_usage=0.4, num_running_reqs=9, num_queue_reqs=0,
        max_total_num_tokens=1000000, hicache_backup_tokens_total=backup,
        load_back_tokens_total=back, evicted_tokens_total=evicted,
        num_retracted_requests_total=0,
        realtime_tokens_total__mode_prefill_compute=backup,
        realtime_tokens_total__mode_prefill_cache=hits * backup,
    )  # fmt: skip


def series(**rates: list[float]) -> list[str]:
    """Scrapes of vLLM, one a value."""
    return [
        vllm(**dict(zip(rates, values, strict=True)))
        for values in zip(*rates.values(), strict=True)
    ]


# --- logs

BUSY = {"prompt": 900.0, "gen": 800.0}
LOGS = {
    "a dump in which all is evictable": (
        [decode(9, 0, 0.0, 5), decode(19, 0, 0.0, 9),
         stamp(50) + DUMP.format(20, 950, 30, 0)],
        "eviction_stuck",
    ),
    "a dump in which some is free": (
        [decode(t, 9, 0.4, 0) for t in MINUTES]
        + [stamp(300) + DUMP.format(90, 910, 0, 0)],
        "healthy",
    ),
    "a dump of locked tokens with nothing running": (
        [decode(9, 0, 0.0, 0), decode(19, 0, 0.0, 0),
         stamp(50) + DUMP.format(300, 100, 600, 0)],
        "leak_lock_ref",
    ),
    "a dump of sessions": (
        [decode(9, 0, 0.9, 0), stamp(50) + DUMP.format(300, 100, 0, 600)],
        "sessions_pin_pool",
    ),
    "three runners that never change": (
        [start(cap=64), *(decode(t, 3, 0.6, 7) for t in MINUTES)],
        "one_runner_blocks_queue",
    ),
    "a cap of one": (
        [start(cap=1), *(prefill(t, 800, 0, 0.3, 1, t) for t in MINUTES)],
        "max_running_cap",
    ),
    "five runners that never change": (
        [start(cap=64), *(decode(t, 5, 0.6, 7) for t in MINUTES)],
        "admission_too_conservative",
    ),
    "two runners, then three": (
        [stats(t, 2 + t // 50 % 2, 7, 60.0, prompt=0.0, gen=6.0) for t in MINUTES],
        "waiting_below_pin",
    ),
    "prompts that are computed at any rate": (
        [stats(t, 9 + t // 10 % 5, t, 40.0, prompt=100.0 * (t % 70), gen=900.0)
         for t in MINUTES],
        "prefill_throughput",
    ),
    "no prompt computed while several run": (
        [stats(t, 9 + t // 10 % 5, t, 40.0, prompt=0.0, gen=900.0) for t in MINUTES],
        "waiting_below_pin",
    ),
    "retractions beside a half empty pool": (
        [*waits(0.5), *(retract(t, ratio=t / 1000) for t in MINUTES)],
        "waiting_below_pin",
    ),
    "retractions below the pin, again and again": (
        [*waits(0.9), *(retract(t, ratio=t / 1000) for t in MINUTES)],
        "pool_exhausted_retract",
    ),
    "state slots full for a moment": (
        [state(t, 1.0 if t == 50 else 0.4, 3 * (t == 50)) for t in MINUTES],
        "healthy",
    ),
    "few deferred of many waiting": (
        [stats(t, 4 + t // 10 % 3, 12, 30.0, extra="Deferred: 2 reqs, ", **BUSY)
         for t in MINUTES],
        "prefill_throughput",
    ),
    "deferred beside a full pool": (
        [stats(t, 4, 12, 99.0, extra="Deferred: 9 reqs, Preemptions: 1, ", **BUSY)
         for t in MINUTES],
        "pool_exhausted_preempt",
    ),
    "an external hit rate of 0 in every line": (
        [stats(t, 4, 0, 30.0, after=", External prefix cache hit rate: 0.0%")
         for t in MINUTES],
        "l2_keys_never_match",
    ),
    "an external hit rate of 5 %": (
        [stats(t, 4, 0, 30.0, after=", External prefix cache hit rate: 5.0%")
         for t in MINUTES],
        "healthy",
    ),
    "a cache that is switched off": (
        [stamp(0) + "server_args=ServerArgs(disable_radix_cache=True, page_size=1)"]
        + [prefill(t, 5000, 24, 0.3, 4, 0) for t in MINUTES],
        "healthy",
    ),
    "a decode worker before whose pool one waits": (
        [decode(t, 30, 0.97, 0, extra=before(1, 0)) for t in MINUTES],
        "healthy",
    ),
    "a decode worker with room": (
        [decode(t, 30 + t // 10 % 4, 0.5, 0, extra=before(t, 0)) for t in MINUTES],
        "admission_too_conservative",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
def test_a_log_of(tmp_path, name):
    lines, cause = LOGS[name]
    assert log(tmp_path, *lines).cause == cause


# --- metrics

RISE = [4.0, 40.0, 90.0]
METRICS = {
    "L2 that gives little back": (
        [l2(0.1, 10**6 * n, 10**3 * n, 10**6 * n) for n in (0, 1, 2)],
        "l2_written_never_read",
    ),
    "L2 that gives enough back": (
        [l2(0.1, 10**6 * n, 10**5 * n, 10**6 * n) for n in (0, 1, 2)],
        "healthy",
    ),
    "L2 that need give nothing": (
        [l2(0.3, 10**6 * n, 0, 10**5 * n) for n in (0, 1, 2)],
        "healthy",
    ),
    "all evictable while one runs": (
        [sglang(token_usage=0.01, num_running_reqs=1, num_queue_reqs=q,
                max_total_num_tokens=1000, kv_available_tokens=5,
                kv_evictable_tokens=990, kv_used_tokens=5, evicted_tokens_total=700)
         for q in RISE],
        "one_runner_blocks_queue",
    ),
    "a hit of L2 among many": (
        series(
            kv_cache_usage_perc=[0.3] * 3, num_requests_running=[4.0] * 3,
            num_requests_waiting=[0.0] * 3, num_preemptions_total=[0.0] * 3,
            external_prefix_cache_queries_total=[10**4, 10**5, 10**6],
            external_prefix_cache_hits_total=[0.0, 100.0, 900.0],
        ),
        "healthy",
    ),
    "a release without the counter of retractions, and a full pool": (
        [sglang(token_usage=0.99, num_running_reqs=30, num_queue_reqs=q)
         for q in RISE],
        "two_of_three_signs",
    ),
    "a release whose counter has not been needed yet": (
        [sglang(token_usage=0.5, full_token_usage=0.5, num_running_reqs=30 + q % 7,
                num_queue_reqs=q, prompt_tokens_total=q) for q in RISE],
        "admission_too_conservative",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", METRICS)
def test_metrics_of(tmp_path, name):
    texts, cause = METRICS[name]
    assert scrapes(tmp_path, *texts).cause == cause


def test_a_pool_of_unknown_cap_says_only_likely(tmp_path):
    lines = [decode(t, 32, 0.4, t) for t in MINUTES]
    assert log(tmp_path, *lines).confidence == "likely"
    assert log(tmp_path, start(cap=32), *lines).confidence == "certain"


# --- runs


@pytest.mark.parametrize(
    ("stood", "usage", "cause"),
    [
        (5e9, 0.4, "l2_load_serialised"),
        (0.5e9, 0.4, "admission_too_conservative"),
        (5e9, 0.99, "two_of_three_signs"),
    ],
)
def test_a_run_that_stands_for_loads(stood, usage, cause):
    recording = Recording("run")
    recording.engines["sglang"] += 1
    track = recording.track("")
    for at in range(9):
        shown = {"usage": usage, "queue": 2.0 * at, "running": 30.0 + at % 3}
        track.add(Sample(Place("run", at), 30.0 * at, "step", shown))
        track.add_counters({"load_ns_total": stood * at, "compute_ns_total": 1e9 * at})
    found = judge(recording)
    assert found is not None
    assert found.finding.cause == cause
