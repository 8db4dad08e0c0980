"""Does a run of kvlab look to the rules as an engine would?"""

from __future__ import annotations

import json

import pytest

from kvlab.cli import main
from kvlab.observe.diagnose import diagnose_run
from kvlab.observe.run_samples import record_run
from kvlab.observe.samples import Growth, Place, Recording, Sample, Track
from kvlab.record.metrics import metrics
from kvlab.record.trace_file import write_trace


def test_a_run_reports_the_sums_that_its_metrics_report(sample):
    track = record_run(sample, "run").track("")
    whole = metrics(sample)
    assert track.sums["retracted"] == whole.retractions
    assert track.high("queue") == whole.peak_waiting
    assert track.high("running") == whole.peak_running


def test_a_place_in_a_run_is_the_event(sample):
    track = record_run(sample, "run").track("")
    for kept in track.samples:
        assert 0 <= kept.place.line < len(sample)


def test_usage_leaves_out_what_could_be_evicted(sample):
    track = record_run(sample, "run").track("")
    for kept in track.samples:
        values = kept.values
        used = values["kv_used"] / (
            values["kv_used"] + values["kv_available"] + values["kv_evictable"]
        )
        assert values["usage"] == pytest.approx(used)


def test_a_saved_run_is_diagnosed_by_the_command(capsys, sample, tmp_path):
    path = tmp_path / "run.jsonl.gz"
    write_trace(sample, path)
    assert main(["diagnose", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["engine"]) == ("run", "sglang")
    assert told["facts"]["pool_tokens"] == 24
    assert told["facts"]["retracted_total"] == 1


def test_a_run_without_time_has_no_window(sample):
    assert diagnose_run(sample, "run").facts["window_s"] is None


# --- tracks


def test_growth_counts_a_reset_from_zero():
    growth = Growth(10, 10)
    for value in (15, 3, 4):
        growth.read(value)
    assert (growth.grown, growth.resets) == (9, 1)


def test_events_of_no_scheduler_go_to_the_only_one():
    recording = Recording("log")
    place = Place("a", 1)
    recording.track("").event(Sample(place, None, "lookup", {"lookup_tokens": 5.0}))
    recording.track("engine 0").add(Sample(place, None, "stats", {"queue": 0.0}))
    recording.settle()
    (track,) = recording.tracks.values()
    assert (track.name, track.sums["lookup_tokens"]) == ("engine 0", 5)


def test_schedulers_beyond_the_limit_are_one():
    recording = Recording("log")
    for number in range(400):
        recording.track(f"engine {number}")
    assert len(recording.tracks) <= 257
    assert recording.notes


def test_thinning_keeps_the_order():
    track = Track("")
    for line in range(10_000):
        track.add(Sample(Place("a", line), None, "stats", {"queue": 1.0}))
    lines = [kept.place.line for kept in track.samples]
    assert lines == sorted(lines)
    assert lines[0] == 0
    assert lines[-1] > 9_900
