"""Do the bars of a card show which side is larger, and by how much?"""

from __future__ import annotations

from xml.etree import ElementTree

from kvlab.views.bars import bars_svg
from kvlab.views.reason import NEED, ROOM, Bar, Part
from kvlab.views.theme import LOOKS, fill


def two(need, room, state="available", minus=0):
    return (Bar(NEED, (Part(need, None),)), Bar(ROOM, (Part(room, state),), minus))


def test_a_demand_that_does_not_fit_shows_what_is_short():
    svg = bars_svg(two(21, 18))
    ElementTree.fromstring(svg)
    assert ">3 short<" in svg
    assert LOOKS["refused"].ink in svg


def test_what_is_short_reads_in_chinese():
    assert ">差 3<" in bars_svg(two(21, 18), "zh")


def test_a_demand_that_fits_shows_no_gap():
    assert "short" not in bars_svg(two(10, 18))
    assert "overshoot" not in bars_svg(two(10, 18))


def test_equal_sides_show_no_gap():
    assert "short" not in bars_svg(two(18, 18))
    assert "overshoot" not in bars_svg(two(18, 18, "left"))


def test_an_overshoot_is_dashed():
    svg = bars_svg(two(11, 20, "left"))
    assert ">9 overshoot<" in svg
    assert 'stroke-dasharray="5 3"' in svg


def test_what_is_promised_is_taken_off_the_room():
    svg = bars_svg(two(5, 20, minus=2.0))
    assert ">18.0<" in svg
    assert f'fill="{fill("promised")}"' in svg


def test_nothing_on_both_sides_is_still_a_picture():
    ElementTree.fromstring(bars_svg(two(0, 0)))
