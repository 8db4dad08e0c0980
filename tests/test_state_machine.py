"""Does any sequence of operations leave the caches sound?

A machine drives a cache with random operations and lazy copies, and asks after each:
does the trace fold to the live state, do the laws hold, does every slot hold what its
prefix says? Beside it stands a dumb model: the page prefixes that lie on each tier,
listed one by one, which say what a match must find and what an operation may change.

Under write_back of 0.5.14 the host is large enough never to fill by itself: with a
full host that release drops nodes that it is loading (rule `load_protects_source`,
golden s25).
"""

from __future__ import annotations

import copy
import itertools
from typing import ClassVar

import pytest
from bench import Bench
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from kvlab.cache.eviction import STRATEGIES, EvictionQueue
from kvlab.cache.tree import Node
from kvlab.rules import Rules

POOL = 40
LARGE_HOST = 4 * sum(3**n for n in range(1, 6))
"""Room for every prompt that can be drawn."""

SIZES = st.integers(0, 24)
PROMPTS = st.builds(
    lambda words, cut: [w + 10 * i for w in words for i in range(4)][: -cut or None],
    st.lists(st.integers(0, 2), min_size=1, max_size=5),
    st.integers(0, 3),
)
"""Up to five words of four tokens out of three words, the last perhaps cut."""


def pop_order(queue: EvictionQueue) -> list[int]:
    """Return all that would go, first to last, and evict none."""
    twin = copy.copy(queue)
    for part in ("_members", "_noted", "_heap"):
        setattr(twin, part, copy.copy(getattr(queue, part)))
    return [node.id for node in iter(twin.pop, None)]


class CacheMachine(RuleBasedStateMachine):
    """A cache of one tree and write policy under every policy and two page sizes."""

    book: ClassVar[Rules] = Rules.v0_5_14()
    knobs: ClassVar[dict[str, object]] = {}

    @initialize(policy=st.sampled_from(list(STRATEGIES)), page=st.sampled_from([1, 4]))
    def start(self, policy: str, page: int) -> None:
        self.bench = Bench(
            pool_tokens=POOL, page_size=page, eviction_policy=policy,
            load_back_threshold=5, rules=self.book, **self.knobs,
        )  # fmt: skip
        self.cache, self.page = self.bench.cache, page
        self.locks: list[tuple[Node, list[int]]] = []

    # --- the dumb model

    def cached(self) -> tuple[set[tuple[int, ...]], set[tuple[int, ...]]]:
        """Return the page prefixes on device and those on host."""
        device, host = set(), set()
        for path, node in self.bench.paths().items():
            for end in range(len(path), len(path) - len(node.key), -self.page):
                if not node.evicted:
                    device.add(path[:end])
                if node.backed_up:
                    host.add(path[:end])
        return device, host

    def longest(self, prompt: list[int], *tiers: set[tuple[int, ...]]) -> int:
        """Return the tokens of the prompt's page prefixes that lie on any tier."""
        for end in range(self.page, len(prompt) + 1, self.page):
            if not any(tuple(prompt[:end]) in tier for tier in tiers):
                return end - self.page
        return len(prompt) // self.page * self.page

    def device_leaves(self) -> list[Node]:
        """Return the candidates, found by looking at all nodes."""
        return [
            node
            for node in self.bench.paths().values()
            if not node.evicted
            and node.lock_ref == 0
            and all(child.evicted for child in node.children.values())
        ]

    def coldest_first(self, leaves: list[Node]) -> list[int]:
        key = STRATEGIES[self.bench.config.eviction_policy]
        leaves.sort(key=lambda node: (key(node), node.last_access, node.id))
        return [node.id for node in leaves]

    # --- operations

    @rule(
        prompts=st.lists(PROMPTS, min_size=1, max_size=3),
        priority=st.integers(0, 2),
        chunked=st.booleans(),
    )
    def insert(self, prompts: list[list[int]], priority: int, chunked: bool) -> None:
        for prompt in prompts:
            self.insert_one(prompt, priority, chunked)

    def insert_one(self, prompt: list[int], priority: int, chunked: bool) -> None:
        if self.cache.allocator.available + self.cache.evictable_size < len(prompt):
            return
        self.cache.make_room(len(prompt))
        before, host = self.cached()
        had = self.longest(prompt, before)
        tiers = (before, host) if self.book.restore_counts_hit else (before,)
        known = self.bench.insert(prompt, priority=priority, chunked=chunked)
        assert known == self.longest(prompt, *tiers)
        after, _ = self.cached()
        whole = len(prompt) // self.page * self.page
        assert self.longest(prompt, after) == whole
        assert after >= before
        assert len(after - before) * self.page == whole - had

    @rule(prompt=PROMPTS)
    def match(self, prompt: list[int]) -> None:
        device, host = self.cached()
        match = self.bench.match(prompt)
        assert match.device_len == self.longest(prompt, device)
        both = self.longest(prompt, device, host)
        assert match.device_len + match.host_len == both
        assert self.cached() == (device, host)

    @rule(prompt=PROMPTS)
    def lock(self, prompt: list[int]) -> None:
        match = self.bench.match(prompt)
        before = self.cache.evictable_size
        delta = self.cache.inc_lock_ref(match.last_device)
        assert self.cache.evictable_size == before + delta
        self.locks.append((match.last_device, prompt[: match.device_len]))

    @precondition(lambda self: self.locks)
    @rule(which=st.integers(0, 10))
    def unlock(self, which: int) -> None:
        node, _ = self.locks.pop(which % len(self.locks))
        self.cache.dec_lock_ref(node)

    @rule(size=SIZES)
    def evict(self, size: int) -> None:
        evictable, available = self.cache.evictable_size, self.cache.allocator.available
        freed = self.cache.evict(size)
        assert freed >= min(size, evictable)
        assert self.cache.allocator.available == available + freed

    @rule(size=st.integers(1, POOL))
    def make_room(self, size: int) -> None:
        room = self.cache.allocator.available + self.cache.evictable_size
        assert self.cache.make_room(size) == (room >= size)

    # --- what must hold after each

    @invariant()
    def all_is_sound(self) -> None:
        assert self.bench.unsound() == []

    @invariant()
    def the_coldest_leaf_would_go_next(self) -> None:
        order = self.coldest_first(self.device_leaves())
        assert pop_order(self.cache.device_leaves) == order

    @invariant()
    def locked_prefixes_are_on_device(self) -> None:
        device, _ = self.cached()
        for _, prefix in self.locks:
            assert self.longest(prefix, device) == len(prefix)

    def teardown(self) -> None:
        """Nothing is left when everything is given up."""
        for node, _ in self.locks:
            self.cache.dec_lock_ref(node)
        self.settle()
        self.cache.evict(POOL)
        assert self.bench.account() == (POOL, 0, 0)

    def settle(self) -> None:
        """A plain tree has no copies in flight."""


class HostMachine(CacheMachine):
    """The same with a host tier, whose copies wait for a hand."""

    @rule(count=st.none() | st.integers(1, 3))
    def ack_write(self, count: int | None) -> None:
        self.bench.ack_write(count)

    @rule(count=st.none() | st.integers(1, 3))
    def ack_load(self, count: int | None) -> None:
        self.bench.ack_load(count)

    @rule(prompt=PROMPTS, quota=st.none() | SIZES)
    def load_back(self, prompt: list[int], quota: int | None) -> None:
        device, host = self.cached()
        known = self.longest(prompt, device, host)
        loaded = self.bench.load_back(prompt, quota)
        assert loaded in (0, known - self.longest(prompt, device))
        if loaded:
            assert self.longest(prompt, self.cached()[0]) == known

    @rule(size=SIZES)
    def evict_host(self, size: int) -> None:
        available = self.cache.host.available
        device, _ = self.cached()
        freed = self.cache.evict_host(size)
        assert self.cache.host.available == available + freed
        assert self.cached()[0] == device

    @invariant()
    def the_coldest_host_leaf_would_go_next(self) -> None:
        leaves = [
            node
            for node in self.bench.paths().values()
            if node.evicted
            and node.lock_ref == node.host_lock_ref == 0
            and not any(child.backed_up for child in node.children.values())
        ]
        assert pop_order(self.cache.host_leaves) == self.coldest_first(leaves)

    @invariant()
    def a_host_copy_is_never_alone_under_write_through(self) -> None:
        if self.bench.config.write_policy != "write_back":
            _, host = self.cached()
            assert all(prefix[: -self.page] in host | {()} for prefix in host)

    def settle(self) -> None:
        self.bench.ack_write()
        self.bench.ack_load()

    def teardown(self) -> None:
        super().teardown()
        self.cache.evict_host(LARGE_HOST)
        assert self.bench.paths() == {}
        assert self.cache.host.available == self.cache.host.total


SMALL_HOST = 24
HOSTS = [
    ("0.5.14", "write_through", SMALL_HOST),
    ("0.5.14", "write_through_selective", SMALL_HOST),
    ("0.5.14", "write_back", LARGE_HOST),
    ("0.5.23", "write_through", SMALL_HOST),
    ("0.5.23", "write_through_selective", SMALL_HOST),
    ("0.5.23", "write_back", SMALL_HOST),
]
BOUNDS = settings(max_examples=40, stateful_step_count=40)


@pytest.mark.parametrize("release", ["0.5.14", "0.5.23"])
def test_any_sequence_of_operations_leaves_a_plain_tree_sound(release):
    facts = {"book": Rules.named(release), "knobs": {"tree": "radix"}}
    machine = type("Machine", (CacheMachine,), facts)
    run_state_machine_as_test(machine, settings=BOUNDS)


@pytest.mark.parametrize(("release", "policy", "host"), HOSTS)
def test_any_sequence_of_operations_leaves_two_tiers_sound(release, policy, host):
    knobs = {"write_policy": policy, "host_tokens": host}
    facts = {"book": Rules.named(release), "knobs": knobs}
    machine = type("Machine", (HostMachine,), facts)
    run_state_machine_as_test(machine, settings=BOUNDS)


def test_the_large_host_takes_every_prompt_that_can_be_drawn():
    words = [w for n in range(1, 6) for w in itertools.product(range(3), repeat=n)]
    assert 4 * len(words) == LARGE_HOST
