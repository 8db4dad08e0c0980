"""Is a queue told that stays from one that passes?"""

from __future__ import annotations

from kvlab.observe.samples import Place, Sample
from kvlab.observe.spells import Row, last, longest


def rows(*queues: float, every: float | None = None) -> list[Row]:
    return [
        Row(
            Sample(
                Place("log", at + 1), None if every is None else at * every, "step", {}
            ),
            0.5,
            queue,
            1.0,
        )
        for at, queue in enumerate(queues)
    ]


def test_the_longest_spell_is_not_the_first_wait_to_the_end():
    found = longest(rows(1, 0, 0, 0, 0, 0, 9, 9, 9, 0, 0, 0))
    assert (found.start, found.stop, found.open) == (6, 9, False)


def test_one_report_without_a_queue_does_not_end_a_spell():
    assert len(longest(rows(*[9] * 8, 0, *[9] * 6)).rows) == 15
    assert len(longest(rows(*[9] * 8, 0, 0, *[9] * 8)).rows) == 8


def test_nobody_who_waits_makes_no_spell():
    for found in (longest(rows(0, 0, 0)), last(rows(0, 0, 0)), longest([]), last([])):
        assert found.rows == []
        assert not found.open
        assert not found.lasted


def test_a_spell_of_two_minutes_has_lasted_and_one_of_seconds_has_not():
    assert longest(rows(*[5] * 13, every=10.0)).lasted
    assert not longest(rows(*[5] * 100, every=0.1)).lasted


def test_without_a_clock_reports_are_counted():
    assert longest(rows(*[5] * 10)).lasted
    assert not longest(rows(*[5] * 9)).lasted


def test_one_request_that_waits_at_a_time_is_no_lasting_queue():
    assert not longest(rows(*[1] * 60, every=10.0)).lasted


def test_the_last_spell_is_the_one_the_input_ends_in():
    found = last(rows(9, 9, 9, 9, 0, 0, 0, 3, 4))
    assert (found.start, len(found.rows), found.open) == (7, 2, True)
    assert last(rows(9, 9, 9, 0)).rows == []
