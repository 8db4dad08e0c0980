"""Is it told whose slots an engine reads or frees, taking them for another's?"""

from __future__ import annotations

import pytest
from played import golden

from kvlab.views.cards import kind_of, why_text
from kvlab.views.film import still, still_text
from kvlab.views.log import player_log
from kvlab.views.streams import unpack


@pytest.fixture(scope="module")
def told():
    return unpack(player_log(golden("s25")))[0]


def test_a_load_of_a_dropped_node_says_who_has_the_slots_that_it_reads(told):
    *_, noted = told["behind"]["40"]
    assert noted[1:] == [[2, "read", 10, "0-9"], [0, "stale", 10, "10-19"]]
    assert told["reads"] == {"1": [[0, 20]]}


def test_slots_freed_a_second_time_are_told_by_who_loses_them(told):
    *_, noted = told["behind"]["59"]
    assert noted == [[2, "robbed", 10, "0-9"], [0, "twice", 10, "10-19"]]


def test_a_sound_load_and_a_sound_eviction_are_told_nothing():
    told = unpack(player_log(golden("s25", "sglang23")))[0]
    notes = [note for *_, early in told["behind"].values() for note in early]
    assert told["reads"] == {}
    assert not {"read", "stale", "robbed", "twice"} & {note[1] for note in notes}


LOAD, FREED = 41, 60
"""Events of s25: the load of a dropped node; its slots are freed a second time."""


def test_the_text_and_the_picture_of_a_step_say_the_same():
    trace = golden("s25")
    said = {
        LOAD: ["n1 is in the tree no more: event 31 dropped it",
               "n2 has L2 slots 0-9 by now, 10 of them", "L2 slots 10-19 are free"],
        FREED: ["n2 loses L2 slots 0-9, 10 of them", "L2 slots 10-19 were free"],
    }  # fmt: skip
    for step, lines in said.items():
        for told in (why_text(trace, step), still_text(trace, step)):
            assert all(line in told for line in lines)
        drawn = still(trace, step)
        assert all(word in drawn for line in lines for word in line.split())
    assert "n2 失去 L2 槽位 0-9（10 个）" in why_text(trace, FREED, "zh")


def test_the_text_of_a_victim_that_a_load_wants_says_so():
    trace = golden("s25")
    wanted = [s for s in range(1, len(trace) + 1)
              if "about to load: it goes before" in why_text(trace, s)]  # fmt: skip
    assert wanted and "victim" in {kind_of(trace.events[s - 1]) for s in wanted}


def test_the_text_of_a_sound_run_says_nothing_of_the_kind():
    trace = golden("s25", "sglang23")
    for step in range(1, len(trace) + 1):
        assert "L2 slots" not in why_text(trace, step)
