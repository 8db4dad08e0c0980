"""Does play keep its pace, and stop where it is to stop, whenever frames come?"""

from __future__ import annotations

import pytest
from played import golden
from player_tab import Tab, hold_frames, needs_chromium

from kvlab.views.page import to_html

pytestmark = needs_chromium
PAUSE = 600  # milliseconds from step to step, where play is not made faster


@pytest.fixture
def tab(open_page) -> Tab:
    return open_page(to_html(golden("s10"), lang="en"))


def test_the_first_frame_takes_a_step_though_it_began_before_the_key(tab):
    frame = hold_frames(tab)
    before = tab.js("() => performance.now()")
    tab.press(" ")
    assert frame(before - 50) == 1


def test_a_step_is_taken_in_each_pause(tab):
    frame = hold_frames(tab)
    tab.press(" ")
    times = (0, PAUSE - 1, PAUSE, 2 * PAUSE - 1, 2 * PAUSE)
    assert [frame(at) for at in times] == [1, 1, 2, 2, 3]


def test_a_page_that_was_hidden_plays_on_from_where_it_was(tab):
    frame = hold_frames(tab)
    tab.press(" ")
    assert [frame(at) for at in (0, 60_000, 60_000 + PAUSE)] == [1, 2, 3]


def test_play_stops_at_a_question_that_was_asked_for_meanwhile(tab):
    frame = hold_frames(tab)
    tab.press(" ")
    frame(0)
    tab.press("p")
    limit = tab.js("() => kvlab.limit")
    moments = [frame(at * PAUSE) for at in range(1, limit + 5)]
    assert moments[-1] == limit == tab.js("() => kvlab.asking")
    assert not tab.js("() => kvlab.timer")


def test_what_is_typed_while_it_plays_stays_when_it_stops(tab):
    frame = hold_frames(tab)
    tab.page.select_option("#kvlab .speed", label="64×")
    tab.press(" ")
    tab.page.fill("#kvlab .at", "7")
    moments = [frame(at) for at in range(0, 2000, 500)]
    assert moments[-1] == tab.js("() => kvlab.run.count")
    assert not tab.js("() => kvlab.timer")
    assert tab.page.input_value("#kvlab .at") == "7"
    tab.page.keyboard.press("Enter")
    assert tab.js("() => kvlab.run.at") == 7


def test_a_button_that_is_held_as_play_stops_is_pressed(tab):
    frame = hold_frames(tab)
    tab.js("() => kvlab.show(kvlab.run.count - 1)")
    tab.press(" ")
    tab.page.hover("#kvlab .ctl [data-do=first]")
    tab.page.mouse.down()
    frame(0)
    assert not tab.js("() => kvlab.timer")
    tab.page.mouse.up()
    assert tab.js("() => kvlab.run.at") == 0
