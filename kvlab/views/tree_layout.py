"""On which row does each node of a run lie, from its birth to its end?

The rows are those of one prefix map of everything that was ever in the tree: prefixes
that came back lie where they were, first-born children continue their parent's row, and
the rows of a subtree are neighbours. So nothing jumps while a run is played: a node
keeps its row for life, and a split only cuts it. Where that would take more rows than
can be read, rows that are never filled at the same time are laid into one.
Left out: drawing (tree_strip.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..record import events as ev
from ..record.events import Tokens
from ..record.moment import ROOT
from ..record.trace import Trace


class TreeLayout(NamedTuple):
    """The row of every node that ever lives, how many rows, and the longest path.

    Units: `depth` in tokens.
    """

    rows: dict[int, int]
    num_rows: int
    depth: int


READABLE = 8
"""So many rows have room for names."""


@dataclass(eq=False, slots=True)
class _Stretch:
    """Tokens that no branch ever cuts; `start` is how many lie before them, `below`
    what follows, by its first token, in order of birth."""

    tokens: Tokens
    start: int
    above: _Stretch | None
    below: dict[int, _Stretch] = field(default_factory=dict)
    row: int = 0

    @property
    def end(self) -> int:
        return self.start + len(self.tokens)


def tree_layout(trace: Trace) -> TreeLayout:
    """Return the places of all nodes of the run. Cost: O(events + tokens added)."""
    tree_map = _Map()
    for event in trace.events:
        if isinstance(event, ev.Add):
            tree_map.add(event)
        elif isinstance(event, ev.Split):
            tree_map.split(event)
    num_rows = _number_rows(tree_map.spaces)
    rows = {node: stretch.row for node, stretch in tree_map.end_of.items()}
    if num_rows > READABLE:
        num_rows, rows = _packed(tree_map, rows, _lives(trace))
    depth = max((stretch.end for stretch in tree_map.end_of.values()), default=0)
    return TreeLayout(rows, num_rows, depth)


class _Map:
    """The prefix map while it grows; `end_of` is the stretch a node ends with."""

    def __init__(self) -> None:
        self.spaces: dict[str, _Stretch] = {}
        self.end_of: dict[int, _Stretch] = {}
        self._start_of: dict[int, int] = {}

    def add(self, event: ev.Add) -> None:
        nothing = _Stretch(event.tokens[:0], 0, None, row=-1)
        if event.parent == ROOT:
            here = self.spaces.setdefault(event.space, nothing)
        else:
            here = self.end_of[event.parent]
        self._start_of[event.node] = here.end
        self.end_of[event.node] = _extend(here, event.tokens)

    def split(self, event: ev.Split) -> None:
        start = self._start_of[event.upper] = self._start_of[event.node]
        self._start_of[event.node] = at = start + event.at
        here = self.end_of[event.node]
        while here.start >= at and here.above is not None:
            here = here.above
        self.end_of[event.upper] = here if here.end == at else _cut(here, at)


def _extend(here: _Stretch, tokens: Tokens) -> _Stretch:
    """Return the stretch that ends where the tokens below `here` end."""
    while len(tokens):
        first = int(tokens[0])
        child = here.below.get(first)
        if child is None:
            leaf = here.below[first] = _Stretch(tokens, here.end, here)
            return leaf
        common = _common(child.tokens, tokens)
        whole = common == len(child.tokens)
        here = child if whole else _cut(child, child.start + common)
        tokens = tokens[common:]
    return here


def _common(one: Tokens, other: Tokens) -> int:
    """Return how many first tokens two lists share."""
    least = min(len(one), len(other))
    differing = np.flatnonzero(one[:least] != other[:least])
    return int(differing[0]) if len(differing) else least


def _cut(low: _Stretch, at: int) -> _Stretch:
    """Cut a stretch at a position; return the new upper part."""
    size = at - low.start
    assert low.above is not None, "the start of a space is never cut"
    upper = _Stretch(low.tokens[:size], low.start, low.above)
    low.above.below[int(upper.tokens[0])] = upper
    low.tokens, low.start, low.above = low.tokens[size:], at, upper
    upper.below[int(low.tokens[0])] = low
    return upper


def _number_rows(spaces: dict[str, _Stretch]) -> int:
    """Give every stretch its row, top to bottom; return how many there are."""
    count = 0
    for stretch, continues in _in_order(spaces):
        if continues and stretch.above is not None:
            stretch.row = stretch.above.row
        else:
            stretch.row = count
            count += 1
    return count


def _in_order(spaces: dict[str, _Stretch]) -> Iterator[tuple[_Stretch, bool]]:
    """Yield each stretch, parents first, and whether it continues its parent's row."""
    roots = [child for space in spaces.values() for child in space.below.values()]
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        stretch, continues = stack.pop()
        yield stretch, continues
        below = [
            (child, not place) for place, child in enumerate(stretch.below.values())
        ]
        stack += reversed(below)


# --- many rows


def _lives(trace: Trace) -> dict[int, tuple[int, int]]:
    """Return the events of each node's birth and end."""
    lives: dict[int, tuple[int, int]] = {}
    for index, event in enumerate(trace.events):
        if isinstance(event, ev.Add):
            lives[event.node] = (index, len(trace))
        elif isinstance(event, ev.Split):
            lives[event.upper] = (index, len(trace))
        elif isinstance(event, ev.Delete | ev.EvictHost) and event.node in lives:
            lives[event.node] = (lives[event.node][0], index)
    return lives


def _packed(
    tree_map: _Map, rows: dict[int, int], lives: dict[int, tuple[int, int]]
) -> tuple[int, dict[int, int]]:
    """Lay each row on the first one below its parent's that is free when it is born;
    rows are laid in order of birth, so what is free then stays free. A parent's row is
    born before those of its children."""
    spans: dict[int, tuple[int, int]] = {}
    for node, row in rows.items():
        first, last = spans.get(row, lives[node])
        spans[row] = min(first, lives[node][0]), max(last, lives[node][1])
    parents = _parents(tree_map)
    ends = np.full(len(spans) + 1, -1)
    slot_of: dict[int, int] = {}
    for row in sorted(spans, key=spans.__getitem__):
        below = slot_of.get(parents[row], -1) + 1
        slot = below + int((ends[below:] < spans[row][0]).argmax())
        ends[slot] = spans[row][1]
        slot_of[row] = slot
    num_rows = max(slot_of.values(), default=-1) + 1
    return num_rows, {node: slot_of[row] for node, row in rows.items()}


def _parents(tree_map: _Map) -> dict[int, int]:
    """Return the row above that each row branches off, -1 where there is none."""
    return {
        stretch.row: stretch.above.row if stretch.above else -1
        for stretch, continues in _in_order(tree_map.spaces)
        if not continues
    }
