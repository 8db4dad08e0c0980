"""Which words, looks and cards does the player in the browser draw from?

The same that every other view uses, as one table to be sent as JSON: so there is one
place for each word and each colour. Lines of kvlab's own source come from its files.
Left out: the numbers (log.py), drawing (player/).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from ..glossary import GLOSSARY, EngineName
from ..record import events as ev
from ..record.trace import Header
from ..rule import RELEASES
from .cards import CARRIES_OUT, kind_of
from .kind_words import KIND_WORDS
from .meanings import MEANINGS
from .phrases import PHRASES
from .player_words import UI_WORDS
from .primer import KEYS, MARKS, PANES, STATES, Mark
from .questions import CONFIDENCE, QUESTIONS, Question
from .rule_table import mixed_note
from .sentences import TIMES
from .terms import facts_of
from .theme import FREE, LOOKS, State, Words
from .theme_dark import colours
from .verdicts import VERDICTS
from .watches import WATCHES
from .why import DIGITS, LABELS, SWATCHES, Own, Why, source_of
from .why_schedule import LINES, WHYS

_PACKAGE = Path(__file__).resolve().parents[1]

PATHS = {
    "touch": ["node"], "lock": ["node"], "unlock": ["node"],
    "match": ["best", "last_device"], "loadback": ["node"],
}  # fmt: skip
"""Kinds that concern a whole path, and the fields that name its ends."""

LEAVES = {
    "demote": "left", "reclaim": "left", "delete": "lost", "evicthost": "lost",
}  # fmt: skip
"""How pages look that a change has just taken away."""

IN_GLOSSARY = {
    "device": "device_hit", "host": "host_hit", "local": "device_hit",
    "remote": "host_hit", "loaded": "load", "loadback": "load", "backup": "write",
    "trybackup": "write", "copyout": "write", "copyin": "load", "page_size": "page",
    "preempt": "retract", "pickretract": "retract",
    "pickvictim": "retract",
}  # fmt: skip
"""Terms of cards and kinds of events whose key in the glossary is another one."""

RISE, FALL = ("alloc", "load", "restore", "lock"), ("free", "demote", "delete")
"""Kinds that the timeline draws above and below its line."""


def tables(header: Header) -> dict[str, Any]:
    """Return everything that does not depend on the events, ready for JSON."""
    config = header.config
    return {
        "engine": f"{header.engine} {header.rules.name}",
        "notes": [list(words) for words in mixed_note(header.rules)],
        "settings": {
            "rules": header.rules.name,
            **{k: v for k, v in to_builtins(config).items() if v is not None},
        },
        "books": list(dict.fromkeys([*RELEASES, header.rules.name])),
        "page": config.page_size,
        "pools": [config.device_pages, config.host_pages],
        "facts": facts_of(config),
        "decisions": [kind.__name__.lower() for kind in ev.DECISIONS],
        "names": {k.__name__.lower(): kind_of(k) for k in (*ev.CHANGES, *ev.DECISIONS)},
        "kinds": words_of(KIND_WORDS),
        "carries": {
            kind.__name__.lower(): [one.__name__.lower() for one in decisions]
            for kind, decisions in CARRIES_OUT.items()
        },
        "paths": PATHS,
        "leaves": LEAVES,
        "times": TIMES,
        "rise": RISE,
        "fall": FALL,
        "copies": {"backup": "backupdone", "load": "loaddone"},
        "looks": looks(),
        "colours": colours(),
        "ui": words_of(UI_WORDS),
        "phrases": words_of(PHRASES),
        "verdicts": words_of(VERDICTS),
        "meanings": words_of(MEANINGS),
        "whys": {
            entry: ruled(why, source_of(why, header.rules.name, config.tree))
            for entry, why in WHYS.items()
        },
        "digits": DIGITS,
        "swatches": SWATCHES,
        "labels": LABELS,
        "lines": words_of(LINES),
        "primer": primer(PANES, STATES, MARKS),
        "questions": asked(QUESTIONS),
        "confidence": [list(words) for words in CONFIDENCE],
        "watches": words_of(WATCHES),
        "terms": glossary("sglang"),
        "inGlossary": IN_GLOSSARY,
    }


def primer(
    panes: tuple[Words, ...], states: dict[State, Words], marks: dict[str, Mark]
) -> dict[str, Any]:
    """Return what a reader is told first: panes, patterns, marks, keys."""
    return {
        "panes": [list(words) for words in panes],
        "states": words_of(states),
        "marks": {
            name: [list(words) for words in mark] for name, mark in marks.items()
        },
        "keys": [(key, list(words)) for key, words in KEYS],
    }


def glossary(engine: EngineName) -> dict[str, list[str]]:
    """Return the engine's word, the other's and the Chinese of every term."""
    return {
        key: [term.word(engine), term.other(engine), term.zh]
        for key, term in GLOSSARY.items()
    }


def words_of(table: Mapping[Any, Words]) -> dict[str, list[str]]:
    """Return the words of a table as lists: English, Chinese."""
    return {name: list(words) for name, words in table.items()}


def asked(questions: dict[str, Question]) -> dict[str, Any]:
    """Return each kind's question and its answers, by the entry that they name."""
    return {
        kind: [list(question.asks), words_of(question.answers)]
        for kind, question in questions.items()
    }


def looks() -> dict[str, Any]:
    """Return every state's name, pattern and dash."""
    found: dict[str, Any] = {
        state: {"name": list(look.name), "pattern": look.pattern, "dash": look.dash}
        for state, look in LOOKS.items()
    }
    found["free"] = {**found["available"], "name": list(FREE)}
    return found


def ruled(why: Why, source: str) -> dict[str, Any]:
    """Return the rule of a decision; `source` is its place in the real engine."""
    fields = why._asdict()
    del fields["sources"]
    return {
        **fields,
        "tests": [test._asdict() for test in why.tests],
        "bars": [bar._asdict() for bar in why.bars],
        "instead": [choice._asdict() for choice in why.instead],
        "source": source,
        "own": None if why.own is None else own_lines(why.own),
    }


@cache
def own_lines(own: Own) -> dict[str, Any] | None:
    """Return the place in kvlab's source with the lines around it, None if it has
    moved: a test, not a reader, is to notice that."""
    for path in sorted((_PACKAGE / own.folder).glob("*.py")):
        source = path.read_text("utf-8")
        if own.function in source and own.anchor in source:
            lines = source.splitlines()
            for first, end in _functions(source, own.function):
                for at in range(first, end):
                    if own.anchor in lines[at]:
                        where = f"kvlab/{own.folder}/{path.name}:{at + 1}"
                        return _excerpt(f"{where} · {own.function}", lines, at, end)
    return None


def _functions(source: str, name: str) -> list[tuple[int, int]]:
    """Return first and end line of every function of that name, counted from 0."""
    return [
        (node.lineno - 1, node.end_lineno or node.lineno)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]


def _excerpt(where: str, lines: list[str], at: int, end: int) -> dict[str, Any]:
    first = at - 1
    shown = lines[first : min(at + 3, end)]
    indent = min((len(x) - len(x.lstrip()) for x in shown if x.strip()), default=0)
    return {"where": where, "lines": [x[indent:] for x in shown], "at": at - first}
