"""Do the reference caches hit what a list searched from end to end hits?

Where `KVLAB_TRACES` names the folder of Mooncake's traces, their published counts too.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from kvlab.lessons.block_caches import (
    Block,
    belady,
    count,
    flat_lru,
    leaf_cache,
    leaf_lru,
)
from kvlab.lessons.scenarios.nb12 import made_up, write_mooncake
from kvlab.record.request_trace import TracedRequest, read_requests

FOLDER = os.environ.get("KVLAB_TRACES", "")
needs_traces = pytest.mark.skipif(
    not FOLDER, reason="KVLAB_TRACES does not name the folder of Mooncake's traces"
)
FLAT = {
    "conversation": {
        1_000: 12_831, 5_000: 31_840, 5_859: 39_101, 10_000: 60_921, 30_000: 93_967,
        50_000: 102_290, 100_000: 104_924, 10**7: 105_710,
    },
    "synthetic": {
        1_000: 10_050, 5_000: 34_018, 5_859: 37_703, 10_000: 51_614, 30_000: 76_077,
        50_000: 77_953, 100_000: 77_953, 10**7: 77_953,
    },
}  # fmt: skip
LEAF = {
    "conversation": {
        1_000: 3_173_822, 5_000: 7_676_186, 10_000: 14_910_149, 30_000: 23_347_784,
        50_000: 25_582_964, 10**7: 27_038_068,
    },
    "synthetic": {
        1_000: 4_755_642, 5_000: 15_246_152, 10_000: 22_061_940, 30_000: 30_623_566,
        10**7: 31_535_563,
    },
}  # fmt: skip


def asks(*prompts: tuple[int, ...]) -> list[TracedRequest]:
    return [TracedRequest(0, 512 * len(ids), 1, ids) for ids in prompts]


def few(seed: int) -> list[TracedRequest]:
    return made_up(seed, talks=12, at_once=4)


def by_list(requests, capacity):
    """An LRU as a list, the coldest block first."""
    held: list[int] = []
    for request in requests:
        ids = request.hash_ids
        yield next((at for at, id in enumerate(ids) if id not in held), len(ids))
        for id in ids:
            if id in held:
                held.remove(id)
            held.append(id)
            del held[:-capacity]


@pytest.mark.parametrize("capacity", [1, 7, 40, 400])
def test_flat_lru_equals_a_list(capacity):
    requests = few(1)
    assert list(flat_lru(requests, capacity)) == list(by_list(requests, capacity))


def test_a_leaf_cache_never_keeps_a_block_without_the_one_above():
    """So all that are resident are hit: a request's hits and the rest of its path."""
    seen: set[tuple[int, ...]] = set()

    def key(block: Block) -> int:
        seen.add((block.depth, block.prompt))
        return block.last_use

    requests = asks((1, 2, 3), (4,), (1, 2, 3), (4, 5), (1, 2, 3))
    assert list(leaf_cache(requests, 4, key)) == [0, 0, 3, 1, 2]
    assert (2, 3) in seen and (0, 1) in seen


def test_a_leaf_cache_leaves_the_path_of_the_request_alone():
    requests = asks((1, 2), (1, 3), (1, 2))
    assert list(leaf_lru(requests, 2)) == [0, 1, 1]
    assert list(leaf_lru(asks((1, 2, 3), (1, 2, 3)), 2)) == [0, 2]


def test_flat_lru_may_lose_a_root_that_leaf_lru_keeps():
    requests = asks((1, 2, 3), (4,), (1, 2, 3))
    assert list(flat_lru(requests, 3)) == [0, 0, 0]
    assert list(leaf_lru(requests, 3)) == [0, 0, 2]


@pytest.mark.parametrize("capacity", [5, 20, 80, 300])
def test_nobody_lies_above_belady(capacity):
    requests = few(2)
    best, any_order = count(belady, requests, capacity).hits, Random(0)
    for key in (
        lambda block: block.last_use,
        lambda block: -block.last_use,
        lambda block: (block.hits, block.last_use),
        lambda block: any_order.random(),
    ):
        mine = count(lambda r, c, key=key: leaf_cache(r, c, key), requests, capacity)
        assert mine.hits <= best
    assert count(flat_lru, requests, capacity).hits <= best


def test_all_meet_where_all_blocks_fit():
    requests = few(3)
    everything = len({id for request in requests for id in request.hash_ids})
    found = {
        count(each, requests, everything).hits for each in (flat_lru, leaf_lru, belady)
    }
    assert len(found) == 1


def test_a_hit_of_the_last_block_counts_what_the_prompt_has_of_it():
    request = TracedRequest(0, 600, 1, (1, 2))
    found = count(flat_lru, [request, request], 4)
    assert (found.hit_tokens, found.tokens, found.hits, found.blocks) == (
        600, 1200, 2, 4,
    )  # fmt: skip


def test_a_window_is_counted_with_the_cache_that_was_filled_before():
    requests = asks((1, 2), (1, 2))
    assert count(flat_lru, requests, 2, start=1).ratio == 1.0


def test_a_made_up_trace_is_read_back_as_it_was(tmp_path):
    made = few(4)
    read = read_requests(write_mooncake(made, tmp_path / "t.jsonl")).requests
    assert [tuple(r.hash_ids) for r in read] == [r.hash_ids for r in made]
    assert [r.input_length for r in read] == [r.input_length for r in made]


@needs_traces
@pytest.mark.parametrize("name", FLAT)
def test_flat_lru_hits_the_published_blocks(name):
    requests = read_requests(Path(FOLDER) / f"{name}_trace.jsonl").requests
    found = {size: count(flat_lru, requests, size).hits for size in FLAT[name]}
    assert found == FLAT[name]


@needs_traces
@pytest.mark.parametrize("name", LEAF)
def test_leaf_lru_hits_the_published_tokens_in_the_last_half(name):
    requests = read_requests(Path(FOLDER) / f"{name}_trace.jsonl").requests
    half = len(requests) // 2
    found = {
        size: count(leaf_lru, requests, size, start=half).hit_tokens
        for size in LEAF[name]
    }
    assert found == LEAF[name]


@needs_traces
def test_belady_at_ten_thousand_blocks_is_conversations_ceiling():
    requests = read_requests(Path(FOLDER) / "conversation_trace.jsonl").requests
    half = len(requests) // 2
    found = count(belady, requests, 10_000, start=half).hit_tokens
    assert found == LEAF["conversation"][10**7]
