"""Does the block pool keep its promises?"""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kvlab.blocks.block_pool import BlockPool


def named(*letters: str) -> list[bytes]:
    return [letter.encode() for letter in letters]


def pool_of_used(count: int, total: int = 6, **how: bool) -> BlockPool:
    pool = BlockPool("L1", total, **how)
    pool.take(count)
    return pool


def test_the_null_block_is_never_handed_out():
    assert BlockPool("L1", 4).take(3) == [1, 2, 3]


def test_usage_leaves_the_null_block_out():
    assert pool_of_used(1, total=3).usage == 0.5


def test_a_pool_of_the_null_block_alone_is_unused():
    assert BlockPool("L1", 1).usage == 0.0


def test_unhashed_blocks_go_to_the_head_as_a_group():
    pool = pool_of_used(2)
    pool.release([2, 1])
    assert pool.free_queue() == [2, 1, 3, 4, 5]


def test_hashed_blocks_go_to_the_tail_in_the_order_given():
    pool = pool_of_used(2)
    pool.register([1, 2], named("a", "b"))
    pool.release([2, 1])
    assert pool.free_queue() == [3, 4, 5, 2, 1]


def test_a_block_with_another_owner_stays_out_of_the_queue():
    pool = pool_of_used(1)
    pool.share([1])
    pool.release([1])
    assert pool.free_queue() == [2, 3, 4, 5]


def test_sharing_a_free_block_takes_it_from_the_middle():
    pool = BlockPool("L1", 6)
    pool.share([3])
    assert pool.free_queue() == [1, 2, 4, 5]


def test_finding_does_not_refresh():
    pool = pool_of_used(2)
    pool.register([1, 2], named("a", "b"))
    pool.release([1, 2])
    pool.find(b"a")
    assert pool.free_queue() == [3, 4, 5, 1, 2]


def test_taking_a_block_evicts_its_content():
    pool = pool_of_used(1, total=2)
    pool.register([1], named("a"))
    pool.release([1])
    assert pool.find(b"a") == 1
    pool.take(1)
    assert pool.find(b"a") is None
    assert pool.num_evicted == 1


def test_blank_blocks_are_used_up_before_anything_is_evicted():
    pool = pool_of_used(2)
    pool.register([1], named("a"))
    pool.release([2, 1])
    pool.take(4)
    assert pool.find(b"a") == 1


def test_of_equal_contents_the_first_named_is_found():
    pool = pool_of_used(2)
    pool.register([2], named("a"))
    pool.register([1], named("a"))
    assert pool.find(b"a") == 2


def test_losing_one_of_equal_contents_exposes_the_other():
    pool = pool_of_used(2)
    pool.register([1, 2], named("a", "a"))
    pool.forget([1])
    assert pool.find(b"a") == 2


def test_losing_the_second_of_equal_contents_leaves_the_first():
    pool = pool_of_used(2)
    pool.register([1, 2], named("a", "a"))
    pool.forget([2])
    assert pool.find(b"a") == 1


def test_forgetting_leaves_the_block_where_it_is_in_the_queue():
    pool = pool_of_used(2)
    pool.register([1, 2], named("a", "b"))
    pool.release([1, 2])
    pool.forget([1])
    assert pool.free_queue() == [3, 4, 5, 1, 2]
    assert pool.num_evictable == 1


def test_a_reset_with_a_used_block_is_refused():
    pool = pool_of_used(1)
    pool.register([1], named("a"))
    assert not pool.reset()
    assert pool.find(b"a") == 1


def test_a_reset_forgets_all_and_keeps_the_order():
    pool = pool_of_used(2)
    pool.register([1, 2], named("a", "b"))
    pool.release([2, 1])
    assert pool.reset()
    assert pool.free_queue() == [3, 4, 5, 2, 1]
    assert pool.num_evictable == 0


def test_a_prefix_ends_at_the_first_gap():
    pool = pool_of_used(3)
    pool.register([1, 3], named("a", "c"))
    assert pool.find_prefix(named("a", "b", "c")) == [1]


def test_blocks_behind_another_are_listed_head_first():
    assert BlockPool("L1", 5).free_behind(2) == [3, 4]
    assert BlockPool("L1", 4).free_behind(None) == [1, 2, 3]


def test_taking_more_than_is_free_is_our_own_mistake():
    with pytest.raises(AssertionError, match="3 blocks wanted, 2 free"):
        BlockPool("L1", 3).take(3)


def test_check_finds_a_block_that_is_free_and_owned(capsys):
    pool = BlockPool("L1", 3)
    pool.ref_cnt[2] = 1
    with pytest.raises(AssertionError, match=r"blocks \[2\] are free and owned"):
        pool.check()
    assert "[1, 2]" in capsys.readouterr().out


class Dumb:
    """The same pool as lists, with no thought for speed."""

    def __init__(self, num_blocks: int) -> None:
        self.queue = list(range(1, num_blocks))
        self.owners = [0] * num_blocks
        self.name: list[bytes | None] = [None] * num_blocks
        self.age = [0] * num_blocks
        self.clock = 0

    def find(self, name: bytes) -> int | None:
        having = [b for b, other in enumerate(self.name) if other == name]
        return min(having, key=lambda block: self.age[block], default=None)


class PoolBesideModel(RuleBasedStateMachine):
    """Random operations on the pool and on the dumb one must agree."""

    def __init__(self) -> None:
        super().__init__()
        self.pool, self.dumb = BlockPool("L1", 8), Dumb(8)

    def used(self) -> list[int]:
        return [b for b, owners in enumerate(self.dumb.owners) if owners]

    @rule(count=st.integers(1, 4))
    def take(self, count):
        dumb = self.dumb
        if count <= len(dumb.queue):
            taken, dumb.queue = dumb.queue[:count], dumb.queue[count:]
            for block in taken:
                dumb.owners[block], dumb.name[block] = 1, None
            assert self.pool.take(count) == taken

    @rule(pick=st.integers(0, 6), letter=st.sampled_from("abc"))
    def register(self, pick, letter):
        blank = [b for b in self.used() if self.dumb.name[b] is None]
        if blank:
            block = blank[pick % len(blank)]
            self.dumb.clock += 1
            self.dumb.name[block] = letter.encode()
            self.dumb.age[block] = self.dumb.clock
            self.pool.register([block], named(letter))

    @rule(picks=st.lists(st.integers(1, 7), max_size=4, unique=True))
    def share(self, picks):
        for block in picks:
            self.dumb.owners[block] += 1
            if block in self.dumb.queue:
                self.dumb.queue.remove(block)
        self.pool.share(picks)

    @rule(picks=st.lists(st.integers(0, 6), max_size=4))
    def release(self, picks):
        used, dumb = self.used(), self.dumb
        blocks = list(dict.fromkeys(used[pick % len(used)] for pick in picks if used))
        for block in blocks:
            dumb.owners[block] -= 1
        gone = [block for block in blocks if not dumb.owners[block]]
        blank = [block for block in gone if dumb.name[block] is None]
        dumb.queue = blank + dumb.queue + [b for b in gone if b not in blank]
        self.pool.release(blocks)

    @rule(picks=st.lists(st.integers(1, 7), max_size=3, unique=True))
    def forget(self, picks):
        for block in picks:
            self.dumb.name[block] = None
        self.pool.forget(picks)

    @rule()
    def reset(self):
        empty = len(self.dumb.queue) == 7
        if empty:
            self.dumb.name = [None] * 8
        assert self.pool.reset() == empty

    @invariant()
    def they_agree(self):
        self.pool.check()
        assert self.pool.free_queue() == self.dumb.queue
        assert self.pool.block_hash == self.dumb.name
        assert self.pool.ref_cnt == self.dumb.owners
        for letter in "abc":
            assert self.pool.find(letter.encode()) == self.dumb.find(letter.encode())


TestPoolBesideModel = PoolBesideModel.TestCase
TestPoolBesideModel.settings = settings(max_examples=60, stateful_step_count=30)
