"""Is the still over time whole without a browser?"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from kvlab.errors import TraceError
from kvlab.views.theme import fill
from kvlab.views.timeline_svg import timeline_svg


def test_each_term_is_an_area_in_its_pattern(sample):
    drawn = ElementTree.fromstring(timeline_svg(sample))
    areas = {
        path.get("fill") for path in drawn.iter("{http://www.w3.org/2000/svg}path")
    }
    for state in ("used", "held", "evictable", "host_only", "copy"):
        assert fill(state) in areas, state


def test_the_cursor_names_its_step(sample):
    assert ">80</text>" in timeline_svg(sample, 80)
    assert "h10l-5 -6z" in timeline_svg(sample, 80)
    assert "h10l-5 -6z" not in timeline_svg(sample)


def test_the_axis_has_round_numbers(sample):
    svg = timeline_svg(sample)
    assert all(f">{step}</text>" in svg for step in (0, 20, 40, 120, 142))


def test_a_run_without_events_is_a_picture_too(hostile):
    empty = type(hostile)(hostile.header)
    ElementTree.fromstring(timeline_svg(empty, 0))


def test_hostile_names_stay_text(hostile):
    svg = timeline_svg(hostile, 5, "zh")
    ElementTree.fromstring(svg)
    assert "<script" not in svg


def test_a_step_that_is_not_there_is_refused(sample):
    with pytest.raises(TraceError, match="step 999"):
        timeline_svg(sample, 999)
