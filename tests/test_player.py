"""Does everything in the player follow the step, and is everything in it real?"""

from __future__ import annotations

from time import perf_counter

import ipywidgets as widgets
import pytest

from kvlab.errors import TraceError
from kvlab.record import events as ev
from kvlab.record.events import Decision
from kvlab.record.trace import Trace
from kvlab.views.player import BUTTONS, play
from kvlab.views.theme import LANGS


def inside(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from inside(child)


def find(root, kind):
    return [widget for widget in inside(root) if isinstance(widget, kind)]


def slider(root):
    (found,) = find(root, widgets.IntSlider)
    return found


def button(root, name):
    (found,) = [b for b in find(root, widgets.Button) if b.description == name]
    return found


def pane(root, name):
    (found,) = [w for w in inside(root) if f"kv-{name}" in w._dom_classes]
    return found.value


def step_of(trace, kind, number=0):
    found = [i for i, e in enumerate(trace.events, 1) if isinstance(e, kind)]
    return found[number]


def test_it_opens_at_the_step_that_was_asked_for(sample):
    root = play(sample, start=80)
    assert slider(root).value == 80
    assert "c waits: it needs 21 tokens" in pane(root, "head")
    assert "NO_TOKEN: c is not admitted" in pane(root, "why")


def test_the_slider_reaches_every_step(sample):
    root = play(sample)
    assert (slider(root).min, slider(root).max) == (0, len(sample))


def test_everything_follows_the_slider(sample):
    root = play(sample)
    before = {name: pane(root, name) for name in ("head", "tree", "pool", "cursor")}
    slider(root).value = step_of(sample, ev.Backup)
    for name, value in before.items():
        assert pane(root, name) != value, name


def test_event_buttons_move_by_one(sample):
    root = play(sample, start=5)
    button(root, "event ▶").click()
    assert slider(root).value == 6
    button(root, "◀ event").click()
    button(root, "◀ event").click()
    assert slider(root).value == 4


def test_decision_buttons_stop_at_decisions_only(sample):
    root = play(sample)
    decisions = [i for i, e in enumerate(sample.events, 1) if isinstance(e, Decision)]
    seen = []
    for _ in decisions:
        button(root, "decision ▶").click()
        seen.append(slider(root).value)
    assert button(root, "decision ▶").disabled
    assert seen == decisions
    button(root, "◀ decision").click()
    assert slider(root).value == decisions[-2]


def test_the_cause_button_goes_to_what_led_to_the_event(sample):
    root = play(sample, start=step_of(sample, ev.Demote, 1))
    button(root, "↖ cause").click()
    assert isinstance(sample.events[slider(root).value - 1], ev.Evict)


def test_a_button_that_leads_nowhere_is_off(sample):
    root = play(sample)
    off = {b.description for b in find(root, widgets.Button) if b.disabled}
    assert off == {"◀ decision", "◀ event", "↖ cause"}
    slider(root).value = len(sample)
    assert button(root, "event ▶").disabled


@pytest.mark.parametrize("lang", LANGS)
def test_every_button_has_a_description_and_a_tooltip(sample, lang):
    root = play(sample, lang=lang)
    names = [(b.description, b.tooltip) for b in find(root, widgets.Button)]
    assert len(names) == len(BUTTONS)
    assert all(name and help_ for name, help_ in names)


def test_the_language_changes_everything_at_once(sample):
    root = play(sample, start=80)
    (choice,) = find(root, widgets.ToggleButtons)
    choice.value = "zh"
    assert "c 继续等待" in pane(root, "head")
    assert "基数树" in pane(root, "tree")
    assert "可逐出" in pane(root, "pool")
    assert "决策" in pane(root, "time")
    assert "未获准入" in pane(root, "why")
    assert button(root, "事件 ▶")


def test_playing_moves_the_slider_and_its_speed_can_be_set(sample):
    root = play(sample)
    (player,), (speed,) = find(root, widgets.Play), find(root, widgets.Dropdown)
    assert player.max == len(sample)
    speed.value = 150
    assert player.interval == 150


def test_a_change_shows_the_card_of_what_led_to_it(sample):
    root = play(sample, start=step_of(sample, ev.Demote))
    assert "n1 is demoted" in pane(root, "why")


def test_before_any_decision_the_card_says_what_will_be_there(sample):
    assert "its formula and numbers appear here" in pane(play(sample), "why")


def test_the_lanes_are_sent_once(sample):
    root = play(sample)
    before = pane(root, "time")
    slider(root).value = 50
    assert pane(root, "time") is before


def test_no_step_of_the_sample_takes_long(sample):
    root = play(sample)
    spent = []
    for step in (*range(len(sample) + 1), *range(len(sample), 0, -7)):
        began = perf_counter()
        slider(root).value = step
        spent.append(perf_counter() - began)
    assert sorted(spent)[len(spent) // 2] < 0.08


def test_a_run_without_events_can_be_opened(sample):
    root = play(Trace(sample.header))
    assert all(b.disabled for b in find(root, widgets.Button))
    assert "Nothing has happened yet" in pane(root, "head")


def test_a_step_that_is_not_there_is_refused(sample):
    with pytest.raises(TraceError, match="use 0 to 142"):
        play(sample, start=143)


def test_a_run_that_does_not_fold_is_refused(sample):
    broken = Trace(sample.header, [ev.Hit(-1, 99)])
    with pytest.raises(TraceError, match="does not fit"):
        play(broken)


@pytest.mark.parametrize("lang", LANGS)
def test_hostile_names_stay_text_in_every_pane(hostile, lang):
    root = play(hostile, lang=lang)
    for step in range(len(hostile) + 1):
        slider(root).value = step
        for widget in find(root, widgets.HTML):
            assert "<script" not in widget.value
