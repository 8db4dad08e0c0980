"""Does the first half minute say what it is meant to say?"""

from __future__ import annotations

import pytest

import kvlab
from kvlab.lessons.questions import state_at
from kvlab.lessons.tour import ACTS, STARTS_AT
from kvlab.record import events as ev


@pytest.fixture
def tour():
    return kvlab.tour()


def test_it_starts_by_itself_and_asks_once_within_forty_events_or_so(tour):
    assert tour.player._how["ask"] == [tour.question]
    assert tour.player._how["autoplay"] is True
    assert 0 < tour.question - STARTS_AT <= 41


def test_the_question_is_about_the_sixth_request_with_l2_empty(tour):
    event = tour.player.trace.events[tour.question - 1]
    assert isinstance(event, ev.Admit) and event.request == "r6"
    state = state_at(tour.player.trace, tour.question)
    assert state.host_account().available == state.host_account().total == 48
    assert state.account().protected == 20


def test_the_buttons_come_after_an_answer(tour):
    assert len(tour.children) == 2
    tour.player.answers = [{"event": tour.question, "right": False}]
    assert len(tour.children) == 3


def test_ten_times_the_l2_changes_nothing(tour):
    assert tour.give("l2").at is None
    assert "no difference in 262 events" in tour.acts.verdict["why"][0]


def test_four_slots_of_l1_let_the_sixth_in(tour):
    assert tour.give("l1").at == tour.question - 1
    event = tour.player.other.events[tour.question - 1]
    assert event.added and event.request == "r6"
    assert f"event {tour.question}" in tour.acts.verdict["why"][0]


def test_a_button_that_is_not_there_does_nothing(tour):
    tour._heard(None, {"act": "l3"}, [])
    assert tour.difference is None
    assert set(ACTS) == {"l1", "l2"}
