"""Does the player colour its pools by what the slots hold?"""

from __future__ import annotations

import pytest
from player_tab import Tab, needs_chromium, show

from kvlab import Workbench
from kvlab.lessons.planted import tell
from kvlab.record.replay import Replay
from kvlab.views.contents import by_contents, contents_lines, contents_of
from kvlab.views.frame import frame_of
from kvlab.views.page import to_html
from kvlab.views.sentences import describe
from kvlab.views.slots import runs

pytestmark = needs_chromium

LOOKS = """tier => { const out = [], run = kvlab.run, rows = run.c[`owner${tier}`];
    const shown = kvlab.panes[0].pool.layers[1].shown[tier - 1];
    const names = Object.keys(kvlab.log.looks);
    return Array.from(shown.codes, code => names[code & 15]) }"""
"""What the canvas shows of every page of a tier."""


@pytest.fixture(scope="module")
def faulty():
    return tell("early unlock").trace


@pytest.fixture(scope="module")
def reused():
    return tell("reuse in flight").trace


@pytest.fixture
def tab(browser, tmp_path, faulty):
    opened = Tab(browser, tmp_path, to_html(faulty, lang="en"))
    yield opened
    opened.page.context.close()
    assert opened.heard == []


def pages(trace, replay, step, tier):
    """Every page's look as Python tells it."""
    frame = frame_of(replay, step)
    found = by_contents(
        runs(frame, tier), tier, contents_of(trace, step), trace.header.config.page_size
    )
    looks = [run.state for run in found for _ in range(run.length)]
    return ["right" if look in ("lost", "left") else look for look in looks]


def test_every_page_has_the_look_that_python_says_at_every_step(tab, faulty):
    replay = Replay(faulty)
    for step in range(len(faulty) + 1):
        tab.js("step => kvlab.show(step)", step)
        for number, tier in enumerate(("L1", "L2"), 1):
            seen = ["right" if look in ("lost", "left") else look
                    for look in tab.js(LOOKS, number)]  # fmt: skip
            assert seen == pages(faulty, replay, step, tier), (step, tier)


def test_wrong_slots_are_told_with_expected_and_found(tab, faulty):
    step = show(tab, "wrong") + 1
    said = tab.page.inner_text(".p-pool .c")
    assert contents_lines(contents_of(faulty, step))[1] in said
    assert "! L2 slot 0" in said
    label = tab.page.get_attribute(".p-pool .slots", "aria-label")
    assert "holds 115 (1 token)" in label


def test_a_wrong_slot_under_the_pointer_is_told(tab, faulty):
    show(tab, "wrong")
    box = tab.page.locator(".p-pool .slots").bounding_box()
    grid = tab.js("() => kvlab.grid")
    top = box["y"] + grid["tiers"][1]["y"] + 8
    tab.page.mouse.move(box["x"] + 62, top)
    title = tab.page.get_attribute(".p-pool .slots", "title")
    assert title.startswith("L2 slot 0, n1: should end 102 (1 token)")


def test_the_key_c_and_the_button_change_the_colouring(tab):
    show(tab, "wrong")
    assert "wrong" in tab.js(LOOKS, 2)
    tab.press("c")
    assert "wrong" not in tab.js(LOOKS, 2)
    tab.page.click("text=colour by contents")
    assert "wrong" in tab.js(LOOKS, 2)


def test_a_load_that_comes_home_to_nobody_gives_no_node_a_copy(
    browser, tmp_path, reused
):
    opened = Tab(browser, tmp_path, to_html(reused, lang="en"))
    show(opened, "loaddone")
    assert opened.js("() => kvlab.run.c.l1[1]") == 0
    assert_headlines_agree(opened, reused)
    opened.page.context.close()


def test_the_headline_says_what_python_says(tab, faulty):
    assert_headlines_agree(tab, faulty)


def assert_headlines_agree(opened, trace):
    replay = Replay(trace)
    for lang in ("en", "zh"):
        said = opened.js(
            """lang => { kvlab.lang = lang; const all = [];
                for (let e = 0; e <= kvlab.run.count; e++) {
                    kvlab.run.seek(e); all.push(kvlab.sentence()) }
                return all }""",
            lang,
        )
        steps = range(len(trace) + 1)
        assert said == [describe(frame_of(replay, step), lang) for step in steps]


def test_a_run_without_comparisons_has_no_such_button(browser, tmp_path):
    bench = Workbench(pool_tokens=8, host_tokens=9)
    bench.insert(range(4))
    opened = Tab(browser, tmp_path, to_html(bench.trace, lang="en"))
    opened.press("c")
    assert opened.page.locator('[data-do="colour"]').count() == 0
    assert "right" not in opened.js(LOOKS, 1)
    opened.page.context.close()
    assert opened.heard == []
