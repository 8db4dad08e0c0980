"""Does a page play a run of vLLM in a real browser?"""

from __future__ import annotations

from pathlib import Path

import pytest
from player_tab import Tab, needs_chromium

from kvlab.cli import main
from kvlab.pages import as_pages
from kvlab.record import block_events as be
from kvlab.record.block_replay import block_state_at
from kvlab.record.trace import BlockTrace
from kvlab.run.block_run import load_blocks
from kvlab.views.block_frame import NAMING, block_frame_at, named_blocks
from kvlab.views.block_meanings import BLOCK_MEANINGS
from kvlab.views.block_phrases import block_sentence
from kvlab.views.grades import lost_by
from kvlab.views.page import to_html
from kvlab.views.theme import LANGS

pytestmark = needs_chromium
FOLDER = Path(__file__).parent / "goldens" / "vllm"
GOLDEN = FOLDER / "t06_preempt_last_running.json"
BOTH_WAYS = """() => {
  const run = kvlab.run, n = run.count, bad = [];
  for (let i = 0; i < 150; i++) {
    const e = (i * 61) % (n + 1);
    const front = run.seek(0).seek(e).hash(), back = run.seek(n).seek(e).hash();
    if (front !== back) bad.push(e);
  }
  return bad;
}"""


@pytest.fixture(scope="module")
def trace():
    return load_blocks(GOLDEN)


@pytest.fixture(scope="module")
def tab(browser, trace, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    return Tab(browser, folder, to_html(trace, lang="en", mode="watch"))


@pytest.fixture(autouse=True)
def quiet(tab):
    yield
    assert tab.heard == []


def text(tab, selector: str) -> str:
    return tab.page.inner_text(selector)


def at(trace, kind, **fields) -> int:
    """Return the step after the first event of the kind with these fields."""
    for index, event in enumerate(trace.events):
        if isinstance(event, kind) and all(
            getattr(event, name) == value for name, value in fields.items()
        ):
            return index + 1
    raise AssertionError(f"no {kind.__name__}")


def test_every_state_is_the_same_from_the_front_and_from_the_back(tab):
    assert tab.js(BOTH_WAYS) == []


def test_the_train_is_the_free_queue_head_first(tab, trace):
    for step in (0, 40, 75, 150, 300):
        tab.js(f"kvlab.show({step})")
        cars = tab.js("[...document.querySelectorAll('.train [data-block]')]"
                      ".map(x => +x.dataset.block)")  # fmt: skip
        assert cars == list(block_state_at(trace, step).tiers["L1"].free)


def test_headlines_are_those_of_python(tab, trace):
    for index in range(0, len(trace), 11):
        after = trace.events[index + 1] if index + 1 < len(trace) else None
        tab.js(f"kvlab.show({index + 1})")
        lost = lost_by(trace, index)
        said = block_sentence(trace.events[index], after=after, lost=lost)
        assert text(tab, ".head h2") == said


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        (be.Slots, {"fits": False}, "gets no block"),
        (be.Slots, {"fits": True}, "gets"),
        (be.PickVictim, {}, "is preempted"),
        (be.Forget, {}, "Evicted from L1: 1 block"),
        (be.Stop, {}, "Nobody overtakes"),
    ],
)
def test_a_decision_has_a_card_with_rule_and_source(tab, trace, kind, fields, said):
    tab.js(f"kvlab.show({at(trace, kind, **fields)})")
    tab.page.wait_for_function(
        "t => document.querySelector('.p-why .v').innerText.includes(t)", arg=said
    )
    card = text(tab, ".p-why")
    assert "vLLM 0.33.0 · v1/core/" in card
    assert "kvlab/" in card


def test_a_refusal_shows_both_sides_of_the_test(tab, trace):
    event = next(e for e in trace.events if isinstance(e, be.Slots) and not e.fits)
    tab.js(f"kvlab.show({at(trace, be.Slots, fits=False)})")
    test = f"{event.need + event.watermark} ≤ {event.free - event.reserved}"
    tab.page.wait_for_function(
        "t => document.querySelector('.p-why').innerText.includes(t)", arg=test
    )


def test_keys_step_both_ways_and_change_the_language(tab):
    tab.js("kvlab.show(50)")
    tab.press("ArrowRight", "ArrowRight", "ArrowLeft")
    assert tab.js("kvlab.run.at") == 51
    tab.press("l")
    assert "空闲队列" in text(tab, ".p-pool")
    tab.press("l")
    assert "Free queue" in text(tab, ".p-pool")


def test_each_state_has_vllms_word_and_sglangs_in_its_title(tab):
    assert "free, with a hash" in text(tab, ".p-pool .acct")
    titles = tab.js("[...document.querySelectorAll('.acct .term')].map(x => x.title)")
    assert "SGLang: evictable" in titles


def test_in_chinese_too_the_states_that_a_headline_calls_free_are_free(tab):
    tab.js("kvlab.show(55)")  # c gets nothing: it needs 4 blocks; free 2
    tab.press("l")
    try:
        assert "空闲 2 个" in tab.headline
        terms = tab.page.query_selector_all(".acct .term")
        said = [term.inner_text().split() for term in terms]
        free = [(name, int(n)) for name, n, *_ in said if name.startswith("空闲")]
        assert free == [("空闲，有哈希", 2), ("空闲，无哈希", 0)]
    finally:
        tab.press("l")


def test_pointing_at_everything_complains_of_nothing(tab):
    tab.js("kvlab.show(90)")
    for selector in (".chip", ".p-pool .term", ".p-tree svg", ".p-pool svg"):
        tab.page.hover(selector)
    tab.page.click(".p-tree .chip")
    tab.press("ArrowUp", "Shift+ArrowRight", "Control+ArrowLeft")


@pytest.mark.parametrize("name", ["t23_l2_load_holds_l1.json", "r06_long_threshold"])
def test_other_goldens_open_and_play(browser, tmp_path, name):
    out = tmp_path / "page.html"
    golden = next(FOLDER.glob(f"{name}*"))
    assert main(["play", str(golden), "-o", str(out), "--events", "4000"]) == 0
    other = Tab(browser, tmp_path, out.read_text("utf-8"))
    assert other.js(BOTH_WAYS) == []
    other.js("kvlab.show(1000)")
    assert other.heard == []


TWO = [FOLDER / f"t07{name}.json" for name in ("a_watermark_zero",
       "b_watermark_holds_admission")]  # fmt: skip


def test_a_run_of_the_tree_does_not_play_beside_one_of_vllm(tmp_path, capsys):
    out = str(tmp_path / "x.html")
    assert main(["play", str(GOLDEN), "--beside", "three_fates", "-o", out]) == 2
    assert "is no run of vLLM, as the first is" in capsys.readouterr().err


def test_two_runs_of_vllm_part_at_the_block_that_the_watermark_keeps(capsys):
    assert main(["compare", *map(str, TWO)]) == 1
    told = capsys.readouterr().out
    assert "first difference: event 19" in told
    assert "watermark 0.0 → 0.3" in told
    assert "B  slots: b gets nothing" in told


def test_two_runs_of_different_engines_are_not_compared(capsys):
    assert main(["compare", "three_fates", str(GOLDEN)]) == 2
    assert "the first is none" in capsys.readouterr().err


def test_two_runs_stand_side_by_side_where_they_part(browser, tmp_path):
    one, other = map(load_blocks, TWO)
    two = Tab(browser, tmp_path, to_html(one, other, lang="en"))
    assert two.js("kvlab.run.at") == 19
    cards = [text(two, ".p-why:not(.b)"), text(two, ".p-why.b")]
    assert "b gets 5 blocks" in cards[0]
    assert "b gets no block" in cards[1]
    assert two.heard == []


def test_an_answer_is_judged_by_the_run(browser, trace, tmp_path):
    victim = at(trace, be.PickVictim)
    html = to_html(trace, lang="en", mode="predict", ask=[victim])
    asked = Tab(browser, tmp_path, html)
    asked.press("End")
    assert "Who gives way?" in text(asked, ".p-why")
    asked.page.click("text=the first admitted")
    asked.page.click("[data-do=commit]")
    assert "not what you predicted" in text(asked, ".p-why")
    assert asked.heard == []


def test_a_victim_is_marked_beside_who_it_gives_way_to(tab, trace):
    event = next(e for e in trace.events if isinstance(e, be.PickVictim))
    tab.js(f"kvlab.show({at(trace, be.PickVictim)})")
    hot = tab.js("[...document.querySelectorAll('.p-tree .chip.hot bdi')]"
                 ".map(x => x.innerText)")  # fmt: skip
    assert hot == [event.request, event.victim]


def test_a_refusal_by_the_gate_names_it_and_a_change_says_what_it_means(tab, trace):
    tab.js(f"kvlab.show({at(trace, be.Slots, fits=False, line='full_sequence')})")
    tab.page.wait_for_function(
        "() => document.querySelector('.p-why').innerText.includes('reserve_full_isl')"
    )
    tab.js(f"kvlab.show({at(trace, be.Register)})")
    tab.page.wait_for_function(
        "() => document.querySelector('.p-why').innerText.includes('allocate_slots')"
    )


def test_copies_between_the_tiers_have_their_lane(browser, tmp_path):
    run = load_blocks(FOLDER / "t23_l2_load_holds_l1.json")
    begun = [e for e in run.events if isinstance(e, (be.CopyOut, be.CopyIn))]
    other = Tab(browser, tmp_path, to_html(run, lang="en"))
    assert other.js("kvlab.spans.length") == len(begun)
    other.js(f"kvlab.show({at(run, be.Defer, why='loading')})")
    said = "WAITING_FOR_REMOTE_KVS"
    other.page.wait_for_function(
        "t => document.querySelector('.p-why').innerText.includes(t)", arg=said
    )
    assert other.heard == []


OUTLINED = """tier => [...document.querySelectorAll(
        `.m${tier} svg rect[stroke-width="1.75"]`)].map(ring => {
    const [x, y, wide] = ["x", "y", "width"].map(a => +ring.getAttribute(a));
    const cell = wide - 1, columns = Math.round(448 / cell);
    return 1 + Math.round((x + 0.5) / cell) + columns * Math.round((y + 0.5) / 26);
})"""
"""The blocks of a tier that have an outline, one number for each outline."""


def test_every_event_outlines_the_blocks_it_names_on_both_tiers(browser, tmp_path):
    run = load_blocks(FOLDER / "t23_l2_load_holds_l1.json")
    other = Tab(browser, tmp_path, to_html(run, lang="en"))
    for step in range(1, len(run) + 1):
        other.js(f"kvlab.show({step})")
        frame = block_frame_at(run, step)
        assert set(other.js(OUTLINED, 1)) == frame.touched, (step, frame.event)
        if isinstance(frame.event, NAMING):
            named = named_blocks(frame.event, frame.before)[1]
            assert set(other.js(OUTLINED, 2)) == set(named.tolist()), (
                step,
                frame.event,
            )
    other.js(f"kvlab.show({at(run, be.CopyIn)})")
    other.shoot("copy_in.png")
    assert other.heard == []


def test_a_block_that_a_copy_names_twice_has_one_outline(browser, tmp_path):
    run = load_blocks(FOLDER / "t23_l2_load_holds_l1.json")
    pages = [as_pages(blocks) for blocks in ([3, 3, 5], [2, 7, 7])]
    events = [*run.events[:50], be.CopyOut(-1, 99, *pages), be.CopiedOut(-1, 99)]
    other = Tab(browser, tmp_path, to_html(BlockTrace(run.header, events), lang="en"))
    for step in (51, 52):
        other.js(f"kvlab.show({step})")
        assert [other.js(OUTLINED, tier) for tier in (1, 2)] == [[3, 5], [2, 7]]
    assert other.heard == []


SAID = """lang => {
    kvlab.root.querySelector(`[data-do="lang"][data-to="${lang}"]`).click();
    const { run } = kvlab, said = {};
    for (let e = 0; e < run.count; e++) {
        if (run.why(e) || run.variant(e) in said) continue;
        kvlab.show(e + 1);
        said[run.variant(e)] = kvlab.root.querySelector(".p-why .dim")?.textContent;
    }
    return said }"""
"""What the card of the first event of each entry that has no rule says it means."""


@pytest.mark.parametrize("lang", LANGS)
def test_the_card_of_every_change_says_what_it_means(browser, tmp_path, lang):
    run = load_blocks(FOLDER / "t23_l2_load_holds_l1.json")
    other = Tab(browser, tmp_path, to_html(run, lang="en", mode="watch"))
    said = other.js(SAID, lang)
    for entry, words in said.items():
        meaning = BLOCK_MEANINGS.get(entry) or BLOCK_MEANINGS[entry.split(" ")[0]]
        assert words == meaning.to(lang), entry
    assert {"copyout", "copiedout", "copyin", "pin", "hold", "defer loading"} <= set(
        said
    )
    assert other.heard == []


def test_a_question_counts_one_block_as_one(browser, tmp_path):
    run = load_blocks(
        Path(__file__).parent / "goldens/vllm/t06_preempt_last_running.json"
    )
    tab = Tab(browser, tmp_path, to_html(run, lang="en", mode="predict", ask=[33]))
    tab.press("End")
    assert "a needs 1 block. 1 are free" in tab.page.inner_text("#kvlab .q")
    assert tab.heard == []
