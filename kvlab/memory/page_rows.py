"""Which pages hold a request, when nobody reads its slots?

The rows of `ReqToTokenPool` for runs that keep no bytes: a row is a list of pages, so
a request of 100,000 tokens in pages of 512 costs 200 numbers, not 100,000 slots.
Left out: the table that attention reads (req_to_token.py).
"""

from __future__ import annotations

import numpy as np

from ..pages import NO_PAGES, Pages
from .req_to_token import ReqToTokenPool


class PageRows(ReqToTokenPool):
    """Rows of pages behind the same calls. Rows are handed out newest first.

    >>> rows = PageRows(page_size=2)
    >>> row = rows.alloc()
    >>> rows.write(row, 0, np.array([4, 9], np.int32), 3)
    >>> rows.pages(row, 0, 3).tolist(), rows.pages(row, 2, 3).tolist()
    ([4, 9], [9])
    """

    def __init__(self, page_size: int = 1) -> None:
        super().__init__(page_size, rows=1, context=1)
        self._rows: list[Pages] = []
        self._sizes: list[int] = []
        self._idle: list[int] = []

    def alloc(self) -> int:
        """Return a free row. Changes: the rows may become more."""
        if self._idle:
            return self._idle.pop()
        self._rows.append(NO_PAGES)
        self._sizes.append(0)
        return len(self._rows) - 1

    def free(self, row: int) -> None:
        """Give the row back; its contents mean nothing from now on."""
        self._rows[row], self._sizes[row] = NO_PAGES, 0
        self._idle.append(row)

    def write(self, row: int, start: int, pages: Pages, end: int) -> None:
        """Let tokens start .. end-1 of the row lie in `pages`; start is whole pages.

        Changes: the row. Cost: O(pages of the row) where it grows.
        """
        first, size = start // self.page_size, self._sizes[row]
        pages = pages[: -(-end // self.page_size) - first]
        last = first + len(pages)
        if first == size > 0:
            self.append(row, pages)
            return
        if first > 0 or last < size:
            old = self._rows[row]
            pages = np.concatenate((old[:first], pages, old[last:size]))
        self._rows[row], self._sizes[row] = pages, len(pages)

    def append(self, row: int, pages: Pages) -> int:
        """Put pages behind those of the row; return how many stood there.

        Changes: the row; slices of it that somebody holds stay as they are.
        Cost: O(1) a page over many, since a row that grows has room to spare.
        """
        size = self._sizes[row]
        end = size + len(pages)
        if end > len(self._rows[row]):
            grown = np.empty(end + end // 2 + 8, np.int32)
            grown[:size] = self._rows[row][:size]
            self._rows[row] = grown
        self._rows[row][size:end] = pages
        self._sizes[row] = end
        return size

    def pages(self, row: int, start: int, end: int) -> Pages:
        """Return the pages of tokens start .. end-1; start is whole pages."""
        last = min(-(-end // self.page_size), self._sizes[row])
        return self._rows[row][start // self.page_size : last]
