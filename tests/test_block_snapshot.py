"""Does a hand-made event that cannot be fail to fold, and a broken state a law?"""

from __future__ import annotations

import pytest

from kvlab.block_config import BlockConfig
from kvlab.errors import TraceError
from kvlab.pages import as_pages
from kvlab.record import block_events as ev
from kvlab.record.block_invariants import BLOCK_LAWS, broken_blocks
from kvlab.record.block_replay import block_state_at, block_states
from kvlab.record.block_snapshot import BlockState
from kvlab.record.events import Arrive, Finish, Output
from kvlab.record.folding import FoldError
from kvlab.record.trace import BlockHeader, BlockTrace
from kvlab.views.block_patches import BlockPatches

CONFIG = BlockConfig(num_gpu_blocks=6, block_size=4)


def run(*said: tuple) -> BlockTrace:
    """A run in which these events happened."""
    trace = BlockTrace(BlockHeader(config=CONFIG))
    for kind, *fields in said:
        trace(kind, *fields)
    return trace


def taken(*blocks: int) -> tuple:
    return (ev.Take, "L1", as_pages(blocks))


LIFE = (
    (Arrive, "a", 6, 2, 0),
    taken(1, 2),
    (ev.Hold, "a", as_pages([1, 2])),
    (ev.Register, "L1", as_pages([1]), (77,)),
    (ev.Run, "a"),
    (ev.Compute, "a", 6),
)


def state_of(*said: tuple) -> BlockState:
    trace = run(*said)
    return block_state_at(trace, len(trace))


def test_a_life_folds_into_its_three_states():
    state = state_of(*LIFE)
    assert state.tiers["L1"].account() == (2, 0, 3, 5)
    done = ((ev.Vacate, "a"), (ev.Release, "L1", as_pages([2, 1])), (Finish, "a"))
    state = state_of(*LIFE, *done)
    assert state.tiers["L1"].account() == (0, 1, 4, 5)
    assert list(state.tiers["L1"].free) == [2, 3, 4, 5, 1]


def test_every_state_of_a_life_can_be_asked_for():
    trace = run(*LIFE)
    assert block_state_at(trace, 0).requests == {}
    assert [state.waiting == ["a"] for _, _, state in block_states(trace)] == [
        True, True, True, True, False, False,
    ]  # fmt: skip


def test_who_loads_once_more_keeps_its_place():
    """After a load of which nothing was good; as in vLLM 0.33.0."""
    waiting = [(Arrive, id, 6, 2, 0) for id in "ab"]
    loading = [(ev.Defer, id, "loading") for id in "ab"]
    again = [(ev.Loaded, "a"), (ev.Defer, "a", "loading")]
    state = state_of(*waiting, *loading, *again)
    assert state.deferred == ["a", "b"]
    assert state.requests["a"].stage == "loading"
    trace = run(*waiting, *loading, *again)
    patches = BlockPatches(trace)
    for index in range(len(trace)):
        patches.step(index)
    a, b = (patches._get("place", patches.place_of(id)) for id in "ab")
    assert a < b


def test_a_copy_does_not_move_with_its_original():
    state = state_of(*LIFE)
    copy = state.copy()
    state.apply(Output(-1, "a", 5))
    assert copy.requests["a"].outputs == 0


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (taken(3), "block 1 heads the queue"),
        ((ev.Release, "L1", as_pages([3])), "which nobody owns"),
        ((ev.Hold, "b", as_pages([1])), "'b'"),
        ((ev.Forget, "L1", as_pages([3])), "3"),
        ((ev.CopiedOut, 4), "4"),
    ],
)
def test_an_event_that_cannot_be_does_not_fold(event, words):
    with pytest.raises(FoldError, match=words):
        state_of(event)


def test_a_step_that_is_not_in_the_run_is_refused():
    with pytest.raises(TraceError, match="step 7"):
        block_state_at(run(*LIFE), 7)


def test_a_preempted_request_waits_at_the_head():
    state = state_of(*LIFE, (Arrive, "b", 1, 1, 0), (ev.Preempt, "a"))
    assert state.waiting == ["a", "b"]
    assert state.requests["a"].preemptions == 1


def test_a_sound_state_breaks_no_law():
    assert broken_blocks(state_of(*LIFE)) == []


def broken_by(change) -> list[str]:
    state = state_of(*LIFE)
    change(state)
    return broken_blocks(state)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s.tiers["L1"].free.pop(3), "block 3 of L1 is not free and has 0"),
        (lambda s: s.tiers["L1"].free.update({1: None}), "block 1 of L1 is free and"),
        (lambda s: s.tiers["L1"].free.update({0: None}), "the null block of L1"),
        (lambda s: s.requests["a"].blocks.pop(), "ref_cnt 1 and 0 owners"),
        (lambda s: setattr(s.requests["a"], "computed", 9), "9 tokens in 8 places"),
        (lambda s: setattr(s.requests["a"], "stage", "waiting"), "holds 2 blocks"),
        (lambda s: s.waiting.append("a"), "stands in 2 queues"),
        (lambda s: s.tiers["L1"].names.update({2: 1}), "named early"),
    ],
)
def test_each_law_says_what_is_wrong(change, words):
    assert any(words in sentence for sentence in broken_by(change))


def test_too_many_running_requests_are_noticed():
    state = state_of(*LIFE, (Arrive, "b", 1, 1, 0), (ev.Run, "b"))
    state.config = BlockConfig(num_gpu_blocks=6, block_size=4, max_num_seqs=1)
    assert any("2 run of at most 1" in sentence for sentence in broken_blocks(state))


def test_every_law_has_a_reason():
    assert all(law.__doc__ for law in BLOCK_LAWS)
