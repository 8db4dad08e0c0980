"""Which laws of time hold, whatever arrives and whichever engine serves it?

Little's law in its exact form: the area under the number of requests inside, as the
trace tells who comes and goes, is the sum of their stays, as the engine booked them.
"""

from __future__ import annotations

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kvlab.block_config import BlockConfig, L2Config
from kvlab.config import EngineConfig
from kvlab.record import events as ev
from kvlab.record.block_snapshot import BlockState
from kvlab.record.snapshot import State
from kvlab.record.trace import BlockHeader, BlockTrace, Header, Trace
from kvlab.rules import Rules
from kvlab.run.accelerators import accelerator
from kvlab.run.block_timed_engine import TimedBlockEngine
from kvlab.run.cost import Cost
from kvlab.run.generators import burst, poisson, shared_system
from kvlab.run.model_shapes import model_shape
from kvlab.run.parts import Part
from kvlab.run.timed_engine import TimedEngine
from kvlab.run.workload import OpenLoop

TO_FIRST = (Part.QUEUE, Part.LOAD, Part.PREFILL)
PAGES, LINKS = st.sampled_from([1, 16, 64]), st.sampled_from([1e8, 4e9])
CHUNKS = st.sampled_from([None, 128])
FEW = settings(max_examples=25, phases=[Phase.explicit, Phase.generate])


@st.composite
def workloads(draw):
    """Up to 40 requests that share some of their prompts; each fits a pool of 1,024."""
    draw_seed = draw(st.integers(0, 99))
    rate = draw(st.sampled_from([1.0, 20.0, 400.0]))
    arrivals = draw(st.sampled_from([poisson(rate, draw_seed), burst(7, 1 / rate)]))
    asks = shared_system(
        draw(st.integers(1, 40)), arrivals, length=draw(st.integers(2, 400)),
        outputs=draw(st.integers(1, 120)), share=draw(st.sampled_from([0.0, 0.9])),
        groups=6, spread=0.5, seed=draw_seed,
    )  # fmt: skip
    return OpenLoop(asks)


def check_laws(trace, state, engine):
    """The parts of each sum to its time, and the stays of all to the area."""
    tallies = engine.tallies
    assert not tallies.refused and tallies.done
    for record in tallies.done:
        assert min(record.spent) >= 0
        assert sum(record.spent) == record.end - record.arrival
        if not record.retracted and not record.aborted:
            assert sum(record.part(part) for part in TO_FIRST) == record.ttft
    stays = [record.end - record.arrival for record in tallies.done]
    assert area_inside(trace, state) == sum(stays)


def area_inside(trace, state):
    """Requests x nanoseconds: how many were inside, and how long, by the trace."""
    moves = []
    for event in trace.events:
        state.apply(event)
        if isinstance(event, ev.Sent):
            moves.append((event.at, 1))
        elif isinstance(event, ev.Finish | ev.Drop):
            moves.append((state.now, -1))
    area = inside = last = 0
    for at, change in sorted(moves):
        area += inside * (at - last)
        inside, last = inside + change, at
    assert inside == 0
    return area


@FEW
@given(
    workloads(), PAGES, LINKS, CHUNKS, st.sampled_from(["0.5.14", "0.5.23"]),
    st.sampled_from(["write_through", "write_back"]), st.sampled_from(["fcfs", "lpm"]),
)  # fmt: skip
def test_sglang_keeps_the_books_of_time(work, page, link, chunk, rules, write, policy):
    config = EngineConfig(
        pool_tokens=1024, host_tokens=4096, page_size=page, write_policy=write,
        chunked_prefill_size=chunk,
    )  # fmt: skip
    book = Rules.named(rules)
    cost = Cost(model_shape("llama-3-8b"), accelerator("a100"), link_rate=link)
    trace = Trace(Header(config=config, rules=book))
    engine = TimedEngine(
        config, book, cost, emit=trace, policy=policy, conservativeness=0.1
    )
    engine.run(work)
    check_laws(trace, State.start(config), engine)


@FEW
@given(workloads(), PAGES, LINKS, st.sampled_from([64, 512]), st.booleans())
def test_vllm_keeps_the_books_of_time(work, page, link, budget, has_l2):
    config = BlockConfig(
        num_gpu_blocks=1024 // page + 1, block_size=page, max_model_len=1024,
        hash_algo="chain64", max_num_batched_tokens=budget,
        l2=L2Config(num_cpu_blocks=4096 // page) if has_l2 else None,
    )  # fmt: skip
    cost = Cost(model_shape("llama-3-8b"), accelerator("a100"), link_rate=link)
    trace = BlockTrace(BlockHeader(config=config))
    engine = TimedBlockEngine(config, cost, emit=trace)
    engine.run(work)
    check_laws(trace, BlockState.start(config), engine)
