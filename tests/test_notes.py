"""Does what is written to an event reach the page, as data and nothing else?"""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest

from kvlab import play
from kvlab.cli import main
from kvlab.errors import TraceError
from kvlab.views.notes import LONGEST, seconds
from kvlab.views.page import to_html
from kvlab.views.streams import unpack

HOSTILE = '</script><img src=x onerror=alert(1)> & "quoted" \u202e\u2028'


def marks_in(page: str) -> list:
    """Return what a page keeps of bookmarks."""
    found = re.search(r'id="kvlab-marks">([^<]*)</script>', page)
    return json.loads(base64.b64decode(found[1])) if found else []


def test_a_page_without_notes_keeps_none(sample):
    assert "kvlab-marks" not in to_html(sample).split('<script type="module">')[0]
    assert marks_in(play(sample).to_html()) == []


def test_notes_are_bookmarks_in_the_order_of_the_run(sample):
    player = play(sample, notes={9: "later", 3: "first"})
    assert player.bookmarks == [3, 9]
    assert player.notes == {3: "first", 9: "later"}
    assert marks_in(player.to_html()) == [[3, "first"], [9, "later"]]


def test_the_page_of_a_player_keeps_what_was_marked_since(sample):
    player = play(sample, notes={3: "first"})
    player.bookmarks, player.notes = [3, 8], {8: "since"}
    assert marks_in(player.to_html()) == [[3, ""], [8, "since"]]


def test_a_note_from_the_browser_counts_events_with_numbers(sample):
    player = play(sample)
    player.set_state({"bookmarks": [8], "notes": {"8": "written there"}})
    assert player.notes == {8: "written there"}


def test_a_note_is_one_line(sample):
    assert play(sample, notes={3: " two\n lines\t"}).notes == {3: "two lines"}


def test_a_note_is_data_and_no_markup(sample):
    page = to_html(sample, notes={3: HOSTILE})
    assert HOSTILE not in page and "onerror" not in page
    assert marks_in(page) == [[3, " ".join(HOSTILE.split())]]


@pytest.mark.parametrize(
    ("notes", "problem"),
    [
        ({0: "none"}, "note 0.*to no event of the run; use 1 to 142"),
        ({143: "none"}, "note 143.*to no event of the run; use 1 to 142"),
        ({3: "x" * (LONGEST + 1)}, "note 3.*no short text; use at most 200 characters"),
        ({3: None}, "note 3.*no short text"),
        ({"3": "a"}, "note '3'.*to no event of the run; use 1 to 142"),
        ({3: "a", 2.5: "b", None: "c"}, "note 2.5.*to no event of the run"),
        (["a"], 'notes: have no events; give {137: "30 are missing"}'),
    ],
)
def test_a_note_that_cannot_be_is_refused(sample, notes, problem):
    for show in (play, to_html):
        with pytest.raises(TraceError, match=problem):
            show(sample, notes=notes)


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ({"start": "9"}, "step '9': is not in the run; use 0 to 142"),
        ({"start": 143}, "step 143: is not in the run; use 0 to 142"),
        ({"ask": 9}, r"ask: names no events; give a list, like \[12, 30\]"),
        ({"ask": [9, "x"]}, "question 'x'.*to no event of the run; use 1 to 142"),
        ({"ask": [0]}, "question 0.*to no event of the run; use 1 to 142"),
    ],
)
def test_a_start_or_a_question_that_cannot_be_is_refused(sample, how, problem):
    for show in (play, to_html):
        with pytest.raises(TraceError, match=problem):
            show(sample, **how)


def test_events_may_be_numbers_of_numpy(sample):
    nine = np.int64(9)
    player = play(sample, start=nine, ask=np.array([9]), notes={nine: "here"})
    assert (player.step, player.notes) == (9, {9: "here"})
    assert unpack(player.log)[0]["ask"] == [9]


def test_the_command_line_takes_notes(tmp_path, capsys):
    page = tmp_path / "page.html"
    told = ("--note", "9:the cause", "--note", "12:then: this")
    assert main(["play", "three_fates", "-o", str(page), *told]) == 0
    assert marks_in(page.read_text()) == [[9, "the cause"], [12, "then: this"]]


def test_a_note_without_its_event_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["play", "three_fates", "-o", str(tmp_path / "p"), "--note", "why"])
    assert "'why' is not EVENT:TEXT, like 137:why" in capsys.readouterr().err


def test_chinese_takes_longer_a_character():
    assert seconds("x" * 150) == pytest.approx(11)
    assert seconds("读" * 50) == pytest.approx(11)
