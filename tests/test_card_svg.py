"""Does the card beside a still show what was needed and what was there?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from played import played

from kvlab.lessons.scenarios import SCENARIOS
from kvlab.record import events as ev
from kvlab.record.events import Decision
from kvlab.record.replay import Replay
from kvlab.views.card_svg import WIDE, card_svg
from kvlab.views.frame import frame_of
from kvlab.views.markup import join
from kvlab.views.theme import LANGS, LOOKS

GOLDENS = sorted((Path(__file__).parent / "goldens" / "sglang").glob("s0*"))


@pytest.fixture(scope="module")
def trace():
    return SCENARIOS["thirty_seconds"]().trace


def admissions(trace, verdict):
    answers = enumerate(trace.events, 1)
    return [n for n, e in answers if isinstance(e, ev.Admit) and e.verdict == verdict]


def drawn(trace, step, lang="en"):
    parts, height = card_svg(trace, frame_of(Replay(trace), step), lang)
    return str(join(parts)), height


def widths(svg, colour):
    """Return how wide the rectangles with an edge of that colour are, in order."""
    rects = [r for r in re.findall("<rect[^>]*>", svg) if f'stroke="{colour}"' in r]
    return [float(re.search(r' width="([\d.]+)"', rect)[1]) for rect in rects]


def test_what_a_refused_request_lacks_is_outlined_to_scale(trace):
    svg, _ = drawn(trace, admissions(trace, "NO_TOKEN")[0])
    (lacking,) = widths(svg, LOOKS["refused"].ink)
    (room,) = widths(svg, LOOKS["available"].edge)[:1]
    assert lacking / (room + 1) == pytest.approx(3 / 4)  # it needs 7, there are 4
    assert ">3 over<" in svg  # three more would be as much as it needs, not more


def test_what_l2_has_free_is_struck_out_of_the_formula(trace):
    svg, _ = drawn(trace, admissions(trace, "NO_TOKEN")[0])
    assert re.search(r'line-through"[^>]*>L2 free = 48<', svg)
    assert svg.count("not in this formula") == 1


def test_an_admitted_request_lacks_nothing(trace):
    svg, _ = drawn(trace, admissions(trace, "CONTINUE")[0])
    assert not widths(svg, LOOKS["refused"].ink) and "short" not in svg


def test_a_change_has_no_card(trace):
    step = next(n for n, e in enumerate(trace.events, 1) if isinstance(e, ev.Alloc))
    assert drawn(trace, step) == ("", 0)


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem[:3])
def test_every_bar_stays_within_the_card(path, lang):
    trace = played(path)
    replay = Replay(trace)
    for step, event in enumerate(trace.events, 1):
        if isinstance(event, Decision):
            parts, height = card_svg(trace, frame_of(replay, step), lang)
            for rect in re.findall("<rect[^>]*>", str(join(parts))):
                x, wide = (
                    float(re.search(rf' {name}="([\d.]+)"', rect)[1])
                    for name in ("x", "width")
                )
                assert x + wide <= WIDE and height > 0
