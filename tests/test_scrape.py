"""Are scrapes of every release read, by growth, rank by rank, whatever the spelling?"""

from __future__ import annotations

import pytest
from engine_text import scrapes, sglang, vllm

from kvlab.errors import InputError
from kvlab.observe.diagnose import diagnose
from kvlab.observe.samples import Recording, Track
from kvlab.observe.scrape import ScrapeReader, looks_like_metrics
from kvlab.observe.source import RawLine


def read(*texts: str) -> Recording:
    recording = Recording("metrics")
    reader = ScrapeReader(recording)
    for number, text in enumerate(texts):
        lines = text.encode().split(b"\n")
        reader.read(f"{number}.txt", [RawLine(n, x) for n, x in enumerate(lines, 1)])
    recording.settle()
    return recording


def only(recording: Recording) -> Track:
    (track,) = recording.tracks.values()
    return track


BASE = {"token_usage": 0.5, "num_running_reqs": 4, "num_queue_reqs": 1}


def test_both_spellings_of_a_name_are_one():
    colon = sglang(**BASE)
    assert only(read(colon.replace("sglang:", "sglang_"))).last("queue") == 1
    assert only(read(colon)).last("queue") == 1


def test_replicas_of_ray_are_kept_apart_and_its_doubled_counters_count_once():
    def page(n: int) -> str:
        return "".join(
            vllm(f'engine="0",ReplicaId="{replica}"', num_requests_waiting=n,
                 num_preemptions=n, num_preemptions_total=n)
            for replica in "ab"
        ).replace("vllm:", "ray_vllm_")  # fmt: skip

    recording = read(page(1), page(5))
    assert [
        (t.source, t.last("queue"), t.growth("preemptions_total"))
        for t in recording.tracks.values()
    ] == [("a", 5, 4), ("b", 5, 4)]


def test_created_gauges_are_passed_over():
    text = vllm(num_requests_waiting=3, num_preemptions_created=1.7e9)
    assert only(read(text, text)).growth("preemptions_total") is None


def test_a_counter_counts_by_its_growth():
    track = only(read(*(sglang(**BASE, num_retracted_requests_total=n)
                        for n in (1000, 1003, 1010))))  # fmt: skip
    assert track.growth("retracted_total") == 10


def test_a_counter_that_falls_was_reset_and_goes_on_from_zero():
    track = only(read(*(vllm(num_preemptions_total=n) for n in (900, 905, 2, 9))))
    assert track.growth("preemptions_total") == 5 + 2 + 7


def test_a_counter_that_appears_later_began_at_zero():
    track = only(read(sglang(**BASE), sglang(**BASE, num_retracted_requests_total=7)))
    assert track.growth("retracted_total") == 7


def test_one_reading_is_no_growth():
    track = only(read(vllm(num_preemptions_total=8123)))
    assert track.growth("preemptions_total") is None


def test_tensor_ranks_say_the_same_and_one_is_read():
    def both(count: int) -> str:
        values = {**BASE, "hicache_backup_tokens_total__pool_kv": count}
        return sglang('tp_rank="0"', **values) + sglang('tp_rank="1"', **values)

    track = only(read(both(100), both(350)))
    assert track.growth("backup_total") == 250
    assert track.last("queue") == 1


def test_data_parallel_ranks_are_kept_apart():
    text = sglang('dp_rank="0",tp_rank="0"', **BASE)
    text += sglang('dp_rank="1",tp_rank="1"', **(BASE | {"num_queue_reqs": 8}))
    recording = read(text)
    assert {t.name: t.last("queue") for t in recording.tracks.values()} == {
        "DP0": 1, "DP1": 8,
    }  # fmt: skip


def test_engines_and_instances_are_kept_apart():
    text = vllm('engine="0",instance="a"', num_requests_waiting=1)
    text += vllm('engine="1",instance="a"', num_requests_waiting=2)
    text += vllm('engine="0",instance="b"', num_requests_waiting=3)
    assert len(read(text).tracks) == 3


FULL = {"token_usage": 0.99, "num_running_reqs": 30}
TOKENIZER = 'sglang:prompt_tokens_total{{model_name="m"}} {0}000\n'
LMCACHE = (
    'lmcache:num_lookup_tokens_total{{worker_id="0"}} {0}000\n'
    'lmcache:num_lookup_hits_total{{worker_id="0"}} {0}00\n'
)


def growing(n: int, labels: str = 'dp_rank="0",tp_rank="0"') -> str:
    return sglang(
        labels, **FULL, num_queue_reqs=20 * n, num_retracted_requests_total=5 * n
    )


def test_what_names_no_scheduler_is_of_all_and_no_rank_of_its_own(tmp_path):
    pages = [growing(n) + TOKENIZER.format(n) + LMCACHE.format(n) for n in range(5)]
    told = scrapes(tmp_path, *pages)
    assert told.cause == "pool_exhausted_retract"
    assert (told.facts["n_samples"], told.facts["retracted_total"]) == (5, 20)
    assert told.facts["prompt_tokens_window_1"] == 1000
    assert told.facts["external_hit_rate"] == 0.1


def test_the_tokenizer_s_metrics_are_told_of_every_rank():
    two = sglang('dp_rank="0"', **BASE) + sglang('dp_rank="1"', **BASE)
    recording = read(two + TOKENIZER.format(1), two + TOKENIZER.format(3))
    assert sorted(
        (t.name, t.growth("prompt_total")) for t in recording.tracks.values()
    ) == [("DP0", 2000), ("DP1", 2000)]


def test_a_scheduler_without_a_label_beside_one_that_has_it_stays_its_own():
    recording = read(sglang('dp_rank="0"', **BASE) + sglang('tp_rank="0"', **BASE))
    assert {t.name for t in recording.tracks.values()} == {"DP0", ""}


def test_a_rank_that_reports_no_usage_is_not_idle(tmp_path):
    pages = [
        growing(n) + sglang('dp_rank="1"', num_running_reqs=0, num_queue_reqs=0)
        for n in range(5)
    ]
    assert scrapes(tmp_path, *pages).cause == "pool_exhausted_retract"


def test_the_unrounded_usage_of_the_fullest_pool_is_taken():
    track = only(read(sglang(token_usage=1.0, full_token_usage=0.9971,
                             swa_token_usage=0.2)))  # fmt: skip
    assert track.last("usage") == 0.9971


@pytest.mark.parametrize(
    "names",
    [("kv_cache_usage_perc",), ("gpu_cache_usage_perc",),
     ("kv_cache_usage_perc", "gpu_cache_usage_perc")],
)  # fmt: skip
def test_every_name_of_vllms_usage_is_known(names):
    assert only(read(vllm(**dict.fromkeys(names, 0.7)))).last("usage") == 0.7


def test_an_unset_gauge_of_minus_one_is_no_value():
    track = only(read(vllm(num_requests_waiting=0, gpu_prefix_cache_hit_rate=-1)))
    assert track.last("hit_rate_logged") is None


def test_the_pool_is_in_the_labels_of_vllms_config():
    text = (
        'vllm:cache_config_info{block_size="16",num_gpu_blocks="100",engine="0"} 1.0\n'
    )
    track = only(read(text + vllm(num_requests_waiting=0)))
    assert (track.known("pool_blocks"), track.known("block_size")) == (100, 16)


def test_a_misspelled_metric_of_an_old_release_is_known():
    track = only(read(sglang(**BASE, num_prefill_infight_queue_reqs=4)))
    assert track.last("inflight") == 4


def test_priorities_are_summed_unless_the_whole_is_there():
    parts = sglang(num_queue_reqs__priority_1=2, num_queue_reqs__priority_2=5)
    assert only(read(parts)).last("queue") == 7
    assert only(read(parts + sglang(num_queue_reqs=7))).last("queue") == 7


# --- times and series


def test_milliseconds_and_seconds_are_told_apart():
    classic = "\n".join(
        f'vllm:num_requests_waiting{{engine="0"}} {n} {1_700_000_000_000 + 60_000 * n}'
        for n in (1, 2)
    )
    opened = "\n".join(
        f'vllm:num_requests_waiting{{engine="0"}} {n} {1_700_000_000 + 60 * n}.5\n# EOF'
        for n in (1, 2)
    )
    for text in (classic, opened):
        track = only(read(text))
        assert track.num_samples == 2
        assert track.last_time - track.first_time == 60


def test_openmetrics_with_exemplars_is_read():
    text = (
        "# TYPE vllm:num_preemptions counter\n"
        'vllm:num_preemptions_total{engine="0"} 5.0 1700000000 # {trace="a"} 1.0 17\n'
        "# EOF"
    )
    assert only(read(text)).growths["preemptions_total"].last == 5


def test_scrapes_appended_to_one_file_are_a_series():
    text = "".join(
        vllm(num_requests_waiting=n, num_preemptions_total=n) for n in (1, 9)
    )
    track = only(read(text))
    assert track.num_samples == 2
    assert track.growth("preemptions_total") == 8


@pytest.mark.parametrize("form", ["{}.txt", "metrics.{}", "m-{}", "metrics-{}.prom"])
def test_numbered_scrapes_are_read_as_they_were_taken(tmp_path, form):
    for n in range(1, 12):
        (tmp_path / form.format(n)).write_text(growing(n))
    for given in ([tmp_path], sorted(tmp_path.iterdir())):
        told = diagnose(given)
        assert told.facts["retracted_total"] == 50
        assert told.facts["last_queue"] == 220
        assert told.notes == ()


def test_scrapes_in_which_counters_fall_say_so(tmp_path):
    told = scrapes(tmp_path, *(growing(n) for n in (3, 4, 1, 2, 0)))
    assert "counters fall 2 times: the engine started anew, or" in told.notes[0]


def test_several_folders_of_scrapes_are_several_servers(tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder, step in zip(folders, (1, 0), strict=True):
        folder.mkdir()
        for n in range(3):
            (folder / f"{n}.txt").write_text(growing(step * n))
    told = diagnose(folders)
    assert sorted(told.facts["per_rank"]) == [f"{folder} DP0" for folder in folders]


def test_folders_of_one_scrape_each_are_moments_of_one_server(tmp_path):
    folders = [tmp_path / f"1{n}:00" for n in range(3)]
    for n, folder in enumerate(folders):
        folder.mkdir()
        (folder / "metrics").write_text(growing(n))
    assert diagnose(folders).facts["retracted_total"] == 10


def test_the_time_to_first_token_is_placed_between_two_scrapes(tmp_path):
    def at(fast: int, slow: int) -> str:
        return vllm(num_requests_waiting=0, num_requests_running=1,
                    kv_cache_usage_perc=0.1, num_preemptions_total=0) + "".join(
            f'vllm:time_to_first_token_seconds_bucket{{engine="0",le="{le}"}} {n}\n'
            for le, n in (("1.0", fast), ("10.0", fast + slow), ("+Inf", fast + slow))
        )  # fmt: skip

    told = scrapes(tmp_path, at(0, 0), at(1000, 1), at(2000, 101))
    facts = told.facts
    assert facts["ttft_p99_window_1_le"] == 1.0
    assert (facts["ttft_p99_window_2_gt"], facts["ttft_p99_window_2_le"]) == (1, 10)


def test_answers_beyond_the_last_bucket_have_no_upper_bound(tmp_path):
    def at(late: int) -> str:
        return vllm(num_requests_waiting=0) + "".join(
            f'vllm:time_to_first_token_seconds_bucket{{engine="0",le="{le}"}} {n}\n'
            for le, n in (("10.0", 5), ("+Inf", 5 + late))
        )

    facts = scrapes(tmp_path, at(0), at(100)).facts
    assert facts["ttft_p99_window_1_gt"] == 10
    assert facts["ttft_p99_window_1_le"] is None


# --- damage


def test_a_damaged_line_loses_only_itself(tmp_path):
    text = sglang(**BASE)
    told = scrapes(tmp_path, text, text.replace('usage{tp_rank="0"} 0.5', "usage{tp_r"))
    assert told.status == "partial"
    assert told.facts["n_lines_damaged"] == 1
    assert told.facts["max_queue"] == 1


def test_a_value_that_is_no_number_is_damage():
    recording = read(sglang(**BASE).replace(" 0.5", " NaN"))
    assert recording.damaged == 1
    assert only(recording).last("usage") is None


def test_a_scrape_cut_short_is_partial(tmp_path):
    text = vllm(num_requests_waiting=4, num_requests_running=2, kv_cache_usage_perc=0.3)
    told = scrapes(tmp_path, text, text[:-12])
    assert told.status == "partial"


def test_an_html_page_in_place_of_metrics_is_refused(tmp_path):
    path = tmp_path / "m.txt"
    path.write_text("<html><body>502 Bad Gateway</body></html>")
    with pytest.raises(InputError, match="HTML"):
        diagnose([path])


def test_metrics_of_something_else_are_refused(tmp_path):
    path = tmp_path / "m.txt"
    path.write_text("# HELP up x\n# TYPE up gauge\nup 1\n")
    with pytest.raises(InputError, match="no value of a metric of an engine"):
        diagnose([path])


def test_a_log_is_not_taken_for_metrics():
    assert not looks_like_metrics("[2026-05-01 10:00:00 TP0] Decode batch, #x: 1\n")
    assert looks_like_metrics("sglang:token_usage 0.5\n")


BETWEEN = {
    "date": "Sat Mar 14 09:2{}:00 UTC 2026",
    "iso": "=== 2026-03-14T09:2{}:00Z ===",
    "curl -i": "HTTP/1.1 200 OK\r\ndate: Sat, 14 Mar 2026 09:2{}:00 GMT\r\n"
    "content-type: text/plain; version=0.0.4\r\n\r",
}


@pytest.mark.parametrize("form", BETWEEN)
def test_what_a_loop_writes_between_scrapes_is_their_time_and_no_damage(form):
    pages = [
        BETWEEN[form].format(n) + "\n" + vllm(num_preemptions_total=9 * n, **WAITING)
        for n in range(3)
    ]
    recording = read("\n".join(pages))
    track = only(recording)
    assert recording.damaged == 0
    assert (track.num_samples, track.growth("preemptions_total")) == (3, 18)
    assert track.first_time is not None
    assert track.last_time == track.first_time + 120


WAITING = {"num_requests_waiting": 3}


def test_seconds_since_1970_before_a_scrape_are_its_time():
    assert only(read(f"1773480063\n{vllm(**WAITING)}")).last_time == 1773480063


def test_counters_of_a_damaged_scrape_still_grow():
    pages = [vllm(num_preemptions_total=n) + '\nup{job="a' for n in (4, 9)]
    recording = read(*pages)
    assert recording.damaged == 2
    assert only(recording).growth("preemptions_total") == 5
