"""Why did a decision come out as it did, in numbers?

`reason_of` reads the rule of the frame's event as why.py says it, with the terms of
this one event, and returns what a card shows. player/ does the same in the browser.
Left out: the rules (why_cache.py, why_schedule.py), how a card looks (cards.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..record.events import Decision
from . import theme
from .frame import Frame
from .markup import plain
from .reason import Check, Equation, Reason, Term
from .sentences import told_by
from .terms import terms_of
from .theme import Words
from .why import (
    DIGITS,
    LABELS,
    Test,
    Value,
    Why,
    holds,
    not_taken,
    source_of,
    with_sums,
)
from .why_schedule import LINES, WHYS, why_of

_SIGNS = {"<": "<", "<=": "≤", ">": ">", ">=": "≥"}

Terms = Mapping[str, Value]


def rule_of(frame: Frame) -> Why:
    """Return the rule of the frame's event, which must be a decision."""
    return why_of(told_by(frame, WHYS), getattr(frame.event, "tier", None))


def reason_of(frame: Frame) -> Reason:
    """Return why the frame's event, which must be a decision, came out as it did."""
    event, header = frame.event, frame.header
    assert isinstance(event, Decision), f"{event} decides nothing"
    why = rule_of(frame)
    terms = with_sums(why, terms_of(event, frame.before))
    outside = None
    if why.outside and header.config.host_pages:
        outside = _term(why.outside, terms)
    return Reason(
        why.sign,
        why.rule,
        tuple(_checks(why, terms)),
        outside,
        _filled(not_taken(why, terms), terms),
        source_of(why, header.rules.name, header.config.tree),
    )


def _counts(unless: str, terms: Terms) -> bool:
    return not unless or terms[unless] is not None


def _checks(why: Why, terms: Terms) -> Iterator[Check]:
    failed = False
    for test in why.tests:
        check = _check(test, terms)
        if check is not None:
            yield check._replace(late=failed)
        failed = failed or (why.ordered and holds(test, terms) is False)


def _check(test: Test, terms: Terms) -> Check | None:
    if not _counts(test.unless, terms):
        return Check((), "", None, test.untested) if test.untested else None
    if test.told:
        return Check((), "", None, LINES.get(str(terms[test.told])))
    if test.fact:
        return Check((), "", holds(test, terms), test.asks)
    shown = _test(test, terms)
    return Check(_rows(test, terms), shown, holds(test, terms), test.asks)


def _test(test: Test, terms: Terms) -> str:
    """Return the test in numbers, "" where none is put."""
    if not test.test:
        return ""
    left, sign, right = test.test.split()
    return f"{_number(left, terms)} {_SIGNS[sign]} {_number(right, terms)}"


def _rows(test: Test, terms: Terms) -> tuple[Equation, ...]:
    """Return the rows as equations: names alone stand side by side, on both sides of
    the sign if they are compared."""
    if any(" " in row for row in test.rows):
        return tuple(_equation(row.split(), terms) for row in test.rows)
    words: tuple[str, ...] = test.rows
    if test.test:
        left, sign, right = test.test.split()
        words = (left, _SIGNS[sign], right)
    row = _equation([word for word in words if terms.get(word, "") is not None], terms)
    return (row,) if row else ()


def _equation(words: list[str], terms: Terms) -> Equation:
    return tuple(_term(word, terms) if word in terms else word for word in words)


def _term(name: str, terms: Terms) -> Term:
    return Term(LABELS.get(name, name), _number(name, terms))


def _number(name: str, terms: Terms) -> str:
    """Return a term's number as a card shows it; of a literal, the literal."""
    value = terms.get(name, name)
    if isinstance(value, str):
        return plain(value)
    if value is None:
        return "–"
    return theme.num(value, DIGITS.get(name, 1))


def _filled(words: Words | None, terms: Terms) -> Words | None:
    if words is None:
        return None
    shown = {name: _number(name, terms) for name in terms}
    return Words(*(text.format_map(shown) for text in words))
