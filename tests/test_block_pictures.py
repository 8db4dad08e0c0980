"""Does a page of vLLM's blocks draw many of them, and save what it shows?"""

from __future__ import annotations

from pathlib import Path

import pytest
from player_tab import Tab, needs_chromium, saved, words_of

from kvlab.record import block_events as be
from kvlab.record import events as ev
from kvlab.record.block_replay import block_state_at
from kvlab.run.block_run import load_blocks, run_scenario
from kvlab.run.block_script import read_scenario
from kvlab.views.page import to_html

pytestmark = needs_chromium
FOLDER = Path(__file__).parent / "goldens" / "vllm"
BLOCKS = 3000
LOOKS = """() => {
    const {shown} = kvlab.panes[0].pool.parts.m1.layers[0];
    const names = Object.keys(kvlab.log.looks);
    return Array.from(shown.codes, code => names[code]) }"""
"""What the canvas shows of every block, the first of which is 1."""
TABLES = "document.querySelector('.tables')"
RIGHT = "one.getBoundingClientRect().right"


def requests(*names: str) -> list[dict[str, object]]:
    return [
        {"id": name, "prompt": list(range(k, k + 400)), "out": 3}
        for k, name in enumerate(names)
    ]


def run_of(blocks: int, *names: str, **config: object):
    config |= {"num_gpu_blocks": blocks + 1, "block_size": 4}
    scenario = {"mode": "sched", "config": config, "requests": requests(*names)}
    return run_scenario(read_scenario("many", scenario))


@pytest.fixture(scope="module")
def many():
    return run_of(BLOCKS, "a", "b", "c")


@pytest.fixture(scope="module")
def tab(browser, many, tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    opened = Tab(browser, folder, to_html(many, lang="en"))
    yield opened
    assert opened.heard == []


def look(tier, block: int) -> str:
    if tier.ref_cnt.get(block):
        return "used"
    return "evictable" if block in tier.names else "available"


def test_every_block_of_many_is_drawn_as_what_it_is(tab, many):
    for step in range(0, len(many) + 1, 23):
        tab.js("step => kvlab.show(step)", step)
        tier = block_state_at(many, step).tiers["L1"]
        assert tab.js(LOOKS) == [look(tier, at) for at in range(1, BLOCKS + 1)]


def test_a_step_draws_the_pixels_that_a_fresh_page_draws(tab, many):
    pixels = "() => kvlab.panes[0].pool.parts.m1.layers[0].toDataURL()"
    tab.js("() => kvlab.show(0)")
    for _ in range(40):
        tab.press("ArrowRight")
    stepped = tab.js(pixels)
    tab.press("l", "l")
    assert tab.js(pixels) == stepped
    tab.js("() => kvlab.show(0)")
    assert tab.js(pixels) != stepped


def test_a_long_train_shows_both_ends_of_the_free_queue(tab, many):
    for step in (0, 60, len(many)):
        tab.js("step => kvlab.show(step)", step)
        free = list(block_state_at(many, step).tiers["L1"].free)
        cars = tab.js("""() => [...document.querySelectorAll('.train [data-block]')]
            .map(car => +car.dataset.block)""")
        assert cars == free[:22] + free[-22:]
        assert f"+{len(free) - 44:,}" in tab.page.text_content(".train")


def test_lines_of_requests_come_and_go_with_them(tab, many):
    tab.js("() => kvlab.show(0)")
    for _ in range(0, len(many), 7):
        tab.js("() => kvlab.show(kvlab.run.at + 7)")
        requests = block_state_at(many, tab.js("() => kvlab.run.at")).requests
        there = {name for name, one in requests.items() if one.stage != "finished"}
        assert set(tab.js("""() => [...document.querySelectorAll('.tables .chip bdi')]
            .map(name => name.textContent)""")) == there  # fmt: skip


def test_every_block_of_a_table_is_in_sight_in_its_pane(tab):
    tab.js("() => kvlab.show(60)")
    parts = "'.tables .held svg, .tables .chip'"
    rights = f"() => [...document.querySelectorAll({parts})].map(one => {RIGHT})"
    assert max(tab.js(rights)) <= tab.js(
        f"() => {{ const one = {TABLES}; return {RIGHT} }}"
    )
    assert tab.js(f"() => {TABLES}.querySelectorAll('.held g').length") == 2 * 24


def test_a_step_is_saved_as_a_picture_that_says_what_the_page_says(open_page, tmp_path):
    golden = load_blocks(FOLDER / "t06_preempt_last_running.json")
    tab = open_page(to_html(golden, lang="en", start=99))
    words = words_of(saved(tab, "svg", tmp_path))
    assert {tab.headline, "a", "17 / 17", "L1", "= 10 ✓"} <= set(words)
    assert "0 / 13 · preempted 1×" in words
    assert saved(tab, "png", tmp_path).startswith(b"\x89PNG")


def test_many_blocks_are_saved_as_their_pixels(tab, tmp_path):
    svg = saved(tab, "svg", tmp_path)
    assert b"data:image/png;base64," in svg and words_of(svg)


NAMED = "e => kvlab.run.named(e)"


def test_a_film_of_blocks_shows_each_of_its_steps(open_page, tmp_path):
    golden = load_blocks(FOLDER / "t06_preempt_last_running.json")
    tab = open_page(to_html(golden, lang="en"))
    tab.page.click("#kvlab [data-do=panel][data-to=export]")
    tab.page.fill("#kvlab .film-from", "90")
    tab.page.fill("#kvlab .film-to", "92")
    words = words_of(saved(tab, "film", tmp_path))
    steps = [word for word in words if " · event 9" in word]
    for step, word in zip((90, 91, 92), steps, strict=True):
        assert word.startswith("t06_preempt_last_running · vLLM 0.33.0")
        assert word.endswith(f"event {step} · {tab.js(NAMED, step - 1)}")


def test_a_hostile_name_is_text_in_a_picture_of_blocks(open_page, tmp_path):
    run = run_of(200, "<script>globalThis.hacked=1</script>")
    tab = open_page(to_html(run, lang="en", start=len(run) // 2))
    svg = saved(tab, "svg", tmp_path)
    assert b"<script" not in svg
    assert any("<script>" in word for word in words_of(svg))
    assert tab.js("() => globalThis.hacked") is None


def test_a_wide_pane_has_the_train_beside_the_map(open_page):
    wide = {"width": 1900, "height": 1000}
    tab = open_page(to_html(run_of(100, "a"), run_of(100, "b")), viewport=wide)
    for pane in (".p-pool:not(.b)", ".p-pool.b"):
        blocks, queue = (
            tab.page.query_selector(f"{pane} .{part}").bounding_box()
            for part in ("blocks", "queue")
        )
        assert queue["x"] > blocks["x"] + 500
        assert queue["y"] == blocks["y"]


def test_a_request_out_of_sight_is_not_drawn_but_there(browser, tmp_path):
    names = [f"r{n}" for n in range(80)]
    run = run_of(BLOCKS, *names)
    finish = next(i for i, e in enumerate(run.events) if isinstance(e, ev.Finish))
    tab = Tab(browser, tmp_path, to_html(run, lang="en", start=finish))
    last = "[...document.querySelectorAll('.tables .line')].at(-1)"
    seen = f"{last}.firstChild.checkVisibility({{contentVisibilityAuto: true}})"
    tab.page.wait_for_function(f"() => !{seen}")
    assert "0 / 400" in tab.js(f"() => {last}.textContent")
    tab.js(f"() => {last}.scrollIntoView()")
    tab.page.wait_for_function(f"() => {seen}")


def test_what_a_step_leaves_as_it_was_stays_the_same_element(tab, many):
    """A car that moves up, the table of a request that decodes."""
    takes = [i for i, e in enumerate(many.events) if isinstance(e, be.Take)]
    take = takes[-1]
    tab.js("e => kvlab.show(e)", take)
    cars = "() => [...document.querySelectorAll('.train [data-block]')]"
    tab.js(f"() => {{ window.cars = new Set(({cars})()) }}")
    tab.press("ArrowRight")
    taken = len(many.events[take].blocks)
    assert tab.js(f"() => ({cars})().filter(car => cars.has(car)).length") >= 44 - taken
    output = next(i for i, e in enumerate(many.events) if isinstance(e, ev.Output))
    tab.js("e => kvlab.show(e)", output)
    cells = "() => [...document.querySelectorAll('.tables .held g')]"
    tab.js(f"() => {{ window.cells = ({cells})(), window.told = {TABLES}.innerText }}")
    tab.press("ArrowRight")
    assert tab.js(f"() => told !== {TABLES}.innerText")
    assert tab.js(f"() => ({cells})().every((cell, i) => cell === cells[i])")
