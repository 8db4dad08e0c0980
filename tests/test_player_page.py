"""Does the page play a run in a real browser, with nothing but itself?

Needs a Chromium; in CI its absence is a failure, not a reason to skip. Screenshots are
left in the folder that KVLAB_SHOTS names, if it is set.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from lab_browser import CHROMIUM, chromium

from kvlab import Workbench
from kvlab.record import events as ev
from kvlab.record.replay import Replay
from kvlab.record.trace import Header, Trace
from kvlab.run.whole import load_whole
from kvlab.views.cards import card_at
from kvlab.views.cards import links as card_links
from kvlab.views.columns import COLUMNS, columns_of
from kvlab.views.frame import frame_at, frame_of
from kvlab.views.log import player_log
from kvlab.views.page import page_of, safe, to_html
from kvlab.views.player_script import script
from kvlab.views.sentences import describe
from kvlab.views.text import tree_text

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None and "CI" not in os.environ,
        reason="no chromium on this machine (Debian: apt install chromium)",
    ),
]
GOLDENS = Path(__file__).parent / "goldens" / "sglang"


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


def golden(name: str) -> Trace:
    return load_whole(next(GOLDENS.glob(f"{name}*")))[0]


class Tab:
    """One page, opened from a file. `heard` is every complaint and every request."""

    def __init__(self, browser, folder: Path, html: str, **context) -> None:
        size = {"width": 1280, "height": 760}
        context = {"viewport": size, "accept_downloads": True, **context}
        self.heard: list[str] = []
        file = folder / "page.html"
        file.write_text(html, "utf-8")
        self.page = browser.new_context(**context).new_page()
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.heard.append(str(error)))
        self.page.on("request", lambda r: self._request(r.url, file.as_uri()))
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("[data-ready]")

    def _listen(self, message) -> None:
        if message.type in ("error", "warning"):
            self.heard.append(message.text)

    def _request(self, url: str, own: str) -> None:
        if url != own and not url.startswith(("data:", "blob:")):
            self.heard.append(f"request: {url}")

    def js(self, code: str, *arguments):
        return self.page.evaluate(code, *arguments)

    def press(self, *keys: str) -> None:
        self.page.focus("#kvlab")
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def headline(self) -> str:
        return self.page.inner_text("#kvlab h2")

    def shoot(self, name: str) -> None:
        if "KVLAB_SHOTS" in os.environ:
            self.page.screenshot(path=Path(os.environ["KVLAB_SHOTS"], name))


@pytest.fixture
def open_page(browser, tmp_path):
    tabs = []

    def opened(html: str, **context) -> Tab:
        tabs.append(Tab(browser, tmp_path, html, **context))
        return tabs[-1]

    yield opened
    for tab in tabs:
        tab.page.context.close()
        assert tab.heard == []


def show(tab: Tab, variant: str) -> int:
    """Go to the first event of this variant; return its index."""
    return tab.js(
        """variant => { for (let e = 0; e < kvlab.run.count; e++)
            if (kvlab.run.variant(e) === variant) { kvlab.show(e + 1); return e } }""",
        variant,
    )


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
    shifts = {
        f"shift{t}": {p: columns[f"shift{t}"].get(p, 0) for p in owned[t]} for t in "12"
    }
    alive = columns["life"]
    nodes = {
        name: {node: rows.get(node, 0) for node in alive}
        for name, rows in columns.items()
        if COLUMNS.index("parent") <= COLUMNS.index(name) <= COLUMNS.index("life")
    }
    return {**nodes, **shifts, "owner1": owned["1"], "owner2": owned["2"]}


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


def whole(sentence: str) -> str:
    """Return it without decimals that are 0: whether 40 or 40.0 is a matter of type."""
    return re.sub(r"(\d)\.0\b", r"\1", sentence)


def test_the_headline_says_what_python_says_in_both_languages(open_page):
    for name in ("s10", "s14", "s18", "x08"):
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
            assert list(map(whole, said)) == list(map(whole, told))


def test_the_account_of_every_event_is_the_snapshots(open_page):
    trace = golden("s18")
    tab = open_page(to_html(trace))
    rows = tab.js("() => kvlab.csv()").splitlines()
    states = Replay(trace).states()
    for row, (index, _, state) in zip(rows[1:], states, strict=True):
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
    tab.press("Home", "]", "]", "]", "]", " ")
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


def test_the_card_shows_the_formula_and_the_line_that_refused(open_page):
    tab = open_page(to_html(golden("s18")))
    show(tab, "admit no_token")
    card = tab.page.inner_text("#kvlab .p-why")
    assert "NO_TOKEN" in card and "7 < 4.5" in card and "false" in card
    assert "schedule_policy.py" in card and "kvlab/schedule/admission.py" in card
    tab.shoot("refused.png")


def test_every_card_says_what_the_card_in_python_says(open_page):
    for name in ("s12", "s18", "x08", "x11"):
        trace = golden(name)
        tab = open_page(to_html(trace, lang="zh"))
        for step, event in enumerate(trace.events, 1):
            if not isinstance(event, ev.Decision):
                continue
            tab.js("step => kvlab.show(step)", step)
            shown = tab.page.inner_text("#kvlab .p-why")
            why = card_at(trace, step, "zh").reason
            assert why.rule.zh in shown and why.source.split(" · ")[-1] in shown
            for check in why.checks:
                assert check.test in shown, f"{check.test} not in {shown}"
            if why.not_taken is not None:
                assert why.not_taken.zh in shown


def test_a_copy_in_flight_and_a_loss_are_seen(open_page):
    tab = open_page(to_html(golden("x08")))
    show(tab, "evicthost")
    assert "lost for good" in tab.headline
    lost = tab.js("() => kvlab.colour.lost")
    assert lost in tab.page.inner_html("#kvlab .p-tree")
    tab.shoot("lost.png")


def test_a_covered_card_is_not_in_the_page_and_the_answer_is_the_runs(open_page):
    trace = golden("s18")
    tab = open_page(to_html(trace, mode="predict"))
    tab.press("End")
    at = tab.js("() => kvlab.asking")
    assert isinstance(trace.events[at], ev.Admit)
    text = tab.page.inner_text("#kvlab")
    assert "Your turn" in text and "not in this formula" not in text
    assert not tab.page.query_selector("#kvlab .p-why .eq")
    tab.press("ArrowRight", "End")
    assert tab.js("() => kvlab.run.at") == at
    tab.press("p")
    assert tab.js("() => kvlab.mode") == "predict"
    assert tab.js("() => document.activeElement.closest('.ans') !== null")
    options = tab.page.query_selector_all("#kvlab .ans:not(.conf) input")
    options[1].check()  # it waits
    tab.page.focus("#kvlab .conf input:checked")
    tab.page.keyboard.press("ArrowRight")
    tab.press("Enter")
    answer = tab.js("() => kvlab.answers[0]")
    assert answer["said"] == "admit no_token" and answer["happened"] == "admit"
    assert answer["right"] is False and answer["confidence"] == 3
    assert "not what you predicted" in tab.page.inner_text("#kvlab .p-why")
    tab.page.click("#kvlab [data-do=saw][data-to=falls]")
    assert tab.js("() => kvlab.answers[0].saw") == "falls"
    tab.shoot("revealed.png")


def test_what_was_seen_is_checked_against_the_counters(open_page):
    trace = golden("s18")
    tab = open_page(to_html(trace, mode="predict"))
    tab.press("End")
    at = tab.js("() => kvlab.asking")
    tab.page.query_selector("#kvlab .ans input").check()
    tab.press("Enter")
    tab.page.click("#kvlab [data-do=saw][data-to=rises]")
    answer = tab.js("() => kvlab.answers[0]")
    replay = Replay(trace)
    until = next(
        i for i in range(at + 1, len(trace)) if isinstance(trace.events[i], ev.Decision)
    )
    before, after = (replay.at(s).account().available for s in (at, until))
    assert (answer["before"], answer["after"]) == (before, after)
    assert answer["saw_right"] is (after > before)


def everything_said(tab: Tab) -> str:
    """Return all text and every attribute of the player that could hold words."""
    return tab.js(
        """() => { const root = document.getElementById('kvlab'), said = [];
            for (const x of [root, ...root.querySelectorAll('*')]) {
                if (x.tagName === 'STYLE') continue;
                for (const a of x.attributes) said.push(a.value);
                for (const c of x.childNodes) if (c.nodeType === 3) said.push(c.data) }
            return said.join('\\n') }"""
    )


def test_no_word_of_a_covered_card_is_anywhere_in_the_page(open_page):
    tab = open_page(to_html(golden("s18"), mode="predict", lang="en"))
    hidden = tab.js(
        """() => { const e = kvlab.limit; kvlab.mode = 'watch'; kvlab.show(e + 1);
            const said = [document.querySelector('#kvlab h2').textContent,
                document.querySelector('#kvlab .p-why .v').textContent];
            kvlab.setMode('predict'); return said }"""
    )
    tab.press("End")
    assert tab.js("() => kvlab.asking") >= 0
    said = everything_said(tab)
    assert "What happens?" in said
    for words in hidden:
        assert len(words) > 10 and words not in said


def test_filters_and_watches_find_nothing_behind_an_open_question(open_page):
    tab = open_page(to_html(golden("s18"), mode="predict", lang="en"))
    limit = tab.js("() => kvlab.limit")
    tab.press("/")
    tab.page.select_option("#kvlab .fk", "admit")
    tab.page.click("#kvlab [data-do=search]")
    assert tab.js("() => Array.from(kvlab.hits)") == []
    tab.js("() => kvlab.setMode('watch')")
    tab.page.select_option("#kvlab .fk", "admit")
    tab.page.click("#kvlab [data-do=search]")
    assert tab.js("() => Array.from(kvlab.hits)")[0] == limit


def test_what_an_eviction_freed_beyond_its_ask_is_outlined(open_page, tmp_path):
    bench = Workbench(pool_tokens=24, host_tokens=0)
    bench.insert(range(12))
    bench.evict(5)
    tab = open_page(to_html(bench.trace, start=len(bench.trace), lang="en"))
    assert "Asked for 5, freed 12" in tab.headline
    svg = saved(tab, "svg", tmp_path).decode()
    (outline,) = re.findall(r'width="([\d.]+)"[^>]*stroke-dasharray="6 4"', svg)
    assert abs(float(outline) - 7 * 448 / 24) < 2


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


def test_watches_and_filters_stop_where_python_says(open_page):
    trace = golden("s10")
    tab = open_page(to_html(trace))
    demoted = [i for i, e in enumerate(trace.events) if isinstance(e, ev.Demote)]
    tab.page.click("#kvlab [data-do=panel][data-to=watches]")
    tab.page.click("#kvlab [data-do=watch][data-to=host_only]")
    assert tab.js("() => kvlab.run.at") == demoted[0] + 1
    tab.press("/")
    tab.page.select_option("#kvlab .fk", "demote")
    tab.page.fill("#kvlab .fn", "n2")
    tab.page.keyboard.press("Enter")
    mine = [i for i in demoted if trace.events[i].node == 2]
    assert tab.js("() => Array.from(kvlab.hits)") == mine


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


def test_no_difference_is_said_plainly(open_page):
    trace = golden("s10")
    tab = open_page(to_html(trace, trace))
    note = tab.page.inner_text("#kvlab .note")
    assert f"No difference in {len(trace)} events" in note


def saved(tab: Tab, form: str, folder: Path) -> bytes:
    """Press a button of the export panel; return what the browser saves."""
    if not tab.page.query_selector("#kvlab .panel [data-do=save]"):
        tab.page.click("#kvlab [data-do=panel][data-to=export]")
    with tab.page.expect_download() as coming:
        tab.page.click(f"#kvlab [data-do=save][data-to={form}]")
    coming.value.save_as(folder / form)
    return (folder / form).read_bytes()


def words_of(svg: bytes) -> list[str]:
    """Return every text of a picture, which has to be well-formed."""
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [text.text or "" for text in texts]


def test_a_step_is_saved_as_a_picture_that_says_what_the_page_says(open_page, tmp_path):
    tab = open_page(to_html(golden("s10"), lang="en"))
    show(tab, "load")
    words = words_of(saved(tab, "svg", tmp_path))
    assert {tab.headline, "n1", "L2", "+ 42", "= 64 ✓", "= 96 ✓"} <= set(words)
    png = saved(tab, "png", tmp_path)
    assert png.startswith(b"\x89PNG") and len(png) > 20_000


def test_a_film_shows_each_of_its_steps(open_page, tmp_path):
    trace = golden("s10")
    tab = open_page(to_html(trace, lang="en"))
    tab.page.click("#kvlab [data-do=panel][data-to=export]")
    tab.page.fill("#kvlab .film-from", "60")
    tab.page.fill("#kvlab .film-to", "64")
    words = words_of(saved(tab, "film", tmp_path))
    replay = Replay(trace)
    told = [describe(frame_of(replay, step), "en") for step in range(60, 65)]
    assert [word for word in words if word in told] == told
    assert tab.js("() => kvlab.run.at") == 0


def test_a_picture_of_ten_thousand_slots_holds_their_pixels(open_page, tmp_path):
    bench = Workbench(name="large", pool_tokens=10_000, host_tokens=20_000)
    bench.insert(range(5000))
    tab = open_page(to_html(bench.trace, start=len(bench.trace)))
    svg = saved(tab, "svg", tmp_path)
    assert svg.count(b"data:image/png;base64,") == 2 and words_of(svg)


def test_the_page_saves_itself_and_the_copy_plays(open_page, tmp_path):
    tab = open_page(to_html(golden("s10"), lang="en"))
    tab.press("End")
    copy = open_page(saved(tab, "html", tmp_path).decode())
    assert copy.js("() => [kvlab.run.count, kvlab.run.at]") == [105, 0]
    assert copy.page.query_selector_all("#kvlab") != []


def test_the_saved_events_hold_a_flow_for_every_cause(open_page, tmp_path):
    trace = golden("s10")
    tab = open_page(to_html(trace))
    events = json.loads(saved(tab, "perfetto", tmp_path))["traceEvents"]
    caused = [index for index, event in enumerate(trace.events) if event.cause >= 0]
    assert [event["id"] for event in events if event["ph"] == "f"] == caused
    assert [e["ts"] for e in events if e["ph"] == "X"] == list(range(len(trace)))


def test_the_saved_account_has_a_line_for_every_event(open_page, tmp_path):
    tab = open_page(to_html(golden("s10")))
    lines = saved(tab, "csv", tmp_path).decode().split("\r\n")
    assert len(lines) == 1 + 105 + 1
    assert lines[62].split(",")[:6] == ["62", "load", "0", "14", "8", "42"]


def test_nothing_behind_an_open_question_is_saved(open_page, tmp_path):
    tab = open_page(to_html(golden("s18"), mode="predict", lang="en"))
    tab.press("End")
    limit = tab.js("() => kvlab.limit")
    assert len(saved(tab, "csv", tmp_path).splitlines()) == 1 + limit
    tab.page.fill("#kvlab .film-from", "0")
    tab.page.fill("#kvlab .film-to", "9999")
    film = saved(tab, "film", tmp_path).decode()
    assert f"event {limit} ·" in film and f"event {limit + 1} ·" not in film
    assert "NO_TOKEN" not in saved(tab, "svg", tmp_path).decode()


HOSTILE = (
    "<script>globalThis.hacked=1</script>", "\u202eright to left", "x" * 10_000,
    "\"'><img src=x onerror=globalThis.hacked=1>", "two\nlines", "</script><h1>",
    "\u2028", "=1+1",
)  # fmt: skip


def test_hostile_names_are_text_everywhere(open_page, tmp_path):
    bench = Workbench(name=HOSTILE[0] + "\u2028</script>", pool_tokens=64)
    trace = Trace(Header(name=bench.trace.header.name, config=bench.trace.header.config,
                         rules=bench.trace.header.rules))  # fmt: skip
    for number, name in enumerate(HOSTILE):
        trace(ev.Step, number, name, name)
        trace(ev.Arrive, name, 5, 3, 0)
        trace(ev.Admit, name, "admitted", 5, 3, 1, 64, 0, 0.5, 9, None, 0, 0,
              "CONTINUE", True)  # fmt: skip
    tab = open_page(to_html(trace, lang="en"))
    for step in range(len(trace) + 1):
        tab.js("step => kvlab.show(step)", step)
        assert (
            tab.js("() => document.querySelectorAll('#kvlab h1, #kvlab img').length")
            == 0
        )
    assert tab.js("() => globalThis.hacked") is None
    assert len(tab.headline) < 200
    tab.js("() => kvlab.show(2)")
    assert "<script>globalThis.hacked" in tab.headline
    for form in ("svg", "film", "perfetto", "csv"):
        file = saved(tab, form, tmp_path)
        if form in ("svg", "film"):
            assert any("<script>globalThis" in word for word in words_of(file))
            assert b"<script" not in file and b"<img" not in file


def test_a_log_that_was_cut_off_says_so_instead_of_nothing(open_page):
    html = to_html(golden("s10"))
    start = html.index('id="kvlab-log">') + len('id="kvlab-log">')
    end = html.index("</script>", start)
    cut = html[: start + (end - start) // 2 // 4 * 4] + html[end:]
    tab = open_page(cut)
    assert "cut off or damaged" in tab.page.inner_text("[role=alert]")


def test_a_fault_of_the_player_is_not_blamed_on_the_log(open_page):
    whole_log = player_log(golden("s10"), extra={"looks": None})
    tab = open_page(page_of(whole_log, title="fault"))
    said = tab.page.inner_text("[role=alert]")
    assert "fault of its own" in said and "null" in said


def test_a_part_of_a_run_says_that_it_is_one(open_page):
    tab = open_page(to_html(golden("s10"), length=20, lang="en"))
    assert "The first 20 of 105 events" in tab.page.inner_text("#kvlab .note")


def test_a_file_that_is_damaged_behind_the_run_is_told(open_page):
    tab = open_page(to_html(golden("s10"), cut="run.jsonl:9: <b>ends", lang="en"))
    assert "damaged behind this run: run.jsonl:9: <b>ends" in tab.page.inner_text(
        "#kvlab .note"
    )


def test_an_engine_fault_ends_the_run_and_is_told(tmp_path, open_page):
    out = tmp_path / "s25.html"
    source = next(GOLDENS.glob("s25*"))
    subprocess.run(
        [sys.executable, "-m", "kvlab.cli", "play", source, "-o", out, "--lang", "en"],
        check=True, capture_output=True,
    )  # fmt: skip
    tab = open_page(out.read_text("utf-8"))
    assert "dropped while it was being loaded" in tab.page.inner_text("#kvlab .note")
    tab.press("End")
    said = tab.page.inner_text("#kvlab .a2")
    assert "−40" in said and "40 more counted than there are slots" in said


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


def test_a_script_cannot_end_its_own_element():
    assert "</" not in safe(script()).replace("<\\/", "")
    assert page_of(b"KVP1", title="</title><script>").count("<script") == 2


def test_ten_thousand_slots_and_many_nodes_stay_usable(open_page):
    bench = Workbench(name="large", pool_tokens=10_000, host_tokens=20_000)
    for family in range(420):
        start = family * 100
        bench.insert(range(start, start + 12 + family % 9))
        bench.insert([*range(start, start + 8), 10**6 + family])
    tab = open_page(to_html(bench.trace, start=len(bench.trace), lang="en"))
    drawn = tab.js("() => document.querySelectorAll('#kvlab [data-node]').length")
    folded = tab.js("() => document.querySelectorAll('#kvlab [data-fold]').length")
    assert drawn <= 300 and folded > 0
    tab.js("() => document.querySelector('#kvlab [data-fold]').dispatchEvent("
           "new MouseEvent('click', {bubbles: true}))")  # fmt: skip
    assert (
        tab.js("() => document.querySelectorAll('#kvlab [data-node]').length") > drawn
    )
    tab.shoot("large.png")


def test_a_small_l1_above_a_large_l2_is_drawn_and_steps(open_page):
    bench = Workbench(name="small above large", pool_tokens=40, host_tokens=3000)
    bench.insert(range(12))
    tab = open_page(to_html(bench.trace, lang="en"))
    before = tab.headline
    tab.press("ArrowRight")
    assert tab.headline != before


PAINTED = """tier => {
    const all = [...document.querySelectorAll(".p-pool canvas")];
    const canvas = all.filter(each => each.tiers)[1];
    const { y, high } = canvas.tiers[tier];
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const pen = copy.getContext("2d", { willReadFrequently: true });
    pen.drawImage(canvas, 0, 0);
    const dp = devicePixelRatio;
    const { data } = pen.getImageData(70 * dp, y * dp, 300 * dp, high * dp);
    return data.some(x => x);
}"""


def test_a_run_without_l2_shows_none_beside_a_run_with_one(open_page):
    with_l2 = Workbench(name="with", pool_tokens=40, host_tokens=3000)
    without = Workbench(name="without", pool_tokens=40, tree="radix")
    for bench in (with_l2, without):
        bench.insert(range(12))
    tab = open_page(to_html(with_l2.trace, without.trace, lang="en"))
    assert tab.js(PAINTED, 0)
    assert not tab.js(PAINTED, 1)


def test_a_load_names_the_decision_that_it_carries_out(open_page):
    tab = open_page(to_html(golden("s10"), lang="en"))
    at = show(tab, "load")
    chain = tab.page.inner_text("#kvlab .p-why .chain").split()
    trace = golden("s10")
    assert [x for x in chain if x.isalpha() or "_" in x] == [
        "step",
        "load_back",
        "load",
    ]
    links = tab.js("e => kvlab.run.chain(e).map(i => i + 1)", at)
    assert links == [link.step for link in card_links(trace, at)]


def test_every_chain_of_causes_is_pythons(open_page):
    trace = golden("s25")
    tab = open_page(to_html(trace))
    found = tab.js(
        "n => [...Array(n).keys()].map(e => kvlab.run.chain(e).map(i => i + 1))",
        len(trace),
    )
    assert found == [
        [link.step for link in card_links(trace, at)] for at in range(len(trace))
    ]


def test_what_was_typed_stays_when_the_language_changes(open_page):
    tab = open_page(to_html(golden("s10"), lang="en"))
    tab.press("/")
    tab.page.fill("#kvlab .fn", "n3")
    tab.page.click('#kvlab [data-do="lang"][data-to="zh"]')
    assert tab.page.input_value("#kvlab .fn") == "n3"
    assert tab.page.inner_text("#kvlab .panel .go") == "筛选"


def test_an_account_slides_after_a_step_and_never_with_reduced_motion(open_page):
    html = to_html(golden("s10"), lang="en")
    moving = "() => document.querySelector('#kvlab .a1').getAnimations({subtree: true})"
    slides = f"{moving}.length"
    tab = open_page(html)
    tab.press("ArrowRight", "ArrowRight")
    assert tab.js(slides) > 0
    still = open_page(html, reduced_motion="reduce")
    still.press("ArrowRight", "ArrowRight")
    assert still.js(slides) == 0
