"""An engine with a trace, right contents and copies acknowledged by hand, for tests."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from folding import Folded, differences

from kvlab.cache.key import as_tokens, whole_pages
from kvlab.cache.radix import MatchResult
from kvlab.cache.tree import Node
from kvlab.config import EngineConfig
from kvlab.memory.pool import fingerprints
from kvlab.memory.transfer import HandTransfer
from kvlab.record.events import Event
from kvlab.record.invariants import broken
from kvlab.record.snapshot import State
from kvlab.record.trace import Header, Trace
from kvlab.rules import Rules
from kvlab.run.engine import Engine

RULES = Rules.v0_5_14()


class Bench:
    """One engine, under the rules of 0.5.14 unless told otherwise; knobs are those of
    `EngineConfig`."""

    def __init__(
        self,
        *,
        rules: Rules = RULES,
        link: HandTransfer | None = None,
        **knobs: object,
    ) -> None:
        self.config = EngineConfig(**{"pool_tokens": 64, **knobs})
        self.trace = Trace(Header(config=self.config, rules=rules))
        self.link = link or HandTransfer()
        self.engine = Engine(self.config, rules, emit=self.trace, link=self.link)
        self.cache = self.engine.cache
        self._folded = Folded(self.trace, State.start(self.config))

    def insert(self, tokens: Iterable[int], **how: object) -> int:
        """Make room, write and insert, as a finished prompt would; return what the
        tree already had on device."""
        key = whole_pages(as_tokens(tokens), self.config.page_size)
        assert self.cache.make_room(len(key)), "the test's pool is too small"
        pages = self.cache.allocator.alloc(len(key) // self.config.page_size)
        self.engine.device_pool.write(pages, fingerprints(key))
        return self.cache.insert(key, pages, **how).prefix_len

    def match(self, tokens: Iterable[int], space: str = "") -> MatchResult:
        return self.cache.match_prefix(as_tokens(tokens), space)

    def lock(self, tokens: Iterable[int]) -> Node:
        """Lock what is on device of the tokens' prefix; return the deepest node."""
        node = self.match(tokens).last_device
        self.cache.inc_lock_ref(node)
        return node

    def ack_write(self, count: int | None = None) -> int:
        self.cache.flush_writes()
        self.link.complete("write", count)
        return self.cache.writing_check()

    def ack_load(self, count: int | None = None) -> int:
        self.link.complete("load", count)
        return self.cache.loading_check()

    def load_back(self, tokens: Iterable[int], quota: int | None = None) -> int:
        """Match, load back and submit; return how many tokens come."""
        pages = self.cache.init_load_back(self.match(tokens).best, quota)
        self.cache.start_loading()
        return len(pages) * self.config.page_size

    def node(self, tokens: Iterable[int]) -> Node:
        """Return the node whose path ends with the tokens, without touching it."""
        return self.paths()[tuple(tokens)]

    def paths(self) -> dict[tuple[int, ...], Node]:
        """Return all nodes by the tokens from the root to their end."""
        found: dict[tuple[int, ...], Node] = {}
        todo = [(self.cache.tree.root, ())]
        while todo:
            parent, before = todo.pop()
            for child in parent.children.values():
                path = (*before, *child.key.tolist())
                found[path] = child
                todo.append((child, path))
        return found

    def account(self) -> tuple[int, int, int]:
        """Return available, evictable and protected device tokens."""
        cache = self.cache
        return cache.allocator.available, cache.evictable_size, cache.protected_size

    def events(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.trace.events if isinstance(event, kind)]

    def wrong_data(self) -> list[str]:
        """Return the copies that hold something else than their prefix says, but for
        those that a copy in flight has still to fill."""
        wrong = []
        for path, node in self.paths().items():
            size = len(node.key)
            wanted = fingerprints(np.array(path, np.int32))[-size:]
            tiers = [
                ("L1", self.engine.device_pool, node.value, node.loading),
                ("L2", self.engine.host_pool, node.host_value, node.writing),
            ]
            for tier, pool, pages, in_flight in tiers:
                if pages is None or in_flight is not None:
                    continue
                if pool.read(pages).tolist() != wanted.tolist():
                    wrong.append(f"{tier} of {path}")
        return wrong

    def unsound(self) -> list[str]:
        """Return all that is wrong: the folded trace, the laws, the contents."""
        return self.unfolded() + self.wrong_data()

    def unfolded(self) -> list[str]:
        """Return what is wrong with the folded trace, and which laws it breaks."""
        state = self._folded.now()
        return differences(state, self.engine) + broken(state)


def where(cache: Bench) -> dict[int, str]:
    """Return, by first token, on which tiers each node lies: D, H or DH."""
    return {
        int(node.key[0]): "D" * (not node.evicted) + "H" * node.backed_up
        for node in cache.paths().values()
    }
