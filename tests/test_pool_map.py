"""Do the pools show every run, at every size?"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from moments import at
from played import golden

from kvlab.config import EngineConfig
from kvlab.pages import as_pages
from kvlab.record import events as ev
from kvlab.record.replay import Replay
from kvlab.record.trace import Header, Trace
from kvlab.rules import Rules
from kvlab.views.frame import frame_at, frame_of
from kvlab.views.pool_map import _locked, pool_map
from kvlab.views.slots import Run
from kvlab.views.theme import fill

LOCK = "M2 4.5V3a2"


def striped(pages: int, host: int = 0, run: int = 40) -> Trace:
    """A device pool full of leaves of `run` tokens, every other one locked."""
    config = EngineConfig(
        pool_tokens=pages, host_tokens=host, tree="hiradix" if host else "radix"
    )
    trace = Trace(Header(config=config, rules=Rules.v0_5_14()))
    for node in range(1, pages // run + 1):
        taken = as_pages(range((node - 1) * run + 1, node * run + 1))
        trace(ev.Alloc, "L1", taken)
        tokens = as_pages(range(node * 10_000, node * 10_000 + run))
        trace(ev.Add, node, 0, "", tokens, taken, 0, node, node)
        if node % 2:
            trace(ev.Lock, node)
    return trace


def test_the_picture_keeps_its_size_at_every_step(sample):
    replay = Replay(sample)
    sizes = {
        ElementTree.fromstring(pool_map(frame_of(replay, step))).get("viewBox")
        for step in range(len(sample) + 1)
    }
    assert len(sizes) == 1


def test_each_state_has_its_pattern(sample):
    svg = pool_map(at(sample, ev.Grow))
    for state in ("used", "held", "evictable", "host_only", "copy"):
        assert f'fill="{fill(state)}"' in svg, state


def test_a_copy_to_the_host_points_down_and_one_from_it_fills_what_was_promised(sample):
    assert f'fill="{fill("in_flight", True)}"' in pool_map(at(sample, ev.Backup))
    loads = pool_map(at(sample, ev.Load))
    assert f'fill="{fill("promised")}"' in loads
    assert fill("in_flight") not in loads


def test_runs_are_labelled_with_their_node_or_request(sample):
    svg = pool_map(at(sample, ev.Grow))
    for label in ("n1", "n3", "n5", "a"):
        assert f">{label}</text>" in svg, label


def test_a_pool_of_10000_slots_is_light_and_has_no_edges():
    trace = striped(10_000, 20_000)
    svg = pool_map(frame_at(trace, len(trace)))
    assert len(svg) < 60_000
    assert f'fill="{fill("evictable")}"' in svg
    assert "250 cells a row" in svg


def test_a_pixel_that_stands_for_many_cells_says_so():
    trace = striped(2_000_000, run=100_000)
    assert "one pixel = " in pool_map(frame_at(trace, len(trace)))


def test_a_page_of_many_slots_is_one_cell():
    config = EngineConfig(pool_tokens=64, host_tokens=128, page_size=16)
    trace = Trace(Header(config=config, rules=Rules.v0_5_14()))
    assert "one cell = one page of 16 slots" in pool_map(frame_at(trace, 0))


def test_a_plain_radix_tree_has_no_host_pool():
    svg = pool_map(frame_at(striped(40, run=10), 3))
    assert ">L1<" in svg
    assert ">L2<" not in svg


def test_a_still_brings_the_legend_and_a_ground(sample):
    shown, bare = (
        pool_map(frame_at(sample, 3), still=still) for still in (True, False)
    )
    for name in ("promised", "in this event", "beyond need", "twin", "host_lock_ref"):
        assert f">{name}<" in shown, name
        assert f">{name}<" not in bare, name
    assert "本事件" in pool_map(frame_at(sample, 3), "zh", still=True)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_hostile_names_stay_text(hostile, lang):
    for step in range(len(hostile) + 1):
        svg = pool_map(frame_at(hostile, step), lang)
        ElementTree.fromstring(svg)
        assert "<script" not in svg


def test_a_locked_host_copy_has_a_lock_and_its_count_beside_its_name():
    trace = golden("s10", "sglang23")
    locked, free = pool_map(at(trace, ev.HostLock)), pool_map(at(trace, ev.HostUnlock))
    assert LOCK in locked and LOCK not in free
    count = locked.split(LOCK)[1]
    assert ">1</text>" in count.split("n3")[0]


def test_a_locked_run_too_narrow_for_its_name_shows_the_lock_alone():
    run = Run(0, 1, "host_only", "n3", locks=1)
    assert ">n3<" in _locked(run, 40, 10, 60, 11)
    assert ">n3<" not in (narrow := _locked(run, 40, 10, 30, 11)) and LOCK in narrow
    assert _locked(run, 40, 10, 12, 11) == ""
