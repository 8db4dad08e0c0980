"""Does a reader find a node: by folding, by turning pages, by what a card names?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from played import golden
from player_tab import needs_chromium

from kvlab import Workbench
from kvlab.views.page import to_html

pytestmark = needs_chromium


@pytest.fixture
def large(open_page):
    """A page of 200 families of three nodes each, of which 40 are on a page."""
    bench = Workbench(name="large", pool_tokens=8_000)
    for family in range(200):
        first = 100 * family
        bench.insert(range(first, first + 16))
        bench.insert([*range(first, first + 8), *range(first + 50, first + 58)])
    tab = open_page(to_html(bench.trace, lang="en"))
    tab.press("End")
    return tab


WORDS = """() => [...document.querySelectorAll('#kvlab [data-do=unfold]')]
    .map(turn => turn.textContent)"""
TOPS = """() => [...document.querySelectorAll('#kvlab [data-fold]')]
    .map(row => +row.dataset.fold)"""


def turn(tab, way):
    tab.page.click(f"#kvlab [data-do=unfold] >> text={way}")
    return tab.js(TOPS)


def test_pages_of_subtrees_are_turned_there_and_back(large):
    first = large.js(TOPS)
    assert large.js(WORDS) == ["160 more subtrees ▾"]
    second = turn(large, "more")
    assert not {*first} & {*second}
    assert sorted(large.js(WORDS)) == ["120 more subtrees ▾", "40 subtrees before ▴"]
    found = {*first, *second}
    for _ in range(3):
        found |= {*turn(large, "more")}
    assert len(found) == 200
    assert large.js(WORDS) == ["160 subtrees before ▴"]
    for _ in range(4):
        last = turn(large, "before")
    assert last == first


def test_a_small_tree_has_no_subtrees_to_turn_to(large):
    assert large.js(WORDS)
    large.press("Home", *["ArrowRight"] * 5)
    assert large.js("() => kvlab.run.alive.length > 0") and large.js(WORDS) == []


STATE = """top => {
    const row = document.querySelector(`#kvlab [data-fold="${top}"]`);
    const name = document.querySelector(`#kvlab [data-node="${top}"] text.m`);
    return [row.getAttribute("aria-expanded"), name?.textContent ?? ""] }"""


def test_an_open_subtree_is_named_and_folds_again(large):
    top = large.js(TOPS)[3]
    assert large.js(STATE, top) == ["false", ""]
    for way in (lambda row: row.click(), lambda row: row.press("Enter")):
        for told in (["true", f"n{top}"], ["false", ""]):
            way(large.page.locator(f'#kvlab [data-fold="{top}"]'))
            assert large.js(STATE, top) == told
            assert top in large.js(TOPS)


NAME = """top => {
    const own = [...document.querySelectorAll("#kvlab .p-tree text.m")].filter(
        (text) => text.textContent === `n${top}`);
    if (own.length !== 1) return own.length;
    const { left, right, top: y, bottom } = own[0].getBoundingClientRect();
    const strip = document.querySelector(`#kvlab [data-node="${top}"] rect`)
        .getBoundingClientRect();
    const layers = [...own[0].ownerSVGElement.children].map((g) => g.classList[0]);
    const layer = own[0].closest("svg > g").classList[0];
    return [right - left > strip.width, left - strip.left < 6,
        y < strip.bottom && bottom > strip.top,
        layers.indexOf(layer) > layers.indexOf("rows")] }"""
"""Is a name alone, wider than its strip, and above all strips?"""


def test_an_open_subtree_is_named_however_narrow_its_top_is(open_page):
    bench = Workbench(name="narrow", pool_tokens=30_000)
    for first in range(0, 15_000, 100):
        bench.insert(range(first, first + 40))
        bench.insert([first, *range(first + 50, first + 90)])
    tab = open_page(to_html(bench.trace, lang="en"))
    tab.press("End")
    top = tab.js(TOPS)[3]
    row = tab.page.locator(f'#kvlab [data-fold="{top}"]')
    row.click()
    assert tab.js(NAME, top) == [True] * 4
    if "KVLAB_SHOTS" in os.environ:
        tab.page.screenshot(path=Path(os.environ["KVLAB_SHOTS"], "narrow.png"))
    row.click()
    assert tab.js(NAME, top) == 0


def test_right_opens_a_subtree_and_left_folds_it(large):
    top = large.js(TOPS)[3]
    row = large.page.locator(f'#kvlab [data-fold="{top}"]')
    row.focus()
    for key, told in (("ArrowRight", "true"), ("ArrowLeft", "false")):
        large.page.keyboard.press(key)
        assert large.js(STATE, top)[0] == told
        assert large.js("() => +document.activeElement.dataset.fold") == top
    large.page.keyboard.press("ArrowRight")
    large.js("top => { kvlab.select = { node: top, request: -1 }; "
             "document.querySelector('#kvlab .scroll').focus() }", top)  # fmt: skip
    large.page.keyboard.press("ArrowLeft")
    assert large.js(STATE, top)[0] == "false"


@pytest.fixture
def short(open_page):
    """A page of an eviction that finds every leaf locked."""
    bench = Workbench(name="short", pool_tokens=400, host_tokens=0)
    for first in range(0, 1400, 100):
        bench.insert(range(first, first + 16))
        bench.lock(f"{first}", range(first, first + 16))
    bench.evict(40)
    return open_page(to_html(bench.trace, lang="en", start=len(bench.trace)))


NAMED = """() => [...document.querySelectorAll('#kvlab .p-tree [data-node] text.m')]
    .map(name => name.textContent)"""


def test_what_a_card_names_has_its_name_in_the_tree_and_is_a_way_there(short):
    links = short.page.locator("#kvlab .p-why [data-do=node]")
    assert links.all_text_contents() == ["n1", "n2", "n3", "n4"]
    assert "and 10 more" in short.page.inner_text("#kvlab .p-why")
    assert short.js(NAMED) == ["n1", "n2", "n3", "n4"]
    links.nth(2).press("Enter")
    assert short.js("() => kvlab.select.node") == 3
    assert "n3" in short.page.inner_text("#kvlab .insp")


def test_a_node_that_a_name_leads_to_comes_out_of_its_fold(large):
    top = large.js(TOPS)[30]
    at = f'#kvlab [data-node="{top}"]'
    assert not large.page.query_selector(at)
    large.js(
        """top => { const link = document.createElement("button");
        Object.assign(link.dataset, { do: "node", to: top });
        document.querySelector("#kvlab .p-why").append(link); link.click() }""",
        top,
    )
    assert large.page.locator(at).is_visible()
    assert large.js(NAMED)[-1] == f"n{top}"


def test_a_search_says_when_nothing_lies_ahead(short):
    short.press("End")
    short.page.click("#kvlab .ctl [data-to=filter]")
    short.page.fill("#kvlab .panel .fn", "n1")
    short.page.click("#kvlab .panel [data-do=search]")
    hits = short.js("() => kvlab.hits.length")
    assert hits > 1
    where = short.page.locator("#kvlab .found")
    assert f"none after this; {hits} before" in where.inner_text()
    short.page.click("#kvlab .found [data-to='1']")
    said = short.js("() => kvlab.live.textContent")
    assert said == f"none after this; {hits} before (◀)"
    short.page.click("#kvlab .found [data-to='-1']")
    assert f"{hits} of {hits}" in where.inner_text()
    short.press("Home")
    assert f"0 before, {hits} after" in where.inner_text()


CHOSEN = """request => {
    const { run } = kvlab;
    const lit = node => [...node.querySelectorAll("rect")].some(
        rect => rect.getAttribute("stroke") === kvlab.colour.link);
    for (let e = 1; e <= run.count; e++) {
        run.seek(e);
        const r = [...run.c.locks].findIndex(last => run.path(last).length > 1);
        if (r < 0) continue;
        kvlab.select = { node: 0, request: r };
        kvlab.show(e);
        const nodes = [...document.querySelectorAll("#kvlab [data-node]")].filter(lit);
        return [nodes.map(node => +node.dataset.node).sort(),
                run.path(run.c.locks[r]).sort(), run.c.locks[r],
                document.querySelector("#kvlab .insp").textContent];
    } }"""


def test_a_selected_request_lights_the_path_to_its_last_node(open_page):
    tab = open_page(to_html(golden("s18"), lang="en", mode="watch"))
    lit, path, last, said = tab.js(CHOSEN)
    assert lit == path and len(path) > 1
    assert f"last_node n{last}" in said
