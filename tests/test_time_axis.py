"""Do several quantities share one time axis?"""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from kvlab.views.theme import Words
from kvlab.views.time_axis import LEFT, RIGHT, WIDTH, Panel, time_axis, time_axis_text

LINE = Panel(
    name=Words("use", "占用"), points=[(0, 0.0), (50, 1.0), (100, 0.5)], top=1.0
)
DOTS = Panel(
    name=Words("TTFT", "首字"),
    points=[(0, 1.0), (100, 9.0)],
    top=4.0,
    unit=" s",
    dots=True,
)
TITLE = Words("a run", "一次运行")


def test_the_axis_runs_from_edge_to_edge():
    picture = time_axis([LINE, DOTS], TITLE, end=100)
    xs = [float(x) for x in re.findall(r'cx="([\d.]+)"', picture)]
    assert xs == [LEFT, WIDTH - RIGHT]


def test_a_value_above_the_top_stays_in_its_panel():
    picture = time_axis([DOTS], TITLE, end=100)
    ys = [float(y) for y in re.findall(r'cy="([\d.]+)"', picture)]
    assert min(ys) == 34.0


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_figure_is_well_formed_and_named(lang):
    picture = time_axis([LINE], TITLE, end=90, span=(30, 60), lang=lang)
    ElementTree.fromstring(picture)
    assert TITLE.to(lang) in picture and LINE.name.to(lang) in picture


def test_the_twin_in_words_says_the_highest_reading():
    assert time_axis_text([LINE, DOTS]) == "use: 1, 50 s\nTTFT: 9 s, 100 s"
