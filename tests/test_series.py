"""Are the curves the accounts of every step?"""

from __future__ import annotations

from kvlab.record import events as ev
from kvlab.record.replay import Replay
from kvlab.views.series import series, thinned


def test_every_row_is_the_account_of_its_step(sample):
    told, replay = series(sample), Replay(sample)
    assert len(told.l1) == len(sample) + 1
    for step in range(len(sample) + 1):
        account = replay.at(step).account()
        assert told.l1[step].tolist() == [
            account.protected,
            account.held,
            account.evictable,
            account.available,
        ]


def test_every_row_sums_to_the_pool(sample):
    told = series(sample)
    assert set(told.l1.sum(axis=1).tolist()) == {24}
    assert set(told.l2.sum(axis=1).tolist()) == {48}


def test_decisions_refusals_and_losses_are_steps(sample):
    told = series(sample)
    assert all(isinstance(sample.events[s - 1], ev.Decision) for s in told.decisions)
    kinds = [
        {type(sample.events[step - 1]) for step in steps}
        for steps in (told.refusals, told.losses)
    ]
    assert kinds == [
        {ev.Admit, ev.DecodeRoom},
        {ev.Victim, ev.EvictHost, ev.Delete, ev.PickRetract, ev.Retract, ev.Drop},
    ]


def test_thinning_keeps_both_ends_and_the_order():
    steps = thinned(1001, 7)
    assert (steps[0], steps[-1], len(steps)) == (0, 1000, 7)
    assert steps == sorted(set(steps))
    assert thinned(3, 7) == [0, 1, 2]
