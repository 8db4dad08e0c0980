"""How does a step, or a stretch of steps, look without a player?

A step is its sentence above tree and pools, with what decided it on the right; a film
is several steps, one below the other, on one scale: what moves is what changed.
Left out: writing files (export.py), playing (page.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import TraceError
from ..record import events as ev
from ..record.folding import check_step
from ..record.replay import Replay
from ..record.trace import Trace
from . import draw, theme
from .card_svg import WIDE as CARD
from .card_svg import card_svg, decided, led_by
from .cards import card, card_text, kind_of
from .frame import Frame, frame_at, frame_of
from .grid import WIDTH as SLOTS
from .markup import Markup, plain
from .mistaken import amiss
from .pool_map import GUTTER, pools
from .sentences import describe
from .text import account_text, pools_text, tree_text
from .theme import Lang, Words
from .tree_layout import TreeLayout, tree_layout
from .tree_margin import WIDTH as TREE
from .tree_strip import tree_parts

MOST_STEPS = 60
"""A film has no more: its reader has to see all of it."""

START = Words("before the first event", "第一个事件之前")
EVENT = Words("event {number} · {kind}", "事件 {number} · {kind}")
_PAD, _HEAD = 16, 52
_POOLS = _PAD + TREE + 24
_WIDE = _POOLS + GUTTER + SLOTS + _PAD


def still(trace: Trace, step: int, lang: Lang = "en") -> Markup:
    """Return the moment after `step` events as one picture, with the card of the
    decision that it is or carries out. Raises: TraceError if the run has no such step.
    """
    frame = frame_at(trace, step)
    body, height = _moment(frame, tree_layout(trace), lang)
    why, tall = card_svg(trace, decided(trace, frame), lang, frame)
    height = max(height, _HEAD + 12 + tall + _PAD)
    body.append(draw.move(_WIDE, _HEAD + 12, why))
    wide = _WIDE + (CARD + _PAD if why else 0)
    title = describe(frame, lang)
    return draw.document([draw.page(), *body], wide, height, title, lang)


def still_text(trace: Trace, step: int, lang: Lang = "en") -> str:
    """Return the same as plain text."""
    frame = frame_at(trace, step)
    views = (tree_text, pools_text, account_text)
    parts = [f"{_named(frame, lang)}\n{describe(frame, lang)}"]
    parts += [view(frame, lang) for view in views]
    source = decided(trace, frame)
    if isinstance(source.event, ev.Decision):
        led = led_by(trace, source, frame, lang)
        told = card_text(card(trace, source, lang))
        parts.append("\n".join([*led, told, *amiss(trace, source, lang)]))
    return "\n\n".join(parts)


def film(trace: Trace, steps: Sequence[int], lang: Lang = "en") -> Markup:
    """Return the moments after so many events, one below the other.

    Raises: TraceError if the run has no such step, or they are not one to `MOST_STEPS`.
    """
    name = trace.header.name or "run"
    if not 0 < len(steps) <= MOST_STEPS:
        raise TraceError(
            name, f"a film of {len(steps)} steps",
            f"give two rising steps, at most {MOST_STEPS} in all: 10:20",
        )  # fmt: skip
    for step in steps:
        check_step(step, len(trace))
    replay, layout = Replay(trace), tree_layout(trace)
    body, y = [draw.page()], 0.0
    for step in steps:
        parts, height = _moment(frame_of(replay, step), layout, lang)
        body.append(draw.move(0, y, parts))
        y += height
        body.append(draw.stroke(f"M0 {y:g}H{_WIDE}", theme.LINE2, 1))
    return draw.document(body, _WIDE, y, plain(name), lang)


def _moment(frame: Frame, layout: TreeLayout, lang: Lang) -> tuple[list[Markup], float]:
    """Return sentence, tree and pools, and how high they are."""
    tree, tree_height = tree_parts(frame, layout, lang)
    pool, pool_height = pools(frame, lang)
    parts = [
        draw.words(_PAD, 20, _named(frame, lang), fill=theme.INK2, font_size=12),
        draw.words(_PAD, 41, describe(frame, lang), font_size=17, font_weight=600),
        draw.move(_PAD, _HEAD, tree),
        draw.move(_POOLS, _HEAD + 12, pool),
    ]
    return parts, _HEAD + max(tree_height, pool_height + 12) + _PAD


def _named(frame: Frame, lang: Lang) -> str:
    if frame.event is None:
        return START.to(lang)
    return EVENT.to(lang).format(number=frame.step, kind=kind_of(frame.event))
