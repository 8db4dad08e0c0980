"""How bad is an event for those whom the engine serves?

        loss      no copy of some KV is left, so that it must be computed again; a
                  request gives up its KV or leaves unserved; the engine uses KV that
                  is gone or wrong
        refusal   somebody asked, got nothing, and waits, or computes what L2 has
        ordinary  all else, with what falls short and harms nobody: a backup that finds
                  no room, an eviction that finds less than it was asked for; and the
                  end of a round, at which nobody was asked, or whoever was had
                  its refusal just before

The grade follows from the event and the state, never from the words that tell it. An
eviction is a loss where it takes the last copy, so one from L1 that L2 outlives is
none. Sign, mark, strip and the keys that go from loss to loss all ask here.
Left out: how a grade looks (draw.py, player/looks.js).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Literal

from ..record import block_events as be
from ..record import events as ev
from ..record.block_names import names_in
from ..record.events import Event
from ..record.snapshot import State
from ..record.trace import BlockTrace

Grade = Literal["", "refusal", "loss"]
"""What an event is to those who are served; "" is ordinary."""

LAST_COPY = ("delete", "drop", "evict_host")
"""Fates of a victim that leave no copy of it."""

UNLOADED = ("over_quota", "no_device_memory")
"""Verdicts that leave on L2, for want of room, what a request then computes. What is
too little to be worth a copy is left by choice."""


def grade_of(event: Event, state: State) -> Grade:
    """Return the grade of an event of the tree; `state` is the one before or after it.

    >>> from kvlab.config import EngineConfig
    >>> empty = State.start(EngineConfig(pool_tokens=8))
    >>> grade_of(ev.Retract(-1, "r"), empty), grade_of(ev.Hit(-1, 1), empty)
    ('loss', '')
    """
    ask = _GRADES.get(type(event))
    return "" if ask is None else ask(event, state)


def _loss_if(on: bool) -> Grade:
    return "loss" if on else ""


def _refusal_if(on: bool) -> Grade:
    return "refusal" if on else ""


def _loss(event: Event, state: object) -> Grade:
    return "loss"


def _gone(event: Any, state: State) -> Grade:
    """A node that left the tree while a load was to bring it: the engine goes on with
    it, and its copy on L2 is somebody else's."""
    return _loss_if(event.node not in state.nodes)


def _victim(event: ev.Victim, state: State) -> Grade:
    return _loss_if(event.fate in LAST_COPY or event.node not in state.nodes)


_GRADES: dict[type[Event], Callable[[Any, State], Grade]] = {
    ev.Victim: _victim,
    ev.Delete: _loss,
    ev.EvictHost: _loss,
    ev.Demote: _gone,
    ev.Load: _gone,
    ev.LoadDone: _gone,
    ev.LoadBack: lambda e, state: _refusal_if(e.verdict in UNLOADED),
    ev.Admit: lambda e, state: _refusal_if(not e.added),
    ev.DecodeRoom: lambda e, state: _refusal_if(not e.fits),
    ev.TooLarge: _loss,
    ev.PickRetract: _loss,
    ev.Retract: _loss,
    ev.Drop: _loss,
    ev.Compared: lambda e, state: _loss_if(e.wrong > 0),
    ev.Wrong: _loss,
}


class BlockGrades:
    """The grades of a block run, event by event; it counts the copies of each content
    on both tiers, so an eviction can tell whether it takes the last one.

    >>> from kvlab.pages import as_pages
    >>> grades = BlockGrades()
    >>> grades.of(be.Register(-1, "L1", as_pages([1, 2]), (7, 7))), grades.lost
    ('', 0)
    >>> grades.of(be.Forget(-1, "L1", as_pages([1]))), grades.lost
    ('', 0)
    >>> grades.of(be.Forget(-1, "L1", as_pages([2]))), grades.lost
    ('loss', 1)
    """

    def __init__(self) -> None:
        self.lost = 0
        """How many contents the last event left without a copy."""
        self._names: dict[tuple[str, int], int] = {}
        self._copies: Counter[int] = Counter()

    def of(self, event: Event) -> Grade:
        """Return the grade of the run's next event. Cost: O(blocks named)."""
        self.lost = 0
        if isinstance(event, be.Register):
            self._register(event)
        elif isinstance(event, be.Forget):
            self._forget(event)
            return _loss_if(self.lost > 0)
        ask = _BLOCK_GRADES.get(type(event))
        return "" if ask is None else ask(event)

    def _register(self, event: be.Register) -> None:
        names = names_in(event.names)
        for block, name in zip(event.blocks.tolist(), names, strict=False):
            self._unname((event.tier, block))
            self._names[event.tier, block] = name
            self._copies[name] += 1

    def _forget(self, event: be.Forget) -> None:
        for block in event.blocks.tolist():
            self.lost += self._unname((event.tier, block))

    def _unname(self, place: tuple[str, int]) -> bool:
        """Take the name off a block; return whether it was the last copy."""
        name = self._names.pop(place, None)
        if name is None:
            return False
        self._copies[name] -= 1
        if self._copies[name]:
            return False
        del self._copies[name]
        return True


def lost_by(trace: BlockTrace, index: int) -> int:
    """Return how many contents event `index` leaves without a copy. Cost: O(index) for
    one that forgets, else O(1)."""
    if not isinstance(trace.events[index], be.Forget):
        return 0
    grades = BlockGrades()
    for event in trace.events[: index + 1]:
        grades.of(event)
    return grades.lost


_BLOCK_GRADES: dict[type[Event], Callable[[Any], Grade]] = {
    be.PickVictim: lambda e: "loss",
    be.Preempt: lambda e: "loss",
    be.Slots: lambda e: _refusal_if(not e.fits),
    be.Stop: lambda e: _refusal_if(e.why == "no_chunk"),
    ev.TooLarge: lambda e: "loss",
    ev.Drop: lambda e: "loss",
}
