"""Do blocks reach the CPU and come back as SimpleCPUOffload has it?"""

from __future__ import annotations

from kvlab.block_config import BlockConfig, L2Config
from kvlab.blocks.block_pool import BlockPool
from kvlab.blocks.connector import Computed, Copies
from kvlab.blocks.offload import CpuOffload


def named(count: int, letter: str = "n") -> list[bytes]:
    return [f"{letter}{number}".encode() for number in range(count)]


def stored_by(copies: Copies) -> list[int]:
    """The blocks of the step's only store."""
    (pairs,) = copies.stores.values()
    return pairs.l1


class Bench:
    """An L1 of ten blocks, an L2 of eight, and blocks of four tokens."""

    def __init__(self, lazy: bool = False, cpu: int = 9) -> None:
        l2 = L2Config(num_cpu_blocks=cpu, lazy=lazy)
        config = BlockConfig(
            num_gpu_blocks=11, block_size=4, max_num_batched_tokens=16, l2=l2
        )
        self.l1 = BlockPool("L1", 11)
        self.offload = CpuOffload(config, self.l1)

    def hold(self, id: str, count: int) -> list[int]:
        """Let a request hold full blocks of its own."""
        blocks = self.l1.take(count)
        self.l1.register(blocks, named(count, id))
        self.offload.started(id, blocks, 0)
        return blocks

    def store(self, id: str, blocks: list[int], confirmed: int) -> int | None:
        """Plan a step in which the request runs; return the store's number."""
        plan = self.offload.plan([Computed(id, blocks, confirmed)], [])
        return next(iter(plan.stores), None)

    def stored(self, id: str, count: int) -> list[int]:
        blocks = self.hold(id, count)
        self.offload.stored(self.store(id, blocks, 4 * count))
        return blocks


def test_only_confirmed_blocks_are_offered():
    bench = Bench()
    blocks = bench.hold("a", 3)
    bench.store("a", blocks, 11)
    assert bench.offload.stores[0].pairs.l1 == blocks[:2]


def test_a_full_l2_leaves_what_is_under_copy_to_be_offered_later():
    bench = Bench(cpu=2)
    blocks = bench.hold("a", 1)
    bench.offload.started("b", blocks, 0)
    bench.store("a", blocks, 4)
    bench.store("b", blocks, 4)
    bench.offload.stored(0)
    bench.offload.l2.reset()
    assert bench.store("b", blocks, 4) == 1


def test_a_block_is_offered_once():
    bench = Bench()
    blocks = bench.stored("a", 2)
    assert bench.store("a", blocks, 8) is None


def test_a_readmitted_request_offers_from_its_start_again():
    bench = Bench()
    blocks = bench.hold("a", 2)
    bench.offload.stored(bench.store("a", blocks, 8))
    bench.offload.l2.reset()
    bench.offload.started("a", blocks, 0)
    assert bench.store("a", blocks, 8) == 1


def test_a_block_under_copy_has_the_connector_as_an_owner():
    bench = Bench()
    blocks = bench.hold("a", 1)
    bench.store("a", blocks, 4)
    assert bench.l1.ref_cnt[blocks[0]] == 2
    bench.offload.stored(0)
    assert bench.l1.ref_cnt[blocks[0]] == 1


def test_a_stored_block_can_be_found_only_when_the_store_is_done():
    bench = Bench()
    blocks = bench.hold("a", 1)
    bench.store("a", blocks, 4)
    assert bench.offload.l2.num_findable == 0
    bench.offload.stored(0)
    assert bench.offload.l2.num_findable == 1


def test_what_l2_knows_is_not_copied_again():
    bench = Bench()
    bench.stored("a", 1)
    twin = bench.l1.take(1)
    bench.l1.register(twin, named(1, "a"))
    bench.offload.started("b", twin, 0)
    assert bench.store("b", twin, 4) is None


def test_a_block_of_two_requests_is_copied_once():
    bench = Bench()
    blocks = bench.hold("a", 1)
    bench.offload.started("b", blocks, 0)
    both = [Computed(id, blocks, 4) for id in "ab"]
    assert stored_by(bench.offload.plan(both, [])) == blocks


def test_a_full_l2_takes_what_it_has_room_for():
    bench = Bench(cpu=3)
    blocks = bench.hold("a", 4)
    bench.store("a", blocks, 16)
    assert bench.offload.stores[0].pairs.l1 == blocks[:2]


def test_what_found_no_room_is_offered_again_though_l2_knows_what_follows():
    bench = Bench(cpu=3)
    known = bench.stored("k", 1)
    bench.offload.matched("reader", named(1, "k"), 5, 0)
    blocks = bench.hold("a", 2)
    bench.store("a", [*blocks, *known], 12)
    assert bench.offload.stores[1].pairs.l1 == blocks[:1]
    bench.offload.stored(1)
    bench.offload.matched("reader", [], 5, 0)
    bench.store("a", [*blocks, *known], 12)
    assert bench.offload.stores[2].pairs.l1 == blocks[1:]


def test_what_a_finished_request_has_left_is_stored_with_the_next_step():
    bench = Bench()
    blocks = bench.hold("a", 1)
    bench.offload.finished(Computed("a", blocks, 4))
    assert bench.l1.ref_cnt[blocks[0]] == 2
    assert stored_by(bench.offload.plan([], [])) == blocks


def test_blocks_of_the_step_come_before_those_of_finished_requests():
    bench = Bench()
    done, live = bench.hold("a", 1), bench.hold("b", 1)
    bench.offload.finished(Computed("a", done, 4))
    plan = bench.offload.plan([Computed("b", live, 4)], [])
    assert stored_by(plan) == live + done


def test_a_match_goes_on_behind_what_l1_has():
    bench = Bench()
    bench.stored("a", 3)
    names = named(3, "a")
    assert bench.offload.matched("b", names, 13, local=4) == 8
    assert bench.offload.pending["b"] == [2, 3]


def test_a_match_leaves_the_last_token_to_compute():
    bench = Bench()
    bench.stored("a", 3)
    assert bench.offload.matched("b", named(3, "a"), 12, local=0) == 8


def test_what_was_matched_is_pinned_until_the_next_match():
    bench = Bench()
    bench.stored("a", 2)
    bench.offload.matched("b", named(2, "a"), 9, local=0)
    assert bench.offload.l2.ref_cnt[1] == 1
    bench.offload.matched("b", named(2, "x"), 9, local=0)
    assert bench.offload.l2.ref_cnt[1] == 0


def test_a_load_holds_blocks_on_both_tiers_until_it_is_done():
    bench = Bench()
    bench.stored("a", 2)
    bench.offload.matched("b", named(2, "a"), 9, local=0)
    blocks = bench.l1.take(2)
    bench.offload.started("b", blocks, 0)
    assert [bench.l1.ref_cnt[block] for block in blocks] == [2, 2]
    bench.offload.loaded("b")
    assert [bench.l1.ref_cnt[block] for block in blocks] == [1, 1]
    assert bench.offload.l2.num_free == 8


def test_a_load_is_in_the_metadata_of_one_step():
    bench = Bench()
    bench.stored("a", 1)
    bench.offload.matched("b", named(1, "a"), 9, local=0)
    bench.offload.started("b", bench.l1.take(1), 0)
    loads = [list(bench.offload.plan([], []).loads) for _ in range(2)]
    assert loads == [["b"], []]


def test_a_preempting_step_asks_for_a_flush():
    assert Bench().offload.plan([], ["a"]).flush


def test_lazy_copies_what_stands_near_the_head_of_the_queue():
    bench = Bench(lazy=True)
    blocks = bench.l1.take(10)
    bench.l1.register(blocks, named(10))
    bench.l1.release(blocks)
    assert stored_by(bench.offload.plan([], [])) == blocks[:8]


def test_lazy_goes_on_behind_where_it_ended():
    bench = Bench(lazy=True)
    bench.offload.plan([], [])
    blocks = bench.l1.take(2)
    bench.l1.register(blocks, named(2))
    bench.l1.release(blocks)
    assert stored_by(bench.offload.plan([], [])) == blocks


def test_lazy_offers_nothing_when_a_request_finishes():
    bench = Bench(lazy=True)
    blocks = bench.hold("a", 1)
    bench.offload.finished(Computed("a", blocks, 4))
    assert bench.l1.ref_cnt[blocks[0]] == 1


def test_lazy_begins_anew_once_its_last_block_was_taken():
    bench = Bench(lazy=True)
    bench.offload.plan([], [])
    blocks = bench.l1.take(10)
    bench.offload.plan([], [])
    bench.l1.register(blocks, named(10))
    bench.l1.release(blocks[7:] + blocks[:7])
    plan = bench.offload.plan([], [])
    assert stored_by(plan) == blocks[7:] + blocks[:5]
