"""Which blocks are free, which can still be found, and which goes next?

A block is *used* (ref_cnt above 0), *evictable* (free, but its hash can still be
found) or *blank* (free, no hash). Free blocks stand in one queue with two ends:

        head  [blank blank | evictable ........ evictable]  tail
        taken from here       freed with a hash: here ^
        freed without a hash: ^ here

So what nobody can find is used up first, and what was freed longest ago is evicted
first. Eviction has no other moment than the taking of a block.
Block 0 is the null block: taken at the start, never freed, held by nobody.
Source: vLLM 0.33.0, v1/core/block_pool.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile

from ..pages import as_pages
from ..record import block_events as ev
from ..record.block_names import as_runs
from ..record.events import Event, Tier
from ..record.trace import QUIET, Emitter
from .hashing import BlockHash, short_name


class BlockPool:
    """The blocks of one tier.

    `ref_cnt` and `block_hash` are indexed by block number. Blocks with equal content
    are not merged: each is findable under the same hash, the first named first.
    `num_evicted` counts the blocks that lost their hash by being taken. `tell` is how
    a name is called in the trace.

    >>> pool = BlockPool("L1", 5)
    >>> pool.take(3)
    [1, 2, 3]
    >>> pool.register([1, 2], [b"hash of 1", b"hash of 2"])
    >>> pool.release([3, 2, 1]); pool.free_queue()
    [3, 4, 2, 1]
    """

    def __init__(
        self,
        tier: Tier,
        num_blocks: int,
        emit: Emitter = QUIET,
        *,
        enable_caching: bool = True,
        tell: Callable[[BlockHash], int] = short_name,
    ) -> None:
        self.tier: Tier = tier
        self.num_blocks = num_blocks
        self.enable_caching = enable_caching
        self.ref_cnt = [0] * num_blocks
        self.block_hash: list[BlockHash | None] = [None] * num_blocks
        self.num_evicted = 0
        self._free = OrderedDict.fromkeys(range(1, num_blocks))
        self._found: dict[BlockHash, int] = {}
        self._twins: dict[BlockHash, list[int]] = {}
        self.tell = tell
        self._emit = emit

    # --- questions

    @property
    def num_free(self) -> int:
        """Blocks in the free queue, evictable ones included."""
        return len(self._free)

    @property
    def num_evictable(self) -> int:
        """Free blocks that can still be found. Cost: O(free blocks)."""
        return sum(self.block_hash[block] is not None for block in self._free)

    @property
    def num_findable(self) -> int:
        """Contents that can be found, free or used."""
        return len(self._found)

    @property
    def usage(self) -> float:
        """The used share of the pool without its null block; 0 for an empty pool."""
        usable = self.num_blocks - 1
        return 1.0 - len(self._free) / usable if usable else 0.0

    def free_queue(self) -> list[int]:
        """Return the free blocks, head first. Cost: O(free blocks)."""
        return list(self._free)

    def free_behind(self, block: int | None) -> list[int]:
        """Return the free blocks behind a free block, or all of them, head first.

        Cost: O(blocks returned).

        >>> BlockPool("L1", 5).free_behind(2)
        [3, 4]
        """
        if block is None:
            return list(self._free)
        return list(takewhile(lambda other: other != block, reversed(self._free)))[::-1]

    def find(self, name: BlockHash) -> int | None:
        """Return the block that was first registered under the name, if any.

        Finding is not touching: the block keeps its place in the queue.
        """
        return self._found.get(name)

    def find_prefix(self, names: Iterable[BlockHash]) -> list[int]:
        """Return the blocks of the names, up to the first that cannot be found.

        >>> pool = BlockPool("L1", 3); _ = pool.take(1); pool.register([1], [b"a"])
        >>> pool.find_prefix([b"a", b"b", b"a"])
        [1]
        """
        found, blocks = self._found.get, list[int]()
        for name in names:
            block = found(name)
            if block is None:
                break
            blocks.append(block)
        return blocks

    # --- changes

    def take(self, count: int) -> list[int]:
        """Return `count` blocks from the head of the queue, for one owner each.

        Those that could be found are evicted by this.
        Changes: the queue, ref_cnt, hashes. Cost: O(count).

        >>> BlockPool("L1", 5).take(2)
        [1, 2]
        """
        assert count <= len(self._free), f"{count} blocks wanted, {self.num_free} free"
        if not count:
            return []
        pop, ref_cnt, names = self._free.popitem, self.ref_cnt, self.block_hash
        blocks = [pop(False)[0] for _ in range(count)]
        hashed = [block for block in blocks if names[block] is not None]
        if hashed:
            self.forget(hashed)
            self.num_evicted += len(hashed)
        for block in blocks:
            ref_cnt[block] = 1
        self._say(ev.Take, blocks)
        return blocks

    def register(self, blocks: Sequence[int], names: Sequence[BlockHash]) -> None:
        """Make full blocks findable. Changes: hashes. Cost: O(blocks).

        >>> pool = BlockPool("L1", 5); twins = pool.take(2)
        >>> pool.register(twins, [b"same", b"same"]); pool.find(b"same")
        1
        >>> pool.forget([1]); pool.find(b"same")
        2
        """
        if not blocks:
            return
        named, hashes = self._found.setdefault, self.block_hash
        for block, name in zip(blocks, names, strict=True):
            hashes[block] = name
            if named(name, block) != block:
                self._twins.setdefault(name, []).append(block)
        if self._emit is not QUIET:
            said = as_runs(self.tell(name) for name in names)
            self._emit(ev.Register, self.tier, as_pages(blocks), said)

    def forget(self, blocks: Sequence[int]) -> None:
        """Make blocks unfindable; each stays where it is in the queue, if it is.

        Changes: hashes. Blocks without a hash are passed over. Cost: O(blocks).
        """
        found, hashes, twins = self._found, self.block_hash, self._twins
        gone = [block for block in blocks if hashes[block] is not None]
        for block in gone:
            name = hashes[block]
            assert name is not None, f"block {block} has no hash"
            hashes[block] = None
            if twins and name in twins:
                self._forget_twin(block, name)
            else:
                del found[name]
        self._say(ev.Forget, gone)

    def share(self, blocks: Sequence[int]) -> None:
        """Give each block one more owner: vLLM's touch.

        Changes: ref_cnt; blocks without owner leave the queue. Cost: O(blocks).

        >>> pool = BlockPool("L1", 4); pool.share([2]); pool.free_queue()
        [1, 3]
        """
        free, ref_cnt = self._free, self.ref_cnt
        for block in blocks:
            if not ref_cnt[block]:
                del free[block]
            ref_cnt[block] += 1
        self._say(ev.Share, blocks)

    def release(self, blocks: Sequence[int]) -> None:
        """Take one owner from each block: vLLM's free_blocks.

        Those left without any join the queue: unhashed ones its head, as a group in
        the order given, hashed ones its tail. Changes: ref_cnt, the queue.
        Cost: O(blocks).

        >>> pool = BlockPool("L1", 4, enable_caching=False); _ = pool.take(2)
        >>> pool.release([2, 1]); pool.free_queue()
        [2, 1, 3]
        """
        free, ref_cnt, hashes = self._free, self.ref_cnt, self.block_hash
        blank: list[int] = []
        for block in blocks:
            owners = ref_cnt[block] = ref_cnt[block] - 1
            if owners == 0:
                if hashes[block] is None:
                    blank.append(block)
                else:
                    free[block] = None
        for block in reversed(blank):
            free[block] = None
            free.move_to_end(block, last=False)
        self._say(ev.Release, blocks)

    def reset(self) -> bool:
        """Forget all contents, if nobody holds a block; say whether that was so.

        Changes: hashes; the queue keeps its order. Cost: O(blocks).
        """
        if len(self._free) != self.num_blocks - 1:
            return False
        self.forget(list(self._free))
        return True

    def check(self) -> None:
        """Print the pool and raise AssertionError if a law of it is broken.

        Every block is free or owned, never both; every hash leads to its block.
        Cost: O(blocks).
        """
        wrong = [
            block
            for block in range(1, self.num_blocks)
            if (block in self._free) == (self.ref_cnt[block] > 0)
        ]
        lost = [
            name
            for block, name in enumerate(self.block_hash)
            if name is not None
            and block not in (self._found.get(name), *self._twins.get(name, ()))
        ]
        if wrong or lost:
            print(self.free_queue(), self.ref_cnt, self.block_hash, sep="\n")
        assert not wrong, f"blocks {wrong} are free and owned, or neither"
        assert not lost, f"names {[name.hex() for name in lost]} lead nowhere"

    def _forget_twin(self, block: int, name: BlockHash) -> None:
        """Forget one of several blocks of a name: the next oldest takes its place."""
        twins = self._twins[name]
        if self._found[name] == block:
            self._found[name] = twins.pop(0)
        else:
            twins.remove(block)
        if not twins:
            del self._twins[name]

    def _say(self, kind: type[Event], blocks: Sequence[int]) -> None:
        if blocks and self._emit is not QUIET:
            self._emit(kind, self.tier, as_pages(blocks))
