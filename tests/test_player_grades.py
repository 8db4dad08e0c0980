"""Do sign, mark, strip and keys of the page agree with the grade of each event?"""

from __future__ import annotations

from pathlib import Path

import pytest
from played import golden
from player_tab import Tab, needs_chromium, show

from kvlab.record.replay import states
from kvlab.run.block_run import load_blocks
from kvlab.run.script import read_script
from kvlab.run.whole import run_whole
from kvlab.views.grades import grade_of
from kvlab.views.page import to_html
from kvlab.views.player_words import UI_WORDS
from kvlab.views.theme import LANGS

pytestmark = needs_chromium
GOLDENS = Path(__file__).parent / "goldens"
CROSS, STROKE, DASHED = "M6 6l8 8", "M10 4.5v7", "stroke-dasharray"
"""What only the sign of a loss, of a refusal, of a harmless shortage has."""


@pytest.fixture(scope="module")
def tabs(browser, tmp_path_factory):
    opened = {}
    for name in ("s25", "s33", "t06"):
        if name == "t06":
            run, fault = load_blocks(next((GOLDENS / "vllm").glob("t06*"))), None
        else:
            path = next((GOLDENS / "sglang").glob(f"{name}*"))
            run, fault = run_whole(read_script(path))
        how = {"ended": fault} if fault else {}
        folder = tmp_path_factory.mktemp(name)
        opened[name] = Tab(browser, folder, to_html(run, lang="en", **how))
    yield opened
    assert all(tab.heard == [] for tab in opened.values())


def signs(tab: Tab, event: int) -> list[str]:
    """Return the signs of the headline and of the card's head."""
    tab.js("at => kvlab.show(at)", event)
    tab.page.wait_for_function("() => kvlab.due == null")
    return [tab.page.inner_html(f"#kvlab {place}") for place in (".glyph", ".p-why .v")]


INK = """([x, y]) => {
    const copy = document.createElement("canvas"), dp = devicePixelRatio;
    const pen = copy.getContext("2d", { willReadFrequently: true });
    pen.fillStyle = "#fff";
    pen.fillRect(0, 0, 1, 1);
    pen.drawImage(kvlab.tl[0], -Math.floor(x * dp), -Math.floor(y * dp));
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3) }"""
PLACES = """() => ({ left: 56, wide: kvlab.wide, from: kvlab.from,
    per: Math.min(Math.max(12, kvlab.run.count),
                  Math.max(24, Math.floor((kvlab.wide - 56) / 9))) })"""
ALERT, WHITE = [213, 94, 0], [255, 255, 255]


def ink(tab: Tab, event: int, dx: float, y: float) -> list[int]:
    """Return the colour of the lanes `dx` pixels beside an event's place."""
    at = tab.js(PLACES)
    step = (at["wide"] - at["left"]) / at["per"]
    return tab.js(INK, [at["left"] + (event - 1 - at["from"] + 0.5) * step + dx, y])


def test_the_sign_of_every_event_is_that_of_its_grade(tabs):
    tab, trace = tabs["s25"], golden("s25")
    told = [grade_of(event, state) for _, event, state in states(trace)]
    told[-1] = "loss"  # the engine stops there
    for event in (14, 25, 30, 31, 33, 41, 44, 53, 54, 59, 60):
        for sign in signs(tab, event):
            assert (CROSS in sign) == (told[event - 1] == "loss"), event
            assert STROKE not in sign
        assert (DASHED in sign) == (event in (14, 33)), event


def test_who_waits_has_another_sign_than_who_is_thrown_back(tabs):
    tab = tabs["s33"]
    for variant, mark in (
        ("decoderoom short", STROKE), ("pickretract", CROSS), ("retract", CROSS),
    ):  # fmt: skip
        signed = signs(tab, show(tab, variant) + 1)
        assert all(mark in sign for sign in signed), variant


def test_the_keys_of_losses_stop_at_each_loss_once_and_at_the_engines_end(tabs):
    tab = tabs["s25"]
    tab.js("() => kvlab.show(0)")
    stops = []
    for _ in range(6):
        tab.press("Control+Shift+ArrowRight")
        stops.append(tab.js("() => kvlab.run.at"))
    assert stops == [30, 41, 44, 53, 59, 60]
    tab.press("Control+Shift+ArrowLeft")
    assert tab.js("() => kvlab.run.at") == 59


def test_the_keys_of_decisions_pass_no_loss(tabs):
    tab = tabs["s25"]
    tab.js("() => kvlab.show(39)")
    tab.press("Control+ArrowRight")
    assert tab.js("() => [kvlab.run.at, kvlab.run.isDecision(40)]") == [41, False]


def test_the_marks_of_the_lanes_are_those_of_the_grades(tabs):
    tab = tabs["s25"]
    tab.js("() => kvlab.show(60)")
    assert ink(tab, 30, -4, 50) == ink(tab, 30, 4, 50) == ALERT  # a decision
    assert ink(tab, 31, -4, 65) == ALERT  # a change
    assert ink(tab, 60, -4, 65) == ALERT  # the engine stops
    assert ink(tab, 30, 0, 50) == WHITE  # the cross
    for y in (47.5, 51.5):
        assert ink(tab, 33, 0, y) == WHITE  # harms nobody: an open diamond
    refused = show(tabs["s33"], "decoderoom short") + 1
    assert ink(tabs["s33"], refused, 0, 52.5) == ALERT  # half a diamond
    assert ink(tabs["s33"], refused, 0, 47.5) == WHITE


def test_far_out_a_loss_goes_through_its_lane_and_a_refusal_has_a_foot(tabs):
    tab = tabs["s33"]
    tab.js("() => kvlab.show(335)")
    for _ in range(6):
        tab.press("-")

    def inks(event: int) -> list[bool]:
        """Return whether the bar of an event is alarming above, at, under its line."""
        at = tab.js("() => [56 + 0.5, kvlab.wide - 56, kvlab.run.count]")
        x = at[0] + int((event - 1) * at[1] / at[2])
        return [tab.js(INK, [x, y]) == ALERT for y in (45.5, 53.5, 56.5)]

    assert tab.js("() => kvlab.span >= kvlab.run.count")
    loss, refusal = (
        show(tab, variant) + 1 for variant in ("pickretract", "decoderoom short")
    )
    decision = show(tab, "decoderoom") + 1
    tab.js("() => kvlab.show(335)")
    assert [inks(event) for event in (loss, refusal, decision)] == [
        [True, True, True], [False, False, True], [False, False, False]
    ]  # fmt: skip
    tab.press("0")


def test_the_strip_hangs_losses_lower_than_refusals(tabs):
    def depth(tab: Tab, event: int) -> int:
        at, n = tab.js(PLACES), tab.js("() => kvlab.run.count")
        wide = at["wide"] - at["left"]
        column = int((event - 0.5) * round(wide) / n)
        return sum(
            tab.js(INK, [at["left"] + column + 0.5, y]) == ALERT for y in range(8, 20)
        )

    losing, short = tabs["s25"], tabs["s33"]
    losing.js("() => kvlab.show(60)")
    assert [depth(losing, event) for event in (14, 30, 31, 60)] == [0, 8, 8, 8]
    refused = show(short, "decoderoom short") + 1
    short.js("() => kvlab.show(0)")
    assert depth(short, refused) == 4


def test_a_preemption_and_an_eviction_of_the_last_copy_are_losses_in_blocks(tabs):
    tab = tabs["t06"]
    for variant in ("pickvictim", "preempt", "forget evicted"):
        assert all(CROSS in sign for sign in signs(tab, show(tab, variant) + 1)), (
            variant
        )
    assert all(STROKE in sign for sign in signs(tab, show(tab, "slots none") + 1))
    assert not any(STROKE in sign for sign in signs(tab, show(tab, "stop") + 1))


@pytest.mark.parametrize("lang", LANGS)
def test_the_panel_of_keys_says_the_rule_beside_the_signs(tabs, lang):
    tab = tabs["t06"]
    if tab.js("() => kvlab.lang") != lang:
        tab.press("l")
    tab.press("?")
    panel = tab.page.inner_text("#kvlab .panel")
    for key in ("grade_lost", "grade_no", "grade_short", "grades", "key_arrows"):
        assert UI_WORDS[key].to(lang) in panel
    drawn = tab.page.inner_html("#kvlab .panel")
    assert all(mark in drawn for mark in (CROSS, STROKE, DASHED))
    tab.press("?")


def test_the_strip_says_what_it_is(tabs):
    """Words stand left of it on two lines, in both languages."""
    tab = tabs["s25"]
    for lang in LANGS:
        if tab.js("() => kvlab.lang") != lang:
            tab.press("l")
        rows = [
            any(
                tab.js(INK, [x + 0.5, y]) != WHITE
                for x in range(2, 50, 2)
                for y in range(top, top + 9, 2)
            )
            for top in (9, 23)
        ]
        assert rows == [True, True]
        assert {*UI_WORDS["all"]} == {"whole run", "整个运行"}
    if tab.js("() => kvlab.lang") != "en":
        tab.press("l")


def test_the_queue_says_how_many_more_are_finished(browser, tmp_path):
    tab = Tab(browser, tmp_path, to_html(golden("s33"), lang="en", start=290))
    finished = tab.page.inner_text("#kvlab .p-queue").split("finished")[1]
    done = tab.js("() => [...kvlab.run.c.stage].filter(x => x > 3).length")
    chips = tab.js(
        "() => kvlab.root.querySelectorAll('.p-queue .chips:last-child .chip').length"
    )
    assert done > chips and tab.js("() => kvlab.run.request(289)") < 0
    assert f"and {done - chips} more" in finished and "+" not in finished
    shown = tab.js(
        """() => [...kvlab.root.querySelectorAll('.p-queue .chips:last-child .chip')]
            .map(chip => +chip.dataset.request)"""
    )
    latest = tab.js("() => kvlab.run.c.stage.findLastIndex(stage => stage > 3)")
    assert shown[-1] == latest


CHIPS = """() => [...document.querySelectorAll("#kvlab .chips")].map(lane => {
    const chips = [...lane.querySelectorAll(".chip")];
    const { right } = lane.getBoundingClientRect();
    const more = /\\d+(?= more)/.exec(lane.innerText)?.[0] ?? 0;
    const cut = [lane, ...lane.querySelectorAll("small")].some(
        at => at.scrollWidth > at.clientWidth + 1);
    const free = right - (lane.lastElementChild?.getBoundingClientRect().right ?? 0);
    const one = chips.at(-1)?.getBoundingClientRect().width ?? 0;
    return [chips.length, +more, cut, free - one - 25]; })"""
"""Of each lane: requests, how many more, whether something is cut, and how much more
room is left than one like the last takes."""


@pytest.mark.parametrize("wide", [1280, 1440])
def test_a_lane_shows_as_many_requests_as_have_room(browser, tmp_path, wide):
    run = load_blocks(next((GOLDENS / "vllm").glob("t06*")))
    size = {"width": wide, "height": 760}
    tab = Tab(browser, tmp_path, to_html(run, lang="en"), viewport=size)
    for at in range(tab.js("() => kvlab.run.count") + 1):
        tab.js("at => kvlab.show(at)", at)
        for lane, (chips, more, cut, room) in enumerate(tab.js(CHIPS)):
            assert not cut, (at, lane)
            most = 2 if lane == 2 else 4
            assert not more or chips == most or room < 0, (at, lane)
