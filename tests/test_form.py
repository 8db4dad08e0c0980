"""Does a form ask without telling, and is a prediction committed before the run?"""

from __future__ import annotations

import json

import pytest
from solutions import given, solutions

import kvlab
from kvlab.errors import KvlabError
from kvlab.lessons.checks import draw
from kvlab.lessons.exercises import EXERCISES
from kvlab.lessons.form import CLOSE, WATCHED, WORDS, asked, opens_at

each = pytest.mark.parametrize("id", EXERCISES)
PREDICTIONS = [id for id in EXERCISES if id[3] == "P"]


@each
def test_what_the_browser_gets_can_be_sent_and_has_no_open_brace(id):
    what = asked(EXERCISES[id], draw(id, 0))
    assert json.loads(json.dumps(what)) == what
    assert "{" not in what["asks"][0] + what["asks"][1]


@each
def test_how_far_off_a_number_may_be_is_said_where_it_may(id):
    exercise = EXERCISES[id]
    for ask, said in zip(asked(exercise, draw(id, 0))["asks"], CLOSE, strict=True):
        off = getattr(exercise, "tolerance", 0.0)
        assert (said.format(off=f"{100 * off:g} %") in ask) is bool(off)


@each
def test_steps_are_not_shown_in_their_order(id):
    exercise = EXERCISES[id]
    if not hasattr(exercise, "steps"):
        return
    for seed in range(20):
        shown = [key for key, _ in asked(exercise, draw(id, seed))["steps"]]
        assert shown != list(exercise.case(draw(id, seed)).answer)


@pytest.mark.parametrize("id", PREDICTIONS)
def test_the_run_is_not_there_before_the_prediction_is(id):
    prediction = kvlab.predict(id)
    assert len(prediction.children) == 1
    assert prediction.player is None and prediction.answer is None
    prediction.commit(None)
    assert len(prediction.children) == 1
    prediction.commit(given(id, solutions(id).WRONG[id][0]), confidence=4)
    has_run = EXERCISES[id].case(draw(id, 0)).trace is not None
    assert (prediction.player is not None) is has_run
    parts = [prediction.card, prediction.player, prediction.seen]
    assert list(prediction.children) == [part for part in parts if part is not None]
    assert prediction.confidence == 4


@pytest.mark.parametrize("id", PREDICTIONS)
def test_a_run_opens_at_most_forty_events_before_what_was_predicted(id):
    case = EXERCISES[id].case(draw(id, 0))
    if case.trace is not None:
        first = min(case.steps.values(), default=case.step or 0)
        assert 0 <= first - opens_at(case) <= WATCHED == 40


@pytest.mark.parametrize("id", PREDICTIONS)
def test_a_run_below_is_promised_only_where_one_will_be(id):
    has_run = EXERCISES[id].case(draw(id, 0)).trace is not None
    assert (asked(EXERCISES[id], draw(id, 0))["opens"] is not None) is has_run


@pytest.mark.parametrize("id", PREDICTIONS)
def test_a_prediction_cannot_be_changed_afterwards(id):
    first, second = (given(id, answer) for answer in solutions(id).WRONG[id][:2])
    prediction = kvlab.predict(id)
    prediction.commit(first)
    prediction.commit(second)
    assert prediction.answer == first


def test_how_it_fared_is_told_after_what_was_seen():
    prediction = kvlab.predict("07.P")
    prediction.commit(solutions("07.P").RIGHT["07.P"][0])
    prediction.seen.check()
    assert prediction.seen.verdict.right is None
    assert not prediction.card.verdict
    prediction.seen.check("same")
    assert prediction.card.verdict["right"] is True


def test_a_wrong_prediction_leads_its_player_to_the_moment():
    prediction = kvlab.predict("05.P")
    prediction.commit("admitted")
    prediction._heard(None, {"show": True}, [])
    assert prediction.player.step == prediction.judge().step > 0


def test_a_form_takes_an_answer_and_shows_the_moment():
    form = kvlab.check("07.S")
    form._heard(None, {"check": "more"}, [])
    assert form.verdict.right is False
    form._heard(None, {"show": True}, [])
    assert form.children[1].step == form.verdict.step
    form._heard(None, {"check": "same"}, [])
    assert form.verdict


def test_other_numbers_are_another_seed_and_forget_the_answer():
    form = kvlab.check("07.E1")
    before = form.card.asked["asks"]
    form.check({"demoted": 1, "deleted": 2, "lost": 3})
    form._heard(None, {"again": True}, [])
    assert form.card.asked["asks"] != before
    assert form.answer is None and not form.card.verdict


def test_other_numbers_are_offered_only_where_the_question_has_some():
    offered = {id: asked(EXERCISES[id], draw(id, 0))["again"] for id in EXERCISES}
    assert offered["07.E1"] and offered["04.E1"]
    assert not offered["12.E4"] and not offered["07.E3"] and not offered["07.E4"]


def test_a_form_that_was_filled_in_is_an_answer():
    form = kvlab.check("07.S")
    form.card.answer = "same"
    assert kvlab.check("07.S", form)


def test_only_what_can_be_predicted_is_a_prediction():
    with pytest.raises(KvlabError, match=r"no prediction: use check\('07.E4'\)"):
        kvlab.predict("07.E4")


def test_every_word_of_the_form_is_there_in_both_languages():
    assert all(words.en and words.zh for words in WORDS.values())
