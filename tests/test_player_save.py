"""Does what is saved from the page say what the page says?"""

from __future__ import annotations

import json
import re

from played import golden
from player_tab import needs_chromium, saved, show, words_of

from kvlab import Workbench
from kvlab.record.replay import Replay
from kvlab.views.cards import card_at, card_text, decision_behind
from kvlab.views.frame import frame_of
from kvlab.views.page import to_html
from kvlab.views.sentences import describe

pytestmark = needs_chromium


def test_a_step_is_saved_as_a_picture_that_says_what_the_page_says(open_page, tmp_path):
    tab = open_page(to_html(golden("s10"), lang="en"))
    show(tab, "load")
    words = words_of(saved(tab, "svg", tmp_path))
    assert {tab.headline, "n1", "L2", "+ 42", "= 64 ✓", "= 96 ✓"} <= set(words)
    png = saved(tab, "png", tmp_path)
    assert png.startswith(b"\x89PNG") and len(png) > 20_000


def test_a_picture_is_named_for_the_moment_that_it_shows(open_page):
    tab = open_page(to_html(golden("s10"), start=5))
    tab.page.click("#kvlab [data-do=panel][data-to=export]")
    with tab.page.expect_download() as coming:  # a key comes before its pixels
        tab.js("() => { kvlab.$('[data-to=png]').click(); kvlab.show(9) }")
    assert coming.value.suggested_filename.endswith("-5.png")


def test_a_picture_carries_the_card_that_python_writes(open_page, tmp_path):
    trace = golden("s11")
    tab = open_page(to_html(trace, lang="en"))
    for variant in ("loadback below_threshold", "admit", "trybackup write"):
        at = show(tab, variant)
        words = " ".join(words_of(saved(tab, "svg", tmp_path)))
        for line in card_text(card_at(trace, at + 1)).splitlines():
            assert " ".join(line.replace("->", "→").split()) in words


def test_a_picture_of_a_change_carries_the_card_of_its_decision(open_page, tmp_path):
    trace = golden("s10")
    tab = open_page(to_html(trace, lang="en"))
    at = show(tab, "load")
    words = " ".join(words_of(saved(tab, "svg", tmp_path)))
    decided = decision_behind(trace, at) + 1
    assert f"What event {decided} decided is carried out:" in words
    assert "22 ≥ 10 ✓ true" in words and "mem_cache/hiradix_cache.py" in words
    assert tab.js("() => kvlab.run.at") == at + 1
    tab.js("() => kvlab.show(2)")  # a change of a command alone has none
    assert "cause:" not in " ".join(words_of(saved(tab, "svg", tmp_path)))


def test_a_film_shows_each_of_its_steps(open_page, tmp_path):
    trace = golden("s10")
    tab = open_page(to_html(trace, lang="en"))
    tab.page.click("#kvlab [data-do=panel][data-to=export]")
    tab.page.fill("#kvlab .film-from", "60")
    tab.page.fill("#kvlab .film-to", "64")
    words = words_of(saved(tab, "film", tmp_path))
    replay = Replay(trace)
    told = [describe(frame_of(replay, step), "en") for step in range(60, 65)]
    assert [word for word in words if word in told] == told
    assert tab.js("() => kvlab.run.at") == 0


def test_a_picture_of_ten_thousand_slots_holds_their_pixels(open_page, tmp_path):
    bench = Workbench(name="large", pool_tokens=10_000, host_tokens=20_000)
    bench.insert(range(5000))
    tab = open_page(to_html(bench.trace, start=len(bench.trace)))
    svg = saved(tab, "svg", tmp_path)
    assert svg.count(b"data:image/png;base64,") == 2 and words_of(svg)


def test_what_an_eviction_freed_beyond_its_ask_is_outlined(open_page, tmp_path):
    bench = Workbench(pool_tokens=24, host_tokens=0)
    bench.insert(range(12))
    bench.evict(5)
    tab = open_page(to_html(bench.trace, start=len(bench.trace), lang="en"))
    assert "L1 was asked for 5 tokens and freed 12" in tab.headline
    svg = saved(tab, "svg", tmp_path).decode()
    (outline,) = re.findall(r'width="([\d.]+)"[^>]*stroke-dasharray="6 4"', svg)
    assert abs(float(outline) - 7 * 448 / 24) < 2


def test_the_page_saves_itself_and_the_copy_plays(open_page, tmp_path):
    tab = open_page(to_html(golden("s10"), lang="en"))
    tab.press("End")
    copy = open_page(saved(tab, "html", tmp_path).decode())
    assert copy.js("() => [kvlab.run.count, kvlab.run.at]") == [105, 0]
    assert copy.page.query_selector_all("#kvlab") != []


def test_the_saved_events_hold_a_flow_for_every_cause(open_page, tmp_path):
    trace = golden("s10")
    tab = open_page(to_html(trace))
    events = json.loads(saved(tab, "perfetto", tmp_path))["traceEvents"]
    caused = [index for index, event in enumerate(trace.events) if event.cause >= 0]
    assert [event["id"] for event in events if event["ph"] == "f"] == caused
    assert [e["ts"] for e in events if e["ph"] == "X"] == list(range(len(trace)))


def test_the_saved_account_has_a_line_for_every_event(open_page, tmp_path):
    tab = open_page(to_html(golden("s10")))
    lines = saved(tab, "csv", tmp_path).decode().split("\r\n")
    assert len(lines) == 1 + 105 + 1
    assert lines[62].split(",")[:6] == ["62", "load", "0", "14", "8", "42"]


def test_nothing_behind_an_open_question_is_saved(open_page, tmp_path):
    tab = open_page(to_html(golden("s18"), mode="predict", lang="en"))
    tab.press("End")
    limit = tab.js("() => kvlab.limit")
    assert len(saved(tab, "csv", tmp_path).splitlines()) == 1 + limit
    tab.page.fill("#kvlab .film-from", "0")
    tab.page.fill("#kvlab .film-to", "9999")
    film = saved(tab, "film", tmp_path).decode()
    assert f"event {limit} ·" in film and f"event {limit + 1} ·" not in film
    assert "NO_TOKEN" not in saved(tab, "svg", tmp_path).decode()


def test_a_picture_says_whose_run_it_is_and_what_the_card_warns_of(open_page, tmp_path):
    tab = open_page(to_html(golden("s25"), lang="en"))
    tab.js("() => kvlab.show(41)")
    svg = saved(tab, "svg", tmp_path)
    words = words_of(svg)
    assert words[0].startswith("s25") and words[0].endswith(" · event 41 · load")
    assert f" · {tab.js('() => kvlab.log.engine')} · write_back · lru · " in words[0]
    assert "20 promised" in words
    assert "event 31 dropped it while it was to be loaded" in " ".join(words)
    (warned,) = re.findall(r'fill="([^"]+)">n1 is in the tree no more', svg.decode())
    assert warned == tab.js("() => kvlab.colour.alert")
    octagon = tab.js("() => document.querySelector('#kvlab .glyph path').outerHTML")
    assert re.search(r' d="([^"]+)"', octagon)[1] in svg.decode()
