"""How does a diagnosis read on a terminal?

What it is, why, where it shows, what to do next; then what was considered, and the
numbers.
Left out: JSON (the diagnosis itself), the page (views/diagnosis_page.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from unicodedata import east_asian_width

from ..record.diagnosis import Diagnosis, Quote
from .causes import CAUSES
from .said import Lang, number, say, to

WIDTH = 80
"""Columns of a terminal that nobody has widened."""
_INDENT = 44
"""Columns up to which what goes on stands below what it goes on from."""


def report(told: Diagnosis) -> str:
    """Return the diagnosis as text, for people, in its language."""
    return "\n".join(_lines(told, "zh" if told.lang == "zh" else "en"))


def _lines(told: Diagnosis, lang: Lang) -> Iterator[str]:
    sure, status = to(told.confidence, lang), to(told.status, lang)
    yield f"{told.verdict}: {told.cause}  ({sure}, {status})"
    yield to(CAUSES[told.cause].says, lang) + ("。" if lang == "zh" else ".")
    source = f"{_names(told.inputs, lang)}{_size(told, lang)}"
    yield from _wrapped(f"{told.engine} {told.kind}: ", source)
    yield from _section("why", told.reasons, lang)
    if told.evidence:
        yield ""
        yield to("where", lang)
        wide = max(len(quote.place) for quote in told.evidence)
        for quote in told.evidence:
            yield from _wrapped(f"  {quote.place:{wide}}  {_clock(quote)}", quote.text)
    yield from _section("next", told.next, lang)
    others = [f"{other.cause}: {other.why}" for other in told.considered]
    yield from _section("considered, and why not", others, lang)
    yield from _section("about the input", told.notes, lang)
    yield ""
    yield to("numbers", lang)
    yield from _numbers(told.facts)


def _section(name: str, texts: Sequence[str], lang: Lang) -> Iterator[str]:
    if texts:
        yield ""
        yield to(name, lang)
    for text in texts:
        yield from _wrapped("  - ", text)


def _names(inputs: tuple[str, ...], lang: Lang) -> str:
    shown = list(inputs[:4])
    more = [say("and {} more", len(inputs) - 4).to(lang)] * (len(inputs) > 4)
    return ", ".join(shown + more)


def _size(told: Diagnosis, lang: Lang) -> str:
    samples, window = told.facts.get("n_samples"), told.facts.get("window_s")
    text = say(", {} reports", samples).to(lang) if samples else ""
    if window is None:
        return text
    return text + say(" over {} s", window).to(lang)


def _wrapped(head: str, text: str) -> Iterator[str]:
    """Yield the text behind its head, broken at blanks, and between Chinese characters,
    which are two columns wide."""
    line, width = head, _columns(head)
    indent = width if width <= _INDENT else 6
    for word in _WORD.findall(text):
        wide = _columns(word)
        if width + _columns(word.rstrip()) > WIDTH and width > indent:
            yield line.rstrip()
            line, width = " " * indent, indent
        line, width = line + word, width + wide
    yield line.rstrip()


def _columns(text: str) -> int:
    return sum(1 + (east_asian_width(letter) in "WF") for letter in text)


_WORD = re.compile(r"[\u2e80-\uffef][，。；：、）]?\s*|[^\s\u2e80-\uffef]+\s*|\s+")


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
        yield from _wrapped(f"  {name:28} ", str(shown))
    for rank, numbers in (facts.get("per_rank") or {}).items():
        said = ", ".join(f"{k} {v}" for k, v in numbers.items() if v is not None)
        yield from _wrapped(f"  {rank}: ", said)
