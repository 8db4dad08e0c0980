"""Is every event a mark in its lane?"""

from __future__ import annotations

from kvlab.record.events import Decision
from kvlab.views.draw import OCTAGON
from kvlab.views.lanes import WIDTH, Span, lanes, spans, x_of
from kvlab.views.series import series
from kvlab.views.theme import INK, LOOKS, fill


def test_a_decision_is_a_diamond_a_refusal_half_filled_a_loss_a_crossed_octagon(sample):
    svg, told = lanes(sample), series(sample)
    decisions = [isinstance(event, Decision) for event in sample.events]
    lost = sum(decisions[step - 1] for step in told.losses)
    assert told.refusals and lost and lost < len(told.losses)
    assert svg.count("l5.5 6l-5.5 6") == sum(decisions) - lost
    alert = LOOKS["refused"].ink
    assert svg.count(f'h11l-5.5 6z" fill="{alert}"') == len(told.refusals)
    assert svg.count(f'stroke="{alert}" stroke-width="1.4"') == len(told.refusals)
    plain = sum(decisions) - lost - len(told.refusals)
    assert svg.count(f'stroke="{INK}" stroke-width="1.4"') == plain
    assert svg.count(f'd="{OCTAGON}" fill="{alert}"') == len(told.losses)
    assert svg.count("M6 6l8 8M14 6l-8 8") == len(told.losses)


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
    assert ">拒绝<" in svg and ">丢失<" in svg
    told = series(sample)
    assert (svg.count(" 46v11"), svg.count(" 63v5")) == (
        len(told.losses), len(told.refusals)
    )  # fmt: skip
    assert "l5.5 6l-5.5 6" not in svg


def test_the_lanes_have_names_in_both_languages(sample):
    assert ">decide<" in lanes(sample)
    assert ">决策<" in lanes(sample, "zh")
