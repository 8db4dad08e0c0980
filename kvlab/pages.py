"""How are places in a pool named, listed and handed out?

A *slot* holds the KV of one token. A *page* is `page_size` neighbouring slots and the
unit in which a pool is handed out: page p is slots p*page_size to
p*page_size + page_size - 1. With page_size 1 a page is a slot. The tree keeps pages,
because both engines cut everything it stores to whole pages; slots are derived.

A list of pages is an int32 array. Lists are cut and joined but never written to, so
they may be shared by the engine, the trace and every picture.
Left out: which pages exist and who owns them (memory/allocator.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Pages = NDArray[np.int32]
Runs = list[int | tuple[int, int]]

NO_PAGES: Pages = np.empty(0, np.int32)
NO_PAGES.flags.writeable = False


def as_pages(numbers: Iterable[int]) -> Pages:
    """Return the numbers as a read-only list of pages."""
    pages = np.fromiter(numbers, np.int32)
    pages.flags.writeable = False
    return pages


def join(parts: Sequence[Pages]) -> Pages:
    """Return the parts as one list, without a copy when there is one part."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else NO_PAGES


def slots_of(pages: Pages, page_size: int) -> NDArray[np.int64]:
    """Return the slots of the pages, in order.

    Shapes: (n,) pages -> (n * page_size,) slots.

    >>> slots_of(as_pages([3, 1]), 2).tolist()
    [6, 7, 2, 3]
    """
    if page_size == 1:
        return pages.astype(np.int64)
    first = pages.astype(np.int64)[:, None] * page_size
    return (first + np.arange(page_size)).reshape(-1)


def to_runs(numbers: NDArray[np.int32]) -> Runs:
    """Return the numbers with each stretch of neighbours as (first, length).

    >>> to_runs(as_pages([5, 6, 7, 2]))
    [(5, 3), 2]
    """
    if len(numbers) == 0:
        return []
    cuts = np.flatnonzero(np.diff(numbers) != 1) + 1
    starts = np.concatenate(([0], cuts))
    lengths = np.diff(np.append(starts, len(numbers)))
    first = numbers[starts]
    return [
        a if n == 1 else (a, n)
        for a, n in zip(first.tolist(), lengths.tolist(), strict=True)
    ]


def from_runs(runs: Runs) -> NDArray[np.int32]:
    """Return the numbers that `to_runs` was given.

    >>> from_runs([(5, 3), 2]).tolist()
    [5, 6, 7, 2]
    """
    pairs = [(run, 1) if isinstance(run, int) else run for run in runs]
    first, length = np.array(pairs, np.int64).reshape(-1, 2).T
    offset = np.cumsum(length) - length
    numbers = np.arange(length.sum()) + np.repeat(first - offset, length)
    pages: Pages = numbers.astype(np.int32)
    pages.flags.writeable = False
    return pages


class FreeList:
    """The queue of free pages: taken from the head, returned to the tail or the head.

    Cost: `put`, `put_first` O(1); `take` O(1) plus the parts that it joins.

    >>> free = FreeList.of_range(1, 5)
    >>> free.take(2).tolist()
    [1, 2]
    >>> free.put(as_pages([2, 1])); free.to_pages().tolist()
    [3, 4, 2, 1]
    """

    __slots__ = ("_parts", "_size")

    def __init__(self, parts: Iterable[Pages] = ()) -> None:
        self._parts = deque(parts)
        self._size = sum(map(len, self._parts))

    @classmethod
    def of_range(cls, first: int, end: int) -> FreeList:
        """Return the queue first, first + 1, ..., end - 1."""
        pages = np.arange(first, end, dtype=np.int32)
        pages.flags.writeable = False
        return cls([pages] if len(pages) else [])

    def __len__(self) -> int:
        return self._size

    def take(self, count: int) -> Pages | None:
        """Return the first `count` pages and forget them; None if there are fewer."""
        if count > self._size:
            return None
        self._size -= count
        parts: list[Pages] = []
        while count:
            head = self._parts[0]
            if len(head) > count:
                parts.append(head[:count])
                self._parts[0] = head[count:]
                break
            parts.append(self._parts.popleft())
            count -= len(head)
        return join(parts)

    def put(self, pages: Pages) -> None:
        """Append the pages in the order given."""
        if len(pages):
            self._parts.append(pages)
            self._size += len(pages)

    def put_first(self, pages: Pages) -> None:
        """Put the pages before all others, in the order given."""
        if len(pages):
            self._parts.appendleft(pages)
            self._size += len(pages)

    def copy(self) -> FreeList:
        """Return an independent queue that shares the parts. Cost: O(parts)."""
        return FreeList(self._parts)

    def to_pages(self) -> Pages:
        """Return the whole queue, head first. Cost: O(free pages)."""
        return join(list(self._parts))
