"""Does every slot hold the prefix that the engine believes is there?

The tree and the requests say which prefix ends in which slot; the fingerprints say
which prefix is there. `Checker.check` compares all that is settled, on both tiers, and
puts what it finds into the trace: `Compared`, and a `Wrong` for each slot that differs,
with the last event that wrote it. It looks at the engine and changes nothing.
Left out: slots whose copy is under way, since they may hold anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..cache.tree import Node
from ..memory.pool import SEED, KVPool, fingerprints
from ..pages import Pages, slots_of
from ..record import events as ev
from ..record.events import Tier, Tokens
from ..record.trace import Trace
from .engine import Engine

_SHOWN = 2
"""Tokens at either end of a prefix that a message names."""


class Held(NamedTuple):
    """Slots of one holder: the prefix up to each, which begins with token `first`."""

    tier: Tier
    holder: str
    first: int
    slots: NDArray[np.int64]
    prints: NDArray[np.int64]


class Checker:
    """Compares an engine's pools with its tree and its requests.

    >>> from kvlab.run.workbench import Workbench
    >>> bench = Workbench(pool_tokens=8, host_tokens=9)
    >>> checker = Checker(bench.engine, bench.trace)
    >>> _ = bench.insert([5, 6, 7]); checker.check()
    []
    >>> bench.engine.device_pool.prints[2] = 0
    >>> print(explain(checker.check()[0], bench.trace))
    L1 slot 2: token 2 of n1 should end the prefix 5 6 (2 tokens); the slot was never \
written. Event 2 touched it last: Alloc
    """

    def __init__(self, engine: Engine, trace: Trace) -> None:
        self._engine = engine
        self._trace = trace
        self._names: dict[int, str] = {0: ""}
        self._writers = _Writers(trace, engine.config.page_size)

    def check(self) -> list[ev.Wrong]:
        """Compare every settled slot; return those that differ, lowest first.

        Changes: the trace, which gets what was found. Cost: O(slots in use).
        """
        held = self.settled()
        self._writers.follow()
        found = [wrong for part in held for wrong in self._compare(part)]
        found.sort(key=lambda wrong: wrong[:2])
        slots = sum(len(part.slots) for part in held)
        with self._trace.of(ev.Compared, slots, len(found)):
            for fields in found:
                self._trace(ev.Wrong, *fields)
        said = self._trace.events[len(self._trace) - len(found) :]
        return [event for event in said if isinstance(event, ev.Wrong)]

    # --- what should be where

    def settled(self) -> list[Held]:
        """Return what nodes and requests hold, without copies under way."""
        self._engine.device_pool.synchronize()
        return [*self._nodes(), *self._requests()]

    def pool(self, tier: Tier) -> KVPool:
        """Return the pool of a tier."""
        engine = self._engine
        return engine.device_pool if tier == "L1" else engine.host_pool

    def _nodes(self) -> Iterator[Held]:
        page = self._engine.config.page_size
        ends: dict[Node, tuple[int, int, Tokens]] = {}
        for node in self._engine.cache.tree.nodes():
            nothing = (0, SEED, node.key[:0])
            start, before, path = ends.get(node.above, nothing)
            prints = fingerprints(node.key, before)
            tokens = np.concatenate((path, node.key))
            ends[node] = (len(tokens), int(prints[-1]), tokens)
            self._learn(tokens, start, prints)
            if node.value is not None and node.loading is None:
                slots = slots_of(node.value, page)
                yield Held("L1", f"n{node.id}", start, slots, prints[: len(slots)])
            if node.host_value is not None and node.writing is None:
                slots = slots_of(node.host_value, page)
                yield Held("L2", f"n{node.id}", start, slots, prints[: len(slots)])

    def _requests(self) -> Iterator[Held]:
        scheduler = self._engine.scheduler
        chunked = [scheduler.chunked] if scheduler.chunked else []
        for request in [*scheduler.running, *chunked]:
            if request.row is None:
                continue
            start, end = request.owned_len, request.kv_len
            tokens = request.tokens(end)
            prints = fingerprints(tokens)
            self._learn(tokens, 0, prints)
            slots = scheduler.rows.table[request.row, start:end].numpy()
            yield Held("L1", request.id, start, slots.astype(np.int64), prints[start:])

    def _learn(self, tokens: Tokens, start: int, prints: NDArray[np.int64]) -> None:
        """Remember which prefix each fingerprint stands for."""
        for number, print_ in enumerate(prints.tolist(), start + 1):
            if print_ not in self._names:
                self._names[print_] = _named(tokens[:number])

    # --- what is there

    def _compare(
        self, held: Held
    ) -> Iterator[tuple[Tier, int, str, int, str, str, int]]:
        there = self.pool(held.tier).prints.cpu().numpy()[held.slots]
        for at in np.flatnonzero(there != held.prints).tolist():
            slot, expected = int(held.slots[at]), int(held.prints[at])
            yield (
                held.tier, slot, held.holder, held.first + at + 1,
                self._names[expected], self._names.get(int(there[at]), "?"),
                self._writers.last(held.tier, slot),
            )  # fmt: skip


class _Writers:
    """Which event wrote each page last, read off the trace."""

    def __init__(self, trace: Trace, page_size: int) -> None:
        self._trace = trace
        self._page = page_size
        self._last: dict[Tier, dict[int, int]] = {"L1": {}, "L2": {}}
        self._under_way: dict[tuple[Tier, int], list[Pages]] = {}
        self._read = 0

    def last(self, tier: Tier, slot: int) -> int:
        """Return the number of the event, from 1 on, that wrote the slot last or handed
        it out; 0 for none."""
        return self._last[tier].get(slot // self._page, 0)

    def follow(self) -> None:
        """Read what the trace got since the last call. Changes: who wrote last."""
        for index in range(self._read, len(self._trace)):
            match self._trace.events[index]:
                case ev.Alloc(tier=tier, pages=pages):
                    self._note(tier, pages, index)
                case ev.Load(end=end, pages=pages):
                    self._under_way.setdefault(("L1", end), []).append(pages)
                case ev.Backup(node=node, pages=pages):
                    self._under_way.setdefault(("L2", node), []).append(pages)
                case ev.LoadDone(node=node):
                    self._arrived("L1", node, index)
                case ev.BackupDone(node=node):
                    self._arrived("L2", node, index)
        self._read = len(self._trace)

    def _arrived(self, tier: Tier, node: int, index: int) -> None:
        for pages in self._under_way.pop((tier, node), []):
            self._note(tier, pages, index)

    def _note(self, tier: Tier, pages: Pages, index: int) -> None:
        self._last[tier].update(dict.fromkeys(pages.tolist(), index + 1))


def explain(wrong: ev.Wrong, trace: Trace) -> str:
    """Return the failure in one line: which slot, which token, which event (counted
    from 1, as the player does)."""
    holds = f"it holds {wrong.found}" if wrong.found else "the slot was never written"
    if wrong.found == "?":
        holds = "it holds a prefix that nobody has"
    said = (
        f"{wrong.tier} slot {wrong.slot}: token {wrong.at} of {wrong.holder} should "
        f"end the prefix {wrong.expected}; {holds}."
    )
    if not wrong.by:
        return f"{said} No event touched it"
    event = trace.events[wrong.by - 1]
    node = f" n{event.node}" if isinstance(event, ev.LoadDone | ev.BackupDone) else ""
    return f"{said} Event {wrong.by} touched it last: {type(event).__name__}{node}"


def _named(tokens: Tokens) -> str:
    """Return a prefix in few words.

    >>> _named(np.arange(200, 220))
    '200 201 .. 218 219 (20 tokens)'
    """
    count = len(tokens)
    words = [str(token) for token in tokens.tolist()]
    if count > 2 * _SHOWN:
        words = [*words[:_SHOWN], "..", *words[-_SHOWN:]]
    return f"{' '.join(words)} ({count} token{'s' * (count != 1)})"
