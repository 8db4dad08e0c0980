"""Where does a pool's cell lie on the page?

A pool is rows of cells, one cell a page. How many cells a row holds depends on the size
of the device pool alone, so that both pools have cells of one width and no event moves
anything.
Left out: what the cells hold (slots.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

WIDTH = 448
LANE = 64
"""Pixels between the pools, where copies are seen to travel."""


class Piece(NamedTuple):
    """The part of a run that lies in one row. Units: pixels; `cells` is how many."""

    x: float
    y: float
    width: float
    cells: int


class Grid(NamedTuple):
    """The places of one pool. Units: pixels; `first` is the pool's first page."""

    first: int
    cells: int
    columns: int
    row: float
    gap: float
    top: float

    @property
    def cell(self) -> float:
        """The width of one cell."""
        return WIDTH / self.columns

    @property
    def height(self) -> float:
        """The height of all rows."""
        rows = -(-self.cells // self.columns)
        return max(rows * (self.row + self.gap) - self.gap, 0)

    def pieces(self, first: int, length: int) -> Iterator[Piece]:
        """Yield the pieces of a run of pages, top row first."""
        at, end = first - self.first, first - self.first + length
        while at < end:
            row, column = divmod(at, self.columns)
            count = min(end - at, self.columns - column)
            y = self.top + row * (self.row + self.gap)
            yield Piece(column * self.cell, y, count * self.cell, count)
            at += count


def grids(device_pages: int, host_pages: int) -> tuple[Grid, Grid]:
    """Return the places of L1 and of L2 below it.

    >>> device, host = grids(24, 48)
    >>> device.columns, host.height
    (24, 60)
    """
    columns, row, gap = _columns(device_pages)
    device = Grid(1, device_pages, columns, row, gap, 0)
    return device, Grid(0, host_pages, columns, row, gap, device.height + LANE)


def _columns(pages: int) -> tuple[int, float, float]:
    """Return cells a row, the height of a row and the gap below it."""
    if pages <= 48:
        return max(pages, 12), 28, 4
    if pages <= 192:
        return (32 if pages <= 128 else 48), 24, 4
    if pages <= 1200:
        return (80 if pages <= 480 else 112), 14, 2
    columns = max(150, -(-pages // 40))
    return columns, min(160 * columns // pages, 12), 0
