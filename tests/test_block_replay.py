"""Is the state after any event found without folding from the start?"""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from kvlab.errors import TraceError
from kvlab.record import block_events as be
from kvlab.record import seek
from kvlab.record.block_replay import BlockReplay, block_state_at
from kvlab.record.block_snapshot import BlockState
from kvlab.record.trace import BlockTrace
from kvlab.run.block_run import load_blocks

FOLDER = Path(__file__).parent / "goldens" / "vllm"


@pytest.fixture(params=["t06_preempt", "t23_l2_load", "r05_priority"])
def trace(request):
    return load_blocks(next(FOLDER.glob(f"{request.param}*")))


def told(state: BlockState) -> dict[str, object]:
    """Return the state as one value; the queue's order counts."""
    tiers = {
        name: (list(tier.free), tier.ref_cnt, tier.names)
        for name, tier in state.tiers.items()
    }
    return vars(state) | {"tiers": tiers}


def test_any_step_is_the_fold_from_the_start(trace, monkeypatch):
    monkeypatch.setattr(seek, "STRETCH", 100)
    replay = BlockReplay(trace)
    dice = Random(1)
    for _ in range(12):
        step = dice.randrange(len(trace) + 1)
        assert told(replay.at(step)) == told(block_state_at(trace, step))


def test_a_state_that_was_handed_out_is_the_callers_own(trace):
    replay = BlockReplay(trace)
    half = len(trace) // 2
    before = told(replay.at(half))
    mine = replay.at(half)
    mine.running.append("x")
    mine.tiers["L1"].free.clear()
    for request in mine.requests.values():
        request.blocks.append(99)
    finished = [r for r in mine.requests.values() if r.stage == "finished"]
    for request in finished:
        request.blocks.clear()
    assert told(replay.at(half)) == before


def test_a_step_that_is_not_in_the_run_is_refused(trace):
    with pytest.raises(TraceError, match="is not in the run"):
        BlockReplay(trace).at(len(trace) + 1)


def test_a_run_is_shown_up_to_the_event_that_does_not_fold(trace):
    wrong = be.Release(-1, "L1", np.array([0], np.int32))
    replay = BlockReplay(BlockTrace(trace.header, [*trace.events[:5], wrong]))
    assert replay.fault is not None
    assert told(replay.at(5)) == told(block_state_at(trace, 5))
    with pytest.raises(TraceError, match="nobody owns"):
        replay.at(6)
