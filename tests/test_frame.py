"""What does a picture of one moment know?"""

from __future__ import annotations

import pytest
from moments import step_of

from kvlab.errors import TraceError
from kvlab.record import events as ev
from kvlab.record.replay import Replay
from kvlab.views.frame import focus, frame_at, frame_of


def test_at_step_0_nothing_has_happened(sample):
    frame = frame_at(sample, 0)
    assert frame.event is None
    assert frame.state.account().available == 24
    assert focus(frame).nodes == frozenset()


def test_a_frame_holds_the_last_event_and_the_states_around_it(sample):
    frame = frame_at(sample, step_of(sample, ev.Demote))
    node = frame.event.node
    assert frame.before.nodes[node].pages is not None
    assert frame.state.nodes[node].pages is None


def test_a_replay_gives_the_same_frames(sample):
    replay = Replay(sample)
    for step in (90, 5, 142, 0):
        one, other = frame_of(replay, step), frame_at(sample, step)
        assert one.state.account() == other.state.account()
        assert one.event is other.event


@pytest.mark.parametrize("step", [-1, 143, "2", 2.5, None])
def test_a_step_that_the_run_does_not_have_is_refused(sample, step):
    said = f"step {step!r}: is not in the run; use 0 to 142"
    with pytest.raises(TraceError, match=said):
        frame_at(sample, step)


def test_a_lock_touches_the_whole_path(sample):
    frames = [frame_at(sample, s) for s in range(1, 143)]
    locked = [focus(f).nodes for f in frames if isinstance(f.event, ev.Lock)]
    assert {3, 4} in locked


def test_a_split_touches_both_halves(sample):
    assert focus(frame_at(sample, step_of(sample, ev.Split))).nodes == {2, 3}


def test_an_allocation_touches_its_pages(sample):
    touched = focus(frame_at(sample, step_of(sample, ev.Alloc)))
    assert touched.pages("L1").tolist() == list(range(1, 19))


def test_a_node_that_leaves_the_tree_is_still_known(sample):
    touched = focus(frame_at(sample, step_of(sample, ev.EvictHost)))
    assert touched.gone.id == 1
    assert len(touched.pages("L2")) == 18


def test_an_event_of_a_request_names_it(sample):
    assert focus(frame_at(sample, step_of(sample, ev.Admit, 1))).request == "c"


def test_an_acknowledgement_touches_what_it_was_waited_for(sample):
    assert focus(frame_at(sample, step_of(sample, ev.BackupDone, 2))).nodes == {4}
    assert focus(frame_at(sample, step_of(sample, ev.LoadDone))).nodes == {4}
