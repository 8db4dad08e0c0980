"""Which chunks stay on the CPU when the offloading connector runs out of room?

The pool keeps chunks by key. A chunk whose store is pending, or that is being read,
cannot be evicted; a store that cannot make room is refused as a whole. Two policies:

        lru   one order: what was used longest ago goes first
        arc   t1 seen once, t2 used again, b1 and b2 the keys that each lost lately;
              a key asked for again in b1 makes t1's share larger, in b2 smaller

Chunks that one request used leave the later position first, so that what is left is
still a prefix. Left out: when the connector offers and reads chunks.
Source: vLLM 0.33.0, v1/kv_offload/cpu/manager.py and
v1/kv_offload/cpu/policies/{lru,arc}.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Literal, NamedTuple

from ..record import block_events as ev
from ..record.chunk_state import PLACES, Key
from ..record.trace import QUIET, Emitter

Order = dict[Key, None]
ChunkPolicy = Literal["lru", "arc"]


class Answer(StrEnum):
    """What a lookup says of one chunk; pending: its store is not done."""

    HIT = "HIT"
    PENDING = "HIT_PENDING"
    MISS = "MISS"


class Stored(NamedTuple):
    """What a store took in, and what had to go for it."""

    stored: list[Key]
    evicted: list[Key]


@dataclass
class Lists:
    """The orders of a policy, first to go first. LRU uses `t1` alone."""

    t1: Order = field(default_factory=dict)
    t2: Order = field(default_factory=dict)
    b1: Order = field(default_factory=dict)
    b2: Order = field(default_factory=dict)
    target_t1: float = 0.0


class ChunkPool:
    """A CPU pool of `num_chunks` chunks.

    `store_threshold` n above 1 stores a chunk the n-th time it is offered. A chunk's
    entry in `refs` is -1 while its store is pending, else how often it is being read.

    >>> pool = ChunkPool(2)
    >>> pool.store("r1", {1: 0, 2: 1}), pool.store("r2", {3: 0})
    (Stored(stored=[1, 2], evicted=[]), None)
    >>> pool.store_done([1, 2]); pool.store("r2", {3: 0})
    Stored(stored=[3], evicted=[2])
    """

    def __init__(
        self,
        num_chunks: int,
        policy: ChunkPolicy = "lru",
        store_threshold: int = 0,
        emit: Emitter = QUIET,
    ) -> None:
        self.num_chunks = num_chunks
        self.policy: ChunkPolicy = policy
        self.refs: dict[Key, int] = {}
        self.lists = Lists()
        self._threshold = store_threshold
        self._offers: Counter[Key] = Counter()
        self._used: dict[str, dict[Key, int]] = {}
        self._emit = emit

    # --- questions

    @property
    def free(self) -> int:
        """Chunks that nothing occupies."""
        return self.num_chunks - len(self.refs)

    @property
    def evictable(self) -> int:
        """Chunks that could go. Cost: O(chunks)."""
        return sum(ref == 0 for ref in self.refs.values())

    @property
    def write_pending(self) -> int:
        """Chunks whose store is not done. Cost: O(chunks)."""
        return sum(ref == -1 for ref in self.refs.values())

    def lookup(self, keys: Iterable[Key]) -> list[Answer]:
        """Say of each key whether its chunk is here. Changes nothing."""
        return [self._answer(key) for key in keys]

    # --- changes

    def store(self, request: str, positions: dict[Key, int]) -> Stored | None:
        """Make room for the chunks that are not here yet; None if there is none.

        Changes: on success the chunks are here, their stores pending; offers count in
        any case. The request's own chunks are not evicted for each other.
        """
        keys = list(positions)
        if self._threshold > 1:
            self._offers.update(keys)
            keys = [key for key in keys if self._offers[key] >= self._threshold]
        wanted = [key for key in keys if key not in self.refs]
        evicted = self._evict(len(wanted) - self.free, set(keys))
        if evicted is None:
            return None
        self._hold(wanted, -1)
        self._move(wanted, "t1")
        self._used_by(request, {key: positions[key] for key in wanted})
        return Stored(wanted, evicted)

    def store_done(self, keys: Iterable[Key], *, ok: bool = True) -> None:
        """The stores are done; those that failed leave nothing behind."""
        pending = [key for key in dict.fromkeys(keys) if self.refs.get(key) == -1]
        self._hold(pending, 0 if ok else None)
        if not ok:
            self._move(pending, "")

    def load(self, request: str, positions: dict[Key, int]) -> None:
        """The chunks are being read. Changes: refs, the order."""
        for key in positions:
            self._hold([key], self.refs[key] + 1)
        self.touch(request, positions)

    def load_done(self, keys: Iterable[Key]) -> None:
        """The chunks have been read. Changes: refs."""
        for key in keys:
            self._hold([key], self.refs[key] - 1)

    def touch(self, request: str, positions: dict[Key, int]) -> None:
        """The request asks for the chunks. Changes: the order, and arc's share."""
        if self.policy == "arc":
            for key in _last_first(positions):
                self._promote(key)
        here = {key: at for key, at in positions.items() if key in self.refs}
        self._used_by(request, here)

    def finish(self, request: str) -> None:
        """The request is over: its later chunks are no longer put before others."""
        self._used.pop(request, None)

    def reset(self) -> None:
        """Drop everything. Changes: all of it but the offers."""
        lists = self.lists
        self._hold(list(self.refs), None)
        self._move([*lists.t1, *lists.t2, *lists.b1, *lists.b2], "")
        self._aim(0.0)
        self._used.clear()

    # --- the order

    def _answer(self, key: Key) -> Answer:
        if key not in self.refs:
            return Answer.MISS
        return Answer.PENDING if self.refs[key] == -1 else Answer.HIT

    def _used_by(self, request: str, positions: dict[Key, int]) -> None:
        """Move all that the request used to the end, later positions before."""
        if not positions:
            return
        used = self._used.setdefault(request, {})
        used.update(positions)
        for key in _last_first(used):
            for place in ("t1", "t2"):
                if key in self._order(place):
                    self._move([key], place)

    def _promote(self, key: Key) -> None:
        """ARC: what is asked for again moves to t2; a lost key moves the shares."""
        lists = self.lists
        if key in lists.t1 and self.refs[key] >= 0:
            self._move([key], "t2")
        elif key in lists.b1:
            step = max(1, len(lists.b2) / len(lists.b1))
            self._aim(min(lists.target_t1 + step, self.num_chunks))
            self._move([key], "b1")
        elif key in lists.b2:
            step = max(1, len(lists.b1) / len(lists.b2))
            self._aim(max(lists.target_t1 - step, 0))
            self._move([key], "b2")

    def _evict(self, count: int, kept: set[Key]) -> list[Key] | None:
        """Evict `count` chunks, or none at all and return None."""
        lists = self.lists
        once = self._may_go(lists.t1, kept)
        again = self._may_go(lists.t2, kept)
        if count > len(once) + len(again):
            return None
        evicted: list[Key] = []
        left = len(lists.t1)
        while len(evicted) < count:
            from_t1 = bool(once) and (left >= int(lists.target_t1) or not again)
            left -= from_t1
            evicted.append((once if from_t1 else again).pop(0))
        for key in evicted:
            self._drop(key)
        for ghosts in (lists.b1, lists.b2):
            self._move(list(ghosts)[: max(len(ghosts) - self.num_chunks, 0)], "")
        return evicted

    def _may_go(self, order: Order, kept: set[Key]) -> list[Key]:
        return [key for key in order if self.refs[key] == 0 and key not in kept]

    def _drop(self, key: Key) -> None:
        ghosts = "b1" if key in self.lists.t1 else "b2"
        self._hold([key], None)
        self._move([key], ghosts if self.policy == "arc" else "")

    # --- the three ways to change

    def _hold(self, keys: Sequence[Key], ref: int | None) -> None:
        for key in keys:
            if ref is None:
                del self.refs[key]
            else:
                self.refs[key] = ref
        if keys:
            self._emit(ev.ChunkHold, tuple(keys), ref)

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

    def check(self) -> None:
        """Print the lists and raise AssertionError if they are not what is here."""
        listed: Sequence[Key] = list(chain(self.lists.t1, self.lists.t2))
        sound = sorted(map(str, listed)) == sorted(map(str, self.refs))
        if not sound or self.free < 0:
            print(self.lists, self.refs, sep="\n")
        assert sound, "the lists and the chunks differ"
        assert self.free >= 0, f"{len(self.refs)} chunks in {self.num_chunks} places"


def _last_first(positions: dict[Key, int]) -> list[Key]:
    return sorted(positions, key=lambda key: -positions[key])
