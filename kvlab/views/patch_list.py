"""How are millions of patches kept until they travel?

As lists, one for each column of the state and each part of a patch. Columns of `deltas`
are written as what is added, the others as what the row is afterwards, because that
takes fewer bytes; the reader subtracts once, on opening.
Left out: which patches an event makes (patches.py, block_patches.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence

from ..pages import Pages
from .columns import MOST
from .painting import Painting, Stroke, Turns
from .streams import Stream


class PatchList(ABC):
    """`column` names the column of each patch, in order; `first`, `value`, `count`,
    `position` are lists for each column, in the same order.

    After `columns` come the patches `path` and `batch` (columns.py). `turns` are the
    tiers' pages; `paintings` the columns that cover pages. `requests` counts the
    requests by first mention.
    """

    def __init__(
        self,
        columns: Sequence[str],
        deltas: Collection[str],
        turns: Sequence[Turns],
        paintings: dict[str, Painting],
    ) -> None:
        self.columns, self.deltas = columns, deltas
        self.turns, self.paintings = turns, paintings
        self.at = {name: number for number, name in enumerate(columns)}
        self.path, self.batch = len(columns), len(columns) + 1
        self.column: list[int] = []
        self.first, self.value, self.count, self.position = (
            list[list[int]]([] for _ in range(self.batch + 1)) for _ in range(4)
        )
        self.requests: dict[str, int] = {}
        self._now: dict[tuple[int, int], int] = {}

    @abstractmethod
    def step(self, index: int) -> int:
        """Add the patches of the next event; return how many they are."""

    @abstractmethod
    def fold(self, index: int) -> None:
        """Fold that event. Raises: FoldError if it does not fit."""

    def place_of(self, request: str) -> int:
        """Return the request's place in the list of all requests named so far."""
        return self.requests.setdefault(request, len(self.requests))

    def streams(self, rising: Collection[str]) -> Iterator[Stream]:
        """Yield every column; values of `rising` ones are written as differences."""
        yield Stream("column", self.column)
        for column, name in enumerate((*self.columns, "path", "batch")):
            yield Stream(f"{name}.first", self.first[column], delta=True)
            yield Stream(f"{name}.value", self.value[column], delta=name in rising)
            if name in self.paintings:
                yield Stream(f"{name}.count", self.count[column])
                yield Stream(f"{name}.position", self.position[column])
        for tier, turns in enumerate(self.turns, 1):
            yield Stream(f"handed{tier}.first", turns.first, delta=True)
            yield Stream(f"handed{tier}.count", turns.count)

    def _get(self, name: str, row: int) -> int:
        return self._now.get((self.at[name], row), 0)

    def _set(self, name: str, row: int, value: int) -> None:
        column = self.at[name]
        delta = value - self._now.get((column, row), 0)
        if delta:
            self._now[column, row] = value
            self._add(column, row, delta if name in self.deltas else value)

    def _more(self, name: str, row: int, delta: int) -> None:
        self._set(name, row, self._get(name, row) + delta)

    def _add(self, column: int, row: int, value: int) -> None:
        if not -MOST < value < MOST:
            raise ValueError(f"{value} is more than the player counts ({MOST})")
        self.column.append(column)
        self.first[column].append(row)
        self.value[column].append(value)

    def _paint(
        self, name: str, pages: Pages, owner: int, position: int | None = None
    ) -> None:
        """Give pages an owner. Raises: ValueError as `Painting.paint`."""
        self._stroke(name, self.paintings[name].paint(pages, owner, position), owner)

    def _clear(self, name: str, pages: Pages, owner: int) -> None:
        """Give pages an owner, and no position. Raises: as `_paint`."""
        self._stroke(name, self.paintings[name].clear(pages, owner), owner)

    def _stroke(self, name: str, strokes: list[Stroke], owner: int) -> None:
        column = self.at[name]
        for turn, size, code in strokes:
            self._add(column, turn, owner)
            self.count[column].append(size)
            self.position[column].append(code)
