"""How do lists of blocks lie on disk?

A request gives its blocks back last first, so the free queue hands them out counting
down, and the next time up again. Both are runs: [first, length], and a length below
zero counts down. What is no run is its numbers.
Left out: the lists of the tree's pages, which count up only (pages.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..config import MAX_TOKENS
from ..pages import NO_PAGES, Pages

BlockRuns = list[int | tuple[int, int]]


def to_block_runs(blocks: Any) -> BlockRuns:
    """Return the list as runs up and down.

    Raises: NotImplementedError for what is no list of blocks.

    >>> to_block_runs(np.array([5, 6, 7, 2, 9, 8], np.int32))
    [(5, 3), 2, (9, -2)]
    """
    if not isinstance(blocks, np.ndarray):
        raise NotImplementedError(f"an event holds a {type(blocks).__name__}")
    numbers: list[int] = blocks.tolist()
    runs: BlockRuns = []
    at, end = 0, len(numbers)
    while at < end:
        first, size, step = numbers[at], 1, 0
        if at + 1 < end and abs(numbers[at + 1] - first) == 1:
            step = numbers[at + 1] - first
            while at + size < end and numbers[at + size] == first + step * size:
                size += 1
        runs.append(first if size == 1 else (first, step * size))
        at += size
    return runs


def block_list_reader(longest: int) -> Callable[[type, Any], Pages]:
    """Return what msgspec calls for each list; none has more than `longest` entries.

    It raises ValueError for what is no list of runs, and msgspec names the place.
    """

    def read(kind: type, runs: Any) -> Pages:
        pairs = [_checked(run) for run in runs]
        if sum(abs(size) for _, size in pairs) > longest:
            raise ValueError(f"a list is longer than the {longest} blocks of the pools")
        if not pairs:
            return NO_PAGES
        parts = [
            first + np.arange(abs(size), dtype=np.int32) * np.sign(size)
            for first, size in pairs
        ]
        blocks: Pages = np.concatenate(parts).astype(np.int32)
        blocks.flags.writeable = False
        return blocks

    return read


def _checked(run: Any) -> tuple[int, int]:
    first, size = (run, 1) if isinstance(run, int) else run
    if not (type(first) is int is type(size) and first >= 0 and size):
        raise ValueError(f"{run!r} is not a number or [first, length]")
    last = first + size - (1 if size > 0 else -1)
    if not (0 <= last <= MAX_TOKENS and first <= MAX_TOKENS):
        raise ValueError(f"{run!r} goes beyond 0 to {MAX_TOKENS}")
    return first, size
