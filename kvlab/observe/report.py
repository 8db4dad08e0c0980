"""How does a diagnosis read on a terminal?

What it is, why, where it shows, what was considered, what to do next; then the numbers.
Left out: JSON (the diagnosis itself), the page (views/diagnosis_page.py).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ..record.diagnosis import Diagnosis, Quote
from .causes import CAUSES
from .finding import number

WIDTH = 88


def report(told: Diagnosis) -> str:
    """Return the diagnosis as text, for people."""
    return "\n".join(_lines(told))


def _lines(told: Diagnosis) -> Iterator[str]:
    yield f"{told.verdict}: {told.cause}  ({told.confidence}, {told.status})"
    yield f"{CAUSES[told.cause].says}."
    yield f"{told.engine} {told.kind}: {_names(told.inputs)}{_size(told)}"
    yield ""
    yield "why"
    for reason in told.reasons:
        yield from _point(reason)
    if told.evidence:
        yield ""
        yield "where"
        wide = max(len(quote.place) for quote in told.evidence)
        for quote in told.evidence:
            yield f"  {quote.place:{wide}}  {_clock(quote)}{quote.text}"
    if told.considered:
        yield ""
        yield "considered, and why not"
        for other in told.considered:
            yield from _point(f"{other.cause}: {other.why}")
    yield ""
    yield "next"
    for step in told.next:
        yield from _point(step)
    if told.notes:
        yield ""
        yield "about the input"
        for note in told.notes:
            yield from _point(note)
    yield ""
    yield "numbers"
    yield from _numbers(told.facts)


def _names(inputs: tuple[str, ...]) -> str:
    shown = list(inputs[:4])
    return ", ".join(shown + [f"and {len(inputs) - 4:,} more"] * (len(inputs) > 4))


def _size(told: Diagnosis) -> str:
    samples, window = told.facts.get("n_samples"), told.facts.get("window_s")
    text = f", {samples:,} reports" if samples else ""
    return text + (f" over {number(window)} s" if window is not None else "")


def _point(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent="  - ", subsequent_indent="    ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _clock(quote: Quote) -> str:
    """Return the time of day; a date's origin may be unknown, its clock is not."""
    if quote.time is None or not 0 <= quote.time < 1e11:
        return ""
    return f"{datetime.fromtimestamp(quote.time, UTC):%H:%M:%S}  "


def _numbers(facts: dict[str, Any]) -> Iterator[str]:
    for name, value in facts.items():
        if value is None or name in ("engine", "per_rank"):
            continue
        shown = number(value) if isinstance(value, int | float) else value
        if isinstance(value, bool):
            shown = "yes" if value else "no"
        if isinstance(value, list):
            shown = ", ".join(str(item) for item in value[:8])
        yield f"  {name:28} {shown}"
    for rank, numbers in (facts.get("per_rank") or {}).items():
        said = ", ".join(f"{k} {v}" for k, v in numbers.items() if v is not None)
        yield f"  {rank}: {said}"
