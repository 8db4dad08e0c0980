"""Whose is each page, told in few numbers?

What is handed out together is mostly passed on together: from a request to a node, from
node to node, back to the pool. So pages are named by their *turn*: the k-th page that a
tier ever handed out is turn k until it is handed out again. However scattered the pages
of a list lie, it is one stretch of turns; which pages those are is told once, as runs,
when they are handed out.
Left out: who the owners are (patches.py), how it travels (streams.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..pages import Pages, to_runs
from .columns import KEEP, LOOSE, ONWARD, PLACE, RESET

_NOWHERE = -(2**62)


class Stroke(NamedTuple):
    """`size` turns from `turn` on get one owner; `code` is what their positions do:
    KEEP, RESET, ONWARD, or PLACE and the first one's position."""

    turn: int
    size: int
    code: int


class Painting:
    """The pages of one tier. `first` and `count` are the runs handed out, in order."""

    def __init__(self, num_pages: int) -> None:
        self.owners = np.zeros(num_pages, np.int32)
        self.first: list[int] = []
        self.count: list[int] = []
        self._turns = np.full(num_pages, -1, np.int64)
        self._bases = np.full(num_pages, _NOWHERE, np.int64)  # position less turn
        self._handed = 0
        self._next = -1

    def hand_out(self, pages: Pages) -> None:
        """Give the pages the next turns. Raises: ValueError as `know`."""
        self.know(pages)
        for run in to_runs(pages):
            first, size = (run, 1) if isinstance(run, int) else run
            self.first.append(first)
            self.count.append(size)
        last = self._handed + len(pages)
        self._turns[pages] = np.arange(self._handed, last)
        self._handed = last

    def know(self, pages: Pages) -> None:
        """Raises: ValueError for pages that the tier does not have."""
        if len(pages) and (most := int(pages.max())) >= len(self.owners):
            raise ValueError(f"it names page {most}, which the pool does not have")

    def paint(self, pages: Pages, owner: int, position: int | None) -> list[Stroke]:
        """Give pages an owner; `position` is that of the first on its path, in pages,
        None to keep positions. Pages of nobody have none.

        A stroke covers pages that were alike before: of one owner, at positions that
        go on. Changes: this painting. Raises: ValueError for a page that the tier does
        not have, or never handed out.
        """
        self.know(pages)
        turns = self._turns[pages]
        if owner <= LOOSE and len(pages) > 1 and turns[-1] - turns[0] != len(pages) - 1:
            order = np.argsort(turns, kind="stable")
            pages, turns = pages[order], turns[order]
        if len(pages) and int(turns.min()) < 0:
            lost = int(pages[turns.argmin()])
            raise ValueError(f"it names page {lost}, which was never handed out")
        return list(self._strokes(pages, turns, owner, position))

    def _strokes(
        self, pages: Pages, turns: NDArray[np.int64], owner: int, position: int | None
    ) -> Iterator[Stroke]:
        old, was = self.owners[pages], self._bases[pages]
        for start, end in _stretches(turns, old, was):
            turn, base = int(turns[start]), int(was[start])
            now = base
            if owner <= LOOSE:
                now = _NOWHERE
            elif position is not None:
                now = position + start - turn
            if now == base and int(old[start]) == owner:
                continue
            code = KEEP if now == base else RESET
            if now not in (base, _NOWHERE):
                at = now + turn
                code = ONWARD if at == self._next else PLACE + at
                self._next = at + end - start
            else:
                self._next = -1
            self._bases[pages[start:end]] = now
            yield Stroke(turn, end - start, code)
        self.owners[pages] = owner


def _stretches(*columns: NDArray[np.generic]) -> list[tuple[int, int]]:
    """Return where turns go on and the other columns stay alike, as start and end."""
    turns, old, was = columns
    size = len(turns)
    if size <= 1:
        return [(0, 1)] if size else []
    breaks = np.flatnonzero(
        (turns[1:] - turns[:-1] != 1) | (old[1:] != old[:-1]) | (was[1:] != was[:-1])  # type: ignore[operator]
    )
    if len(breaks) == 0:
        return [(0, size)]
    cuts = (breaks + 1).tolist()
    return list(zip([0, *cuts], [*cuts, size], strict=True))
