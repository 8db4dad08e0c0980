"""How does the card of a decision get its numbers, and do they decide as it did?

A `Why` is a rule as data: words, rows of terms ("need" is the sum "extend + max_new +
page"), the test those terms are put to, both sides as bars, what is in no formula, what
was not taken, where the rule stands in the engine and in kvlab. Two interpreters read
the same rules: this file with reasons.py, and player/sums.js in the browser.
A term is a field of the event, the sum of another row, or one of `FACTS` (terms.py).
Left out: the rules (why_cache.py, why_schedule.py, why_contents.py), how a card looks
(cards.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .reason import Sign
from .theme import State, Words


class Test(NamedTuple):
    """What is compared. `rows` are equations, `test` is "left sign right", holding or
    not; `fact` is asked instead where no numbers are compared; `unless` names the term
    that, where it is None, leaves the test out, and `untested` says so. With `told`
    alone, a term that names an entry of LINES is told in its words."""

    rows: tuple[str, ...] = ()
    test: str = ""
    asks: Words | None = None
    fact: str = ""
    unless: str = ""
    untested: Words | None = None
    told: str = ""


class BarOf(NamedTuple):
    """One side of a test: the terms it is made of, and what is taken off its end. The
    bar is left out where the term `unless` is None."""

    name: Words
    parts: tuple[str, ...]
    minus: str = ""
    unless: str = ""


class Instead(NamedTuple):
    """What was not taken, with terms in braces; only where the test `when` holds."""

    words: Words
    when: str = ""


class Own(NamedTuple):
    """Where kvlab does it: the folder, the function, and words of the line meant."""

    folder: str
    function: str
    anchor: str


class Why(NamedTuple):
    """One card. Of `instead`, the first that holds is said. `sources` are file and
    symbol in SGLang 0.5.14 and in 0.5.23, with the run's tree in braces. `ordered`:
    tests behind one that fails are not put."""

    sign: Sign
    rule: Words
    tests: tuple[Test, ...] = ()
    bars: tuple[BarOf, ...] = ()
    outside: str = ""
    instead: tuple[Instead, ...] = ()
    sources: tuple[str, str] = ("", "")
    own: Own | None = None
    ordered: bool = False


SWATCHES: dict[str, State] = {
    "available": "available", "evictable": "evictable", "promised": "promised",
    "device": "used", "host": "host_only", "device_hit": "used", "miss": "available",
    "host_hit": "host_only", "loaded": "in_flight", "host_available": "available",
    "freed": "left", "rem_input": "promised", "rem_chunk": "promised",
    "chunk_left": "promised", "total": "available", "right": "used", "wrong": "refused",
    "done": "used",
}  # fmt: skip
"""Which terms are a state, and are drawn with its pattern."""

LABELS = {
    "host_available": "L2 free", "host_free": "L2 free", "chunk_left": "rem_chunk",
    "page_size": "page", "nodes": "writes", "done": "cached",
}  # fmt: skip
"""Terms whose name in the engine would not be understood."""

FACTS = (
    "host_free", "host_total", "page_size", "counted", "write_back", "copied",
    "uncopied", "parent_copied", "key_says", "pass_says", "done",
    "whole", "later",
)  # fmt: skip
"""Terms that no event carries (terms.py)."""

DIGITS = {"promised": 1, "room": 1, "before": 3, "after": 3}
"""Terms with a fraction, and how many digits of it are shown."""

Value = float | str | None


def evaluate(sum_: str, terms: Mapping[str, Value]) -> Value:
    """Return what a sum of terms comes to, left to right; None if a term is None.

    >>> evaluate("extend + page − 1", {"extend": 16, "page": 1})
    16
    """
    total: Value = None
    sign = 1
    for word in sum_.split():
        if word in "+−→":
            sign = -1 if word == "−" else 1
            continue
        value = terms[word] if word in terms else int(word)
        if value is None or isinstance(value, str):
            return value
        total = sign * value + (total if isinstance(total, int | float) else 0)
    return total


def with_sums(why: Why, terms: Mapping[str, Value]) -> dict[str, Value]:
    """Return the terms and, by name, the sum of every row that names one."""
    known = dict(terms)
    for test in why.tests:
        for row in test.rows:
            left, equals, name = row.partition(" = ")
            if equals:
                known.setdefault(name, evaluate(left, known))
    return known


def compares(test: str, terms: Mapping[str, Value]) -> bool | None:
    """Return whether "left sign right" holds; None where a side is not a number.

    >>> compares("over > 0", {"over": 8})
    True
    """
    left, sign, right = test.split()
    a, b = evaluate(left, terms), evaluate(right, terms)
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        return None
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[sign]


def holds(test: Test, terms: Mapping[str, Value]) -> bool | None:
    """Return whether the test holds; None where it compares nothing or is left out."""
    if test.unless and terms[test.unless] is None:
        return None
    if test.fact:
        return bool(terms[test.fact])
    return compares(test.test, terms) if test.test else None


def not_taken(why: Why, terms: Mapping[str, Value]) -> Words | None:
    """Return what was not taken, its terms still in braces; None if nothing was."""
    for choice in why.instead:
        if not choice.when or compares(choice.when, terms):
            return choice.words
    return None


def source_of(why: Why, release: str, tree: str) -> str:
    """Return where the rule stands in that release of the engine, "" if nowhere."""
    newer = release.startswith("0.5.23")
    place = why.sources[newer].format(tree=tree)
    return f"SGLang {'0.5.23' if newer else '0.5.14'} · {place}" if place else ""
