"""Does every mark of the player say what it means, and is none left unsaid?"""

from __future__ import annotations

from pathlib import Path

import pytest
from played import golden
from player_tab import needs_chromium, show

from kvlab.run.block_run import load_blocks
from kvlab.views.block_whys import BLOCK_SWATCHES
from kvlab.views.page import to_html
from kvlab.views.primer import BLOCK_MARKS, BLOCK_STATES, MARKS, STATES
from kvlab.views.why import SWATCHES

pytestmark = needs_chromium
BLOCKS = Path(__file__).parent / "goldens" / "vllm" / "t06_preempt_last_running.json"
LEGEND = """at => [...document.querySelectorAll(`#kvlab ${at} .legend dt`)].map(
    dt => [dt.innerText.trim(), dt.querySelectorAll("svg > *").length > 0,
           dt.nextElementSibling.innerText.trim().length > 0])"""
"""The names of a legend, and whether each has a sample and words."""

LOCKS = """() => {
    const { run, root } = kvlab;
    const decks = [...root.querySelectorAll(".p-tree [data-node]")];
    const shown = document.querySelectorAll("#kvlab .p-pool canvas")[1].shown[1];
    const found = {};
    shown.codes.forEach((code, i) => {
        if (code >> 8) found[shown.owners[i]] = [
            (found[shown.owners[i]]?.[0] ?? 0) + 1, code >> 8] });
    return {
        tree: decks.filter(at => at.querySelector("title")?.textContent
            .startsWith("host_lock_ref")).map(at => +at.dataset.node),
        pool: found,
        account: root.querySelector(".a2 .term").innerText.replace(/\\s+/g, " "),
        said: decks.map(at => at.getAttribute("aria-label")).join("; "),
        pools: root.querySelector(".slots").getAttribute("aria-label"),
        line: root.querySelector(".p-tree .insp").innerText } }"""
"""Where a lock on a host copy is seen."""


def test_a_lock_on_a_host_copy_is_seen_on_its_deck_in_l2_and_in_the_account(open_page):
    tab = open_page(to_html(golden("s10", "sglang23"), lang="en"))
    show(tab, "hostlock")
    seen = tab.js(LOCKS)
    assert seen["tree"] == [3]
    assert seen["pool"] == {"8": [6, 1]}
    assert seen["account"] == "host only · 6 locked 22"
    assert seen["said"].count("host_lock_ref 1") == 1
    assert "n3 host only · host_lock_ref 1" in seen["pools"]
    assert "host_lock_ref 1" in seen["line"]
    tab.shoot("host_lock.png")
    tab.js("() => kvlab.show(71)")
    assert tab.js(LOCKS)["tree"] == [3]
    show(tab, "hostunlock")  # the next event
    seen = tab.js(LOCKS)
    assert (seen["tree"], seen["pool"]) == ([], {})
    assert seen["account"] == "host only 0"
    assert "host_lock_ref" not in seen["said"] + seen["pools"] + seen["line"]


def test_a_lock_is_drawn_anew_where_only_the_lock_has_changed(open_page):
    tab = open_page(to_html(golden("s10", "sglang23"), lang="en"))
    stepped = """e => { const pixels = () => document.querySelectorAll(
        "#kvlab .p-pool canvas")[1].toDataURL();
        kvlab.show(e - 1); const before = pixels(); kvlab.show(e); const at = pixels();
        kvlab.version++; kvlab.show(e); return [before !== at, at === pixels()] }"""
    assert tab.js(stepped, 60) == [True, True]


def test_the_pointer_is_told_whose_slot_lies_under_it(open_page):
    tab = open_page(to_html(golden("s10", "sglang23"), lang="en"))
    show(tab, "hostlock")
    box = tab.page.locator(".p-pool .slots").bounding_box()
    grid = tab.js("() => kvlab.grid")
    cell, tiers = grid["cell"], grid["tiers"]

    def title(tier: int, column: int) -> str:
        x = box["x"] + 60 + (column + 0.5) * cell
        tab.page.mouse.move(x, box["y"] + tiers[tier]["y"] + 8)
        return tab.page.get_attribute("#kvlab .slots", "title")

    assert title(1, 17) == "L2 17 · n3 · host only · host_lock_ref 1"
    assert title(1, 3) == "L2 3 · n1 · host only"
    assert title(0, 0) == "L1 1 · available"


def test_a_loaded_prompt_looks_under_way_until_the_load_has_arrived(open_page):
    tab = open_page(to_html(golden("x11", "sglang23"), lang="en"))
    found = tab.js("""() => {
        const { run } = kvlab, found = [];
        for (let e = 0; e < run.count; e++) {
            if (run.kind(e) !== "prefill") continue;
            kvlab.show(e + 1);
            const terms = run.terms(e), card = kvlab.root.querySelector(".p-why");
            const fills = [...card.querySelectorAll(".sec svg rect[rx='1.5']")].map(
                r => r.getAttribute("fill").match(/kv\\d+-(\\w+)/)?.[1] ?? "solid");
            found.push([run.c.stage[run.request(e)] === 2, terms.done ?? null,
                terms.loaded, fills[0], card.querySelector(".eq").innerText
                    .replace(/\\s+/g, " ").trim()]);
        }
        return found }""")
    said = tab.js("""() => [...Array(kvlab.run.count).keys()]
        .filter((e) => kvlab.run.kind(e) === "prefill")
        .map((e) => (kvlab.show(e + 1), kvlab.root.querySelector("h2").innerText))""")
    assert "computes 16 tokens behind 16 cached ones" in "\n".join(said)
    assert not [line for line in said if "null" in line]
    chunks = [tuple(one[1:]) for one in found if one[0]]
    assert chunks[0] == (16, 0, "solid", "cached 16 + loaded 0 + extend 16 = kv_len 32")
    assert chunks[1][:3] == (32, 0, "solid")
    first = [one for one in found if not one[0] and one[2]]
    assert [one[3] for one in first] == ["in_flight"]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("run", "names"),
    [("s10", [*STATES, *MARKS]), ("t06", [*BLOCK_STATES, *BLOCK_MARKS])],
)
def test_each_pattern_and_mark_stands_in_the_legend_with_a_sample(
    open_page, run, names, lang
):
    trace = load_blocks(BLOCKS) if run == "t06" else golden("s10", "sglang23")
    tab = open_page(to_html(trace, lang=lang))
    first = tab.js(LEGEND, ".primer")
    tab.js("() => kvlab.show(5)")
    tab.page.click("#kvlab [data-do=panel][data-to=help]")
    assert tab.js(LEGEND, ".panel") == first
    without_l2 = ["in_flight", "host_only"] if run == "t06" else []
    assert len(first) == len(names) - len(without_l2)
    assert all(name and sample and words for name, sample, words in first)


def test_every_sign_of_a_term_stands_in_the_legend():
    assert {*BLOCK_SWATCHES.values()} <= BLOCK_STATES.keys()
    assert "free" not in BLOCK_SWATCHES  # with a hash or without: either sign lies
    others = {"right", "wrong"}  # contents, with a legend of their own
    assert {*SWATCHES.values()} <= STATES.keys() | others


def test_what_is_freed_too_much_is_told_beside_its_name_on_the_card(open_page):
    tab = open_page(to_html(golden("s03"), lang="en"))
    show(tab, "evicted more")
    term = tab.page.locator(".p-why .eq .t", has_text="over").first
    assert "dasharray" in term.inner_html()
    dashed = tab.page.locator(".p-why .eq svg [stroke-dasharray='4 3']")
    show(tab, "insert")
    assert dashed.count() == 0


def test_a_block_with_a_hash_is_underlined_in_its_table(open_page):
    tab = open_page(to_html(load_blocks(BLOCKS), lang="en"))
    lines = """() => [...document.querySelectorAll(".p-tree .line g > title")].map(
        title => [!title.textContent.endsWith("–"),
                  !!title.parentNode.querySelector("path[stroke-width='2']")])"""
    for event in (60, 200):
        tab.js("e => kvlab.show(e)", event)
        found = tab.js(lines)
        assert found and all(named == drawn for named, drawn in found)
    assert {named for named, _ in found} == {True, False}
