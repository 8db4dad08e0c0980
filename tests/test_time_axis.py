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
    assert min(ys) == 44.0


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_figure_is_well_formed_and_named(lang):
    picture = time_axis([LINE], TITLE, end=90, span=(30, 60), lang=lang)
    ElementTree.fromstring(picture)
    assert TITLE.to(lang) in picture and LINE.name.to(lang) in picture


def test_the_twin_in_words_says_the_highest_reading():
    assert time_axis_text([LINE, DOTS]) == "use: 1, 50 s\nTTFT: 9 s, 100 s"


def test_a_reading_stands_at_the_end_of_the_span_with_a_ring_on_the_curve():
    panel = Panel(
        name=LINE.name, points=LINE.points, top=1.0, state="used", reading="98%"
    )
    picture = time_axis([panel], TITLE, end=100, span=(20, 50))
    middle = (LEFT + WIDTH - RIGHT) / 2
    ring = re.search(r'<circle cx="([\d.]+)" cy="([\d.]+)"', picture)
    assert (float(ring[1]), float(ring[2])) == (middle, 44.0)  # 1.0 of 1.0: the top
    assert ">98%<" in picture


@pytest.mark.parametrize(
    ("end", "last"), [(12, "12"), (300, "300"), (460, "7"), (9000, "2.5")]
)
def test_times_are_told_in_seconds_minutes_or_hours(end, last):
    picture = time_axis([LINE], TITLE, end=end)
    ticks = re.findall(r'text-anchor="middle"[^>]*>([^<]+)<', picture)
    assert ticks[-1] == last and len(ticks) <= 13
