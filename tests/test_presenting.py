"""Does the run say of a tour what holds, and of each fault where it lies?"""

from __future__ import annotations

import re

import pytest
from solutions import solutions

from kvlab.errors import ConfigError
from kvlab.lessons.exercises import EXERCISES
from kvlab.lessons.presenting import (
    CRITERIA,
    LONGEST,
    MOST,
    figures,
    figures_at,
    playing_time,
    review,
    stations,
)
from kvlab.lessons.scenarios import SCENARIOS, nb13
from kvlab.record import events as ev
from kvlab.views.frame import frame_at
from kvlab.views.notes import STEP
from kvlab.views.player_script import modules
from kvlab.views.sentences import describe

TOURS = solutions("13.E1").TOURS | {"lost": nb13.tour()}
CHINESE = nb13.tour("zh")


def found(name: str, notes: dict[int, str]) -> dict[str, bool]:
    trace, outcome = nb13.scene(name)
    return {key: p.holds for key, p in review(trace, outcome, notes).items()}


def point(notes: dict[int, str], key: str, name: str = "lost"):
    return review(*nb13.scene(name), notes)[key]


def without(*events: int) -> dict[int, str]:
    return {e: text for e, text in TOURS["lost"].items() if e not in events}


@pytest.mark.parametrize("name", nb13.RUNS)
def test_each_run_has_a_tour_in_which_the_run_finds_nothing_to_mend(name):
    assert found(name, TOURS[name]) == dict.fromkeys(CRITERIA, True)


def test_the_tour_that_is_told_well_is_told_well_in_chinese_too():
    assert found("lost", CHINESE) == dict.fromkeys(CRITERIA, True)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("lost", ev.EvictHost), ("wrong", ev.EvictHost), ("victim", ev.Delete)],
)
def test_an_outcome_is_the_loss_that_it_is_told_for(name, kind):
    trace, outcome = nb13.scene(name)
    assert isinstance(trace.events[outcome - 1], kind)


def test_the_stations_are_the_first_cause_the_tests_and_the_outcome():
    assert stations(*nb13.scene("lost")) == [(45,), (48,), (50, 51)]
    assert stations(*nb13.scene("wrong")) == [(22,), (25,), (27, 28)]
    assert stations(*nb13.scene("refused")) == [(91,), (92,)]


@pytest.mark.parametrize("name", SCENARIOS)
def test_any_event_of_any_run_has_stations_and_its_own_is_the_last(name):
    trace = SCENARIOS[name]().trace
    for event in range(1, len(trace) + 1, 7):
        stops = stations(trace, event)
        assert event in stops[-1]
        assert len(stops) <= MOST - 2, "there must be room for what came before, after"


@pytest.mark.parametrize(("event", "holds"), [(45, 0), (48, 0), (50, 0), (42, 1)])
def test_a_note_that_is_missing_on_the_chain_is_named(event, holds):
    told = point(without(event), "chain")
    assert told.holds is bool(holds)
    assert told.step == (None if holds else event)


def test_the_outcome_may_be_noted_instead_of_the_decision_that_it_carries_out():
    notes = without(50) | {51: TOURS["lost"][50]}
    assert found("lost", notes) == dict.fromkeys(CRITERIA, True)


def test_what_led_to_it_and_what_came_of_it_must_be_there():
    assert point(without(37, 42), "frame").step == 45
    assert point(without(54), "frame").step == 51


def test_an_outcome_at_the_end_of_a_run_needs_nothing_behind_it():
    trace, _ = nb13.scene("lost")
    assert review(trace, len(trace), {1: "so"})["frame"].holds


@pytest.mark.parametrize(
    ("text", "strange"),
    [
        ("16 needed, 14 free", "14"),
        ("16 needed, 13 free", None),
        ("n2 has to go, 16 > 13", "n2"),
        ("1.5 of 16", "1.5"),
        ("16 of the 16,000", "16000"),
        ("16 of L3 for r6, at P99", None),
        ("16, as in event 45", None),
        ("16, as in event 4500", "4500"),
        ("16，见事件 45", None),
        ("要16个，空闲14", "14"),
        ("sixteen are needed", "a rule without its numbers"),
    ],
)
def test_a_number_of_a_note_must_stand_at_its_event(text, strange):
    told = point(TOURS["lost"] | {48: text}, "numbers")
    assert told.holds is (strange is None)
    if strange:
        assert told.step == 48 and strange in told.why.en


def test_a_note_beside_the_chain_may_do_without_numbers():
    assert point(TOURS["lost"] | {42: "A is asked for"}, "numbers").holds


def test_the_chain_of_a_card_lends_no_numbers():
    trace, _ = nb13.scene("lost")
    assert "45" not in figures_at(trace, 48)


@pytest.mark.parametrize("name", nb13.RUNS)
def test_what_the_headline_says_stands_at_its_event(name):
    trace, _ = nb13.scene(name)
    for event in range(1, len(trace) + 1, 5):
        headline = describe(frame_at(trace, event))
        assert figures(headline) <= figures_at(trace, event)


@pytest.mark.parametrize("count", [4, 8])
def test_too_few_and_too_many_notes_are_counted(count):
    notes = dict.fromkeys(range(37, 37 + count), "so")
    assert f"{count} notes" in point(notes, "moments").why.en


def test_a_note_of_blanks_is_none():
    assert "5 notes" in point(without(42) | {42: " "}, "moments").why.en


def test_a_tour_that_takes_much_more_than_a_minute_is_too_long():
    told = point({e: "x" * 200 for e in TOURS["lost"]}, "minute")
    assert not told.holds and "97 s" in told.why.en


def test_a_tour_of_many_events_may_play_at_twice_the_speed():
    far = {1: "x" * 150, 120: "x" * 150}
    assert playing_time(far) > LONGEST
    assert "at 2×" in point(far, "minute", "victim").why.en


def test_the_player_takes_as_long_for_a_step():
    assert f"{1000 * STEP:.0f} / SPEEDS[player.speed]" in modules()["move.js"]


def test_no_note_at_all_is_told_and_no_error():
    assert not any(found("lost", {}).values())


def test_a_run_that_is_none_is_named_with_those_that_are():
    with pytest.raises(ConfigError, match="no run 'x'; there are lost, wrong"):
        nb13.scene("x")


def test_the_events_that_the_questions_name_are_the_run_s():
    trace, outcome = nb13.scene("lost")
    named = {
        int(n)
        for id in ("13.P", "13.S", "13.P2")
        for n in re.findall(r"event (\d+)", EXERCISES[id].asks.en.lower())
    }
    options = EXERCISES["13.P"].options.values()
    named |= {int(n) for o in options for n in re.findall(r"event (\d+)", o.en)}
    kinds = {n: type(trace.events[n - 1]) for n in named}
    assert outcome == 51 and kinds == {
        37: ev.Demote, 42: ev.Match, 45: ev.Insert, 48: ev.TryBackup, 51: ev.EvictHost
    }  # fmt: skip
