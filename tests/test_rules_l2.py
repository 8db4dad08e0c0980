"""What do the rules of L2 say, by which numbers, and where do they stop?"""

from __future__ import annotations

import pytest
from engine_text import (
    decode,
    log,
    prefill,
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
HELD = "running requests do not fill it"


def told_of(told):
    """The cause, how sure it is, the reasons, and the lines that show it."""
    lines = [quote.text for quote in told.evidence]
    return told.cause, told.confidence, list(told.reasons), lines


def of_run(samples, **growth):
    """What is found in a run of such samples, half a minute apart."""
    recording = Recording("run")
    recording.engines["sglang"] += 1
    track = recording.track("")
    for at, values in enumerate(samples):
        track.add(Sample(Place("run", at), 30.0 * at, "step", values))
        track.add_counters({name: each * at for name, each in growth.items()})
    found = judge(recording)
    assert found is not None
    return found.finding


# --- a pool that is full of something else


def full(running, part=1.0):
    """A full pool of which others than the `running` hold a part."""
    return {"usage": 1.0, "queue": 40.0, "running": running, "copying": part}


def test_copies_that_hold_a_third_of_the_full_reports_are_the_link():
    calm = {"usage": 0.5, "queue": 0.0, "running": 90.0, "copying": 0.0}
    told = of_run(
        [calm, full(1), full(0, 0.75), full(0, 0), full(0, 0)], backup_total=9
    )
    assert (told.cause, told.confidence) == ("l2_copies_hold_pool", "certain")
    assert list(map(str, told.why)) == [
        "the pool is full and 40 wait, yet in 4 of 4 such reports at most 1 run, of 90 "
        f"at other times: {HELD}",
        "copies in flight hold up to 100% of it",
        "the link between L1 and L2 does not keep up; more L1 would fill as well",
    ]
    rare = [calm, full(1), *[full(0, 0)] * 4]
    assert of_run(rare, backup_total=9).cause != "l2_copies_hold_pool"
    busy = [calm, full(1), full(0), *[full(80)] * 5]
    assert of_run(busy, backup_total=9).cause != "l2_copies_hold_pool"


@pytest.mark.parametrize(
    ("before", "running", "held"),
    [
        ([decode(0, 80, 0.7, 0)], [8] * 9, "9 of 9 such reports at most 8 run, of 80"),
        ([decode(0, 80, 0.7, 0)], [9] * 9, ""),
        ([decode(0, 80, 0.7, 0)], [8] * 2, ""),
        ([decode(0, 80, 0.7, 0)], [4, 70] * 4, "4 of 8 such reports at most 4 run"),
        ([decode(0, 80, 0.7, 0)], [4, 70, 70] * 3, ""),
        ([start(pool=1_000_000)], [13, 14] * 4, "8 of 8 such reports at most 14 run"),
        ([start(pool=1_000_000)], [15, 16] * 4, ""),
    ],
)
def test_a_log_of_a_full_pool_says_if_too_few_run_to_fill_it(
    tmp_path, before, running, held
):
    lines = [decode(60 + 10 * at, n, 0.99, 20 + at) for at, n in enumerate(running)]
    told = log(tmp_path, *before, *lines)
    assert (HELD in told.reasons[0]) == bool(held)
    assert held in told.reasons[0]


# --- requests that wait for loads


def test_a_run_says_how_long_prefills_stood_and_computed():
    samples = [
        {"usage": 0.4, "queue": 2.0 * at, "running": 30.0 + at % 3} for at in range(9)
    ]
    told = of_run(samples, load_ns_total=5e9, compute_ns_total=1e9)
    assert (told.cause, told.confidence) == ("l2_load_serialised", "certain")
    assert list(map(str, told.why)) == [
        "prefills stood 40 s for L2 loads and computed 8 s; usage is at most 0.4 while "
        "they wait"
    ]


@pytest.mark.parametrize(
    ("new", "cached", "usage", "lines", "fits"),
    [
        (200, 300, 0.4, 19, True),
        (200, 150, 0.4, 19, False),
        (200, 300, 0.85, 19, False),
        (3000, 9000, 0.4, 19, False),
    ],
)
def test_a_log_whose_hits_wait_beside_idle_compute_may_show_slow_loads(
    tmp_path, new, cached, usage, lines, fits
):
    args = stamp(0) + "server_args=ServerArgs(enable_hierarchical_cache=True)"
    waits = [prefill(t, new, cached, usage, 8 + t // 10 % 4, t) for t in MINUTES]
    told = log(tmp_path, start(), args, *waits[:lines])
    assert (told.cause == "l2_load_serialised") == fits
    if fits:
        assert told.confidence == "possible"
        assert "computes 200 tokens on average, of a chunk of 4,096" in told.reasons[0]
        assert "60.0% of the prompt tokens are hits" in told.reasons[1]


@pytest.mark.parametrize("stage", ["6 waiting to start, 0", "0 waiting to start, 6"])
def test_who_fetches_waits_for_loads_too(tmp_path, stage):
    extra = f"KV fetch: {stage} in progress, 0 completed waiting, "
    told = log(tmp_path, *(stats(t, 4, 12, 30.0, extra=extra) for t in MINUTES))
    assert told.cause == "l2_load_serialised"


@pytest.mark.parametrize(("often", "is_it"), [(2, True), (3, False)])
def test_four_of_ten_reports_in_which_loads_are_waited_for_are_enough(
    tmp_path, often, is_it
):
    extra = ["Deferred: 9 reqs, ", *[""] * (often - 1)]
    lines = [stats(t, 4, 12, 30.0, extra=extra[t // 10 % often]) for t in MINUTES]
    assert (log(tmp_path, *lines).cause == "l2_load_serialised") == is_it


@pytest.mark.parametrize(("deferred", "is_it"), [(6, True), (5, False)])
def test_half_of_those_who_wait_wait_for_loads(tmp_path, deferred, is_it):
    extra = f"Deferred: {deferred} reqs, "
    told = log(tmp_path, *(stats(t, 4, 12, 30.0, extra=extra) for t in MINUTES))
    assert (told.cause == "l2_load_serialised") == is_it
    if is_it:
        line = "deferred 6, queue 12, usage 0.3, running 4"
        reason = (
            "of 12 waiting, up to 6 wait for L2 loads in 19 reports; usage is at most "
            "0.3 while they wait"
        )
        assert told_of(told) == (told.cause, "likely", [reason], [line, line])


# --- what L2 is given and gives


def test_of_many_refusals_two_lines_are_shown(tmp_path):
    refused = (
        "[2026-05-01 10:00:33,100] LMCache WARNING: Failed to allocate memory for "
        "tensor(torch.Size([2, 4])) because no memory is available"
    )
    told = log(tmp_path, *(stats(t, 4, 0, 30.0) for t in range(10, 60, 10)),
               *[refused] * 3)  # fmt: skip
    reasons = ["3 allocations were refused by the host tier"]
    lines = ["l2_refused", "l2_refused"]
    assert told_of(told) == ("l2_host_pressure", "likely", reasons, lines)


def given(written, dropped):
    """A scrape of a host tier that was given and gave up so many tokens."""
    return sglang(
        token_usage=0.5, num_running_reqs=9, num_queue_reqs=0,
        hicache_backup_tokens_total=written, evicted_tokens_total=0,
        hicache_dropped_tokens_total__reason_host_pressure=dropped,
    )  # fmt: skip


def test_one_token_in_a_hundred_may_be_dropped(tmp_path):
    few = scrapes(tmp_path, given(0, 0), given(10**6, 10**4))
    assert few.verdict == "healthy"
    more = scrapes(tmp_path, given(0, 0), given(10**6, 10**4 + 1))
    assert more.cause == "l2_host_pressure"


def test_drops_are_shown_with_how_full_the_host_is(tmp_path):
    told = scrapes(
        tmp_path,
        *(sglang(token_usage=0.5, num_running_reqs=9, num_queue_reqs=0,
                 hicache_host_used_tokens=199000, hicache_host_total_tokens=200000,
                 hicache_backup_tokens_total=10 * d, evicted_tokens_total=d,
                 hicache_dropped_tokens_total__reason_host_pressure=d)
          for d in (0, 70_000)),
    )  # fmt: skip
    reasons = ["70,000 tokens were dropped by the host tier"]
    lines = ["dropped 70,000, l2_fraction 0.995"]
    assert told_of(told) == ("l2_host_pressure", "likely", reasons, lines)


@pytest.mark.parametrize(
    ("reports", "cause"), [(3, "l2_keys_never_match"), (2, "healthy")]
)
def test_a_rate_of_nothing_counts_from_the_third_report_on(tmp_path, reports, cause):
    after = ", External prefix cache hit rate: 0.0%"
    lines = [stats(10 * at, 4, 0, 30.0, after=after) for at in range(reports)]
    assert log(tmp_path, *lines).cause == cause


def test_a_rate_that_was_above_nothing_once_shows_that_keys_match(tmp_path):
    rates = [5.0, *[0.0] * 9]
    lines = [
        stats(10 * at, 4, 0, 30.0, after=f", External prefix cache hit rate: {rate}%")
        for at, rate in enumerate(rates)
    ]
    assert log(tmp_path, *lines).cause == "healthy"


def asked(number):
    """LMCache's line on a prompt that it was asked for, in vain."""
    return (
        f"(EngineCore_DP0 pid=7) [2026-05-01 10:00:0{number},118] LMCache INFO: Reqid: "
        f"a-{number}, Total tokens 900, LMCache hit tokens: 0, need to load: 0 "
    )


@pytest.mark.parametrize(("number", "never"), [(3, True), (2, False)])
def test_three_lookups_in_vain_are_shown_by_the_first_and_the_last(
    tmp_path, number, never
):
    calm = [stats(t, 4, 0, 30.0) for t in MINUTES]
    told = log(tmp_path, *map(asked, range(number)), *calm)
    assert (told.cause == "l2_keys_never_match") == never
    if never:
        reason = (
            "2,700 tokens were asked of L2 and none was found: the keys never match, "
            "or nothing ever comes back"
        )
        assert list(told.reasons) == [reason]
        shown = [q.text for q in told.evidence if "lookup" in q.text]
        assert shown == ["lookup_tokens 900, lookup_hits 0"] * 2


def test_what_was_asked_in_vain_is_told_beside_what_was_stored(tmp_path):
    told = scrapes(
        tmp_path,
        *(vllm(kv_cache_usage_perc=0.3, num_requests_running=4, num_requests_waiting=0,
               num_preemptions_total=0, external_prefix_cache_queries_total=q,
               external_prefix_cache_hits_total=0, kv_offload_store_bytes_total=q)
          for q in (10_000, 110_000)),
    )  # fmt: skip
    reason = (
        "100,000 tokens were asked of L2 and none was found, while 100,000 bytes were "
        "stored: the keys never match, or nothing ever comes back"
    )
    line = "external_hits 0, external_queries 110,000"
    assert told_of(told) == ("l2_keys_never_match", "likely", [reason], [line])


def test_what_is_written_and_never_read_is_told_with_what_returns(tmp_path):
    told = scrapes(
        tmp_path,
        *(sglang(token_usage=0.4, num_running_reqs=9, num_queue_reqs=0,
                 hicache_host_used_tokens=5000, hicache_host_total_tokens=10000,
                 hicache_backup_tokens_total=n, load_back_tokens_total=n // 1000,
                 evicted_tokens_total=n, num_retracted_requests_total=0,
                 realtime_tokens_total__mode_prefill_compute=n,
                 realtime_tokens_total__mode_prefill_cache=n // 20)
          for n in (0, 10**6)),
    )  # fmt: skip
    assert told_of(told) == (
        "l2_written_never_read",
        "likely",
        [
            "1,000,000 tokens were backed up to L2 and next to none loaded back",
            "L2 is 50% full",
            "1,000,000 tokens were evicted from L1",
            "the hit rate is 4.8%",
        ],
        [
            "backup 0, load_back 0, l2_fraction 0.5",
            "backup 1,000,000, load_back 1,000, l2_fraction 0.5",
        ],
    )
