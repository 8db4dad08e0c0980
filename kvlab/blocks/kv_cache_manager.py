"""May this request have the blocks it needs, and which does it hold?

A request's block table, while slots for a step are being given:

        |<-- computed -->|<-- hits -->|<- external ->|<---- new ---->|
        |  held already  | touched,   |  taken, to be | taken, to be |
        |                | may be free|  loaded       | computed     |

Only `external` and `new` need blocks from the queue, but a hit that nobody owns leaves
the queue too: it counts against what is free. Running out is an answer: None.
Left out: sliding windows and other attention than full.
Source: vLLM 0.33.0, v1/core/kv_cache_manager.py and single_type_kv_cache_manager.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from ..block_config import BlockConfig
from ..pages import as_pages
from ..record import block_events as ev
from ..record.trace import QUIET, Emitter
from .block_pool import BlockPool
from .hashing import BlockHash, Numbers, short_name


class Demand(NamedTuple):
    """What a request asks of one step.

    Units: tokens; `hits` and `reserved` blocks. `length` is prompt and outputs so
    far. `behind_running`: the watermark is kept free, since others run already.
    `whole_must_fit`: the gate for prompts that are prefilled in pieces. `unfilled`:
    the contents come later, so nothing is registered yet.
    """

    id: str
    length: int
    computed: int
    new: int
    names: Sequence[BlockHash] = ()
    hits: Sequence[int] = ()
    external: int = 0
    reserved: int = 0
    behind_running: bool = False
    whole_must_fit: bool = False
    unfilled: bool = False


class KVCacheManager:
    """The L1 pool and the block tables of the requests that hold blocks.

    >>> config = BlockConfig(num_gpu_blocks=5, block_size=4, enable_caching=False)
    >>> manager = KVCacheManager(config)
    >>> manager.allocate_slots(Demand("a", length=6, computed=0, new=6))
    [1, 2]
    >>> manager.allocate_slots(Demand("b", length=12, computed=0, new=12)) is None
    True
    """

    def __init__(self, config: BlockConfig, emit: Emitter = QUIET) -> None:
        self.config = config
        self.block_size = config.block_size
        self.pool = BlockPool(
            "L1",
            config.num_gpu_blocks,
            emit,
            enable_caching=config.enable_caching,
            tell=Numbers().tell if config.hash_algo == "chain64" else short_name,
        )
        self.watermark = int(config.watermark * config.num_gpu_blocks)
        self.tables: dict[str, list[int]] = {}
        self._num_registered: dict[str, int] = {}
        self._emit = emit

    def lookup(self, names: Sequence[BlockHash], length: int) -> list[int]:
        """Return the blocks that hold the longest known prefix of `length` tokens.

        The last token is never part of it: its logits must be computed, and with it
        a prompt of whole blocks recomputes its last block. Changes nothing.
        Cost: O(blocks found).
        """
        if not self.config.enable_caching:
            return []
        return self.pool.find_prefix(islice(names, (length - 1) // self.block_size))

    def allocate_slots(self, demand: Demand) -> list[int] | None:
        """Give the request blocks for this step; return the new ones, or None.

        On None nothing has changed. Changes: the pool, the table; registers the full
        blocks, although their content is computed only after this.
        Cost: O(blocks given).
        """
        if not self._fits(demand):
            return None
        if demand.hits:
            self.pool.share(demand.hits)
            self._hold(demand.id, demand.hits)
            self._num_registered[demand.id] = len(demand.hits)
        before_new = demand.computed + self._found(demand)
        self._grow(demand.id, min(before_new, self.config.max_model_len))
        new = self._grow(demand.id, self._end(demand))
        if not demand.unfilled:
            known = min(before_new + demand.new, demand.length)
            self.register(demand.id, demand.names, known)
        return new

    def blocks_needed(self, id: str, tokens: int) -> int:
        """Return how many blocks beyond its own the request needs for `tokens`."""
        return self._blocks(tokens) - len(self.tables.get(id, ()))

    def register(self, id: str, names: Sequence[BlockHash], length: int) -> None:
        """Make the request's full blocks within `length` tokens findable.

        Changes: the pool's hashes. Cost: O(blocks not registered before).
        """
        if not self.config.enable_caching:
            return
        first = self._num_registered.get(id, 0)
        end = min(length // self.block_size, len(names))
        if first < end:
            blocks = self.tables[id][first:end]
            self.pool.register(blocks, names[first : first + len(blocks)])
            self._num_registered[id] = end

    def free(self, id: str) -> None:
        """Give up the request's blocks, the last one first.

        Changes: the pool, the table. Without a table nothing happens.
        """
        self._num_registered.pop(id, None)
        blocks = self.tables.pop(id, None)
        if blocks:
            self._emit(ev.Vacate, id)
            self.pool.release(blocks[::-1])

    # --- the terms

    def _fits(self, demand: Demand) -> bool:
        """Is there room: for the whole request, if asked, and for this step?"""
        kept = self.watermark if demand.behind_running else 0
        own = sum(not self.pool.ref_cnt[block] for block in demand.hits)
        own -= len(demand.hits)
        if demand.whole_must_fit:
            whole = min(demand.length, self.config.max_model_len)
            need = max(self.blocks_needed(demand.id, whole) + own, 0)
            if need + kept > self.pool.num_free:
                return self._answer(demand, "full_sequence", need, kept, 0)
        need = max(self.blocks_needed(demand.id, self._end(demand)) + own, 0)
        return self._answer(demand, "this_step", need, kept, demand.reserved)

    def _answer(
        self, demand: Demand, line: str, need: int, kept: int, reserved: int
    ) -> bool:
        free = self.pool.num_free
        fits = need + kept <= free - reserved
        if need or not fits:
            self._emit(ev.Slots, demand.id, line, need, kept, reserved, free, fits)
        return fits

    def _found(self, demand: Demand) -> int:
        """Return the tokens that need no computing: hits and what will be loaded."""
        return len(demand.hits) * self.block_size + demand.external

    def _end(self, demand: Demand) -> int:
        """Return how many tokens have slots after this step: a prompt beyond the
        model's longest sequence gets none for the rest."""
        end = demand.computed + self._found(demand) + demand.new
        return min(end, self.config.max_model_len)

    def _blocks(self, tokens: int) -> int:
        return -(-tokens // self.block_size)

    def _grow(self, id: str, tokens: int) -> list[int]:
        """Let the table cover `tokens` tokens; return the blocks taken for it."""
        blocks = self.pool.take(max(self.blocks_needed(id, tokens), 0))
        if blocks:
            self._hold(id, blocks)
        return blocks

    def _hold(self, id: str, blocks: Sequence[int]) -> None:
        self.tables.setdefault(id, []).extend(blocks)
        self._emit(ev.Hold, id, as_pages(blocks))
