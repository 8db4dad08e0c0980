"""Does the first article's title come out of the engine?"""

from __future__ import annotations

import json

import pytest

from kvlab.lessons.title_collapse import SETTINGS, main, play, table

SEEDS = (0,)


@pytest.fixture(scope="module")
def findings():
    return {
        setting.name: [play(setting, seed)[0] for seed in SEEDS]
        for setting in SETTINGS
    }  # fmt: skip


def p99(findings, name):
    return sum(finding.p99 for finding in findings[name]) / len(SEEDS)


def test_p99_rises_tenfold_while_l2_is_more_than_half_empty(findings):
    for finding in findings["write_back"]:
        assert finding.collapse_at is not None
        assert finding.worst_p99 >= 10 * finding.calm_p99
        assert finding.l2_fill < 0.5
        assert finding.retractions > 0


def test_write_through_fills_l2_from_the_first_insert_and_p99_collapses_alike(findings):
    for through, back in zip(
        findings["write_through"], findings["write_back"], strict=True
    ):
        assert through.collapse_at is not None
        assert through.l2_fill > 2 * back.l2_fill


def test_one_request_alone_trips_selective_in_one_release_only(findings):
    assert all(f.l2_fill > 0.05 for f in findings["selective, 0.5.14"])
    assert all(f.l2_fill < 0.01 for f in findings["selective"])


def test_twice_the_l2_changes_p99_by_less_than_two_per_cent(findings):
    first = p99(findings, "write_back")
    assert p99(findings, "twice the L2") == pytest.approx(first, rel=0.02)


@pytest.mark.parametrize("name", ["twice the L1", "half the KV", "queue of 8 at most"])
def test_every_prescription_brings_p99_down(findings, name):
    assert p99(findings, name) < 0.5 * p99(findings, "write_back")


def test_the_queue_turns_some_away_and_only_there(findings):
    away = {name: sum(f.turned_away for f in group) for name, group in findings.items()}
    assert [name for name, number in away.items() if number] == ["queue of 8 at most"]


def test_usage_queue_and_retractions_rise_together_at_the_collapse():
    finding, samples, _ = play(SETTINGS[0], 0)
    assert finding.collapse_at is not None
    before = samples[int(finding.collapse_at) - 60]
    after = samples[int(finding.collapse_at) + 120]
    assert before.usage < 0.8 and after.usage > 0.95
    assert before.waiting < 5 and after.waiting > 5
    assert before.retractions < after.retractions


def test_the_table_has_a_line_for_every_setting(findings):
    lines = table([f for group in findings.values() for f in group]).splitlines()
    assert [line[:20].strip() for line in lines[1:]] == [s.name for s in SETTINGS]


def test_the_command_refuses_no_seeds(capsys):
    assert main(["--seeds", "0"]) == 2
    assert "--seeds 0: is out of range; use 1 to 1000" in capsys.readouterr().err


def test_the_command_prints_every_finding(capsys, monkeypatch):
    monkeypatch.setattr("kvlab.lessons.title_collapse.SETTINGS", SETTINGS[:1])
    assert main(["--seeds", "1", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["setting"], found["seed"]) == ("write_back", 0)


def test_the_figure_shows_five_quantities_on_one_axis(tmp_path):
    path = tmp_path / "title.svg"
    assert main(["--figure", str(path), "--seeds", "1"]) == 0
    drawn = path.read_text("utf-8")
    assert "1 of 1 seeds collapse, L2 then" in drawn
    for name in ("usage of L1", "waiting", "retractions", "fill of L2", "TTFT"):
        assert name in drawn
