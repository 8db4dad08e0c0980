"""Can a page be used by keyboard alone, and does it keep where the keyboard stood?"""

from __future__ import annotations

import pytest
from played import golden
from player_tab import Tab, needs_chromium

from kvlab import Workbench
from kvlab.views.page import to_html

pytestmark = needs_chromium
STANDS = """() => { const {activeElement: at} = document;
    return [at.closest(".pane")?.dataset.pane ?? at.className, at.name ?? "",
            at.dataset.state ?? at.dataset.request ?? ""] }"""


@pytest.fixture(scope="module")
def tab(browser, tmp_path_factory):
    run = golden("s32", "sglang23")
    opened = Tab(browser, tmp_path_factory.mktemp("page"), to_html(run, lang="en"))
    yield opened
    assert opened.heard == []


@pytest.fixture(autouse=True)
def watching(tab):
    tab.js("() => { kvlab.setMode('watch'); kvlab.select = null; kvlab.show(20) }")


def ask(tab: Tab) -> None:
    tab.js("() => { kvlab.setMode('predict'); kvlab.show(kvlab.limit) }")


def test_the_first_tab_leads_to_the_open_question(tab):
    ask(tab)
    tab.press("Tab", "Enter")
    assert tab.js(STANDS)[0] == "why"
    assert tab.js(STANDS)[1].endswith("-say")


def test_without_a_question_there_is_no_way_to_one(tab):
    tab.press("Tab")
    assert tab.js("() => document.activeElement.dataset.do") == "mode"


def test_a_question_is_answered_by_tab_and_arrows_alone(tab):
    ask(tab)
    tab.press(*["Tab"] * 8)
    assert tab.js(STANDS)[1].endswith("-say")
    before = tab.js("() => kvlab.answers.length")
    for key in ("ArrowDown", "Tab", "ArrowRight", "Tab", "Enter"):
        tab.page.keyboard.press(key)
    assert tab.js("() => kvlab.answers.length") == before + 1
    assert tab.js("() => kvlab.answers.at(-1).confidence") == 3


def test_a_pane_has_few_stops_of_tab(tab):
    stops = tab.js(
        """() => Object.fromEntries([...document.querySelectorAll(".pane")].map(pane =>
            [pane.dataset.pane, [pane, ...pane.querySelectorAll("button, [tabindex]")]
                .filter(at => at.tabIndex >= 0 && !at.closest(".chain")).length]))"""
    )
    assert stops == {"why": 1, "tree": 1, "pool": 4, "queue": 2}


def test_up_and_down_go_through_the_terms_of_an_account(tab):
    tab.page.focus("#kvlab .a1 .acct")
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("ArrowDown")
    assert tab.js(STANDS) == ["pool", "", "held"]
    tab.page.keyboard.press("ArrowUp")
    assert tab.js(STANDS) == ["pool", "", "used"]
    assert tab.js("() => kvlab.state") == "used"  # and its slots are outlined


@pytest.mark.parametrize(
    ("pane", "stands"), [("2", ["pool", "", "used"]), ("4", ["queue", "", "0"])]
)
def test_down_goes_on_from_a_pane_that_was_gone_to(tab, pane, stands):
    tab.press(f"Alt+{pane}", "ArrowDown")
    assert tab.js(STANDS) == stands


def test_left_and_right_say_from_the_answers_how_sure_one_is(tab):
    ask(tab)
    tab.press("p", "ArrowDown")
    said = tab.js("() => kvlab.picked")
    for key, sure in [("Right", 2), ("Right", 3), ("Right", 3), ("Left", 2)]:
        tab.page.keyboard.press(f"Arrow{key}")
        assert tab.js("() => [kvlab.picked, kvlab.sure]") == [said, sure]
    assert tab.page.locator("#kvlab .conf :checked").input_value() == "2"
    assert tab.js(STANDS)[1].endswith("-say")


def test_stepping_leaves_the_keyboard_on_its_term(tab):
    tab.page.focus("#kvlab .a1 .acct")
    tab.page.keyboard.press("ArrowDown")
    for _ in range(12):
        tab.page.keyboard.press("ArrowRight")
    assert tab.js("() => kvlab.run.at") == 32
    assert tab.js(STANDS) == ["pool", "", "used"]


def test_the_keyboard_works_on_after_a_cause_was_followed(tab):
    tab.page.click("#kvlab .p-why .chain button >> nth=0")
    tab.js("() => kvlab.show(kvlab.run.at)")  # the card is drawn anew
    at = tab.js("() => kvlab.run.at")
    assert at < 20
    tab.page.keyboard.press("ArrowRight")
    assert tab.js("() => kvlab.run.at") == at + 1


def test_down_in_the_tree_goes_from_node_to_node(tab):
    tab.js("() => kvlab.show(kvlab.run.count)")
    tab.press("Alt+1")
    picked = []
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        tab.page.keyboard.press(key)
        picked.append(tab.js("() => kvlab.select.node"))
    assert picked[0] != picked[1]
    assert picked[0] == picked[2]
    assert tab.js(
        "() => document.activeElement.getAttribute('aria-activedescendant')"
    ).endswith(f"-n{picked[0]}")


def test_a_folded_subtree_is_reached_and_opened_by_arrows(browser, tmp_path):
    bench = Workbench(pool_tokens=800, tree="radix")
    for first in range(0, 3200, 10):
        bench.insert([first, first + 1])
    tab = Tab(browser, tmp_path, to_html(bench.trace, lang="en"))
    tab.press("End", "Alt+1")
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("ArrowDown")
    fold = tab.js("() => document.activeElement.dataset.fold")
    tab.page.keyboard.press("ArrowRight")
    assert tab.js("top => kvlab.open.has(+top)", fold)
    assert tab.heard == []


def test_a_page_hears_keys_before_anything_in_it_was_pressed(browser, tmp_path):
    run = golden("s32", "sglang23")
    page = Tab(browser, tmp_path, to_html(run, lang="en")).page
    page.keyboard.press("ArrowRight")
    assert page.evaluate("kvlab.run.at") == 1
    page.mouse.click(5, 5)  # on nothing
    page.keyboard.press("ArrowRight")
    assert page.evaluate("kvlab.run.at") == 2


@pytest.mark.parametrize("button", ["dark", "mode", "lang"])
def test_what_is_made_anew_leaves_the_keyboard_where_it_was(tab, button):
    tab.page.click(f"#kvlab .top [data-do={button}] >> nth=0")
    assert tab.js("() => document.activeElement.dataset.do") == button
    tab.js("() => { kvlab.lang = 'en'; kvlab.setMode('watch') }")


def test_the_arrows_go_on_from_an_event_that_was_typed(tab):
    tab.page.fill("#kvlab .at", "8")
    tab.page.keyboard.press("Enter")
    tab.page.keyboard.press("ArrowRight")
    assert tab.js("() => kvlab.run.at") == 9


def test_escape_closes_an_open_panel_and_then_leaves(tab):
    tab.press("?")
    assert tab.js("() => kvlab.panel") == "help"
    tab.page.keyboard.press("Escape")
    assert tab.js("() => kvlab.panel") == ""
    assert tab.js("() => document.activeElement.id") == "kvlab"
    tab.page.keyboard.press("Escape")
    assert tab.js("() => document.activeElement === document.body")


def test_the_list_of_keys_is_seen_whole_and_names_none_that_does_nothing(tab):
    tab.press("?")
    names = tab.js(
        "() => [...document.querySelectorAll('.panel dt')].map(at => at.textContent)"
    )
    assert "W" in names
    assert not {"D", "F", "C"} & {*names}  # no second run, no fork, no bytes
    low, high = tab.js(
        """() => [document.querySelector('.panel').getBoundingClientRect().bottom,
                  innerHeight]"""
    )
    assert low < high + 1
    tab.page.keyboard.press("Escape")


def test_a_bookmark_has_a_way_back(tab):
    tab.press("b", "End")
    tab.page.click("#kvlab .marked button")
    assert tab.js("() => kvlab.run.at") == 20
    tab.press("b")
    assert tab.js("() => document.querySelectorAll('.marked button').length") == 0


def test_the_watch_whose_events_are_marked_is_the_pressed_one(tab):
    pressed = """() => document.querySelectorAll(
        '[data-do=watch][aria-pressed=true]').length"""
    tab.page.click("#kvlab .ctl [data-to=watches]")
    tab.page.click("#kvlab .panel [data-do=watch]:enabled >> nth=0")
    assert tab.js(pressed) == 1
    frames = tab.js("""() => ["true", "false"].map(pressed => getComputedStyle(
        document.querySelector(`[data-do=watch][aria-pressed=${pressed}]`)).boxShadow)""")
    assert "inset" in frames[0] and frames[1] == "none"  # another line, not another hue
    tab.page.click("#kvlab .ctl [data-do=nohits]")
    assert tab.js(pressed) == 0
    tab.page.keyboard.press("Escape")


@pytest.mark.parametrize("name", ["s25", "s10"])
def test_the_controls_are_in_a_low_window_without_scrolling(browser, tmp_path, name):
    run = golden(name)
    size = {"width": 1280, "height": 720}
    tab = Tab(browser, tmp_path, to_html(run, lang="en"), viewport=size)
    high = "() => [document.documentElement.scrollHeight, kvlab.root.offsetHeight]"
    page, player = tab.js(high)
    assert page <= 720 and player > 690  # and no room is left over


PLACES = """() => [scrollX, scrollY, document.documentElement.scrollHeight,
    ...[...document.querySelectorAll('.top, .head, .pane, .tl, .ctl, .ctl button')]
        .flatMap(at => { const {left, top} = at.getBoundingClientRect();
                         return [left, top] })]"""


@pytest.mark.parametrize("panel", ["filter", "watches", "note", "export", "help"])
def test_an_open_panel_is_in_sight_and_has_moved_nothing(browser, tmp_path, panel):
    run = golden("s32", "sglang23")
    size = {"width": 1280, "height": 720}
    tab = Tab(browser, tmp_path, to_html(run, lang="en", start=20), viewport=size)
    before = tab.js(PLACES)
    button = f"[data-to={panel}]" if panel != "note" else "[data-do=note]"
    tab.page.click(f"#kvlab .ctl {button}")
    assert tab.js(PLACES) == before
    box = tab.page.query_selector("#kvlab .panel").bounding_box()
    line = tab.page.query_selector("#kvlab .tl").bounding_box()
    assert box["y"] >= 0 and 30 < box["height"] <= line["y"] - box["y"]
    tab.page.keyboard.press("Escape")
    assert tab.js(PLACES) == before


def test_a_watch_stops_where_the_device_has_to_make_room(browser, tmp_path):
    bench = Workbench(pool_tokens=24, tree="radix")
    for first in (0, 100):
        bench.insert(range(first, first + 16))
    tab = Tab(browser, tmp_path, to_html(bench.trace, lang="en"))
    tab.page.click("#kvlab .ctl [data-to=watches]")
    tab.page.click("#kvlab .panel [data-to=room]")
    assert "L1 should give 16 tokens and has" in tab.headline
