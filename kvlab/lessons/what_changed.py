"""Where do two rule books part on the same script, and which rule did it?

The script is played under both, and under one rule changed at a time. A rule is
responsible if the runs part at that place when it alone changes, and do not when it
alone stays. Where no event differs, the two may still be told something else by a
call, get other pages, or not start at all.
Left out: where two runs part (views/compare.py), showing it (cli/compare.py).
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import convert
from msgspec.structs import replace

from ..errors import ConfigError
from ..record.events import Event
from ..record.trace import Trace
from ..rule import NEEDS
from ..rules import Rules, facts
from ..run.runner import Result
from ..run.script import Script
from ..run.whole import run_whole
from ..views.compare import first_difference

Level = Literal["event", "result", "page", "start"]


class Played(NamedTuple):
    """A script under one rule book: its run, what each op returned, what ended it, and
    why the release would not have started with these settings, if so."""

    trace: Trace
    results: list[Result]
    fault: str | None
    refused: str | None


class Parting(NamedTuple):
    """Where two runs of a script part, if they do: at an event (its index), else at
    what op number `at` returned, else at an event's pages, else at the start (0)."""

    level: Level | None
    at: int


class Change(NamedTuple):
    """Two runs of a script, where they part, and the rules that are responsible."""

    a: Played
    b: Played
    parting: Parting
    rules: tuple[str, ...]


def played(script: Script, rules: Rules) -> Played:
    """Play the script under the rules, as far as it goes."""
    results: list[Result] = []
    trace, fault = run_whole(replace(script, rules=rules), results)
    try:
        script.config.check_start(rules)
    except ConfigError as refusal:
        return Played(trace, results, fault, str(refusal))
    return Played(trace, results, fault, None)


def parting(a: Played, b: Played) -> Parting:
    """Return where two runs of one script part. Cost: O(events)."""
    found = first_difference(a.trace, b.trace)
    if found.at is not None:
        return Parting("event", found.at)
    for number, (one, other) in enumerate(zip(a.results, b.results, strict=False)):
        if one != other:
            return Parting("result", number)
    for index, (x, y) in enumerate(zip(a.trace.events, b.trace.events, strict=True)):
        if not _same_pages(x, y):
            return Parting("page", index)
    if (a.refused is None) != (b.refused is None):
        return Parting("start", 0)
    return Parting(None, len(a.trace))


def change(script: Script, old: Rules, new: Rules) -> Change:
    """Play the script under both rule books and find the rules that part them.

    Cost: two runs, and two more for each rule in which the books differ.
    """
    a, b = played(script, old), played(script, new)
    found = parting(a, b)
    if found.level is None:
        return Change(a, b, found, ())
    differing = [n for n in facts() if old.answers[n] != new.answers[n]]
    rules = [
        rule
        for rule in differing
        if parting(a, played(script, _with(old, new, rule))) == found
        and parting(a, played(script, _with(new, old, rule))) != found
    ]
    return Change(a, b, found, tuple(rules))


def _with(rules: Rules, other: Rules, rule: str) -> Rules:
    """Return the rules with the other's answer to one, and to those that must go with
    it: what it needs, or what needs it."""
    answers = {**rules.answers, rule: other.answers[rule]}
    for needing, needed, _ in NEEDS:
        if answers[needing] and not answers[needed]:
            answers[needed if rule == needing else needing] = answers[rule]
    return convert(answers, Rules)


def _same_pages(one: Event, other: Event) -> bool:
    values: list[tuple[Any, Any]] = [
        (getattr(one, name), getattr(other, name)) for name in one.__struct_fields__
    ]
    return all(np.array_equal(x, y) for x, y in values if isinstance(x, np.ndarray))
