"""How much is set aside for what running requests may still write?"""

from __future__ import annotations

import pytest

from kvlab.schedule.token_ratio import NewTokenRatio, estimate


def test_after_a_retraction_the_survivors_plan_twenty_steps_ahead():
    assert estimate([(10, 100), (30, 100)]) == (40 + 2 * 20) / (200 + 1)


def test_the_estimate_is_never_more_than_all():
    assert estimate([(9, 10)]) == 1.0


def test_without_survivors_nothing_is_set_aside():
    assert estimate([]) == 0.0


@pytest.mark.parametrize(("outputs", "rises"), [(1, False), (90, True)])
def test_the_estimate_may_be_below_or_above_the_ratio_before(outputs, rises):
    assert (estimate([(outputs, 100)]) > 0.7) == rises


def test_the_ratio_starts_at_seven_tenths_of_what_was_asked():
    assert NewTokenRatio().value == 0.7
    assert NewTokenRatio(0.5).value == 0.35


def test_the_ratio_starts_with_all_at_most():
    assert NewTokenRatio(2.0).value == 1.0


def test_the_ratio_falls_by_the_same_step_every_round():
    ratio = NewTokenRatio()
    ratio.decay()
    assert ratio.value == pytest.approx(0.7 - (0.7 - 0.098) / 600)


def test_the_ratio_stops_at_its_least():
    ratio = NewTokenRatio()
    ratio.decay(10_000)
    assert ratio.value == ratio.least == 0.7 * 0.14


def test_an_estimate_below_the_least_holds_until_the_next_round():
    ratio = NewTokenRatio()
    ratio.restart(0.01)
    assert ratio.value == 0.01
    ratio.decay()
    assert ratio.value == ratio.least


def test_many_rounds_at_once_are_many_rounds():
    one, many = NewTokenRatio(), NewTokenRatio()
    for _ in range(100):
        one.decay()
    many.decay(100)
    assert one.value == many.value


def test_the_ratio_falls_on_from_an_estimate():
    ratio = NewTokenRatio()
    ratio.decay(300)
    ratio.restart(0.9)
    ratio.decay(2)
    assert ratio.value == pytest.approx(0.9 - 2 * ratio.step)


def test_an_idle_engine_starts_anew():
    ratio = NewTokenRatio()
    ratio.restart(0.2)
    ratio.decay(50)
    ratio.reset()
    assert ratio.value == 0.7
