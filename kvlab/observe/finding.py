"""What does a rule answer?

A `Finding` says of one cause whether it holds for one scheduler, why or why not, how
sure that is, and quotes the samples it rests on.
Left out: the rules (rules_*.py), what causes mean (causes.py), choosing (verdict.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

from ..record.diagnosis import Quote
from .samples import Sample
from .signs import Signs

Confidence = Literal["certain", "likely", "possible"]


class Finding(Struct, frozen=True):
    """The answer of one rule. `why` says what speaks for it, or against it; `next` are
    steps of its own, where those of the cause do not fit."""

    cause: str
    holds: bool
    why: tuple[str, ...]
    quotes: tuple[Quote, ...] = ()
    confidence: Confidence = "likely"
    next: tuple[str, ...] = ()


Rule = Callable[[Signs], Finding | None]
"""Asks one track; None where the input cannot speak about the cause at all."""


def yes(
    cause: str,
    *why: str,
    quotes: Iterable[Quote | None] = (),
    confidence: Confidence = "likely",
    next: tuple[str, ...] = (),
) -> Finding:
    """Return that the cause holds."""
    kept = tuple(quote for quote in quotes if quote is not None)
    return Finding(cause, True, why, kept, confidence, next)


def no(cause: str, *why: str) -> Finding:
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


def number(value: float) -> str:
    """Return a value as a reader writes it.

    >>> number(1310720.0), number(0.997), number(0.9999), number(24.3)
    ('1,310,720', '0.997', '1', '24.3')
    """
    if not math.isfinite(value):
        return str(value)
    if value == int(value):
        return f"{int(value):,}"
    if abs(value) >= 100:
        return f"{value:,.1f}"
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def usage_text(signs: Signs) -> str:
    """Say how full the pool is while requests wait, and that moments were fuller."""
    most = max((row.usage for row in signs.spell.rows), default=signs.usage_max)
    text = f"usage is at most {number(signs.crowded)} while they wait"
    if most <= signs.crowded:
        return text
    return f"{text}, but for one report in twenty (at most {number(most)})"
