"""Does a page that plays both rule books say which rule parts them, to who reads it?"""

from __future__ import annotations

import os

import pytest
from lab_browser import CHROMIUM, chromium
from player_tab import wait_for_player

from kvlab.cli import main
from kvlab.lessons.rule_scripts import rule_script
from kvlab.rules import Rules, facts
from kvlab.run.whole import run_whole
from kvlab.views.page import to_html

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None and "CI" not in os.environ,
        reason="no chromium on this machine (Debian: apt install chromium)",
    ),
]
RULE = facts()["load_protects_source"]


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def opened(browser, path):
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.goto(path.as_uri())
    wait_for_player(page)
    return page


@pytest.fixture(scope="module")
def both(browser, tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "both.html"
    books = ("--rules", "0.5.14", "--rules", "0.5.23")
    assert main(["compare", "load_protects_source", *books, "-o", str(path)]) == 1
    return opened(browser, path)


def test_the_card_names_the_rule_its_effect_its_source_and_its_golden(both):
    card = both.inner_text("#kvlab .because")
    assert card.startswith("Rule load_protects_source: A no, B yes (yes since 0.5.23)")
    assert RULE.about in card
    assert RULE.effect in card
    assert "golden s25#4" in card


def test_either_side_says_what_it_did_at_that_event(both):
    assert "Make room, then load 20" in both.inner_text("#kvlab .p-why:not(.b)")
    assert "copy of n1 on L2 has to stay" in both.inner_text("#kvlab .p-why.b")


def test_the_card_is_told_in_chinese(both):
    both.click("#kvlab [data-do=lang][data-to=zh]")
    assert RULE.effect_zh in both.inner_text("#kvlab .because")
    both.click("#kvlab [data-do=lang][data-to=en]")


def test_a_combination_is_labelled_above_the_run(browser, tmp_path):
    rules = Rules.named("0.5.14+load_protects_source")
    path = tmp_path / "mixed.html"
    path.write_text(to_html(run_whole(rule_script("load_protects_source", rules))[0]))
    page = opened(browser, path)
    note = "No release had these rules: 0.5.14+load_protects_source"
    assert note in page.inner_text("#kvlab .notes")
    page.click("#kvlab [data-do=lang][data-to=zh]")
    assert "没有任何发布版有这组规则" in page.inner_text("#kvlab .notes")
