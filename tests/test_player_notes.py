"""Do bookmarks and notes do in a browser what they say, by keyboard and by mouse?"""

from __future__ import annotations

import re

import pytest
from played import golden
from player_tab import Tab, hold_frames, needs_chromium, saved, words_of
from test_notes import HOSTILE, marks_in

from kvlab.views.notes import seconds
from kvlab.views.page import to_html
from kvlab.views.player_script import modules

pytestmark = needs_chromium
NOTES = {9: "the cause", 30: "30 are missing", 61: "the consequence"}
CAPTION = "#kvlab .caption span:not([aria-hidden])"


def caption(tab: Tab) -> str:
    found = tab.page.query_selector(CAPTION)
    return found.inner_text() if found and found.is_visible() else ""


def write(tab: Tab, text: str) -> None:
    tab.press("n")
    tab.page.keyboard.type(text)
    tab.page.keyboard.press("Enter")


def marks(tab: Tab) -> list:
    """Return what the page would keep."""
    return tab.js("() => marksHeard")


@pytest.fixture
def tab(open_page):
    """A page without notes, whose changes of marks are heard."""
    tab = open_page(to_html(golden("s10"), lang="en", start=20))
    tab.js("() => { kvlab.hooks.marks = (list) => (window.marksHeard = list) }")
    return tab


def test_without_notes_there_is_no_room_for_them(tab):
    tab.press("b")
    assert tab.page.query_selector("#kvlab .caption").is_visible() is False


def test_a_note_is_written_by_keyboard_and_stands_under_the_headline(tab):
    write(tab, "all of it, by keys: n b .")
    assert caption(tab) == "all of it, by keys: n b ."
    assert tab.js("() => document.activeElement.id") == "kvlab"
    assert marks(tab) == [[20, "all of it, by keys: n b ."]]
    tab.press("ArrowRight")
    assert caption(tab) == ""
    tab.press("ArrowLeft")
    assert caption(tab) == "all of it, by keys: n b ."


def test_a_note_is_written_by_mouse(tab):
    tab.page.click("#kvlab .ctl [data-do=note]")
    tab.page.fill("#kvlab .panel .line", "by mouse")
    tab.page.click("#kvlab .panel [data-do=keep]")
    assert caption(tab) == "by mouse"
    assert tab.page.query_selector("#kvlab .panel .line") is None


def test_escape_leaves_the_note_as_it_was(tab):
    write(tab, "kept")
    tab.press("n")
    tab.page.keyboard.type(" more")
    tab.page.keyboard.press("Escape")
    assert caption(tab) == "kept"


def test_an_empty_note_leaves_the_bookmark(tab):
    write(tab, "gone soon")
    tab.page.keyboard.press("n")
    tab.page.fill("#kvlab .panel .line", " ")
    tab.page.keyboard.press("Enter")
    assert (caption(tab), marks(tab)) == ("", [[20, ""]])


def test_a_bookmark_that_goes_takes_its_note_along_and_brings_it_back(tab):
    write(tab, "kept")
    tab.press("b")
    assert (caption(tab), marks(tab)) == ("", [])
    tab.press("ArrowLeft", "ArrowRight")
    assert "kept" not in tab.js("() => kvlab.live.textContent")
    tab.press("b")
    assert (caption(tab), marks(tab)) == ("kept", [[20, "kept"]])


def test_who_writes_a_note_stops_the_play(tab):
    tab.press("Space", "n")
    plays, at, written = tab.js(
        "() => [!!kvlab.timer, kvlab.run.at, kvlab.written + 1]"
    )
    assert not plays and at == written


def test_what_becomes_of_a_note_is_told_in_one_line(tab):
    tab.press("n")
    assert tab.page.locator("#kvlab .panel").bounding_box()["height"] < 90


def test_a_note_belongs_to_the_event_it_was_begun_at(tab):
    tab.press("n")
    tab.page.keyboard.type("of 20")
    tab.page.click("#kvlab .ctl [data-do=next]")
    tab.page.click("#kvlab .panel [data-do=keep]")
    assert marks(tab) == [[20, "of 20"]]


def test_before_the_first_event_there_is_nothing_to_write_to(tab):
    tab.press("Home", "n")
    assert tab.page.query_selector("#kvlab .panel .line") is None


def test_a_longer_note_is_cut(tab):
    tab.press("n")
    tab.page.keyboard.insert_text("x" * 300)
    tab.page.keyboard.press("Enter")
    assert marks(tab) == [[20, "x" * 200]]


def test_one_key_each_goes_to_the_next_bookmark_and_the_last(open_page):
    tab = open_page(to_html(golden("s10"), notes=NOTES, start=20))
    at = []
    for key in (".", ".", ".", ",", ",", ","):
        tab.press(key)
        at.append(tab.js("() => kvlab.run.at"))
    assert at == [30, 61, 61, 30, 9, 9]
    tab.page.click("#kvlab .marked [data-do=mark][data-to='1']")
    assert tab.js("() => kvlab.run.at") == 30


def test_nothing_moves_as_notes_come_and_go(open_page):
    tab = open_page(to_html(golden("s10"), notes={**NOTES, 61: "long " * 40}))
    tops = set()
    for at in (8, 9, 30, 61, 62):
        tab.js("at => kvlab.show(at)", at)
        tops.add(tab.js("() => kvlab.$('.body').getBoundingClientRect().top"))
    assert len(tops) == 1


@pytest.fixture
def leave(open_page):
    """Opens a page of its own; leaving it by a reload returns whether it asked."""
    tab = open_page(to_html(golden("s10"), lang="en", start=20, notes={9: "kept"}))
    asked = []

    def hear(dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    def left() -> list[str]:
        asked.clear()
        tab.page.reload()
        tab.page.wait_for_selector("[data-ready]")
        return asked

    tab.page.on("dialog", hear)
    return tab, left


def test_who_would_lose_a_note_is_asked_before_the_page_goes(leave):
    tab, left = leave
    write(tab, "not in the file")
    assert left() == ["beforeunload"]
    assert tab.js("() => [...kvlab.notes.values()]") == ["kept"]
    assert left() == []  # nothing was written since


def test_bookmarks_and_notes_of_the_file_are_no_reason_to_ask(leave):
    tab, left = leave
    tab.press("b", "End", "b")
    assert left() == []


def test_a_note_that_was_saved_is_no_reason_to_ask(leave, tmp_path):
    tab, left = leave
    tab.press("n")
    tab.page.keyboard.type("in the file")
    assert "until this page is closed" in tab.page.inner_text("#kvlab .panel")
    with tab.page.expect_download() as coming:  # by the button in the panel
        tab.page.click("#kvlab .panel .lasts [data-do=save]")
    coming.value.save_as(tmp_path / "copy.html")
    kept = dict(marks_in((tmp_path / "copy.html").read_text()))
    assert kept == {9: "kept", 20: "in the file"}
    assert left() == []
    tab.press("n")
    tab.page.keyboard.type("again")
    tab.page.keyboard.press("Enter")
    assert left() == ["beforeunload"]


@pytest.mark.parametrize("note", ["one line", "two lines " * 20, "三行" * 100])
def test_no_note_makes_a_page_higher_than_a_low_window(open_page, note):
    size = {"width": 1280, "height": 720}
    tab = open_page(to_html(golden("s10"), notes={30: note}, start=30), viewport=size)
    assert caption(tab) == note.strip()
    assert tab.js("() => document.documentElement.scrollHeight") <= 720
    tab.press("n")  # nor one that was made longer
    tab.page.fill("#kvlab .panel .line", "longer now " * 18)
    tab.page.keyboard.press("Enter")
    assert tab.js("() => document.documentElement.scrollHeight") <= 720


@pytest.mark.parametrize(("wide", "two"), [(1280, True), (900, False), (700, False)])
def test_with_a_note_no_pane_reaches_into_the_timeline(open_page, wide, two):
    run = golden("s10")
    page = to_html(run, golden("s11") if two else None, notes=NOTES, start=30)
    tab = open_page(page, viewport={"width": wide, "height": 900})
    low, line = tab.js(
        """() => [Math.max(...[...document.querySelectorAll('.body .pane')].map(
            pane => pane.getBoundingClientRect().bottom)),
            kvlab.$('.tl').getBoundingClientRect().top]"""
    )
    assert low <= line + 1


def test_a_note_is_told_to_a_screen_reader_and_the_others_are_not(open_page):
    tab = open_page(to_html(golden("s10"), notes=NOTES, lang="en"))
    tab.press(".")
    assert tab.js("() => kvlab.live.textContent").endswith("the cause")
    hidden = "#kvlab .caption [aria-hidden=true]"
    assert len(tab.page.query_selector_all(hidden)) == 2


def test_a_note_is_shown_as_it_was_written(open_page):
    tab = open_page(to_html(golden("s10"), notes={9: HOSTILE}, start=9))
    assert caption(tab).startswith("</script><img src=x onerror=alert(1)> &")
    assert "\\u202e" in caption(tab)
    tab.press("n")
    assert tab.page.query_selector("#kvlab img") is None
    title = tab.page.get_attribute("#kvlab .marked [data-to='9']", "title")
    assert 'onerror=alert(1)> & "quoted"' in title


def flags(tab: Tab, *events: int) -> list[int]:
    """Return how many pixels of the flag over each event are coloured."""
    return tab.js(
        """events => { const [canvas] = kvlab.tl, ratio = canvas.width / kvlab.wide;
            const {data} = canvas.getContext("2d").getImageData(
                0, 0, canvas.width, 5 * ratio);
            const coloured = (from, end) => {
                let n = 0;
                for (let i = 3; i < data.length; i += 4) {
                    const x = ((i - 3) / 4) % canvas.width;
                    n += x >= from && x < end && data[i] > 128;
                }
                return n };
            return events.map(e => {
                const x = 56 + ((e - 1) / kvlab.run.count) * (kvlab.wide - 56);
                return coloured((x - 7) * ratio, (x + 7) * ratio) }) }""",
        events,
    )


def test_the_flag_of_a_note_has_another_shape(open_page):
    tab = open_page(to_html(golden("s10"), notes={30: "x"}, start=60))
    tab.press("b")
    noted, plain = flags(tab, 30, 60)
    assert noted > 1.5 * plain > 0


def test_a_saved_page_holds_the_marks_of_that_moment(open_page, tmp_path):
    tab = open_page(to_html(golden("s10"), notes=NOTES, lang="en", start=20))
    write(tab, HOSTILE.strip() + "取回")
    tab.press("End", "b")
    tab.page.keyboard.press(",")  # 61, whose bookmark goes
    tab.page.keyboard.press("b")
    page = saved(tab, "html", tmp_path).decode()
    kept = dict(marks_in(page))
    assert [*kept] == [9, 30, 20, 105]
    assert kept[20].startswith("</script><img src=x onerror=alert(1)>")
    assert (kept[9], kept[105]) == ("the cause", "")
    copy = open_page(page)
    assert caption(copy).endswith("取回")
    again = saved(copy, "html", tmp_path).decode()
    assert dict(marks_in(again)) == kept and again.count('id="kvlab-marks"') == 1


def test_a_saved_picture_says_the_note(open_page, tmp_path):
    tab = open_page(to_html(golden("s10"), notes={30: HOSTILE}, start=30))
    words = " ".join(words_of(saved(tab, "svg", tmp_path)))
    assert "</script><img src=x onerror=alert(1)>" in words
    tab.press("ArrowRight")
    assert b"onerror" not in saved(tab, "svg", tmp_path)


def test_behind_an_open_question_no_note_is_shown(open_page):
    trace = golden("s10")
    page = to_html(trace, notes={len(trace): "last words"}, mode="predict")
    tab = open_page(page)
    tab.press(".")
    assert tab.js("() => kvlab.run.at") == 0
    assert "last words" not in tab.page.inner_html("#kvlab")


def test_playing_waits_at_a_note_until_it_is_read(open_page):
    note = "x" * 9
    tab = open_page(to_html(golden("s10"), notes={30: note}, lang="en"))
    frame = hold_frames(tab)
    tab.page.select_option("#kvlab .speed", label="64×")
    tab.press(" ")
    read = 400 + 1000 * seconds(note)
    assert [frame(at) for at in (0, 400, read - 50)] == [1, 30, 30]
    assert caption(tab) == note
    assert frame(read + 50) > 30


@pytest.mark.parametrize("note", ["x" * 150, "取回 14 个 token"])
def test_the_page_and_python_agree_how_long_a_note_is(tab, note):
    source = modules()["caption.js"]
    pace = re.findall(r"^const (?:ALOUD|BREATH) .*$", source, re.MULTILINE)
    count = re.search(r"^export (function secondsOf.*?^\})", source, re.M | re.S)[1]
    told = tab.js(
        f"note => {{ {chr(10).join(pace)}\n {count}\n return secondsOf(note) }}", note
    )
    assert told == pytest.approx(seconds(note))


def test_a_note_is_written_in_chinese(open_page):
    tab = open_page(to_html(golden("s10"), lang="zh", start=20))
    tab.press("n")
    assert "事件 20 的批注" in tab.page.inner_text("#kvlab .panel")
    tab.page.keyboard.insert_text("这里缺 30 个 token")
    tab.page.keyboard.press("Enter")
    assert caption(tab) == "这里缺 30 个 token"
