"""Is each cause recognised by its pattern, and not by what merely looks like it?"""

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

from kvlab.observe.causes import CAUSES
from kvlab.observe.verdict import RULES

# --- L1


def test_a_full_pool_a_queue_and_retractions_are_l1(tmp_path):
    lines = [decode(t, 30, 0.97, 4 + t) for t in range(10, 60, 10)]
    told = log(
        tmp_path, start(), *lines, retract(52), retract(58), decode(60, 28, 0.99, 70)
    )
    assert (told.verdict, told.cause) == ("l1_bound", "pool_exhausted_retract")
    assert told.facts["retracted_total"] == 4


def test_a_full_pool_without_a_queue_is_not_l1(tmp_path):
    told = log(tmp_path, *(decode(t, 30, 0.98, 0) for t in range(10, 60, 10)))
    assert told.verdict == "healthy"


def test_a_full_pool_and_a_queue_without_retraction_lack_the_third_sign(tmp_path):
    told = log(tmp_path, *(decode(t, 30, 0.98, t) for t in range(10, 60, 10)))
    assert told.verdict == "not_enough_evidence"
    assert told.cause == "two_of_three_signs"


def test_a_log_without_retractions_is_not_asked_for_again(tmp_path):
    told = log(tmp_path, *(decode(t, 30, 0.98, t) for t in range(10, 60, 10)))
    assert not any("retract lines" in step for step in told.next)


def test_metrics_without_a_retraction_counter_ask_for_the_log(tmp_path):
    told = scrapes(
        tmp_path,
        *(sglang(token_usage=0.99, num_running_reqs=30, num_queue_reqs=q,
                 num_retracted_reqs=0)
          for q in (10, 40, 90)),
    )  # fmt: skip
    assert told.cause == "two_of_three_signs"
    assert told.facts["retracted_total"] is None
    assert any("log" in step for step in told.next)


def test_a_request_larger_than_the_pool_is_thrown_out_again_and_again(tmp_path):
    lines = []
    for turn in range(5):
        second = 100 * turn
        lines.append(stats(second + 10, 1, 3, 60.0))
        lines.append(stats(second + 20, 1, 3, 99.0))
        lines.append(stats(second + 30, 0, 4, 0.0, extra="Preemptions: 1, "))
    assert log(tmp_path, *lines).cause == "request_exceeds_pool"


def test_a_request_that_is_never_admitted_to_an_empty_pool_exceeds_it(tmp_path):
    lines = [stats(t, 0, 3, 0.0, prompt=0, gen=0) for t in range(10, 90, 10)]
    assert log(tmp_path, *lines).cause == "request_exceeds_pool"


def test_one_full_rank_beside_idle_ones_is_named(tmp_path):
    lines = []
    for t in range(10, 60, 10):
        lines.append(decode(t, 40, 0.99, 10 + t, rank=" DP0 TP0"))
        lines.append(retract(t, rank=" DP0 TP0", ratio=0.2 + t / 1000))
        lines += [decode(t, 3, 0.11, 0, rank=f" DP{d} TP{d}") for d in (1, 2, 3)]
    told = log(tmp_path, *lines)
    assert told.cause == "rank_imbalance_one_rank_full"
    assert told.facts["binding_rank"] == "DP0"
    assert set(told.facts["per_rank"]) == {"DP0", "DP1", "DP2", "DP3"}


USAGE = {"full": 0.99, "busy": 0.8, "idle": 0.11, "calm": 0.3, "stands": 0.2}


def of_ranks(tmp_path, *kinds):
    """What is said of a server whose ranks are so."""
    lines = []
    for t in range(10, 60, 10):
        for d, kind in enumerate(kinds):
            rank = f" DP{d} TP{d}"
            queue = 10 + t + d if kind in ("full", "stands") else 0
            running = 40 if kind == "full" else 3
            lines.append(decode(t, running, USAGE[kind], queue, rank=rank))
            if kind == "full":
                lines.append(retract(t, rank=rank, ratio=0.2 + t / 1000))
    return log(tmp_path, *lines)


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ("full full idle idle", "DP0, DP1 ran full while 2 of 4 ranks stayed at 0.11"),
        ("full calm busy idle", "DP0 ran full while 2 of 4 ranks stayed at 0.3"),
        ("stands full idle calm", "DP1 ran full while 2 of 4 ranks stayed at 0.3"),
        ("full idle calm idle", "DP0 ran full while 3 of 4 ranks stayed at 0.3"),
    ],
)
def test_half_of_the_ranks_may_be_full_if_half_are_idle(tmp_path, kinds, said):
    told = of_ranks(tmp_path, *kinds.split())
    assert told.cause == "rank_imbalance_one_rank_full"
    assert told.reasons[0].replace("usage ", "").startswith(f"{said} or below")
    idle = [q.text for q in told.evidence if q.text.endswith("queue 0")]
    levels = [USAGE[k] for k in kinds.split() if k in ("idle", "calm")]
    assert idle == [f"usage {level}, queue 0" for level in levels[:2]]


def test_of_full_ranks_the_one_with_the_longest_queue_speaks(tmp_path):
    for name, others in (("uneven", ["idle", "idle"]), ("even", [])):
        (folder := tmp_path / name).mkdir()
        told = of_ranks(folder, "full", "full", *others)
        assert told.facts["binding_rank"] == "DP1"


@pytest.mark.parametrize(
    "kinds",
    ["full full full idle", "full idle busy busy", "full idle stands stands"],
)
def test_too_many_full_or_too_few_idle_ranks_are_no_imbalance(tmp_path, kinds):
    assert of_ranks(tmp_path, *kinds.split()).cause == "pool_exhausted_retract"


def test_all_ranks_full_is_no_imbalance(tmp_path):
    lines = []
    for t in range(10, 60, 10):
        for d in (0, 1):
            lines.append(decode(t, 40, 0.99, 10 + t, rank=f" DP{d} TP{d}"))
            lines.append(retract(t, rank=f" DP{d} TP{d}", ratio=0.2 + t / 1000))
    told = log(tmp_path, *lines)
    assert told.cause == "pool_exhausted_retract"
    assert told.facts["retracted_total"] == 20


def test_one_full_engine_of_several_shows_in_their_metrics(tmp_path):
    def both(preempted: int, waiting: int) -> str:
        return vllm(
            kv_cache_usage_perc=0.998, num_requests_running=50,
            num_requests_waiting=waiting, num_preemptions_total=preempted,
        ) + vllm(
            'engine="1"', kv_cache_usage_perc=0.2, num_requests_running=3,
            num_requests_waiting=0, num_preemptions_total=5,
        )  # fmt: skip

    told = scrapes(tmp_path, both(900, 20), both(950, 60))
    assert told.cause == "rank_imbalance_one_rank_full"
    assert told.facts["binding_rank"] == "engine 0"
    assert told.facts["preemptions_total"] == 50


def test_a_decode_worker_keeps_its_backlog_before_the_pool(tmp_path):
    lines = [
        decode(t, 30, 0.97, 0, extra=f"pre-allocated usage: 0.05, #prealloc-req: {t}, "
               "#transfer-req: 3, #retracted-req: 1, ")
        for t in range(5, 60, 5)
    ]  # fmt: skip
    assert log(tmp_path, *lines).cause == "pd_decode_backlog"


# --- compute


def test_whole_chunks_one_after_the_other_are_prefill_at_its_ceiling(tmp_path):
    lines = [
        prefill(t, 4096, 100, 0.3, 12, t, pending=t * 5000) for t in range(5, 60, 5)
    ]
    told = log(tmp_path, start(), *lines)
    assert (told.verdict, told.cause) == ("compute_bound", "prefill_throughput")


def test_a_level_prompt_throughput_beside_a_growing_queue_is_prefill(tmp_path):
    lines = [
        stats(t, 11 + t % 3, t, 28.0, prompt=42000 + t, gen=40)
        for t in range(10, 90, 10)
    ]
    assert log(tmp_path, *lines).cause == "prefill_throughput"


# --- cache


def test_hits_that_end_while_the_cache_has_room_are_the_clients(tmp_path):
    lines = [prefill(t, 500, 4500, 0.3, 4, 0) for t in range(5, 50, 5)]
    lines += [prefill(t, 4900, 100, 0.3, 4, 0) for t in range(50, 95, 5)]
    told = log(tmp_path, start(chunk=8192), *lines)
    assert (told.verdict, told.cause) == ("cache_miss", "prefix_broken_by_client")


def test_a_few_first_tokens_in_common_point_at_the_prompts(tmp_path):
    lines = [prefill(t, 5000, 24, 0.3, 4, 0) for t in range(5, 50, 5)]
    told = log(tmp_path, start(chunk=8192), *lines)
    assert told.cause == "prefix_broken_by_client"
    assert told.confidence == "possible"


def test_hits_of_zero_are_no_fault_by_themselves(tmp_path):
    lines = [stats(t, 5, 0, 20.0, hits=0.0) for t in range(10, 90, 10)]
    assert log(tmp_path, *lines).verdict == "healthy"


def test_hits_that_fall_as_evictions_grow_exceed_the_cache(tmp_path):
    def at(computed: int, cached: int, evicted: int) -> str:
        return sglang(
            token_usage=0.6, num_running_reqs=20, num_queue_reqs=0,
            max_total_num_tokens=100000, evicted_tokens_total=evicted,
            num_retracted_requests_total=0,
            realtime_tokens_total__mode_prefill_compute=computed,
            realtime_tokens_total__mode_prefill_cache=cached,
        )  # fmt: skip

    told = scrapes(
        tmp_path, at(0, 0, 0), at(40_000, 60_000, 5_000), at(120_000, 90_000, 90_000),
        at(280_000, 100_000, 400_000),
    )  # fmt: skip
    assert told.cause == "working_set_exceeds_cache"
    assert told.facts["evicted_tokens_growth"] == 400_000


@pytest.mark.parametrize("asked", [(10_000, 60_000, 110_000), (10_000, 110_000)])
def test_a_second_tier_that_is_asked_and_never_hits_has_wrong_keys(tmp_path, asked):
    told = scrapes(
        tmp_path,
        *(vllm(kv_cache_usage_perc=0.3, num_requests_running=4, num_requests_waiting=0,
               num_preemptions_total=0, external_prefix_cache_queries_total=q,
               external_prefix_cache_hits_total=0, prefix_cache_queries_total=q,
               prefix_cache_hits_total=q // 10, kv_offload_store_bytes_total=q)
          for q in asked),
    )  # fmt: skip
    assert told.cause == "l2_keys_never_match"
    assert told.facts["external_hit_rate"] == 0.0


# --- L2


def test_loads_that_others_wait_behind_are_serialised(tmp_path):
    lines = [
        stats(t, 4, 12, 30.0, extra=f"Deferred: {9 + t % 3} reqs, ")
        for t in range(10, 90, 10)
    ]
    told = log(tmp_path, *lines)
    assert (told.verdict, told.cause) == ("l2_misconfigured", "l2_load_serialised")
    assert told.facts["max_deferred"] == 11


def test_a_host_tier_that_drops_what_it_is_given_is_under_pressure(tmp_path):
    told = scrapes(
        tmp_path,
        *(sglang(token_usage=0.5, num_running_reqs=9, num_queue_reqs=0,
                 max_total_num_tokens=100000, hicache_host_used_tokens=199000,
                 hicache_host_total_tokens=200000, load_back_tokens_total=d,
                 hicache_backup_tokens_total=10 * d, evicted_tokens_total=d,
                 hicache_dropped_tokens_total__reason_host_pressure=d)
          for d in (0, 30_000, 70_000)),
    )  # fmt: skip
    assert told.cause == "l2_host_pressure"


def test_lmcache_that_cannot_allocate_is_under_pressure(tmp_path):
    lines = [stats(t, 4, 0, 30.0) for t in range(10, 60, 10)]
    lines.append(
        "[2026-05-01 10:00:33,100] LMCache WARNING: Failed to allocate memory for "
        "tensor(torch.Size([2, 4])) because no memory is available"
    )
    assert log(tmp_path, *lines).cause == "l2_host_pressure"


def test_a_host_tier_is_no_fault_while_nothing_was_evicted(tmp_path):
    told = scrapes(
        tmp_path,
        *(sglang(token_usage=0.4, num_running_reqs=9, num_queue_reqs=0,
                 max_total_num_tokens=100000, hicache_backup_tokens_total=b,
                 load_back_tokens_total=0, evicted_tokens_total=0,
                 num_retracted_requests_total=0)
          for b in (0, 30_000, 70_000)),
    )  # fmt: skip
    assert told.verdict == "healthy"


# --- leaks

SL5 = (
    "pool memory leak detected! [full] total=1000, available={a}, evictable={e}, "
    "protected={p}, session_held={s}, uncached=0"
)


@pytest.mark.parametrize(
    ("terms", "cause"),
    [
        ({"a": 500, "e": 532, "p": 0, "s": 0}, "leak_overcount"),
        ({"a": 500, "e": 436, "p": 0, "s": 0}, "leak_undercount"),
        ({"a": 500, "e": 300, "p": 200, "s": 0}, "leak_lock_ref"),
    ],
)
def test_the_sign_of_the_account_names_the_leak(tmp_path, terms, cause):
    lines = [decode(t, 3, 0.2, 0) for t in range(10, 40, 10)]
    told = log(tmp_path, *lines, stamp(50) + SL5.format(**terms))
    assert (told.verdict, told.cause) == ("leak", cause)


def test_a_watchdog_dump_that_adds_up_is_no_leak(tmp_path):
    lines = [decode(t, 30, 0.6, 0) for t in range(10, 40, 10)]
    dump = (
        "[full] total=1000, available=300, evictable=100, protected=600, "
        "session_held=0, uncached=0"
    )
    told = log(tmp_path, *lines, stamp(50) + dump)
    assert told.verdict == "healthy"


def test_usage_that_stays_with_nothing_running_is_a_leak(tmp_path):
    told = scrapes(
        tmp_path,
        *(vllm(kv_cache_usage_perc=u, num_requests_running=r, num_requests_waiting=0,
               num_preemptions_total=0)
          for u, r in ((0.5, 9), (0.31, 0), (0.31, 0))),
    )  # fmt: skip
    assert told.cause == "leak_idle_usage"


def test_protected_tokens_with_nothing_running_are_a_lost_lock(tmp_path):
    told = scrapes(
        tmp_path,
        *(sglang(token_usage=0.2, num_running_reqs=0, num_queue_reqs=0,
                 max_total_num_tokens=1000, kv_available_tokens=500,
                 kv_evictable_tokens=300, kv_used_tokens=0) for _ in range(3)),
    )  # fmt: skip
    assert told.cause == "leak_lock_ref"


def test_a_server_that_goes_idle_at_zero_is_healthy(tmp_path):
    lines = [stats(10, 4, 0, 30.0), stats(20, 0, 0, 0.0), stats(30, 0, 0, 0.0)]
    assert log(tmp_path, *lines).verdict == "healthy"


# --- other


def test_state_slots_bind_before_tokens(tmp_path):
    lines = [
        f"{stamp(t)}Decode batch, #running-req: 48, #full token: 9000, "
        "full token usage: 0.21, mamba num: 48, mamba usage: 1.00, "
        f"cuda graph: True, gen throughput (token/s): 900.00, #queue-req: {t}"
        for t in range(5, 50, 5)
    ]
    told = log(tmp_path, *lines)
    assert (told.verdict, told.cause) == ("other", "state_slots_cap")
    assert told.facts["binding_pool"] == "mamba"


def test_running_at_the_configured_maximum_is_the_cap(tmp_path):
    lines = [decode(t, 32, 0.4, t) for t in range(5, 60, 5)]
    told = log(tmp_path, start(cap=32), *lines)
    assert (told.cause, told.confidence) == ("max_running_cap", "certain")


def test_running_at_one_number_throughout_is_likely_a_cap(tmp_path):
    lines = [stats(t, 256, t, 40.0, prompt=500, gen=9000) for t in range(10, 90, 10)]
    told = log(tmp_path, *lines)
    assert (told.cause, told.confidence) == ("max_running_cap", "likely")


def test_waiting_beside_an_idle_pool_is_conservative_admission(tmp_path):
    lines = [decode(t, 20 + t % 4, 0.45, t) for t in range(5, 60, 5)]
    told = log(tmp_path, start(), *lines)
    assert told.cause == "admission_too_conservative"


def test_a_cache_that_could_be_evicted_and_is_not_is_stuck(tmp_path):
    told = scrapes(
        tmp_path,
        *(sglang(token_usage=0.01, num_running_reqs=0, num_queue_reqs=q,
                 max_total_num_tokens=1000, kv_available_tokens=5,
                 kv_evictable_tokens=990, kv_used_tokens=5, evicted_tokens_total=700)
          for q in (4, 9, 12)),
    )  # fmt: skip
    assert told.cause == "eviction_stuck"


def test_idle_sessions_that_hold_the_pool_are_named(tmp_path):
    told = scrapes(
        tmp_path,
        *(sglang(token_usage=0.96, num_running_reqs=0, num_queue_reqs=q,
                 max_total_num_tokens=1000, num_streaming_sessions=40,
                 streaming_session_held_tokens=950)
          for q in (4, 9, 12)),
    )  # fmt: skip
    assert told.cause == "sessions_pin_pool"


def test_one_runner_before_a_standing_queue_blocks_it(tmp_path):
    lines = [stats(t, 1, 7, 60.0, prompt=0.0, gen=6.0) for t in range(10, 90, 10)]
    assert log(tmp_path, *lines).cause == "one_runner_blocks_queue"


# --- a queue that stays, and one that passes


def test_a_queue_that_only_begins_late_is_not_healthy(tmp_path):
    """Passing waits at the start once hid 103 that waited at the end."""
    calm = [decode(t, 20, 0.4, t % 20 == 0) for t in range(0, 400, 10)]
    full = [decode(t, 99, 0.98, (t - 390) // 4) for t in range(400, 700, 10)]
    told = log(tmp_path, start(), *calm, *full, retract(650), decode(700, 90, 0.99, 99))
    assert (told.verdict, told.cause) == ("l1_bound", "pool_exhausted_retract")


def test_a_moment_of_three_is_no_burst(tmp_path):
    lines = [decode(t, 20, 0.4, 3 * (t in (100, 101))) for t in range(95, 140)]
    assert log(tmp_path, *lines).cause == "healthy"


def test_an_overload_of_minutes_is_l1_though_it_drains(tmp_path):
    full = [decode(t, 99, 0.98, 40) for t in range(100, 400, 10)]
    calm = [decode(t, 9, 0.2, 0) for t in range(400, 500, 10)]
    told = log(tmp_path, decode(90, 9, 0.3, 0), *full, retract(350), *calm)
    assert told.cause == "pool_exhausted_retract"
    assert any("4.8 minutes" in reason for reason in told.reasons)


def test_a_queue_at_the_very_end_is_not_called_healthy(tmp_path):
    calm = [decode(t, 20, 0.4, 40 if t == 50 else 0) for t in range(0, 300, 10)]
    told = log(tmp_path, *calm, *(decode(t, 20, 0.5, 9) for t in range(300, 330, 10)))
    assert told.verdict == "not_enough_evidence"
    assert any("before it shows" in reason for reason in told.reasons)


def test_waits_that_pass_as_those_before_are_healthy(tmp_path):
    lines = [decode(t, 20, 0.4, 4 * (t % 100 < 30)) for t in range(0, 630, 10)]
    assert log(tmp_path, *lines).cause == "healthy"


# --- a pool that is full of something else


def copies(running: int, queue: int, usage: float) -> str:
    return sglang(
        token_usage=usage, num_running_reqs=running, num_queue_reqs=queue,
        max_total_num_tokens=1000000, hicache_host_used_tokens=5000,
        hicache_host_total_tokens=90000, num_retracted_requests_total=1,
    )  # fmt: skip


def test_a_pool_full_of_copies_while_nobody_runs_is_the_link(tmp_path):
    told = scrapes(
        tmp_path, copies(90, 0, 0.6), copies(1, 40, 0.99), copies(0, 80, 1.0),
        copies(0, 120, 1.0),
    )  # fmt: skip
    assert (told.verdict, told.cause) == ("l2_misconfigured", "l2_copies_hold_pool")


def test_a_log_does_not_say_what_fills_a_pool_that_nobody_runs_in(tmp_path):
    lines = [decode(t, 1, 0.99, t) for t in range(60, 200, 10)]
    told = log(tmp_path, decode(0, 80, 0.7, 0), *lines, retract(150, 1))
    assert (told.verdict, told.cause) == ("not_enough_evidence", "waiting_below_pin")
    assert any("hicache" in step for step in told.next)


def test_a_leak_that_grows_shows_in_the_last_quiet_reports(tmp_path):
    quiet = dict(num_running_reqs=0, num_queue_reqs=0)
    busy = dict(num_running_reqs=9, num_queue_reqs=0, token_usage=0.5)
    told = scrapes(
        tmp_path,
        *(sglang(**values) for values in (
            {"token_usage": 0.0, **quiet}, {"token_usage": 0.0, **quiet}, busy,
            {"token_usage": 0.2, **quiet}, {"token_usage": 0.2, **quiet},
        )),
    )  # fmt: skip
    assert told.cause == "leak_idle_usage"


def test_usage_that_falls_while_nothing_runs_is_no_leak(tmp_path):
    told = scrapes(
        tmp_path,
        *(sglang(token_usage=u, num_running_reqs=0, num_queue_reqs=0)
          for u in (0.6, 0.4, 0.2)),
    )  # fmt: skip
    assert told.verdict != "leak"


# --- what cannot be said


def test_a_burst_that_drains_is_no_verdict(tmp_path):
    queue = [0, 20, 60, 40, 12, 3, 0, 0]
    usage = [0.5, 0.96, 0.99, 0.97, 0.9, 0.7, 0.5, 0.4]
    lines = [
        decode(10 * i, 20 + i, u, q)
        for i, (u, q) in enumerate(zip(usage, queue, strict=True))
    ]
    told = log(tmp_path, *lines, retract(25))
    assert (told.verdict, told.cause) == ("not_enough_evidence", "burst_drained")


def test_a_pool_that_fills_again_and_again_is_l1_though_it_drains(tmp_path):
    lines = []
    for turn in range(4):
        at = 100 * turn
        lines += [decode(at, 9, 0.5, 0), decode(at + 20, 30, 0.99, 40)]
        lines += [retract(at + 25, ratio=0.1 + turn / 10), decode(at + 40, 9, 0.4, 0)]
    assert log(tmp_path, *lines).cause == "pool_exhausted_retract"


def test_waiting_below_the_pin_is_no_verdict(tmp_path):
    lines = [decode(t, 20 + t % 4, 0.88, t) for t in range(5, 60, 5)]
    assert log(tmp_path, *lines).cause == "waiting_below_pin"


def test_an_average_over_engines_hides_a_full_one(tmp_path):
    lines = [
        stats(t, 60, 30, 45.0).replace("Engine 000", "4 Engines Aggregated")
        for t in range(10, 90, 10)
    ]
    assert log(tmp_path, *lines).cause == "waiting_below_pin"


def test_one_scrape_shows_no_growth(tmp_path):
    text = vllm(
        kv_cache_usage_perc=0.99, num_requests_waiting=9, num_requests_running=9,
        num_preemptions_total=77,
    )  # fmt: skip
    told = scrapes(tmp_path, text)
    assert told.cause == "single_scrape"
    assert told.facts["preemptions_total"] is None


def test_an_engine_that_prints_no_stats_is_not_taken_for_idle(tmp_path):
    told = log(tmp_path, "INFO 05-01 10:00:00 [x.py:1] GPU KV cache size: 9,999 tokens")
    assert told.verdict == "not_enough_evidence"


def test_an_isolated_retraction_is_healthy(tmp_path):
    lines = [decode(t, 30, 0.9, 0) for t in range(10, 60, 10)]
    told = log(tmp_path, *lines, retract(33, 1), decode(70, 30, 0.9, 0))
    assert (told.verdict, told.cause) == ("healthy", "occasional_retraction")


def test_a_test_of_retraction_is_no_full_pool(tmp_path):
    lines = [decode(t, 30, 0.97, t) for t in range(10, 60, 10)]
    told = log(
        tmp_path, *lines, f"{stamp(70)}Testing retraction. #retracted_reqs: 3",
    )  # fmt: skip
    assert told.verdict != "l1_bound"
    assert told.facts["retracted_total"] == 0


# --- the whole


def test_every_cause_has_a_verdict_and_next_steps():
    for name, cause in CAUSES.items():
        assert cause.next, name
        assert cause.says[-1] != ".", name


def test_every_rule_says_in_a_sentence_what_it_asks():
    for rule in RULES:
        assert (rule.__doc__ or "").strip().split("\n")[0]


def test_the_reasons_why_not_are_given(tmp_path):
    told = log(tmp_path, *(decode(t, 9, 0.3, 0) for t in range(10, 60, 10)))
    assert any("not pinned" in other.why for other in told.considered)
