"""Does the tree show lengths, copies, locks and what the event touches?"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from moments import at
from played import golden

from kvlab.record import events as ev
from kvlab.record.replay import Replay
from kvlab.views.frame import frame_at, frame_of
from kvlab.views.theme import fill
from kvlab.views.tree_layout import TreeLayout, tree_layout
from kvlab.views.tree_margin import scale_of
from kvlab.views.tree_strip import tree_strip


def drawn(trace, kind, number=0, lang="en"):
    return tree_strip(at(trace, kind, number), tree_layout(trace), lang)


def test_the_picture_keeps_its_size_at_every_step(sample):
    replay, layout = Replay(sample), tree_layout(sample)
    sizes = {
        ElementTree.fromstring(tree_strip(frame_of(replay, s), layout)).get("viewBox")
        for s in range(len(sample) + 1)
    }
    assert len(sizes) == 1


def test_a_node_is_as_long_as_its_tokens(sample):
    width = scale_of(tree_layout(sample)).token * 18 - 2
    assert f'width="{width - 1:.2f}'.rstrip("0").rstrip(".") in drawn(sample, ev.Hit)


def test_both_decks_have_the_pattern_of_their_copy(sample):
    svg = drawn(sample, ev.Grow)
    for state in ("used", "evictable", "host_only", "copy"):
        assert f'fill="{fill(state)}"' in svg, state


def test_names_ranges_hits_and_locks_stand_above(sample):
    svg = drawn(sample, ev.Grow)
    for text in (">n5<", ">0:12<", ">×1<", ">6:14<"):
        assert text in svg, text
    assert "M2 4.5V3a2 2" in svg


def test_what_the_event_touches_is_ringed(sample):
    ring = 'stroke="#1c2127" stroke-width="2"'
    assert drawn(sample, ev.Split).count(ring) == 2
    assert drawn(sample, ev.Grow).count(ring) == 0


def test_a_lost_node_is_crossed_out_and_named(sample):
    svg = drawn(sample, ev.EvictHost)
    assert ">lost<" in svg
    assert ">丢失<" in drawn(sample, ev.EvictHost, lang="zh")


def test_a_match_shows_how_much_lies_where(sample):
    svg = drawn(sample, ev.Match, 2)
    assert ">6 on L1<" in svg
    assert ">8 on L2 alone<" in svg


def test_the_touched_node_is_told_in_full_below(sample):
    svg = drawn(sample, ev.Load)
    assert "tokens 6:14 · lock_ref 0 · hits 1 · priority 0" in svg
    assert "L1 17-18, 14-16, 13, 5-6 · L2 28-35" in svg


def test_an_empty_tree_says_what_will_come(sample):
    svg = tree_strip(frame_at(sample, 0), tree_layout(sample))
    assert "The tree is empty: it grows with inserts." in svg


@pytest.mark.parametrize("rows", [9, 40, 41, 400])
def test_many_rows_are_thin_and_all_there(sample, rows):
    layout = tree_layout(sample)._replace(num_rows=rows)
    svg = ElementTree.fromstring(tree_strip(at(sample, ev.Grow), layout))
    assert float(svg.get("height")) < 950


def test_a_row_is_never_thinner_than_two_pixels():
    assert scale_of(TreeLayout({}, 100_000, 10)).row == 2


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_hostile_names_stay_text(hostile, lang):
    layout = tree_layout(hostile)
    for step in range(len(hostile) + 1):
        svg = tree_strip(frame_at(hostile, step), layout, lang)
        ElementTree.fromstring(svg)
        assert "<script" not in svg


def test_a_locked_host_copy_has_a_lock_on_its_lower_deck():
    trace = golden("s10", "sglang23")
    layout = tree_layout(trace)
    lock = "scale(0.66)"
    assert tree_strip(at(trace, ev.HostLock), layout).count(lock) == 1
    assert "host_lock_ref 1" in tree_strip(at(trace, ev.HostLock), layout)
    assert lock not in tree_strip(at(trace, ev.HostUnlock), layout)
