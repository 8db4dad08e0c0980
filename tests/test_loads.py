"""Do the learner's load_back and the engine's start from the same state?"""

from __future__ import annotations

from random import Random

import pytest
from solutions import nb08

from kvlab.lessons.loads import WHOLE, desk_of, judge, scenes, stage
from kvlab.record import events as ev

VERDICTS = [
    ["below_threshold"],
    ["load"],
    ["load"],
    ["make_room"],
    ["make_room", "no_device_memory"],
    ["over_quota"],
    ["load"],
    ["over_quota"],
    ["make_room"],
]


@pytest.mark.parametrize("seed", range(3))
def test_the_scenes_bring_every_verdict_of_the_engine(seed):
    found = []
    for scene in scenes(Random(seed)):
        bench = stage(scene)
        bench.load_back(WHOLE[: sum(scene.chain)], scene.quota)
        told = [e.verdict for e in bench.trace.events if isinstance(e, ev.LoadBack)]
        found.append(told)
    assert found == VERDICTS


@pytest.mark.parametrize("seed", range(3))
def test_a_desk_shows_the_terms_that_the_engine_decides_by(seed):
    for scene in scenes(Random(seed)):
        desk, bench = desk_of(scene), stage(scene)
        bench.load_back(WHOLE[: sum(scene.chain)], scene.quota)
        told = next(e for e in bench.trace.events if isinstance(e, ev.LoadBack))
        assert sum(link.tokens for link in desk.path) == told.tokens
        assert desk.path[0].node == told.node, "leaf first"
        assert (desk.available, desk.delta) == (told.available, told.delta)
        assert (desk.threshold, desk.quota) == (told.threshold, told.quota)


def test_a_desk_evicts_for_real():
    scene = next(s for s in scenes(Random(0)) if sum(s.leaves) > s.free)
    desk = desk_of(scene)
    before = desk.available
    assert before + desk.evict(1) == desk.available


def test_a_flaw_says_what_both_did_and_opens_at_the_decision():
    flaw = judge(nb08.leaf_first, Random(0))
    assert flaw is not None and flaw.trace is not None and flaw.step is not None
    assert isinstance(flaw.trace.events[flaw.step - 1], ev.LoadBack)
    assert "the engine does load(n" in flaw.why.en and "return" in flaw.why.zh
