"""Does each planted fault do harm that somebody sees, and the sound cache none?"""

from __future__ import annotations

import pytest
import torch

from kvlab.lessons.planted import FAULTS, tell
from kvlab.record import events as ev
from kvlab.record.invariants import broken
from kvlab.record.replay import Replay, states
from kvlab.run.model import Spec

all_faults = pytest.mark.parametrize("name", FAULTS)
FIRST = {
    "early unlock": (
        "L2 slot 0: token 1 of n1 should end the prefix 102 (1 token); it holds 115 "
        "(1 token).",
        ev.BackupDone,
    ),
    "reuse in flight": (
        "L1 slot 2: token 1 of n2 should end the prefix 115 (1 token); it holds 102 "
        "(1 token).",
        ev.LoadDone,
    ),
    "wrong order": (
        "L1 slot 2: token 13 of n2 should end the prefix 102 105 .. 32 115 (13 "
        "tokens); it holds 102 (1 token).",
        ev.LoadDone,
    ),
    "off by a page": (
        "L1 slot 2: token 23 of n2 should end the prefix 102 105 .. 100 101 (23 "
        "tokens); it holds 102 (1 token).",
        ev.LoadDone,
    ),
    "gap": (
        "L1 slot 14: token 1 of n1 should end the prefix 102 (1 token); it holds 115 "
        "111 .. 115 101 (13 tokens).",
        ev.LoadDone,
    ),
}


@pytest.fixture(scope="module")
def harms():
    return {name: tell(name) for name in FAULTS}


@all_faults
@pytest.mark.parametrize("rank", [None, 16], ids=["gqa", "mla"])
@pytest.mark.parametrize("order", ["layer_first", "page_first"])
def test_the_sound_cache_tells_the_same_story_without_a_wrong_bit(name, rank, order):
    spec = Spec(layers=1, rank=rank)
    sound = tell(name, planted=False, spec=spec, host_order=order)
    assert (sound.line, sound.difference) == ("", 0.0)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
@all_faults
def test_on_a_gpu_the_fault_does_harm_and_the_sound_cache_none(name):
    assert tell(name, device="cuda").line.startswith(FIRST[name][0])
    sound = tell(name, planted=False, device="cuda")
    assert (sound.line, sound.difference) == ("", 0.0)


@all_faults
def test_the_first_failure_names_slot_token_and_event(harms, name):
    said, kind = FIRST[name]
    harm = harms[name]
    assert harm.line.startswith(said)
    assert f"Event {harm.wrong[0].by} touched it last" in harm.line
    assert isinstance(harm.trace.events[harm.wrong[0].by - 1], kind)


@all_faults
def test_under_the_rules_of_0_5_14_it_is_the_same_story(name):
    spec = Spec(layers=1)
    assert tell(name, spec=spec, release="0.5.14").line.startswith(FIRST[name][0])
    sound = tell(name, planted=False, spec=spec, release="0.5.14")
    assert (sound.line, sound.difference) == ("", 0.0)


@all_faults
def test_the_logits_are_spoiled(harms, name):
    assert harms[name].difference > 0.1


@all_faults
def test_nothing_is_wrong_before_the_event_that_is_named(harms, name):
    harm = harms[name]
    first = next(i for i, e in enumerate(harm.trace.events) if isinstance(e, ev.Wrong))
    before = harm.trace.events[: harm.wrong[0].by - 1]
    seen = [event for event in before if isinstance(event, ev.Compared)]
    assert first >= harm.wrong[0].by
    assert len(seen) > 1
    assert all(event.wrong == 0 for event in seen)


@all_faults
def test_the_run_of_a_fault_can_be_played(harms, name):
    assert Replay(harms[name].trace).fault is None


@all_faults
def test_no_law_of_the_state_tells_but_that_of_the_gap(harms, name):
    trace = harms[name].trace
    told = {
        sentence
        for _, _, state in states(trace)
        for sentence in broken(state, at_rest=False, rules=trace.header.rules)
    }
    chain = "node 2 is backed up, its parent 1 is not"
    assert (bool(told), chain in told) == ((name == "gap"),) * 2


def test_the_engine_has_no_switch_for_them():
    for fault in FAULTS.values():
        assert fault.cache.__module__ == "kvlab.lessons.planted"
