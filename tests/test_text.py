"""Do the plain-text twins say what the pictures show?"""

from __future__ import annotations

from moments import at

from kvlab.record import events as ev
from kvlab.views.frame import frame_at
from kvlab.views.text import (
    account_text,
    pools_text,
    timeline_text,
    tree_text,
)


def test_the_tree_is_indented_with_ranges_locks_hits_and_residency(sample):
    assert tree_text(at(sample, ev.Load)).splitlines() == [
        "n3  0:6  lock_ref 0  hits 2  L1 / evictable 19-24  L2 - copy of L1 18-23",
        "  n2  6:10  lock_ref 0  hits 1  L1 –  L2 = host only 24-27",
        "  n4  6:14  lock_ref 0  hits 1  L1 % promised 17-18, 14-16, 13, 5-6"
        "  L2 = host only 28-35  <- this event",
        "n5  0:12  lock_ref 0  hits 1  L1 –  L2 = host only 36-47",
        "  n6  12:13  lock_ref 0  hits 1  L1 –  L2 = host only 0",
    ]


def test_a_pending_write_is_seen_in_the_tree(sample):
    assert "L2 > in flight 0-17" in tree_text(at(sample, ev.Backup))


def test_an_empty_tree_says_so(sample):
    assert tree_text(frame_at(sample, 0)) == "the tree is empty"
    assert tree_text(frame_at(sample, 0), "zh") == "树为空"


def test_a_pool_is_a_line_for_each_run(sample):
    text = pools_text(at(sample, ev.Grow))
    assert text.startswith("L1  used 12 + held 1")
    lines = [line.split() for line in text.splitlines()]
    assert ["1-12", "12", "#", "used", "n5"] in lines
    assert ["13", "1", "|", "held", "a"] in lines


def test_the_account_is_the_equation(sample):
    assert account_text(at(sample, ev.Grow)).splitlines() == [
        "L1  used 12 + held 1 + evictable 6 + available 5 = 24 slots",
        "L2  host only 30 + copy of L1 18 + outside 0 + free 0 = 48 slots",
    ]


def test_the_account_says_what_moved(sample):
    text = account_text(at(sample, ev.Demote), "zh")
    assert "树外持有 18 (+18) + 可逐出 0 (−18)" in text


def test_the_timeline_lists_decisions_and_marks_the_step(sample):
    lines = timeline_text(sample, 80).splitlines()
    marked = [line for line in lines if line.startswith(">")]
    assert len(marked) == 1
    assert marked[0].endswith("c waits: it needs 21 tokens, only 10 can be promised")
    assert marked[0].split()[:6] == [">", "80", "12", "1", "6", "5"]


def test_a_step_that_is_a_change_is_marked_too(sample):
    assert ">      8" in timeline_text(sample, 8)


def test_a_hostile_namespace_stays_on_its_line(hostile):
    assert len(tree_text(frame_at(hostile, 4)).splitlines()) == 1
