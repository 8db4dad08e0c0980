"""Do curves over decades lie where their numbers say, each with its own name?"""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from kvlab.lessons import curve_figures
from kvlab.views.chart import (
    LEFT,
    TALL,
    TOP,
    WIDE,
    Bracket,
    Curve,
    Frame,
    chart,
    spread,
)
from kvlab.views.theme import Words

CURVE = Curve(
    name=Words("hits <b>", "命中"), points=[(10, 0.0), (100, 50.0), (1000, 100.0)],
    colour="#123456",
)  # fmt: skip
FRAME = Frame(
    title=Words("a title", "标题"), about=Words("", ""), across=Words("x", "横"),
    up=Words("y", "纵"), ticks=(10, 100, 1000), rows=(0, 50, 100), unit=" %",
)  # fmt: skip


def test_a_decade_is_as_wide_as_another():
    xs = [float(x) for x in re.findall(r'cx="([\d.]+)"', chart([CURVE], FRAME))]
    assert xs[:3] == [LEFT, LEFT + WIDE / 2, LEFT + WIDE]


def test_the_top_row_is_the_upper_edge():
    ys = [float(y) for y in re.findall(r'cy="([\d.]+)"', chart([CURVE], FRAME))]
    assert ys[:3] == [TOP + TALL, TOP + TALL / 2, TOP]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_it_is_well_formed_and_a_name_is_text(lang):
    bracket = Bracket(100, 10, 50, Words("far", "远"))
    drawn = chart([CURVE], FRAME, bracket, lang)
    ElementTree.fromstring(drawn)
    assert "<b>" not in drawn
    assert bracket.says.to(lang) in drawn and FRAME.title.to(lang) in drawn


def test_names_that_would_touch_are_moved_apart():
    moved = spread([10, 10, 11, 90], 17)
    gaps = [b - a for a, b in pairwise(moved)]
    assert min(gaps) >= 17 - 1e-3 and moved == sorted(moved)


def test_every_policy_differs_in_more_than_its_colour():
    looks = curve_figures.POLICIES.values()
    assert len({(look.mark, look.dash, look.name.en) for look in looks}) == 4
    marks = [curve_figures.POLICIES[p].mark for p in ("write_through", "selective")]
    assert len(set(marks)) == 2


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_distance_to_belady_is_told_in_points(lang):
    lru, best = [(10, 0.1), (100, 0.2)], [(10, 0.15), (100, 0.32)]
    drawn = curve_figures.ceiling_curves("t", lru, best, lang, 100)
    assert "12.0" in drawn


def test_published_dots_stand_beside_their_own_trace_alone():
    drawn = curve_figures.hit_curves({"mine": [(1e5, 0.1), (1e6, 0.2)]})
    assert drawn.count("FAST&#x27;25") == 1, "only the note names the paper"
    both = curve_figures.hit_curves({"synthetic": [(1e5, 0.1), (1e8, 0.2)]})
    assert both.count("FAST&#x27;25") == 2
