"""Does a page that is changed in place show what one drawn anew would show?

Random walks, seeded, over pages of both engines. After every action a second player
is built beside the first, brought to the same state and drawn as a whole: its markup is
the same, and so are the pixels of its canvases, but for edges too pale to see.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from played import GOLDENS, golden
from player_tab import Tab, needs_chromium

from kvlab import Workbench
from kvlab.run.block_run import load_blocks
from kvlab.views.page import to_html

pytestmark = needs_chromium
SEED, TURNS = 2, 25
SHARP = 1.5
"""Pixels of the screen for one of the page: no row of slots begins on one."""

PAGES: dict[str, Callable[[], str]] = {
    "loads": lambda: to_html(golden("s10", "sglang23"), lang="en"),
    "many nodes": lambda: to_html(golden("r29"), lang="en"),
    "predictions": lambda: to_html(golden("s36"), lang="en", mode="predict"),
    "blocks": lambda: to_html(
        load_blocks(GOLDENS / "vllm" / "t06_preempt_last_running.json"),
        lang="en",
        mode="predict",
    ),
    "two runs": lambda: to_html(
        golden("s26_strategy_lru"), golden("s26_strategy_fifo")
    ),
}

WALK = """async ([seed, turns]) => {
    const player = kvlab, { root } = player;
    const any = n => {  // mulberry32
        seed = (seed + 0x6d2b79f5) | 0;
        let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) % n };
    const one = list => list[any(list.length)];
    const frames = async n => { while (n--) await new Promise(requestAnimationFrame) };
    const drawn = async each => { while (each.due != null) await frames(1) };
    const fire = (at, Kind, name, more) =>
        at?.dispatchEvent(new Kind(name, { bubbles: true, ...more }));
    const seen = name => one([...root.querySelectorAll(name)].filter(
        at => !at.disabled && at.getClientRects().length));
    const press = name => fire(seen(name), MouseEvent, "click");
    const over = name => fire(seen(name), PointerEvent, "pointerover");
    const key = (keys, more) => fire(root, KeyboardEvent, "keydown",
        { key: one(keys), ...more });
    const arrows = ["ArrowLeft", "ArrowRight"];
    const acts = {
        jump: () => player.show(any(player.run.count + 1)),
        step: () => key(arrows), on: () => key(["ArrowRight"]),
        ends: () => key(["Home", "End"]),
        decision: () => key(arrows, { ctrlKey: true }),
        change: () => key(arrows, { shiftKey: true }),
        point: () => over("[data-node]"), pointTerm: () => over("[data-state]"),
        pointRequest: () => over("[data-request]"), pointNothing: () => over(".top"),
        choose: () => press("[data-node], [data-request]"),
        look: () => key(["l", "v", "c", "+", "-", "0", "<", ">"]),
        dark: () => press("[data-do=dark]"),
        sides: () => press("[data-do=both], [data-do=one]"),
        mode: () => press("[data-do=mode]"),
        answer: () => { press("[name$=-say]"); press("[data-do=commit]") },
        saw: () => press("[data-do=saw]"),
        mark: () => key(["b", ",", "."]),
        filter: () => {
            if (player.panel !== "filter") key(["/"]);
            const kinds = Object.values(player.log.names);
            root.querySelector(".panel .fk").value = one(kinds);
            press("[data-do=search]") },
        forget: () => press("[data-do=nohits]"),
        wide: () => {
            root.parentElement.style.width = one(["1000px", "1240px"]);
            return frames(3) },
    };
    const anew = async () => {
        const place = root.cloneNode();
        place.removeAttribute("style");
        root.after(place);
        const run = ({ log, at }) => new player.run.constructor(log).seek(at);
        const { lang, dark, hooks } = player;
        const fresh = new player.constructor(place, run(player.run),
            { lang, dark, hooks, start: player.run.at });
        for (const [name, value] of Object.entries(player))
            if (STATE.includes(name)) fresh[name] = structuredClone(value);
        if (player.b) fresh.b = run(player.b);
        if (player.other) fresh.other = fresh.b;
        fresh.run.seek(player.run.at);
        for (let twice = 0; twice < 2; twice++) // all of it is laid out anew
            fire(place.querySelector("[data-do=dark]"), MouseEvent, "click");
        await drawn(fresh);
        return fresh };
    const told = (at, out = []) => {
        if (at.nodeType === 3 && at.data.trim()) out.push(at.data);
        if (at.nodeType !== 1 || at.matches(".sr, style, .panel") || at.hidden
            || at.style.display === "none") return out;
        const said = [...at.attributes].map(({ name, value }) => [name,
            name === "class" ? [...at.classList].sort().join(" ") : value]);
        const last = ["checked", "aria-activedescendant"];
        const kept = said.filter(([name, value]) => value && !last.includes(name));
        out.push([at.localName, ...kept.map(pair => pair.join("=")).sort(),
            at.checked, at.value].join(" ").replaceAll(/\\bkv\\d+(?=-)/g, "kv"));
        const parts = [...at.childNodes].map(part => told(part));
        if (at.matches(".rows")) parts.sort(); // each says where it lies
        return out.concat(...parts) };
    const pixels = (canvas, each) => {
        const copy = new OffscreenCanvas(canvas.width, canvas.height);
        const pen = copy.getContext("2d", { willReadFrequently: true });
        pen.fillStyle = each.colour.bg;
        pen.fillRect(0, 0, copy.width, copy.height);
        pen.drawImage(canvas, 0, 0);
        return pen.getImageData(0, 0, copy.width, copy.height).data };
    const way = [];
    for (let turn = 0; turn < turns; turn++) {
        const name = one(Object.keys(acts));
        await acts[name]();
        await drawn(player);
        way.push(`${name} ${player.run.at}`);
        const fresh = await anew();
        const [here, there] = [player, fresh].map(
            ({ root }) => [...root.children].flatMap(part => told(part)));
        const at = here.findIndex((line, i) => line !== there[i]);
        if (at >= 0 || here.length < there.length)
            return [way.slice(-5), here[at], there[at < 0 ? here.length : at]];
        const canvases = [player, fresh].map(
            ({ root }) => root.querySelectorAll("canvas"));
        for (const [i, canvas] of canvases[0].entries()) {
            const [a, b] = [pixels(canvas, player), pixels(canvases[1][i], fresh)];
            const [x, y] = [a, b].map(({ buffer }) => new Uint32Array(buffer));
            let same = 0;
            while (same < x.length && x[same] === y[same]) same++;
            if (same === x.length) continue;
            const off = a.findIndex((value, i) => Math.abs(value - b[i]) > PALE);
            const row = Math.floor(off / 4 / canvas.width);
            if (off >= 0) return [way.slice(-5), `canvas ${i}, row ${row}`];
        }
        fresh.close();
        fresh.root.remove();
    }
    return [] }""".replace("PALE", "16").replace(
    "STATE",
    """["answers", "answered", "bookmarks", "notes", "mode", "hits", "sought",
        "watched", "colouring", "open", "folded", "every", "freed", "difference",
        "picked", "sure", "select", "hover", "state", "tier", "aimed", "panel",
        "span", "from", "lastAt", "reading", "lookedAt"]""",
)
"""Returns the last actions and what the two pages say, where they part."""


@pytest.mark.parametrize("page", PAGES)
def test_a_walk_leads_to_what_a_page_drawn_anew_shows(browser, tmp_path, page):
    how = {"reduced_motion": "reduce", "device_scale_factor": SHARP}
    tab = Tab(browser, tmp_path, PAGES[page](), **how)
    assert tab.js(WALK, [SEED, TURNS]) == []
    assert tab.heard == []
    tab.page.context.close()


LEVELS = """() => {
    for (let to = 0; to <= kvlab.run.count; to++) kvlab.show(to);
    return [...document.querySelectorAll(".p-tree [data-node]")].map(at =>
        [+at.dataset.node, +at.ariaLevel]) }"""


def test_a_split_lowers_the_nodes_below_it(open_page):
    bench = Workbench(name="split", pool_tokens=100)
    bench.insert(range(20))
    bench.insert(range(40))
    bench.insert([*range(10), 99])
    levels = dict(open_page(to_html(bench.trace, lang="en")).js(LEVELS))
    assert sorted(levels.values()) == [1, 2, 2, 3]
