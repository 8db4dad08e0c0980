"""Does the player come to the same state from any keyframe, however large the pools?"""

from __future__ import annotations

from pathlib import Path

import pytest
from player_tab import Tab, needs_chromium, open_script

from kvlab import Workbench
from kvlab.views.page import to_html

pytestmark = needs_chromium

ROWS = {
    "one owner after another": "row => 2 + 2 * Math.floor(row / 700)",
    "positions that rise": "row => row % 900",
    "positions that fall": "row => 5000 - (row % 900)",
    "scattered": "row => 1 + row * row * 31 % 1013",
    "nothing": "row => 0",
    "little, then nothing": "row => row < 70000 ? 7 : 0",
}
KEPT = """() => {
    const rows = Int32Array.from({ length: 100_000 }, (_, row) => (NUMBERS)(row));
    const was = rows.slice(), kept = keyframe.keep(rows);
    rows.fill(-1);
    keyframe.restore(rows, kept);
    return [rows.every((value, row) => value === was[row]), kept.bytes] }"""


@pytest.fixture(scope="module")
def keyframe(browser):
    page = open_script(browser, "keyframe")
    yield page
    page.close()


@pytest.mark.parametrize("numbers", ROWS.values(), ids=ROWS)
def test_a_column_is_given_back_as_it_was_kept(keyframe, numbers):
    same, size = keyframe.evaluate(KEPT.replace("NUMBERS", numbers))
    assert same
    assert size == 400_000 if "31" in numbers else size < 5_000


@pytest.fixture(scope="module")
def tab(browser, tmp_path_factory):
    """A page of 12 million rows and some thousand events."""
    bench = Workbench(name="pools", pool_tokens=2_000_000, host_tokens=4_000_000)
    for family in range(200):
        first = 10_000 * family
        bench.insert(range(first, first + 9_000))
        bench.insert(
            [*range(first, first + 4_000), *range(first + 9_000, first + 9_500)]
        )
        bench.ack_write()
    folder: Path = tmp_path_factory.mktemp("page")
    opened = Tab(browser, folder, to_html(bench.trace, lang="en"))
    yield opened
    assert opened.heard == []


def test_pools_of_millions_have_keyframes_in_their_midst(tab):
    count, stretch, frames = tab.js(
        "() => [kvlab.run.count, kvlab.run.stretch, kvlab.run.frames.length]"
    )
    assert frames == -(-count // stretch) > 4


def test_every_keyframe_leads_to_the_state_that_steps_lead_to(tab):
    assert tab.js("""() => {
        const { run } = kvlab, far = [], near = [];
        for (let e = 100; e < run.count; e += 400) {
            run.seek(0);
            while (run.at < e) run.seek(run.at + 1);
            far.push(run.hash());
            run.seek(run.count);
            run.seek(e);
            near.push(run.hash());
        }
        return far.every((hash, i) => hash === near[i]) }""")


def test_of_keyframes_that_take_too_much_every_second_goes(tab):
    """A pool that holds no two slots of one owner side by side."""
    assert tab.js("""() => {
        const Run = kvlab.run.constructor, { log } = kvlab;
        const bytes = run => run.frames.flat().reduce((sum, one) => sum + one.bytes, 0);
        const { columns } = kvlab.run, slice = Int32Array.prototype.slice;
        Int32Array.prototype.slice = function () {
            return Object.defineProperty(slice.apply(this, arguments), "byteLength",
                                         { value: 250_000 }) };
        const run = new Run({ ...log, col: { ...log.col } });
        Int32Array.prototype.slice = slice;
        const found = [];
        for (let e = 50; e < run.count; e += 300)
            found.push(run.seek(e).hash() === kvlab.run.seek(e).hash());
        return bytes(run) <= 96e6 && run.stretch >= 2 * kvlab.run.stretch
            && run.frames.length === Math.ceil(run.count / run.stretch)
            && found.every(Boolean) }""")
