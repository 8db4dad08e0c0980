"""What does a learner's load_back run in?

A `Desk` shows a chain on L2 and lets an engine of its own evict; `judge` lets another
engine, in the same state, load the chain and compares what both did.
Left out: releases that lock the chain itself while room is made (notebook 14).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from ..record import events as ev
from ..record.trace import Trace
from ..rules import Rules
from ..run.workbench import Workbench
from ..views.theme import Words
from .kinds import Flaw
from .questions import moment
from .scenarios.nb08 import behind


class Link(NamedTuple):
    """A node of the chain as the exercise shows it. Units: tokens."""

    node: int
    tokens: int


class Desk:
    """What E3 hands to the learner: the chain, leaf first as the walk up finds it, the
    terms, and two verbs.

    `done` is what was carried out: ("evict", tokens), ("load", nodes in order).
    """

    def __init__(
        self, bench: Workbench, path: list[Link], quota: int | None, delta: int
    ) -> None:
        self._bench = bench
        self.path = path
        self.threshold: int = bench.trace.header.config.load_threshold
        self.quota = quota
        self.delta = delta
        self.done: list[tuple[str, Any]] = []

    @property
    def available(self) -> int:
        """Free slots of L1 now."""
        return self._bench.account().available

    def evict(self, tokens: int) -> int:
        """Evict so many tokens of L1 or more, if they can be had; return how many."""
        self.done.append(("evict", tokens))
        return self._bench.evict(tokens)

    def load(self, nodes: Sequence[Link]) -> None:
        """Give the nodes slots of L1, in this order."""
        self.done.append(("load", [node.node for node in nodes]))


class Scene(NamedTuple):
    """A chain's sizes (the first is on L1), sizes of leaves that can be evicted, free
    slots, and the quota."""

    chain: tuple[int, ...]
    leaves: tuple[int, ...]
    free: int
    quota: int | None = None


WHOLE = range(1000, 2000)


def scenes(random: Random) -> Iterator[Scene]:
    """Yield every case of the decision, with sizes at random."""
    a, b, c = (random.randint(5, 8) for _ in "abc")
    top = random.randint(3, 7)
    chain, tokens = (top, a, b, c), a + b + c
    yield Scene((top, 4, 5), (3,), 20)
    yield Scene((top, 4, 6), (3,), 20)
    yield Scene(chain, (3, 4), tokens)
    yield Scene(chain, (3, tokens), tokens - 1)
    yield Scene(chain, (3, 4), tokens - 8)
    yield Scene(chain, (3,), tokens + 5, tokens + top - 1)
    yield Scene(chain, (3,), tokens + 5, tokens + top)
    yield Scene(chain, (3,), tokens + 5, 0)
    yield Scene(chain, (3, 4), tokens - 7, tokens + top + 9)


def stage(scene: Scene) -> Workbench:
    """Return an engine in the state that the scene says."""
    size = sum(scene.chain)
    held = scene.chain[0] + sum(scene.leaves) + scene.free
    bench = Workbench(
        Rules.v0_5_14(), name="a chain on L2", pool_tokens=max(size, held),
        host_tokens=400,
    )  # fmt: skip
    behind(bench, WHOLE[:size], scene.chain)
    rest = range(5000, 5000 + size - held)
    if rest:
        bench.insert(rest)
        bench.ack_write()
        bench.lock("running", rest)
    for number, leaf in enumerate(scene.leaves, 6):
        bench.insert(range(1000 * number, 1000 * number + leaf))
        bench.ack_write()
    return bench


def desk_of(scene: Scene) -> Desk:
    """Return the desk of a scene: an engine of its own, the ancestor locked."""
    bench = stage(scene)
    before = bench.account().evictable
    bench.lock("ancestor", WHOLE[: scene.chain[0]])
    delta = bench.account().evictable - before
    nodes = [n for n in bench.state.nodes.values() if n.pages is None]
    nodes.sort(key=lambda node: int(node.tokens[0]), reverse=True)
    path = [Link(node.id, len(node.tokens)) for node in nodes]
    return Desk(bench, path, scene.quota, delta)


def told(trace: Trace, start: int) -> list[tuple[str, Any]]:
    """Return what the engine did from an event on, as a desk notes it."""
    done: list[tuple[str, Any]] = []
    nodes = [e.node for e in trace.events[start:] if isinstance(e, ev.Load)]
    for event in trace.events[start:]:
        if isinstance(event, ev.Evict):
            done.append(("evict", event.ask))
    return [*done, ("load", nodes)] if nodes else done


def judge(function: Callable[..., Any], random: Random) -> Flaw | None:
    """Return where the function and the engine first part; None if nowhere.

    Raises: what the function raises.
    """
    for scene in scenes(random):
        desk, bench = desk_of(scene), stage(scene)
        shown = _shown(desk)
        returned = function(desk)
        start = len(bench.trace)
        loaded = bench.load_back(WHOLE[: sum(scene.chain)], scene.quota)["loaded"]
        engine = told(bench.trace, start)
        if (desk.done, returned) == (engine, loaded) and returned is not False:
            continue
        step = moment(bench.trace, lambda e: isinstance(e, ev.LoadBack), start)
        did, yours = _said(engine, loaded), _said(desk.done, returned)
        return Flaw(Words(
            f"{shown}: the engine does {did}, yours {yours}.",
            f"{shown}：引擎 {did}，你的是 {yours}。"), bench.trace, step)  # fmt: skip
    return None


def _shown(desk: Desk) -> str:
    sizes = " ".join(str(link.tokens) for link in desk.path)
    return (
        f"path {sizes}, available {desk.available}, quota {desk.quota}, "
        f"delta {desk.delta}"
    )


def _said(done: list[tuple[str, Any]], returned: Any) -> str:
    acts = [
        f"evict({what})" if verb == "evict" else
        f"load({' '.join(f'n{node}' for node in what)})"
        for verb, what in done
    ]  # fmt: skip
    return f"{', '.join([*acts, ''])}return {returned!r}"
