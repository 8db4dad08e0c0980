"""Where do two rule books part on the same script, and which rule did it?

The script is played under both, and under one rule changed at a time. A rule is
responsible if the runs part at that place when it alone changes, and do not when it
alone stays. Where no event differs, the two may still be told something else by a
call, get other pages, or not start at all.
Left out: where two runs part (views/compare.py), pages (views/page.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import convert
from msgspec.structs import replace

from ..errors import ConfigError
from ..record.events import Event, Step
from ..record.trace import Trace
from ..rule import NEEDS
from ..rules import Rules, facts
from ..run.script import Script
from ..run.tree_ops import Result
from ..run.whole import run_whole
from ..views.compare import comparison, first_difference, moment
from ..views.rule_table import mixed_note, rule_note
from ..views.theme import Lang, Words

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


class _Line(Words):
    """Words with places to fill."""

    def filled(self, **values: Any) -> Words:
        return Words(self.en.format(**values), self.zh.format(**values))


_RESULT = _Line("No event differs; op {n} returned something else",
                "事件全部相同；操作 {n} 的返回值不同")  # fmt: skip
_ENDS = _Line("{run} ends early: {why}", "{run} 提前结束：{why}")
_REFUSED = _Line("{run} would not have started: {why}", "{run} 无法启动：{why}")


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

    Cost: two runs, and two more, up to where they part, for each rule in which the
    books differ.
    """
    a, b = played(script, old), played(script, new)
    found = parting(a, b)
    if found.level is None:
        return Change(a, b, found, ())
    part = replace(script, ops=script.ops[: _ops_until(found, a, b)])
    start = played(part, old)
    rules = [
        rule
        for rule in facts()
        if old.answers[rule] != new.answers[rule]
        and parting(start, played(part, _with(old, new, rule))) == found
        and parting(start, played(part, _with(new, old, rule))) != found
    ]
    return Change(a, b, found, tuple(rules))


def _ops_until(found: Parting, a: Played, b: Played) -> int:
    """Return how many ops it takes to come to where the runs part."""
    match found.level:
        case "result":
            return found.at + 1
        case "event" | "page":
            events = max(
                (side.trace.events[: found.at + 1] for side in (a, b)), key=len
            )
            return sum(isinstance(event, Step) for event in events)
    return 0


def explainer(script: Script) -> Callable[[Trace, Trace], list[Words]]:
    """Return what a player asks why two runs of the script differ: the rules that are
    responsible, if rules are all that differs."""

    def explain(one: Trace, other: Trace) -> list[Words]:
        if one.header.config != other.header.config:
            return []
        return notes(change(script, one.header.rules, other.header.rules))

    return explain


# --- in words


def notes(found: Change) -> list[Words]:
    """Return what parts the two, a note each: what an op returned, the rules, who would
    not have started, that B ends early (a page says it of A itself)."""
    a, b = found.a.trace.header.rules, found.b.trace.header.rules
    lines = [rule_note(rule, a, b) for rule in found.rules]
    if found.parting.level == "result":
        lines.insert(0, _RESULT.filled(n=found.parting.at))
    for name, side in (("A", found.a), ("B", found.b)):
        if side.refused is not None:
            lines.append(_REFUSED.filled(run=name, why=side.refused))
    return lines + _end("B", found.b)


def _end(name: str, side: Played) -> list[Words]:
    return [] if side.fault is None else [_ENDS.filled(run=name, why=side.fault)]


def report(found: Change, lang: Lang = "en") -> str:
    """Return all of it as text: where they part and what led to it, which rules did
    it, what each run had at that moment."""
    one, other = found.a.trace, found.b.trace
    level, at = found.parting
    lines = [comparison(one, other, lang)]
    if level == "result":
        for name, side in (("A", found.a), ("B", found.b)):
            lines.append(f"{name}  {json.dumps(side.results[at])}")
    lines += [words.to(lang) for words in (*_end("A", found.a), *notes(found))]
    if level in ("event", "page"):
        for name, trace in (("A", one), ("B", other)):
            lines.append(f"\n{name}  {trace.header.rules.name}")
            lines.append(moment(trace, at + 1, lang))
    for trace in (one, other):
        lines += [words.to(lang) for words in mixed_note(trace.header.rules)]
    return "\n".join(lines)


def told(found: Change) -> dict[str, Any]:
    """Return it as a plain record, for JSON."""
    one, other = found.a.trace, found.b.trace
    return {
        **first_difference(one, other).told(one, other, notes(found)),
        "level": found.parting.level,
        "at": found.parting.at,
        "responsible": list(found.rules),
        **{name: _side(s) for name, s in (("a", found.a), ("b", found.b))},
    }


def _side(side: Played) -> dict[str, Any]:
    rules = side.trace.header.rules
    return {
        "rules": rules.name, "release": rules.is_release, "fault": side.fault,
        "refused": side.refused, "results": side.results,
    }  # fmt: skip


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
