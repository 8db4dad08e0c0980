"""What does a rule answer?

A `Finding` says of one cause whether it holds for one scheduler, why or why not, how
sure that is, and quotes the samples it rests on.
Left out: the rules (rules_*.py), what causes mean (causes.py), choosing (verdict.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

from ..record.diagnosis import Quote
from .said import Said, Text, number, say
from .samples import Sample
from .signs import Signs

Confidence = Literal["certain", "likely", "possible"]


class Finding(Struct, frozen=True):
    """The answer of one rule. `why` says what speaks for it, or against it; `next` are
    steps of its own, where those of the cause do not fit."""

    cause: str
    holds: bool
    why: tuple[Text, ...]
    quotes: tuple[Quote, ...] = ()
    confidence: Confidence = "likely"
    next: tuple[Text, ...] = ()


Rule = Callable[[Signs], Finding | None]
"""Asks one track; None where the input cannot speak about the cause at all."""


def yes(
    cause: str,
    *why: Text,
    quotes: Iterable[Quote | None] = (),
    confidence: Confidence = "likely",
    next: tuple[Text, ...] = (),
) -> Finding:
    """Return that the cause holds."""
    kept = tuple(quote for quote in quotes if quote is not None)
    return Finding(cause, True, why, kept, confidence, next)


def no(cause: str, *why: Text) -> Finding:
    """Return that the cause was considered and does not hold."""
    return Finding(cause, False, why)


def quote(sample: Sample | None, *names: str) -> Quote | None:
    """Return the sample with the fields that matter; None for no sample."""
    if sample is None:
        return None
    said = [
        f"{name.removesuffix('_total')} {number(sample.values[name])}"
        for name in names
        if name in sample.values
    ]
    return Quote(", ".join(said) or sample.kind, str(sample.place), sample.time)


def climb_text(signs: Signs) -> list[Said]:
    """Say that the pool fills, and when it is full; nothing where it does not."""
    if (climb := signs.climb) is None:
        return []
    return [
        say(
            "usage climbs from {} to {} in {} s to the very end: at that pace the pool "
            "is full in {} s, unless requests end first",
            climb.first,
            climb.last,
            climb.seconds,
            round(climb.full_in),
        )
    ]


def usage_text(signs: Signs) -> Said:
    """Say how full the pool is while requests wait, and that moments were fuller."""
    most = max((row.usage for row in signs.spell.rows), default=signs.usage_max)
    text = say("usage is at most {} while they wait", signs.crowded)
    if most <= signs.crowded:
        return text
    return say("{}, but for one report in twenty (at most {})", text, most)
