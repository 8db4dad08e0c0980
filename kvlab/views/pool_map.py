"""Which slot holds what, in both pools, right now?

L1 lies above L2. One cell is one page (one slot where page_size is 1), one rectangle
one run of cells that look alike. A 3 px edge that faces the other pool says that a twin
lives there.

    cell >= 9 px    cells and labels
    3 to 9 px       labels where they fit
    under 3 px      patterns run on, runs are parted by a gap, no twin edges
    under 1 px      one pixel stands for several cells, and the title says so

Drawn as SVG by hand, not with plotly: patterns must run on across 10,000 slots, a
ribbon joins two pools, a picture weighs kilobytes and is ready in milliseconds, and the
same strings serve stills, notebooks and pages without any script.
Left out: time (timeline.py), prefixes (tree_strip.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..record import events as ev
from ..record.events import Tier
from . import draw, theme
from .account import EQUATION_HEIGHT, PLACES, bar, device_sum, equation, host_sum
from .contents import TOLD, Contents, by_contents, contents_lines
from .frame import Frame
from .grid import WIDTH, Grid, grids
from .markup import NOTHING, Markup, join, tag
from .ribbons import link, pieces_of, ribbons
from .slots import Run, runs
from .theme import LOOKS, Lang, Words

GUTTER = 60
MARKS = ("ring", "over", "twin", "host_lock")
TITLE = Words("Memory", "内存")


def pool_map(frame: Frame, lang: Lang = "en", still: bool = False) -> Markup:
    """Return both pools with their accounts; `still`: with legend, on white."""
    return _document(*pools(frame, lang), lang, still)


def contents_map(
    frame: Frame, contents: Contents | None, lang: Lang = "en", still: bool = False
) -> Markup:
    """Return the same, coloured by what the slots hold, and the wrong ones in words."""
    body, height = pools(
        frame,
        lang,
        lambda found, tier: by_contents(
            found, tier, contents, frame.header.config.page_size
        ),
    )
    for number, line in enumerate(contents_lines(contents, lang)):
        tells = 0 < number <= TOLD
        text, ink = (f"! {line}", theme.ALERT) if tells else (line, theme.INK2)
        body.append(draw.words(GUTTER, height + 16 + 16 * number, text, fill=ink))
    return _document(body, height + 16 * (TOLD + 2) + 8, lang, still, True)


def _document(
    body: list[Markup], height: float, lang: Lang, still: bool, contents: bool = False
) -> Markup:
    parts = [draw.move(16, 12, body)]
    wide = WIDTH + GUTTER + 32
    height += 24
    if still:
        drawn, tall = draw.legend(lang, WIDTH, contents, MARKS)
        parts = [draw.page(), *parts, draw.move(16 + GUTTER, height + 4, [drawn])]
        height += tall + 20
    return draw.document(parts, wide, height, TITLE.to(lang), lang)


Recolour = Callable[[list[Run], Tier], list[Run]]


def pools(
    frame: Frame, lang: Lang = "en", recolour: Recolour = lambda found, tier: found
) -> tuple[list[Markup], float]:
    """Return the drawing and its height, which no event changes."""
    state = frame.state
    device, host = grids(state.pools["L1"].num_pages, state.pools["L2"].num_pages)
    top = 20 + 14 + 6 + EQUATION_HEIGHT + 12
    account = device_sum(frame)
    parts = [
        _title(frame, device, lang),
        draw.move(GUTTER, 20, [bar(account, WIDTH, 14)]),
        draw.move(GUTTER, 40, [equation(account, lang, WIDTH)]),
        draw.move(0, top, _names(frame, device, host, lang)),
        draw.move(GUTTER, top, _cells(frame, device, host, recolour)),
    ]
    if not host.cells:
        return parts, top + device.height
    below = top + host.top + host.height + 12
    account = host_sum(frame)
    parts += [
        draw.move(GUTTER, below, [bar(account, WIDTH, 8)]),
        draw.move(GUTTER, below + 14, [equation(account, lang, WIDTH)]),
    ]
    return parts, below + 14 + EQUATION_HEIGHT


def _title(frame: Frame, grid: Grid, lang: Lang) -> Markup:
    title = TITLE.to(lang)
    style = {"font_size": 12, "font_weight": 600}
    note = _note(grid, frame.header.config.page_size).to(lang)
    x = theme.width(title, 13) + 8
    return join(
        [draw.words(0, 10, title, **style), draw.words(x, 10, note, fill=theme.INK3)]
    )


def _note(grid: Grid, page_size: int) -> Words:
    if grid.cell < 1:
        many = theme.num(1 / grid.cell)
        return Words(f"one pixel = {many} cells", f"一个像素 = {many} 格")
    if grid.cell < 9:
        row = theme.num(grid.columns)
        return Words(f"{row} cells a row", f"每行 {row} 格")
    if page_size > 1:
        return Words(
            f"one cell = one page of {page_size} slots",
            f"一格 = 一页 = {page_size} 个槽位",
        )
    return Words(
        "one cell = one slot = the KV of one token",
        "一格 = 一个槽位 = 一个 token 的 KV",
    )


def _names(frame: Frame, device: Grid, host: Grid, lang: Lang) -> list[Markup]:
    """Return what stands left of the pools: which is which, and what travels."""
    if not host.cells:
        return [_name("L1", device, lang)]
    return [
        _name("L1", device, lang),
        _name("L2", host, lang),
        link(frame.state, device, lang),
    ]


def _name(tier: Tier, grid: Grid, lang: Lang) -> Markup:
    y = grid.top + min(grid.height / 2 + 2, max(grid.height - 9, 9))
    return join(
        [
            draw.words(0, y, tier, font_size=13, font_weight=600),
            draw.words(0, y + 14, PLACES[tier].to(lang), fill=theme.INK3),
        ]
    )


def _cells(frame: Frame, device: Grid, host: Grid, recolour: Recolour) -> list[Markup]:
    return [
        _ground(device),
        _ground(host),
        *ribbons(frame.state, device, host),
        _pool(recolour(runs(frame, "L1"), "L1"), "L1", device),
        _pool(recolour(runs(frame, "L2"), "L2"), "L2", host),
        *_overshoot(frame, device, host),
    ]


def _overshoot(frame: Frame, device: Grid, host: Grid) -> Iterator[Markup]:
    """Yield the outlines of what an eviction freed beyond what was asked."""
    if not isinstance(frame.event, ev.Evicted):
        return
    grid = device if frame.event.tier == "L1" else host
    for piece in pieces_of(frame.over, grid):
        yield draw.overshoot(piece.x, piece.y, piece.width, grid.row)


def _ground(grid: Grid) -> Markup:
    """Return the empty pool: every cell there is."""
    if not grid.cells:
        return NOTHING
    if grid.cell < 3:
        return tag(
            "rect", x=-0.5, y=grid.top - 0.5, width=WIDTH + 1, height=grid.height + 1,
            fill="none", stroke=theme.LINE2,
        )  # fmt: skip
    parts = []
    for piece in grid.pieces(grid.first, grid.cells):
        parts.append(draw.box(piece.x, piece.y, piece.width, grid.row, "available"))
        parts.append(_lines(piece.x, piece.y, piece.cells, grid, theme.LINE2))
    return join(parts)


def _lines(x: float, y: float, count: int, grid: Grid, colour: str) -> Markup:
    """Return the lines between cells, where there is room for them."""
    if grid.cell < 9 or count < 2:
        return NOTHING
    path = "".join(
        f"M{x + place * grid.cell:.1f} {y + 2:g}v{grid.row - 4:g}"
        for place in range(1, count)
    )
    return draw.stroke(path, colour, 1, opacity=0.6)


def _pool(found: list[Run], tier: Tier, grid: Grid) -> Markup:
    if grid.cell < 3:
        return join(_fine(found, tier, grid))
    taken = [_run(run, tier, grid) for run in found if run.state != "available"]
    rings = [
        draw.ring(piece.x, piece.y, piece.width, grid.row)
        for run in found
        if run.hot
        for piece in grid.pieces(run.first, run.length)
    ]
    return join([*taken, *rings, *_labels(found, tier, grid)])


def _run(run: Run, tier: Tier, grid: Grid) -> Markup:
    parts = []
    for piece in grid.pieces(run.first, run.length):
        down = tier == "L2"
        parts.append(draw.box(piece.x, piece.y, piece.width, grid.row, run.state, down))
        if run.state not in ("lost", "in_flight"):
            parts.append(_lines(piece.x, piece.y, piece.cells, grid, theme.BG))
        if run.twin:
            edge = piece.y + grid.row - 3.5 if tier == "L1" else piece.y + 0.5
            parts.append(
                tag(
                    "rect", x=piece.x + 1, y=edge, width=piece.width - 2, height=3,
                    fill=LOOKS[run.twin].ink,
                )
            )  # fmt: skip
    return join(parts)


def _labels(found: list[Run], tier: Tier, grid: Grid) -> Iterator[Markup]:
    size = 11 if grid.row >= 18 else 9.5
    for run in found:
        shift = 0 if not run.twin else -1 if tier == "L1" else 1
        room = theme.width(run.label, size, mono=True) + 9
        for piece in grid.pieces(run.first, run.length):
            x, y = piece.x + piece.width / 2, piece.y + grid.row / 2 + shift
            if run.locks:
                yield _locked(run, x, y, piece.width, size)
            elif run.label and piece.width > room:
                yield draw.plate(x, y, run.label, size)


def _locked(run: Run, x: float, y: float, room: float, size: float) -> Markup:
    """Return the plate of a run with a lock on its host copy; without the name where
    the room is too narrow for both."""
    for label in (run.label, ""):
        if draw.locked_width(label, run.locks, size) + 2 < room:
            return draw.locked_plate(x, y, label, run.locks, size)
    return NOTHING


def _fine(found: list[Run], tier: Tier, grid: Grid) -> Iterator[Markup]:
    """Yield the runs of a pool whose cells are too small for edges of their own.

    Under a pixel a cell, a run is drawn if the edge of a pixel falls into it.
    """
    for run in found:
        if run.state == "available":
            continue
        for piece in grid.pieces(run.first, run.length):
            x, wide = piece.x, piece.width
            if grid.cell < 1:
                x, wide = round(x), round(piece.x + wide) - round(x)
            if wide > 0:
                yield tag(
                    "rect", x=x, y=piece.y, width=wide - (1 if wide > 2 else 0),
                    height=grid.row, fill=theme.fill(run.state, tier == "L2"),
                    shape_rendering="crispEdges",
                )  # fmt: skip
