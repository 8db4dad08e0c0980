"""Is kvlab's vLLM the real one, record by record, and does its trace say all of it?"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from block_folding import block_differences, chunk_differences
from folding import Folded

from kvlab.record.block_invariants import broken_blocks
from kvlab.record.block_snapshot import BlockState
from kvlab.record.trace import BlockHeader, BlockTrace
from kvlab.run.block_conform import replay_scenario
from kvlab.run.block_ops import BlockOps, ChunkOps
from kvlab.run.block_runner import BlockRunner
from kvlab.run.block_script import Scenario, read_scenario

FOLDER = Path(__file__).parent / "goldens" / "vllm"
GOLDENS = sorted(FOLDER.glob("*.json*"))


def load(path: Path) -> Scenario:
    raw = path.read_bytes()
    data = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    return read_scenario(str(path), data)


def name(path: Path) -> str:
    return path.name.split(".")[0]


@pytest.mark.parametrize("path", GOLDENS, ids=name)
def test_every_record_equals_the_real_engines(path):
    for number, recorded, replayed in replay_scenario(load(path)):
        assert replayed == recorded, f"record {number}"


@pytest.mark.parametrize("path", GOLDENS, ids=name)
def test_the_trace_folds_into_the_live_state_after_every_record(path):
    scenario = load(path)
    trace = BlockTrace(BlockHeader(config=scenario.config))
    folded = Folded(trace, BlockState.start(scenario.config))
    engine, records = started(scenario, trace)
    for number in range(records):
        engine.step() if scenario.mode == "sched" else engine.step(number)
        state = folded.now()
        if scenario.mode == "cpu":
            assert chunk_differences(state, engine.pool) == [], f"record {number}"
            continue
        assert block_differences(state, engine) == [], f"record {number}"
        assert broken_blocks(state) == [], f"record {number}"
        engine.manager.pool.check()


def started(scenario: Scenario, trace: BlockTrace) -> tuple[Any, int]:
    """Return the engine that lives through a scenario, and how many records it has."""
    if scenario.mode == "sched":
        return BlockRunner(scenario, trace), len(scenario.records)
    if scenario.mode == "kv":
        return BlockOps(scenario, trace), len(scenario.ops)
    return ChunkOps(scenario, trace), len(scenario.chunk_ops)


def test_there_are_goldens_of_every_mode():
    assert {load(path).mode for path in GOLDENS} == {"sched", "kv", "cpu"}
