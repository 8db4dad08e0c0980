"""Which pages of a tier are free, and which come next?

The free list is kept in the order of the real engines, so that page numbers can be
compared with recorded ones: taken from the head; returned to the tail by a pool of
tokens and by the host, to the head by a device pool of larger pages. One class serves
both tiers and every page size, since the tree only ever owns whole pages.
Left out: who owns a page that is not free.
"""

from __future__ import annotations

import numpy as np

from ..pages import FreeList, Pages
from ..record.events import Alloc, Free, SortFree, Tier
from ..record.trace import QUIET, Emitter


class PageAllocator:
    """The free pages of one tier.

    `available` are free pages, in tokens. `first` is 1 on the device, whose page 0 is
    padding, and 0 on the host. With `need_sort`, returned pages rest until the list
    runs short; then all are sorted. `paged`: the pages of one `free` call go back to
    the head, with `sort_freed` in ascending order.
    Source: SGLang 0.5.14, mem_cache/allocator/{token,paged}.py; pool_host/base.py.

    >>> pool = PageAllocator("L1", 4, 1)
    >>> pool.alloc(3).tolist(), pool.available
    ([1, 2, 3], 1)
    >>> pool.alloc(2) is None
    True
    """

    def __init__(
        self,
        tier: Tier,
        num_pages: int,
        first: int,
        *,
        page_size: int = 1,
        need_sort: bool = False,
        paged: bool = False,
        sort_freed: bool = True,
        emit: Emitter = QUIET,
    ) -> None:
        self.tier = tier
        self.num_pages = num_pages
        self.first = first
        self.page_size = page_size
        self.available = num_pages * page_size
        self._free = FreeList.of_range(first, first + num_pages)
        self._rested = FreeList()
        self._need_sort = need_sort
        self._paged = paged
        self._sort_freed = paged and sort_freed
        self._emit = emit

    @property
    def total(self) -> int:
        """All pages of the tier, in tokens."""
        return self.num_pages * self.page_size

    def alloc(self, num_pages: int) -> Pages | None:
        """Take pages from the head; None, and no change, if there are too few.

        Changes: the free list, `available`.
        """
        if num_pages == 0:
            return self._free.take(0)
        self.expect(num_pages)
        pages = self._free.take(num_pages)
        if pages is not None:
            self.available -= num_pages * self.page_size
            self._emit(Alloc, self.tier, pages)
        return pages

    def expect(self, num_pages: int) -> None:
        """Sort the pages at rest in, if fewer than `num_pages` are at hand: whoever
        is about to take pages may foresee more than it takes in the end.

        Changes: the order of the free list, with `need_sort`. Cost: a sort of the free
        pages, if it comes to that.
        """
        if len(self._rested) and num_pages > len(self._free):
            self._free = FreeList([np.sort(self.free_pages())])
            self._rested = FreeList()
            self._emit(SortFree, self.tier)

    def free(self, pages: Pages) -> None:
        """Return pages to the free list.

        Changes: the free list, `available`. The caller must own the pages, each named
        once: nothing is checked here.
        """
        if len(pages) == 0:
            return
        if self._sort_freed and len(pages) > 1:
            pages = pages.copy()
            pages.sort()
        target = self._rested if self._need_sort else self._free
        (target.put_first if self._paged else target.put)(pages)
        self.available += len(pages) * self.page_size
        self._emit(Free, self.tier, pages)

    def free_pages(self) -> Pages:
        """Return the free pages, next one first. Cost: O(free pages)."""
        return FreeList([self._free.to_pages(), self._rested.to_pages()]).to_pages()
