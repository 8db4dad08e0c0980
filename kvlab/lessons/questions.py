"""What does a lesson ask, and what does the run answer?

Answers are read from the trace, never typed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import overload

from ..record import events as ev
from ..record.block_replay import block_state_at
from ..record.block_snapshot import BlockState
from ..record.events import Event
from ..record.snapshot import State
from ..record.trace import AnyTrace, BlockTrace, Trace

STAYS, DEMOTED, DELETED, LOST = "stays", "demoted", "deleted", "lost"
"""A prefix's fates: on L1 all along; only its L1 copy went; gone with its only copy;
gone from L2, after it had left L1."""


def fates(trace: Trace, prefixes: Mapping[str, Sequence[int]]) -> dict[str, str]:
    """Return what became of each named prefix: its last fate in the run.

    A prefix is known by its first token, so no two may begin alike.
    """
    names = {tokens[0]: name for name, tokens in prefixes.items()}
    nodes: dict[int, str] = {}
    found: dict[str, str] = {}
    for event in trace.events:
        match event:
            case ev.Add() if event.tokens.item(0) in names:
                nodes[event.node] = names[event.tokens.item(0)]
                found[nodes[event.node]] = STAYS
            case ev.Demote() if event.node in nodes:
                found[nodes[event.node]] = DEMOTED
            case ev.Delete() if event.node in nodes:
                found[nodes[event.node]] = DELETED
            case ev.EvictHost() if event.node in nodes:
                found[nodes[event.node]] = LOST
            case ev.Load() | ev.Restore() if event.node in nodes:
                found[nodes[event.node]] = STAYS
    return found


def moment(trace: AnyTrace, wanted: Callable[[Event], bool], start: int = 0) -> int:
    """Return the moment after the first wanted event, counted in events.

    `start` passes over so many events first. Raises: ValueError if there is none.
    """
    for index in range(start, len(trace)):
        if wanted(trace.events[index]):
            return index + 1
    raise ValueError(f"{trace.header.name}: no such event after event {start}")


def first(trace: AnyTrace, kind: type[Event], start: int = 0) -> int:
    """Return the moment after the first event of a kind, as `moment` counts."""
    return moment(trace, lambda event: isinstance(event, kind), start)


@overload
def state_at(trace: Trace, step: int) -> State: ...
@overload
def state_at(trace: BlockTrace, step: int) -> BlockState: ...
def state_at(trace: AnyTrace, step: int) -> State | BlockState:
    """Return the state after the first `step` events. Cost: O(step)."""
    if isinstance(trace, BlockTrace):
        return block_state_at(trace, step)
    state = State.start(trace.header.config)
    for event in trace.events[:step]:
        state.apply(event)
    return state


def compare(prediction: Mapping[str, str], answer: Mapping[str, str]) -> str:
    """Return a table of what was predicted and what happened, one line a name.

    >>> print(compare({"A": "?", "B": "lost"}, {"A": "demoted", "B": "deleted"}))
    A  you: ?        run: demoted
    B  you: lost     run: deleted  <- not what you said
    """
    lines = []
    for name, happened in answer.items():
        said = prediction.get(name, "?")
        wrong = "  <- not what you said" if said not in ("?", happened) else ""
        lines.append(f"{name}  you: {said:8} run: {happened}{wrong}".rstrip())
    return "\n".join(lines)
