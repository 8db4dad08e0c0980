"""Is a key press told from its own frame, and what of it was waiting?"""

from __future__ import annotations

import pytest
from benchmarks.presses import DIGIT, Press, pressed, presses_of, told_presses
from player_tab import NEEDS_CHROMIUM

SHOWN = "SwapEndToPresentationCompositorFrame"


def latency(
    ts: int, phase: str, name: str, press: str = "0x1", kind: str = "KEY_PRESSED"
):
    """One event of a trace, as Chromium writes it."""
    told = {"event_latency": {"event_type": kind}}
    ids = {"pid": 7, "id2": {"local": press}, "args": told}
    return {"ts": ts, "ph": phase, "name": name, **ids}


def mark(ts: int):
    return {"ts": ts, "ph": "I", "name": "frame", "pid": 7}


ONE = [
    latency(1000, "b", "EventLatency"),
    mark(3000),  # the frame of an earlier key
    latency(4000, "e", "RendererMainProcessing"),
    mark(14_000),
    latency(20_500, "e", SHOWN),
]


def test_a_press_is_cut_where_the_page_is_done_and_where_its_own_frame_begins():
    (press,) = presses_of(ONE)
    assert press == Press(handled=3.0, waited=10.0, drawn=6.5)
    assert press.own == 9.5


def test_a_key_let_go_and_a_press_that_was_never_shown_are_none():
    up = [latency(0, "b", "EventLatency", kind="KEY_RELEASED")]
    assert list(presses_of(up + ONE[2:])) == []
    assert list(presses_of(ONE[:-1])) == []


def test_two_presses_at_once_are_told_apart_and_a_name_may_be_used_again():
    second = [
        latency(5000, "b", "EventLatency", "0x2"),
        latency(6000, "e", "RendererMainProcessing", "0x2"),
        latency(20_500, "e", SHOWN, "0x2"),
    ]
    again = [{**event, "ts": event["ts"] + 30_000} for event in ONE]
    took = list(presses_of(sorted(ONE + second + again, key=lambda event: event["ts"])))
    assert took == [Press(3.0, 10.0, 6.5), Press(1.0, 8.0, 6.5), Press(3.0, 10.0, 6.5)]


def test_the_line_says_how_many_came_soon_and_how_many_waited():
    quick, late = Press(2.0, 0.3, 5.0), Press(2.0, 12.0, 5.0)
    assert told_presses([quick] * 3 + [late]) == (
        "7.30 ms median, 19.00 ms at 98 %; 75 % under 16 ms; without the wait for its "
        "frame to begin 7.00 ms median, 7.00 ms at 98 %; 25 % waited over 1 ms"
    )


@pytest.mark.browser
@NEEDS_CHROMIUM
def test_a_real_chromium_tells_each_press(browser):
    tab = browser.new_page()
    tab.set_content(DIGIT)
    took = pressed(tab, 20, times=6)
    assert len(took) == 6
    assert all(part >= 0 for press in took for part in press)
    assert all(press.handled > 0 and press.drawn > 0 for press in took)
    tab.close()
