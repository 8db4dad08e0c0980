"""Is what a large run shows small true: folded subtrees, pools drawn in pixels?"""

from __future__ import annotations

from itertools import pairwise

import pytest
from player_tab import Tab, needs_chromium

from kvlab import Workbench
from kvlab.views.page import to_html
from kvlab.views.theme import LANGS

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def tab(browser, tmp_path_factory):
    """A page of 330 families of prompts of 16 tokens, of which each has its fate."""
    bench = Workbench(name="large", pool_tokens=8_000, host_tokens=9_000)
    for family in range(330):
        first = 100 * family
        bench.insert(range(first, first + 16))
        bench.insert([*range(first, first + 8), *range(first + 50, first + 58)])
    bench.ack_write()
    bench.evict(200)
    bench.load_back(range(16))
    bench.lock("a", range(32_000, 32_016))
    html = to_html(bench.trace, lang="en", start=len(bench.trace))
    opened = Tab(browser, tmp_path_factory.mktemp("page"), html)
    yield opened
    assert opened.heard == []


FOLDS = """() => [...kvlab.root.querySelectorAll("[data-fold]")].map(row => {
    const bars = [...row.querySelectorAll("rect")].filter(r => r.getAttribute("rx"));
    const name = bar => bar.getAttribute("fill").match(/kv\\d+-(\\w+)/)?.[1] ?? "used";
    const [text] = row.querySelectorAll("text:last-of-type");
    const { right } = row.ownerSVGElement.getBoundingClientRect();
    const words = text.getBoundingClientRect();
    const over = [...row.querySelectorAll("rect")].filter(
        r => !r.getAttribute("rx") && r.getAttribute("fill") !== "transparent");
    return {
        top: +row.dataset.fold,
        said: row.getAttribute("aria-label"),
        bars: bars.map(bar => [name(bar), +bar.getAttribute("x"),
                               1 + +bar.getAttribute("width")]),
        ends: words.right <= right,
        clear: bars.every(bar => +bar.getAttribute("y") >= +text.getAttribute("y") + 3),
        cut: over.length,
    } })"""
SUMS = """top => {
    const { run } = kvlab, sums = {};
    for (const n of run.alive) {
        if (!run.path(n).includes(top)) continue;
        const [one, two] = run.looks(n);
        sums[one ?? two] = (sums[one ?? two] ?? 0) + run.c.len[n];
    }
    return sums }"""
"""The tokens of a subtree by how its nodes look."""


def folds(tab) -> list[dict]:
    """Return every folded row, all pages of them."""
    found = {}
    for page in range(12):
        tab.js(
            "folded => { kvlab.folded = folded; kvlab.show(kvlab.run.at) }", 40 * page
        )
        found |= {fold["top"]: fold for fold in tab.js(FOLDS)}
    return list(found.values())


def test_a_folded_subtree_shows_how_much_of_it_is_what(tab):
    seen = set()
    for fold in folds(tab):
        sums = tab.js(SUMS, fold["top"])
        bars = {name: wide for name, _, wide in fold["bars"]}
        assert bars.keys() == sums.keys(), fold
        whole = sum(bars.values())
        for name, tokens in sums.items():
            assert bars[name] / whole == pytest.approx(
                tokens / sum(sums.values()), abs=0.05
            )
            assert f"{tokens} {name.replace('_', ' ')}" in fold["said"]
        seen |= sums.keys()
    assert seen == {"used", "promised", "evictable", "host_only"}


def test_the_bars_of_a_folded_subtree_lie_side_by_side(tab):
    several = [fold["bars"] for fold in folds(tab) if len(fold["bars"]) > 1]
    assert several
    for bars in several:
        for (_, x, wide), (_, x1, _) in pairwise(bars):
            assert x1 == pytest.approx(x + wide, abs=0.5)


@pytest.mark.parametrize("lang", LANGS)
def test_the_words_of_a_folded_subtree_end_within_the_tree_and_cut_no_bar(tab, lang):
    tab.page.click(f'#kvlab [data-do="lang"][data-to="{lang}"]')
    rows = folds(tab)
    tab.page.click('#kvlab [data-do="lang"][data-to="en"]')
    assert all(fold["ends"] and fold["clear"] and not fold["cut"] for fold in rows)


EDGES = """() => {
    const canvas = document.querySelectorAll("#kvlab .p-pool canvas")[1];
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const pen = copy.getContext("2d", { willReadFrequently: true });
    pen.drawImage(canvas, 0, 0);
    const dp = devicePixelRatio, middle = 200 * dp;
    const seen = y => pen.getImageData(middle, y * dp, 1, 1).data[3] > 0;
    return canvas.tiers.map(({ y, high }) => [seen(y - 1), seen(y + high)]) }"""
"""Of each pool that is drawn in pixels: whether the line above and below it is seen."""


def test_the_line_around_a_pool_in_pixels_is_whole(tab):
    assert tab.js("() => document.querySelectorAll('#kvlab canvas')[1].tiers[0].tiny")
    assert tab.js(EDGES) == [[True, True], [True, True]]


NAMES = """() => [...kvlab.root.querySelectorAll(".p-tree [data-node]")].map(node => {
    const name = [...node.querySelectorAll("text.m")].at(-1);
    const others = [...kvlab.root.querySelectorAll(".p-tree .d1")].filter(
        deck => !node.contains(deck)).map(deck => deck.getBoundingClientRect());
    const at = name?.getBoundingClientRect();
    return [name?.textContent, !!at && others.some(o => o.left < at.right - 1 &&
        o.right > at.left + 1 && o.top < at.bottom && o.bottom > at.top)] })"""
"""Of each node that is shown: its name, and whether another node lies on it."""


def test_the_last_node_of_the_events_path_has_its_name_and_none_lies_on_it(tab):
    lock = tab.js("() => kvlab.run.count")
    tab.js("at => kvlab.show(at)", lock)
    names = tab.js(NAMES)
    assert len(names) == 2
    assert [name for name, _ in names if name] == [tab.headline.split()[3]]
    assert not any(under for _, under in names)


ENDS = """() => [...document.querySelectorAll("#kvlab .acct")].map(sum =>
    sum.getBoundingClientRect().right
        - sum.lastElementChild.getBoundingClientRect().right)"""


@pytest.mark.parametrize("lang", LANGS)
def test_a_sum_with_all_there_is_to_say_is_not_cut(open_page, lang):
    bench = Workbench(name="sums", pool_tokens=512_000, host_tokens=999_000)
    for first in (0, 10**6):
        bench.insert(range(first, first + 123_456))
        bench.ack_write()
    bench.lock("a", range(10**6, 10**6 + 123_456))
    bench.evict(123_456)
    bench.load_back(range(123_456))
    bench.lock("b", range(123_456))
    tab = open_page(to_html(bench.trace, lang=lang))
    for moment in range(tab.js("() => kvlab.run.count") + 1):
        tab.js("at => kvlab.show(at)", moment)
        assert all(room >= -1 for room in tab.js(ENDS)), moment
    assert tab.page.query_selector("#kvlab .acct.long")
