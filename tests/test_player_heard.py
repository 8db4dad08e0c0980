"""What does a screen reader find in a page, and what is it told of a step?"""

from __future__ import annotations

from pathlib import Path

import pytest
from played import GOLDENS, golden
from player_tab import Tab, needs_chromium, wait_for_player

from kvlab import Workbench
from kvlab.record.trace import Trace
from kvlab.run.block_run import load_blocks
from kvlab.views.page import to_html

pytestmark = needs_chromium

OPTION, ITEM = "option", "treeitem"
NOT_REACHED = """() => [...document.querySelectorAll("#kvlab .late *")].map(at => {
    let seen = 1;
    for (let up = at; up; up = up.parentElement) seen *= getComputedStyle(up).opacity;
    return [seen, getComputedStyle(at).color] })"""
PARENTS = """() => [...document.querySelectorAll("#kvlab .rows [data-node]")].map(at =>
    [+at.dataset.node, kvlab.run.c.parent[at.dataset.node]])"""


def found(tab: Tab, role: str) -> list[dict]:
    """Return what Chromium tells a screen reader of all elements of a role."""
    session = tab.page.context.new_cdp_session(tab.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return [
        {"name": node["name"]["value"]}
        | {told["name"]: told["value"].get("value") for told in node["properties"]}
        for node in nodes
        if not node["ignored"] and node["role"]["value"] == role
    ]


def live(tab: Tab) -> str:
    return tab.js("() => kvlab.live.textContent")


def test_every_node_is_an_item_of_the_tree_below_its_parent(open_page):
    tab = open_page(to_html(golden("r25"), lang="en"))
    for moment in (1000, 400, 1100):  # nodes come and go, in both directions
        tab.js("moment => kvlab.show(moment)", moment)
        levels: dict[int, int] = {0: 0}
        way = [0]
        items = found(tab, ITEM)
        for item, (node, parent) in zip(items, tab.js(PARENTS), strict=True):
            assert item["name"].startswith(f"n{node}, tokens ")
            levels[node] = item["level"]
            way = way[: item["level"]]  # what a reader takes for its ancestors
            assert way[-1] == parent and levels[parent] == item["level"] - 1
            way.append(node)
        assert len(items) > 10


def test_a_folded_subtree_has_its_level(open_page):
    bench = Workbench(pool_tokens=2000, tree="radix")
    for last in range(320):
        bench.insert([1, 2, 10 + last, 1000 + last])  # below a prefix that all share
    tab = open_page(to_html(bench.trace, lang="en"))
    tab.press("End")
    items = found(tab, ITEM)
    assert items[0]["level"] == 1
    folded = [item["level"] for item in items if item.get("expanded") is False]
    assert len(folded) == 40 and set(folded) == {2}


def test_a_term_of_an_account_is_read_with_its_number(open_page):
    tab = open_page(to_html(golden("s38"), lang="en"))
    tab.js("() => kvlab.show(300)")
    tab.page.focus("#kvlab .a1 .acct")
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("ArrowDown")
    (term,) = [told for told in found(tab, OPTION) if told.get("focused")]
    _, held, by = tab.js("() => kvlab.run.account(1).terms[1]")
    assert by > 0 and term["name"] == f"held {held}+{by}"


def test_cards_are_read_line_by_line(open_page):
    tab = open_page(to_html(golden("s38"), lang="en"))
    assert "Why" in [told["name"] for told in found(tab, "document")]


def test_what_must_be_known_of_a_run_is_said_of_the_player(open_page):
    tab = open_page(to_html(golden("s38"), lang="en", length=20))
    tab.page.focus("#kvlab")
    session = tab.page.context.new_cdp_session(tab.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    (player,) = [node for node in nodes if node["role"]["value"] == "application"]
    assert tab.page.inner_text("#kvlab .note") in player["description"]["value"]


@pytest.mark.parametrize("right", [True, False])
def test_how_a_prediction_came_out_is_said(open_page, right):
    tab = open_page(to_html(golden("s10"), mode="predict", lang="en"))
    tab.press("End")
    happened = tab.js("() => kvlab.run.variant(kvlab.asking)")
    before = tab.headline.partition(" · ")[0]
    assert live(tab) == f"{before}. Your turn: what happens next?"
    radios = tab.page.query_selector_all("#kvlab .ans:not(.conf) input")
    wanted = [r for r in radios if (r.get_attribute("value") == happened) is right]
    wanted[0].check()
    tab.press("Enter")
    verdict = "as predicted" if right else "not what you predicted"
    assert live(tab) == f"{verdict}. {tab.headline}"
    tab.js("() => kvlab.show(kvlab.answers[0].until)")
    tab.page.click("#kvlab [data-do=saw][data-to=rises]")
    assert live(tab) == tab.page.inner_text("#kvlab .seen")


def test_the_requests_of_vllm_are_one_stop_of_tab(open_page):
    run: Path = GOLDENS / "vllm/t06_preempt_last_running.json"
    tab = open_page(to_html(load_blocks(run), lang="en"))
    tab.js("() => kvlab.show(41)")
    tab.press("Alt+1", "ArrowDown", "ArrowDown")
    at = "() => [document.activeElement.innerText, kvlab.hover.request]"
    assert tab.js(at) == ["b\n12 / 13", 1]
    tab.page.keyboard.press("Tab")
    pane = tab.js("() => document.activeElement.closest('.pane').dataset.pane")
    assert pane == "pool"


def test_a_test_that_was_not_reached_is_as_legible_as_a_label(open_page):
    tab = open_page(to_html(golden("r25"), lang="en"))
    tab.js("() => kvlab.show(1302)")
    ink = tab.js(
        """() => { const at = document.querySelector(".kv .empty, .kv .lab");
        return getComputedStyle(at).color }"""
    )
    looks = tab.js(NOT_REACHED)
    assert looks and {tuple(look) for look in looks} == {(1, ink)}


def filled(prompts: int, policy: str = "lru") -> Trace:
    bench = Workbench(pool_tokens=24, tree="radix", eviction_policy=policy)
    for first in range(prompts):
        bench.insert(range(100 * first, 100 * first + 10))
    return bench.trace


def test_two_runs_are_both_told_where_they_differ(open_page):
    tab = open_page(to_html(filled(3), filled(3, "mru"), lang="en"))
    at = tab.js("() => kvlab.run.at")
    tab.js("() => kvlab.show(1)")
    assert live(tab) == tab.headline  # the same in both
    tab.js("at => kvlab.show(at)", at)
    first, second = tab.headline, tab.headline.replace("n1", "n2")
    assert live(tab) == f"A: {first}. B: {second}" and first != second


def test_a_run_that_has_ended_is_said_to_have(open_page):
    short = filled(2)
    tab = open_page(to_html(filled(3), short, lang="en"))
    tab.js("at => kvlab.show(at)", len(short))
    assert "has ended" not in tab.page.inner_text("#kvlab .p-why.b")
    tab.press("ArrowRight")
    wait_for_player(tab.page)
    assert tab.page.inner_text("#kvlab .p-why.b") == "this run has ended"
    assert live(tab).endswith(". B: this run has ended")


@pytest.mark.parametrize(
    ("key", "lang", "first", "second"),
    [
        ("b", "en", "bookmark set", "bookmark removed"),
        ("b", "zh", "已设书签", "已移除书签"),
        ("m", "en", "motion off", "motion on"),
        ("m", "zh", "动画已关", "动画已开"),
    ],
)
def test_what_a_key_turns_on_or_off_is_said(open_page, key, lang, first, second):
    tab = open_page(to_html(golden("s38"), lang=lang))
    tab.press("ArrowRight")
    for said in (first, second):
        tab.press(key)
        assert live(tab) == said
