"""Do the laws hold, and the trace fold, in runs that nobody has thought of?"""

from __future__ import annotations

from block_folding import block_differences
from folding import Folded
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kvlab.block_config import BlockConfig, L2Config
from kvlab.record.block_invariants import broken_blocks
from kvlab.record.block_snapshot import BlockState
from kvlab.record.trace import BlockHeader, BlockTrace
from kvlab.run.block_runner import BlockRunner
from kvlab.run.block_script import RequestSpec, Scenario

CONFIGS = st.builds(
    BlockConfig,
    num_gpu_blocks=st.integers(9, 14),
    block_size=st.just(2),
    watermark=st.sampled_from([0.0, 0.2]),
    max_num_batched_tokens=st.integers(3, 16),
    max_num_seqs=st.integers(1, 4),
    enable_caching=st.booleans(),
    max_model_len=st.just(16),
    long_prefill_token_threshold=st.sampled_from([0, 3]),
    policy=st.sampled_from(["fcfs", "priority"]),
    scheduler_reserve_full_isl=st.booleans(),
    async_scheduling=st.booleans(),
    l2=st.none()
    | st.builds(
        L2Config,
        num_cpu_blocks=st.integers(1, 12),
        lazy=st.booleans(),
        load_latency=st.integers(0, 3),
        store_latency=st.integers(0, 2),
    ),
)


@st.composite
def requests(draw) -> list[RequestSpec]:
    """A few requests whose prompts share beginnings."""
    stems = [list(range(10)), [0, 1, 2, 3, 20, 21, 22, 23], list(range(40, 50))]
    return [
        RequestSpec(
            f"r{number}",
            draw(st.sampled_from(stems))[: draw(st.integers(1, 10))],
            draw(st.integers(1, 6)),
            arrival=draw(st.integers(0, 6)),
            priority=draw(st.integers(0, 2)),
            cache_salt=draw(st.sampled_from([None, None, "s"])),
            skip_read=draw(st.booleans()) and draw(st.booleans()),
        )
        for number in range(draw(st.integers(1, 7)))
    ]


@settings(max_examples=60, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(CONFIGS, requests())
def test_every_request_finishes_and_every_law_holds_on_the_way(config, specs):
    scenario = Scenario(
        name="", mode="sched", config=config, requests=specs, max_steps=150
    )
    trace = BlockTrace(BlockHeader(config=config))
    runner = BlockRunner(scenario, trace)
    folded = Folded(trace, BlockState.start(config))
    while not runner.is_over:
        runner.step()
        state = folded.now()
        assert broken_blocks(state) == []
        assert block_differences(state, runner) == []
        runner.manager.pool.check()
    assert runner.summary()["unfinished"] == []
    if runner.number < scenario.max_steps:
        assert runner.manager.pool.num_free == config.num_gpu_blocks - 1
