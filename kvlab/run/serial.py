"""What would the cache have saved, had the requests come one by one?

Each request of a trace is matched, loaded back where the host has more, locked, given
room, inserted and released before the next begins; every copy is acknowledged at once.
Nothing waits, so the figures show the cache alone, and equal those of the real engine
driven the same way. Left out: time, queues, outputs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..cache.tree import Node
from ..errors import OutOfPool
from ..geometry import ceil_page, floor_page
from ..pages import join
from ..record import events as ev
from ..record.events import Tokens
from ..record.trace import QUIET, Emitter
from .engine import Engine


@dataclass
class Sums:
    """Sums over the requests served, in tokens."""

    requests: int = 0
    input_tokens: int = 0
    device_hit_tokens: int = 0
    host_hit_tokens: int = 0
    loaded_back_tokens: int = 0
    computed_tokens: int = 0


class SerialReplay:
    """One engine that serves whole requests, one after the other.

    With `unit` the whole list may match; otherwise all but the last token. Room is
    made for whole pages only; with `engine_room` for what the engine asks before it
    knows better: all tokens and a page, of which the partial page is given back.

    >>> from kvlab.cache.key import as_tokens
    >>> from kvlab.config import EngineConfig
    >>> from kvlab.rules import Rules
    >>> config = EngineConfig(pool_tokens=64, tree="radix")
    >>> replay = SerialReplay(Engine(config, Rules.v0_5_14(), mode="ledger"))
    >>> replay.serve(as_tokens(range(20))); replay.serve(as_tokens(range(30)))
    >>> replay.sums.device_hit_tokens, replay.sums.computed_tokens
    (20, 30)
    """

    def __init__(
        self,
        engine: Engine,
        emit: Emitter = QUIET,
        *,
        unit: bool = False,
        engine_room: bool = False,
    ) -> None:
        self.engine = engine
        self.sums = Sums()
        self._emit = emit
        self._spare = 0 if unit else 1
        self._engine_room = engine_room and engine.config.page_size > 1

    def serve_all(self, prompts: Iterable[Tokens]) -> Sums:
        """Serve the prompts in order; return the sums so far. Changes: the engine.

        Raises: OutOfPool as `serve`.
        """
        for tokens in prompts:
            self.serve(tokens)
        return self.sums

    def serve(self, tokens: Tokens) -> None:
        """Serve one prompt from match to release. Changes: the engine, the sums.

        Raises: OutOfPool for a prompt that the device cannot hold.
        """
        number = self.sums.requests
        id = f"r{number}"
        with self._emit.of(ev.Step, number, "request", id):
            self._emit(ev.Arrive, id, len(tokens), 0, 0)
            self._serve(id, tokens)
            self._emit(ev.Finish, id)

    def _serve(self, id: str, tokens: Tokens) -> None:
        cache, length = self.engine.cache, len(tokens)
        match = cache.match_prefix(tokens[: length - self._spare])
        node = match.last_device
        cache.inc_lock_ref(node)
        prefix = match.device_len
        if match.host_len and (loaded := self._load_back(match.best)):
            cache.inc_lock_ref(match.best)
            cache.dec_lock_ref(node)
            node, prefix = match.best, prefix + loaded
        self._emit(
            ev.Prefill, id, match.device_len, match.host_len,
            prefix - match.device_len, length - prefix,
        )  # fmt: skip
        self._emit(ev.Start, id, length, False)
        self._insert(tokens, prefix, node)
        cache.dec_lock_ref(node)
        self._acknowledge()
        self._count(length, match.device_len, match.host_len, prefix)

    def _load_back(self, best: Node) -> int:
        """Bring the host part home and acknowledge it; return its tokens, or 0."""
        cache = self.engine.host_cache
        if cache is None:
            return 0
        pages = cache.init_load_back(best)
        cache.start_loading()
        cache.loading_check()
        return len(pages) * cache.page_size

    def _insert(self, tokens: Tokens, prefix: int, node: Node) -> None:
        """Place and insert the whole pages beyond the prefix; free what is double."""
        cache = self.engine.cache
        page = cache.page_size
        whole = floor_page(len(tokens), page)
        size = max(whole - prefix, 0)
        if self._engine_room:
            cache.make_room(len(tokens) - prefix + page)
            pages = cache.allocator.alloc(ceil_page(len(tokens) - prefix, page) // page)
        else:
            cache.make_room(size)
            pages = cache.allocator.alloc(size // page)
        if pages is None:
            raise OutOfPool(
                f"request {self.sums.requests} wants {len(tokens) - prefix} tokens "
                f"more on a device of {cache.allocator.total}; use a larger pool"
            )
        given, start = pages, prefix
        if not node.attached:  # dropped while it was being loaded: all goes in anew
            given, start = join([cache.prefix_pages(node), pages]), 0
        cache.insert(tokens[:whole], given, start=start, owned=prefix)
        cache.allocator.free(pages[size // page :])

    def _acknowledge(self) -> None:
        if self.engine.host_cache:
            self.engine.host_cache.flush_writes()
            self.engine.host_cache.writing_check()

    def _count(self, length: int, device: int, host: int, prefix: int) -> None:
        sums = self.sums
        sums.requests += 1
        sums.input_tokens += length
        sums.device_hit_tokens += device
        sums.host_hit_tokens += host
        sums.loaded_back_tokens += prefix - device
        sums.computed_tokens += length - prefix
