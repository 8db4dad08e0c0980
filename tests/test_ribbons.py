"""Is every copy in flight seen, cut where its slots are cut?"""

from __future__ import annotations

from moments import at

from kvlab.record import events as ev
from kvlab.views.frame import frame_at
from kvlab.views.grid import grids
from kvlab.views.ribbons import link, moving, ribbons


def test_nothing_moves_without_a_copy(sample):
    state = frame_at(sample, 0).state
    assert moving(state) == []
    assert list(ribbons(state, *grids(24, 48))) == []


def test_a_load_is_cut_into_a_ribbon_for_each_stretch_of_slots(sample):
    state = at(sample, ev.Load).state
    assert state.nodes[4].pages.tolist() == [17, 18, 14, 15, 16, 13, 5, 6]
    assert len(list(ribbons(state, *grids(24, 48)))) == 4


def test_a_demotion_copies_nothing(sample):
    assert list(ribbons(at(sample, ev.Demote).state, *grids(24, 48))) == []


def test_the_link_says_how_many_tokens_travel_and_which_way(sample):
    device, _ = grids(24, 48)
    assert ">load 8<" in link(at(sample, ev.Load).state, device, "en")
    assert ">write 18<" in link(at(sample, ev.Backup).state, device, "en")
    assert ">备份 18<" in link(at(sample, ev.Backup).state, device, "zh")
