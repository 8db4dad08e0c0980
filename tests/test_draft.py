"""Does a draft keep what was written, and a rubric what was marked?"""

from __future__ import annotations

import pytest
from solutions import solutions
from test_notes import HOSTILE, marks_in

from kvlab.errors import ConfigError, InputError, TraceError
from kvlab.lessons.draft import GIVEN, RUBRIC, present, rubric
from kvlab.lessons.exercises import EXERCISES
from kvlab.lessons.scenarios import nb10, nb13

TOURS = solutions("13.E1").TOURS


@pytest.fixture
def draft():
    return present(*nb13.scene("wrong"))


def test_a_draft_opens_right_before_its_first_note(draft):
    assert draft.player.step == 0 and draft.notes == {}
    assert present(*nb13.scene("lost"), nb13.tour()).player.step == 36


def test_what_is_written_in_the_player_is_reviewed(draft):
    draft.player.notes = TOURS["wrong"]
    draft._heard(draft.card, {"act": "review"}, [])
    assert "nothing to mend" in draft.card.verdict["why"][0]
    assert all(point.holds for point in draft.points.values())
    assert draft.card.verdict["right"] is True
    assert draft.card.verdict["why"][0].count("✓") == 5
    assert draft.card.verdict["why"][1].count("✓") == 5


def test_the_player_goes_to_the_event_that_lacks_something(draft):
    draft.player.notes = {e: t for e, t in TOURS["wrong"].items() if e != 25}
    assert draft.review() is False
    assert draft.player.step == 25
    assert "✗ no note to event 25, try_backup" in draft.card.verdict["why"][0]


def test_once_checked_the_card_follows_every_note_and_the_player_stays(draft):
    draft.player.notes = {e: t for e, t in TOURS["wrong"].items() if e != 25}
    assert draft.card.verdict == {}
    draft.review()
    draft.player.step = 3
    draft.player.notes = TOURS["wrong"]
    assert draft.card.verdict["right"] is True and draft.player.step == 3


def test_a_note_whose_bookmark_went_is_none(draft):
    draft.player.notes = TOURS["wrong"]
    draft.player.bookmarks = [e for e in draft.player.bookmarks if e != 25]
    assert 25 not in draft.notes
    assert draft.review() is False


def test_a_tour_is_saved_as_a_page_with_its_notes(draft, tmp_path):
    draft.player.notes = {9: HOSTILE, **TOURS["wrong"]}
    assert draft.save(tmp_path / "tour.html")
    page = (tmp_path / "tour.html").read_text("utf-8")
    assert dict(marks_in(page)) == draft.notes
    assert "onerror" not in page
    assert str(tmp_path / "tour.html") in draft.card.verdict["why"][0]


def test_nothing_is_written_without_a_note(draft, tmp_path):
    assert draft.save(tmp_path / "tour.html") is False
    assert list(tmp_path.iterdir()) == []
    assert "还没有批注" in draft.card.verdict["why"][1]


def test_a_file_that_cannot_be_written_is_told_on_the_card(
    draft, tmp_path, monkeypatch
):
    draft.player.notes = TOURS["wrong"]
    (tmp_path / "my_tour.html").mkdir()
    monkeypatch.chdir(tmp_path)
    draft._heard(draft.card, {"act": "save"}, [])
    assert "is a directory" in draft.card.verdict["why"][0]
    with pytest.raises(InputError, match="name a file"):
        draft.save(tmp_path)


@pytest.mark.parametrize("outcome", [0, 45, 2.5, "28", None])
def test_an_outcome_that_is_no_event_is_refused(outcome):
    trace, _ = nb13.scene("wrong")
    with pytest.raises(TraceError, match="no event of the run; use 1 to 44"):
        present(trace, outcome)


def test_a_run_of_blocks_is_refused():
    with pytest.raises(ConfigError, match="of a run of SGLang"):
        present(nb10.preempt().trace, 3)


def test_the_marks_of_a_neighbour_come_to_words_to_hand_back():
    card = rubric("en")
    told = card.give({**dict.fromkeys(RUBRIC, 2), "rule": 1, "otherwise": "0"})
    assert card.marks["rule"] == 1
    head, *lines = told.splitlines()
    assert head == "9 of 12. Hand back:"
    assert lines == [
        f"– {RUBRIC['rule'].en} (in part)", f"– {RUBRIC['otherwise'].en} (no)"
    ]  # fmt: skip


def test_full_marks_have_nothing_to_hand_back():
    card = rubric("zh")
    card._heard(card.card, {"check": dict.fromkeys(RUBRIC, "2")}, [])
    assert card.card.verdict["why"][1] == "12 分得 12 分。 没有要改的。"


@pytest.mark.parametrize("mark", ["", "3", None, -1])
def test_a_mark_that_is_none_is_refused(mark):
    with pytest.raises(ConfigError, match="no mark for rule; give 0, 1 or 2"):
        rubric("en").give({**dict.fromkeys(RUBRIC, 2), "rule": mark})


def test_a_rubric_and_a_draft_leave_their_words_where_no_widget_runs(draft):
    for sheet in (rubric("en"), draft):
        html = sheet._repr_mimebundle_()
        data = html[0] if isinstance(html, tuple) else html
        assert "<p>" in data["text/html"]
    assert all(words.en in repr_html(rubric("en")) for words in GIVEN.values())


def repr_html(sheet) -> str:
    bundle = sheet._repr_mimebundle_()
    return (bundle[0] if isinstance(bundle, tuple) else bundle)["text/html"]


def test_the_exercises_speak_of_the_runs_that_may_be_chosen():
    assert "(14)" in EXERCISES["13.E1"].asks.en
