"""Which slots hold what they should, as far as somebody has looked?

A run whose contents were checked has `Compared` events, each followed by a `Wrong` for
every slot that holds another prefix. `contents_of` finds the last comparison before a
step; `by_contents` gives a pool's runs the looks "right" and "wrong" where it tells
something. What was handed out since then is not known, and keeps its state's look.
Left out: drawing (pool_map.py), the same in the browser (player/contents.js).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..record import events as ev
from ..record.events import Tier
from ..record.folding import check_step
from ..record.trace import Trace
from .markup import plain
from .slots import Run
from .theme import Lang, State, Words

SETTLED: tuple[State, ...] = ("used", "held", "evictable", "host_only", "copy")
"""States in which a slot's contents mean something."""
TOLD = 3
"""Wrong slots that are told in words."""

COMPARED = Words(
    "Event {e} compared {n} slots: {w} wrong",
    "事件 {e} 核对了 {n} 个槽位：{w} 个有误",
)
WRONG = Words(
    "{tier} slot {slot}, {holder}: should end {a}, holds {b}",
    "{tier} 槽位 {slot}，{holder}：应为 {a}，实为 {b}",
)
UNWRITTEN = Words("nothing", "从未写入")
MORE = Words("and {n} more", "另有 {n} 个")
NOT_COMPARED = Words("Nothing has been compared yet.", "尚未核对。")


class Contents(NamedTuple):
    """What the last comparison before a step found. `number` is that of its event,
    counted from 1; `wrong` are its wrong slots, those told after the step included;
    `since` the pages of each tier that were handed out after it."""

    number: int
    compared: ev.Compared
    wrong: list[ev.Wrong]
    since: dict[Tier, set[int]]


def contents_of(trace: Trace, step: int) -> Contents | None:
    """Return what is known of contents after the first `step` events; None if nothing
    was compared. Cost: O(events since the last comparison, and its wrong slots).

    Raises: TraceError if the run has no such step.
    """
    check_step(step, len(trace))
    since: dict[Tier, set[int]] = {"L1": set(), "L2": set()}
    for index in range(step - 1, -1, -1):
        match trace.events[index]:
            case ev.Compared(wrong=count) as compared:
                told = trace.events[index + 1 : index + 1 + count]
                wrong = [event for event in told if isinstance(event, ev.Wrong)]
                return Contents(index + 1, compared, wrong, since)
            case ev.Alloc(tier=tier, pages=pages):
                since[tier].update(pages.tolist())
    return None


def by_contents(
    found: list[Run], tier: Tier, contents: Contents | None, page_size: int
) -> list[Run]:
    """Return the runs, cut where contents differ, with the looks of their contents."""
    if contents is None:
        return found
    wrong = {one.slot // page_size for one in contents.wrong if one.tier == tier}
    unknown = contents.since[tier]
    return [part for run in found for part in _cut(run, wrong, unknown)]


def _cut(run: Run, wrong: set[int], unknown: set[int]) -> Iterator[Run]:
    if run.state not in SETTLED or not run.label:
        yield run
        return
    pages = range(run.first, run.first + run.length)
    looks = np.array([2 if p in unknown else int(p in wrong) for p in pages])
    ends = [*(np.flatnonzero(np.diff(looks)) + 1).tolist(), run.length]
    at = 0
    for end in ends:
        state: State = ("right", "wrong", run.state)[looks[at]]
        yield run._replace(first=run.first + at, length=end - at, state=state)
        at = end


def contents_lines(contents: Contents | None, lang: Lang = "en") -> list[str]:
    """Return what was found, in a line, and the first wrong slots, a line each: at most
    TOLD + 2 lines of plain text, not yet escaped."""
    if contents is None:
        return [NOT_COMPARED.to(lang)]
    compared, wrong = contents.compared, contents.wrong
    lines = [
        COMPARED.to(lang).format(
            e=contents.number, n=f"{compared.slots:,}", w=f"{compared.wrong:,}"
        )
    ]
    lines += [_told(one, lang) for one in wrong[:TOLD]]
    if len(wrong) > TOLD:
        lines.append(MORE.to(lang).format(n=f"{len(wrong) - TOLD:,}"))
    return lines


def _told(one: ev.Wrong, lang: Lang) -> str:
    found = plain(one.found) if one.found else UNWRITTEN.to(lang)
    return WRONG.to(lang).format(
        tier=one.tier, slot=one.slot, holder=plain(one.holder, 12),
        a=plain(one.expected), b=found,
    )  # fmt: skip
