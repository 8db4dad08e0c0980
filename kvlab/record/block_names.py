"""How do the names of many blocks lie in one event?

A name in a trace is a number: the first 48 bits of a hash, or the place of a content in
the order of first registration. Those follow each other, so runs of them are stored as
(first, length) and the others as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

NameRuns = tuple[int | tuple[int, int], ...]


def as_runs(names: Iterable[int]) -> NameRuns:
    """Return the names, those that follow each other as (first, length).

    >>> as_runs([7, 8, 9, 4, 9])
    ((7, 3), 4, 9)
    """
    runs: list[tuple[int, int]] = []
    for name in names:
        if runs and name == runs[-1][0] + runs[-1][1]:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((name, 1))
    return tuple(first if length == 1 else (first, length) for first, length in runs)


def names_in(runs: NameRuns) -> Iterator[int]:
    """Yield the names that `as_runs` was given, one at a time, however long a run says
    that it is.

    >>> list(names_in(((7, 3), 4)))
    [7, 8, 9, 4]
    """
    for run in runs:
        if isinstance(run, int):
            yield run
        else:
            yield from range(run[0], run[0] + run[1])
