"""Does the card of a victim name the one that comes after it?"""

from __future__ import annotations

from pathlib import Path

import pytest
from played import golden, played

from kvlab import Workbench
from kvlab.config import EngineConfig
from kvlab.pages import as_pages
from kvlab.record import events as ev
from kvlab.record.moment import NodeState
from kvlab.record.replay import fold
from kvlab.record.snapshot import State
from kvlab.record.trace import Trace
from kvlab.views.next_victims import Line, dropped, kept, line_behind

GOLDENS = Path(__file__).parent / "goldens"
NAMES = [
    "sglang/s10*", "sglang/r01*", "sglang/r03*", "sglang/r05*", "sglang/r12*",
    "sglang23/u09*", "sglang23/u11*",
]  # fmt: skip


def lines_of(trace: Trace) -> list[tuple[ev.Victim, Line, ev.Victim | None]]:
    """Every victim with the line behind it and, of the same eviction, who came next."""
    found = []
    state = State.start(trace.header.config)
    last: dict[int, int] = {}
    for index, event in enumerate(trace.events):
        if isinstance(event, ev.Victim):
            line = line_behind(state, event)
            if event.cause in last:
                before = found[last[event.cause]]
                found[last[event.cause]] = (before[0], before[1], event)
            last[event.cause] = len(found)
            found.append((event, line, None))
        fold(state, trace.events, index, index + 1)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_first_in_line_is_the_next_victim(name):
    trace = played(next(GOLDENS.glob(name)))
    told = 0
    for victim, line, after in lines_of(trace):
        if after is None or line is None or after.fate in ("drop", "stays", "reclaim"):
            continue
        told += 1
        assert line.then[0][0] == after.node, f"behind {victim}"
    assert told


@pytest.mark.parametrize("policy", ["lfu", "mru", "filo", "priority", "slru"])
def test_every_policy_has_its_own_line(policy):
    bench = Workbench(pool_tokens=80, tree="radix", eviction_policy=policy)
    for first in (0, 100, 200, 300, 0, 200):
        bench.insert(range(first, first + 8))
    bench.evict(32)
    lines = lines_of(bench.trace)
    assert len(lines) == 4
    assert all(line.then[0][0] == after.node for _, line, after in lines[:-1])


def test_a_locked_leaf_that_is_colder_is_named_as_spared():
    bench = Workbench(pool_tokens=40, tree="radix", eviction_policy="fifo")
    for first in (0, 100, 200):
        bench.insert(range(first, first + 8))
    bench.lock("a", range(8))
    bench.evict(1)
    [(victim, line, _)] = lines_of(bench.trace)
    assert victim.node == 2
    assert [node for node, _ in line.spared] == [1]
    assert [node for node, _ in line.then] == [3]


def test_what_keeps_a_leaf_from_an_eviction_is_named():
    trace = golden("s14", "sglang23")
    state = State.start(trace.header.config)
    told = []
    for index, event in enumerate(trace.events):
        if isinstance(event, ev.Evicted):
            told.append(kept(state, event))
        fold(state, trace.events, index, index + 1)
    assert told == [
        [(1, "writing", 1), (2, "writing", 1)],
        [(2, "writing", 1)],
        [(0, "nothing", 0)],
    ]


@pytest.mark.parametrize(
    ("tier", "facts", "keeper"),
    [
        ("L1", {"writing": 2}, "writing"),
        ("L1", {"loading": 2}, "loading"),
        ("L1", {"lock_ref": 3}, "locked"),
        ("L1", {"lock_ref": 3, "host_lock_ref": 1}, "locked"),
        ("L2", {"lock_ref": 3, "host_lock_ref": 1}, "reading"),
        ("L2", {"lock_ref": 3}, "locked"),
        ("L2", {}, "both"),
    ],
)
def test_each_way_to_be_kept_has_its_name(tier, facts, keeper):
    state = State.start(EngineConfig(pool_tokens=8, host_tokens=16))
    page = as_pages([1])
    state.nodes[1] = NodeState(1, 0, "", page, page, page, **facts)
    locks = facts.get("lock_ref", 0)
    assert kept(state, ev.Evicted(-1, tier, 4, 0)) == [(1, keeper, locks)]


def test_more_leaves_than_are_named_are_counted():
    state = State.start(EngineConfig(pool_tokens=8, host_tokens=16))
    for node in range(1, 8):
        page = as_pages([node])
        state.nodes[node] = NodeState(node, 0, "", page, page, None, lock_ref=1)
    told = kept(state, ev.Evicted(-1, "L1", 4, 0))
    assert told[3:] == [(4, "locked", 1), (0, "more", 3)]


def early_drops(golden: str) -> dict[int, tuple[int, str, int]]:
    trace = played(next(GOLDENS.glob(golden)))
    state = State.start(trace.header.config)
    told, left = {}, {}
    for index, event in enumerate(trace.events):
        for one in dropped(state, trace.events, index, left):
            told[index + 1] = one
        if isinstance(event, ev.EvictHost):
            left.setdefault(event.node, index + 1)
        fold(state, trace.events, index, index + 1)
    return told


def test_a_node_that_goes_while_a_load_wants_it_is_told_from_then_on():
    told = early_drops("sglang/s25*")
    events = golden("s25").events
    (first, wanted), *later = told.items()
    assert isinstance(events[first - 1], ev.Victim)
    assert isinstance(events[wanted[2] - 1], ev.LoadBack)
    assert wanted[:2] == (1, "wanted")
    assert {one for _, one in later} == {(1, "orphan", first + 1)}
    assert isinstance(events[later[0][0] - 1], ev.Load)


def test_where_a_load_keeps_its_nodes_none_is_dropped_early():
    assert early_drops("sglang23/s25*") == {}
