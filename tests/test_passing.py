"""Which slots does a moment show to be promised, or freed beyond what was asked?"""

from __future__ import annotations

import pytest
from moments import at
from played import golden

from kvlab.pages import to_runs
from kvlab.record import events as ev
from kvlab.views.account import device_sum
from kvlab.views.cards import decision_behind
from kvlab.views.frame import frame_at
from kvlab.views.passing import promised
from kvlab.views.pool_map import pool_map
from kvlab.views.slots import runs
from kvlab.views.text import pools_text


def lengths_at(release: str, step: int) -> list[int]:
    """Return how long each run of promised slots is, and that the account says it."""
    frame = frame_at(golden("s10", release), step)
    found = [run.length for run in runs(frame, "L1") if run.state == "promised"]
    assert sum(term.coming for term in device_sum(frame).terms) == sum(found)
    return found


@pytest.mark.parametrize(
    ("step", "lengths"),
    [(62, []), (63, [4, 18]), (64, [4, 18]), (65, [4, 8, 10]), (67, [4, 8, 8, 2])],
)
def test_slots_are_promised_as_soon_as_a_load_has_them(step, lengths):
    assert lengths_at("sglang23", step) == lengths


def test_slots_for_an_insert_are_held_and_not_promised():
    frame = frame_at(golden("s10"), 2)
    assert isinstance(frame.event, ev.Alloc)
    assert {run.state for run in runs(frame, "L1")} == {"held", "available"}


@pytest.mark.parametrize("name", ["s32", "x03", "u16"])
def test_what_the_decision_behind_an_allocation_is_says_whether_it_is_promised(name):
    trace, seen = golden(name, "sglang23"), set()
    for step, event in enumerate(trace.events, 1):
        if isinstance(event, ev.Alloc) and event.tier == "L1":
            behind = decision_behind(trace, step - 1)
            loads = isinstance(trace.events[behind], ev.LoadBack)
            assert bool(len(promised(trace.events, step))) == loads, step
            seen.add(loads)
    assert seen == {True, False}


def test_a_load_that_first_made_room_has_its_slots_promised_too():
    trace = golden("x03", "sglang23")
    rooms = [
        i for i, e in enumerate(trace.events)
        if isinstance(e, ev.LoadBack) and e.verdict == "make_room"
    ]  # fmt: skip
    alloc = next(
        i for i, e in enumerate(trace.events)
        if i > rooms[0] and isinstance(e, ev.Alloc) and e.tier == "L1"
    )  # fmt: skip
    frame = frame_at(trace, alloc + 1)
    assert len(frame.promised) == len(trace.events[alloc].pages) > 0


def overshooting() -> tuple:
    """Return the first moment at which an eviction has freed more than was asked."""
    trace = golden("s03")
    for step, event in enumerate(trace.events, 1):
        if isinstance(event, ev.Evicted) and event.freed > event.ask:
            return event, frame_at(trace, step)
    raise AssertionError("no eviction of s03 overshoots")


def test_what_an_eviction_frees_too_much_is_the_last_that_it_freed():
    event, frame = overshooting()
    assert len(frame.over) == event.freed - event.ask
    free = frame.state.pools["L1"].free.to_pages().tolist()
    assert set(frame.over.tolist()) <= set(free)
    assert to_runs(frame.over)


def test_a_still_outlines_what_was_freed_too_much():
    _, frame = overshooting()
    assert 'stroke-dasharray="6 4"' in pool_map(frame)
    assert 'stroke-dasharray="6 4"' not in pool_map(frame_at(golden("s03"), 1))


def test_a_lock_on_a_host_copy_is_said_in_the_text_of_the_pools():
    frame = at(golden("s10", "sglang23"), ev.HostLock)
    (locked,) = (run for run in runs(frame, "L2") if run.locks)
    assert (locked.label, locked.length, locked.locks) == ("n3", 6, 1)
    assert "n3  host_lock_ref 1" in pools_text(frame)
    assert "host_lock_ref" not in pools_text(frame_at(golden("s10"), 60))
