"""Which laws does every sound state of a block engine obey?

A law is a function of a state: None where it holds, else one sentence with the
numbers. They hold between operations; within one a block may change hands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import chain

from .block_snapshot import BlockState
from .events import Tier

BlockLaw = Callable[[BlockState], str | None]

_TIERS: tuple[Tier, ...] = ("L1", "L2")


def broken_blocks(state: BlockState) -> list[str]:
    """Return what is wrong with the state: one sentence a broken law, none if sound.

    Cost: O(blocks + requests).

    >>> from kvlab.block_config import BlockConfig
    >>> broken_blocks(BlockState.start(BlockConfig()))
    []
    """
    return [sentence for law in BLOCK_LAWS if (sentence := law(state)) is not None]


def every_block_is_in_one_place(state: BlockState) -> str | None:
    """A block but the null block is in the free queue or has an owner, never both."""
    for tier in _TIERS:
        pool = state.tiers[tier]
        for block in range(1, pool.num_blocks):
            owners = pool.ref_cnt.get(block, 0)
            if (block in pool.free) == (owners > 0):
                place = "free" if block in pool.free else "not free"
                return f"block {block} of {tier} is {place} and has {owners} owners"
        if 0 in pool.free or 0 in pool.ref_cnt:
            return f"the null block of {tier} was handed out"
    return None


def ref_counts_are_owners(state: BlockState) -> str | None:
    """ref_cnt counts block tables and the connector's holds (touch, free_blocks); the
    offloading connector holds nothing of L1."""
    copies = [*state.stores.values(), *state.loads.values()]
    tables = [request.blocks for request in state.requests.values()]
    l2 = state.config.l2
    holds = [] if l2 and l2.connector == "offloading" else [l1 for l1, _ in copies]
    owners: dict[Tier, Counter[int]] = {
        "L1": Counter(chain(*tables, *holds)),
        "L2": Counter(chain(*state.pins.values(), *(l2 for _, l2 in copies))),
    }
    for tier in _TIERS:
        said = state.tiers[tier].ref_cnt
        for block in sorted(said.keys() | owners[tier].keys()):
            if said.get(block, 0) != owners[tier][block]:
                return (
                    f"block {block} of {tier} has ref_cnt {said.get(block, 0)} and "
                    f"{owners[tier][block]} owners"
                )
    return None


def tables_cover_what_is_computed(state: BlockState) -> str | None:
    """A running request has a block for each computed token (allocate_slots)."""
    size = state.config.block_size
    for id in state.running:
        request = state.requests[id]
        room = len(request.blocks) * size
        if request.blocks and room < request.computed:
            return f"request {id} has {request.computed} tokens in {room} places"
    return None


def who_waits_holds_nothing(state: BlockState) -> str | None:
    """Only running requests and those with a load hold blocks (_preempt_request); who
    left, only while a load, or a step under way, writes there (_free_request)."""
    late = state.config.async_scheduling and state.config.l2 is not None
    for request in state.requests.values():
        left = request.stage in ("finished", "dropped")
        written = left and (late or request.id in state.loads)
        idle = left or request.stage in ("waiting", "preempted")
        if idle and not written and request.blocks:
            return (
                f"request {request.id} is {request.stage} and holds "
                f"{len(request.blocks)} blocks"
            )
    return None


def every_request_stands_once(state: BlockState) -> str | None:
    """A request that is not finished is running, waiting or deferred, once."""
    places = Counter(chain(state.running, state.waiting, state.deferred))
    for id, request in state.requests.items():
        wanted = 0 if request.stage in ("finished", "dropped") else 1
        if places[id] != wanted:
            return f"request {id} is {request.stage} and stands in {places[id]} queues"
    if len(state.running) > state.config.max_num_seqs:
        return f"{len(state.running)} run of at most {state.config.max_num_seqs}"
    return None


def only_full_blocks_have_names(state: BlockState) -> str | None:
    """A block of a table is named only if its tokens fill it (cache_blocks)."""
    size, names = state.config.block_size, state.tiers["L1"].names
    for request in state.requests.values():
        full = (request.prompt_len + request.outputs) // size
        for at, block in enumerate(request.blocks[full:], full):
            if block in names:
                return f"block {block}, number {at} of {request.id}, is named early"
    return None


BLOCK_LAWS: tuple[BlockLaw, ...] = (
    every_block_is_in_one_place,
    ref_counts_are_owners,
    tables_cover_what_is_computed,
    who_waits_holds_nothing,
    every_request_stands_once,
    only_full_blocks_have_names,
)
