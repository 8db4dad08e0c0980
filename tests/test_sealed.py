"""Are the sealed runs what their graphs and `kvlab diagnose` say?"""

from __future__ import annotations

from pathlib import Path
from random import Random
from statistics import median

import pytest

from kvlab.lessons.alerts import judge
from kvlab.lessons.pictures import draw_dashboard
from kvlab.lessons.scenarios import nb11
from kvlab.observe.run_samples import record_run

ASSETS = Path(__file__).resolve().parents[1] / "assets"
NOTEBOOKS = ASSETS.parent / "notebooks"
NUMBER = 57


def test_a_set_has_every_kind_once_and_another_set_another_order():
    assert sorted(nb11.sealed(NUMBER).values()) == sorted(nb11.KINDS)
    assert len({tuple(nb11.sealed(number).values()) for number in range(20)}) > 10


def test_diagnose_names_what_was_sealed():
    told = nb11.diagnoses(NUMBER)
    for letter, kind in nb11.sealed(NUMBER).items():
        assert told[letter].cause == nb11.mirror(kind).causes[0], kind


def test_graphs_do_not_name_their_run():
    for letter, kind in nb11.sealed(NUMBER).items():
        graphs = nb11.graphs(NUMBER, letter)
        for name in nb11.KINDS[kind]:
            assert name not in graphs.svg + graphs.text


def test_readings_are_ten_seconds_apart_and_shares_are_shares():
    found = nb11.readings("link")
    assert [now.time for now in found[:3]] == [10.0, 20.0, 30.0]
    for now in found:
        shares = (now.usage, now.l2, 0.0 if now.hit_rate is None else now.hit_rate)
        assert all(0 <= share <= 1 for share in shares)


def test_the_articles_three_signs_stand_together_on_a_slow_link():
    def three(now):
        return now.usage > 0.95 and now.queue > 0 and now.retracted > 0

    assert any(map(three, nb11.readings("link")))
    flaw = judge(three, Random(0))
    assert flaw is not None and "'a slow link'" in flaw.why.en


def test_what_the_notebook_says_of_the_night_is_what_its_graphs_show():
    night = nb11.readings("link")[:100]
    longest = max(now.queue for now in night)
    recording = record_run(nb11.run("link"), "night")
    recording.settle()
    (track,) = recording.tracks.values()
    retracted = sum(each.time <= night[-1].time for each in track.events["retract"])
    assert retracted == 5
    for folder, said in (
        ("", (f"grows to {longest:.0f}", "five retractions", "Five times somebody")),
        ("zh", (f"涨到 {longest:.0f}", "五次撤回", "撤回过五次")),
    ):
        text = (NOTEBOOKS / folder / "11_on_call.ipynb").read_text("utf-8")
        assert [words for words in said if words not in text] == []
    waiting = [now for now in night if now.queue > 5]
    assert median(now.hit_rate for now in waiting) == pytest.approx(0.6, abs=0.02)
    assert median(now.usage for now in waiting) > 0.95


def test_an_alert_that_sleeps_is_told_so():
    flaw = judge(lambda now: False, Random(0))
    assert flaw is not None and "sleeps" in flaw.why.en and "没有响" in flaw.why.zh


@pytest.mark.parametrize("at", [0, 1])
def test_the_dashboard_in_assets_is_that_run(tmp_path, at):
    drawn = draw_dashboard(tmp_path)[at]
    assert drawn.read_text("utf-8") == (ASSETS / drawn.name).read_text("utf-8")
