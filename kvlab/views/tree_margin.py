"""What stands around the tree of strips?

The measures, the axis of token positions, the prompt that an event is about, and two
lines on the node that it touches.
Left out: the nodes (tree_strip.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..record import events as ev
from ..record.moment import NodeState
from . import draw, theme
from .frame import Focus, Frame, node_of
from .markup import Markup, join, plain, tag
from .terms import terms_of
from .text import host_lock, slot_ranges
from .theme import Lang, State, Words
from .tree_layout import TreeLayout

WIDTH = 352
LEFT = 26
TOP = 56
TITLE = Words("Radix tree", "基数树")
NOTE = Words(
    "x = token position, a:b is without b · upper strip L1, lower L2",
    "横轴 = token 位置，a:b 不含 b · 上条 L1，下条 L2",
)


class Scale(NamedTuple):
    """How large everything is. Units: pixels; `token` is one token's width."""

    token: float
    row: float
    l1: float
    l2: float

    def x(self, position: int) -> float:
        """Return where a token position lies."""
        return LEFT + position * self.token

    def y(self, row: int) -> float:
        """Return where a row's upper deck begins."""
        return TOP + row * self.row + (16 if self.row >= 48 else 1)


def scale_of(layout: TreeLayout) -> Scale:
    """Return the measures for a whole run."""
    token = min(15.0, (WIDTH - LEFT - 10) / max(layout.depth, 8))
    if layout.num_rows <= 8:
        return Scale(token, 50, 16, 8)
    if layout.num_rows <= 40:
        return Scale(token, 15, 7, 4)
    row = max(2.0, 330 / layout.num_rows)
    return Scale(token, row, row * 0.6, row * 0.25)


def title(lang: Lang) -> Markup:
    """Return the picture's title and the note behind it."""
    title = TITLE.to(lang)
    after = theme.width(title, 13) + 8
    heavy = {"font_size": 12, "font_weight": 600}
    note = draw.words(after, 10, NOTE.to(lang), fill=theme.INK3)
    return join([draw.words(0, 10, title, **heavy), note])


def axis(layout: TreeLayout, scale: Scale, bottom: float) -> Markup:
    """Return token positions, at powers of two that leave room for their names."""
    step = 8
    while step * scale.token < 44:
        step *= 2
    depth = max(layout.depth, 8)
    style = {"text_anchor": "middle", "fill": theme.INK3}
    parts = []
    for position in range(0, depth, step):
        x = scale.x(position)
        parts.append(draw.stroke(f"M{x:g} 34V{bottom:g}", theme.LINE, 1))
        if (depth - position) * scale.token > 24:
            parts.append(draw.words(x, 29, theme.num(position), **style))
    last = min(scale.x(depth), WIDTH - theme.width(theme.num(depth), 11) / 2 - 2)
    parts.append(draw.words(last, 29, theme.num(depth), **style))
    return join(parts)


def asked(frame: Frame, scale: Scale, lang: Lang) -> Iterator[Markup]:
    """Yield the prompt that the event is about: on L1, on L2 alone, in no cache."""
    match frame.event:
        case ev.Match() as e:
            name, parts = "", (e.device, e.host, e.asked - e.device - e.host)
        case ev.Admit() as e:
            name, parts = e.request, (e.device_hit, e.host_hit, e.extend - e.host_hit)
        case ev.Prefill() as e:
            name, parts = e.request, _parts(e, frame)
        case _:
            return
    yield draw.code(0, 48, plain(name, 3))
    states: tuple[State, ...] = ("used", "host_only", "available")
    x = float(LEFT)
    for state, tokens in zip(states, parts, strict=True):
        if tokens > 0:
            wide = min(tokens * scale.token, WIDTH - x)
            yield draw.box(x, 37, wide, 14, state)
            yield from _share(x, wide, state, tokens, lang)
            x += wide


def _parts(e: ev.Prefill, frame: Frame) -> tuple[int, int, int]:
    """Return what of a prompt lies on L1, on L2 alone, in no cache."""
    terms = terms_of(e, frame.before)
    match terms["done"], terms["loaded"]:
        case int(done), int(coming):
            return done, coming, e.extend
    return e.device_hit, e.host_hit, e.extend - (e.host_hit - e.loaded)


SHARES: dict[State, Words] = {
    "used": Words("{} on L1", "L1 有 {}"),
    "host_only": Words("{} on L2 alone", "仅 L2 有 {}"),
    "available": Words("{} in no cache", "{} 个都不在"),
}


def _share(
    x: float, wide: float, state: State, tokens: int, lang: Lang
) -> Iterator[Markup]:
    count = theme.num(tokens)
    for text in (SHARES[state].to(lang).format(count), count):
        if theme.width(text, 11) + 14 < wide:
            yield _plate(x + wide / 2, 44, text)
            return


def _plate(x: float, y: float, text: str) -> Markup:
    wide = theme.width(text, 11) + 8
    return join(
        [
            tag("rect", x=x - wide / 2, y=y - 6, width=wide, height=12, fill=theme.BG),
            draw.words(x, y + 4, text, text_anchor="middle"),
        ]
    )


def details(frame: Frame, touched: Focus, y: float, lang: Lang) -> Iterator[Markup]:
    """Yield two lines on the deepest node that the event touches."""
    yield draw.stroke(f"M0 {y:g}H{WIDTH}", theme.LINE, 1)
    found = [node for id in touched.nodes if (node := node_of(frame.state, id))]
    if touched.gone is not None:
        found = [touched.gone]
    if not found:
        return
    node = max(found, key=lambda node: _first(frame, node))
    first = _first(frame, node)
    page = frame.header.config.page_size
    above = [
        f"tokens {theme.token_range(first, len(node.tokens))}",
        f"lock_ref {node.lock_ref}",
        *host_lock(node),
        f"{Words('hits', '命中').to(lang)} {node.hit_count}",
        f"priority {node.priority}",
    ]  # fmt: skip
    places = [("L1", node.pages), ("L2", node.host_pages)]
    below = [
        f"{tier} {slot_ranges(pages, page) if pages is not None else '–'}"
        for tier, pages in places
    ]
    yield draw.code(0, y + 17, f"n{node.id}", font_size=12)
    wide = theme.width(f"n{node.id}", 12, mono=True) + 10
    yield draw.words(wide, y + 17, " · ".join(above), fill=theme.INK2)
    yield draw.words(wide, y + 33, plain(" · ".join(below), 52), fill=theme.INK2)


def _first(frame: Frame, node: NodeState) -> int:
    """Return how many tokens lie before a node, dropped or not."""
    return sum(len(above.tokens) for above in frame.state.path(node.parent))
