"""Does a replay, one prompt after the other, come to the figures of the procedure?

Every figure is compared with a second model, written from the procedure in plain
Python (serial_model.py), on a small trace that shares, evicts, loads back and drops.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import msgspec
import pytest
from bench import Bench
from serial_model import Model

from kvlab.cache.key import as_tokens
from kvlab.config import EngineConfig
from kvlab.errors import OutOfPool
from kvlab.memory.transfer import InstantTransfer
from kvlab.record import events as ev
from kvlab.record.metrics import metrics, tree_digest
from kvlab.rules import Rules
from kvlab.run.engine import Engine
from kvlab.run.serial import SerialReplay

POOL = 1500


def prompts(count: int = 80, seed: int = 0) -> list[list[int]]:
    """Return prompts that grow out of each other: three in four go on from where an
    earlier one ended or branched, one in ten comes again; every token names the whole
    prefix before it."""
    dice, fresh, known = random.Random(seed), 0, [[]]
    for _ in range(count):
        if dice.random() < 0.1 and known[1:]:
            known.append(dice.choice(known[1:]))
            continue
        begin = dice.choice(known[-16:]) if dice.random() < 0.75 else []
        begin = begin[: dice.randint(len(begin) // 2, len(begin))][:500]
        size = dice.randint(1, 250)
        known.append(begin + list(range(fresh, fresh + size)))
        fresh += size
    return known[1:]


class Case(NamedTuple):
    """One configuration, for the engine and for the model."""

    page: int
    policy: str = "lru"
    tree: str = "hiradix"
    write_policy: str = "write_through"
    host: int = 2560
    unit: bool = False
    engine_room: bool = False

    def model(self) -> Model:
        host = self.host if self.tree == "hiradix" else None
        return Model(
            POOL, host, self.page, self.policy, self.write_policy,
            unit=self.unit, engine_room=self.engine_room,
        )  # fmt: skip

    def bench(self) -> Bench:
        return Bench(
            link=InstantTransfer(), pool_tokens=POOL, page_size=self.page,
            host_tokens=self.host, tree=self.tree, eviction_policy=self.policy,
            write_policy=self.write_policy,
        )  # fmt: skip


WRITE_POLICIES = ("write_through", "write_through_selective", "write_back")
CASES = [
    *(Case(page, "lru", "radix") for page in (1, 16, 64)),
    *(Case(page, write_policy=p) for page in (1, 16, 64) for p in WRITE_POLICIES),
    *(Case(16, policy, "radix") for policy in ("lfu", "fifo", "slru")),
    *(Case(16, policy) for policy in ("lfu", "fifo", "slru")),
    *(Case(page, engine_room=True) for page in (1, 16, 64)),
    *(Case(1, tree=tree, unit=True) for tree in ("radix", "hiradix")),
    Case(16, write_policy="write_through", host=512),
    Case(16, write_policy="write_through_selective", host=512),
]


class Served(NamedTuple):
    """The trace as both have served it."""

    bench: Bench
    replay: SerialReplay
    model: Model
    by_replay: list[tuple[int, ...]]
    by_model: list[tuple[int, ...]]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(map(str, case)))
def served(request: pytest.FixtureRequest) -> Served:
    case: Case = request.param
    bench, model = case.bench(), case.model()
    replay = SerialReplay(
        bench.engine, bench.trace, unit=case.unit, engine_room=case.engine_room
    )
    served = Served(bench, replay, model, [], [])
    for prompt in prompts():
        before = hits(replay)
        replay.serve(as_tokens(prompt))
        after = hits(replay)
        found = tuple(a - b for a, b in zip(after, before, strict=True))
        served.by_replay.append(found)
        served.by_model.append(model.serve(prompt))
    return served


def hits(replay: SerialReplay) -> tuple[int, ...]:
    sums = replay.sums
    return sums.device_hit_tokens, sums.host_hit_tokens, sums.loaded_back_tokens


def test_every_prompt_hits_and_loads_what_the_procedure_says(served):
    assert served.by_replay == served.by_model


def test_as_much_is_evicted_written_and_lost_as_the_procedure_says(served):
    totals, model = served.bench.cache.totals, served.model
    found = (totals.evicted, totals.backed_up, totals.host_evicted, totals.lost)
    said = (model.evicted, model.backed_up, model.host_evicted, model.lost)
    assert found == said


def test_the_tree_that_remains_is_the_procedures(served):
    assert sorted(served.bench.cache.tree_lines()) == served.model.lines()


def test_as_much_is_free_in_the_end_as_the_procedure_says(served):
    model = served.model
    assert served.bench.cache.allocator.available == model.free
    if model.two_tiers:
        assert served.bench.cache.host.available == model.host_free


def test_the_trace_tells_the_same_sums(served):
    told, sums = metrics(served.bench.trace), served.replay.sums
    for name in sums.__dataclass_fields__:
        assert getattr(told, name) == getattr(sums, name), name
    totals = served.bench.cache.totals
    assert told.evicted_tokens == totals.evicted
    assert told.backed_up_tokens == totals.backed_up
    assert told.host_evicted_tokens == totals.host_evicted
    assert told.lost_tokens == totals.lost
    assert told.loaded_back_tokens == totals.loaded_back


def test_the_trace_tells_each_prompt_once_with_what_the_procedure_found(served):
    told, expected = [], []
    for event in served.bench.events(ev.Event):
        if isinstance(event, (ev.Step, ev.Arrive, ev.Prefill, ev.Start, ev.Finish)):
            told.append((type(event), *msgspec.structs.astuple(event)[1:]))
    for number, (prompt, found) in enumerate(
        zip(prompts(), served.by_model, strict=True)
    ):
        (device, host, loaded), id, size = found, f"r{number}", len(prompt)
        expected += [
            (ev.Step, number, "request", id),
            (ev.Arrive, id, size, 0, 0),
            (ev.Prefill, id, device, host, loaded, size - device - loaded),
            (ev.Start, id, size, False),
            (ev.Finish, id),
        ]
    assert told == expected


def test_the_trace_folds_to_the_same_tree(served):
    digest = tree_digest(served.bench.cache.tree_lines())
    assert metrics(served.bench.trace).tree_sha256 == digest
    assert served.bench.unfolded() == []


def test_nothing_is_locked_or_in_flight_between_prompts(served):
    assert served.bench.cache.protected_size == 0


def test_the_trace_makes_all_of_it_happen():
    """A trace on which nothing is evicted or loaded would prove little."""
    case = Case(16, write_policy="write_through")
    model = case.model()
    done = [model.serve(prompt) for prompt in prompts()]
    assert sum(loaded for *_, loaded in done) > 1000
    assert min(model.evicted, model.host_evicted, model.backed_up) > 1000


# --- what else a replay does


def replayed(**knobs: Any) -> SerialReplay:
    config = EngineConfig(**{"pool_tokens": 64, "tree": "radix", **knobs})
    return SerialReplay(Engine(config, Rules.v0_5_14(), mode="ledger"))


def test_prompts_are_served_in_order_and_summed():
    sums = replayed().serve_all([as_tokens(range(20)), as_tokens(range(30))])
    assert (sums.requests, sums.input_tokens) == (2, 50)
    assert (sums.device_hit_tokens, sums.computed_tokens) == (20, 30)


def test_the_last_token_of_a_prompt_is_always_computed():
    sums = replayed().serve_all([as_tokens(range(20))] * 2)
    assert sums.device_hit_tokens == 19


def test_a_prompt_shorter_than_a_page_caches_nothing():
    replay = replayed(page_size=16)
    replay.serve(as_tokens(range(15)))
    assert replay.engine.cache.allocator.available == 64


def test_a_prompt_larger_than_the_pool_is_refused_with_the_numbers():
    with pytest.raises(OutOfPool) as refused:
        replayed().serve(as_tokens(range(65)))
    assert str(refused.value) == (
        "request 0 wants 65 tokens more on a device of 64; use a larger pool"
    )


def test_a_prompt_whose_prefix_was_dropped_while_it_was_loaded_goes_in_with_all_pages():
    """The fault of 0.5.14 (golden s25): prompt 2 loads tokens that the load's own
    eviction drops. The figures are those of SGLang 0.5.14 itself."""
    replay = replayed(
        pool_tokens=11, tree="hiradix", host_tokens=12, eviction_policy="mru",
        write_policy="write_back",
    )  # fmt: skip
    for begin, length in ((0, 10), (100, 10), (0, 11), (200, 11)):
        replay.serve(as_tokens(range(begin, begin + length)))
    assert hits(replay) == (0, 10, 10)
    cache = replay.engine.cache
    totals = cache.totals
    assert (totals.evicted, totals.backed_up, totals.lost) == (31, 31, 20)
    lines = [(0, 0, 11, 0, 1, 0), (200, 0, 11, 1, 0, 0)]
    assert sorted(cache.tree_lines()) == lines
