"""Who owns each block of one pool, and which are free, in which order?

A block is used, free with a name (evictable) or free without one (blank). Whoever is
taken heads the queue; what is given back without a name heads it too, the rest waits
behind.
Left out: what moves them (block_events.py, block_snapshot.py).
Source: vLLM 0.33.0, v1/core/block_pool.py.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple


class BlockAccount(NamedTuple):
    """A pool in blocks, its null block left out: used + evictable + blank = total.

    vLLM's own "free" is evictable + blank.
    """

    used: int
    evictable: int
    blank: int
    total: int


@dataclass(slots=True)
class BlockTier:
    """One pool: its free queue, head first; owners and names by block."""

    num_blocks: int
    free: OrderedDict[int, None]
    ref_cnt: dict[int, int] = field(default_factory=dict)
    names: dict[int, int] = field(default_factory=dict)

    @classmethod
    def start(cls, num_blocks: int) -> BlockTier:
        """Return the pool before the first event: all free but the null block."""
        return cls(num_blocks, OrderedDict.fromkeys(range(1, num_blocks)))

    def account(self) -> BlockAccount:
        """Return the three states in numbers. Cost: O(free blocks)."""
        evictable = sum(block in self.names for block in self.free)
        total = max(self.num_blocks - 1, 0)
        free = len(self.free)
        return BlockAccount(total - free, evictable, free - evictable, total)

    def take(self, blocks: list[int]) -> None:
        """Move blocks from the head of the queue to a first owner.

        Raises: ValueError if they do not head the queue in this order.
        """
        for block in blocks:
            head = next(iter(self.free), None)
            if head != block:
                raise ValueError(
                    f"it takes block {block}, block {head} heads the queue"
                )
            del self.free[block]
            self.ref_cnt[block] = 1

    def share(self, blocks: list[int]) -> None:
        """Give each block one more owner."""
        for block in blocks:
            self.free.pop(block, None)
            self.ref_cnt[block] = self.ref_cnt.get(block, 0) + 1

    def release(self, blocks: list[int]) -> None:
        """Take one owner from each block; put the ownerless into the queue.

        Raises: ValueError for a block that nobody owns.
        """
        blank = []
        for block in blocks:
            left = self.ref_cnt.get(block, 0) - 1
            if left < 0:
                raise ValueError(f"it releases block {block}, which nobody owns")
            if left:
                self.ref_cnt[block] = left
                continue
            del self.ref_cnt[block]
            if block in self.names:
                self.free[block] = None
            else:
                blank.append(block)
        for block in reversed(blank):
            self.free[block] = None
            self.free.move_to_end(block, last=False)
