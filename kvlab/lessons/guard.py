"""What does a learner's guard of write_backup run in?

A `Nodes` row shows a node right after an insert has counted its hit; `judge` asks the
function about every such moment of some runs and compares with what the engine did.
Left out: what the engine does when L2 is full (notebook 07).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from ..record import events as ev
from ..record.snapshot import State
from ..record.trace import Trace
from ..views.theme import Words
from .kinds import Flaw
from .scenarios.nb06 import counted, short_of_l2, some_sizes

GUARDED = ("parent_not_backed_up",)


class Hit(NamedTuple):
    """A node right after its hit was counted, as the exercise shows it."""

    node: int
    hits: int
    threshold: int
    backed_up: bool
    parent_is_root: bool
    parent_backed_up: bool


def moments(trace: Trace) -> Iterator[tuple[Hit, bool, int]]:
    """Yield each counted hit of a run, whether a copy was tried, and its moment."""
    state = State.start(trace.header.config)
    for index, event in enumerate(trace.events):
        state.apply(event)
        if not isinstance(event, ev.Hit):
            continue
        node = state.nodes[event.node]
        parent = state.nodes.get(node.parent)
        hit = Hit(
            node.id, node.hit_count, trace.header.config.backup_threshold,
            node.host_pages is not None, parent is None,
            parent is not None and parent.host_pages is not None,
        )  # fmt: skip
        yield hit, _tried(trace, index, event.node), index + 1


def _tried(trace: Trace, index: int, node: int) -> bool:
    """Return whether the hit at `index` led to a copy that was tried."""
    for event in trace.events[index + 1 :]:
        if isinstance(event, ev.TryBackup) and event.node == node:
            return event.verdict not in GUARDED
        if isinstance(event, ev.Hit | ev.Step):
            return False
    return False


def _runs(random: Random) -> Iterator[Trace]:
    for policy in ("write_through", "write_through_selective"):
        yield counted(some_sizes(random), policy)[0].trace
    yield short_of_l2([random.randint(26, 34), 8, random.randint(4, 9)], 24)


def judge(function: Callable[..., Any], random: Random) -> Flaw | None:
    """Return what is wrong with a guard, None if nothing was found."""
    for trace in _runs(random):
        for hit, tried, step in moments(trace):
            said = function(hit)
            if bool(said) == tried:
                continue
            why = _why(hit, tried)
            return Flaw(Words(
                f"n{hit.node}, {hit}: the engine says {tried}, yours {said!r}.{why.en}",
                f"n{hit.node}，{hit}：引擎为 {tried}，你的是 {said!r}。{why.zh}"),
                trace, step)  # fmt: skip
    return None


def _why(hit: Hit, tried: bool) -> Words:
    """Say which term decided; of a copy, that none forbade it."""
    if hit.hits < hit.threshold:
        return Words(f" {hit.hits} ≥ {hit.threshold} is false.",
                     f" {hit.hits} ≥ {hit.threshold} 不成立。")  # fmt: skip
    if hit.backed_up:
        return Words(" A node is copied once.", " 一个节点只拷一次。")
    if not tried:
        return Words(
            " A copy below an ancestor without one is a gap.",
            " 祖先没有副本，这个副本就成了断点。",
        )
    parent = (
        Words("the root needs no copy", "根不需要副本") if hit.parent_is_root else
        Words("its parent has one", "父节点有副本"))  # fmt: skip
    return Words(
        f" {hit.hits} ≥ {hit.threshold}, it has no copy, and {parent.en}.",
        f" {hit.hits} ≥ {hit.threshold}，它没有副本，{parent.zh}。",
    )
