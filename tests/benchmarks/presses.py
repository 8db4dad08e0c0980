"""A real key press until its frame is on the screen: what takes how long?

Chromium's own tracing tells when a key was pressed, when the page was done with it and
when the frame that shows it was presented; a mark of the page tells when that frame
began. On a screen at rest it begins at once; where something moves, or another frame
came just before, at the display's next tick, up to 16.7 ms later. That is told apart.
Left out: what follows in later frames, such as the player's cards.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from playwright.sync_api import Page

HELD, HASTE, REST = 30, 60, 400
"""Milliseconds between two keys: as one repeats that is held; in haste; all at rest."""
PRESSES = 100
SOON = 16
"""Milliseconds within which a key is to be shown."""
TICK = 1000 / 60
"""Milliseconds between two frames of the display."""
MARK = """() => {
    const mark = () => requestAnimationFrame(() => performance.mark('frame'));
    if (!globalThis.marks) addEventListener('keydown', mark, true);
    globalThis.marks = true;
    const at = document.getElementById('kvlab');
    at ? at.focus() : document.body.focus();
}"""
DIGIT = """<!doctype html><title>a digit</title><p>0</p><script>
    addEventListener('keydown', () => document.querySelector('p').textContent ^= 1);
</script>"""
"""A page that shows a key by one digit: the floor of the method."""

PRESENTED = "SwapEndToPresentationCompositorFrame"

Event = dict[str, Any]


class Press(NamedTuple):
    """One key press, in milliseconds: until the page is done with it, from there until
    its frame begins, and from there until that is presented."""

    handled: float
    waited: float
    drawn: float

    @property
    def own(self) -> float:
        return self.handled + self.drawn


def pressed(tab: Page, pause: int, times: int = PRESSES) -> list[Press]:
    """Return what so many real key presses took, with such pauses between them."""
    draw = random.Random(7)
    tab.evaluate(MARK)
    with traced(tab, ["input.scrolling", "blink.user_timing"]) as events:
        for _ in range(times):
            tab.keyboard.press("ArrowRight")
            tab.wait_for_timeout(pause + draw.random() * TICK)
        tab.wait_for_timeout(REST)
    took = list(presses_of(events))
    assert len(took) == times, f"{len(took)} of {times} presses were shown"
    return took


@contextmanager
def traced(tab: Page, kept: list[str]) -> Iterator[list[Event]]:
    """Yield a list that holds, after the block, what the browser's tracing told of
    these categories meanwhile, in order of time."""
    session = tab.context.new_cdp_session(tab)
    events: list[Event] = []
    ended: list[bool] = []
    session.on("Tracing.dataCollected", lambda part: events.extend(part["value"]))
    session.on("Tracing.tracingComplete", lambda _: ended.append(True))
    config = {"includedCategories": kept, "excludedCategories": ["*"]}
    how = {"transferMode": "ReportEvents", "traceConfig": config}
    session.send("Tracing.start", how)
    yield events
    session.send("Tracing.end")
    while not ended:
        tab.wait_for_timeout(50)
    events.sort(key=lambda event: event.get("ts", 0))


def presses_of(events: list[Event]) -> Iterator[Press]:
    """Yield the key presses of a trace whose frames were presented."""
    frames = [event["ts"] for event in events if event["name"] == "frame"]
    told: dict[tuple[str, int], list[float]] = {}
    for event in events:
        name, phase, at = event["name"], event["ph"], event.get("ts", 0)
        press = (str(event.get("id2")), event["pid"])
        if (name, phase) == ("EventLatency", "b"):
            told.pop(press, None)
            if event["args"]["event_latency"]["event_type"] == "KEY_PRESSED":
                told[press] = [at]
        elif press in told and (name, phase) == ("RendererMainProcessing", "e"):
            told[press].append(at)
        elif press in told and (name, phase) == (PRESENTED, "e"):
            began, handled = told.pop(press)
            frame = next(ts for ts in frames if ts >= handled)
            steps = (handled - began, frame - handled, at - frame)
            yield Press(*(step / 1000 for step in steps))


def told_presses(took: list[Press]) -> str:
    """Return the distribution of presses as one line."""
    sums = [sum(press) for press in took]
    soon = 100 * sum(ms < SOON for ms in sums) / len(took)
    late = 100 * sum(press.waited > 1 for press in took) / len(took)
    own = told([press.own for press in took])
    return (
        f"{told(sums)}; {soon:.0f} % under {SOON} ms; "
        f"without the wait for its frame to begin {own}; {late:.0f} % waited over 1 ms"
    )


def told(took: list[float]) -> str:
    """Return the median and what 98 of 100 stay below."""
    half, most = (sorted(took)[int(len(took) * part)] for part in (0.5, 0.98))
    return f"{half:.2f} ms median, {most:.2f} ms at 98 %"
