"""Where do two runs part, and what led to it?

Two events are the same when they did the same: their kind, whom they concern, how much,
and the verdict. How much room there was is not compared, and which pages they got is
not either: a larger pool has more room long before that matters.
Left out: running the second one (the caller), showing both (player/).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ..record.events import Event
from ..record.trace import AnyTrace, BlockTrace, Trace
from .block_phrases import block_sentence
from .cards import kind_of
from .frame import frame_at
from .grades import lost_by
from .rule_table import mixed_note
from .sentences import describe
from .text import account_text, tree_text
from .theme import LANGS, Lang, Words

ROOM = frozenset(
    ("available", "evictable", "promised", "host_available", "rem_input", "rem_chunk",
     "delta", "quota", "time", "now", "begin", "load", "compute", "created", "key",
     "threshold", "policy", "cause", "counted", "best", "free", "reserved",
     "watermark")
)  # fmt: skip
"""Fields that say how much room there was, when, what an insert may still count, or
what a match only tells; not what was done."""


def outcome(event: Event) -> tuple[Any, ...]:
    """Return what the event did, comparable with another's.

    >>> from kvlab.record.events import Hit
    >>> outcome(Hit(-1, 7))
    ('Hit', 7)
    """
    fields = [getattr(event, n) for n in event.__struct_fields__ if n not in ROOM]
    done = [len(f) if isinstance(f, np.ndarray) else f for f in fields]
    return (type(event).__name__, *done)


class Difference(NamedTuple):
    """`at` is the index of the first event that differs, None if none does; `events` is
    how many were compared. Where one run is the beginning of the other, its end is
    where they part."""

    at: int | None
    events: int

    def told(
        self, one: AnyTrace, other: AnyTrace, because: Sequence[Words] = ()
    ) -> dict[str, Any]:
        """Return it as the player wants it: with the settings that differ, and why they
        make a difference, as far as the caller knows."""
        notes = list(because)
        if isinstance(other, Trace):
            notes += mixed_note(other.header.rules)
        return {
            "index": self.at,
            "events": self.events,
            "knobs": knobs(one, other),
            "because": [list(words) for words in notes],
        }


def first_difference(one: AnyTrace, other: AnyTrace) -> Difference:
    """Return where two runs part. Cost: O(events)."""
    for index, (a, b) in enumerate(zip(one.events, other.events, strict=False)):
        if type(a) is not type(b) or outcome(a) != outcome(b):
            return Difference(index, index)
    least = min(len(one), len(other))
    return Difference(None if len(one) == len(other) else least, least)


def knobs(one: AnyTrace, other: AnyTrace) -> str:
    """Return the settings that differ, as `name a -> b`."""
    a, b = (_settings(trace) for trace in (one, other))
    names = [name for name in {**a, **b} if a.get(name) != b.get(name)]
    return ", ".join(f"{name} {a.get(name)} → {b.get(name)}" for name in names)


def _settings(trace: AnyTrace) -> dict[str, Any]:
    if isinstance(trace, BlockTrace):
        return msgspec.structs.asdict(trace.header.config)
    config = msgspec.structs.asdict(trace.header.config)
    config["host_tokens"] = trace.header.config.host_pages * config["page_size"]
    return {**config, "rules": trace.header.rules.name}


_SAME = Words("no difference in {n} events", "{n} 个事件中没有差别")
_FIRST = Words("first difference: event {n}", "首个分歧：事件 {n}")
_LED = Words("led to it", "前因")
_ENDED = Words("(this run has ended)", "（此运行已结束）")


def comparison(one: AnyTrace, other: AnyTrace, lang: Lang = "en") -> str:
    """Return the difference in words: what each run did, and the causes before it.

    >>> from kvlab.config import EngineConfig
    >>> from kvlab.record.trace import Header
    >>> from kvlab.rules import Rules
    >>> empty = Trace(Header(config=EngineConfig(pool_tokens=8),
    ...                      rules=Rules.v0_5_14()))
    >>> comparison(empty, empty)
    'no difference in 0 events'
    """
    assert lang in LANGS, lang
    found = first_difference(one, other)
    changed = knobs(one, other)
    tail = [changed] if changed else []
    if found.at is None:
        return "\n".join([_SAME.to(lang).format(n=f"{found.events:,}"), *tail])
    lines = [_FIRST.to(lang).format(n=f"{found.at + 1:,}"), *tail]
    for name, trace in (("A", one), ("B", other)):
        if found.at >= len(trace):
            lines.append(f"{name}  {_ENDED.to(lang)}")
            continue
        lines.append(f"{name}  {_said(trace, found.at, lang)}")
        for cause in trace.chain(found.at)[:-1]:
            said = _said(trace, cause, lang)
            lines.append(f"   {_LED.to(lang)}: {cause + 1:,} {said}")
    return "\n".join(lines)


def moment(trace: Trace, step: int, lang: Lang = "en") -> str:
    """Return the state after so many events, or at the end, as text: the pools'
    accounts and the tree."""
    frame = frame_at(trace, min(step, len(trace)))
    return f"{account_text(frame, lang)}\n{tree_text(frame, lang)}"


def _said(trace: AnyTrace, index: int, lang: Lang) -> str:
    kind = kind_of(trace.events[index])
    if isinstance(trace, BlockTrace):
        after = trace.events[index + 1] if index + 1 < len(trace) else None
        lost = lost_by(trace, index)
        return f"{kind}: {block_sentence(trace.events[index], lang, after, lost)}"
    return f"{kind}: {describe(frame_at(trace, index + 1), lang)}"
