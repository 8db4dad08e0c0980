"""Does each card say what Python says, and is a covered one nowhere in the page?"""

from __future__ import annotations

import pytest
from played import GOLDENS, golden, played
from player_tab import Tab, needs_chromium, show

from kvlab.record import events as ev
from kvlab.record.replay import Replay
from kvlab.record.trace import AnyTrace
from kvlab.run.block_run import load_blocks
from kvlab.views.cards import card_at
from kvlab.views.cards import links as card_links
from kvlab.views.page import to_html

pytestmark = needs_chromium


def load_any(name: str) -> AnyTrace:
    """Return the run of a golden of either engine."""
    path = GOLDENS / name
    return load_blocks(path) if name.startswith("vllm") else played(path)


def test_the_card_shows_the_formula_and_the_line_that_refused(open_page):
    tab = open_page(to_html(golden("s18")))
    show(tab, "admit no_token")
    card = tab.page.inner_text("#kvlab .p-why")
    assert "NO_TOKEN" in card and "7 < 4.5" in card and "false" in card
    assert "schedule_policy.py" in card and "kvlab/schedule/admission.py" in card
    tab.shoot("refused.png")


def test_every_card_says_what_the_card_in_python_says(open_page):
    for name in ("s11", "s12", "s18", "x08", "x11"):
        trace = golden(name)
        tab = open_page(to_html(trace, lang="zh"))
        for step, event in enumerate(trace.events, 1):
            if not isinstance(event, ev.Decision):
                continue
            tab.js("step => kvlab.show(step)", step)
            shown = tab.page.inner_text("#kvlab .p-why")
            why = card_at(trace, step, "zh").reason
            assert why.rule.zh in shown and why.source.split(" · ")[-1] in shown
            for check in why.checks:
                assert check.test in shown, f"{check.test} not in {shown}"
            if why.not_taken is not None:
                assert why.not_taken.zh in shown


def test_a_load_names_the_decision_that_it_carries_out(open_page):
    tab = open_page(to_html(golden("s10"), lang="en"))
    at = show(tab, "load")
    chain = tab.page.inner_text("#kvlab .p-why .chain").split()
    trace = golden("s10")
    assert [x for x in chain if x.isalpha() or "_" in x] == [
        "step",
        "load_back",
        "load",
    ]
    links = tab.js("e => kvlab.run.chain(e).map(i => i + 1)", at)
    assert links == [link.step for link in card_links(trace, at)]


def test_every_chain_of_causes_is_pythons(open_page):
    trace = golden("s25")
    tab = open_page(to_html(trace))
    found = tab.js(
        "n => [...Array(n).keys()].map(e => kvlab.run.chain(e).map(i => i + 1))",
        len(trace),
    )
    assert found == [
        [link.step for link in card_links(trace, at)] for at in range(len(trace))
    ]
    longest = max(range(len(trace)), key=lambda at: len(found[at]))
    tab.js("at => kvlab.show(at + 1)", longest)
    told = tab.page.inner_text("#kvlab .p-why .chain").split()
    assert [int(word) for word in told if word.isdigit()] == found[longest]


BEHIND = """() => {
    const [canvas, dp, { count }] = [kvlab.tl[0], devicePixelRatio, kvlab.run];
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const pen = copy.getContext("2d", { willReadFrequently: true });
    pen.drawImage(canvas, 0, 0);
    const from = 58 + (kvlab.limit / count) * (kvlab.wide - 56);
    const ends = kvlab.wide - 3;
    const { data } = pen.getImageData(from * dp, 9 * dp, (ends - from) * dp, 24 * dp);
    return data.filter((x, i) => i % 4 === 3 && x).length }"""
"""How many pixels of the whole run's line are drawn behind the open question."""


@pytest.mark.parametrize("name", ["sglang/s18", "sglang/s25", "vllm/t06"])
def test_the_whole_runs_line_tells_nothing_behind_an_open_question(open_page, name):
    trace = load_any(str(next(GOLDENS.glob(f"{name}*")).relative_to(GOLDENS)))
    tab = open_page(to_html(trace, lang="en"))
    tab.js("() => { kvlab.span = kvlab.run.count; kvlab.show(1) }")  # no frame on it
    drawn = tab.js(BEHIND.replace("kvlab.limit", "1"))
    tab.js("() => kvlab.setMode('predict')")
    asked = 0
    while tab.js("() => kvlab.limit < kvlab.run.count") and asked < 12:
        tab.js("() => kvlab.show(kvlab.run.count)")
        assert tab.js(BEHIND) == 0 < drawn
        tab.page.locator("#kvlab .ans input").first.click()
        tab.page.click("#kvlab [data-do=commit]")
        asked += 1
    assert asked > 1


def test_watches_and_filters_stop_where_python_says(open_page):
    trace = golden("s10")
    tab = open_page(to_html(trace))
    demoted = [i for i, e in enumerate(trace.events) if isinstance(e, ev.Demote)]
    tab.page.click("#kvlab [data-do=panel][data-to=watches]")
    tab.page.click("#kvlab [data-do=watch][data-to=host_only]")
    assert tab.js("() => kvlab.run.at") == demoted[0] + 1
    tab.press("/")
    tab.page.fill("#kvlab .fk", "demote")
    tab.page.fill("#kvlab .fn", "n2")
    tab.page.keyboard.press("Enter")
    mine = [i for i in demoted if trace.events[i].node == 2]
    assert tab.js("() => Array.from(kvlab.hits)") == mine


KINDS_FOUND = """() => [...new Set(Array.from(kvlab.hits, e => kvlab.run.kind(e)))]"""


@pytest.mark.parametrize(
    ("typed", "kinds"),
    [
        ("load", {"load"}),  # a name is meant by itself
        ("load_back", {"loadback"}),
        ("Does it come back", {"loadback"}),
        ("取回", {"load", "loaddone", "loadback"}),
        ("lock", {"lock"}),
        ("locked", {"lock", "unlock"}),
        ("demote · a node leaves L1, its copy stays", {"demote"}),
        ("no such kind", set()),
    ],
)
def test_a_kind_is_found_by_its_name_and_by_its_words(open_page, typed, kinds):
    tab = open_page(to_html(golden("s10"), lang="en"))
    tab.press("/")
    tab.page.keyboard.type(typed)
    tab.page.keyboard.press("Enter")
    assert set(tab.js(KINDS_FOUND)) == kinds


@pytest.mark.parametrize(
    ("lang", "words"), [("en", "a path is locked"), ("zh", "锁住路径")]
)
def test_the_filter_lists_each_kind_by_both(open_page, lang, words):
    trace = golden("s10")
    tab = open_page(to_html(trace, lang=lang))
    tab.press("/")
    options = tab.js(
        """() => [...document.querySelector(".fk").list.options].map(at => at.value)"""
    )
    assert f"lock · {words}" in options and all(" · " in option for option in options)
    assert len(options) == len({type(event) for event in trace.events})


def test_a_watch_tells_nothing_of_what_lies_behind_an_open_question(open_page):
    tab = open_page(to_html(golden("s10"), mode="predict", lang="zh"))
    tab.page.click("#kvlab [data-do=panel][data-to=watches]")
    buttons = tab.page.query_selector_all("#kvlab [data-do=watch]")
    assert all(button.is_enabled() for button in buttons)
    assert not any(button.query_selector("b") for button in buttons)


def test_a_watch_stops_where_a_prefix_comes_back_from_l2(open_page):
    trace = golden("s10")
    tab = open_page(to_html(trace))
    tab.page.click("#kvlab [data-do=panel][data-to=watches]")
    tab.page.click("#kvlab [data-do=watch][data-to=back]")
    loads = [
        i
        for i, e in enumerate(trace.events)
        if isinstance(e, ev.LoadBack) and e.verdict == "load"
    ]
    assert tab.js("() => Array.from(kvlab.hits)") == loads != []
    assert tab.js("() => kvlab.run.at") == loads[0] + 1


def test_a_covered_card_is_not_in_the_page_and_the_answer_is_the_runs(open_page):
    trace = golden("s18")
    tab = open_page(to_html(trace, mode="predict"))
    tab.press("End")
    at = tab.js("() => kvlab.asking")
    assert isinstance(trace.events[at], ev.Admit)
    text = tab.page.inner_text("#kvlab")
    assert "Your turn" in text and "not in this formula" not in text
    assert not tab.page.query_selector("#kvlab .p-why .eq")
    tab.press("ArrowRight", "End")
    assert tab.js("() => kvlab.run.at") == at
    tab.press("p")
    assert tab.js("() => kvlab.mode") == "predict"
    assert tab.js("() => document.activeElement.closest('.ans') !== null")
    options = tab.page.query_selector_all("#kvlab .ans:not(.conf) input")
    options[1].check()  # it waits
    tab.page.focus("#kvlab .conf input:checked")
    tab.page.keyboard.press("ArrowRight")
    tab.press("Enter")
    answer = tab.js("() => kvlab.answers[0]")
    assert answer["said"] == "admit no_token" and answer["happened"] == "admit"
    assert answer["right"] is False and answer["confidence"] == 3
    assert "not what you predicted" in tab.page.inner_text("#kvlab .p-why")
    tab.js("() => kvlab.show(kvlab.answers[0].until)")
    tab.page.click("#kvlab [data-do=saw][data-to=falls]")
    assert tab.js("() => kvlab.answers[0].saw") == "falls"
    tab.shoot("revealed.png")


def asked_after(events: list, at: int) -> int:
    """Return the moment up to which what follows a decision is watched: the next
    decision, or the next question if that comes first."""
    later = range(at + 1, len(events))
    change = next(i for i in later if not isinstance(events[i], ev.Decision))
    return next(i for i in later if i > change and isinstance(events[i], ev.Decision))


def predict(tab: Tab) -> int:
    """Go to the next question and answer it by its first option; return the event."""
    tab.press("End")
    at = tab.js("() => kvlab.asking")
    tab.page.query_selector("#kvlab .ans input").check()
    tab.press("Enter")
    return at


def test_what_was_seen_is_checked_against_the_counters(open_page):
    trace = golden("s18")
    tab = open_page(to_html(trace, mode="predict"))
    at = predict(tab)
    until = asked_after(trace.events, at)
    tab.js("until => kvlab.show(until)", until)
    tab.page.click("#kvlab [data-do=saw][data-to=rises]")
    answer = tab.js("() => kvlab.answers[0]")
    replay = Replay(trace)
    assert answer["about"] == "L1 available"
    before, after = (replay.at(s).account().available for s in (at, until))
    assert (answer["until"], answer["before"], answer["after"]) == (
        until,
        before,
        after,
    )
    assert answer["saw_right"] is (after > before)
    assert f"{before} → {after}" in tab.page.inner_text("#kvlab .p-why .seen")


def test_what_was_seen_is_asked_once_all_of_it_was_on_show(open_page):
    tab = open_page(to_html(golden("s10"), mode="predict", lang="en"))
    at = predict(tab)
    until = tab.js("() => kvlab.answers[0].until")
    for moment in range(at + 1, until + 1):
        tab.js("moment => kvlab.show(moment)", moment)
        seen = tab.page.inner_text("#kvlab .p-why .seen")
        asked = tab.page.query_selector_all("#kvlab [data-do=saw]")
        assert len(asked) == (3 if moment == until else 0)
        assert ("What did you see?" in seen) is (moment == until)
    assert f"From event {at + 1} to {until}, “L2 free”" in seen
    assert "What did you see?" in tab.js("() => kvlab.live.textContent")
    tab.page.click("#kvlab .seen [data-do=go]")  # back to where it began
    assert tab.js("() => kvlab.run.at") == at + 1
    tab.js("until => kvlab.show(until + 1)", until)
    assert "What did you see?" in tab.page.inner_text("#kvlab .p-why .seen")
    tab.page.click("#kvlab [data-do=saw][data-to=rises]")  # until it is answered
    assert "→" in tab.page.inner_text("#kvlab .p-why .seen")  # how that came out
    tab.press("ArrowLeft", "ArrowRight")
    assert tab.page.query_selector("#kvlab .seen button") is None


def test_what_was_seen_is_asked_at_the_top_of_the_card_as_a_question(open_page):
    tab = open_page(to_html(golden("s10"), mode="predict", lang="en"))
    predict(tab)
    tab.js("() => kvlab.show(kvlab.answers[0].until)")
    looks = tab.js(
        """() => [".seen", ".seen div"].map(at => {
            const found = getComputedStyle(document.querySelector(`#kvlab ${at}`));
            return `${found.borderTopWidth} ${found.fontWeight}` })"""
    )
    assert looks == ["0px 400", "0px 600"]  # no line above what comes first


WINDOWS = """() => {
    const found = [];
    while (kvlab.limit < kvlab.run.count) {
        kvlab.show(kvlab.run.count);
        document.querySelector("#kvlab .ans input").click();
        document.querySelector("#kvlab [data-do=commit]").click();
        const said = kvlab.answers.at(-1);
        if (!said.until) continue;
        const read = moment => {
            kvlab.run.seek(moment);
            const tiers = kvlab.log.pools[1] ? [1, 2] : [1];
            return tiers.flatMap(tier => kvlab.run.account(tier).terms.map(
                ([state, n]) => [`L${tier} ${state}`, n]));
        };
        found.push([said.kind, said.about, read(said.event - 1), read(said.until)]);
        kvlab.run.seek(said.event);
    }
    return found }"""


def test_the_counter_to_watch_is_what_the_rule_counts_if_that_changes(open_page):
    tab = open_page(
        to_html(load_any("sglang/s14_inflight_write_protects.json"), mode="predict")
    )
    watched = [(kind, about) for kind, about, _, _ in tab.js(WINDOWS)]
    backup, demoted = ("trybackup", "L2 free"), ("victim", "L2 host_only")
    ended = ("evicted", "L1 evictable")  # nothing more is freed: a lock ends meanwhile
    assert watched == [backup, backup, ended, demoted, ended, demoted]


def test_of_what_the_rule_counts_the_one_that_changes_most_is_watched(open_page):
    run = load_any("vllm/t06_preempt_last_running.json")
    tab = open_page(to_html(run, mode="predict"))
    counted = {"slots": ["L1 evictable", "L1 available"], "pickvictim": ["L1 used"]}
    found = tab.js(WINDOWS)
    assert len(found) >= 6
    for kind, about, before, after in found:
        moved = {state: abs(n - dict(before)[state]) for state, n in after}
        most = max(moved[state] for state in counted[kind])
        assert moved[about] == (most or max(moved.values())), about
    assert any(
        dict(before)[about] != dict(after)[about] for _, about, before, after in found
    )


@pytest.mark.parametrize("event", [37, 135, 243])
def test_the_card_that_answers_is_read_before_the_next_question(open_page, event):
    run = load_any("vllm/t06_preempt_last_running.json")
    ask = [event, event + 1]
    tab = open_page(to_html(run, mode="predict", ask=ask, lang="en"))
    assert predict(tab) == event - 1
    card = tab.page.inner_text("#kvlab .p-why")
    assert "Next question" in card and "Your turn" not in tab.headline
    assert tab.page.query_selector("#kvlab .p-why .eq")  # the rule, with its numbers
    assert tab.js("() => [kvlab.asking, kvlab.run.at]") == [-1, event]
    tab.page.keyboard.press("Enter")  # as Commit was pressed
    assert tab.js("() => kvlab.asking") == event
    assert "Your turn" in tab.headline
    assert tab.js("() => document.activeElement.closest('.ans') !== null")
    told = tab.page.inner_text("#kvlab .p-why")  # and above it how the last came out
    assert "You said:" in told


@pytest.mark.parametrize("key", ["ArrowRight", "End", "p", " "])
def test_every_key_that_goes_on_brings_the_question_that_waits(open_page, key):
    run = load_any("vllm/t06_preempt_last_running.json")
    tab = open_page(to_html(run, mode="predict", ask=[37, 38]))
    predict(tab)
    assert tab.js("() => kvlab.asking") == -1
    tab.press(key)
    tab.page.wait_for_function("() => kvlab.asking === 37")
    assert tab.js("() => kvlab.answers.length") == 1


def test_playing_stops_where_something_is_asked_of_what_was_seen(open_page):
    tab = open_page(to_html(golden("s10"), mode="predict", lang="en"))
    predict(tab)
    until = tab.js("() => kvlab.answers[0].until")
    assert until < tab.js("() => kvlab.limit")
    tab.page.click("#kvlab .seen [data-do=play]")
    tab.page.wait_for_function("() => !kvlab.timer")
    assert tab.js("() => kvlab.run.at") == until
    tab.press(" ")  # on, whether or not it was answered
    tab.page.wait_for_function("() => kvlab.run.at === kvlab.limit")


def test_what_was_seen_and_the_next_question_stand_together(open_page):
    tab = open_page(to_html(golden("s10"), mode="predict", lang="en"))
    while (at := predict(tab)) < 43:
        pass
    assert tab.js("() => kvlab.answers.at(-1).until === kvlab.limit")
    tab.press("End")
    assert len(tab.page.query_selector_all("#kvlab [data-do=saw]")) == 3
    assert tab.js("() => kvlab.asking") > at
    tab.press("Alt+3", "Tab", "Enter")  # by keyboard: "rises"
    assert tab.js("() => kvlab.answers.at(-1).saw") == "rises"
    assert tab.js("() => document.activeElement.closest('.p-why') !== null")


def test_what_was_seen_is_not_asked_where_nothing_changes(
    open_page,
):
    tab = open_page(to_html(golden("s25"), mode="predict", lang="en"))
    assert predict(tab) == 6
    tab.press("End")
    assert tab.js("() => kvlab.asking") == 7
    answer = tab.js("() => kvlab.answers[0]")
    assert answer["about"] is answer["until"] is None
    told = tab.page.inner_text("#kvlab .p-why")  # above the next question, at once
    assert told.startswith("✗ not what you predicted")
    assert tab.page.query_selector("#kvlab .seen") is None


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_tells_an_answer_from_its_neighbours_stands_out(open_page, lang):
    tab = open_page(to_html(golden("s25"), mode="predict", lang=lang))
    tab.press("End")
    parts = tab.js(
        """() => [...document.querySelectorAll(".ans:not(.conf) span")].map(at =>
            [at.textContent, [...at.querySelectorAll("b")].map(b => b.textContent)])"""
    )
    assert len({" ".join(strong) for _, strong in parts}) == len(parts) == 5
    assert all(strong and "*" not in words for words, strong in parts)
    predict(tab)
    assert "*" not in tab.page.inner_text("#kvlab .p-why")


def everything_said(tab: Tab) -> str:
    """Return all text and every attribute of the player that could hold words."""
    return tab.js(
        """() => { const root = document.getElementById('kvlab'), said = [];
            for (const x of [root, ...root.querySelectorAll('*')]) {
                if (x.tagName === 'STYLE') continue;
                for (const a of x.attributes) said.push(a.value);
                for (const c of x.childNodes) if (c.nodeType === 3) said.push(c.data) }
            return said.join('\\n') }"""
    )


def test_no_word_of_a_covered_card_is_anywhere_in_the_page(open_page):
    tab = open_page(to_html(golden("s18"), mode="predict", lang="en"))
    hidden = tab.js(
        """() => { const e = kvlab.limit; kvlab.mode = 'watch'; kvlab.show(e + 1);
            const said = [document.querySelector('#kvlab h2').textContent,
                document.querySelector('#kvlab .p-why .v').textContent];
            kvlab.setMode('predict'); return said }"""
    )
    tab.press("End")
    assert tab.js("() => kvlab.asking") >= 0
    said = everything_said(tab)
    assert "What happens?" in said
    for words in hidden:
        assert len(words) > 10 and words not in said


def test_filters_and_watches_find_nothing_behind_an_open_question(open_page):
    tab = open_page(to_html(golden("s18"), mode="predict", lang="en"))
    limit = tab.js("() => kvlab.limit")
    tab.press("/")
    tab.page.fill("#kvlab .fk", "admit")
    tab.page.click("#kvlab [data-do=search]")
    assert tab.js("() => Array.from(kvlab.hits)") == []
    tab.js("() => kvlab.setMode('watch')")
    tab.page.fill("#kvlab .fk", "admit")
    tab.page.click("#kvlab [data-do=search]")
    assert tab.js("() => Array.from(kvlab.hits)")[0] == limit
