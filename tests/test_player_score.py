"""What is said of all predictions, and which decisions are asked about no more?"""

from __future__ import annotations

import pytest
from played import GOLDENS, golden
from player_tab import Tab, needs_chromium

from kvlab.run.block_run import load_blocks
from kvlab.views.page import to_html

pytestmark = needs_chromium

RUN = GOLDENS / "vllm/t06_preempt_last_running.json"

ANSWER = """wrong => {
    while (kvlab.limit < kvlab.run.count) {
        kvlab.show(kvlab.run.count);
        const happened = kvlab.run.variant(kvlab.asking);
        const right = !wrong.includes(kvlab.asking + 1);
        [...document.querySelectorAll("#kvlab .ans:not(.conf) input")]
            .find(input => (input.value === happened) === right).click();
        document.querySelector("#kvlab .conf label:last-child input").click();
        document.querySelector("#kvlab [data-do=commit]").click();
    }
    kvlab.show(kvlab.run.count);
    return kvlab.answers.map(answer => answer.event) }"""
"""Answers all questions, as certain, and wrongly those about the events it is given."""


def asked(tab: Tab, *wrong: int) -> list[int]:
    return tab.js(ANSWER, list(wrong))


def slots(tab: Tab, events: list[int]) -> list[int]:
    return [e for e in events if tab.js("e => kvlab.run.kind(e - 1)", e) == "slots"]


def test_what_comes_out_as_before_is_shown_after_three_right_answers(open_page):
    tab = open_page(to_html(load_blocks(RUN), mode="predict", lang="en"))
    found = slots(tab, asked(tab))
    # 6, 13 and 20 get blocks. 37 is the first that gets none: it and the one before it
    # are asked, so that being asked does not tell.
    assert found == [6, 13, 20, 33, 37]
    assert "Shown, not asked" in tab.page.inner_text("#kvlab .score")
    tab.js("() => kvlab.show(42)")
    assert "Shown, not asked: 3 right in a row" in tab.page.inner_text("#kvlab .p-why")


COUNTED = """at => {
    kvlab.show(at);
    const open = document.querySelector("#kvlab .ctl [data-to=score]");
    open.click();
    const told = document.querySelector("#kvlab .panel section.score").innerText;
    open.click();
    return +(/in a row of their sort: ([0-9,]+)/.exec(told)?.[1] ?? 0) }"""
LOOKS = """at => {
    let looks = 0;
    const { has } = kvlab.answered;
    kvlab.answered.has = function (e) { looks++; return has.call(this, e); };
    kvlab.show(at);
    delete kvlab.answered.has;
    return looks }"""
"""How often it is looked up whether a decision was answered, to draw a moment."""


def test_what_was_shown_is_counted_on_from_where_it_was_counted_last(open_page):
    tab = open_page(to_html(load_blocks(RUN), mode="predict", lang="en"))
    asked(tab)
    ways = [tab.js(COUNTED, at) for at in (338, 100, 60, 338)]
    fresh = [tab.js("() => delete kvlab.passed") and tab.js(COUNTED, at)
             for at in (338, 100, 60, 338)]  # fmt: skip
    assert ways == fresh and ways[0] > ways[1] > ways[2]
    assert tab.js("() => kvlab.run.count") > 10 * tab.js(LOOKS, 338) > 0


def test_after_a_wrong_answer_the_sort_is_asked_until_three_are_right(open_page):
    tab = open_page(to_html(load_blocks(RUN), mode="predict"))
    assert slots(tab, asked(tab, 37)) == [6, 13, 20, 33, 37, 42, 55, 66]


def test_all_can_be_asked(open_page):
    tab = open_page(to_html(load_blocks(RUN), mode="predict"))
    few = asked(tab)
    tab.page.click("#kvlab .p-why .score [data-do=every]")
    assert tab.js("() => kvlab.asking + 1") == 42  # the first that was not
    assert tab.js("() => document.activeElement.closest('.ans') !== null")
    every = asked(tab)
    decisions = {"slots", "pickvictim", "offer"}
    kinds = tab.js("n => [...Array(n).keys()].map(e => kvlab.run.kind(e))", 338)
    assert sorted(every) == [e for e, kind in enumerate(kinds, 1) if kind in decisions]
    assert len(every) > 4 * len(few)


def test_from_a_decision_that_was_shown_the_next_ones_can_be_asked(open_page):
    tab = open_page(to_html(load_blocks(RUN), mode="predict"))
    asked(tab)
    tab.js("() => kvlab.show(85)")
    tab.page.click("#kvlab .p-why [data-do=every]")
    tab.press("End")
    assert tab.js("() => kvlab.asking + 1") == 90


def test_what_a_page_names_is_asked_however_often_the_reader_is_right(open_page):
    ask = [6, 13, 20, 33, 42, 85, 90]
    tab = open_page(to_html(load_blocks(RUN), mode="predict", ask=ask))
    assert asked(tab) == ask


@pytest.mark.parametrize(
    ("lang", "words", "sure"),
    [
        ("en", "Your predictions", "“certain”: 6 of 7 right"),
        ("zh", "你的预测", "“确定”的：答对 6/7"),
    ],
)
def test_at_the_end_each_prediction_is_listed(open_page, lang, words, sure):
    tab = open_page(to_html(golden("s14"), mode="predict", lang=lang))
    assert asked(tab, 15) == [6, 15, 21, 27, 30, 36, 39]
    score = tab.page.query_selector("#kvlab .p-why .score")
    assert score.get_attribute("aria-label") == words and sure in score.inner_text()
    lines = [line.inner_text() for line in score.query_selector_all("li")]
    assert ["✗" in line for line in lines] == [False, True, *[False] * 5]
    tab.page.focus("#kvlab .p-why .score [data-to='15']")
    tab.page.keyboard.press("Enter")
    assert tab.js("() => kvlab.run.at") == 15
    tab.page.wait_for_selector("#kvlab .p-why .score", state="detached")


def test_the_list_can_be_had_at_any_moment(open_page):
    tab = open_page(to_html(golden("s14"), mode="predict", lang="en"))
    tab.press("End")
    tab.page.query_selector("#kvlab .ans input").check()
    tab.press("Enter")
    tab.page.focus("#kvlab .ctl .score button")
    tab.page.keyboard.press("Enter")
    panel = tab.page.inner_text("#kvlab .panel .score")
    assert "event 6" in panel and "event 15" not in panel
    assert tab.js("() => document.activeElement.closest('.panel .score') !== null")
    tab.shoot("score.png")


def test_the_open_list_counts_up_to_the_moment_on_show(open_page):
    tab = open_page(to_html(load_blocks(RUN), mode="predict", lang="en"))
    asked(tab)
    counts = [tab.js(COUNTED, at) for at in (338, 60)]
    assert counts[0] > counts[1] > 0
    tab.page.click("#kvlab .ctl [data-to=score]")
    for at, n in zip((338, 60), counts, strict=True):
        tab.js("at => kvlab.show(at)", at)
        assert f"of their sort: {n}" in tab.page.inner_text("#kvlab .panel .score")
