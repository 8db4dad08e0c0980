"""Is the player in a notebook what its documentation says, and its twin too?"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path

import pytest
from lab_browser import CHROMIUM, chromium
from nbconvert.preprocessors.sanitize import SanitizeHTML
from traitlets import TraitError

from kvlab import Workbench, play
from kvlab.errors import KvlabError, TraceError
from kvlab.lessons.stages import Blocks
from kvlab.record import events as ev
from kvlab.record.trace import BlockTrace, Trace
from kvlab.run.block_script import RequestSpec
from kvlab.run.script import read_script
from kvlab.run.whole import fork_of, run_whole
from kvlab.views.page import TWIN_EVENTS
from kvlab.views.streams import unpack

needs_browser = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ,
    reason="no chromium on this machine (Debian: apt install chromium)",
)


def long_run() -> Trace:
    """A run of more events than a twin holds."""
    bench = Workbench(name="long", pool_tokens=64, host_tokens=128)
    number = 0
    while len(bench.trace) <= TWIN_EVENTS + 100:
        bench.insert(range(number, number + 12))
        number += 12
    return bench.trace


def contents(player) -> dict:
    return unpack(player.log)[0]


def twin_of(player) -> str:
    bundle = player._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in data
    return data["text/html"]


def test_it_watches_unless_it_is_asked_to_predict(sample):
    assert contents(play(sample))["mode"] == "watch"
    assert contents(play(sample, predict=True))["mode"] == "predict"


def test_who_names_what_is_asked_means_to_predict(sample):
    asked = [i for i, e in enumerate(sample.events, 1) if isinstance(e, ev.Admit)]
    assert contents(play(sample, ask=asked))["mode"] == "predict"
    assert contents(play(sample, ask=asked))["ask"] == asked
    assert contents(play(sample, ask=asked, predict=False))["mode"] == "watch"


def test_it_opens_at_the_step_and_in_the_language_that_were_asked_for(sample):
    player = play(sample, 80, "zh")
    assert (player.step, player.lang) == (80, "zh")
    assert (contents(player)["start"], contents(player)["lang"]) == (80, "zh")


def test_a_step_that_is_not_there_is_refused(sample):
    with pytest.raises(TraceError, match="use 0 to 142"):
        play(sample, start=143)


def test_it_shows_the_run_as_it_was_when_it_was_called():
    bench = Workbench(pool_tokens=64)
    bench.insert(range(8))
    player, events = play(bench.trace), len(bench.trace)
    bench.insert(range(100, 108))
    assert len(player.trace) == contents(player)["events"] == events


def test_answers_and_bookmarks_are_empty_lists_at_first(sample):
    player = play(sample)
    assert (player.answers, player.bookmarks) == ([], [])
    assert player.difference is player.other is None


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("step", 143, "step 143: is not in the run; use 0 to 142"),
        ("step", -1, "step -1: is not in the run; use 0 to 142"),
        ("ask_all", 143, "step 143: is not in the run; use 0 to 142"),
        (
            "bookmarks",
            [3, 143],
            "bookmark 143: is to no event of the run; use 1 to 142",
        ),
        ("notes", {0: "x"}, "note 0: is to no event of the run; use 1 to 142"),
        ("notes", {"3": "x"}, "note '3': is to no event of the run; use 1 to 142"),
    ],
)
def test_what_the_run_does_not_have_cannot_be_set(sample, name, value, says):
    player = play(sample, 80, notes={3: "kept"})
    before = getattr(player, name)
    with pytest.raises(TraceError, match=re.escape(says)):
        setattr(player, name, value)
    assert getattr(player, name) == before


def test_it_has_two_modes_and_the_languages_that_there_are(sample):
    player = play(sample, predict=True)
    assert (player.mode, player.lang) == ("predict", "")
    for name, value in (("mode", "study"), ("lang", "fr")):
        with pytest.raises(TraitError, match=f"{name}.*any of.*{value}"):
            setattr(player, name, value)


def test_a_note_that_python_sets_is_a_bookmark_too(sample):
    player = play(sample, notes={9: "later"})
    player.notes = {5: "since"}
    assert player.bookmarks == [5, 9]


def test_a_fork_stands_at_the_first_difference_and_asks_no_more(sample):
    player = play(sample, 80, predict=True)
    player.compare(sample)
    assert (player.step, player.mode) == (80, "watch")
    player.mode = "predict"
    player.compare(Trace(sample.header, sample.events[:-1]))
    assert (player.step, player.mode) == (len(sample), "watch")


def test_where_frames_are_taken_out_words_are_left(sample):
    twin = twin_of(play(sample))
    words = SanitizeHTML(strip=True).sanitize_html_tags(twin)
    assert words.startswith("A run that plays: this site shows no frames.")
    assert twin.startswith("<p hidden>")


def test_without_an_engine_there_is_no_fork(sample):
    with pytest.raises(KvlabError, match=r"give play\(\.\.\., fork=\.\.\.\)"):
        play(sample).fork(pool_tokens=9)
    with pytest.raises(KvlabError, match="call fork"):
        play(sample).report()


def test_a_run_beside_it_is_compared(sample):
    player = play(sample)
    other = Trace(sample.header, sample.events[:-1])
    assert player.compare(other).at == len(sample) - 1
    assert player.other is other and player.log_b
    assert f"first difference: event {len(sample)}" in player.report()
    assert player.to_html().count('id="kvlab-log-b"') == 1


def test_a_twin_of_a_short_run_is_complete(sample):
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', twin_of(play(sample)))[1])
    assert 'id="kvlab-log"' in page and "default-src 'none'" in page


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


def open_twin(browser, folder, player):
    """Return the frame of the twin as a notebook's output shows it, and what it said
    on the console."""
    file = folder / "output.html"
    file.write_text(f"<!doctype html><body>{twin_of(player)}</body>", "utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 860})
    heard: list[str] = []
    page.on("console", lambda m: m.type in ("error", "warning") and heard.append(m))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(file.as_uri())
    frame = page.frames[1]
    frame.wait_for_selector("[data-ready=true]")
    return frame, heard


@pytest.mark.browser
@needs_browser
def test_a_twin_steps_and_holds_every_event_of_a_short_run(browser, tmp_path, sample):
    frame, heard = open_twin(browser, tmp_path, play(sample, lang="en"))
    before = frame.inner_text("#kvlab h2")
    frame.click("#kvlab [data-do=next]")
    frame.focus("#kvlab")
    frame.page.keyboard.press("ArrowRight")
    assert frame.evaluate("kvlab.run.at") == 2
    assert frame.inner_text("#kvlab h2") != before
    frame.page.keyboard.press("End")
    assert frame.evaluate("kvlab.run.at") == len(sample)
    assert heard == []
    frame.page.close()


@pytest.mark.browser
@needs_browser
def test_a_twin_of_a_long_run_says_what_it_left_out(browser, tmp_path):
    trace = long_run()
    frame, heard = open_twin(browser, tmp_path, play(trace, lang="en"))
    said = f"The first {TWIN_EVENTS:,} of {len(trace):,} events"
    assert said in frame.inner_text("#kvlab .note")
    frame.focus("#kvlab")
    frame.page.keyboard.press("End")
    assert frame.evaluate("kvlab.run.at") == TWIN_EVENTS
    assert heard == []
    frame.page.close()


def blocks(**knobs) -> BlockTrace:
    """A run of vLLM: two requests, one after the other."""
    specs = [RequestSpec(id, list(range(10)), out=3, arrival=at)
             for id, at in (("a", 0), ("b", 4))]  # fmt: skip
    engine = Blocks(*specs, **knobs)
    engine.run()
    return engine.trace


def test_a_run_of_blocks_plays_in_a_notebook_as_in_its_twin():
    player = play(blocks(), 3)
    assert contents(player)["blocks"] is True
    assert contents(player)["events"] == len(player.trace)
    assert twin_of(player)


def test_a_run_of_blocks_is_forked_with_vllms_knobs():
    player = play(blocks(), fork=blocks)
    assert player.fork(watermark=0.25).at is None
    found = player.fork(enable_caching=False)
    assert found.at == player.difference.at < len(player.trace)
    assert "enable_caching True → False" in player.report()
    assert "lookup: a reads no cache" in player.report()


def test_a_fork_on_one_rule_shows_the_card_of_that_rule():
    goldens = Path(__file__).parent / "goldens" / "sglang"
    of = read_script(next(goldens.glob("s25*")))
    player = play(run_whole(of)[0], fork=fork_of(of))
    player.fork(rules="0.5.14+load_protects_source")
    because = unpack(player.log_b)[0]["difference"]["because"]
    titles = [told[0].split(" (")[0] for told in because]
    assert "Rule load_protects_source: A no, B yes" in titles
