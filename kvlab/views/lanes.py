"""When did what happen, event by event?

Three lanes over the events: decisions as diamonds (a refusal is half filled), changes
as ticks (up: it fills L1, down: it frees L1, short: another), either as an octagon with
a cross where it is a loss, copies as spans from their submission to their
acknowledgement. Too many events for marks of their own become a curve of L1's use with
losses and refusals under it.
Left out: the accounts in full (timeline.py, timeline_svg.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..record import events as ev
from ..record.events import Decision, Event
from ..record.trace import Trace
from . import draw, theme
from .markup import Markup, join, tag
from .series import Counts, series, thinned
from .theme import LOOKS, Lang, Words

WIDTH, GUTTER, HEIGHT = 1000, 52, 70
MOST_MARKS = 400
NAMES = (Words("decide", "决策"), Words("change", "变化"), Words("copy", "拷贝"))
L1_USE = Words("L1 use", "L1 占用")
LOST, REFUSED = Words("losses", "丢失"), Words("refused", "拒绝")


class Span(NamedTuple):
    """A copy in flight, by the steps of its submission and its acknowledgement."""

    first: int
    last: int
    down: bool


def x_of(step: int, steps: int) -> float:
    """Return where a step lies. Units: pixels of a picture WIDTH wide."""
    return GUTTER + (WIDTH - GUTTER - 8) * step / max(steps, 1)


def lanes(trace: Trace, lang: Lang = "en") -> Markup:
    """Return the lanes, HEIGHT high. Cost: O(events)."""
    if len(trace) > MOST_MARKS:
        return _overview(trace, lang)
    parts = []
    for place, name in enumerate(NAMES):
        y = 12 + 18 * place
        parts.append(draw.words(0, y + 4, name.to(lang), fill=theme.INK3))
        parts.append(draw.stroke(f"M{GUTTER} {y}H{WIDTH}", theme.LINE, 1))
    for span in spans(trace):
        parts.append(_span(span, len(trace)))
    told = series(trace)
    losses, refusals = set(told.losses), set(told.refusals)
    for step, event in enumerate(trace.events, 1):
        x = x_of(step, len(trace))
        decides = isinstance(event, Decision)
        if step in losses:
            parts.append(draw.loss(x - 6, (12 if decides else 30) - 6, 12))
        else:
            refused = step in refusals
            parts.append(_diamond(x, refused) if decides else _tick(x, event))
    return join(parts)


def spans(trace: Trace) -> Iterator[Span]:
    """Yield every copy, in the order of their ends; one still in flight ends last."""
    begun: dict[tuple[bool, int], int] = {}
    for step, event in enumerate(trace.events, 1):
        match event:
            case ev.Backup():
                begun[True, event.node] = step
            case ev.Load():
                begun.setdefault((False, event.end), step)
            case ev.BackupDone() | ev.LoadDone():
                key = (isinstance(event, ev.BackupDone), event.node)
                if key in begun:
                    yield Span(begun.pop(key), step, key[0])
    for (down, _), step in begun.items():
        yield Span(step, len(trace), down)


def _span(span: Span, steps: int) -> Markup:
    x, end = x_of(span.first, steps), x_of(span.last, steps)
    return draw.box(x, 43, max(end - x, 4), 10, "in_flight", span.down)


def _diamond(x: float, refused: bool) -> Markup:
    edge = LOOKS["refused"].ink if refused else theme.INK
    path = f"M{x:.1f} 6l5.5 6l-5.5 6l-5.5 -6z"
    whole = tag("path", d=path, fill=theme.BG, stroke=edge, stroke_width=1.4)
    if not refused:
        return whole
    return join([whole, tag("path", d=f"M{x - 5.5:.1f} 12h11l-5.5 6z", fill=edge)])


FILLS, FREES = (ev.Restore, ev.Load), (ev.Demote, ev.Delete)


def _tick(x: float, event: Event) -> Markup:
    on_device = isinstance(event, ev.Alloc | ev.Free) and event.tier == "L1"
    if isinstance(event, FILLS) or (on_device and isinstance(event, ev.Alloc)):
        ink = LOOKS["used"].ink
        return tag("rect", x=x - 2, y=21, width=4, height=9, fill=ink)
    if isinstance(event, FREES) or on_device:
        return draw.box(x - 2.5, 30, 5, 9, "evictable")
    return tag("rect", x=x - 0.75, y=27, width=1.5, height=6, fill=theme.INK2)


# --- far out


def _overview(trace: Trace, lang: Lang) -> Markup:
    told = series(trace)
    total = int(told.l1[0].sum())
    parts = [
        draw.words(0, 24, L1_USE.to(lang), fill=theme.INK3),
        draw.words(0, 55, LOST.to(lang), fill=theme.ALERT),
        draw.words(0, 68, REFUSED.to(lang), fill=theme.ALERT),
        _area(told.l1[:, :3].sum(axis=1), total, "url(#kv-evictable)"),
        _area(told.l1[:, :2].sum(axis=1), total, LOOKS["used"].ink),
    ]
    for steps, place in ((told.losses, "46v11"), (told.refusals, "63v5")):
        shown = [steps[at] for at in thinned(len(steps), 1000)]
        ticks = "".join(f"M{x_of(step, len(trace)):.1f} {place}" for step in shown)
        if ticks:
            parts.append(draw.stroke(ticks, LOOKS["refused"].ink, 1.4))
    wide, style = WIDTH - GUTTER, {"fill": "none", "stroke": theme.LINE2}
    parts.append(tag("rect", x=GUTTER, y=2, width=wide, height=42, **style))
    return join(parts)


def _area(counts: Counts, total: int, fill: str) -> Markup:
    steps = len(counts) - 1
    points = "".join(
        f"L{x_of(at, steps):.1f} {44 - 42 * counts[at] / total:.1f}"
        for at in thinned(len(counts), WIDTH)
    )
    path = f"M{GUTTER} 44{points}L{x_of(steps, steps):.1f} 44Z"
    return tag("path", d=path, fill=fill)
