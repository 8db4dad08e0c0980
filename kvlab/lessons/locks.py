"""What does a learner's inc_lock_ref run in?

A tree of the engine, mirrored: `Spot` is a node, `Ledger` the two counters. `judge`
locks and unlocks at random, ten thousand times, lets the engine do the same and
compares the counters after each, and that the root was left alone.
Left out: nodes whose device pages have gone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from ..rules import Rules
from ..run.workbench import Workbench
from ..views.theme import Words
from .kinds import Flaw

OPS = 10_000
ROOT_LOCK = 1
"""The root's lock_ref, from the start and for ever."""


@dataclass
class Spot:
    """A tree node as the exercise shows it. The root's parent is None."""

    name: str
    parent: Spot | None
    tokens: int
    lock_ref: int = 0


@dataclass
class Ledger:
    """The two counters that move, in tokens."""

    evictable: int
    protected: int = 0


def grown(random: Random) -> tuple[Workbench, list[list[int]]]:
    """Return an engine whose tree branches, and the paths that end at its nodes."""
    bench = Workbench(
        Rules.v0_5_14(), "locks and unlocks", pool_tokens=200, tree="radix"
    )
    paths: list[list[int]] = []
    for number in range(8):
        base = random.choice(paths) if paths and random.random() < 0.7 else []
        start = 100 * (number + 1)
        paths.append([*base, *range(start, start + random.randint(1, 9))])
        bench.insert(paths[-1])
    return bench, paths


def mirror(bench: Workbench) -> tuple[dict[int, Spot], Ledger]:
    """Return the tree as spots, by node, and its ledger."""
    root = Spot("root", None, 0, ROOT_LOCK)
    spots: dict[int, Spot] = {}

    def spot(node: int) -> Spot:
        if node not in bench.state.nodes:
            return root
        if node not in spots:
            state = bench.state.nodes[node]
            spots[node] = Spot(f"n{node}", spot(state.parent), len(state.tokens))
        return spots[node]

    for node in bench.state.nodes:
        spot(node)
    account = bench.account()
    return spots, Ledger(account.evictable, account.protected)


def unlock(spot: Spot | None, ledger: Ledger) -> None:
    """Undo one lock on the path, as the engine does."""
    while spot is not None and spot.parent is not None:
        spot.lock_ref -= 1
        if spot.lock_ref == 0:
            ledger.protected -= spot.tokens
            ledger.evictable += spot.tokens
        spot = spot.parent


def judge(function: Callable[..., Any], random: Random) -> Flaw | None:
    """Return where the function's counters first differ from the engine's.

    Raises: what the function raises.
    """
    bench, paths = grown(random)
    spots, ledger = mirror(bench)
    ends = {tuple(path): _end(bench, path) for path in paths}
    held: list[tuple[str, int]] = []
    for number in range(OPS):
        if held and random.random() < 0.5:
            name, node = held.pop(random.randrange(len(held)))
            bench.unlock(name)
            unlock(spots[node], ledger)
        else:
            path = random.choice(paths)
            held.append((str(number), ends[tuple(path)]))
            bench.lock(str(number), path)
            function(spots[ends[tuple(path)]], ledger)
        account = bench.account()
        if (ledger.evictable, ledger.protected) != account[1:3]:
            return _flaw(number, spots, ledger, bench)
    root = _root(next(iter(spots.values())))
    if root.lock_ref != ROOT_LOCK:
        return Flaw(Words(
            f"The counters are right, but the root has lock_ref {root.lock_ref}: it is "
            "never locked.",
            f"计数都对，但根的 lock_ref 成了 {root.lock_ref}：根从不加锁。"),
            bench.trace, len(bench.trace))  # fmt: skip
    return None


def _root(spot: Spot) -> Spot:
    return spot if spot.parent is None else _root(spot.parent)


def _end(bench: Workbench, path: list[int]) -> int:
    """Return the node in which the path ends."""
    return next(
        node.id for node in bench.state.nodes.values() if node.tokens[-1] == path[-1]
    )


def _flaw(
    number: int, spots: dict[int, Spot], ledger: Ledger, bench: Workbench
) -> Flaw:
    account = bench.account()
    path = _path(spots, bench)
    return Flaw(Words(
        f"Operation {number + 1}: yours has evictable {ledger.evictable}, protected "
        f"{ledger.protected}; the engine {account.evictable} and {account.protected}."
        f"{path.en}",
        f"第 {number + 1} 次操作：你的 evictable {ledger.evictable}、protected "
        f"{ledger.protected}；引擎是 {account.evictable} 和 {account.protected}。"
        f"{path.zh}"),
        bench.trace, len(bench.trace))  # fmt: skip


def _path(spots: dict[int, Spot], bench: Workbench) -> Words:
    """Say which node the function forgot to lock, if it is that."""
    for node, spot in spots.items():
        engine = bench.state.nodes[node].lock_ref
        if spot.lock_ref < engine:
            return Words(
                f" {spot.name} has lock_ref {spot.lock_ref}, in the engine {engine}: "
                "a lock counts on the whole path.",
                f"{spot.name} 的 lock_ref 是 {spot.lock_ref}，引擎里是 {engine}："
                "加锁要给整条路径上的每个节点都计一次。",
            )
    return Words("", "")
