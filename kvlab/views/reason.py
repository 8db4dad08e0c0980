"""What does a decision owe its reader?

A `Reason`: the terms with their numbers, the test they are put to, and what the rule
leaves aside. Nothing is computed that the engine did not compare; the verdict is the
event's own.
Left out: the reasons of each decision (request_reasons.py, cache_reasons.py) and how
they look (cards.py).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from . import theme
from .frame import Frame
from .theme import State, Words

Sign = Literal["yes", "no", "out", "copy", "note"]
"""The sign beside a verdict: done, refused, evicted, copied, or noted."""


class Term(NamedTuple):
    """A number under its name; `state` gives the swatch beside it."""

    name: str
    number: str
    state: State | None = None


Equation = tuple[Term | str, ...]
"""Terms and the signs between them."""


class Check(NamedTuple):
    """What is compared: equations, the test in numbers, and whether it holds (None:
    not tested). `asks` is the question the test answers."""

    equations: tuple[Equation, ...]
    test: str = ""
    holds: bool | None = None
    asks: Words | None = None


class Part(NamedTuple):
    """A piece of a bar; None is drawn plain, as a demand."""

    tokens: float
    state: State | None


class Bar(NamedTuple):
    """One side of a test; `minus` is taken off its end."""

    name: Words
    parts: tuple[Part, ...]
    minus: float = 0

    @property
    def size(self) -> float:
        """What the bar comes to."""
        return sum(part.tokens for part in self.parts) - self.minus


class Reason(NamedTuple):
    """All that a card says but the event's sentence and its causes."""

    sign: Sign
    rule: Words
    checks: tuple[Check, ...] = ()
    bars: tuple[Bar, ...] = ()
    outside: Term | None = None
    not_taken: Words | None = None
    source: str = ""


NEED, ROOM = Words("need", "需要"), Words("room", "余量")


def count(name: str, value: float, state: State | None = None) -> Term:
    """Return a term that is a number of tokens, or a share of them."""
    return Term(name, theme.num(value), state)


def compare(need: Term, sign: str, have: Term, holds: bool) -> Check:
    """Return the check of one number against another."""
    return Check(((need, sign, have),), f"{need.number} {sign} {have.number}", holds)


def two_bars(need: float, have: float, state: State) -> tuple[Bar, ...]:
    """Return both sides of a test as bars."""
    return (Bar(NEED, (Part(need, None),)), Bar(ROOM, (Part(have, state),)))


def host_free(frame: Frame) -> Term | None:
    """Return the term that no admission formula has; None where there is no L2."""
    free, pool = frame.state.host_account().available, frame.state.pools["L2"]
    if pool.num_pages == 0:
        return None
    return Term("L2 free", theme.num(free), "available")
