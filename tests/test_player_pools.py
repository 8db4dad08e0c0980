"""Are the pools drawn, small and large, one run and two?"""

from __future__ import annotations

import random

import pytest
from played import golden
from player_tab import needs_chromium, show

from kvlab import Workbench
from kvlab.record.trace import Trace
from kvlab.views.page import to_html

pytestmark = needs_chromium


def test_a_copy_in_flight_and_a_loss_are_seen(open_page):
    tab = open_page(to_html(golden("x08")))
    show(tab, "evicthost")
    assert "lost for good" in tab.headline
    lost = tab.js("() => kvlab.colour.lost")
    assert lost in tab.page.inner_html("#kvlab .p-tree")
    tab.shoot("lost.png")


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


def test_a_click_on_slots_selects_who_has_them(open_page):
    bench = Workbench(name="two", pool_tokens=64, host_tokens=96)
    for start in (0, 100):
        bench.insert(range(start, start + 12))
    tab = open_page(to_html(bench.trace, start=len(bench.trace), lang="en"))
    box = tab.page.locator(".p-pool .slots").bounding_box()
    grid = tab.js("() => kvlab.grid")
    for node, slot in ((1, 3), (2, 15)):
        page = tab.js("([node]) => kvlab.run.places[1].of(2 + 2 * node)[0][0]", [node])
        x = 60 + (page % grid["columns"] + 0.5) * grid["cell"]
        y = grid["tiers"][0]["y"] + 8
        tab.page.mouse.click(box["x"] + x, box["y"] + y)
        assert tab.js("() => kvlab.select.node") == node, slot


def test_an_account_of_millions_fits_its_pane(open_page):
    bench = Workbench(name="large", pool_tokens=3_000_000, host_tokens=6_000_001)
    bench.insert(range(1_500_000))
    bench.insert(range(1_200_000))
    tab = open_page(to_html(bench.trace, start=len(bench.trace), lang="en"))
    for event in range(len(bench.trace) + 1):
        tab.js("at => kvlab.show(at)", event)
        wide = tab.js("""() => [...document.querySelectorAll(".p-pool .acct")].map(
            at => at.lastElementChild.getBoundingClientRect().right
                - at.closest(".pane").getBoundingClientRect().right)""")
        assert max(wide) < 0, event


def test_what_moved_is_never_read_as_a_term_of_a_long_sum(open_page):
    bench = Workbench(name="long", pool_tokens=300_000, host_tokens=900_000)
    bench.insert(range(150_000))
    bench.insert(range(10**6, 10**6 + 120_000))
    bench.ack_write()
    bench.evict(100_000)
    tab = open_page(to_html(bench.trace, lang="en"))
    show(tab, "demote")
    moved = tab.js("""() => [...document.querySelectorAll(".acct.long .d")].map(d => {
        const [n, by] = [d.previousSibling, d].map(at => at.getBoundingClientRect());
        return by.top - n.bottom })""")
    assert len(moved) == 2 and all(below >= -1 for below in moved)


OUTLINED = """() => [
    ...[...document.querySelectorAll(".p-tree .hov")].map(g => `n${g.dataset.node}`),
    ...[...document.querySelectorAll(".acct .hov")].map(term =>
        term.closest(".acct").ariaLabel.slice(0, 2) + " " + term.dataset.state)]"""
POINTED = """() => [0, 1].map(tier => {
    const canvas = document.querySelector(".p-pool .over"), dp = devicePixelRatio;
    const { y, high } = kvlab.grid.tiers[tier];
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const pen = copy.getContext("2d", { willReadFrequently: true });
    pen.fillStyle = kvlab.colour.link;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b] = pen.getImageData(0, 0, 1, 1).data;
    pen.clearRect(0, 0, 1, 1);
    pen.drawImage(canvas, 0, 0);
    const { data } = pen.getImageData(0, (y - 2) * dp, canvas.width, (high + 4) * dp);
    for (let i = 0; i < data.length; i += 4)
        if (data[i] === r && data[i + 1] === g && data[i + 2] === b) return true;
    return false })"""
"""Whether slots of each tier are outlined as pointed at."""


@pytest.mark.parametrize(
    ("tier", "state", "nodes", "slots"),
    [
        (1, "available", [], [True, False]),
        (2, "free", [], [False, True]),
        (1, "used", ["n1"], [True, False]),
        (2, "copy", ["n1"], [False, True]),  # though it is on its way
    ],
)
def test_a_term_that_is_pointed_at_lights_what_it_counts(
    open_page, tier, state, nodes, slots
):
    bench = Workbench(name="one", pool_tokens=40, host_tokens=60)
    bench.insert(range(12))
    tab = open_page(to_html(bench.trace, start=1, lang="en"))
    show(tab, "lock")
    tab.page.hover(f"#kvlab .a{tier} [data-state={state}]")
    assert tab.js(OUTLINED) == [*nodes, f"L{tier} {state}"]
    assert tab.js(POINTED) == slots


def test_neighbours_that_a_term_counts_are_outlined_as_one(open_page):
    bench = Workbench(name="many", pool_tokens=4000, host_tokens=6000)
    for first in range(12):
        bench.insert(range(1000 * first, 1000 * first + 200))
    bench.ack_write()
    tab = open_page(to_html(bench.trace, start=len(bench.trace), lang="en"))
    tab.js("""() => { const { prototype } = CanvasRenderingContext2D;
        const draw = prototype.strokeRect;
        window.dashed = [];
        prototype.strokeRect = function (...box) {
            if (this.getLineDash().length) dashed.push(box);
            draw.apply(this, box); } }""")
    tab.page.hover("#kvlab .a1 [data-state=evictable]")
    tab.page.wait_for_function("() => dashed.length > 0")
    boxes = sorted({tuple(box) for box in tab.js("() => dashed")}, key=lambda b: b[1])
    first, *_, last = boxes
    assert len(boxes) <= 3  # first row, whole rows, last
    rows = (last[1] + last[3] - first[1]) / min(box[3] for box in boxes)
    assert rows > 5


def test_the_outline_of_a_node_leaves_the_line_to_its_parent_out(open_page):
    bench = Workbench(name="fork", pool_tokens=400, host_tokens=600)
    for first in range(12):
        bench.insert([*range(8), *range(100 * first + 50, 100 * first + 60)])
    tab = open_page(to_html(bench.trace, start=len(bench.trace), lang="en"))
    high = tab.js("""() => [...document.querySelectorAll(".p-tree [data-node]")].map(
        g => g.getBoundingClientRect().height)""")
    assert len(high) == 13 and max(high) < 24


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


STEPPED = """() => {
    const key = new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true});
    kvlab.root.dispatchEvent(key);
    const account = document.querySelector("#kvlab .a1");
    return account.getAnimations({subtree: true}).length }"""
"""Take one step; how many parts of L1's account slide then."""


def test_an_account_slides_after_a_step_and_never_with_reduced_motion(open_page):
    html = to_html(golden("s10"), lang="en", start=1)
    assert open_page(html).js(STEPPED) > 0
    assert open_page(html, reduced_motion="reduce").js(STEPPED) == 0


WALK = """([seed, steps]) => {
    const canvases = [...document.querySelectorAll("#kvlab .p-pool canvas")];
    const pixels = () => canvases.map(canvas => canvas.toDataURL());
    const { run } = kvlab, wrong = [];
    let at = 0;
    for (let i = 0; i < steps; i++) {
        seed = (seed * 48271) % 2147483647;
        at = i % 4 ? Math.min(run.count, at + 1) : seed % (run.count + 1);
        kvlab.select = i % 3 ? { node: 1 + seed % 9, request: -1 } : null;
        kvlab.show(at);
        const stepped = pixels();
        kvlab.version++;  // every canvas is drawn anew
        kvlab.show(at);
        if (pixels().some((one, k) => one !== stepped[k])) wrong.push(at);
    }
    return wrong }"""
"""Jump and step about; return the events at which a pool drawn by what changed differs
from the same pool drawn as a whole."""


def crowded(pool: int, host: int) -> Trace:
    """Return a run whose nodes are evicted, copied and lost all the time."""
    bench = Workbench(name="crowded", pool_tokens=pool, host_tokens=host)
    draw = random.Random(3)
    for _ in range(60):
        start = draw.randrange(12) * 10**6
        bench.insert(
            [*range(start, start + draw.randrange(pool // 9)), draw.randrange(10**9)]
        )
        if draw.random() < 0.5:
            bench.ack_write()
    return bench.trace


@pytest.mark.parametrize(("pool", "host"), [(180, 260), (9_000, 14_000)])
def test_a_pool_drawn_step_by_step_is_the_pool_drawn_at_once(open_page, pool, host):
    tab = open_page(to_html(crowded(pool, host), lang="en"), reduced_motion="reduce")
    assert tab.js(WALK, [7, 80]) == []


PROMISED = """() => {
    const { run } = kvlab, node = kvlab.root.querySelector("[data-node='2']");
    const fill = at => at?.getAttribute("fill").match(/kv\\d+-(\\w+)/)?.[1];
    const painted = document.querySelectorAll("#kvlab .p-pool canvas")[1].shown;
    const names = Object.keys(kvlab.log.looks);
    const slots = tier => {
        const { owners, codes } = painted[tier];
        return [...new Set(codes.filter((c, i) => owners[i] === 6))].map(
            code => names[code & 15]) };
    return {
        tree: [".d1", ".d2"].map(deck => fill(node.querySelector(deck))),
        slots: [slots(0), slots(1)],
        bars: [...kvlab.root.querySelectorAll(".a1 .bar rect")].map(fill),
        legend: [...kvlab.root.querySelectorAll(".a1 .term")].map(t => [
            t.innerText.replace(/\\s+/g, " "), t.querySelectorAll("svg").length]),
    } }"""
"""How n2 looks in the tree and in the pools, and what the account of L1 shows."""


def test_what_is_handed_out_for_a_load_is_promised_before_a_node_has_it(open_page):
    tab = open_page(to_html(golden("s10", "sglang23"), lang="en", start=63))
    looks = """() => {
        const { owners, codes } = document.querySelectorAll(
            "#kvlab .p-pool canvas")[1].shown[0];
        const names = Object.keys(kvlab.log.looks), found = {};
        owners.forEach((owner, i) => {
            const key = `${owner} ${names[codes[i] & 15]}`;
            found[key] = (found[key] ?? 0) + 1 });
        return found }"""
    assert tab.headline.startswith("L1 hands out 22 slots")
    assert tab.js(looks) == {"0 available": 42, "1 promised": 22}
    held = tab.page.locator("#kvlab .a1 .term[data-state=held]")
    assert " ".join(held.inner_text().split()) == "held · 22 promised 22+22"
    assert "47–64  promised" in tab.page.get_attribute("#kvlab .slots", "aria-label")
    tab.press("ArrowRight", "ArrowRight")
    assert tab.js(looks) == {"0 available": 42, "1 promised": 14, "4 promised": 8}
    assert " ".join(held.inner_text().split()) == "held · 14 promised 14−8"
    tab.js("() => kvlab.show(2)")  # for an insert, not for a load
    assert tab.js(looks) == {"0 available": 56, "1 held": 8}


def test_what_is_promised_to_a_load_is_green_in_tree_pool_and_account(open_page):
    tab = open_page(to_html(golden("s10"), lang="en", start=65))
    seen = tab.js(PROMISED)
    assert seen["tree"] == ["promised", "host_only"]
    assert seen["slots"] == [["promised"], ["host_only"]]
    assert "promised" in seen["bars"]
    assert seen["legend"][0] == ["used · 22 promised 22+22", 2]
    tab.js("() => kvlab.show(67)")
    seen = tab.js(PROMISED)
    assert seen["tree"] == [None, "copy"]  # used is solid
    assert seen["slots"] == [["used"], ["copy"]]
    assert "promised" not in seen["bars"]
    tab.shoot("promised.png")


UNTRUE = """moments => moments.flatMap(to => {
    kvlab.show(to);
    const sign = n => n < 0 ? `−${-n}` : `${n}`;
    const by = n => n ? (n > 0 ? "+" : "") + sign(n) : "";
    return [1, 2].flatMap(tier => {
        const terms = kvlab.run.account(tier).terms.map(
            ([state, n, moved]) => `${to}: ${state} ${sign(n)} ${by(moved)}`);
        const said = [...kvlab.$(`.a${tier}`).querySelectorAll("[data-state]")].map(
            term => `${to}: ${[term.dataset.state, ...[".n", ".d"].map(
                part => term.querySelector(part)?.textContent ?? "")].join(" ")}`);
        return said.filter(term => !terms.includes(term));
    }); })"""
"""Go from moment to moment; return what accounts say of each that is not so."""


@pytest.mark.parametrize("name", ["s10", "s14", "s25"])
def test_an_account_is_true_by_whichever_way_its_moment_was_come_to(open_page, name):
    run, draw = golden(name), random.Random(7)
    moments = [0]
    for _ in range(600):
        ways = (moments[-1] + 1, moments[-1] - 1, draw.randrange(len(run)))
        moments.append(draw.choice(ways) % len(run))
    tab = open_page(to_html(run))
    assert tab.js(UNTRUE, moments) == []
