"""Does a picture show which slots hold the wrong contents?"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from kvlab.cli import main
from kvlab.errors import TraceError
from kvlab.lessons.planted import tell
from kvlab.record import events as ev
from kvlab.record.trace_file import write_trace
from kvlab.views.contents import by_contents, contents_lines, contents_of
from kvlab.views.frame import frame_at
from kvlab.views.pool_map import contents_map, pool_map
from kvlab.views.slots import runs
from kvlab.views.text import contents_text
from kvlab.views.theme import LANGS


@pytest.fixture(scope="module")
def run():
    return tell("early unlock").trace


@pytest.fixture(scope="module")
def bad(run):
    """The step after the first comparison that found something, and all it told."""
    first = next(i for i, e in enumerate(run.events) if isinstance(e, ev.Wrong))
    return first + run.events[first - 1].wrong


def looks(run, step, tier):
    found = runs(frame_at(run, step), tier)
    cut = by_contents(found, tier, contents_of(run, step), run.header.config.page_size)
    return [(part.first, part.length, part.state) for part in cut]


def test_before_the_first_comparison_nothing_is_known(run):
    assert contents_of(run, 0) is None
    assert contents_lines(None) == ["Nothing has been compared yet."]
    assert contents_lines(None, "zh") == ["尚未核对。"]


def test_what_a_comparison_found_is_known_though_it_is_told_one_by_one(run, bad):
    assert [len(contents_of(run, bad - n).wrong) for n in (0, 1, 12)] == [12, 12, 12]
    assert contents_of(run, bad - 12).number == bad - 12


def test_pages_with_a_wrong_slot_are_wrong_and_the_others_right(run, bad):
    assert looks(run, bad, "L1") == [(1, 10, "right"), (11, 4, "available")]
    assert looks(run, bad, "L2")[:2] == [(0, 6, "wrong"), (6, 10, "right")]


def test_a_run_is_cut_where_its_contents_differ(run, bad):
    half = contents_of(run, bad)
    half = half._replace(wrong=half.wrong[:6])
    found = runs(frame_at(run, bad), "L2")
    cut = by_contents(found, "L2", half, run.header.config.page_size)
    assert [(part.first, part.length, part.state) for part in cut[:2]] == [
        (0, 3, "wrong"), (3, 3, "right"),
    ]  # fmt: skip


def test_what_was_handed_out_since_keeps_the_look_of_its_state(run, bad):
    step = next(
        i + 1
        for i, e in enumerate(run.events)
        if i > bad and isinstance(e, ev.Add | ev.Load | ev.Backup)
    )
    since = contents_of(run, step).since
    assert since["L1"] or since["L2"]
    for tier in ("L1", "L2"):
        for first, length, state in looks(run, step, tier):
            if since[tier] & set(range(first, first + length)):
                assert state not in ("right", "wrong")


def test_the_first_wrong_slots_are_told_with_expected_and_found(run, bad):
    lines = contents_lines(contents_of(run, bad))
    assert lines[1] == "L2 slot 0, n1: should end 102 (1 token), holds 115 (1 token)"
    assert (len(lines), lines[-1]) == (5, "and 9 more")


@pytest.mark.parametrize("lang", LANGS)
def test_the_picture_is_sound_and_marks_wrong_slots_in_pattern_and_words(
    run, bad, lang
):
    drawn = contents_map(frame_at(run, bad), contents_of(run, bad), lang, still=True)
    ElementTree.fromstring(drawn)
    assert drawn.count("url(#kv-wrong)") >= 2  # the slots, and the legend
    assert "! L2" in drawn


def test_the_ordinary_map_has_no_word_of_contents(run, bad):
    drawn = pool_map(frame_at(run, bad), still=True)
    assert 'fill="url(#kv-wrong)"' not in drawn


def test_the_text_twin_says_the_same(run, bad):
    text = contents_text(frame_at(run, bad), contents_of(run, bad))
    assert "0-11      12  * wrong  n1" in text
    assert "L2 slot 2, n1: should end 102 105 114 (3 tokens)" in text


def test_a_slot_that_was_never_written_is_told_so():
    told = ev.Wrong(-1, "L1", 4, "n1", 2, "5 6 (2 tokens)", "", 3)
    from kvlab.views.contents import Contents

    found = Contents(7, ev.Compared(-1, 9, 1), [told], {"L1": set(), "L2": set()})
    assert contents_lines(found)[1].endswith("should end 5 6 (2 tokens), holds nothing")


def test_hostile_names_cannot_leave_the_picture(hostile):
    from conftest import HOSTILE

    from kvlab.views.contents import Contents

    told = ev.Wrong(-1, "L1", 1, HOSTILE, 1, HOSTILE, HOSTILE, 1)
    found = Contents(1, ev.Compared(-1, 1, 1), [told], {"L1": set(), "L2": set()})
    drawn = contents_map(frame_at(hostile, len(hostile)), found)
    ElementTree.fromstring(drawn)
    assert "<script" not in drawn


def test_render_draws_contents(run, bad, tmp_path):
    path, out = tmp_path / "run.jsonl.gz", tmp_path / "c.svg"
    write_trace(run, path)
    asked = ["render", str(path), "--step", str(bad), "--what", "contents"]
    assert main([*asked, "-o", str(out)]) == 0
    assert "kv-wrong" in out.read_text()


def test_a_step_that_the_run_does_not_have_is_refused(run):
    with pytest.raises(TraceError):
        contents_of(run, len(run) + 1)
