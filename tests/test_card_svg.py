"""Does the card beside a still show what was needed and what was there?"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from played import played
from test_timed_engine import RULES, crowd, machine

from kvlab.config import EngineConfig
from kvlab.lessons.scenarios import SCENARIOS
from kvlab.record import events as ev
from kvlab.record.events import Decision
from kvlab.record.replay import Replay
from kvlab.record.snapshot import State
from kvlab.record.trace import Header, Trace
from kvlab.views import theme
from kvlab.views.card_svg import WIDE, card_svg
from kvlab.views.frame import Frame, frame_of
from kvlab.views.markup import join
from kvlab.views.reasons import rule_of
from kvlab.views.terms import terms_of
from kvlab.views.theme import LANGS, LOOKS
from kvlab.views.why import with_sums
from kvlab.views.why_bars import NAMES, bars

GOLDENS = sorted((Path(__file__).parent / "goldens" / "sglang").glob("s0*"))

EVERY = GOLDENS[0].parents[1]


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


def test_a_part_that_is_the_whole_sum_has_no_number_of_its_own(trace):
    svg, _ = drawn(trace, admissions(trace, "NO_TOKEN")[0])
    need, room = svg.split(">need<")[1].split(">room<")
    numbers = re.compile(r'(?:middle" font-size="11"|font-weight="700")>([0-9]+)<')
    assert numbers.findall(need) == ["4", "2", "1", "7"]
    assert numbers.findall(room) == ["4"]


def test_what_l2_has_free_is_struck_out_of_the_formula(trace):
    svg, _ = drawn(trace, admissions(trace, "NO_TOKEN")[0])
    assert re.search(r'line-through"[^>]*>L2 free = 48<', svg)
    assert svg.count("not in this formula") == 1


def test_an_admitted_request_lacks_nothing(trace):
    svg, _ = drawn(trace, admissions(trace, "CONTINUE")[0])
    assert not widths(svg, LOOKS["refused"].ink) and "short" not in svg


def timed():
    knobs = {"pool_tokens": 4096, "chunked_prefill_size": 256}
    config = EngineConfig.of({"host_tokens": 12000, "page_size": 16, **knobs})
    run = Trace(Header(config=config, rules=RULES["0.5.23"]))
    machine(run, link=2e8, **knobs).run(crowd())
    return run


def test_the_room_of_every_admission_is_drawn_as_long_as_its_number():
    """What is set aside lies behind it and counts for nothing; both bars are of one
    scale."""
    seen = Counter()
    runs = [timed(), *(played(path) for path in sorted(EVERY.glob("sglang*/*")))]
    for trace in runs:
        state = State.start(trace.header.config)
        for event in trace.events:
            if isinstance(event, ev.Admit):
                why = rule_of(Frame(trace.header, 1, event, state, state))
                terms = with_sums(why, terms_of(event, state))
                seen += check_lengths(why, terms) if why.bars else Counter()
            state.apply(event)
    assert all(n > 10 for n in seen.values()) and len(seen) == 3, seen


def check_lengths(why, terms):
    svg = str(join(bars(why, terms, WIDE, "en")[0]))
    rects = [
        [
            float(re.search(rf' {name}="([-\d.]+)"', rect)[1])
            for name in ("y", "height", "width")
        ]
        for rect in re.findall("<rect[^>]*>", svg)
        if "fill-opacity" not in rect
    ]
    segments = [[r for r in rects if top <= r[0] < top + 24] for top in (0, 24)]
    long = [sum(w + 1 for _, high, w in row if high > 16) for row in segments]
    gross = [sum(max(0, terms[part]) for part in bar.parts) for bar in why.bars]
    sides = [sum(terms[part] for part in bar.parts) for bar in why.bars]
    sides[1] -= terms["promised"] if why.bars[1].minus else 0
    unit = (WIDE - NAMES - 40) / max(gross)
    need, room = (max(0, side) * unit for side in sides)
    assert long == pytest.approx([need, room], abs=5), terms
    low = [w + 1 for _, high, w in segments[1] if high < 12]
    assert sum(low) == pytest.approx(max(0, gross[1] * unit - room), abs=1.5), terms
    told = re.findall(r'font-weight="700"[^>]*>([^<]*)<', svg)
    assert told == [theme.num(side) for side in sides]
    return Counter({why.sign: 1, "set aside": bool(low)})


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
