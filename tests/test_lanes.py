"""Is every event a mark in its lane?"""

from __future__ import annotations

from kvlab.record.events import Decision
from kvlab.views.lanes import WIDTH, Span, lanes, spans, x_of
from kvlab.views.series import series
from kvlab.views.theme import LOOKS, fill


def test_every_decision_is_a_diamond_and_a_refusal_is_filled(sample):
    svg = lanes(sample)
    decisions = sum(isinstance(event, Decision) for event in sample.events)
    assert svg.count("l5.5 6l-5.5 6") == decisions
    filled = svg.count(f'fill="{LOOKS["refused"].ink}" stroke=')
    assert filled == len(series(sample).refusals)


def test_a_copy_spans_from_submission_to_acknowledgement(sample):
    found = list(spans(sample))
    assert [span.down for span in found] == [True] * 5 + [False]
    assert found[-1] == Span(118, 127, False)


def test_a_copy_still_in_flight_ends_with_the_run(sample):
    cut = type(sample)(sample.header, sample.events[:9])
    assert list(spans(cut)) == [Span(8, 9, True)]


def test_the_steps_run_from_edge_to_edge():
    assert x_of(0, 10) < x_of(5, 10) < x_of(10, 10) < WIDTH
    assert x_of(0, 0) > 0


def test_too_many_events_become_a_curve(sample, monkeypatch):
    monkeypatch.setattr("kvlab.views.lanes.MOST_MARKS", 100)
    svg = lanes(sample, "zh")
    assert f'fill="{fill("evictable")}"' in svg
    assert ">拒绝<" in svg
    assert "l5.5 6l-5.5 6" not in svg


def test_the_lanes_have_names_in_both_languages(sample):
    assert ">decide<" in lanes(sample)
    assert ">决策<" in lanes(sample, "zh")
