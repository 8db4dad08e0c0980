"""Whose is each page, told in few numbers?

What is handed out together is mostly passed on together: from a request to a node, from
node to node, back to the pool. So pages are named by their *turn*: the k-th page that a
tier ever handed out is turn k until it is handed out again. However scattered the pages
of a list lie, it is one stretch of turns; which pages those are is told once, as runs
up or down, when they are handed out.
Left out: who the owners are (patches.py, block_patches.py), how it travels
(streams.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..pages import Pages
from .columns import FREE, KEEP, ONWARD, PLACE, RESET

Numbers = NDArray[np.int64]
_NOWHERE = -(2**62)


class Turns:
    """The latest turn of each page of a tier. `first` and `count` are the runs handed
    out, in order; a count below zero is that of a run down.

    >>> turns = Turns(9)
    >>> turns.hand_out(np.array([5, 6, 3, 2, 1], np.int32))
    >>> turns.first, turns.count
    ([5, 3], [2, -3])
    """

    def __init__(self, num_pages: int, unit: str = "page") -> None:
        self._unit = unit
        self.first: list[int] = []
        self.count: list[int] = []
        self._turns = np.full(num_pages, -1, np.int64)
        self._handed = 0

    def __len__(self) -> int:
        return len(self._turns)

    def hand_out(self, pages: Pages) -> None:
        """Give the pages the next turns. Raises: ValueError as `know`."""
        self.know(pages)
        first, count = _runs(pages)
        self.first += first
        self.count += count
        last = self._handed + len(pages)
        self._turns[pages] = np.arange(self._handed, last)
        self._handed = last

    def know(self, pages: Pages) -> None:
        """Raises: ValueError for pages that the tier does not have."""
        if len(pages) and (most := int(pages.max())) >= len(self._turns):
            raise ValueError(
                f"it names {self._unit} {most}, which the pool does not have"
            )

    def of(self, pages: Pages) -> Numbers:
        """Return the turns of the pages.

        Raises: ValueError for a page that the tier does not have, or never handed out.
        """
        self.know(pages)
        turns = self._turns[pages]
        if len(pages) and int(turns.min()) < 0:
            lost = int(pages[turns.argmin()])
            raise ValueError(
                f"it names {self._unit} {lost}, which was never handed out"
            )
        return turns


class Stroke(NamedTuple):
    """`size` turns from `turn` on get one owner; `code` is what their positions do:
    KEEP, RESET, ONWARD, or PLACE and the first one's position."""

    turn: int
    size: int
    code: int


class Painting:
    """The owner and the position of each page of a tier; several may share turns.

    `places` are positions plus one, 0 for none.
    """

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.owners = np.zeros(len(turns), np.int32)
        self.places = np.zeros(len(turns), np.int64)
        self._next = -1

    def paint(
        self, pages: Pages, owner: int, position: int | None = None
    ) -> list[Stroke]:
        """Give pages an owner; `position` is that of the first, the others' go on from
        there; None to keep them.

        A stroke covers pages that were alike before: of one owner, at positions that
        go on. Changes: this painting. Raises: ValueError as `Turns.of`.
        """
        turns, was = self.turns.of(pages), self.places[pages]
        now = was
        if position is not None:
            now = np.arange(position + 1, position + 1 + len(pages))
        return list(self._strokes(pages, turns, owner, was, now))

    def clear(self, pages: Pages, owner: int) -> list[Stroke]:
        """Give pages an owner, and no position. Changes, Raises: as `paint`."""
        turns = self.turns.of(pages)
        if len(pages) > 1 and turns[-1] - turns[0] != len(pages) - 1:
            order = np.argsort(turns, kind="stable")
            pages, turns = pages[order], turns[order]
        nowhere = np.zeros(len(pages), np.int64)
        was = self.places[pages]
        return list(self._strokes(pages, turns, owner, was, nowhere))

    def _strokes(
        self, pages: Pages, turns: Numbers, owner: int, was: Numbers, now: Numbers
    ) -> Iterator[Stroke]:
        old = self.owners[pages]
        self.owners[pages], self.places[pages] = owner, now
        for start, end in spans(turns, old, np.where(was, was - turns, _NOWHERE)):
            before, place = int(was[start]), int(now[start])
            if place == before and int(old[start]) == owner != FREE:
                continue
            code = KEEP if place == before else RESET
            if place not in (0, before):
                code = ONWARD if place == self._next else PLACE + place - 1
                self._next = place + end - start
            yield Stroke(int(turns[start]), end - start, code)


def _runs(pages: Pages) -> tuple[list[int], list[int]]:
    """Return the first page and the count of each run; below zero, counting down."""
    if len(pages) == 0:
        return [], []
    steps = np.diff(pages)
    near = np.abs(steps) == 1
    cut = ~near
    cut[1:] |= near[:-1] & (steps[1:] != steps[:-1])
    starts = np.concatenate(([0], np.flatnonzero(cut) + 1))
    sizes = np.diff(starts, append=len(pages))
    down = np.zeros(len(starts), bool)
    down[sizes > 1] = steps[starts[sizes > 1]] < 0
    return pages[starts].tolist(), np.where(down, -sizes, sizes).tolist()


def spans(turns: Numbers, *columns: NDArray[Any]) -> list[tuple[int, int]]:
    """Return start and end of each stretch where turns go on and columns stay alike.

    >>> spans(np.array([3, 4, 5, 9]), np.array([1, 1, 2, 2]))
    [(0, 2), (2, 3), (3, 4)]
    """
    size = len(turns)
    if size <= 1:
        return [(0, 1)] if size else []
    breaks = turns[1:] - turns[:-1] != 1
    for column in columns:
        breaks |= column[1:] != column[:-1]
    cuts = (np.flatnonzero(breaks) + 1).tolist()
    return list(zip([0, *cuts], [*cuts, size], strict=True))
