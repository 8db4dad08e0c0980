"""Is an event that cannot follow a state refused, and one that can let through?"""

from __future__ import annotations

import pytest

from kvlab.config import EngineConfig
from kvlab.pages import as_pages
from kvlab.record import events as ev
from kvlab.record.fit import misfit
from kvlab.record.snapshot import State


def pages(count: int):
    return as_pages(range(1, count + 1))


@pytest.fixture
def state() -> State:
    """Node 1, of 6 tokens, on both tiers and locked; 2 below it on the device; 3, of
    2 tokens, on the host only; request a waits, b runs, c has left."""
    state = State.start(EngineConfig(pool_tokens=64, page_size=2))
    for event in (
        ev.Add(-1, 1, 0, "", pages(6), pages(3), 0, 1, 1),
        ev.Backup(-1, 1, pages(3)),
        ev.Lock(-1, 1),
        ev.Add(-1, 2, 1, "", pages(4), pages(2), 0, 1, 1),
        ev.Add(-1, 3, 0, "", pages(2), pages(1), 0, 1, 1),
        ev.Backup(-1, 3, pages(1)),
        ev.Demote(-1, 3),
        ev.Arrive(-1, "a", 4, 4, 0),
        ev.Arrive(-1, "b", 4, 4, 0),
        ev.Row(-1, "b", 0, pages(2)),
        ev.Start(-1, "b", 4, False),
        ev.Arrive(-1, "c", 4, 4, 0),
        ev.Drop(-1, "c"),
    ):
        assert misfit(state, event) is None
        state.apply(event)
    return state


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        (ev.Add(-1, 1, 0, "", pages(2), pages(1), 0, 1, 1), "node 1 exists already"),
        (ev.Add(-1, 0, 1, "", pages(2), pages(1), 0, 1, 1), "node 0 exists already"),
        (ev.Add(-1, 9, 1, "", pages(0), pages(0), 0, 1, 1), "node 9 has no tokens"),
        (
            ev.Add(-1, 9, 1, "", pages(4), pages(4), 0, 1, 1),
            "node 9 has 4 tokens and gets 4 pages of 2",
        ),
        (ev.Split(-1, 1, 2, 2, 1, 1), "node 2 exists already"),
        (
            ev.Split(-1, 1, 9, 6, 1, 1),
            "node 1 of 6 tokens cannot be split at 6 (pages of 2)",
        ),
        (
            ev.Split(-1, 1, 9, 0, 1, 1),
            "node 1 of 6 tokens cannot be split at 0 (pages of 2)",
        ),
        (
            ev.Split(-1, 1, 9, 3, 1, 1),
            "node 1 of 6 tokens cannot be split at 3 (pages of 2)",
        ),
        (ev.Unlock(-1, 2), "node 2 is not locked"),
        (ev.Delete(-1, 3), "node 3 is not on the device"),
        (ev.Delete(-1, 1), "node 1 is locked"),
        (ev.Demote(-1, 3), "node 3 is not on the device"),
        (ev.Demote(-1, 1), "node 1 is locked"),
        (ev.Restore(-1, 1, pages(3)), "node 1 is on the device already"),
        (ev.Restore(-1, 3, pages(2)), "node 3 has 2 tokens and gets 2 pages of 2"),
        (ev.Load(-1, 1, 1, pages(3)), "node 1 is on the device already"),
        (ev.Load(-1, 3, 3, pages(2)), "node 3 has 2 tokens and gets 2 pages of 2"),
        (ev.Backup(-1, 1, pages(3)), "node 1 has a host copy already"),
        (ev.Backup(-1, 2, pages(1)), "node 2 has 4 tokens and gets 1 pages of 2"),
        (ev.EvictHost(-1, 1), "node 1 is on the device"),
        (ev.HostLock(-1, 2), "node 2 has no host copy to lock"),
        (ev.HostUnlock(-1, 3, 2), "node 3 is not host-locked"),
        (ev.Reclaim(-1, 2), "node 2 has no second copy to give up"),
        (ev.Reclaim(-1, 3), "node 3 has no second copy to give up"),
        (ev.Arrive(-1, "a", 4, 4, 0), "request a is waiting already"),
        (ev.Arrive(-1, "b", 4, 4, 0), "request b is running already"),
        (ev.Row(-1, "b", 3, pages(1)), "the row of b has 2 pages, none at 3"),
    ],
)
def test_an_event_that_cannot_follow_is_refused(state, event, problem):
    assert misfit(state, event) == problem


@pytest.mark.parametrize(
    "event",
    [
        ev.Add(-1, 9, 2, "", pages(2), pages(1), 0, 1, 1),
        ev.Split(-1, 1, 9, 4, 1, 1),
        ev.Unlock(-1, 1),
        ev.Unlock(-1, 0),
        ev.Delete(-1, 2),
        ev.Demote(-1, 2),
        ev.Restore(-1, 3, pages(1)),
        ev.Load(-1, 3, 3, pages(1)),
        ev.Backup(-1, 2, pages(2)),
        ev.EvictHost(-1, 3),
        ev.HostLock(-1, 3),
        ev.Reclaim(-1, 1),
        ev.Arrive(-1, "c", 4, 4, 0),
        ev.Row(-1, "b", 2, pages(1)),
        ev.Hit(-1, 1),
        ev.Match(-1, 6, 6, 0, 1, 1),
    ],
    ids=lambda event: type(event).__name__,
)
def test_an_event_that_can_follow_is_let_through(state, event):
    assert misfit(state, event) is None


@pytest.mark.parametrize(
    "event",
    [
        ev.Add(-1, 9, 8, "", pages(2), pages(1), 0, 1, 1),
        ev.Split(-1, 8, 9, 2, 1, 1),
        ev.Unlock(-1, 8),
        ev.Delete(-1, 8),
        ev.Backup(-1, 8, pages(1)),
        ev.Row(-1, "z", 0, pages(1)),
    ],
    ids=lambda event: type(event).__name__,
)
def test_an_unknown_name_is_a_key_error(state, event):
    with pytest.raises(KeyError):
        misfit(state, event)


def test_a_node_that_the_host_dropped_may_still_be_loaded(state):
    """A fault of 0.5.14 that its runs must be able to show."""
    state.apply(ev.EvictHost(-1, 3))
    load = ev.Load(-1, 3, 3, pages(1))
    assert misfit(state, load) is None
    state.apply(load)
    assert misfit(state, ev.Demote(-1, 3)) is None


def test_what_is_host_locked_does_not_leave_the_host(state):
    state.apply(ev.HostLock(-1, 1))
    state.apply(ev.HostLock(-1, 3))
    assert misfit(state, ev.Reclaim(-1, 1)) == "node 1 is host-locked"
    assert misfit(state, ev.EvictHost(-1, 3)) == "node 3 is host-locked"
    assert misfit(state, ev.HostUnlock(-1, 3, 2)) is None


def test_a_host_lock_ends_at_a_nodes_edge(state):
    state.apply(ev.HostLock(-1, 1))
    state.apply(ev.Split(-1, 1, 9, 4, 1, 1))
    assert misfit(state, ev.HostUnlock(-1, 1, 6)) is None
    assert misfit(state, ev.HostUnlock(-1, 1, 5)) == (
        "a host lock of 5 tokens does not begin at a node's edge"
    )
