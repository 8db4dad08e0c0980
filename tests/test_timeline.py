"""Does the figure over time say what the accounts say?"""

from __future__ import annotations

import json

import pytest

from kvlab.errors import TraceError
from kvlab.views.series import series
from kvlab.views.timeline import MOST_POINTS, timeline


def figure_of(trace, step=None, lang="en"):
    return json.loads(timeline(trace, step, lang).to_json())


def by_name(figure, name):
    return [trace for trace in figure["data"] if trace["name"] == name]


def test_the_terms_of_l1_are_stacked_with_their_patterns(sample):
    figure = figure_of(sample)
    stacked = [t for t in figure["data"] if t.get("stackgroup") == "row 2"]
    assert [t["name"] for t in stacked] == ["used", "held", "evictable", "available"]
    shapes = [t["fillpattern"]["shape"] for t in stacked]
    assert shapes == ["", "|", "/", ""]


def test_the_curves_are_the_accounts(sample):
    (used,) = by_name(figure_of(sample), "used")
    assert used["y"] == series(sample).l1[:, 0].tolist()


def test_l2_lies_below_on_the_same_steps(sample):
    (host,) = by_name(figure_of(sample), "host only")
    assert host["yaxis"] == "y3"
    assert max(host["y"]) == 30


def test_decisions_are_marks_that_say_their_sentence(sample):
    figure = figure_of(sample)
    (decisions,) = by_name(figure, "decisions")
    (refused,) = by_name(figure, "refused")
    (losses,) = by_name(figure, "losses")
    told = series(sample)
    assert refused["x"] == told.refusals and losses["x"] == told.losses
    assert {*decisions["x"]} == {*told.decisions} - {*told.refusals, *told.losses}
    assert len({m["marker"]["symbol"] for m in (decisions, refused, losses)}) == 3
    assert "n1 leaves L2 and the tree" in " ".join(losses["text"])
    assert "c waits: it needs 21 tokens, only 10 can be promised" in refused["text"]


def test_the_step_is_a_line_through_all_rows(sample):
    lines = figure_of(sample, 80)["layout"]["shapes"]
    assert [(line["x0"], line["x1"]) for line in lines] == [(80, 80)] * 3
    assert "shapes" not in figure_of(sample)["layout"]


def test_names_are_chinese_where_asked(sample):
    assert by_name(figure_of(sample, lang="zh"), "可逐出")


def test_a_long_run_is_thinned(sample, monkeypatch):
    monkeypatch.setattr("kvlab.views.timeline.MOST_POINTS", 10)
    (used,) = by_name(figure_of(sample), "used")
    assert len(used["x"]) == 10
    assert MOST_POINTS >= 1000


def test_hostile_names_are_escaped_in_hover_texts(hostile):
    assert "<script" not in timeline(hostile).to_json().replace("\\u003c", "<")


def test_a_step_that_is_not_there_is_refused(sample):
    with pytest.raises(TraceError, match="use 0 to 142"):
        timeline(sample, 143)
