"""Which chunk of the CPU pool goes first when there is no room?

A policy hears five things of a request: that a key it brings is not here, that it asked
for chunks, that one was put in, that some were touched, and that it is over. Then:

        lru   a request has one rank, taken when it first asks; its chunks stand there,
              the later position first, and go to the end when it is over
        arc   t1 seen once, t2 used again, b1 and b2 the keys that each lost lately; a
              key brought again that stands in b1 makes t1's share larger, in b2 smaller

Left out: how chunks are held (chunk_pool.py).
Source: vLLM 0.33.0, v1/kv_offload/cpu/policies/{lru,arc}.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ..record import block_events as ev
from ..record.chunk_state import PLACES, Key
from ..record.trace import QUIET, Emitter

Order = dict[Key, None]


@dataclass
class Lists:
    """The orders of a policy, first to go first. LRU uses `t1` alone."""

    t1: Order = field(default_factory=dict)
    t2: Order = field(default_factory=dict)
    b1: Order = field(default_factory=dict)
    b2: Order = field(default_factory=dict)
    target_t1: float = 0.0


@dataclass
class Use:
    """What one request had to do with the pool until now.

    `positions` of all keys it named; of these `seen` are the chunks it asked for,
    `stored` those it brought, `read` those it found; `missed` were brought and not
    here. `rank` is LRU's.
    """

    positions: dict[Key, int] = field(default_factory=dict)
    seen: Order = field(default_factory=dict)
    stored: set[Key] = field(default_factory=set)
    read: set[Key] = field(default_factory=set)
    missed: set[Key] = field(default_factory=set)
    rank: int | None = None

    def last_first(self) -> list[Key]:
        """Return the chunks it asked for, the last position first."""
        return sorted(self.seen, key=self.positions.__getitem__)[::-1]


class ChunkOrder:
    """What both policies do alike. `is_ready` says of a chunk whether its store is
    done."""

    def __init__(
        self, places: int, is_ready: Callable[[Key], bool], emit: Emitter = QUIET
    ) -> None:
        self.lists = Lists()
        self._places = places
        self._is_ready = is_ready
        self._emit = emit

    def missed(self, keys: Sequence[Key]) -> None:
        """These keys are brought for the first time by a request, and are not here."""

    def asked(self, use: Use, keys: Sequence[Key]) -> None:
        """The request asked for these chunks for the first time; not all are here."""

    def insert(self, use: Use, keys: Sequence[Key]) -> None:
        """The request puts in these chunks. Changes: the orders."""
        self._move(keys, "t1")

    def touch(self, keys: Sequence[Key]) -> None:
        """These chunks were used, apart from what any request asked for."""
        raise NotImplementedError

    def finish(self, use: Use) -> None:
        """The request is over. Changes: the orders."""
        raise NotImplementedError

    def evict(self, count: int, may_go: Callable[[Key], bool]) -> list[Key] | None:
        """Take out `count` chunks that may go, or none at all and return None."""
        chosen = [key for key in self.lists.t1 if may_go(key)][:count]
        if len(chosen) < count:
            return None
        self.remove(chosen)
        return chosen

    def remove(self, keys: Sequence[Key]) -> None:
        """These chunks are gone and will not be remembered."""
        self._move(keys, "")

    def clear(self) -> None:
        """Forget all of it."""
        lists = self.lists
        self._move([*lists.t1, *lists.t2, *lists.b1, *lists.b2], "")
        self._aim(0.0)

    def _move(self, keys: Sequence[Key], place: str) -> None:
        """Put the keys last in an order, one after the other; in none if it is ""."""
        for key in keys:
            for name in PLACES:
                self._order(name).pop(key, None)
            if place:
                self._order(place)[key] = None
        if keys:
            self._emit(ev.ChunkMove, tuple(keys), place)

    def _aim(self, target: float) -> None:
        self.lists.target_t1 = target
        self._emit(ev.ChunkAim, target)

    def _order(self, place: str) -> Order:
        order: Order = getattr(self.lists, place)
        return order


class LruOrder(ChunkOrder):
    """One order, by rank and position."""

    def __init__(
        self, places: int, is_ready: Callable[[Key], bool], emit: Emitter = QUIET
    ) -> None:
        super().__init__(places, is_ready, emit)
        self._ranks: dict[Key, tuple[int, int]] = {}
        self._last = 0

    def asked(self, use: Use, keys: Sequence[Key]) -> None:
        """A chunk that is here comes to stand with its request, if that is further
        from going."""
        for key in keys:
            rank = self._rank(use, key)
            if key in self._ranks:
                self._ranks[key] = max(self._ranks[key], rank)
        self._sort()

    def insert(self, use: Use, keys: Sequence[Key]) -> None:
        for key in keys:
            self._ranks[key] = self._rank(use, key)
        self._sort()

    def touch(self, keys: Sequence[Key]) -> None:
        self._renew(reversed(keys))

    def finish(self, use: Use) -> None:
        self._renew(use.last_first())

    def remove(self, keys: Sequence[Key]) -> None:
        for key in keys:
            del self._ranks[key]
        super().remove(keys)

    def clear(self) -> None:
        super().clear()
        self._ranks.clear()

    def _rank(self, use: Use, key: Key) -> tuple[int, int]:
        if use.rank is None:
            use.rank = self._next()
        return use.rank, -use.positions[key]

    def _renew(self, keys: Iterable[Key]) -> None:
        for key in keys:
            if key in self._ranks:
                self._ranks[key] = self._next(), 0
        self._sort()

    def _next(self) -> int:
        self._last += 1
        return self._last

    def _sort(self) -> None:
        """Move what stands behind the first chunk that is out of its place."""
        order, before = sorted(self._ranks, key=self._ranks.__getitem__), self.lists.t1
        pairs = enumerate(zip(order, before, strict=False))
        same = next((at for at, (a, b) in pairs if a != b), len(before))
        self._move(order[same:], "t1")


class ArcOrder(ChunkOrder):
    """Two orders whose shares adapt, and the keys that each lost."""

    def missed(self, keys: Sequence[Key]) -> None:
        for key in reversed(keys):
            self._adapt(key)

    def touch(self, keys: Sequence[Key]) -> None:
        for key in reversed(keys):
            if key in self.lists.t1:
                self._move([key], "t2" if self._is_ready(key) else "t1")
            elif key in self.lists.t2:
                self._move([key], "t2")
            else:
                self._adapt(key)

    def finish(self, use: Use) -> None:
        """What the request brought keeps its order, what it read goes to t2."""
        for key in use.last_first():
            if key in use.read:
                self._use(key, "t2")
            elif key in use.stored:
                self._use(key, "t1")

    def evict(self, count: int, may_go: Callable[[Key], bool]) -> list[Key] | None:
        lists = self.lists
        once = [key for key in lists.t1 if may_go(key)]
        again = [key for key in lists.t2 if may_go(key)]
        if count > len(once) + len(again):
            return None
        evicted: list[Key] = []
        left = len(lists.t1)
        while len(evicted) < count:
            from_t1 = bool(once) and (left >= int(lists.target_t1) or not again)
            left -= from_t1
            evicted.append((once if from_t1 else again).pop(0))
        for key in evicted:
            self._move([key], "b1" if key in lists.t1 else "b2")
        for ghosts in (lists.b1, lists.b2):
            self._move(list(ghosts)[: max(len(ghosts) - self._places, 0)], "")
        return evicted

    def _use(self, key: Key, place: str) -> None:
        """Move a chunk that is here to the end of an order; from t2 there is no way
        back."""
        if key in self.lists.t1:
            self._move([key], place)
        elif key in self.lists.t2:
            self._move([key], "t2")

    def _adapt(self, key: Key) -> None:
        """Move the shares for a key that was lost."""
        lists = self.lists
        if key in lists.b1:
            step = max(1, len(lists.b2) / len(lists.b1))
            self._aim(min(lists.target_t1 + step, self._places))
            self._move([key], "b1")
        elif key in lists.b2:
            step = max(1, len(lists.b1) / len(lists.b2))
            self._aim(max(lists.target_t1 - step, 0))
            self._move([key], "b2")
