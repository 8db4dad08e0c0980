"""Do the lessons' runs tell the stories that they are told for?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kvlab.errors import ConfigError
from kvlab.lessons.pictures import PICTURES, draw, draw_title
from kvlab.lessons.questions import fates
from kvlab.lessons.scenarios import SCENARIOS, fork_of
from kvlab.lessons.scenarios import nb07 as scenarios
from kvlab.rules import Rules
from kvlab.run.workbench import Workbench
from kvlab.views.questions import QUESTIONS

ASSETS = Path(__file__).resolve().parents[1] / "assets"
LEAVES = {"A": scenarios.A, "B": scenarios.B, "C": scenarios.C}


def test_three_leaves_have_three_fates_under_write_through():
    answer = fates(scenarios.three_fates().trace, LEAVES)
    assert answer == {"A": "demoted", "B": "deleted", "C": "lost"}


def test_write_back_keeps_all_three_on_the_host():
    answer = fates(scenarios.three_fates(write_policy="write_back").trace, LEAVES)
    assert set(answer.values()) == {"demoted"}


def test_the_fate_agrees_with_what_a_match_finds():
    bench = scenarios.three_fates()
    found = {name: bench.match(tokens)["host_hit"] for name, tokens in LEAVES.items()}
    assert found == {"A": 12, "B": 0, "C": 0}


def test_a_prefix_that_came_back_stays():
    bench = scenarios.three_fates()
    bench.load_back(scenarios.A)
    assert fates(bench.trace, LEAVES)["A"] == "stays"


def test_a_workbench_refuses_knobs_with_which_the_engine_would_not_start():
    with pytest.raises(ConfigError, match="refuses to start"):
        Workbench(Rules.v0_5_14(), pool_tokens=40, host_tokens=40)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_story_comes_to_its_first_question_within_forty_events(name):
    trace = SCENARIOS[name]().trace
    asked = [type(event).__name__.lower() in QUESTIONS for event in trace.events]
    assert asked.index(True) <= 40


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_story_is_told_the_same_way_each_time(name):
    once, again = SCENARIOS[name]().trace, SCENARIOS[name]().trace
    assert list(map(str, once.events)) == list(map(str, again.events))


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_every_asset_is_what_its_command_draws(picture, tmp_path):
    for drawn in draw(picture, tmp_path):
        assert drawn.read_text() == (ASSETS / drawn.name).read_text()


def test_the_title_s_asset_is_what_its_command_draws_but_for_the_seeds(tmp_path):
    for drawn in draw_title(tmp_path, seeds=1):
        told, kept = drawn.read_text(), (ASSETS / drawn.name).read_text()
        assert "10 of 10" in kept or "10 个种子中 10 个" in kept
        assert re.sub(r"\d+ of \d+ seeds.*|\d+ 个种子.*", "", told) == (
            re.sub(r"\d+ of \d+ seeds.*|\d+ 个种子.*", "", kept)
        )


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_player_can_fork_every_story_under_other_rules(name):
    trace = fork_of(SCENARIOS[name])(rules="0.5.14+load_protects_source")
    assert trace.header.rules.name == "0.5.14+load_protects_source"
    with pytest.raises(ConfigError, match="no rule book for SGLang"):
        fork_of(SCENARIOS[name])(rules="0.4")
