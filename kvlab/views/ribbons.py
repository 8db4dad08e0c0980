"""How is a copy between the pools drawn while it is under way?

As ribbons from L2 to L1 in token order, cut wherever either side is cut, with chevrons
that point where the bytes go. A demotion copies nothing and has no ribbon.
Left out: the cells at both ends (pool_map.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..pages import Pages, to_runs
from ..record.moment import NodeState
from ..record.snapshot import State as Engine
from . import draw, theme
from .grid import LANE, Grid, Piece
from .markup import Markup, join, tag
from .theme import LOOKS, Lang, Words

LOAD, WRITE = Words("load", "取回"), Words("write", "备份")


class Strand(NamedTuple):
    """One piece of a copy: its left ends in L2 (`low`) and L1 (`high`), as x and y."""

    low: tuple[float, float]
    high: tuple[float, float]
    width: float


def ribbons(state: Engine, device: Grid, host: Grid) -> Iterator[Markup]:
    """Yield the ribbons of every copy in flight."""
    for node in moving(state):
        for strand in _strands(node, device, host):
            yield _ribbon(strand, up=node.loading is not None)


def moving(state: Engine) -> list[NodeState]:
    """Return the nodes whose bytes are on their way, in either direction."""
    nodes = (*state.nodes.values(), *state.orphans.values())
    return [n for n in nodes if n.writing is not None or n.loading is not None]


def link(state: Engine, device: Grid, lang: Lang) -> Markup:
    """Return both directions by name, with the tokens on their way."""
    nodes = moving(state)
    load = sum(len(node.tokens) for node in nodes if node.loading is not None)
    write = sum(len(node.tokens) for node in nodes if node.writing is not None)
    y = device.height + LANE / 2
    return join(
        [
            _direction(y - 6, True, LOAD.to(lang), load),
            _direction(y + 11, False, WRITE.to(lang), write),
        ]
    )


def _direction(y: float, up: bool, name: str, tokens: int) -> Markup:
    colour = LOOKS["in_flight"].edge if tokens else theme.INK3
    text = f"{name} {theme.num(tokens)}" if tokens else name
    style = {"font_weight": 600} if tokens else {"fill": theme.INK3}
    return join([draw.arrow(4, y - 4, up, colour), draw.words(12, y, text, **style)])


def _strands(node: NodeState, device: Grid, host: Grid) -> Iterator[Strand]:
    """Yield the pieces that are in one row and one run on both sides."""
    if node.pages is None or node.host_pages is None:
        return
    low, high = pieces_of(node.host_pages, host), pieces_of(node.pages, device)
    while low and high:
        a, b = low.pop(0), high.pop(0)
        count = min(a.cells, b.cells)
        wide = count * device.cell
        if wide >= 1:
            yield Strand((a.x, a.y), (b.x, b.y + device.row), wide)
        if a.cells > count:
            low.insert(0, Piece(a.x + wide, a.y, a.width - wide, a.cells - count))
        if b.cells > count:
            high.insert(0, Piece(b.x + wide, b.y, b.width - wide, b.cells - count))


def pieces_of(pages: Pages, grid: Grid) -> list[Piece]:
    """Return where the pages lie, in their order."""
    pairs = [(run, 1) if isinstance(run, int) else run for run in to_runs(pages)]
    return [piece for first, length in pairs for piece in grid.pieces(first, length)]


def _ribbon(strand: Strand, up: bool) -> Markup:
    (low, bottom), (high, top), wide = strand
    middle = (top + bottom) / 2
    band = (
        f"M{low:.1f} {bottom:g}C{low:.1f} {middle:g} {high:.1f} {middle:g} "
        f"{high:.1f} {top:g}h{wide:.1f}C{high + wide:.1f} {middle:g} "
        f"{low + wide:.1f} {middle:g} {low + wide:.1f} {bottom:g}Z"
    )
    style = {"fill_opacity": 0.3, "stroke": LOOKS["in_flight"].edge}
    parts = [tag("path", d=band, fill=theme.RIBBON, **style)]
    lanes = max(1, round(wide / 80))
    if wide >= 8:
        parts += [
            _chevron(strand, (lane + 0.5) / lanes * wide, at, up)
            for lane in range(lanes)
            for at in (0.14, 0.38, 0.62, 0.86)
        ]
    return join(parts)


def _chevron(strand: Strand, aside: float, at: float, up: bool) -> Markup:
    """Return a chevron `aside` from the left edge; `at` is 0 at L2, 1 at L1."""
    (low, bottom), (high, top), _ = strand
    across = 3 * at**2 - 2 * at**3
    x = low + aside + (high - low) * across
    y = bottom - (bottom - top) * (1.5 * at - 1.5 * at**2 + at**3)
    tip = -2 if up else 2
    path = f"M{x - 4:.1f} {y - tip:.1f}L{x:.1f} {y + tip:.1f}L{x + 4:.1f} {y - tip:.1f}"
    return draw.stroke(path, LOOKS["in_flight"].edge, 1.8)
