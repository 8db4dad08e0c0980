"""Can it be seen that there is more, what is chosen, and where the keyboard stands?"""

from __future__ import annotations

import pytest
from played import golden
from player_tab import needs_chromium, wait_for_player
from test_player_predict import load_any

from kvlab import Workbench
from kvlab.record import events as ev
from kvlab.views.page import to_html

pytestmark = needs_chromium
LOW = {"viewport": {"width": 1280, "height": 720}}


def corner(tab, pane: str, from_bottom: int) -> bytes:
    """Return a picture of a few pixels of a pane's margin, where nothing is drawn."""
    box = tab.page.locator(pane).bounding_box()
    y = box["y"] + box["height"] - from_bottom
    clip = {"x": box["x"] + 4, "y": y, "width": 4, "height": 4}
    return tab.page.screenshot(clip=clip)


def test_a_card_that_goes_on_below_ends_in_a_shade(open_page):
    tab = open_page(to_html(golden("s10"), mode="watch"), **LOW)
    tab.js("() => kvlab.show(60)")
    card = "#kvlab .p-why"
    plain = corner(tab, card, 100)
    assert corner(tab, card, 5) != plain
    tab.page.eval_on_selector(card, "card => { card.scrollTop = card.scrollHeight }")
    assert corner(tab, card, 5) == plain


@pytest.mark.parametrize("size", [(1280, 720), (1440, 900)])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_all_keys_are_in_sight_at_once(open_page, lang, size):
    view = {"width": size[0], "height": size[1]}
    tab = open_page(to_html(golden("s10"), lang=lang), viewport=view)
    tab.press("?")
    top, hidden = tab.page.eval_on_selector(
        "#kvlab .panel",
        "at => [at.getBoundingClientRect().top, at.scrollHeight - at.clientHeight]",
    )
    assert top >= 0 and hidden == 0


@pytest.mark.parametrize(("name", "high"), [("s10", 40), ("s18", 128)])
def test_a_run_without_requests_leaves_its_queues_room_to_the_tree(
    open_page, name, high
):
    tab = open_page(to_html(golden(name)), **LOW)
    assert tab.page.locator("#kvlab .p-queue").bounding_box()["height"] == high


WRITTEN = """at => {
    const { prototype } = CanvasRenderingContext2D;
    const { fillText } = prototype;
    const said = [];
    prototype.fillText = function (text) { said.push(text); };
    kvlab.freed = at;
    kvlab.limit = at;
    kvlab.version++;
    kvlab.show(at);
    prototype.fillText = fillText;
    return said }"""


def test_what_is_withheld_is_said_where_the_words_have_room(open_page):
    tab = open_page(to_html(golden("s10"), mode="predict", lang="en"), **LOW)
    hidden = "not shown until you commit"
    count = tab.js("() => kvlab.run.count")
    decisions = tab.js(
        """() => [...Array(kvlab.run.count).keys()].filter(e =>
            Object.values(kvlab.log.questions).some(
                asked => kvlab.run.variant(e) in asked[1]))"""
    )
    assert decisions[0] < count // 2 and decisions[-1] > count - 10
    assert hidden in tab.js(WRITTEN, decisions[0])
    assert hidden not in tab.js(WRITTEN, decisions[-1])


def test_a_chosen_node_is_told_from_used_slots(open_page):
    tab = open_page(to_html(golden("s14"), mode="watch"), **LOW)
    tab.js("() => { kvlab.select = { node: 1, request: -1 }; kvlab.show(12) }")
    inside = """() => {
        const canvas = document.querySelector("#kvlab .pl .over");
        const scale = canvas.width / canvas.clientWidth;
        const across = canvas.getContext("2d").getImageData(
            Math.round(60 * scale), Math.round(11 * scale), Math.round(6 * scale), 1);
        const found = [];
        for (let i = 0; i < across.data.length; i += 4)
            if (across.data[i + 3] > 120) found.push(across.data[i]);
        return found }"""
    assert max(tab.js(inside)) > 240  # the page's white, inside of the blue


def test_the_timeline_with_the_keyboard_is_framed_on_all_sides(open_page):
    tab = open_page(to_html(golden("s10"), mode="watch"), **LOW)
    tab.press("Alt+5")
    frame = tab.page.eval_on_selector(
        "#kvlab .tl",
        """at => {
            const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(at);
            const inside = document.activeElement.closest(".tl") === at;
            return [inside, outlineStyle, outlineWidth, outlineOffset] }""",
    )
    assert frame == [True, "solid", "2px", "-2px"]


CUT = """() => {
    const cut = [];
    for (let at = 0; at <= kvlab.run.count; at++) {
        kvlab.show(at);
        for (const part of document.querySelectorAll(".chips, .chip small"))
            if (part.scrollWidth > part.clientWidth) cut.push(at);
    }
    return cut }"""


@pytest.mark.parametrize("wide", [800, 900])
@pytest.mark.parametrize(
    "name", ["sglang/s18_admission_no_token", "vllm/t06_preempt_last_running"]
)
def test_no_request_is_cut_in_a_narrow_queue(open_page, name, wide):
    view = {"width": wide, "height": 720}
    run = load_any(f"{name}.json")
    tab = open_page(to_html(run, mode="watch", lang="en"), viewport=view)
    assert tab.js(CUT) == []


OF_COMMIT = """() => {
    const edges = at => document.querySelector(`#kvlab ${at}`).getBoundingClientRect();
    const [button, pane, foot] = ["[data-do=commit]", ".p-why", ".foot"].map(edges);
    return [pane.top, button.top, button.bottom, pane.bottom, foot.top] }"""


@pytest.mark.parametrize("size", [(1024, 700), (900, 640), (700, 640)])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_who_has_chosen_an_answer_sees_what_commits_it(open_page, lang, size):
    view = {"width": size[0], "height": size[1]}
    tab = open_page(to_html(golden("s18"), mode="predict", lang=lang), viewport=view)
    tab.press("ArrowRight", "b", "ArrowRight", "b", "End", "b")  # the controls grow
    *_, bottom, pane, foot = tab.js(OF_COMMIT)
    assert bottom > min(pane, foot)  # else there is nothing to scroll
    tab.press("p")
    tab.page.keyboard.press("ArrowDown")
    above, top, bottom, pane, foot = tab.js(OF_COMMIT)
    shade = 12
    assert above + shade <= top and bottom <= min(pane - shade, foot)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_page_fits_a_window_of_320_pixels(open_page, lang):
    view = {"width": 320, "height": 700}
    tab = open_page(to_html(golden("s18"), lang=lang), viewport=view)
    assert tab.js("() => document.documentElement.scrollWidth") == 320


IN_VIEW = """n => {
    const edges = at => document.querySelector(`#kvlab ${at}`).getBoundingClientRect();
    const [node, pane] = [edges(`[data-node="${n}"]`), edges(".p-tree .scroll")];
    return node.top >= pane.top && node.bottom <= pane.bottom }"""


def test_the_tree_scrolls_to_what_an_event_touches_once(open_page):
    bench = Workbench(name="rows", pool_tokens=400, host_tokens=0)
    for first in range(0, 800, 100):
        bench.insert(range(first, first + 16))
    added = [at for at, e in enumerate(bench.trace.events) if isinstance(e, ev.Add)]
    view = {"width": 1000, "height": 720}  # the tree's pane is low
    tab = open_page(to_html(bench.trace, lang="en"), viewport=view)
    tab.js("at => kvlab.show(at)", added[0] + 1)
    room = "at => at.scrollHeight - at.clientHeight"
    assert tab.page.eval_on_selector("#kvlab .p-tree .scroll", room) == 0
    for node in (1, 8, 4, 1, 8):
        tab.js("at => kvlab.show(at)", added[node - 1] + 1)
        wait_for_player(tab.page)
        assert tab.js(IN_VIEW, node), node
    at = "document.querySelector('#kvlab .scroll').scrollTop"
    tab.js(f"() => {{ {at} = 30 }}")
    tab.page.click("#kvlab [data-node='3']")
    wait_for_player(tab.page)
    assert tab.js(f"() => [kvlab.select.node, {at}]") == [3, 30]
