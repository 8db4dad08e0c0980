"""What does a decision owe its reader?

A `Reason`: the terms with their numbers, the test they are put to, and what the rule
leaves aside. Nothing is computed that the engine did not compare; the verdict is the
event's own.
Left out: how the reason of a decision comes about (reasons.py) and looks (cards.py).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from .theme import Words

Sign = Literal["yes", "no", "lost", "short", "out", "copy", "down", "note"]
"""The sign beside a verdict: done; refused, so that somebody waits; a loss; less than
was asked, which harms nobody; evicted, copied up or down, or noted (grades.py)."""


class Term(NamedTuple):
    """A number and its name."""

    name: str
    number: str


Equation = tuple[Term | str, ...]
"""Terms and the signs between them."""


class Check(NamedTuple):
    """What is compared: equations, the test in numbers, and whether it holds (None:
    not tested). `asks` is the question the test answers; `late` says that one before it
    failed, so that it was never put."""

    equations: tuple[Equation, ...]
    test: str = ""
    holds: bool | None = None
    asks: Words | None = None
    late: bool = False


class Reason(NamedTuple):
    """All that a card says but the event's sentence and its causes."""

    sign: Sign
    rule: Words
    checks: tuple[Check, ...] = ()
    outside: Term | None = None
    not_taken: Words | None = None
    source: str = ""


NEED, ROOM = Words("need", "需求"), Words("room", "余量")
