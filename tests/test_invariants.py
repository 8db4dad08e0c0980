"""Does each law hold in a sound state, and speak up, with the numbers, in a broken one?

The sound states come from events; the broken ones are sound states with one thing
changed by hand, as no run would.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from moments import rests, step_of

from kvlab.config import EngineConfig
from kvlab.pages import FreeList, as_pages
from kvlab.record import events as ev
from kvlab.record import invariants as laws
from kvlab.record.events import Event
from kvlab.record.invariants import ALWAYS, AT_REST, LAWS, Law, broken
from kvlab.record.replay import Replay, states
from kvlab.record.snapshot import State
from kvlab.record.trace import Header, Trace
from kvlab.rules import Rules
from kvlab.run.conform import replay_op
from kvlab.run.runner import ScriptRunner
from kvlab.run.script import read_script


def pages(*numbers: int):
    return as_pages(numbers)


def after(*events: Event, **settings: object) -> State:
    config = {"pool_tokens": 16, "host_tokens": 24, "page_size": 2, **settings}
    state = State.start(EngineConfig(**config))
    for event in events:
        state.apply(event)
    return state


INSERT = (
    ev.Alloc(-1, "L1", pages(1, 2, 3)),
    ev.Add(-1, 1, 0, "", as_pages(range(6)), pages(1, 2, 3), 0, 1, 1),
)
BACKUP = (
    ev.Alloc(-1, "L2", pages(0, 1, 2)),
    ev.Backup(-1, 1, pages(0, 1, 2)),
    ev.Lock(-1, 1),
)
DONE = (ev.BackupDone(-1, 1), ev.Unlock(-1, 1))
SPLIT = (ev.Split(-1, 1, 2, 2, 2, 2),)
REQUEST = (
    ev.Arrive(-1, "a", 9, 4, 0),
    ev.Lock(-1, 1),
    ev.Alloc(-1, "L1", pages(4, 5)),
    ev.Row(-1, "a", 0, pages(1, 2, 3, 4, 5)),
    ev.Cached(-1, "a", 1, 6),
    ev.Start(-1, "a", 9, False),
)
DEMOTE = (ev.Demote(-1, 1), ev.Free(-1, "L1", pages(2, 3)))


def served() -> State:
    """Node 2 (2 tokens) above node 1 (4 tokens), on both tiers; a request that locks
    them and holds two pages more."""
    return after(*INSERT, *BACKUP, *DONE, *SPLIT, *REQUEST)


def demoted() -> State:
    """The same nodes without the request, the lower one on the host only."""
    return after(*INSERT, *BACKUP, *DONE, *SPLIT, *DEMOTE)


# --- sound states


def test_an_empty_engine_is_sound():
    assert broken(after()) == []
    assert broken(after(tree="radix")) == []


@pytest.mark.parametrize("state", [served(), demoted()], ids=["served", "demoted"])
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_every_law_holds_in_a_sound_state(law, state):
    assert law(state) is None


def test_the_laws_of_always_hold_at_every_event_of_a_sound_run():
    events = [*INSERT, *BACKUP, *DONE, *SPLIT, *DEMOTE, ev.EvictHost(-1, 1)]
    for count in range(len(events) + 1):
        assert broken(after(*events[:count]), at_rest=False) == []


def test_a_page_in_hand_is_legal_only_inside_an_operation():
    state = after(INSERT[0])
    assert broken(state, at_rest=False) == []
    assert broken(state) == [
        "5 free + 0 in the tree + 0 in rows are not the 8 pages of L1",
        "16 total - 10 available - 0 evictable - 0 protected leave 6 held, "
        "the rows hold 0",
    ]


def test_every_law_stands_in_exactly_one_table():
    public = [
        law
        for name, law in vars(laws).items()
        if callable(law) and getattr(law, "__module__", "") == laws.__name__
        and not name.startswith("_") and name not in ("broken", "laws_of")
    ]  # fmt: skip
    tables = (*LAWS, *laws.LOADS_ARE_SAFE, *laws.NO_HOST_LOCKS)
    assert sorted(tables, key=lambda law: law.__name__) == sorted(
        public, key=lambda law: law.__name__
    )
    assert not set(ALWAYS) & set(AT_REST)


# --- broken states


def tells(law: Law, state: State) -> str:
    sentence = law(state)
    assert sentence is not None
    assert sentence in broken(state)
    return sentence


def test_a_free_page_outside_the_pool_is_told():
    state = after()
    state.pools["L1"].free.put(pages(0, 9))
    assert tells(laws.free_pages_are_sound, state) == (
        "L1 has free 2 pages (0, 9); its pages end at 8"
    )


def test_a_page_that_is_free_twice_is_told():
    state = after()
    state.pools["L2"].free.put(pages(5, 1, 2, 3, 4))
    assert tells(laws.free_pages_are_sound, state) == (
        "L2 has 5 pages (1, 2, 3, 4, ...) free twice"
    )


def test_up_to_four_pages_are_listed():
    state = after()
    state.pools["L2"].free.put(pages(2, 3, 4, 5))
    assert tells(laws.free_pages_are_sound, state) == (
        "L2 has 4 pages (2, 3, 4, 5) free twice"
    )


def test_a_page_that_is_free_and_in_the_tree_is_told():
    state = served()
    state.pools["L1"].free.put(pages(3))
    assert tells(laws.pages_have_one_owner, state) == (
        "L1 has 1 page (3) free and in the tree at once"
    )


def test_a_page_of_two_nodes_is_told():
    state = served()
    state.nodes[1].host_pages = pages(0, 1)
    assert tells(laws.pages_have_one_owner, state) == (
        "L2 has 1 page (0) in two nodes at once"
    )


def test_a_page_of_a_row_that_is_also_free_is_told():
    state = served()
    state.pools["L1"].free.put(pages(5))
    assert tells(laws.no_page_is_lost, state) == (
        "L1 has 1 page (5) with two owners (free, tree, rows)"
    )


def test_a_page_that_nobody_has_is_told():
    state = served()
    state.pools["L2"].free.take(2)
    assert tells(laws.no_page_is_lost, state) == (
        "7 free + 3 in the tree + 0 in rows are not the 12 pages of L2"
    )


def test_counters_that_drifted_are_told():
    state = served()
    state.evictable, state.protected, state.host_only = 2, 3, 4
    state.tree_pages = 5
    assert tells(laws.counters_match_the_tree, state) == (
        "evictable is 2, the tree has 0; protected is 3, the tree has 6; "
        "host_only is 4, the tree has 0; tree_pages is 5, the tree has 3"
    )


def test_an_account_with_a_term_too_many_is_told():
    state = served()
    state.requests["a"].row = pages(1, 2, 3, 4)
    assert tells(laws.rows_explain_what_is_held, state) == (
        "16 total - 6 available - 0 evictable - 6 protected leave 4 held, "
        "the rows hold 2"
    )


def test_a_node_whose_parent_is_gone_is_told():
    state = served()
    del state.nodes[2]
    assert tells(laws.every_node_is_in_the_tree, state) == (
        "node 1 hangs on node 2, which left the tree"
    )


def test_a_lock_below_zero_is_told():
    state = demoted()
    state.nodes[1].lock_ref = -1
    assert tells(laws.locks_grow_towards_the_root, state) == ("node 1 has lock_ref -1")


def test_a_lock_larger_than_the_parents_is_told():
    state = served()
    state.nodes[1].lock_ref = 3
    assert tells(laws.locks_grow_towards_the_root, state) == (
        "node 1 has lock_ref 3, its parent 2 only 1"
    )


def test_a_hole_in_the_device_chain_is_told():
    state = served()
    state.nodes[2].pages = None
    assert tells(laws.device_copies_reach_the_root, state) == (
        "node 1 is on the device, its parent 2 is not"
    )


def test_a_node_without_any_copy_is_told():
    state = demoted()
    state.nodes[1].host_pages = None
    assert tells(laws.every_node_has_a_copy, state) == (
        "node 1 has a copy neither on the device nor on the host"
    )


def test_a_hole_in_the_host_chain_is_told():
    state = served()
    state.nodes[2].host_pages = None
    assert tells(laws.host_copies_reach_the_root, state) == (
        "node 1 is backed up, its parent 2 is not"
    )


def test_write_back_may_back_up_a_child_alone():
    events = (*INSERT, *BACKUP, *DONE, *SPLIT, *DEMOTE)
    state = after(*events, write_policy="write_back")
    state.nodes[2].host_pages = None
    assert laws.host_copies_reach_the_root(state) is None


def test_a_write_in_flight_without_a_lock_is_told():
    state = after(*INSERT, *BACKUP)
    assert broken(state) == []
    state.apply(ev.Unlock(-1, 1))
    assert tells(laws.copies_in_flight_are_locked, state) == (
        "node 1 is being written and not locked"
    )


def test_write_back_writes_without_a_lock():
    state = after(*INSERT, *BACKUP, ev.Unlock(-1, 1), write_policy="write_back")
    assert broken(state) == []


def test_a_load_in_flight_without_a_lock_is_told():
    state = demoted()
    state.apply(ev.Alloc(-1, "L1", pages(2, 3)))
    state.apply(ev.Load(-1, 1, 1, pages(2, 3)))
    assert tells(laws.copies_in_flight_are_locked, state) == (
        "node 1 is being loaded and not locked"
    )


def loading(*more: Event) -> State:
    """Node 1 on its way back to the device, as node 2 above it stays there."""
    events = (
        ev.HostLock(-1, 1), ev.Alloc(-1, "L1", pages(2, 3)),
        ev.Load(-1, 1, 1, pages(2, 3)), ev.Lock(-1, 1), *more,
    )  # fmt: skip
    state = demoted()
    for event in events:
        state.apply(event)
    return state


def test_a_load_that_holds_its_source_is_sound():
    assert broken(loading(), rules=Rules.v0_5_23()) == []


def test_a_load_without_a_host_lock_is_told_where_the_release_promises_one():
    state = loading(ev.HostUnlock(-1, 1, 4))
    assert broken(state) == broken(state, rules=Rules.v0_5_14()) == []
    assert broken(state, rules=Rules.v0_5_23()) == [
        "the load that ends at node 1 holds no host lock there"
    ]


def test_a_load_whose_source_was_given_up_is_told():
    state = loading()
    state.nodes[1].host_pages = None
    assert laws.loads_keep_their_source(state) == (
        "node 1 lost the host copy that it is loaded from"
    )


def test_a_host_lock_without_a_copy_is_told():
    state = served()
    state.nodes[1].host_lock_ref = 1
    assert broken(state) == []
    state.nodes[1].host_pages = None
    assert tells(laws.host_locks_keep_a_copy, state) == (
        "node 1 is host-locked without a host copy"
    )


def test_a_host_lock_below_zero_is_told():
    state = served()
    state.nodes[1].host_lock_ref = -1
    assert tells(laws.host_locks_keep_a_copy, state) == ("node 1 has host_lock_ref -1")


def test_a_release_that_locks_no_host_copy_is_held_to_it():
    state = loading()
    assert broken(state, rules=Rules.v0_5_14()) == ["node 1 has host_lock_ref 1"]


# --- the fault of 0.5.14 (a node is dropped from the host while it is being loaded)


def test_laws_report_a_node_that_left_the_tree_and_still_holds_the_device():
    state = after(*INSERT, *BACKUP, *DONE, write_policy="write_back")
    for event in (
        ev.Demote(-1, 1),
        ev.Free(-1, "L1", pages(1, 2, 3)),
        ev.EvictHost(-1, 1),
        ev.Free(-1, "L2", pages(0, 1, 2)),
        ev.Alloc(-1, "L1", pages(1, 2, 3)),
        ev.Load(-1, 1, 1, pages(1, 2, 3)),
        ev.Lock(-1, 1),
    ):
        state.apply(event)
    assert broken(state) == [
        "protected is 6, the tree has 0; tree_pages is 3, the tree has 0",
        "node 1 left the tree with 6 tokens on the device",
        "5 free + 0 in the tree + 0 in rows are not the 8 pages of L1",
    ]


@pytest.mark.parametrize(
    "wreck",
    [
        lambda state: state.nodes.clear(),
        lambda state: state.requests.clear(),
        lambda state: state.pools["L1"].free.take(3),
        lambda state: setattr(state.pools["L2"], "free", FreeList()),
        lambda state: state.orphans.update(state.nodes),
    ],
)
def test_laws_report_and_do_not_crash(wreck: Callable[[State], object]):
    state = served()
    wreck(state)
    assert broken(state) != []


# --- whole runs of the recorded scripts

GOLDENS = Path(__file__).parent / "goldens"
FAULTY = GOLDENS / "sglang" / "s25_write_back_load_back_host_full.json"


def recorded(path: Path) -> Trace:
    script = read_script(path)
    trace = Trace(Header(config=script.config, rules=script.rules))
    runner = ScriptRunner(script, trace, eager=True)
    for number in range(len(script.ops)):
        replay_op(runner, script, number)
    return trace


@pytest.mark.parametrize(
    "path",
    [p for p in sorted(GOLDENS.glob("sglang*/[sx]*.json")) if p != FAULTY],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_all_laws_hold_in_a_recorded_script(path):
    trace = recorded(path)
    resting, rules = set(rests(trace)), trace.header.rules
    found = {
        index: sentences
        for index, _, state in states(trace)
        if (sentences := broken(state, at_rest=index + 1 in resting, rules=rules))
    }
    assert found == {}


def test_the_faulty_script_breaks_laws_from_the_load_on():
    trace = recorded(FAULTY)
    replay, load = Replay(trace), step_of(trace, ev.Load)
    wrong = [step for step in rests(trace) if broken(replay.at(step))]
    assert wrong == [step for step in rests(trace) if step >= load]
    assert "node 1 left the tree with 20 tokens on the device" in broken(
        replay.at(load)
    )
