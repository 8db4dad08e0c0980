"""Do the cards of the page say what a decision weighed and what a change moved?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from played import golden
from player_tab import Tab, needs_chromium, show
from test_card_svg import timed

from kvlab.record import events as ev
from kvlab.record.replay import Replay
from kvlab.run.script import read_script
from kvlab.run.whole import run_whole
from kvlab.views.first_token import FirstTokens
from kvlab.views.frame import frame_of
from kvlab.views.meanings import MEANINGS
from kvlab.views.page import to_html
from kvlab.views.sentences import describe
from kvlab.views.terms import terms_of

pytestmark = needs_chromium
GOLDENS = Path(__file__).parent / "goldens" / "sglang23"


@pytest.fixture(scope="module")
def tabs(browser, tmp_path_factory):
    opened = {}
    for name in ("s10", "s11", "s25"):
        goldens = GOLDENS.with_name("sglang") if name == "s25" else GOLDENS
        run, fault = run_whole(read_script(next(goldens.glob(f"{name}*"))))
        how = (
            {"ended": fault, "about": ("<b>a load & its room", "取回")} if fault else {}
        )
        folder = tmp_path_factory.mktemp(name)
        opened[name] = Tab(browser, folder, to_html(run, lang="en", **how))
    yield opened
    assert all(tab.heard == [] for tab in opened.values())


def card(tab: Tab) -> str:
    return " ".join(tab.page.inner_text("#kvlab .p-why").split())


def test_a_victim_says_what_its_key_is_and_who_comes_next(tabs):
    show(tabs["s10"], "victim demote")
    said = card(tabs["s10"])
    assert "key (8) key = (last access): the longest unused goes first" in said
    assert "next in line n2 (7) (its parent, a leaf once it is gone)" in said


def test_what_is_missing_is_short_where_so_much_more_would_do(tabs):
    show(tabs["s10"], "evicted less")
    tabs["s10"].page.wait_for_function(
        "() => document.querySelector('.p-why').textContent.includes('42 short')"
    )


def test_a_bar_of_one_part_says_its_number_once(tabs):
    show(tabs["s10"], "evicted less")
    bars = "#kvlab .p-why svg:has(.gap)"
    tabs["s10"].page.wait_for_selector(bars)
    told = tabs["s10"].page.query_selector_all(f"{bars} text")
    words = ["asked", "64", "freed", "22", "42 short"]
    assert [one.text_content() for one in told] == words


def test_a_walk_that_gives_each_node_its_own_time_says_so(tabs):
    show(tabs["s25"], "touch each")
    said = "it gets access time 5, each node above it an earlier one"
    assert said in tabs["s25"].headline


def test_an_eviction_that_left_nothing_cached_says_so(tabs):
    show(tabs["s10"], "evicted less")
    assert "nothing cached is left there" in card(tabs["s10"])


def test_a_node_dropped_before_its_load_is_said_where_it_goes_and_after(tabs):
    show(tabs["s25"], "victim evict_host")
    assert "n1 is what event 25 is about to load" in card(tabs["s25"])
    show(tabs["s25"], "load")
    assert "n1 is in the tree no more: event 31 dropped it" in card(tabs["s25"])


def test_whose_slots_are_read_or_freed_by_mistake_is_said(tabs):
    tab = tabs["s25"]
    show(tab, "load")
    assert "n2 has L2 slots 0-9 by now, 10 of them" in card(tab)
    assert "L2 slots 10-19 are free by now" in card(tab)
    tab.js("() => kvlab.show(60)")
    assert "L2 gets 20 slots back that it had got back before" in tab.headline
    assert "n2 loses L2 slots 0-9, 10 of them" in card(tab)
    tab.press("l")
    assert "n2 失去 L2 槽位 0-9（10 个）" in card(tab)
    tab.press("l")


def test_a_load_of_a_dropped_node_is_a_ribbon_from_the_slots_that_it_reads(tabs):
    tab = tabs["s25"]
    show(tab, "load")
    found = tab.js("""() => {
        const pane = [...kvlab.root.querySelectorAll("*")].find((one) => one.layers);
        return pane.layers[0].strands.map(({ node, up, ay, ax }) => [node, up, ay, ax]);
    }""")
    assert {(node, up) for node, up, *_ in found} == {(1, True)}
    xs = [x for *_, y, x in found if y == found[0][2]]
    assert len(found) == 2 and xs == sorted(xs), "slots 0-19, for two stretches of L1"


def test_a_card_says_of_a_dropped_node_what_is_so(tabs):
    tab = tabs["s25"]
    for at, said, unsaid in (
        (44, "serves nobody, until it is evicted", "as if it had never left"),
        (53, "The engine counts on a copy on L2 that is gone", "L2 has it copy"),
        (54, "copies nothing. L2 has not", "L2 has the bytes already"),
        (59, "its slots are freed a second time", "bring it back to L1"),
    ):
        tab.js("(at) => kvlab.show(at)", at)
        assert said in card(tab)
        assert unsaid not in card(tab)
        assert "has it a copy on L2?" not in card(tab)


def test_a_backup_of_write_back_speaks_of_no_lock(tabs):
    tab = tabs["s25"]
    for at in (10, 35):
        tab.js("(at) => kvlab.show(at)", at)
        assert "It takes no lock" in card(tab)
        assert "until then the node is locked" not in card(tab)


def test_locks_of_an_admission_and_its_load_say_who_takes_them(open_page):
    tab = open_page(to_html(golden("x11", "sglang23"), lang="en"))
    for kind in ("lock", "hostlock"):
        at = tab.js(
            """(kind) => { const { run } = kvlab;
            return [...Array(run.count).keys()].filter((e) => run.kind(e) === kind
                && run.kind(run.behind(e)) === "candidate"); }""",
            kind,
        )
        assert len(at) > 1
        tab.js("(at) => kvlab.show(at + 1)", at[-1])
        assert MEANINGS[f"{kind} candidate"].en in card(tab)


def test_the_last_event_says_that_the_engine_stops_there(tabs):
    tabs["s25"].js("() => kvlab.show(kvlab.run.count - 1)")
    assert "engine stops" not in tabs["s25"].headline
    tabs["s25"].js("() => kvlab.show(kvlab.run.count)")
    assert tabs["s25"].headline.endswith("an assertion of its own fails")


def test_a_victim_with_a_copy_is_not_asked_for_the_policy(tabs):
    show(tabs["s10"], "victim demote")
    said = card(tabs["s10"])
    assert "has it a copy on L2? ✓ yes" in said
    assert "is the policy write_back? (not asked: L2 has a copy)" in said


def test_who_comes_next_is_numbered_in_the_tree(tabs):
    show(tabs["s10"], "victim demote")
    numbers = tabs["s10"].js(
        """() => [...kvlab.root.querySelectorAll(".p-tree circle + text")]
            .map(at => at.closest("[data-node]").dataset.node + ":" + at.textContent)"""
    )
    assert numbers == ["2:2", "3:1"]


def test_a_lock_shows_its_count_and_what_is_no_longer_evictable(tabs):
    tabs["s10"].js("() => kvlab.show(68)")
    said = card(tabs["s10"])
    assert "n3 lock_ref 0 → 1 L1 used 0 → 22 L1 evictable 22 → 0" in said


def test_a_change_says_what_it_means_before_what_led_to_it(tabs):
    show(tabs["s10"], "demote")
    said = card(tabs["s10"])
    assert said.index("L2 has the bytes already") < said.index("What event 44 decided")


def test_what_a_change_means_goes_by_what_led_to_it_in_both_languages(tabs):
    tab, words = tabs["s10"], MEANINGS["free insert"]
    show(tab, "free")
    assert words.en in card(tab)
    tab.press("l")
    assert words.zh in card(tab)
    tab.press("l")


def test_a_test_behind_one_that_failed_was_not_reached(tabs):
    show(tabs["s11"], "loadback below_threshold")
    said = card(tabs["s11"])
    assert said.index("9 ≥ 10 ✗ false") < said.index("not reached")
    assert said.index("not reached") < said.index("is there room in L1?")


def test_before_the_first_event_the_page_says_how_to_read_it(tabs):
    tabs["s10"].js("() => kvlab.show(0)")
    said = card(tabs["s10"])
    assert "evictable cached, needed by nobody" in said
    assert "Ctrl → next decision or loss" in said


def test_what_a_script_is_about_is_told_unless_it_is_to_be_predicted(tabs):
    tab = tabs["s25"]
    tab.js("() => kvlab.show(0)")
    assert "<b>a load & its room" in card(tab)
    tab.press("l")
    assert card(tab).startswith("怎么看这个页面 取回")
    tab.press("l")
    tab.js("() => { kvlab.setMode('predict'); kvlab.show(0) }")
    assert "a load & its room" not in card(tab)
    tab.js("() => kvlab.setMode('watch')")


def test_a_node_that_left_the_tree_says_so_on_its_strip(tabs):
    show(tabs["s25"], "load")
    told = "() => kvlab.root.querySelector('.p-tree [data-node=\"1\"]').textContent"
    assert "no longer in the tree" in tabs["s25"].js(told)


CUT = """() => [...document.querySelectorAll("#kvlab .p-why")].flatMap(pane => {
    const { bottom } = pane.getBoundingClientRect();
    const end = Math.min(bottom, innerHeight - 44);  // the controls lie there
    return [...pane.querySelectorAll(".test")].map(
        test => test.getBoundingClientRect().bottom > end) })"""
"""Of each test of the cards: whether it lies outside what is seen without scrolling."""
SCROLLS = """() => [...document.querySelectorAll("#kvlab .p-why")].map(
    pane => pane.scrollHeight > pane.clientHeight)"""


@pytest.mark.parametrize(("wide", "lang"), [(1280, "en"), (1280, "zh"), (1000, "en")])
@pytest.mark.parametrize("name", ["s10", "s25", "s28", "x08"])
def test_two_cards_show_every_test_and_fit_where_the_page_is_wide(
    open_page, name, wide, lang
):
    runs = (golden(name), golden(name, "sglang23"))
    size = {"width": wide, "height": 800}
    tab = open_page(to_html(*runs, lang=lang), viewport=size)
    cut = tab.js(CUT)
    assert cut and not any(cut)
    assert wide < 1100 or not any(tab.js(SCROLLS))
    tab.shoot(f"two_cards_{name}_{wide}_{lang}.png")


@pytest.mark.parametrize(
    ("lang", "next_untold", "rest_untold"),
    [
        ("en", "who is next in line is not given: in a run of more than 9 events",
         "what keeps the rest is not given"),
        ("zh", "未给出接下来是谁：事件超过 9 个时", "未给出其余为何留下"),
    ],
)  # fmt: skip
def test_a_long_run_says_what_is_not_given_and_still_tells_its_faults(
    browser, tmp_path, monkeypatch, lang, next_untold, rest_untold
):
    monkeypatch.setattr("kvlab.views.log.READ", 9)
    early = Tab(browser, tmp_path, to_html(golden("s25"), lang=lang))
    show(early, "victim evict_host")
    assert "25" in card(early) and early.js("() => kvlab.log.behind[kvlab.run.at - 1]")
    short = Tab(browser, tmp_path, to_html(golden("s10", "sglang23"), lang=lang))
    show(short, "victim demote")
    assert next_untold in card(short)
    show(short, "evicted less")
    assert rest_untold not in card(short)
    monkeypatch.setattr("kvlab.views.log.LOOKS", 0)
    none = Tab(browser, tmp_path, to_html(golden("s10", "sglang23"), lang=lang))
    show(none, "evicted less")
    assert rest_untold in card(none)


def test_a_short_run_says_of_no_line_that_it_is_not_given(tabs):
    show(tabs["s10"], "victim demote")
    assert "not given" not in card(tabs["s10"])


SIDES = """() => { const run = kvlab.run, found = [];
    for (let e = 0; e < run.count; e++) {
        if (!run.variant(e).match(/^admit( no_token)?$/)) continue;
        kvlab.show(e + 1);
        const svg = document.querySelector(".p-why .sec svg");
        const all = [...svg.querySelectorAll("rect[rx]")].map(r => ["y", "height",
            "width"].map(name => +r.getAttribute(name)));
        const long = [0, 24].map(y => all.filter(r => r[0] >= y && r[0] < y + 2)
            .reduce((sum, r) => sum + r[2] + 1, 0));
        const told = [...svg.querySelectorAll("[font-weight='700']")];
        found.push([long, told.map(t => t.textContent), run.terms(e).promised,
            all.some(r => r[1] < 12)]);
    }
    return found }"""


def test_room_and_need_are_drawn_as_long_as_their_numbers(open_page):
    tab = open_page(to_html(timed(), lang="en"))
    sides = tab.js(SIDES)
    for long, told, promised, low in sides:
        need, room = (float(n.replace(",", "").replace("−", "-")) for n in told)
        left = max(0, room)
        within = 2 * (need + left)  # two pixels of either side
        assert long[0] * left == pytest.approx(long[1] * need, abs=within)
        assert low == (promised > 0)
    assert len(sides) > 10
    assert any(re.fullmatch(r"\d,\d{3}\.\d", room) for _, (_, room), *_ in sides)


@pytest.mark.parametrize("name", ["s29", "x11", "s31"])
def test_the_page_says_of_cuts_and_splits_what_the_sentences_say(open_page, name):
    trace = golden(name, "sglang23")
    replay = Replay(trace)
    kinds = (ev.Admit, ev.Split, ev.Prefill)
    steps = [n for n, e in enumerate(trace.events, 1) if isinstance(e, kinds)][:80]
    tab = open_page(to_html(trace, lang="en"))
    laters = 0
    for step in steps:
        tab.js(f"() => kvlab.show({step})")
        frame = frame_of(replay, step)
        assert tab.headline == describe(frame)
        terms = tab.js("() => kvlab.run.terms(kvlab.run.at - 1)")
        if isinstance(frame.event, ev.Prefill):
            assert terms["later"] == terms_of(frame.event, frame.before)["later"]
            laters += terms["later"] is not None
    assert laters


def test_the_end_of_a_request_lists_the_slowest_so_far_and_none_to_come(open_page):
    trace = timed()
    read, ends = FirstTokens(), []
    for step, event in enumerate(trace.events, 1):
        read.feed(event)
        if isinstance(event, ev.Finish):
            ends.append((sum(read.parts[event.request]), step))
    tab = open_page(to_html(trace, lang="en"))
    links = """() => [...document.querySelectorAll(".p-why .slowest button")].map(
        button => +button.dataset.to)"""
    for n in (1, 3, len(ends)):
        tab.js(f"() => kvlab.show({ends[n - 1][1]})")
        slowest = sorted(ends[:n], key=lambda end: -end[0])[:5]
        assert tab.js(links) == [step for _, step in slowest]
