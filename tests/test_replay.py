"""Is every step of a run reached, quickly and rightly, from anywhere?"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvlab.config import EngineConfig
from kvlab.errors import TraceError
from kvlab.pages import Pages, as_pages
from kvlab.record import events as ev
from kvlab.record import replay as replays
from kvlab.record.folding import FoldError
from kvlab.record.moment import NodeState
from kvlab.record.replay import Replay, fold, state_at, states
from kvlab.record.snapshot import State
from kvlab.record.trace import Header, Trace
from kvlab.rules import Rules

CONFIG = EngineConfig(pool_tokens=64, host_tokens=128, page_size=2)


def start() -> Trace:
    return Trace(Header(config=CONFIG, rules=Rules.v0_5_14()))


class Run:
    """Emits what an engine might, drawing lots; folds it to know what is possible."""

    def __init__(self, seed: int) -> None:
        self.trace = start()
        self.state = State.start(CONFIG)
        self.dice = random.Random(seed)
        self.last = 0

    def say(self, kind: type[ev.Event], *fields: object) -> None:
        self.state.apply(self.trace.events[self.trace(kind, *fields)])

    def take(self, tier: ev.Tier, count: int) -> Pages:
        pages = self.state.pools[tier].free.to_pages()[:count]
        self.say(ev.Alloc, tier, pages)
        return pages

    def step(self) -> None:
        self.last += 1
        acts = [self.add, self.split, self.lock, self.unlock, self.demote, self.load]
        acts += [self.drop, self.arrive, self.serve, self.retract]
        with self.trace.of(ev.Step, self.last, "act", ""):
            self.dice.choice(acts)()

    def node(self, fits: Callable[[NodeState], object]) -> int | None:
        found = [n.id for n in self.state.nodes.values() if fits(n)]
        return self.dice.choice(found) if found else None

    def is_leaf(self, id: int) -> bool:
        return all(n.parent != id for n in self.state.nodes.values())

    def add(self) -> None:
        if len(self.state.pools["L1"].free) < 4 or len(self.state.pools["L2"].free) < 4:
            return
        parent = self.node(lambda n: n.pages is not None) or 0
        pages, id = self.take("L1", 3), self.last * 10
        tokens = as_pages(range(id, id + 6))
        self.say(ev.Add, id, parent, "", tokens, pages, 0, self.last, self.last)
        self.say(ev.Backup, id, self.take("L2", 3))
        self.say(ev.Lock, id)
        self.say(ev.Hit, id)
        self.say(ev.Touch, id, self.last, 1)
        self.say(ev.BackupDone, id)
        self.say(ev.Unlock, id)

    def split(self) -> None:
        if id := self.node(lambda n: len(n.tokens) > 2):
            self.say(ev.Split, id, self.last * 10 + 1, 2, self.last, self.last)

    def lock(self) -> None:
        if id := self.node(lambda n: n.pages is not None):
            self.say(ev.Lock, id)

    def unlock(self) -> None:
        if id := self.node(lambda n: n.lock_ref and self.is_leaf(n.id)):
            self.say(ev.Unlock, id)

    def demote(self) -> None:
        def fits(n: NodeState) -> bool:
            return n.pages is not None and not n.lock_ref and self.is_leaf(n.id)

        if id := self.node(fits):
            pages = self.state.nodes[id].pages
            self.say(ev.Demote, id)
            self.say(ev.Free, "L1", pages)

    def load(self) -> None:
        if id := self.node(lambda n: n.pages is None):
            size = len(self.state.nodes[id].tokens) // 2
            if len(self.state.pools["L1"].free) >= size:
                self.say(ev.Load, id, id, self.take("L1", size))
                self.say(ev.LoadDone, id)

    def drop(self) -> None:
        if id := self.node(lambda n: n.pages is None and self.is_leaf(n.id)):
            pages = self.state.nodes[id].host_pages
            self.say(ev.EvictHost, id)
            self.say(ev.Free, "L2", pages)

    def arrive(self) -> None:
        self.say(ev.Arrive, f"r{self.last}", 4, 4, 0)

    def serve(self) -> None:
        if self.state.waiting and len(self.state.pools["L1"].free) > 2:
            id = self.state.waiting[0]
            self.say(ev.Row, id, 0, self.take("L1", 2))
            self.say(ev.Start, id, 4, False)
            self.say(ev.Output, id, 9)

    def retract(self) -> None:
        if self.state.running:
            id = self.dice.choice(self.state.running)
            self.say(ev.Free, "L1", self.state.requests[id].row)
            self.say(self.dice.choice([ev.Retract, ev.Finish]), id)


def made_run(seed: int, steps: int = 60) -> Trace:
    run = Run(seed)
    for _ in range(steps):
        run.step()
    return run.trace


def facts(state: State) -> list[object]:
    """Return all that a state says, in values that compare."""

    def plain(record: object) -> list[object]:
        names = [n for n in record.__slots__ if n != "edition"]
        values = [getattr(record, n) for n in names]
        return [v.tolist() if hasattr(v, "tolist") else v for v in values]

    return [
        [plain(node) for node in state.nodes.values()],
        [plain(node) for node in state.orphans.values()],
        [plain(request) for request in state.requests.values()],
        {tier: pool.free.to_pages().tolist() for tier, pool in state.pools.items()},
        list(state.waiting), list(state.running), list(state.writes), list(state.loads),
        state.evictable, state.protected, state.host_only, state.tree_pages,
    ]  # fmt: skip


def folded(trace: Trace) -> list[list[object]]:
    """Return the facts of every state, from the front."""
    state = State.start(CONFIG)
    found = [facts(state)]
    for event in trace.events:
        state.apply(event)
        found.append(facts(state))
    return found


@pytest.fixture
def short_stretches(monkeypatch):
    monkeypatch.setattr(replays, "STRETCH", 7)


# --- any step


def test_step_0_is_the_start():
    state = Replay(made_run(1)).at(0)
    assert facts(state) == facts(State.start(CONFIG))


def test_step_n_is_the_state_after_n_events(short_stretches):
    trace = made_run(1)
    replay = Replay(trace)
    assert [facts(replay.at(n)) for n in range(len(trace) + 1)] == folded(trace)


def test_every_step_is_right_on_the_way_back_too(short_stretches):
    trace = made_run(2)
    replay = Replay(trace)
    back = [facts(replay.at(n)) for n in range(len(trace), -1, -1)]
    assert back[::-1] == folded(trace)


RUNS = {seed: (made_run(seed), folded(made_run(seed))) for seed in range(4)}


@settings(deadline=None)
@given(
    st.sampled_from(sorted(RUNS)),
    st.integers(1, 50),
    st.lists(st.floats(0, 1), min_size=1, max_size=12),
)
def test_a_step_is_the_same_after_any_jumps(seed, stretch, jumps):
    trace, expected = RUNS[seed]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replays, "STRETCH", stretch)
        replay = Replay(trace)
    for jump in jumps:
        step = round(jump * len(trace))
        assert facts(replay.at(step)) == expected[step]


def test_the_made_runs_contain_every_kind_of_act():
    kinds = {type(event) for trace, _ in RUNS.values() for event in trace.events}
    assert {ev.Split, ev.Load, ev.EvictHost, ev.Demote, ev.Retract} <= kinds


def test_a_state_belongs_to_the_caller(short_stretches):
    trace = made_run(3)
    replay, expected = Replay(trace), folded(trace)
    for step in (0, 7, 50, len(trace), 50, 7):
        state = replay.at(step)
        for event in trace.events[step:]:
            state.apply(event)
        state.nodes.clear()
        state.waiting.append("nobody")
        assert facts(replay.at(step)) == expected[step]


def test_a_step_forward_applies_one_event(monkeypatch):
    trace = made_run(1)
    replay = Replay(trace)
    replay.at(40)
    applied = []
    monkeypatch.setattr(State, "apply", lambda self, event: applied.append(event))
    replay.at(41)
    assert applied == [trace.events[40]]


def test_a_jump_applies_no_more_than_a_stretch(short_stretches, monkeypatch):
    trace = made_run(1)
    replay = Replay(trace)
    applied = []
    monkeypatch.setattr(State, "apply", lambda self, event: applied.append(event))
    for step in (160, 3, 111, 30, 159):
        replay.at(step)
    assert len(applied) <= 5 * 7


def test_keyframes_thin_out_as_the_tree_grows(monkeypatch):
    monkeypatch.setattr(replays, "STRETCH", 1)
    trace = Trace(Header(config=EngineConfig(pool_tokens=320), rules=Rules.v0_5_14()))
    for id in range(1, 321):
        trace(ev.Add, id, 0, "", as_pages([id]), as_pages([id]), 0, 1, 1)
    few = Replay(trace)
    trace.events += [ev.Hit(-1, 1)] * 2000
    more = Replay(trace)
    assert len(more._keyframes) - len(few._keyframes) == 2000 / (320 / 16)


def test_state_at_is_the_same_without_keyframes():
    trace, expected = RUNS[0]
    assert facts(state_at(trace, 77)) == expected[77]


def test_an_empty_run_has_one_step():
    replay = Replay(start())
    assert (len(replay), replay.fault, replay.at(0).waiting) == (0, None, [])


@pytest.mark.parametrize("step", [-1, 3])
def test_a_step_outside_the_run_is_told(step):
    trace = start()
    trace(ev.Arrive, "a", 1, 1, 0)
    trace(ev.Arrive, "b", 1, 1, 0)
    for ask in (Replay(trace).at, lambda n: state_at(trace, n)):
        with pytest.raises(TraceError) as told:
            ask(step)
        assert str(told.value) == f"step {step}: is not in the run; use 0 to 2"


# --- runs that do not fold


def test_an_event_that_does_not_fold_is_named_and_what_comes_before_it_shown():
    trace = start()
    trace(ev.Arrive, "a", 4, 1, 0)
    trace(ev.Hit, 17)
    trace(ev.Arrive, "b", 4, 1, 0)
    replay = Replay(trace)
    assert str(replay.fault) == (
        "event 1 (Hit): does not fit the state before it: it names 17, which is not "
        "there; steps up to 1 can be shown; record the run again"
    )
    assert replay.at(1).waiting == ["a"]
    for step in (2, 3):
        with pytest.raises(FoldError, match="event 1"):
            replay.at(step)
    assert replay.at(1).waiting == ["a"]


def test_pages_that_do_not_head_the_free_list_do_not_fold():
    trace = start()
    trace(ev.Alloc, "L1", as_pages([2, 1]))
    assert str(Replay(trace).fault) == (
        "event 0 (Alloc): does not fit the state before it: it takes 2 pages of L1, "
        "[2, 1] first, that do not head the free list; steps up to 0 can be shown; "
        "record the run again"
    )


def test_more_pages_than_are_free_do_not_fold():
    trace = start()
    trace(ev.Alloc, "L2", as_pages(range(65)))
    assert "it takes 65 pages of L2" in str(Replay(trace).fault)


def test_a_node_that_would_be_its_own_ancestor_does_not_fold():
    trace = asked_run()
    trace(ev.Split, 1, 2, 2, 9, 9)
    assert Replay(trace).fault is not None
    trace.events[-1] = ev.Add(-1, 1, 2, "", as_pages([1, 2]), as_pages([1]), 0, 9, 9)
    assert "node 1 exists already" in str(Replay(trace).fault)


def test_a_fault_in_a_late_stretch_leaves_the_early_ones_whole(short_stretches):
    trace = made_run(1)
    expected = folded(trace)
    trace.events.insert(100, ev.Unlock(-1, 999))
    replay = Replay(trace)
    assert replay.fault is not None
    assert replay.fault.index == 100
    assert [facts(replay.at(n)) for n in range(101)] == expected[:101]


def test_fold_stops_at_the_event_that_does_not_fit():
    trace = start()
    trace(ev.Arrive, "a", 4, 1, 0)
    trace(ev.Start, "b", 4, False)
    with pytest.raises(FoldError) as told:
        fold(State.start(CONFIG), trace.events, 0, 2)
    assert told.value.index == 1
    assert "it names 'b', which is not there" in str(told.value)


def asked_run() -> Trace:
    trace = start()
    with trace.of(ev.Step, 0, "insert", ""):
        trace(ev.Match, 2, 0, 0, 0, 0)
        trace(ev.Alloc, "L1", as_pages([1, 2]))
        trace(ev.Add, 1, 0, "", as_pages([5, 6, 7, 8]), as_pages([1, 2]), 0, 1, 1)
        trace(ev.Split, 1, 2, 2, 3, 3)
    with trace.of(ev.Step, 1, "request", ""):
        trace(ev.Arrive, "a", 4, 1, 0)
        trace(ev.Lock, 1)
    return trace


def test_a_walk_yields_each_event_with_the_state_after_it():
    trace, expected = RUNS[1]
    walk = [(i, e, facts(s)) for i, e, s in states(trace)]
    assert walk == [(i, e, expected[i + 1]) for i, e in enumerate(trace.events)]
