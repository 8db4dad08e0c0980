"""A recorded run of SGLang as a tree of causes, and the state before each event.

Used by the tests of what a run tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from played import replayed

from kvlab.record.events import Event
from kvlab.record.snapshot import State
from kvlab.run.script import AnyOp, Script


@dataclass(eq=False)
class Told:
    """An event, what it was said because of, and what was said because of it."""

    index: int
    event: Any
    cause: Told | None
    said: list[Told] = field(default_factory=list)

    @property
    def before(self) -> list[Told]:
        """What was said before the event because of the same cause."""
        return self._beside[: self._beside.index(self)]

    @property
    def behind(self) -> list[Told]:
        return self._beside[self._beside.index(self) + 1 :]

    @property
    def _beside(self) -> list[Told]:
        assert self.cause is not None, "a step has no cause"
        return self.cause.said

    def causes(self) -> list[Told]:
        """Return the event and what led to it, the op's step last."""
        return [self, *(self.cause.causes() if self.cause else [])]


@dataclass(eq=False)
class Run:
    """A golden: what was asked, what the real engine answered, and what kvlab told."""

    script: Script
    answers: list[dict[str, Any]]
    told: list[Told]

    @property
    def steps(self) -> list[Told]:
        return [told for told in self.told if told.cause is None]

    @cached_property
    def broken(self) -> list[Told]:
        """What an assertion of the engine cut off: nothing, in most runs."""
        ended = "assertion" in self.answers[self.steps[-1].event.number]
        return self.told[-1].causes() if ended else []

    def op(self, told: Told) -> AnyOp:
        """Return the op within which the event was said."""
        return self.script.ops[told.causes()[-1].event.number]

    def moments(self) -> Iterator[tuple[Told, State]]:
        """Yield every event with the state before it, the same one moved on."""
        state = State.start(self.script.config)
        for told in self.told:
            yield told, state
            state.apply(told.event)


Numbers = dict[str, Any]
"""Fields of an event, with the values that they must have."""


class Witness:
    """What some decisions of a run must say; asked in the order of the run.

    A method `of_match(told, event, state)` returns the numbers that a `Match` must tell
    after the state.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.config, self.rules = run.script.config, run.script.rules
        self.page = self.config.page_size

    def answer(self, told: Told) -> dict[str, Any]:
        """Return what the real engine answered to the event's op."""
        return self.run.answers[told.causes()[-1].event.number]


def method_of(kind: type[Event]) -> str:
    """Return the name of a witness's method for a kind of event."""
    return f"of_{kind.__name__.lower()}"


def check_numbers(run: Run, witness: Witness) -> None:
    """Hold what the run told against its witness."""
    for told, state in run.moments():
        numbers = getattr(witness, method_of(type(told.event)), None)
        if numbers is None or told in run.broken:
            continue
        for term, value in numbers(told, told.event, state).items():
            said = getattr(told.event, term)
            assert said == value, f"event {told.index} {told.event}: {term} is {value}"


def length_of(state: State, request: str) -> int:
    return state.requests[request].prompt_len + state.requests[request].outputs


@cache
def retold(path: Path) -> Run:
    """Play a golden and return all that it told."""
    trace, script, answers = replayed(path)
    told: list[Told] = []
    for index, event in enumerate(trace.events):
        cause = told[event.cause] if event.cause >= 0 else None
        told.append(Told(index, event, cause))
        if cause is not None:
            cause.said.append(told[-1])
    return Run(script, answers, told)


def name(path: Path) -> str:
    """Return how the tests call a golden."""
    return f"{path.parent.name}/{path.stem[:3]}"
