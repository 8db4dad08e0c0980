"""What does a vLLM engine do over time?"""

from __future__ import annotations

from random import Random

import pytest
from folding import Folded

from kvlab.block_config import BlockConfig, L2Config
from kvlab.cache.key import as_tokens
from kvlab.errors import ConfigError, EngineFault
from kvlab.lessons.scenarios.nb10 import preempted_in_prefill
from kvlab.record.block_events import CopyOut, Schedule
from kvlab.record.block_invariants import broken_blocks
from kvlab.record.block_metrics import meter
from kvlab.record.block_snapshot import BlockState
from kvlab.record.events import Arrive, Decode, Drop, Forward, Sent, TooLarge
from kvlab.record.trace import QUIET, BlockHeader, BlockTrace
from kvlab.run.accelerators import accelerator
from kvlab.run.block_samples import BlockSampler
from kvlab.run.block_timed_engine import TimedBlockEngine
from kvlab.run.block_timed_replay import block_figures_of
from kvlab.run.cost import NS, Cost
from kvlab.run.generators import burst, poisson, shared_system
from kvlab.run.model_shapes import model_shape
from kvlab.run.parts import Part
from kvlab.run.workload import Ask, OpenLoop

COST = Cost(model_shape("llama-3-8b"), accelerator("a100"), link_rate=4e9)
EAGER = L2Config(num_cpu_blocks=750)
LAZY = L2Config(num_cpu_blocks=120, lazy=True)


def config(size=16, tokens=6000, l2=None, **knobs):
    return BlockConfig(
        num_gpu_blocks=tokens // size + 1, block_size=size, max_model_len=tokens,
        hash_algo="chain64", l2=l2, **knobs,
    )  # fmt: skip


def machine(emit=QUIET, *, jump=True, sampler=None, **knobs):
    return TimedBlockEngine(
        config(**knobs), COST, emit=emit, jump=jump, sampler=sampler
    )


def crowd(number=40, rate=30.0, outputs=250, length=500):
    return OpenLoop(
        shared_system(
            number, poisson(rate, seed=3), length=length, outputs=outputs, share=0.4,
            groups=3, spread=0.6,
        )
    )  # fmt: skip


def outcome(engine):
    return block_figures_of(engine) | {"jumps": 0, "done": engine.tallies.done}


@pytest.mark.parametrize("size", [2, 16, 64])
@pytest.mark.parametrize("l2", [None, EAGER, LAZY], ids=["none", "eager", "lazy"])
def test_a_run_with_jumps_is_the_run_without_them(size, l2):
    knobs = {"size": size, "l2": l2}
    engines = [machine(jump=jump, **knobs) for jump in (True, False)]
    for engine in engines:
        engine.run(crowd(24))
    assert outcome(engines[0]) == outcome(engines[1])


LONG, SHORT = Ask("a", 0, as_tokens(range(100)), 60), Ask("b", 0, as_tokens([1000]), 5)


@pytest.mark.parametrize("jump", [True, False])
def test_whoever_found_no_tokens_left_is_tried_in_the_next_step(jump):
    engine = machine(jump=jump, max_num_batched_tokens=50, max_num_seqs=9)
    engine.run(OpenLoop([LONG, SHORT]))
    first, second = sorted(engine.tallies.done, key=lambda record: record.id)
    assert first.ttft < second.ttft < 1.5 * first.ttft


@pytest.mark.parametrize("jump", [True, False])
def test_the_blocks_of_a_last_chunk_are_copied_with_the_next_step(jump):
    knobs = config(l2=EAGER, max_num_batched_tokens=64)
    trace = BlockTrace(BlockHeader(config=knobs))
    slow = Cost(COST.model, accelerator("a100"), link_rate=1e7)
    TimedBlockEngine(knobs, slow, emit=trace, jump=jump).run(OpenLoop([LONG]))
    steps, copied = 0, list[tuple[int, int]]()
    for event in trace.events:
        steps += event.steps if isinstance(event, Decode) else 0
        if isinstance(event, CopyOut):
            copied.append((steps, len(event.l1)))
    assert copied[:2] == [(0, 4), (0, 2)]


def test_jumps_are_fewer_than_steps():
    engine = machine()
    engine.run(crowd())
    assert engine.tallies.jumps < engine.tallies.decode_steps / 2
    engine = machine(jump=False)
    engine.run(crowd(24))
    assert engine.tallies.jumps == engine.tallies.decode_steps > 0


def test_what_a_run_came_to_is_what_its_trace_tells():
    knobs = {"tokens": 20_000, "l2": EAGER}
    trace = BlockTrace(BlockHeader(config=config(**knobs)))
    engine = machine(trace, **knobs)
    engine.run(crowd(24))
    told, events = block_figures_of(engine), trace.events
    assert told["preemptions"] == 0
    found = told["device_hit_tokens"] + told["loaded_back_tokens"]
    assert 0 < told["computed_tokens"] == told["input_tokens"] - found
    assert told["prefills"] == sum(isinstance(event, Forward) for event in events) > 0
    stored = sum(len(event.l1) for event in events if isinstance(event, CopyOut))
    assert told["backed_up_tokens"] == 16 * stored > 0


@pytest.mark.parametrize("l2", [None, EAGER, LAZY], ids=["none", "eager", "lazy"])
@pytest.mark.parametrize("policy", ["fcfs", "priority"])
def test_the_trace_folds_into_the_live_engine_whenever_somebody_leaves(l2, policy):
    trace = BlockTrace(BlockHeader(config=config(l2=l2, policy=policy, tokens=4000)))
    engine = machine(trace, l2=l2, policy=policy, tokens=4000)
    folded = Folded(trace, BlockState.start(trace.header.config))

    def check(_):
        state = folded.now()
        pool, scheduler = engine.manager.pool, engine.scheduler
        assert list(state.tiers["L1"].free) == pool.free_queue()
        assert state.running == [r.id for r in scheduler.running]
        assert state.waiting == [r.id for r in scheduler.waiting]
        live = [(r.computed, r.num_outputs) for r in scheduler.running]
        told = [state.requests[r.id] for r in scheduler.running]
        assert [(r.computed, r.outputs) for r in told] == live
        assert state.now == engine.now // 10**6
        assert broken_blocks(state) == []

    engine.run(crowd(30), check)
    check(0)
    assert engine.tallies.retractions > 0


def test_the_parts_of_a_request_sum_to_its_time_and_to_its_ttft():
    engine = machine(tokens=4000)
    engine.run(crowd())
    first = (Part.QUEUE, Part.LOAD, Part.PREFILL)
    for record in engine.tallies.done:
        assert sum(record.spent) == record.end - record.arrival
        if not record.retracted:
            assert sum(record.part(part) for part in first) == record.ttft


def test_who_is_preempted_recomputes():
    engine = machine(tokens=4000)
    engine.run(crowd())
    back = [record for record in engine.tallies.done if record.retracted]
    assert back
    assert all(record.part(Part.RECOMPUTE) > 0 for record in back)


def test_a_preempted_request_finds_what_is_left_of_its_blocks():
    engine = machine(tokens=4000)
    engine.run(crowd())
    tallies = engine.tallies
    lengths = sum(r.prompt_len for r in tallies.done if r.retracted)
    assert 0 < tallies.recomputed_tokens < lengths


def test_a_prompt_that_no_empty_pool_could_hold_is_refused_at_once():
    engine = machine(tokens=160)
    engine.run(crowd(2, length=200, outputs=5))
    (refused,) = engine.tallies.refused
    assert (refused.need, refused.total) == (213, 160)


def test_a_request_that_outgrows_the_pool_waits_for_ever_and_that_is_said():
    small = BlockConfig(num_gpu_blocks=5, max_model_len=6000)
    engine = TimedBlockEngine(small, COST)
    with pytest.raises(EngineFault, match=r"1 requests .* ask config\.check_start"):
        engine.run(OpenLoop([Ask("a", 0, as_tokens(range(60)), 100)]))
    with pytest.raises(ConfigError, match="max_model_len"):
        small.check_start()


def test_the_trace_tells_when_each_was_sent_and_why_some_never_ran():
    asks = [
        Ask(f"r{i}", 7 * i, as_tokens(range(size)), 5)
        for i, size in enumerate([150, 155, 160, 20])
    ]
    trace = BlockTrace(BlockHeader(config=config(tokens=160)))
    machine(trace, tokens=160).run(OpenLoop(asks))
    about = {ask.id: [] for ask in asks}
    for event in trace.events:
        if isinstance(event, (Arrive, Sent, TooLarge, Drop)):
            about[event.request].append(event)
    for ask in asks:
        size, most = len(ask.tokens), 1 if ask.id == "r2" else 5
        come = [Arrive(-1, ask.id, size, most, 0), Sent(-1, ask.id, ask.at)]
        gone = [TooLarge(-1, ask.id, 161, 160), Drop(-1, ask.id)]
        assert about[ask.id] == come + (gone if ask.id == "r2" else [])


@pytest.mark.parametrize("jump", [True, False])
def test_every_step_takes_what_the_cost_model_says(jump):
    """One with prefills in it the prefills and who decodes beside them; a decode the
    batch and its tokens; to the nanosecond in which both ends are told."""
    trace = BlockTrace(BlockHeader(config=config(tokens=4000)))
    engine = machine(trace, jump=jump, tokens=4000)
    engine.run(crowd())
    state, given, kinds = BlockState.start(trace.header.config), {}, set()
    for event in trace.events:
        running = [state.requests[id] for id in state.running]
        lengths = [r.prompt_len + r.outputs for r in running if r.lacks_one]
        if isinstance(event, Schedule):
            given[event.request] = event.tokens
        elif isinstance(event, Forward):
            first = [r for r in running if r.lacks_one and not r.outputs]
            given |= {r.id: 1 for r in first}
            lengths = [r.prompt_len + r.outputs for r in running if r.id not in given]
            parts = [(given[id], state.requests[id].computed) for id in given]
            took = COST.mixed(parts, len(lengths), sum(lengths)) / NS
            assert (event.begin, event.load) == (state.now, 0)
            assert abs(event.compute - took) < 1
            kinds.add(("beside", bool(lengths)))
            given = {}
        elif isinstance(event, Decode) and state.now != event.now:
            took = COST.decode(len(lengths), sum(lengths), event.steps) / NS
            assert abs(event.now - state.now - took) < 1
            kinds.add(("alone", event.steps > 1))
        state.apply(event)
    assert engine.tallies.retractions > 0
    assert {("beside", True), ("alone", jump)} <= kinds


def test_everybody_who_left_is_counted_and_told_to_the_progress():
    engine, told = machine(tokens=160), []
    engine.run(crowd(4, length=150, outputs=5), told.append)
    tallies = engine.tallies
    assert len(tallies.done) + len(tallies.refused) == 4
    assert tallies.done and tallies.refused
    assert block_figures_of(engine)["requests"] == sum(told) == 4


def test_the_counters_of_a_trace_count_the_steps_that_one_event_tells():
    trace = BlockTrace(BlockHeader(config=config()))
    engine = machine(trace)
    engine.run(crowd(12))
    counters = meter(trace).counters
    figures = block_figures_of(engine)
    assert counters.generation_tokens == figures["output_tokens"]
    assert counters.prefix_hits == figures["device_hit_tokens"]
    assert counters.finished == 12


def test_a_load_from_l2_takes_the_link_its_time():
    knobs = {"l2": L2Config(num_cpu_blocks=3000), "tokens": 1600}
    engine = machine(**knobs)
    asks = shared_system(
        12, poisson(2.0, seed=1), length=800, outputs=4, share=0.9, groups=3, spread=0.0
    )
    engine.run(OpenLoop(asks))
    loaded = [r for r in engine.tallies.done if r.part(Part.LOAD)]
    assert engine.scheduler.loaded_tokens > 0
    spent = sum(record.part(Part.LOAD) for record in loaded)
    assert spent >= engine.scheduler.loaded_tokens * COST.model.kv_bytes / 4


def test_a_sample_adds_up_to_the_pool():
    sampler = BlockSampler(10**8)
    engine = machine(sampler=sampler, l2=EAGER)
    engine.run(OpenLoop(shared_system(
        8, burst(8, 1.0), length=400, outputs=60, share=0.5, groups=2, spread=0.0
    )))  # fmt: skip
    assert len(sampler.samples) > 5
    for sample in sampler.samples:
        assert sample.used + sample.evictable + sample.available == sample.total
    assert max(sample.running for sample in sampler.samples) > 1
    assert sampler.samples[-1].host_used > 0


@pytest.mark.parametrize("seed", range(3))
def test_who_is_preempted_waits_from_the_beginning_of_that_step(seed):
    read = preempted_in_prefill(Random(seed))
    assert read.record.part(Part.PREFILL) == read.preempted - read.admitted
    again = read.again - read.preempted
    assert read.record.part(Part.QUEUE) == read.admitted - read.arrived + again
