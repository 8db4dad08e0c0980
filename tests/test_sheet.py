"""Does a form leave its question where no widget runs, and no answer?"""

from __future__ import annotations

import html
import re

import pytest

import kvlab
from kvlab.lessons.exercises import EXERCISES
from kvlab.lessons.sheet import BLANK


def page_of(widget) -> str:
    return html.unescape(widget._repr_mimebundle_()["text/html"])


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_choice_leaves_its_question_and_all_options(lang):
    asked = EXERCISES["09.P"]
    page = page_of(kvlab.predict("09.P", lang=lang))
    assert asked.asks.to(lang) in page
    assert [words.to(lang) for words in asked.options.values()] == re.findall(
        "<li>(.*?)</li>", page
    )


def test_numbers_leave_a_blank_and_steps_their_shown_order():
    form = kvlab.check("04.E2")
    assert page_of(form).count(BLANK) == len(form.card.asked["parts"])
    steps = kvlab.check("04.E1")
    shown = [words[0] for _, words in steps.card.asked["steps"]]
    assert re.findall("<li>(.*?)</li>", page_of(steps)) == shown


def test_a_number_leaves_a_blank_beside_what_is_picked():
    number, picked = re.findall("<li>(.*?)</li>", page_of(kvlab.check("05.E5")))
    assert number == f"scheduled: {BLANK}"
    assert picked.count(" / ") == 2 and BLANK not in picked


def test_a_function_leaves_its_first_lines():
    assert "<pre>def key(leaf):\n    ...</pre>" in page_of(kvlab.check("04.E3"))


def test_a_sentence_leaves_what_it_should_say_something_on():
    page = page_of(kvlab.check("09.E4", lang="zh"))
    assert "<li>P99 能降下来的是: " in page and page.count("我的句子没有说到") == 3


def test_the_run_of_a_prediction_is_left_once_it_is_there():
    prediction = kvlab.predict("04.P")
    assert "<iframe" not in page_of(prediction)
    prediction.commit({part: 1 for part in EXERCISES["04.P"].parts})
    assert page_of(prediction).count("<iframe") == 1


def test_the_tour_leaves_its_gauges_and_a_run_that_plays():
    page = page_of(kvlab.tour("en"))
    assert "<li>L2 used: 0 / 48</li>" in page and page.count("<iframe") == 1


def test_a_terminal_gets_the_question():
    assert repr(kvlab.check("04.E3")).startswith("04.E3: Write the key of slru")
