"""Is it told whose slots an engine reads or frees, taking them for another's?"""

from __future__ import annotations

import pytest
from played import golden

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
