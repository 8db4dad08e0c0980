"""What does a slot hold, and is it the right thing?

A pool of *fingerprints* keeps one int64 a slot: a hash of the whole prefix up to that
token. Whoever reads a slot knows what must be there, so a wrong, stale or missing copy
is caught at once. A pool of *tensors* keeps K and V of a model beside them, slot for
slot, and both travel together. A *ledger* keeps no bytes, for replays of millions of
tokens. Left out: the shape of K and V (kv_form.py), their places (kv_tensors.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from ..pages import Pages, slots_of
from ..record.events import Tokens
from .kv_tensors import KVTensors, paired_runs

Mode = Literal["tensors", "fingerprints", "ledger"]
Slots = NDArray[np.int64]
Compute = Callable[[str, Tokens, Slots, int], None]
"""A forward pass for a request, named first: given its tokens, the slot of each, and
how many of them have KV already, write K and V of the rest."""

MULTIPLIER = 1_000_003
SEED = 7
MASK = np.uint64(2**62 - 1)


def fingerprints(tokens: Tokens, before: int = SEED) -> NDArray[np.int64]:
    """Return, for each token, the hash of the prefix that ends with it.

    h(-1) = 7 and h(i) = (h(i-1) * 1000003 + token + 1) mod 2^62, as in the recorded
    states; `before` is the hash of what precedes the tokens. Cost: O(tokens),
    vectorised: the recurrence is a sum of powers of the multiplier, which is odd and
    so has an inverse modulo 2^64.

    >>> fingerprints(np.array([1, 2], np.int32)).tolist()
    [7000023, 7000044000072]
    >>> fingerprints(np.array([2], np.int32), before=7000023).tolist()
    [7000044000072]
    """
    n = len(tokens)
    up, down = _powers(max(1024, 1 << n.bit_length()))
    terms = (tokens.astype(np.uint64) + np.uint64(1)) * down[1 : n + 1]
    sums = np.cumsum(terms, dtype=np.uint64) + np.uint64(before)
    return ((sums * up[1 : n + 1]) & MASK).astype(np.int64)


@cache
def _powers(count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return powers 0..count of the multiplier and of its inverse, modulo 2^64."""
    inverse = pow(MULTIPLIER, -1, 2**64)
    both = []
    for base in (MULTIPLIER, inverse):
        factors = np.full(count + 1, base, np.uint64)
        factors[0] = 1
        both.append(np.cumprod(factors, dtype=np.uint64))
    return both[0], both[1]


class KVPool:
    """The contents of one tier's slots.

    `kv` holds K and V in a pool of tensors, and is None in the two others.
    Shapes: `prints` (num_slots,) int64; none in a ledger. Page 0 of the device is
    padding and has slots like any other.

    >>> pool = KVPool(8, page_size=2)
    >>> pool.write(np.array([3], np.int32), np.array([40, 41]))
    >>> pool.read(np.array([3], np.int32)).tolist()
    [40, 41]
    """

    def __init__(
        self,
        num_slots: int,
        page_size: int = 1,
        mode: Mode = "fingerprints",
        device: str = "cpu",
        kv: KVTensors | None = None,
    ) -> None:
        assert (kv is not None) == (mode == "tensors"), f"{mode} with {kv}"
        self.page_size = page_size
        self.mode = mode
        self.kv = kv
        self.prints = torch.zeros(
            0 if mode == "ledger" else num_slots,
            dtype=torch.int64,
            device=device,
            pin_memory=kv is not None and kv.pinned,
        )

    def write(self, pages: Pages, prints: NDArray[np.int64], offset: int = 0) -> None:
        """Write prints into the slots of the pages, from the `offset`-th slot on.

        Changes: the pool; nothing in a ledger.
        """
        if self.mode == "ledger":
            return
        slots = slots_of(pages, self.page_size)[offset : offset + len(prints)]
        self.prints[torch.from_numpy(slots)] = torch.from_numpy(prints).to(
            self.prints.device
        )

    def read(self, pages: Pages) -> NDArray[np.int64]:
        """Return what the slots of the pages hold; empty in a ledger."""
        if self.mode == "ledger":
            return np.empty(0, np.int64)
        slots = torch.from_numpy(slots_of(pages, self.page_size))
        prints: NDArray[np.int64] = self.prints[slots].cpu().numpy()
        return prints

    def synchronize(self) -> None:
        """Wait until the device has done all that was asked of it: a copy to the host
        that nobody waits for may be under way. On a CPU nothing is."""
        device = self.prints.device
        if device.type != "cpu":
            torch.get_device_module(device).synchronize(device)

    def moves(
        self, source: KVPool, from_pages: Pages, to_pages: Pages
    ) -> list[Callable[[], None]]:
        """Return the steps that copy page by page from another pool, in order; nothing
        moves yet. The fingerprints go last: what shows one shows its K and V.

        Changes: nothing; the steps change this pool.
        """
        if self.mode == "ledger":
            return []
        steps: list[Callable[[], None]] = []
        if self.kv is not None and source.kv is not None:
            steps = self.kv.moves(source.kv, from_pages, to_pages, self.page_size)
        return [*steps, partial(self._copy_prints, source, from_pages, to_pages)]

    def _copy_prints(self, source: KVPool, from_pages: Pages, to_pages: Pages) -> None:
        if self.prints.device == source.prints.device:
            self.write(to_pages, source.read(from_pages))
            return
        for at, to, size in paired_runs(from_pages, to_pages, self.page_size):
            self.prints[to : to + size].copy_(
                source.prints[at : at + size], non_blocking=True
            )
        for pool in (self, source):
            pool._used_here()

    def _used_here(self) -> None:
        """Tell the device's allocator that the current stream works on the contents:
        they may go before it is done, and what is made then must not lie there."""
        device, kv = self.prints.device, self.kv
        if device.type != "cpu":
            stream = torch.get_device_module(device).current_stream(device)
            for tensor in (self.prints, *(kv.parts if kv is not None else ())):
                tensor.record_stream(stream)
