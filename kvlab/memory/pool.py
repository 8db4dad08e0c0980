"""What does a slot hold, and is it the right thing?

A pool of *fingerprints* keeps one int64 a slot: a hash of the whole prefix up to that
token. Whoever reads a slot knows what must be there, so a wrong, stale or missing copy
is caught at once. A *ledger* keeps no bytes, for replays of millions of tokens.
Left out: K and V of a model, which take the fingerprints' place slot for slot.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from ..pages import Pages, slots_of
from ..record.events import Tokens

Mode = Literal["fingerprints", "ledger"]

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
    """The contents of one tier's slots, as a torch tensor of fingerprints.

    Shapes: (num_slots,) int64; a ledger has no tensor. Page 0 of the device is padding
    and has slots like any other.

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
    ) -> None:
        self.page_size = page_size
        self.mode = mode
        self.prints = torch.zeros(
            num_slots if mode == "fingerprints" else 0, dtype=torch.int64, device=device
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

    def copy_from(self, source: KVPool, from_pages: Pages, to_pages: Pages) -> None:
        """Copy page by page from another pool. Changes: this pool."""
        if self.mode != "ledger":
            self.write(to_pages, source.read(from_pages))
