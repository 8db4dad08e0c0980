"""Does the page bear damaged logs and hostile names?"""

from __future__ import annotations

import subprocess
import sys

from played import GOLDENS, golden
from player_tab import needs_chromium, saved, words_of

from kvlab import Workbench
from kvlab.record import events as ev
from kvlab.record.trace import Header, Trace
from kvlab.views.log import player_log
from kvlab.views.page import page_of, safe, to_html
from kvlab.views.player_script import script

pytestmark = needs_chromium


HOSTILE = (
    "<script>globalThis.hacked=1</script>", "\u202eright to left", "x" * 10_000,
    "\"'><img src=x onerror=globalThis.hacked=1>", "two\nlines", "</script><h1>",
    "\u2028", "=1+1",
)  # fmt: skip


def test_hostile_names_are_text_everywhere(open_page, tmp_path):
    bench = Workbench(name=HOSTILE[0] + "\u2028</script>", pool_tokens=64)
    trace = Trace(Header(name=bench.trace.header.name, config=bench.trace.header.config,
                         rules=bench.trace.header.rules))  # fmt: skip
    for number, name in enumerate(HOSTILE):
        trace(ev.Step, number, name, name)
        trace(ev.Arrive, name, 5, 3, 0)
        trace(ev.Admit, name, "admitted", 5, 3, 1, 64, 0, 0.5, 9, None, 0, 0,
              "CONTINUE", True)  # fmt: skip
    tab = open_page(to_html(trace, lang="en"))
    for step in range(len(trace) + 1):
        tab.js("step => kvlab.show(step)", step)
        assert (
            tab.js("() => document.querySelectorAll('#kvlab h1, #kvlab img').length")
            == 0
        )
    assert tab.js("() => globalThis.hacked") is None
    assert len(tab.headline) < 200
    tab.js("() => kvlab.show(2)")
    assert "<script>globalThis.hacked" in tab.headline
    for form in ("svg", "film", "perfetto", "csv"):
        file = saved(tab, form, tmp_path)
        if form in ("svg", "film"):
            assert any("<script>globalThis" in word for word in words_of(file))
            assert b"<script" not in file and b"<img" not in file


def test_a_log_that_was_cut_off_says_so_instead_of_nothing(open_page):
    html = to_html(golden("s10"))
    start = html.index('id="kvlab-log">') + len('id="kvlab-log">')
    end = html.index("</script>", start)
    cut = html[: start + (end - start) // 2 // 4 * 4] + html[end:]
    tab = open_page(cut)
    assert "cut off or damaged" in tab.page.inner_text("[role=alert]")


def test_a_fault_of_the_player_is_not_blamed_on_the_log(open_page):
    whole_log = player_log(golden("s10"), extra={"looks": None})
    tab = open_page(page_of(whole_log, title="fault"))
    said = tab.page.inner_text("[role=alert]")
    assert "fault of its own" in said and "null" in said


def test_a_run_that_does_not_fold_says_so_in_the_words_of_the_page(open_page):
    trace = golden("s10")
    broken = Trace(trace.header, [*trace.events[:20], ev.Unlock(-1, 999)])
    said = {
        "en": "event 20 (Unlock): does not fit the state before it: it names 999",
        "zh": "事件 20（Unlock）与之前的状态不符：它提到的 999 并不存在",
    }
    for lang in said:
        note = open_page(to_html(broken, lang=lang)).page.inner_text("#kvlab .note")
        assert [words in note for words in said.values()] == [
            one == lang for one in said
        ]


def test_a_part_of_a_run_says_that_it_is_one(open_page):
    tab = open_page(to_html(golden("s10"), length=20, lang="en"))
    assert "The first 20 of 105 events" in tab.page.inner_text("#kvlab .note")


def test_a_file_that_is_damaged_behind_the_run_is_told(open_page):
    tab = open_page(to_html(golden("s10"), cut="run.jsonl:9: <b>ends", lang="en"))
    assert "damaged behind this run: run.jsonl:9: <b>ends" in tab.page.inner_text(
        "#kvlab .note"
    )


def test_an_engine_fault_ends_the_run_and_is_told(tmp_path, open_page):
    out = tmp_path / "s25.html"
    source = next((GOLDENS / "sglang").glob("s25*"))
    subprocess.run(
        [sys.executable, "-m", "kvlab", "play", source, "-o", out, "--lang", "en"],
        check=True, capture_output=True,
    )  # fmt: skip
    tab = open_page(out.read_text("utf-8"))
    note = tab.page.inner_text("#kvlab .note")
    assert "In kvlab's words: operation 9 (evict_host): n1 was dropped" in note
    tab.press("End")
    touched = """() => { let slots = 0;
        kvlab.run.patches((column, first, count) => {
            if (kvlab.log.columns[column] === "owner2") slots += count; });
        return slots }"""
    assert tab.js(touched) == 20  # half of them were free before
    said = tab.page.inner_text("#kvlab .a2")
    assert "−40" in said and "40 more counted than there are slots" in said


def test_a_script_cannot_end_its_own_element():
    assert "</" not in safe(script()).replace("<\\/", "")
    assert page_of(b"KVP1", title="</title><script>").count("<script") == 2


def test_a_title_holds_no_control_character():
    page = page_of(b"KVP1", title="a\0\x1b\u202e\ud800b")
    assert r"<title>a\x00\x1b\u202e" + "\N{REPLACEMENT CHARACTER}b</title>" in page
