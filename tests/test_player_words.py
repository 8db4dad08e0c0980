"""Does the player show the other engine's word when it is asked for?"""

from __future__ import annotations

import pytest
from lab_browser import chromium
from played import GOLDENS, golden
from player_tab import NEEDS_CHROMIUM, Tab

from kvlab.glossary import GLOSSARY
from kvlab.run.block_run import load_blocks
from kvlab.views.page import to_html
from kvlab.views.player_tables import IN_GLOSSARY


def test_every_name_that_is_looked_up_stands_in_the_glossary():
    assert set(IN_GLOSSARY.values()) <= GLOSSARY.keys()


@pytest.fixture(scope="module")
def tabs(tmp_path_factory):
    with chromium() as browser:
        tree = golden("r29")
        blocks = load_blocks(GOLDENS / "vllm" / "t06_preempt_last_running.json")
        opened = {}
        for engine, run in (("sglang", tree), ("vllm", blocks)):
            folder = tmp_path_factory.mktemp(engine)
            opened[engine] = Tab(browser, folder, to_html(run, lang="en"))
        yield opened
        assert all(tab.heard == [] for tab in opened.values())


def first_with(tab: Tab, kind: str) -> None:
    """Go to the moment after the first event of the kind."""
    tab.js(
        """kind => { for (let e = 0; e < kvlab.run.count; e++)
            if (kvlab.run.kind(e) === kind) return kvlab.show(e + 1) }""",
        kind,
    )


@NEEDS_CHROMIUM
@pytest.mark.browser
@pytest.mark.parametrize(
    ("engine", "state", "title"),
    [
        ("sglang", "evictable", "vLLM: free, with a hash"),
        ("sglang", "held", None),
        ("vllm", "evictable", "SGLang: evictable"),
    ],
)
def test_a_term_of_the_account_names_the_other_word(tabs, engine, state, title):
    word = GLOSSARY[state].word(engine)
    found = tabs[engine].page.locator(".acct").first.locator(".term", has_text=word)
    assert found.first.get_attribute("title") == title


@NEEDS_CHROMIUM
@pytest.mark.browser
@pytest.mark.parametrize(
    ("engine", "kind", "other"),
    [("sglang", "loadback", "vLLM: load"), ("vllm", "preempt", "SGLang: retract")],
)
def test_the_headline_names_the_other_word_of_an_event(tabs, engine, kind, other):
    first_with(tabs[engine], kind)
    assert tabs[engine].page.get_attribute(".kind span", "title") == other


@NEEDS_CHROMIUM
@pytest.mark.browser
def test_key_v_shows_and_hides_the_other_words(tabs):
    tab = tabs["sglang"]
    first = tab.page.locator(".acct .also").first
    tab.press("v")
    shown = first.is_visible()
    tab.press("v")
    assert (shown, first.is_visible()) == (True, False)


@NEEDS_CHROMIUM
@pytest.mark.browser
def test_a_card_names_the_other_word_of_its_terms(tabs):
    tab = tabs["sglang"]
    first_with(tab, "match")
    titles = tab.js("[...document.querySelectorAll('.p-why .t')].map(t => t.title)")
    assert {"vLLM: local hit", "vLLM: external hit"} <= set(titles)


@NEEDS_CHROMIUM
@pytest.mark.browser
def test_the_account_of_blocks_is_told_in_chinese(tabs):
    tab = tabs["vllm"]
    tab.page.click("#kvlab [data-do=lang][data-to=zh]")
    said = tab.page.inner_text("#kvlab .p-pool .acct")
    tab.page.click("#kvlab [data-do=lang][data-to=en]")
    assert "空闲，有哈希" in said
    assert "free, with a hash" not in said
