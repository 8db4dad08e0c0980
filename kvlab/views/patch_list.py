"""How are millions of patches kept until they travel?

As lists, one for each column of the state and each part of a patch. Columns of `DELTAS`
are written as what is added, the others as what the row is afterwards, because that
takes fewer bytes; the reader subtracts once, on opening.
Left out: which patches an event makes (patches.py).
"""

from __future__ import annotations

from ..pages import Pages
from ..record.events import Tier
from .columns import AT, BATCH, DELTAS, MOST
from .painting import Painting

_OWNER: dict[Tier, int] = {"L1": AT["owner1"], "L2": AT["owner2"]}


class PatchList:
    """`column` names the column of each patch, in order; `first`, `value`, `count`,
    `position` are lists for each column, in the same order. `pages` are the pools."""

    def __init__(self, num_pages: dict[Tier, int]) -> None:
        self.column: list[int] = []
        columns = range(BATCH + 1)
        self.first: list[list[int]] = [[] for _ in columns]
        self.value: list[list[int]] = [[] for _ in columns]
        self.count: list[list[int]] = [[] for _ in columns]
        self.position: list[list[int]] = [[] for _ in columns]
        self.pages = {tier: Painting(size) for tier, size in num_pages.items()}
        self._now: dict[tuple[int, int], int] = {}

    def _set(self, name: str, row: int, value: int) -> None:
        column = AT[name]
        delta = value - self._now.get((column, row), 0)
        if delta:
            self._now[column, row] = value
            self._add(column, row, delta if name in DELTAS else value)

    def _more(self, name: str, row: int, delta: int) -> None:
        self._set(name, row, self._now.get((AT[name], row), 0) + delta)

    def _add(self, column: int, row: int, value: int) -> None:
        if not -MOST < value < MOST:
            raise ValueError(f"{value} is more than the player counts ({MOST})")
        self.column.append(column)
        self.first[column].append(row)
        self.value[column].append(value)

    def _paint(
        self, tier: Tier, pages: Pages, owner: int, position: int | None = None
    ) -> None:
        """Give pages an owner. Raises: ValueError as `Painting.paint`."""
        column = _OWNER[tier]
        for turn, size, code in self.pages[tier].paint(pages, owner, position):
            self._add(column, turn, owner)
            self.count[column].append(size)
            self.position[column].append(code)
