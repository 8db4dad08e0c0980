"""Does every page of both pools have one holder, and the right look?"""

from __future__ import annotations

from collections import Counter

import pytest
from moments import at, rests
from played import golden

from kvlab.record import events as ev
from kvlab.record.replay import Replay
from kvlab.views.account import device_sum, host_sum
from kvlab.views.frame import frame_at, frame_of
from kvlab.views.slots import runs


def tokens_of(frame, tier):
    count = Counter()
    for run in runs(frame, tier):
        count[run.state] += run.length * frame.header.config.page_size
    return count


@pytest.mark.parametrize("tier", ["L1", "L2"])
def test_the_runs_cover_the_pool_without_a_gap(sample, tier):
    replay = Replay(sample)
    for step in range(len(sample) + 1):
        found = runs(frame_of(replay, step), tier)
        pool = replay.at(step).pools[tier]
        at = pool.first
        for run in found:
            assert run.first == at
            at += run.length
        assert at == pool.first + pool.num_pages


def test_between_operations_the_pools_say_what_the_accounts_say(sample):
    replay = Replay(sample)
    for step in rests(sample):
        frame = frame_of(replay, step)
        if isinstance(frame.event, ev.Restore):
            continue
        device, host = tokens_of(frame, "L1"), tokens_of(frame, "L2")
        for term in device_sum(frame).terms:
            assert device[term.state] == term.tokens, (step, term)
        for term in host_sum(frame).terms:
            assert host[term.state] == term.tokens, (step, term)


def states_of(frame, tier, label):
    return {run.state for run in runs(frame, tier) if run.label == label}


def test_a_backup_in_flight_shows_on_the_host_side(sample):
    frame = at(sample, ev.Backup)
    assert states_of(frame, "L2", "n1") == {"in_flight"}
    assert states_of(frame, "L1", "n1") == {"evictable"}


def test_slots_of_a_load_are_promised_and_l2_alone_has_its_tokens(sample):
    frame = at(sample, ev.Load)
    assert states_of(frame, "L1", "n4") == {"promised"}
    assert states_of(frame, "L2", "n4") == {"host_only"}
    frame = at(sample, ev.LoadDone)
    assert states_of(frame, "L1", "n4") == {"used"}
    assert states_of(frame, "L2", "n4") == {"copy"}


def test_a_node_that_left_l2_is_not_seen_where_others_are():
    frame = frame_at(golden("s25"), 41)
    assert frame.state.orphans
    assert states_of(frame, "L1", "n1") == {"promised"}
    assert states_of(frame, "L2", "n1") == set()


def test_a_demoted_node_is_seen_to_give_up_its_slots_for_one_event(sample):
    frame = at(sample, ev.Demote)
    assert states_of(frame, "L1", "n1") == {"left"}
    assert states_of(frame, "L2", "n1") == {"host_only"}


def test_a_reclaimed_copy_is_seen_to_go_for_one_event(sample):
    steps = [i for i, e in enumerate(sample.events, 1) if isinstance(e, ev.BackupDone)]
    cut = type(sample)(sample.header, sample.events[: steps[0]])
    cut(ev.Reclaim, 1)
    frame = frame_at(cut, len(cut))
    assert states_of(frame, "L2", "n1") == {"left"}
    assert {run.length for run in runs(frame, "L2") if run.hot} == {18}


def test_a_lost_node_is_seen_to_go_for_one_event(sample):
    assert states_of(at(sample, ev.EvictHost), "L2", "n1") == {"lost"}
    assert states_of(at(sample, ev.Delete), "L1", "n7") == {"lost"}


def test_decode_tokens_are_held_by_their_request(sample):
    assert states_of(at(sample, ev.Grow), "L1", "a") == {"held"}


def test_a_twin_is_told_by_the_state_of_the_other_copy(sample):
    frame = at(sample, ev.Grow)
    twins = {run.label: run.twin for run in runs(frame, "L2")}
    assert twins["n5"] == "used"
    assert twins["n3"] == "evictable"
    assert twins["n1"] is None


def test_no_twin_lives_where_a_copy_is_still_to_arrive(sample):
    for kind, label in ((ev.Load, "n4"), (ev.Backup, "n1")):
        frame = at(sample, kind)
        for tier in ("L1", "L2"):
            assert {r.twin for r in runs(frame, tier) if r.label == label} == {None}


def test_the_pages_of_the_event_are_hot(sample):
    frame = at(sample, ev.Alloc)
    assert [run.length for run in runs(frame, "L1") if run.hot] == [18]


def test_a_hostile_request_name_is_one_short_line(hostile):
    labels = [run.label for run in runs(frame_at(hostile, len(hostile)), "L1")]
    assert all(len(label) <= 12 and "\n" not in label for label in labels)
