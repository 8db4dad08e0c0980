"""Does a request get the blocks it needs, and only then?"""

from __future__ import annotations

from kvlab.block_config import BlockConfig
from kvlab.blocks.hashing import Hasher
from kvlab.blocks.kv_cache_manager import Demand, KVCacheManager
from kvlab.record.block_events import Slots
from kvlab.record.trace import BlockHeader, BlockTrace

HASHER = Hasher("sha256_cbor", 4)


def manager(num_blocks: int = 11, **settings: object) -> KVCacheManager:
    return KVCacheManager(
        BlockConfig(num_gpu_blocks=num_blocks, block_size=4, **settings)
    )


def demand(id: str, tokens: list[int], **terms: object) -> Demand:
    terms = {"new": len(tokens), **terms}
    names = HASHER.extend([], tokens)
    return Demand(id, len(tokens), terms.pop("computed", 0), names=names, **terms)


TWELVE = list(range(12))


def after_twelve(**settings: object) -> KVCacheManager:
    """A manager whose pool still knows twelve tokens that nobody holds."""
    blocks = manager(**settings)
    blocks.allocate_slots(demand("first", TWELVE))
    blocks.free("first")
    return blocks


def test_a_prompt_of_whole_blocks_hits_all_but_the_last():
    blocks = after_twelve()
    assert len(blocks.lookup(HASHER.extend([], TWELVE), 12)) == 2


def test_one_more_token_lets_the_last_block_hit():
    blocks = after_twelve()
    assert len(blocks.lookup(HASHER.extend([], TWELVE), 13)) == 3


def test_without_caching_nothing_is_found():
    blocks = after_twelve(enable_caching=False)
    assert blocks.lookup(HASHER.extend([], TWELVE), 13) == []


def test_blocks_can_be_found_before_they_are_computed():
    blocks = manager()
    blocks.allocate_slots(demand("a", TWELVE))
    assert blocks.lookup(HASHER.extend([], TWELVE), 13) == [1, 2, 3]


def test_a_hit_that_nobody_owns_counts_against_what_is_free():
    blocks = after_twelve(num_blocks=6)
    hits = blocks.lookup(HASHER.extend([], TWELVE), 13)
    longer = demand("b", [*TWELVE, *range(50, 62)], hits=hits, new=12)
    assert blocks.allocate_slots(longer) is None


def test_none_changes_nothing():
    blocks = after_twelve(num_blocks=6)
    hits = blocks.lookup(HASHER.extend([], TWELVE), 13)
    before = blocks.pool.free_queue()
    longer = demand("b", [*TWELVE, *range(50, 62)], hits=hits, new=12)
    assert blocks.allocate_slots(longer) is None
    assert blocks.pool.free_queue() == before
    assert blocks.tables == {}


def test_only_new_blocks_are_returned():
    blocks = after_twelve()
    hits = blocks.lookup(HASHER.extend([], TWELVE), 13)
    assert hits == [1, 2, 3]
    assert blocks.allocate_slots(demand("b", [*TWELVE, 99], hits=hits, new=1)) == [4]
    assert blocks.tables["b"] == [1, 2, 3, 4]


def test_the_watermark_is_a_share_of_all_blocks_with_the_null_block():
    assert manager(watermark=0.3).watermark == 3
    assert manager(num_blocks=10, watermark=0.3).watermark == 3


def test_the_watermark_stays_free_when_others_run():
    blocks = manager(watermark=0.5)
    eight_blocks = list(range(32))
    assert blocks.allocate_slots(demand("a", eight_blocks, behind_running=True)) is None


def test_the_first_request_may_take_the_watermark():
    blocks = manager(watermark=0.5)
    assert blocks.allocate_slots(demand("a", list(range(32)))) is not None


def test_the_gate_asks_for_the_whole_prompt():
    gated = demand("a", list(range(48)), new=4, whole_must_fit=True)
    assert manager().allocate_slots(gated) is None


def test_without_the_gate_a_first_piece_is_enough():
    assert manager().allocate_slots(demand("a", list(range(48)), new=4)) == [1]


def test_the_gate_asks_for_no_more_than_the_longest_sequence():
    gated = demand("a", list(range(48)), new=4, whole_must_fit=True)
    assert manager(max_model_len=40).allocate_slots(gated) == [1]


def test_a_prompt_beyond_the_longest_sequence_gets_no_blocks_for_the_rest():
    blocks = manager(max_model_len=6)
    assert blocks.allocate_slots(demand("a", TWELVE)) == [1, 2]


def test_reserved_blocks_are_as_good_as_taken():
    blocks = manager(num_blocks=5)
    assert blocks.allocate_slots(demand("a", TWELVE, reserved=2)) is None
    assert blocks.allocate_slots(demand("a", TWELVE, reserved=1)) == [1, 2, 3]


def test_unfilled_blocks_are_held_and_cannot_be_found():
    blocks = manager()
    load = demand("a", TWELVE, new=0, external=8, unfilled=True)
    assert blocks.allocate_slots(load) == []
    assert blocks.tables["a"] == [1, 2]
    assert blocks.lookup(HASHER.extend([], TWELVE), 13) == []


def test_filled_blocks_are_found_once_they_are_registered():
    blocks = manager()
    blocks.allocate_slots(demand("a", TWELVE, new=0, external=8, unfilled=True))
    blocks.register("a", HASHER.extend([], TWELVE), 8)
    assert blocks.lookup(HASHER.extend([], TWELVE), 13) == [1, 2]


def test_a_token_in_a_block_with_room_takes_no_block():
    blocks = manager()
    blocks.allocate_slots(demand("a", TWELVE[:6]))
    assert blocks.allocate_slots(demand("a", TWELVE[:7], computed=6, new=1)) == []


def test_the_tail_of_a_request_is_evicted_before_its_head():
    blocks = after_twelve()
    assert blocks.pool.free_queue()[-3:] == [3, 2, 1]


def test_a_request_that_holds_nothing_is_freed_without_a_word():
    blocks = manager()
    blocks.free("nobody")
    assert blocks.pool.num_free == 10


def test_the_answer_is_told_with_its_terms():
    config = BlockConfig(num_gpu_blocks=5, block_size=4, watermark=0.2)
    trace = BlockTrace(BlockHeader(config=config))
    blocks = KVCacheManager(config, trace)
    blocks.allocate_slots(demand("a", list(range(16)), behind_running=True))
    said = [event for event in trace.events if isinstance(event, Slots)]
    assert said == [Slots(-1, "a", "this_step", 4, 1, 0, 4, False)]


def test_a_request_beyond_the_longest_sequence_gets_no_more_blocks():
    """As the real manager: 37 tokens asked for step by step, 32 have slots."""
    config = BlockConfig(num_gpu_blocks=11, block_size=8, max_model_len=32)
    manager = KVCacheManager(config)
    for computed, new in ((0, 16), (16, 21), (37, 1)):
        manager.allocate_slots(Demand("a", length=36, computed=computed, new=new))
    assert manager.tables["a"] == [1, 2, 3, 4]


def test_only_blocks_that_have_a_name_count_as_registered():
    """As the real manager: what is named later is registered later."""
    manager = KVCacheManager(BlockConfig(num_gpu_blocks=6, block_size=1))
    names = [bytes([number]) for number in range(4)]
    manager.allocate_slots(Demand("a", length=3, computed=0, new=3, names=names[:3]))
    manager.register("a", names[:3], 8)
    manager.allocate_slots(Demand("a", length=4, computed=3, new=1, names=names))
    assert manager.pool.find(names[3]) == 4
