"""Which prefixes does the tree hold, how long are they, and where do they live?

A node is a strip of tokens: x is the position in the prompt, a node is as long as its
tokens. It has two decks, the upper one L1, the lower one L2, in the patterns of the
pools. A request that is matched lies above the tree on the same scale.

    up to 8 rows    50 px a row: names, locks, hits, ranges where they fit
    up to 40        15 px: two decks, names where they fit
    more            slivers of 2 px or more

Left out: on which row a node lies (tree_layout.py); a tree of boxes (tree_graph.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..record.moment import ROOT, NodeState
from . import draw, theme
from .frame import Focus, Frame, focus, given_up
from .markup import Markup, join, tag
from .slots import l1_state, l2_state
from .theme import LOOKS, Lang, State, Words
from .tree_layout import TreeLayout
from .tree_margin import (
    LEFT,
    TITLE,
    TOP,
    WIDTH,
    Scale,
    asked,
    axis,
    details,
    scale_of,
    title,
)

EMPTY = Words("The tree is empty: it grows with inserts.", "树是空的，插入后长出节点。")


class Strip(NamedTuple):
    """One node in its place. Units: pixels."""

    node: NodeState
    x: float
    y: float
    width: float
    first: int
    l1: State | None
    l2: State | None
    touched: bool


def tree_strip(frame: Frame, layout: TreeLayout, lang: Lang = "en") -> Markup:
    """Return the tree as a picture whose size no event changes."""
    parts, height = tree_parts(frame, layout, lang)
    return draw.document(parts, WIDTH, height, TITLE.to(lang), lang)


def tree_parts(
    frame: Frame, layout: TreeLayout, lang: Lang = "en"
) -> tuple[list[Markup], float]:
    """Return the same as a drawing and its height, to be put beside others."""
    scale, touched = scale_of(layout), focus(frame)
    bottom = TOP + max(layout.num_rows, 1) * scale.row
    strips = list(_strips(frame, layout, scale, touched))
    parts = [
        title(lang),
        axis(layout, scale, bottom),
        *asked(frame, scale, lang),
        *_lines(strips, frame, layout, scale),
        *(_decks(strip, scale) for strip in strips),
        *_rings(strips, scale),
        *_labels(strips, layout, scale, lang),
        *details(frame, touched, bottom + 12, lang),
    ]
    if not strips:
        style = {"fill": theme.INK3, "font_size": 12}
        parts.append(draw.words(LEFT, TOP + 24, EMPTY.to(lang), **style))
    return parts, bottom + 52


def _strips(
    frame: Frame, layout: TreeLayout, scale: Scale, touched: Focus
) -> Iterator[Strip]:
    """Yield every node that lives, and the one that this event took away."""
    ends, given = _ends(frame), given_up(frame.event)
    gone = [] if touched.gone is None else [touched.gone]
    for node in (*frame.state.nodes.values(), *gone):
        first = ends[node.parent]
        wide = len(node.tokens) * scale.token - (2 if scale.row >= 15 else 0.6)
        l1, l2 = l1_state(node), l2_state(node)
        if gone and node is gone[0]:
            l1, l2 = l1 and "lost", l2 and "lost"
        if given is not None and given[1] == node.id:
            l1, l2 = ("left", l2) if given[0] == "L1" else (l1, "left")
        x, y = scale.x(first), scale.y(layout.rows[node.id])
        hot = node.id in touched.nodes
        yield Strip(node, x, y, max(wide, 0.6), first, l1, l2, hot)


def _ends(frame: Frame) -> dict[int, int]:
    """Return where each node ends, as tokens from the start. Cost: O(nodes)."""
    nodes = frame.state.nodes
    ends = {ROOT: 0}
    for id in nodes:
        chain, here = [], id
        while here not in ends:
            chain.append(here)
            here = nodes[here].parent
        for step in reversed(chain):
            ends[step] = ends[nodes[step].parent] + len(nodes[step].tokens)
    return ends


def _lines(
    strips: list[Strip], frame: Frame, layout: TreeLayout, scale: Scale
) -> Iterator[Markup]:
    """Yield the lines from parents to children that begin a row of their own."""
    roots = [strip for strip in strips if strip.node.parent == ROOT]
    heavy = 1.5 if scale.row >= 48 else 1.0 if scale.row >= 15 else 0.6
    colour = theme.INK2 if scale.row >= 15 else theme.LINE2
    if roots:
        ys = [strip.y + scale.l1 / 2 for strip in roots]
        side = LEFT - 8
        path = f"M{side} {min(ys):g}V{max(ys):g}"
        path += "".join(f"M{side} {y:g}H{LEFT}" for y in ys)
        yield draw.stroke(path, colour, heavy)
    for strip in strips:
        parent = strip.node.parent
        if parent == ROOT or layout.rows[parent] == layout.rows[strip.node.id]:
            continue
        top = scale.y(layout.rows[parent]) + scale.l1 + scale.l2
        path = f"M{strip.x - 4:g} {top:g}V{strip.y + scale.l1 / 2:g}H{strip.x:g}"
        yield draw.stroke(path, colour, heavy)


# --- the nodes


def _decks(strip: Strip, scale: Scale) -> Markup:
    x, y, wide = strip.x, strip.y, strip.width
    if scale.row < 15:
        return _sliver(strip, scale)
    upper = _deck(x, y, wide, scale.l1, strip.l1)
    lower = _deck(x, y + scale.l1 + 1, wide, scale.l2, strip.l2)
    parts = [upper, lower]
    if "lost" in (strip.l1, strip.l2):
        parts.append(draw.cross(x + 1, y + 1, wide - 2, scale.l1 + scale.l2 - 1))
    if scale.token >= 6 and scale.row >= 48 and strip.l1 not in ("lost", "promised"):
        lines = "".join(
            f"M{x + place * scale.token:.1f} {y + 1:g}v{scale.l1 - 2:g}"
            for place in range(1, len(strip.node.tokens))
        )
        parts.append(draw.stroke(lines or "M0 0", theme.BG, 1, opacity=0.45))
    if strip.node.host_lock_ref and scale.row >= 48 and wide >= 14:
        parts.append(_host_lock(x + wide - 2, y + scale.l1 + 1))
    return join(parts)


def _host_lock(right: float, y: float) -> Markup:
    """Return the lock on an L2 deck whose upper edge is y, within the deck's edges."""
    ground = tag("rect", x=right - 9, y=y + 1, width=9, height=6, fill=theme.BG)
    return join([ground, draw.lock(right - 7.2, y + 0.9, 0.66)])


def _deck(x: float, y: float, wide: float, tall: float, state: State | None) -> Markup:
    """Return one deck; what is lost gets one cross over both, not one for each."""
    if state == "lost":
        look = LOOKS["lost"]
        return draw.box(x, y, wide, tall, "available", stroke=look.edge)
    return draw.box(x, y, wide, tall, state or "available", down=tall < 16)


def _sliver(strip: Strip, scale: Scale) -> Markup:
    """Return a node too thin for edges: its decks in their patterns alone."""
    decks = [(strip.l1, 0.0, scale.l1), (strip.l2, scale.l1, scale.l2)]
    return join(
        tag(
            "rect", x=strip.x, y=strip.y + at, width=strip.width, height=tall,
            fill=theme.fill(state) if state else theme.LINE,
        )
        for state, at, tall in decks
    )  # fmt: skip


def _rings(strips: list[Strip], scale: Scale) -> Iterator[Markup]:
    for strip in strips:
        if strip.touched:
            tall = scale.l1 + scale.l2 + 1
            yield draw.ring(strip.x - 1, strip.y - 1, strip.width + 2, tall + 2)


def _labels(
    strips: list[Strip], layout: TreeLayout, scale: Scale, lang: Lang
) -> Iterator[Markup]:
    """Yield names, locks, hits and ranges; what does not fit is left out, the range
    first, and a row's names never overlap."""
    if scale.row < 48:
        return
    ends: dict[int, float] = {}
    for strip in sorted(strips, key=lambda strip: strip.x):
        row = layout.rows[strip.node.id]
        if strip.x < ends.get(row, 0):
            continue
        drawn, ends[row] = _label(strip, lang)
        yield drawn


def _label(strip: Strip, lang: Lang) -> tuple[Markup, float]:
    """Return the line above a node and where it ends."""
    node, y = strip.node, strip.y - 5
    name = f"n{node.id}"
    parts = [draw.code(strip.x, y, name)]
    x = strip.x + theme.width(name, 11, mono=True) + 5
    right = strip.x + strip.width
    if node.lock_ref:
        parts.append(draw.lock(x, y - 9.5))
        parts.append(draw.words(x + 11, y, node.lock_ref, font_weight=600))
        x += 18 + theme.width(f"{node.lock_ref}", 11)
    if "lost" in (strip.l1, strip.l2):
        alert = {"font_weight": 600, "fill": theme.ALERT}
        parts.append(draw.words(x, y, LOOKS["lost"].name.to(lang), **alert))
        return join(parts), right
    hits = f"×{node.hit_count}"
    if right - x > theme.width(hits, 11):
        style = {"text_anchor": "end", "fill": theme.INK3}
        parts.append(draw.words(right - 2, y, hits, **style))
        right -= theme.width(hits, 11) + 6
    span = theme.token_range(strip.first, len(node.tokens))
    if right - x > theme.width(span, 11) + 4:
        parts.append(draw.words(x, y, span, fill=theme.INK3))
    return join(parts), x + 4
