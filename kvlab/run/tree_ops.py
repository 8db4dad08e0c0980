"""How does an engine answer the ops of a script that name no request?

Matches, inserts, locks and evictions, and the copies between the tiers, each told in
the words of the recorded states.
Left out: requests and rounds (runner.py); ops on vLLM's blocks (block_ops.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..cache.key import as_tokens
from ..cache.radix import MatchResult
from ..cache.tree import Node
from ..geometry import floor_page
from ..memory.pool import fingerprints
from ..memory.transfer import HandTransfer, InstantTransfer
from ..record.trace import QUIET, Emitter
from . import script as sc
from .engine import Engine

Result = dict[str, Any]


class TreeOps:
    """One engine, and what it answers to ops on its tree and its tiers.

    With `eager` copies move their bytes at submission, as in the recordings. `build`
    makes the engine, for runs that want another one than `Engine` by itself.
    """

    def __init__(
        self,
        script: sc.Script,
        emit: Emitter = QUIET,
        *,
        eager: bool = False,
        build: Callable[..., Engine] = Engine,
    ) -> None:
        link = HandTransfer if script.manual_dma else InstantTransfer
        self.engine = build(script.config, script.rules, emit=emit, link=link(eager))
        self.manual = script.manual_dma
        self.dump_slots = script.dump_slots
        self._name = script.name
        self._where = script.name
        self._eager = eager
        self._locks: dict[str, Node] = {}
        self._first_out: dict[str, int] = {}
        self._emit = emit

    # --- the tree alone

    def _match(self, op: sc.MatchOp) -> Result:
        match = self.engine.cache.match_prefix(as_tokens(op.tokens), _space(op.extra))
        return {
            "device_hit": match.device_len,
            "host_hit": match.host_len,
            "last_device_len": path_len(match.last_device),
            "best_len": path_len(match.best),
        }

    def _insert(self, op: sc.InsertOp) -> Result:
        cache = self.engine.cache
        size = floor_page(len(op.tokens), cache.page_size)
        if size == 0:
            return {"prefix_len": 0, "allocated": 0}
        cache.make_room(size)
        pages = cache.allocator.alloc(size // cache.page_size)
        if pages is None:
            return {
                "oom": True,
                "need": size,
                "available": cache.allocator.available,
            }
        key = as_tokens(op.tokens)[:size]
        self.engine.fill(key, pages)
        found = cache.insert(
            key, pages, priority=op.priority, chunked=op.chunked, space=_space(op.extra)
        )
        return {"prefix_len": found.prefix_len, "allocated": size}

    def _lock(self, op: sc.LockOp) -> Result:
        match = self.engine.cache.match_prefix(as_tokens(op.tokens))
        delta = self.engine.cache.inc_lock_ref(match.last_device)
        self._locks[op.id] = match.last_device
        told = delta if self.engine.rules.lock_tells_evictable else -delta
        return {"locked_len": path_len(match.last_device), "delta": told}

    def _unlock(self, op: sc.UnlockOp) -> Result:
        node = self._locks.pop(op.id, None)
        if node is None:
            return {"skipped": True}
        delta = self.engine.cache.dec_lock_ref(node)
        return {"delta": delta if self.engine.rules.lock_tells_evictable else None}

    def _evict(self, op: sc.EvictOp) -> Result:
        return {"evicted": self.engine.cache.evict(op.n)}

    # --- the host tier

    def _evict_host(self, op: sc.EvictHostOp) -> Result:
        before = self.engine.host_available
        freed = self.engine.host_cache.evict_host(op.n) if self.engine.host_cache else 0
        silent = self.engine.rules.evict_host_returns_none
        return {
            "freed": self.engine.host_available - before,
            "returned": None if silent else freed,
        }

    def _ack_write(self, op: sc.AckWriteOp) -> Result:
        cache = self.engine.host_cache
        if cache is None:
            return {"acked": 0}
        self.engine.link.complete("write", op.k)
        return {"acked": cache.writing_check()}

    def _ack_load(self, op: sc.AckLoadOp) -> Result:
        cache = self.engine.host_cache
        if cache is None:
            return {"acked": 0}
        self.engine.link.complete("load", op.k)
        return {"acked": cache.loading_check()}

    def _check_events(self, op: sc.CheckEventsOp) -> Result:
        self.engine.scheduler.check_events()
        return {}

    def _load_back(self, op: sc.LoadBackOp) -> Result:
        tokens = as_tokens(op.tokens)
        match = self.engine.cache.match_prefix(tokens)
        result: Result = {
            "device_hit": match.device_len,
            "host_hit": match.host_len,
            "loaded": 0,
            "refused": False,
        }
        cache = self.engine.host_cache
        if match.host_len == 0 or cache is None:
            return result | {"why": "nothing on host beyond device prefix"}
        available = cache.allocator.available
        pages = cache.init_load_back(match.best, op.quota)
        cache.start_loading()
        last = match.best if len(pages) else match.last_device
        loaded = len(pages) * cache.page_size
        result |= {"loaded": loaded, "refused": not loaded, "why": None}
        if not loaded:
            result["why"] = self._why(match, op.quota, available)
        result["last_len"] = path_len(last)
        result["loaded_data_ok"] = None
        if loaded and self._eager:
            wanted = fingerprints(tokens)[match.device_len :][:loaded]
            found = self.engine.device_pool.read(pages)
            result["loaded_data_ok"] = bool(np.array_equal(found, wanted))
        return result

    def _why(self, match: MatchResult, quota: int | None, available: int) -> str:
        """Infer a refusal's reason as the recordings did: the engine does not say."""
        if match.host_len < self.engine.config.load_threshold:
            return "below_threshold"
        if quota is not None and available == self.engine.cache.allocator.available:
            return "over_quota_or_no_memory"
        return "no_device_memory"


def _space(extra: str | None) -> str:
    """Return the tree's name of a namespace: "" is none; the engine keeps one that is
    called "" apart from it."""
    return extra or ("" if extra is None else '""')


def path_len(node: Node) -> int:
    """Return the tokens from the root to the end of the node."""
    length = 0
    while node.parent is not None:
        length += node.size
        node = node.parent
    return length
