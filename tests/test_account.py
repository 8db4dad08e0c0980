"""Do the accounts add up, and say what moved?"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from moments import at
from played import golden

from kvlab.record import events as ev
from kvlab.record.replay import Replay
from kvlab.views.account import (
    Sum,
    Term,
    account_svg,
    bar,
    device_sum,
    equation,
    host_sum,
)
from kvlab.views.frame import frame_at, frame_of
from kvlab.views.text import account_text
from kvlab.views.theme import Words, fill, width


def test_both_sums_hold_at_every_step(sample):
    replay = Replay(sample)
    for step in range(len(sample) + 1):
        frame = frame_of(replay, step)
        assert device_sum(frame).holds, step
        assert host_sum(frame).holds, step


def test_what_an_event_moved_sums_to_nothing(sample):
    replay = Replay(sample)
    for step in range(len(sample) + 1):
        frame = frame_of(replay, step)
        assert sum(term.moved for term in device_sum(frame).terms) == 0
        assert sum(term.moved for term in host_sum(frame).terms) == 0


def test_a_demotion_moves_evictable_to_held_until_the_pages_are_free(sample):
    moved = {t.state: t.moved for t in device_sum(at(sample, ev.Demote)).terms}
    assert moved == {"used": 0, "held": 18, "evictable": -18, "available": 0}


def test_pages_of_a_lost_node_lie_outside_the_tree_until_they_are_free(sample):
    moved = {t.state: t.moved for t in host_sum(at(sample, ev.EvictHost)).terms}
    assert moved == {"host_only": -18, "copy": 0, "held": 18, "available": 0}


def test_what_a_load_brings_is_promised_until_it_is_there(sample):
    loads, there = device_sum(at(sample, ev.Load)), device_sum(at(sample, ev.LoadDone))
    assert sum(term.coming for term in loads.terms) == 8
    assert f'fill="{fill("promised")}"' in bar(loads, 448, 14)
    assert sum(term.coming for term in there.terms) == 0
    moved = {t.state: t.moved for t in host_sum(at(sample, ev.LoadDone)).terms}
    assert moved == {"host_only": -8, "copy": 8, "held": 0, "available": 0}


def test_a_sum_says_how_much_of_it_is_promised(sample):
    loads, there = at(sample, ev.Load), at(sample, ev.LoadDone)
    for lang, said in (("en", "8 promised"), ("zh", "已承诺 8")):
        assert said in account_svg(loads, lang)
        assert said.replace("8", "") not in account_svg(there, lang)
        assert f"[{said}]" in account_text(loads, lang)
        assert "[" not in account_text(there, lang)


def test_a_promise_stands_within_the_picture_whatever_the_total():
    name = Words("evictable", "可逐出")
    for total in (64, 10_000_000):
        terms = [Term("used", name, total, -total, coming=total)] * 4
        drawn = equation(Sum(tuple(terms), total), "en", 448)
        scale = float(re.search(r"scale\(([\d.]+)\)", drawn)[1])
        at, said = re.search(r'x="([\d.]+)"[^>]*>([\d,]+ promised)<', drawn).groups()
        assert (float(at) + width(said, 11)) * scale <= 449


def test_the_terms_of_a_bar_stand_side_by_side():
    name = Words("a", "甲")
    terms = (
        Term("available", name, 10, 0),
        Term("evictable", name, 30, 0),
        Term("used", name, 60, 0, coming=20),
    )
    drawn = ElementTree.fromstring(f"<g>{bar(Sum(terms, 100), 200, 14)}</g>")
    spans = [(float(r.get("x")), float(r.get("width"))) for r in drawn.iter("rect")]
    ends = [round(x + wide) for x, wide in spans]
    assert ends == [20, 80, 160, 200]
    assert [round(x) for x, _ in spans] == [0, *ends[:-1]]


def test_a_node_that_left_l2_is_no_copy_there():
    assert host_sum(frame_at(golden("s25"), 41)).holds


def test_the_picture_has_each_number_and_a_tick(sample):
    svg = account_svg(at(sample, ev.Grow))
    ElementTree.fromstring(svg)
    for text in (">used<", ">12<", ">held<", ">1<", ">24<", ">host only<", ">48<"):
        assert text in svg, text
    assert "M" in svg and "l3.2 3.2" in svg


def test_the_change_stands_beside_what_moved(sample):
    svg = account_svg(at(sample, ev.Demote))
    assert ">+18<" in svg
    assert ">−18<" in svg


def test_a_sum_that_does_not_hold_gets_no_tick():
    term = Term("used", Words("used", "占用"), 3, 0)
    assert not Sum((term,), 4).holds
    assert not Sum((term, term._replace(tokens=-1)), 2).holds


def test_the_words_are_chinese_where_asked(sample):
    assert "可逐出" in account_svg(at(sample, ev.Grow), "zh")


def test_a_zero_term_stays(sample):
    assert ">evictable<" in account_svg(frame_at(sample, 0))


def test_the_other_engines_word_shows_under_the_pointer(sample):
    drawn = account_svg(frame_at(sample, 0))
    assert "<title>vLLM: free, with a hash</title>" in drawn
    assert "vLLM: </title>" not in drawn
