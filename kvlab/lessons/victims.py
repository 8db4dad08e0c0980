"""What does a learner's eviction loop run in?

A `Desk` shows the leaves of an engine and takes note of what the loop does with them;
`judge` lets the engine evict as much and compares, victim by victim.
Left out: inner nodes that become leaves while their children go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any, NamedTuple

from ..config import WritePolicy
from ..record import events as ev
from ..record.events import Event
from ..record.trace import Trace
from ..rules import Rules
from ..run.workbench import Workbench
from ..views.theme import Words
from .kinds import Flaw
from .questions import moment


def is_victim(node: int, event: Event) -> bool:
    """Return whether the event chooses this node as a victim."""
    return isinstance(event, ev.Victim) and event.node == node


class Leaf(NamedTuple):
    """A leaf as the exercise shows it. Units: tokens."""

    node: int
    tokens: int
    locked: bool
    backed_up: bool


class Desk:
    """What E3 hands to the learner: leaves, coldest first, and three verbs.

    `done` is what was carried out: (node, verb).
    """

    def __init__(self, leaves: list[Leaf], write_back: bool) -> None:
        self.leaves = leaves
        self.write_back = write_back
        self.done: list[tuple[int, str]] = []

    def demote(self, leaf: Leaf) -> None:
        """Free the leaf's L1 slots; its copy on L2 stays."""
        self.done.append((leaf.node, "demote"))

    def delete(self, leaf: Leaf) -> None:
        """Free the leaf's L1 slots and take it out of the tree."""
        self.done.append((leaf.node, "delete"))

    def back_up(self, leaf: Leaf) -> None:
        """Copy the leaf to L2; its L1 slots are freed once all copies are done."""
        self.done.append((leaf.node, "backup"))


def crowd(random: Random, policy: WritePolicy) -> Workbench:
    """Return an engine with some leaves: unlocked, locked, with and without a copy."""
    bench = Workbench(
        Rules.v0_5_14(),
        name="a crowd of leaves",
        pool_tokens=80,
        host_tokens=200,
        write_policy=policy,
    )
    for number in range(random.randint(6, 9)):
        tokens = range(100 * number, 100 * number + random.randint(2, 8))
        bench.insert(tokens, chunked=policy != "write_back" and random.random() < 0.4)
        bench.ack_write()
        if random.random() < 0.25:
            bench.lock(str(number), tokens)
    return bench


def _run(function: Callable[..., Any], random: Random) -> Iterator[Flaw | None]:
    policies: tuple[WritePolicy, ...] = ("write_through", "write_back")
    for number, policy in enumerate(3 * policies):
        bench = crowd(random, policy)
        nodes = sorted(bench.state.nodes.values(), key=lambda node: node.time)
        desk = Desk(
            [Leaf(n.id, len(n.tokens), n.lock_ref > 0, n.host_pages is not None)
             for n in nodes],
            policy == "write_back",
        )  # fmt: skip
        free = [leaf.tokens for leaf in desk.leaves if not leaf.locked]
        ask = (sum(free[:2]), sum(free[:3]) - 1, sum(free) + 5)[number // 2]
        start = len(bench.trace)
        freed = bench.evict(ask)
        yield _compare(function(desk, ask), freed, ask, desk, bench.trace, start)


def _compare(
    returned: Any, freed: int, ask: int, desk: Desk, trace: Trace, start: int
) -> Flaw | None:
    wanted = [
        (e.node, e.fate) for e in trace.events[start:] if isinstance(e, ev.Victim)
    ]
    for at, pair in enumerate(wanted):
        if at >= len(desk.done) or desk.done[at] != pair:
            did = " ".join(map(str, reversed(desk.done[at]))) if at < len(
                desk.done) else "-"  # fmt: skip
            step = moment(trace, partial(is_victim, pair[0]), start)
            return Flaw(Words(
                f"evict({ask}), victim {at + 1}: the engine does {pair[1]} n{pair[0]}, "
                f"yours {did}.",
                f"evict({ask}) 的第 {at + 1} 个：引擎 {pair[1]} n{pair[0]}，"
                f"你的是 {did}。"), trace, step)  # fmt: skip
    if len(desk.done) > len(wanted):
        return Flaw(Words(
            f"evict({ask}) goes on too long: the engine stops after {len(wanted)}.",
            f"evict({ask}) 停得太晚：引擎处理 {len(wanted)} 个后停止。"),
            trace, len(trace))  # fmt: skip
    if returned != freed:
        return Flaw(Words(
            f"evict({ask}) freed {freed} tokens, you return {returned}.",
            f"evict({ask}) 腾出 {freed} 个 token，你返回 {returned}。"),
            trace, len(trace))  # fmt: skip
    return None


def judge(function: Callable[..., Any], random: Random) -> Flaw | None:
    """Return where the function and the engine first part; None if nowhere.

    It meets six engines. Raises: what the function raises.
    """
    return next((flaw for flaw in _run(function, random) if flaw is not None), None)
