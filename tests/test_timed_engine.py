"""What does an engine do over time?"""

from __future__ import annotations

import gc

import msgspec
import numpy as np
import pytest
from folding import Folded, differences

from kvlab.config import EngineConfig
from kvlab.errors import ConfigError, EngineFault
from kvlab.record import events as ev
from kvlab.record.snapshot import State
from kvlab.record.trace import QUIET, Header, Trace
from kvlab.rules import Rules
from kvlab.run.accelerators import accelerator
from kvlab.run.cost import NS, Cost
from kvlab.run.generators import burst, chat, poisson, shared_system
from kvlab.run.model_shapes import model_shape
from kvlab.run.parts import Part
from kvlab.run.timed_engine import TimedEngine
from kvlab.run.workload import Ask, ClosedLoop, OpenLoop

RULES = {"0.5.14": Rules.v0_5_14(), "0.5.23": Rules.v0_5_23()}


def machine(
    emit=QUIET, *, rules="0.5.14", link=4e9, jump=True, seats=None, queued=None, **knobs
):
    knobs = {"pool_tokens": 6000, "host_tokens": 12000, "page_size": 16} | knobs
    cost = Cost(model_shape("llama-3-8b"), accelerator("a100"), link_rate=link)
    config = EngineConfig.of(knobs)
    return TimedEngine(
        config, RULES[rules], cost, emit=emit, jump=jump, max_running=seats,
        max_queued=queued, conservativeness=0.1,
    )  # fmt: skip


def crowd(number=60, rate=30.0, outputs=250):
    arrivals = poisson(rate, seed=3)
    asks = shared_system(
        number, arrivals, length=500, outputs=outputs, share=0.4, groups=3, spread=0.6
    )
    return OpenLoop(asks)


def talks():
    return ClosedLoop(
        chat(6, turns=4, first=300, question=90, outputs=70, think=0.4, stagger=0.1)
    )


def outcome(engine):
    """All that a run leaves behind, as one comparable value."""
    tallies = vars(engine.tallies) | {"jumps": 0}
    return msgspec.json.encode(
        [tallies, engine.now, sorted(engine.cache.tree_lines()), engine.scheduler.ratio]
    )


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("page", [1, 16, 64])
@pytest.mark.parametrize("policy", ["write_through", "write_back"])
def test_a_run_with_jumps_is_the_run_without_them(rules, page, policy):
    runs = []
    for jump in (True, False):
        engine = machine(
            rules=rules, jump=jump, page_size=page, pool_tokens=4096, host_tokens=8192,
            write_policy=policy,
        )  # fmt: skip
        engine.run(crowd())
        runs.append(engine)
    assert outcome(runs[0]) == outcome(runs[1])
    assert runs[0].tallies.retractions > 0
    assert runs[0].tallies.jumps < runs[1].tallies.jumps


def test_a_closed_loop_with_jumps_is_the_loop_without_them():
    engines = [machine(jump=True), machine(jump=False)]
    for engine in engines:
        engine.run(talks())
    assert outcome(engines[0]) == outcome(engines[1])


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("chunk", [None, 256])
def test_the_trace_folds_into_the_live_engine_at_every_turn(rules, chunk):
    knobs = {"pool_tokens": 3200, "host_tokens": 6400, "chunked_prefill_size": chunk}
    config = EngineConfig.of({"page_size": 16} | knobs)
    trace = Trace(Header(config=config, rules=RULES[rules]))
    engine = machine(trace, rules=rules, **knobs)
    folded = Folded(trace, State.start(config))

    def check(_):
        state = folded.now()
        assert differences(state, engine.engine) == []
        assert state.now == engine.now // 10**6

    engine.run(crowd(40), check)
    check(0)
    assert engine.tallies.retractions > 0


@pytest.mark.parametrize("clip", [40, 4096])
def test_the_sums_of_the_batch_are_what_a_scan_would_find(clip):
    engine = machine(pool_tokens=4096, clip_max_new=clip)
    batch = engine.scheduler.batch

    def check(_):
        running = engine.scheduler.running
        assert batch.size == len(running)
        assert batch.kv_tokens == sum(r.kv_len for r in running)
        assert batch.still == sum(min(r.remaining, clip) for r in running)
        seats = [r.seat for r in running]
        assert seats == sorted(seats)

    engine.run(crowd(), check)
    assert engine.tallies.retractions > 0


@pytest.mark.parametrize("chunk", [None, 256])
def test_the_parts_of_a_request_sum_to_its_time_to_the_nanosecond(chunk):
    engine = machine(link=2e8, pool_tokens=4096, chunked_prefill_size=chunk)
    engine.run(crowd())
    assert engine.tallies.retractions > 0
    assert len(engine.tallies.done) == 60
    before = [Part.QUEUE, Part.LOAD, Part.PREFILL]
    for record in engine.tallies.done:
        assert sum(record.spent) == record.end - record.arrival
        assert sum(record.part(part) for part in before) == record.ttft
    spent = {part: sum(r.part(part) for r in engine.tallies.done) for part in Part}
    assert all(spent.values()), spent


def test_the_parts_are_those_that_the_trace_tells():
    config = EngineConfig(pool_tokens=6000, host_tokens=12000, page_size=16)
    trace = Trace(Header(config=config, rules=RULES["0.5.14"]))
    engine = machine(trace)
    engine.run(crowd())
    state, first = State.start(config), {}
    for event in trace.events:
        state.apply(event)
        if isinstance(event, ev.Output) and event.request not in first:
            sent = state.requests[event.request].sent
            first[event.request] = state.now - sent
    assert first == {record.id: record.ttft for record in engine.tallies.done}


@pytest.mark.parametrize("policy", ["write_through", "write_back"])
@pytest.mark.parametrize("chunk", [None, 256])
def test_what_a_request_spends_in_prefill_is_what_its_prefills_took(chunk, policy):
    knobs = {"pool_tokens": 2400, "chunked_prefill_size": chunk, "write_policy": policy}
    trace = Trace(Header(config=EngineConfig(pool_tokens=2400), rules=RULES["0.5.14"]))
    engine = machine(trace, link=2e8, **knobs)
    engine.run(crowd(outputs=100))
    took, batch = {record.id: [0, 0] for record in engine.tallies.done}, []
    for event in trace.events:
        if isinstance(event, ev.Prefill):
            batch.append(event.request)
        elif isinstance(event, ev.Forward):
            for id in batch:
                took[id] = [took[id][0] + event.load, took[id][1] + event.compute]
            batch = []
    once = [record for record in engine.tallies.done if not record.retracted]
    assert any(took[record.id][0] for record in once)
    for record in once:
        assert took[record.id] == [record.part(Part.LOAD), record.part(Part.PREFILL)]


def test_a_step_for_which_room_is_made_asks_for_a_page_of_each_who_runs():
    config = EngineConfig(pool_tokens=4096, host_tokens=8192, page_size=16)
    trace = Trace(Header(config=config, rules=RULES["0.5.14"]))
    machine(trace, pool_tokens=4096, host_tokens=8192).run(crowd())
    state, asked, needs = State.start(config), None, 0
    for event in trace.events:
        if isinstance(event, ev.MakeRoom):
            asked = event.need
        elif isinstance(event, (ev.DecodeRoom, ev.Prefill, ev.Retract)):
            asked = None
        elif isinstance(event, ev.Decode) and asked is not None:
            assert asked == len(state.running) * config.page_size
            asked, needs = None, needs + 1
        state.apply(event)
    assert needs > 10


def test_every_token_asked_for_is_produced_whatever_is_retracted():
    engine = machine(pool_tokens=4096)
    engine.run(crowd())
    asked = {ask.id: ask.max_new for ask in crowd()._asks}
    got = {r.id: r.outputs for r in engine.tallies.done if not r.aborted}
    assert engine.tallies.retractions > 0
    assert all(asked.get(id, number) == number for id, number in got.items())


def test_the_pool_is_whole_again_when_all_have_left():
    engine = machine()
    engine.run(crowd())
    cache = engine.cache
    assert cache.protected_size == 0
    assert cache.allocator.available + cache.evictable_size == cache.allocator.total


def test_a_request_larger_than_the_pool_is_refused_and_the_run_goes_on():
    asks = [
        Ask(f"r{i}", i, np.arange(size, dtype=np.int32), 10)
        for i, size in enumerate([100, 7000, 100])
    ]
    engine = machine(pool_tokens=4096)
    engine.run(OpenLoop(asks))
    (refused,) = engine.tallies.refused
    assert (refused.id, refused.need, refused.total) == ("r1", 7026, 4096)
    assert [record.id for record in engine.tallies.done] == ["r0", "r2"]


def at_once(*sizes, outputs=1):
    """Requests of these lengths, all at the first moment, no token of theirs shared."""
    return OpenLoop(
        [
            Ask(f"r{i}", 0, np.arange(size, dtype=np.int32) + 10_000 * i, outputs)
            for i, size in enumerate(sizes)
        ]
    )


def test_a_request_that_needs_the_whole_pool_is_refused_one_token_less_is_served():
    engine = machine(pool_tokens=4096, page_size=1)
    engine.run(at_once(4093, 4094))
    assert [(r.id, r.need) for r in engine.tallies.refused] == [("r1", 4096)]
    assert [record.id for record in engine.tallies.done] == ["r0"]


def test_settings_that_let_nobody_in_say_so_and_who_knows_why():
    knobs = {"page_size": 64, "pool_tokens": 4096, "host_tokens": 8192}
    engine = machine(chunked_prefill_size=32, **knobs)
    with pytest.raises(EngineFault, match=r"2 requests .* ask config\.check_start"):
        engine.run(at_once(100, 200))
    with pytest.raises(ConfigError, match="chunked_prefill_size"):
        engine.engine.config.check_start(RULES["0.5.14"])


def test_who_finds_the_queue_full_is_turned_away():
    engine = machine(queued=2)
    engine.run(at_once(*[100] * 5))
    assert [record.id for record in engine.tallies.done] == ["r0", "r1"]
    assert engine.tallies.turned_away == 3


def test_the_trace_tells_when_each_was_sent_and_why_some_never_ran():
    asks = [
        Ask(f"r{i}", i // 4, np.arange(size, dtype=np.int32) + 10_000 * i, 10)
        for i, size in enumerate([100, 7000, 100, 100, 100])
    ]
    trace = Trace(Header(config=EngineConfig(pool_tokens=4096), rules=RULES["0.5.14"]))
    machine(trace, queued=2, pool_tokens=4096).run(OpenLoop(asks))
    about = {ask.id: [] for ask in asks}
    for event in trace.events:
        if isinstance(event, (ev.Arrive, ev.Sent, ev.TooLarge, ev.Drop)):
            about[event.request].append(event)
    for ask in asks:
        size, most = len(ask.tokens), 10
        come = [ev.Arrive(-1, ask.id, size, most, 0), ev.Sent(-1, ask.id, ask.at)]
        dropped = [ev.Drop(-1, ask.id)]
        gone = {"r1": [ev.TooLarge(-1, "r1", 7026, 4096), *dropped], "r3": dropped}
        assert about[ask.id] == come + gone.get(ask.id, [])


@pytest.mark.parametrize("jump", [True, False])
def test_every_step_takes_what_the_cost_model_says(jump):
    """A prefill what it computes, a decode the batch and the tokens that it adds; to
    the nanosecond in which both ends are told."""
    knobs = {"pool_tokens": 4096, "page_size": 16, "tree": "radix"}
    config = EngineConfig(**knobs)
    trace = Trace(Header(config=config, rules=RULES["0.5.14"]))
    engine = machine(trace, jump=jump, **knobs)
    engine.run(crowd(40))
    state, parts, kinds = State.start(config), [], set()
    for event in trace.events:
        if isinstance(event, ev.Prefill):
            parts.append((event.extend, event.device_hit + event.loaded))
        elif isinstance(event, ev.Forward):
            assert (event.begin, event.load) == (state.now, 0)
            assert abs(event.compute - engine.cost.prefill(parts) / NS) < 1
            parts = []
        elif isinstance(event, ev.Decode):
            lengths = [state.requests[id].kv_len + 1 for id in state.running]
            took = engine.cost.decode(len(lengths), sum(lengths), event.steps)
            assert abs(event.now - state.now - took / NS) < 1
            kinds.add((len(lengths) > 1, event.steps > 1))
        state.apply(event)
    assert engine.tallies.retractions > 0
    assert (True, jump) in kinds


def test_the_share_that_is_set_aside_decays_by_each_step_and_starts_anew_when_idle():
    engine, ratios = machine(), []
    engine.run(
        at_once(100, 200, outputs=51), lambda _: ratios.append(engine.scheduler.ratio)
    )
    decaying = engine.scheduler.decaying
    assert ratios == [pytest.approx(decaying.initial - 50 * decaying.step)]
    assert engine.scheduler.ratio == decaying.initial


def test_the_share_is_as_a_retraction_left_it_after_the_step_that_needed_it():
    trace = Trace(Header(config=EngineConfig(pool_tokens=4096), rules=RULES["0.5.14"]))
    engine = machine(trace, pool_tokens=3200, clip_max_new=10)
    engine.run(crowd(outputs=400))
    decaying, left, steps, seen = engine.scheduler.decaying, None, 0, 0
    for event in trace.events:
        if isinstance(event, ev.Ratio):
            if left is not None:
                fallen = max(left - (steps - 1) * decaying.step, decaying.least)
                assert event.before == pytest.approx(fallen)
                seen += fallen > decaying.least
            left, steps = event.after, 0
        elif isinstance(event, ev.Clock):
            left = None
        elif isinstance(event, ev.Decode):
            steps += event.steps
    assert seen > 3


def test_nobody_beyond_the_seats_runs():
    engine = machine(seats=4)
    engine.run(crowd())
    assert engine.tallies.peak_running == 4
    assert len(engine.tallies.done) == 60


def test_write_back_makes_the_engine_wait_for_the_link():
    ends, behind = {}, []
    for policy in ("write_through", "write_back"):
        engine = machine(link=1e8, write_policy=policy, pool_tokens=4096)
        engine.run(
            crowd(30), lambda _, e=engine: behind.append(e.link.waited_until > e.now)
        )
        ends[policy] = engine.link.waited_until
    assert ends["write_through"] == 0 < ends["write_back"]
    assert not any(behind)


def test_a_burst_is_admitted_in_the_order_of_its_arrival():
    asks = shared_system(
        20, burst(20, every=1.0), length=300, outputs=20, share=0.5, spread=0.3
    )
    engine = machine()
    engine.run(OpenLoop(asks))
    firsts = sorted(engine.tallies.done, key=lambda r: int(r.id[1:]))
    assert [r.ttft for r in firsts] == sorted(r.ttft for r in firsts)


@pytest.mark.parametrize("policy", ["write_through", "write_back"])
def test_a_run_drops_nothing_that_only_the_collector_of_cycles_could_free(policy):
    engine = machine(write_policy=policy, pool_tokens=4096)
    gc.collect()
    engine.run(crowd(30))
    assert gc.isenabled()
    assert gc.collect() == 0
