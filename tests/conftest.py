"""What do the tests of the views look at?

A small run, its events written by hand, and pages in a browser.
"""

from __future__ import annotations

import msgspec
import pytest
import torch
from hypothesis import settings
from lab_browser import chromium
from player_tab import Tab

from kvlab.config import EngineConfig
from kvlab.pages import Pages, as_pages
from kvlab.record import events as ev
from kvlab.record.events import Event
from kvlab.record.snapshot import State
from kvlab.record.trace import Header, Trace
from kvlab.rules import Rules

settings.register_profile("kvlab", deadline=None, derandomize=True)
settings.load_profile("kvlab")
torch.set_num_threads(1)  # a tiny model's sums are no work for two
torch.set_float32_matmul_precision("highest")  # some images set TF32 by default


class Script:
    """Emits events as an engine would, and folds them to know the free lists."""

    def __init__(self, name: str, **settings: int) -> None:
        config = EngineConfig(**settings)
        header = Header(name=name, config=config, rules=Rules.v0_5_14())
        self.trace = Trace(header)
        self.state = State.start(config)
        self.clock = 0

    def say(self, kind: type[Event], *fields: object) -> None:
        self.state.apply(self.trace.events[self.trace(kind, *fields)])

    def alloc(self, tier: ev.Tier, count: int) -> Pages:
        pages = self.state.pools[tier].free.to_pages()[:count]
        self.say(ev.Alloc, tier, pages)
        return pages

    def add(
        self, node: int, parent: int, first: int, pages: Pages, hit: bool = True
    ) -> None:
        self.clock += 1
        tokens = as_pages(range(first, first + len(pages)))
        self.say(ev.Add, node, parent, "", tokens, pages, 0, self.clock, self.clock)
        if hit:
            self.say(ev.Hit, node)

    def backup(self, node: int, done: bool = True) -> None:
        tokens = len(self.state.nodes[node].tokens)
        free = len(self.state.pools["L2"].free)
        self.say(ev.TryBackup, node, tokens, 1, 1, free, "write")
        self.say(ev.Backup, node, self.alloc("L2", tokens))
        self.say(ev.Lock, node)
        if done:
            self.backed_up(node)

    def backed_up(self, node: int) -> None:
        self.say(ev.BackupDone, node)
        self.say(ev.Unlock, node)

    def victim(self, node: int, fate: str) -> None:
        state = self.state.nodes[node]
        self.say(ev.Victim, node, len(state.tokens), (float(state.time),), fate)
        if fate == "evict_host":
            tier, pages = "L2", state.host_pages
            self.say(ev.EvictHost, node)
        else:
            tier, pages = "L1", state.pages
            self.say(ev.Demote if fate == "demote" else ev.Delete, node)
        self.say(ev.Free, tier, pages)


@pytest.fixture(scope="session")
def sample() -> Trace:
    """A run of 24 device and 48 host slots in which everything happens once."""
    run = Script("sample", pool_tokens=24, host_tokens=48, load_back_threshold=4)
    _fill_both_pools(run)
    _admit_a_and_refuse_c(run)
    _lose_a_node_of_the_host(run)
    _load_back_for_d(run)
    _retract_e(run)
    return run.trace


def _fill_both_pools(run: Script) -> None:
    say, trace = run.say, run.trace
    with trace.of(ev.Step, 0, "insert", "18 tokens"):
        pages = run.alloc("L1", 18)
        with trace.of(ev.Insert, 18, 0, False):
            run.add(1, 0, 200, pages)
            run.backup(1)
    evict = trace.of(ev.Step, 1, "evict", "18 tokens")
    with evict, trace.of(ev.Evict, "L1", 18, "lru"):
        run.victim(1, "demote")
        say(ev.Evicted, "L1", 18, 18)
    with trace.of(ev.Step, 2, "insert", "10 tokens"):
        pages = run.alloc("L1", 10)
        with trace.of(ev.Insert, 10, 0, False):
            run.add(2, 0, 1, pages)
            run.backup(2)
    with trace.of(ev.Step, 3, "insert", "14 tokens, 6 of them known"):
        pages = run.alloc("L1", 14)
        with trace.of(ev.Insert, 14, 1, False):
            run.clock += 1
            say(ev.Split, 2, 3, 6, run.clock, run.clock)
            say(ev.Touch, 3, run.clock, 0)
            say(ev.Raise, 3, 1)
            say(ev.Hit, 3)
            run.add(4, 3, 50, pages[6:])
            run.backup(4, done=False)
        say(ev.Free, "L1", pages[:6])
    run.backed_up(4)


def _admit_a_and_refuse_c(run: Script) -> None:
    say, trace = run.say, run.trace
    say(ev.Arrive, "a", 12, 4, 0)
    say(ev.Match, 11, 0, 0, 0, 0)
    with trace.of(
        ev.Admit, "a", "rem_total", 12, 4, 1, 6, 18, 0.0, 16384, None, 0, 0,
        "CONTINUE", True,
    ):  # fmt: skip
        say(ev.Prefill, "a", 0, 0, 0, 12)
        with (
            trace.of(ev.MakeRoom, "L1", 12, 6, 12),
            trace.of(ev.Evict, "L1", 12, "lru"),
        ):
            run.victim(2, "demote")
            run.victim(4, "demote")
            say(ev.Evicted, "L1", 12, 12)
        pages = run.alloc("L1", 12)
        say(ev.Row, "a", 0, pages)
        say(ev.Start, "a", 12, False)
        say(ev.Output, "a", 7)
    with trace.of(ev.Insert, 12, 0, False):
        run.add(5, 0, 100, pages)
        run.backup(5)
    say(ev.Lock, 5)
    say(ev.Cached, "a", 5, 12)
    say(ev.DecodeRoom, 1, 1, 6, True)
    say(ev.Row, "a", 12, run.alloc("L1", 1))
    say(ev.Grow, "a")
    say(ev.Output, "a", 8)
    say(ev.Arrive, "c", 16, 4, 0)
    say(ev.Match, 15, 0, 0, 0, 0)
    say(
        ev.Admit, "c", "rem_total", 16, 4, 1, 5, 6, 1.0, 16384, None, 0, 0,
        "NO_TOKEN", False,
    )  # fmt: skip


def _lose_a_node_of_the_host(run: Script) -> None:
    say, trace = run.say, run.trace
    pages = run.state.requests["a"].row[12:]
    with trace.of(ev.Insert, 13, 0, False):
        run.add(6, 5, 7, pages)
        make_room = trace.of(ev.TryBackup, 6, 1, 1, 1, 0, "make_room")
        with make_room, trace.of(ev.Evict, "L2", 1, "lru"):
            run.victim(1, "evict_host")
            say(ev.Evicted, "L2", 1, 18)
        run.backup(6)
    say(ev.Unlock, 5)
    say(ev.Finish, "a")
    pages = run.alloc("L1", 3)
    with trace.of(ev.Insert, 3, 0, True):
        run.add(7, 0, 300, pages, hit=False)


def _load_back_for_d(run: Script) -> None:
    say, trace = run.say, run.trace
    say(ev.Arrive, "d", 16, 2, 0)
    with trace.of(ev.Match, 15, 6, 8, 3, 4):
        say(ev.LoadBack, 4, 8, 4, None, -6, 2, "make_room")
        with trace.of(ev.MakeRoom, "L1", 8, 2, 8), trace.of(ev.Evict, "L1", 8, "lru"):
            run.victim(7, "delete")
            run.victim(6, "demote")
            run.victim(5, "demote")
            say(ev.Evicted, "L1", 8, 16)
        with trace.of(ev.LoadBack, 4, 8, 4, None, -6, 18, "load"):
            pages = run.alloc("L1", 8)
            say(ev.Load, 4, 4, pages)
            say(ev.Lock, 4)
    with trace.of(
        ev.Admit, "d", "rem_total", 10, 2, 1, 10, 6, 0.0, 16384, None, 6, 8,
        "CONTINUE", True,
    ):  # fmt: skip
        say(ev.Prefill, "d", 6, 8, 8, 2)
        path = [*run.state.nodes[3].pages, *run.state.nodes[4].pages]
        say(ev.Row, "d", 0, as_pages([*path, *run.alloc("L1", 2)]))
        say(ev.Lock, 4)
        say(ev.Cached, "d", 4, 14)
        say(ev.Start, "d", 16, False)
    say(ev.LoadDone, 4)
    say(ev.Unlock, 4)


def _retract_e(run: Script) -> None:
    say = run.say
    say(ev.Arrive, "e", 4, 2, 0)
    say(ev.Chunk, "e", 4, False, None)
    say(ev.Row, "e", 0, run.alloc("L1", 4))
    say(ev.Start, "e", 4, False)
    say(ev.DecodeRoom, 2, 9, 4, False)
    say(ev.PickRetract, "e", 0, 4, 1)
    pages = run.state.requests["e"].row
    say(ev.Retract, "e")
    say(ev.Free, "L1", pages)
    say(ev.Ratio, 0.7, 0.35)
    say(ev.SortFree, "L1")
    say(ev.Drop, "c")
    say(ev.Restore, 2, run.alloc("L1", 4))


HOSTILE = '<script>alert("1")</script>\'"]]>&\n\u2028--><b>'
"""What a file may name a request: everything that could end or begin markup."""


@pytest.fixture(scope="session")
def hostile() -> Trace:
    """A run in which every name that comes from a file is hostile."""
    run = Script(HOSTILE, pool_tokens=8, host_tokens=16)
    say, trace, tokens = run.say, run.trace, as_pages([1, 2, 3])
    with trace.of(ev.Step, 0, HOSTILE, HOSTILE):
        say(ev.Add, 1, 0, HOSTILE, tokens, run.alloc("L1", 3), 0, 1, 1)
        say(ev.TryBackup, 1, 3, 1, 1, 16, HOSTILE)
        say(ev.Evict, "L1", 3, HOSTILE)
        say(ev.Victim, 1, 3, (1.0,), HOSTILE)
        say(ev.LoadBack, 1, 3, 1, None, 0, 5, HOSTILE)
    say(ev.Arrive, HOSTILE, 4, 2, 0)
    for added in (False, True):
        say(
            ev.Admit, HOSTILE, HOSTILE, 4, 2, 1, 5, 3, 0.0, 99, None, 0, 0, HOSTILE,
            added,
        )  # fmt: skip
    say(ev.Prefill, HOSTILE, 0, 0, 0, 4)
    say(ev.Row, HOSTILE, 0, run.alloc("L1", 4))
    say(ev.Start, HOSTILE, 4, False)
    say(ev.PickRetract, HOSTILE, 0, 4, 1)
    return trace


@pytest.fixture(scope="session")
def every_kind() -> list[Event]:
    """One event of every kind, about node 3 of the sample and its request d."""
    return [
        kind(-1, *(_value(field) for field in msgspec.structs.fields(kind)[1:]))
        for kind in (*ev.CHANGES, *ev.DECISIONS)
    ]


def _value(field: msgspec.structs.FieldInfo) -> object:
    named = {
        "tier": "L1", "request": "d", "node": 3, "key": (1.0,), "requests": ("d",),
        "nodes": (3,),
    }  # fmt: skip
    if field.name in named:
        return named[field.name]
    if field.name in ("pages", "tokens") and field.type is not int:
        return as_pages([1, 2])
    kinds = {int: 2, str: "x", float: 0.5, bool: True}
    return kinds.get(field.type, 2)


@pytest.fixture(scope="module")
def browser():
    """One Chromium for all tests of a file."""
    with chromium() as opened:
        yield opened


@pytest.fixture
def open_page(browser, tmp_path):
    """Opens pages; at the end none has complained or asked for anything."""
    tabs = []

    def opened(html: str, **context) -> Tab:
        tabs.append(Tab(browser, tmp_path, html, **context))
        return tabs[-1]

    yield opened
    for tab in tabs:
        tab.page.context.close()
        assert tab.heard == []
