"""Does the page play a run in a real browser, with nothing but itself?"""

from __future__ import annotations

import pytest
from played import golden
from player_tab import needs_chromium, show

from kvlab import Workbench
from kvlab.lessons.scenarios import SCENARIOS
from kvlab.lessons.scenarios.nb07 import three_fates
from kvlab.record import events as ev
from kvlab.record.replay import Replay, states
from kvlab.record.trace import Trace
from kvlab.views.columns import COLUMNS, columns_of
from kvlab.views.frame import frame_at, frame_of
from kvlab.views.page import to_html
from kvlab.views.sentences import describe
from kvlab.views.text import tree_text

pytestmark = needs_chromium


def test_a_thousand_random_seeks_give_one_state_from_front_and_back(open_page):
    tab = open_page(to_html(golden("r29")))
    wrong = tab.js(
        """() => {
        const run = kvlab.run, wrong = [];
        let seed = 7;
        for (let i = 0; i < 1000; i++) {
            seed = (seed * 1103515245 + 12345) % 2147483648;
            const to = seed % (run.count + 1);
            run.seek(0); while (run.at < Math.min(to, 40)) run.seek(run.at + 1);
            const front = run.seek(to).hash();
            run.seek(run.count); run.seek(Math.min(run.count, to + 60));
            while (run.at > to) run.seek(run.at - 1);
            if (run.hash() !== front) wrong.push(to);
        }
        return wrong;
    }"""
    )
    assert wrong == []


def held(columns: dict[str, dict[int, int]]) -> dict[str, dict[int, int]]:
    """Return the columns of pages that somebody has, and of nodes that live."""
    owned = {t: {p: o for p, o in columns[f"owner{t}"].items() if o > 1} for t in "12"}
    alive = columns["life"]
    nodes = {
        name: {node: rows.get(node, 0) for node in alive}
        for name, rows in columns.items()
        if COLUMNS.index("parent") <= COLUMNS.index(name) <= COLUMNS.index("life")
    }
    return {**nodes, "owner1": owned["1"], "owner2": owned["2"]}


def test_the_columns_in_the_browser_are_the_snapshots(open_page):
    for name in ("x08", "s33", "s31"):
        trace = golden(name)
        tab = open_page(to_html(trace))
        replay = Replay(trace)
        requests = {e.request: 0 for e in trace.events if isinstance(e, ev.Arrive)}
        places = {request: place for place, request in enumerate(requests)}
        assert tab.js("() => kvlab.log.requests") == list(requests)
        for step in [*range(1, len(trace), 3), len(trace), *range(1, len(trace), 41)]:
            found = tab.js(
                """step => { kvlab.run.seek(step);
                    return Object.fromEntries(Object.entries(kvlab.run.c).map(
                        ([name, rows]) => [name, Object.fromEntries(
                            [...rows.entries()].filter(([, value]) => value))])) }""",
                step,
            )
            shown = {n: {int(k): v for k, v in r.items()} for n, r in found.items()}
            assert held(shown) == held(columns_of(replay.at(step), places)), step


def test_the_headline_says_what_python_says_in_both_languages(open_page):
    for name in ("s10", "s14", "s18", "s25", "x08"):
        trace = golden(name)
        tab = open_page(to_html(trace))
        replay = Replay(trace)
        for lang in ("en", "zh"):
            said = tab.js(
                """lang => { kvlab.lang = lang; const all = [];
                    for (let e = 0; e <= kvlab.run.count; e++) {
                        kvlab.run.seek(e); all.push(kvlab.sentence()) }
                    return all }""",
                lang,
            )
            steps = range(len(trace) + 1)
            told = [describe(frame_of(replay, step), lang) for step in steps]
            assert said == told


def test_the_account_of_every_event_is_the_snapshots(open_page):
    trace = golden("s18")
    tab = open_page(to_html(trace))
    rows = tab.js("() => kvlab.csv()").splitlines()
    for row, (index, _, state) in zip(rows[1:], states(trace), strict=True):
        account = state.account()
        expected = [account.protected, account.held, account.evictable]
        assert row.split(",")[0] == str(index + 1)
        assert [int(n) for n in row.split(",")[2:5]] == expected


def test_keys_step_play_and_jump(open_page):
    tab = open_page(to_html(golden("s10")))
    tab.press("ArrowRight", "ArrowRight")
    assert tab.js("() => kvlab.run.at") == 2
    tab.press("Control+ArrowRight")
    assert tab.js("() => kvlab.run.isDecision(kvlab.run.at - 1)")
    tab.press("End")
    assert tab.js("() => kvlab.run.at === kvlab.run.count")
    tab.press("Home", "]", "]", " ")
    tab.page.wait_for_function("() => kvlab.run.at > 3")
    tab.press(" ")
    stopped = tab.js("() => kvlab.run.at")
    assert stopped > 3 and not tab.js("() => !!kvlab.timer")
    tab.press("l")
    assert tab.page.get_attribute("#kvlab", "lang") == "zh-Hans"
    assert "基数树" in tab.page.inner_text("#kvlab .p-tree")
    tab.press("Escape")
    assert tab.js("() => document.activeElement === document.body")


def test_every_control_is_reached_by_tab(open_page):
    tab = open_page(to_html(golden("s10")))
    wanted = tab.js(
        """() => [...document.querySelectorAll('#kvlab button, #kvlab select,'
            + '#kvlab input')].filter(x => !x.disabled && x.offsetParent).length"""
    )
    tab.page.focus("#kvlab")
    reached = tab.js("() => (globalThis.reached = new Set(), 0)")
    for _ in range(wanted + 12):
        tab.page.keyboard.press("Tab")
        reached = tab.js(
            """() => { const at = document.activeElement;
                if (at.matches('button,select,input')) globalThis.reached.add(at);
                return globalThis.reached.size }"""
        )
    assert reached == wanted


def test_selecting_a_node_marks_it_everywhere_and_survives_scrubbing(open_page):
    tab = open_page(to_html(golden("s10")))
    show(tab, "loadback load")
    tab.page.click("#kvlab [data-node='2']")
    assert "n2" in tab.page.inner_text("#kvlab .insp")
    tab.press("ArrowRight")
    assert tab.js("() => kvlab.select.node") == 2
    before = tab.js("() => kvlab.run.at")
    tab.press("Shift+ArrowRight")
    after = tab.js("() => kvlab.run.at")
    assert after > before
    assert tab.js("() => kvlab.concerns(kvlab.run.at - 1, kvlab.select)")


def test_token_ranges_are_those_of_pythons_views(open_page):
    trace = golden("s10")
    tab = open_page(to_html(trace))
    e = show(tab, "loadback load")
    lines = tree_text(frame_at(trace, e + 1)).splitlines()
    for line in lines:
        name, span = line.split()[:2]
        tab.js(
            "n => { kvlab.select = {node: +n, request: -1}; kvlab.show(kvlab.run.at) }",
            name[1:],
        )
        shown = tab.page.inner_text("#kvlab .insp")
        assert name in shown and span in shown.split(), shown
    assert lines[0].split()[1].startswith("0:")


def test_the_wheel_zooms_and_pans_the_timeline_without_moving_the_moment(open_page):
    bench = Workbench(name="long", pool_tokens=64, host_tokens=64)
    for first in range(0, 3000, 20):
        bench.insert(range(first, first + 20))
        bench.ack_write()
    tab = open_page(to_html(bench.trace, start=700))
    box = tab.page.query_selector("#kvlab .tl .over").bounding_box()
    tab.page.mouse.move(box["x"] + 600, box["y"] + 70)
    usual = tab.js("() => kvlab.stretch")
    tab.page.mouse.wheel(0, -100)
    tab.page.wait_for_function("per => kvlab.stretch.per < per", arg=usual["per"])
    for _ in range(12):
        tab.page.mouse.wheel(0, 100)
    tab.page.wait_for_function("() => kvlab.stretch.per === kvlab.run.count")
    tab.press("0")
    again = tab.js("() => kvlab.stretch")
    tab.press("Shift+>")
    panned = tab.js("() => kvlab.stretch")
    assert again["per"] == panned["per"] == usual["per"]
    assert panned["from"] == again["from"] + round(usual["per"] / 2)
    assert tab.js("() => kvlab.run.at") == 700
    tab.press("ArrowRight")
    shown = tab.js("() => kvlab.stretch")
    assert shown["from"] <= 700 < shown["end"]


def test_a_bookmark_comes_and_goes(open_page):
    tab = open_page(to_html(golden("s10"), start=9))
    tab.press("b")
    assert tab.js("() => [...kvlab.bookmarks]") == [8]
    tab.press("b")
    assert tab.js("() => [...kvlab.bookmarks]") == []


def test_two_runs_open_at_their_first_difference_with_both_states(open_page):
    def run(policy: str) -> Trace:
        bench = Workbench(pool_tokens=24, host_tokens=48, eviction_policy=policy)
        for first in (100, 200):
            bench.insert(range(first, first + 10))
        bench.ack_write()
        bench.insert(range(300, 310))
        return bench.trace

    tab = open_page(to_html(run("lru"), run("mru")))
    assert "First difference" in tab.page.inner_text("#kvlab .note")
    assert "eviction_policy lru → mru" in tab.page.inner_text("#kvlab .note")
    assert "n1" in tab.page.inner_text("#kvlab .p-why:not(.b)")
    assert "n2" in tab.page.inner_text("#kvlab .p-why.b")
    tab.shoot("compare.png")


def test_two_runs_with_the_same_settings_differ_in_no_knob(open_page):
    tab = open_page(to_html(three_fates().trace, three_fates(again=False).trace))
    note = tab.page.inner_text("#kvlab .note")
    assert "First difference: event 40. 39 events are identical before it." in note
    assert "knob" not in note and "undefined" not in note


def test_no_difference_is_said_plainly(open_page):
    trace = golden("s10")
    tab = open_page(to_html(trace, trace))
    note = tab.page.inner_text("#kvlab .note")
    assert f"No difference in {len(trace)} events" in note


def test_dark_light_language_and_motion_come_from_the_browser(open_page):
    html = to_html(golden("s10"))
    tab = open_page(html, color_scheme="dark", locale="zh-CN", reduced_motion="reduce")
    assert tab.js("() => [kvlab.dark, kvlab.lang, kvlab.motion]") == [True, "zh", False]
    tab.shoot("dark_zh.png")


def test_the_page_holds_one_script_and_reaches_nothing(open_page):
    html = to_html(golden("s10"))
    assert "default-src 'none'" in html and html.count("<script") == 2
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert "\u2028" not in html
    tab = open_page(html)
    blocked = tab.js(
        """() => new Promise(done => { const image = new Image();
            image.onerror = () => done(true); image.onload = () => done(false);
            document.addEventListener('securitypolicyviolation', () => done(true));
            image.src = 'https://example.invalid/x.png' })"""
    )
    assert blocked
    tab.heard.clear()  # the attempt is on the console, and went nowhere


def test_what_was_typed_stays_when_the_language_changes(open_page):
    tab = open_page(to_html(golden("s10"), lang="en"))
    tab.press("/")
    tab.page.fill("#kvlab .fn", "n3")
    tab.page.click('#kvlab [data-do="lang"][data-to="zh"]')
    assert tab.page.input_value("#kvlab .fn") == "n3"
    assert tab.page.inner_text("#kvlab .panel .go") == "筛选"


FRAMES = """() => [...kvlab.root.querySelectorAll(".chip.hot, .chip.sel")].map(chip => {
    const style = getComputedStyle(chip), at = chip.getBoundingClientRect();
    const lane = chip.parentElement.getBoundingClientRect();
    const out = style.outlineStyle === "none" ? 0
        : parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset);
    const marked = style.boxShadow.includes("inset") || style.outlineStyle !== 'none';
    return [chip.dataset.request, !!marked, at.top - out >= lane.top - 0.5,
        at.bottom + out <= lane.bottom + 0.5, at.left - out >= lane.left - 0.5] })"""
"""Of each request in the event or chosen: whether it is framed, and within its lane."""


def test_the_frame_of_a_request_is_seen_whole_in_its_lane(open_page):
    tab = open_page(to_html(golden("s18"), lang="en"))
    show(tab, "admit no_token")
    tab.page.click("#kvlab .p-queue .chip.hot")
    tab.page.click("#kvlab .p-queue .chip:not(.hot)")
    frames = tab.js(FRAMES)
    assert len(frames) == 2
    assert all(part for frame in frames for part in frame[1:])
    tab.shoot("frames.png")


def test_the_request_of_the_event_is_read_whole_in_its_lane(open_page):
    size = {"width": 1270, "height": 760}  # hardly room for two
    tab = open_page(to_html(SCENARIOS["who_said_no"]().trace, lang="en"), viewport=size)
    show(tab, "admit no_token")
    left = """() => { const range = document.createRange();
        const words = document.querySelector("#kvlab .chip.hot small");
        range.selectNodeContents(words);
        const [room, need] = [words, range].map(at => at.getBoundingClientRect().width);
        return room - need }"""
    assert tab.js(left) > -0.1


def test_a_short_tree_fills_its_pane(open_page):
    tab = open_page(to_html(golden("s10")), viewport={"width": 1440, "height": 900})
    tab.js("() => kvlab.show(60)")
    left = tab.js(
        """() => { const end = at => at.getBoundingClientRect().right;
        return end(document.querySelector("#kvlab .scroll"))
            - Math.max(...[...document.querySelectorAll("#kvlab .d1")].map(end)) }"""
    )
    assert 0 <= left < 30


def test_what_is_pressed_stands_out_in_forced_colours(open_page):
    tab = open_page(to_html(golden("s10")), forced_colors="active")
    pressed = 'document.querySelector("#kvlab .seg [aria-pressed=true]")'
    ground = tab.js(f"() => getComputedStyle({pressed}).backgroundColor")
    assert ground == "rgb(28, 33, 39)"  # theme.INK


def test_paper_shows_what_the_screen_shows(open_page):
    tab = open_page(to_html(golden("s10")))
    tab.js("() => kvlab.show(60)")
    places = """() => [...document.querySelectorAll(".pane, .rows [data-node], .tl")]
        .map(at => at.getBoundingClientRect()).map(({ x, width }) => [x, width])"""
    before = tab.js(places)
    tab.page.emulate_media(media="print")
    tab.page.set_viewport_size({"width": 900, "height": 640})  # of A4, lying
    assert tab.js(places) == before


@pytest.mark.parametrize(
    ("run", "at", "width"), [("r25", 204, 1024), ("r25", 204, 360), ("s18", 0, 640)]
)
def test_a_headline_is_read_whole_in_a_narrow_window(open_page, run, at, width):
    mode = "watch" if at else "predict"
    size = {"width": width, "height": 700}
    html = to_html(golden(run), lang="en", mode=mode)
    tab = open_page(html, viewport=size)
    tab.js("at => kvlab.show(at || kvlab.limit)", at)
    cut = """() => { const head = document.querySelector("#kvlab .head");
        return head.lastElementChild.offsetHeight - head.clientHeight }"""
    assert tab.js(cut) <= 0
