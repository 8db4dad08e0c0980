"""Which slot holds the KV of a request's i-th token?

One row a request, as attention reads it. Rows are handed out lowest first.
Left out: which of the slots the tree owns (schedule/request.py).
"""

from __future__ import annotations

import numpy as np
import torch

from ..pages import Pages, slots_of


class ReqToTokenPool:
    """The table request x position -> slot.

    Shapes: `table` is a torch int32 tensor (num_rows, max_context). It grows by
    doubling, which the real engine's does not: its size is fixed at start-up.

    >>> rows = ReqToTokenPool(page_size=2)
    >>> row = rows.alloc()
    >>> rows.write(row, 0, np.array([4, 9], np.int32), 3)
    >>> rows.table[row, :3].tolist(), rows.pages(row, 0, 3).tolist()
    ([8, 9, 18], [4, 9])
    """

    def __init__(self, page_size: int = 1, rows: int = 8, context: int = 256) -> None:
        self.page_size = page_size
        self.table = torch.zeros((rows, context), dtype=torch.int32)
        self._free = list(range(rows))

    def alloc(self) -> int:
        """Return a free row, the lowest. Changes: the table may grow."""
        if not self._free:
            rows = len(self.table)
            self._free = list(range(rows, 2 * rows))
            self.table = torch.cat([self.table, torch.zeros_like(self.table)])
        return self._free.pop(0)

    def free(self, row: int) -> None:
        """Give the row back; its contents mean nothing from now on."""
        self._free.append(row)
        self._free.sort()

    def write(self, row: int, start: int, pages: Pages, end: int) -> None:
        """Let tokens start .. end-1 of the row lie in `pages`; start is whole pages.

        Changes: the row, and the table's width where `end` is beyond it.
        """
        if end > self.table.shape[1]:
            wider = torch.zeros((len(self.table), 2 * end), dtype=torch.int32)
            wider[:, : self.table.shape[1]] = self.table
            self.table = wider
        slots = slots_of(pages, self.page_size)[: end - start]
        self.table[row, start : start + len(slots)] = torch.from_numpy(slots)

    def pages(self, row: int, start: int, end: int) -> Pages:
        """Return the pages of tokens start .. end-1; start is whole pages."""
        slots = self.table[row, start : end : self.page_size].numpy()
        pages: Pages = slots // np.int32(self.page_size)
        pages.flags.writeable = False
        return pages
