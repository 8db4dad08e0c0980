"""Are made-up workloads what their dials say, and the same for the same seed?"""

from __future__ import annotations

from itertools import islice

import pytest

from kvlab.cache.key import common_prefix
from kvlab.errors import ConfigError
from kvlab.run.clocked_link import NEVER
from kvlab.run.generators import (
    SECOND,
    burst,
    chat,
    poisson,
    ramp,
    shared_system,
    unique,
)
from kvlab.run.workload import ClosedLoop, OpenLoop


def told(asks):
    return [(a.id, a.at, a.tokens.tolist(), a.max_new) for a in asks]


def some(seed=0, **dials):
    dials = {"length": 200, "outputs": 20, "spread": 0.5} | dials
    return list(shared_system(50, poisson(2.0, seed), seed=seed, **dials))


def test_the_same_seed_asks_the_same_and_another_does_not():
    assert told(some(1, share=0.3)) == told(some(1, share=0.3))
    assert told(some(1, share=0.3)) != told(some(2, share=0.3))


def test_poisson_arrivals_come_at_their_rate():
    *_, last = islice(poisson(5.0), 5000)
    assert last / SECOND == pytest.approx(1000, rel=0.05)


def test_a_ramp_grows_to_its_last_rate():
    arrivals = [at / SECOND for at in islice(ramp(1.0, 10.0, over=100), 2000)]
    early = sum(at < 10 for at in arrivals) / 10
    late = sum(120 <= at < 160 for at in arrivals) / 40
    assert early < 3 and late == pytest.approx(10, rel=0.15)


def test_bursts_arrive_at_once():
    assert [at // SECOND for at in islice(burst(3, every=2), 7)] == [
        0,
        0,
        0,
        2,
        2,
        2,
        4,
    ]


def test_unique_prompts_share_not_one_token():
    asks = list(unique(40, poisson(1.0), length=100, outputs=5, spread=0.5))
    pairs = [(a, b) for a in asks for b in asks if a is not b]
    assert all(common_prefix(a.tokens, b.tokens) == 0 for a, b in pairs)


@pytest.mark.parametrize("share", [0.25, 0.75])
def test_the_dial_of_sharing_is_the_common_part_within_a_group(share):
    first, *others = some(share=share, groups=1, spread=0.0)
    assert {common_prefix(first.tokens, other.tokens) for other in others} == {
        round(200 * share)
    }


def test_groups_share_nothing_with_each_other():
    first, *others = some(share=0.5, groups=4, spread=0.0)
    assert {common_prefix(first.tokens, other.tokens) for other in others} == {0, 100}


def test_a_turn_repeats_the_talk_with_the_answer_in_it():
    (session,) = chat(1, turns=3, first=10, question=4, outputs=6, think=1.0, system=5)
    asks = [ask for _, ask in session]
    assert [len(ask.tokens) for ask in asks] == [15, 25, 35]
    answer = asks[1].tokens[15:21].tolist()
    assert answer == [asks[0].filler] * 6
    assert common_prefix(asks[0].tokens, asks[1].tokens) == 15


def test_a_closed_loop_sends_the_next_turn_after_the_last_has_left():
    loop = ClosedLoop(
        chat(1, turns=2, first=10, question=4, outputs=6, think=1.0, stagger=0.0)
    )
    first = loop.take()
    assert loop.next_arrival == NEVER
    loop.left(first.id, 7 * SECOND)
    assert loop.next_arrival > 7 * SECOND
    assert loop.take().id == "u0t1"


def test_an_open_loop_ends_when_its_requests_do():
    loop = OpenLoop(unique(1, poisson(1.0), length=5, outputs=1))
    loop.take()
    assert loop.next_arrival == NEVER


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: poisson(0), "rate is 0; use 1e-06 to 1e"),
        (lambda: burst(0, 1), "size is 0; use 1 to"),
        (lambda: next(ramp(1, -2, 3)), "last is -2"),
        (lambda: some(share=1.5), "share is 1.5; use 0 to 1"),
        (lambda: some(length=0, share=0.0), "length is 0; use 1 to"),
        (
            lambda: chat(0, turns=1, first=1, question=1, outputs=1, think=0),
            "users is 0",
        ),
    ],
)
def test_dials_out_of_range_are_told_with_the_range(call, message):
    with pytest.raises(ConfigError) as caught:
        call()
    assert message in str(caught.value)
