"""Are copies seen to move in the order of their chain, and does nothing wait for it?"""

from __future__ import annotations

import random
import re
from itertools import combinations

import pytest
from played import golden
from player_tab import Tab, needs_chromium, open_script

from kvlab import Workbench
from kvlab.views.page import to_html

pytestmark = needs_chromium
LOAD, DEMOTE, LOADED = 66, 45, 70  # events of s10: n2 loads, n3 is demoted, all arrive
SHORT = 84  # an eviction of s10 that frees too little
FLYING = """() => kvlab.flying.map(({moving, part}) => {
    const {delay, duration} = moving.effect.getTiming();
    return {delay, end: delay + duration, tree: !!part.closest(".p-tree"),
            node: +(part.closest("[data-node]") ?? part.parentNode.querySelector(
                "[data-node]"))?.dataset.node};
})"""


@pytest.fixture(scope="module")
def tab(browser, tmp_path_factory):
    run = golden("s10", "sglang23")
    opened = Tab(browser, tmp_path_factory.mktemp("page"), to_html(run, lang="en"))
    yield opened
    assert opened.heard == []


def step_to(tab: Tab, event: int) -> list[dict[str, float]]:
    """Come to an event by one key from the event before it; return what flies."""
    return pressed(tab, event - 1, "ArrowRight")


def pressed(tab: Tab, at: int, *keys: str) -> list[dict[str, float]]:
    """Press keys at a moment; return what flies at once, however slow the machine."""
    return tab.js(
        f"""([at, keys]) => {{
            kvlab.show(at);
            for (const key of keys)
                kvlab.root.dispatchEvent(new KeyboardEvent("keydown", {{
                    key: key.split("+").pop(), ctrlKey: key.startsWith("Control+") }}));
            return ({FLYING})();
        }}""",
        [at, keys],
    )


@pytest.mark.parametrize("event", [LOAD, DEMOTE, LOADED])
def test_what_moves_has_come_to_rest_in_a_quarter_of_a_second(tab, event):
    flying = step_to(tab, event)
    assert flying
    assert max(one["end"] for one in flying) <= 250


def test_a_chain_arrives_root_first(tab):
    decks = [one for one in step_to(tab, LOADED) if one["tree"]]
    assert [one["node"] for one in sorted(decks, key=lambda x: x["delay"])] == [1, 2, 3]
    assert len({one["delay"] for one in decks}) == 3


def test_a_jump_over_a_whole_chain_shows_its_nodes_one_after_the_other(tab):
    decks = [one for one in pressed(tab, 62, "Control+ArrowRight") if one["tree"]]
    assert tab.js("() => kvlab.run.kind(kvlab.run.at - 1)") == "step"
    assert [one["node"] for one in decks] == [1, 2, 3]


def test_a_copy_flies_from_its_slots_on_l2_to_its_slots_on_l1(tab):
    step_to(tab, LOAD)
    moves = tab.js(
        """() => kvlab.flying.flatMap(({moving}) => moving.effect.getKeyframes()
            .map(frame => frame.transform).filter(x => x?.startsWith("translate")))"""
    )
    x, y = (float(n) for n in moves[0].split(")")[0][10:].replace("px", "").split(","))
    assert x < 0 < y  # from the left, and from below


def test_the_decks_of_a_demoted_node_drain(tab):
    step_to(tab, DEMOTE)
    frames = tab.js(
        """() => kvlab.flying.map(
            ({moving}) => moving.effect.getKeyframes()[1].transform)"""
    )
    assert set(frames) == {"scaleY(0)"}


def test_what_is_drawn_below_is_the_moment_at_once(tab):
    shot = """() => [kvlab.root.querySelector(".slots").toDataURL(),
        kvlab.root.querySelector("h2").textContent]"""
    step_to(tab, LOAD)
    moving = tab.js(shot)
    tab.js("at => { kvlab.show(at - 9); kvlab.show(at) }", LOAD)
    assert moving == tab.js(shot)


def test_the_next_key_ends_all_motion(tab):
    assert pressed(tab, LOADED - 1, "ArrowRight", "ArrowRight") == []  # an unlock
    assert tab.js("() => kvlab.root.querySelectorAll('.fly').length") == 0


def test_who_steps_on_before_all_is_at_rest_sees_no_motion(tab):
    assert step_to(tab, LOAD)
    assert pressed(tab, LOAD - 2, "ArrowRight", "ArrowRight") == []
    tab.js("at => kvlab.show(at)", LOAD - 2)
    for _ in range(2):
        tab.page.wait_for_timeout(300)
        tab.press("ArrowRight")
    assert tab.js("() => kvlab.flying.length")


GROWING = """async ([at, steps]) => {
    kvlab.show(at);
    for (let i = 0; i < steps; i++) kvlab.root.dispatchEvent(
        new KeyboardEvent("keydown", {key: "ArrowRight"}));
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    const gap = kvlab.root.querySelector(".p-why .gap");
    return [!!gap, gap.getAnimations().length];
}"""
"""Whether the card of the moment marks what is short, and in how many motions."""


def test_what_is_short_grows_in_its_card_but_not_in_haste(tab):
    assert tab.js(GROWING, [SHORT - 1, 1]) == [True, 1]
    assert tab.js(GROWING, [SHORT - 2, 2]) == [True, 0]
    tab.press("m")
    assert tab.js(GROWING, [SHORT - 1, 1]) == [True, 0]
    tab.press("m")


def test_nothing_moves_backwards(tab):
    assert pressed(tab, LOADED, "ArrowLeft") == []


def test_without_motion_nothing_moves(tab):
    tab.press("m")
    assert step_to(tab, LOAD) == []
    tab.press("m")


def test_the_tree_numbers_a_chain_up_to_the_moment(tab):
    numbers = """() => [...kvlab.root.querySelectorAll(".p-tree [data-node]")].map(
        g => [+g.dataset.node, g.querySelector("circle + text")?.textContent])"""
    tab.js("at => kvlab.show(at)", LOAD)
    assert tab.js(numbers) == [[1, "1"], [2, "2"], [3, None]]
    tab.js("() => kvlab.show(48)")  # n2 is the second victim
    assert tab.js(numbers) == [[1, None], [2, "2"], [3, "1"]]


# --- ribbons


@pytest.fixture(scope="module")
def bundled(browser):
    page = open_script(browser, "bundle")
    yield lambda strands, most: page.evaluate(
        "([strands, most]) => bundle.bundle(strands, most)", [strands, most]
    )
    page.close()


def strand(node: int, ax: float, bx: float) -> dict[str, float | bool]:
    return {"node": node, "ax": ax, "ay": 90, "bx": bx, "by": 40, "w": 2, "up": True}


def test_few_strands_stay_as_they_are(bundled):
    strands = [strand(1, 10 * i, 10 * i) for i in range(24)]
    assert [one["pieces"] for one in bundled(strands, 24)] == [1] * 24


def test_no_piece_of_many_is_left_out(bundled):
    strands = [strand(i % 30, 4 * i, 4 * (97 * i % 300)) for i in range(300)]
    ribbons = bundled(strands, 24)
    assert len(ribbons) <= 24
    assert sum(one["pieces"] for one in ribbons) == 300


def test_a_ribbon_covers_the_strands_it_stands_for(bundled):
    strands = [strand(1, 3 * i, 500 - 3 * i) for i in range(40)]
    [ribbon] = bundled(strands, 1)
    assert (ribbon["ax"], ribbon["aw"]) == (0, 119)
    assert (ribbon["bx"], ribbon["bw"]) == (383, 119)


def test_neighbours_are_joined_before_what_lies_apart(bundled):
    close = [strand(1, 4 * i, 4 * i) for i in range(20)]
    apart = [strand(2, 300 + 60 * i, 300 + 60 * i) for i in range(3)]
    assert sorted(one["pieces"] for one in bundled([*close, *apart], 5)) == [
        1,
        1,
        1,
        20,
    ]


def test_copies_both_ways_are_never_one_ribbon(bundled):
    strands = [{**strand(1, 4 * i, 4 * i), "up": i % 2 == 0} for i in range(60)]
    assert {one["up"] for one in bundled(strands, 1)} == {True, False}


def test_a_scattered_copy_says_how_many_pieces_a_ribbon_holds(browser, tmp_path):
    bench = Workbench(pool_tokens=120, host_tokens=240)
    for first in range(0, 600, 10):
        bench.insert([first, first + 1])
        bench.ack_write()
    for first in range(0, 600, 20):
        bench.match([first, first + 1])
    bench.evict(60)  # every other pair of slots is free now
    bench.insert(range(1000, 1060))
    tab = Tab(browser, tmp_path, to_html(bench.trace, lang="en"))
    drawn = tab.js("() => { kvlab.show(kvlab.run.count); return kvlab.svg() }")
    assert "pieces</text>" in drawn
    tab.shoot("ribbons.png")


def test_counts_of_many_ribbons_do_not_lie_on_each_other(browser, tmp_path):
    bench = Workbench(pool_tokens=10_000, host_tokens=20_000)
    draw = random.Random(7)
    while len(bench.trace) < 1000:
        family = 1000 * draw.randrange(400)
        tail = [draw.randrange(10**6) for _ in range(draw.randrange(16, 64))]
        bench.insert([*range(family, family + draw.randrange(16, 64)), *tail])
        if draw.random() < 0.08:
            bench.ack_write()
    tab = Tab(browser, tmp_path, to_html(bench.trace, lang="en"))
    most = 0
    for step in range(400, 1000, 40):
        drawn = tab.js("at => { kvlab.show(at); return kvlab.svg() }", step)
        counts = re.findall(
            r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>(×\d+)</text>', drawn
        )
        spots = [(float(x), float(y), 6.6 * len(text)) for x, y, text in counts]
        for (x, y, wide), (x1, y1, wide1) in combinations(spots, 2):
            assert abs(y - y1) > 13 or abs(x - x1) >= (wide + wide1) / 2, step
        most = max(most, len(spots))
    assert most >= 8
