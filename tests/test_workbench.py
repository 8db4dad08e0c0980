"""What does a workbench say to one who gets a call wrong?"""

from __future__ import annotations

import numpy as np
import pytest

import kvlab
from kvlab import Workbench
from kvlab.errors import ConfigError, InputError, KvlabError, TraceError
from kvlab.rules import Rules


@pytest.fixture
def bench() -> Workbench:
    bench = Workbench(pool_tokens=40, host_tokens=41)
    bench.insert(range(100, 112))
    return bench


def test_a_release_may_be_given_by_its_name():
    named = Workbench(rules="0.5.14", pool_tokens=4)
    assert named.trace.header.rules == Rules.v0_5_14()


@pytest.mark.parametrize("knobs", [{"rules": "1.0"}, {"rules": 5}, {"name": 5}])
def test_rules_and_names_that_are_none_are_refused(knobs):
    with pytest.raises(ConfigError):
        Workbench(pool_tokens=4, **knobs)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda b: b.evict(1.5), "n is 1.5; use an int"),
        (lambda b: b.evict("4"), "n is '4'"),
        (lambda b: b.evict(None), "n is None"),
        (lambda b: b.evict(float("nan")), "n is nan"),
        (lambda b: b.evict(-1), "n is -1"),
        (lambda b: b.ack_write(1.5), "k is 1.5"),
        (lambda b: b.load_back([1], quota=-1), "quota is -1"),
        (lambda b: b.insert(5), "5: is no list of token ids"),
        (lambda b: b.match(None), "None: is no list of token ids"),
        (lambda b: b.insert(["a"]), "'a' is no token id"),
        (lambda b: b.lock(5, [1]), "id is 5; use a name in quotes"),
        (lambda b: b.do("evict"), "'evict' is no op"),
    ],
)
def test_a_call_that_cannot_be_says_so_and_changes_nothing(bench, call, said):
    events, ops = len(bench.trace), len(bench.script.ops)
    with pytest.raises(InputError, match=said):
        call(bench)
    assert (len(bench.trace), len(bench.script.ops)) == (events, ops)


def test_after_a_wrong_call_the_run_still_plays_and_is_read_back(bench, tmp_path):
    with pytest.raises(InputError):
        bench.evict(2.0)
    bench.evict(2)
    assert kvlab.play(bench.trace)
    kvlab.write_trace(bench.trace, tmp_path / "run.jsonl")
    assert len(kvlab.read_trace(tmp_path / "run.jsonl")) == len(bench.trace)


def test_play_of_what_is_no_run_names_what_it_takes(bench):
    for wrong in (bench, "three_fates", None, []):
        with pytest.raises(ConfigError, match=r"give bench\.trace"):
            kvlab.play(wrong)
    with pytest.raises(ConfigError, match="lang is 'de'; use one of en, zh"):
        kvlab.play(bench.trace, lang="de")


def test_accounts_and_files_take_a_run_too(bench, tmp_path):
    with pytest.raises(ConfigError, match="accounts takes a run's trace, not Workb"):
        list(kvlab.accounts(bench))
    with pytest.raises(ConfigError, match="write_trace takes a run's trace"):
        kvlab.write_trace(bench, tmp_path / "run.jsonl")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TraceError, match="cannot be written"):
        kvlab.write_trace(bench.trace, tmp_path / ("x" * 300))


def test_an_exercise_of_no_name_is_no_traceback_of_another_library():
    with pytest.raises(KvlabError, match="no exercise 5"):
        kvlab.check(5)


def test_tokens_may_be_numbers_of_numpy_and_are_kept_as_plain_ones(bench):
    bench.insert([np.int64(0), np.int32(1)])
    assert bench.match(np.array([0, 1]))["device_hit"] == 2
    assert [type(token) for token in bench.script.ops[-2].tokens] == [int, int]
