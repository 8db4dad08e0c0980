"""Is every recorded state reproduced, and would a wrong one be noticed?"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from folding import Folded, differences

from kvlab.errors import InputError
from kvlab.record.snapshot import State
from kvlab.record.trace import Header, Trace
from kvlab.run.conform import conform, first_difference, replay
from kvlab.run.runner import ScriptRunner
from kvlab.run.script import read_script

GOLDENS = Path(__file__).parent / "goldens"
FILES = sorted(GOLDENS.glob("sglang*/*.json*"))
SMALL = GOLDENS / "sglang" / "s01_split.json"
HOST = GOLDENS / "sglang" / "s21_split_during_write.json"
ENDED = GOLDENS / "sglang" / "s25_write_back_load_back_host_full.json"


class Played(NamedTuple):
    """What was wrong at any record of a golden: against the recording, between trace
    and live engine, and between the trace's account and the recording's."""

    unequal: list[Any]
    unfolded: list[Any]
    accounts: list[Any]


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.name.split(".")[0])
def played(request: pytest.FixtureRequest) -> Played:
    script = read_script(request.param)
    trace = Trace(Header(config=script.config, rules=script.rules))
    runner = ScriptRunner(script, trace, eager=True)
    folded, found = Folded(trace, State.start(script.config)), Played([], [], [])
    for record, expected, got in replay(runner, script):
        state = folded.now()
        if unequal := first_difference(script.rules, expected, got):
            found.unequal.append((record, *unequal))
        if unfolded := differences(state, runner.engine):
            found.unfolded.append((record, unfolded))
        said = expected["state"]
        names = ("dev_avail", "evictable", "protected", "held")
        if list(state.account()[:4]) != [said[name] for name in names]:
            found.accounts.append((record, state.account()))
    return found


def test_every_record_of_a_golden_is_equal_in_every_field(played):
    assert played.unequal == []


def test_the_trace_of_a_golden_folds_to_the_live_state_at_every_record(played):
    assert played.unfolded == []


def test_the_folded_account_is_the_recorded_one(played):
    assert played.accounts == []


# --- what would be noticed


def changed(folder: Path, path: Path, *where: str | int, to: Any) -> Any:
    """Write a golden with one value changed; return the value before."""
    data = read(path)
    *above, last = where
    place = data
    for step in above:
        place = place[step]
    before = place.get(last) if isinstance(place, dict) else place[last]
    place[last] = to
    (folder / "changed.json").write_text(json.dumps(data))
    return before


def read(path: Path) -> Any:
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


STATE = ("records", 1, "state")


@pytest.mark.parametrize(
    ("path", "where", "to", "field"),
    [
        (SMALL, (*STATE, "dev_avail"), 7, "state.dev_avail"),
        (SMALL, (*STATE, "nodes", 0, "slots", 0), 99, "state.nodes[0].slots[0]"),
        (SMALL, (*STATE, "nodes", 0, "lock"), 5, "state.nodes[0].lock"),
        (SMALL, (*STATE, "nodes", 0, "path", 0), 5, "state.nodes[0].path[0]"),
        (SMALL, (*STATE, "nodes", 0, "host"), True, "state.nodes[0].host"),
        (SMALL, (*STATE, "nodes", 0, "dev"), 1, "state.nodes[0].dev"),
        (SMALL, (*STATE, "evict_order", 0), 8, "state.evict_order[0]"),
        (SMALL, (*STATE, "data_ok"), False, "state.data_ok"),
        (SMALL, (*STATE, "sum_ok"), False, "state.sum_ok"),
        (SMALL, ("records", 1, "result", "device_hit"), 99, "result.device_hit"),
        (SMALL, ("records", 1, "op"), "insert", "op"),
        (SMALL, ("records", 1, "i"), 2, "i"),
        (
            HOST,
            (*STATE, "nodes", 0, "host_slots", 0),
            9,
            "state.nodes[0].host_slots[0]",
        ),
        (HOST, (*STATE, "nodes", 0, "wpend"), False, "state.nodes[0].wpend"),
        (HOST, (*STATE, "writes"), 9, "state.writes"),
        (HOST, (*STATE, "host_avail"), 9, "state.host_avail"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_one_changed_value_is_reported_where_it_stands(
    tmp_path, path, where, to, field
):
    before = changed(tmp_path, path, *where, to=to)
    (found,) = conform(tmp_path / "changed.json").differences
    assert (found.record, found.field) == (1, field)
    assert (found.expected, found.got) == (to, before)
    assert found.file == str(tmp_path / "changed.json")


def test_a_changed_start_is_reported_as_record_minus_1(tmp_path):
    changed(tmp_path, SMALL, "initial", "dev_avail", to=5)
    report = conform(tmp_path / "changed.json")
    assert [(d.record, d.field) for d in report.differences] == [
        (-1, "state.dev_avail")
    ]
    assert report.equal == report.records


def test_a_missing_start_is_reported(tmp_path):
    changed(tmp_path, SMALL, "initial", to=None)
    (found,) = conform(tmp_path / "changed.json").differences
    assert (found.record, found.field, found.expected) == (-1, "state", None)


def test_a_pool_of_another_size_is_reported(tmp_path):
    changed(tmp_path, SMALL, "config", "pool_total", to=5)
    (found,) = conform(tmp_path / "changed.json").differences
    assert (found.record, found.field) == (-1, "pool_total")


@pytest.mark.parametrize("where", [(*STATE, "held"), (*STATE, "nodes", 0, "hit")])
def test_a_missing_field_is_reported(tmp_path, where):
    data = read(SMALL)
    place = data
    for step in where[:-1]:
        place = place[step]
    del place[where[-1]]
    (tmp_path / "changed.json").write_text(json.dumps(data))
    (found,) = conform(tmp_path / "changed.json").differences
    assert found.field.endswith(where[-1])
    assert found.expected == "(absent)"


@pytest.mark.parametrize("where", [(*STATE, "x"), (*STATE, "nodes", 0, "x")])
def test_a_field_that_kvlab_does_not_know_is_reported(tmp_path, where):
    data = read(SMALL)
    place = data
    for step in where[:-1]:
        place = place[step]
    place["x"] = 1
    (tmp_path / "changed.json").write_text(json.dumps(data))
    (found,) = conform(tmp_path / "changed.json").differences
    assert (found.field[-2:], found.expected, found.got) == (".x", 1, "(absent)")


@pytest.mark.parametrize("to", ["1", True])
def test_a_number_of_another_type_is_reported(tmp_path, to):
    assert changed(tmp_path, SMALL, *STATE, "nodes", 0, "path", 0, to=to) == 1
    (found,) = conform(tmp_path / "changed.json").differences
    assert (found.field, found.expected) == ("state.nodes[0].path[0]", to)


def test_a_whole_number_may_be_written_with_a_point(tmp_path):
    assert changed(tmp_path, SMALL, *STATE, "nodes", 0, "path", 0, to=1.0) == 1
    assert conform(tmp_path / "changed.json").differences == []


def test_a_field_that_says_it_is_absent_is_reported(tmp_path):
    changed(tmp_path, SMALL, *STATE, "x", to="(absent)")
    (found,) = conform(tmp_path / "changed.json").differences
    assert found.field == "state.x"


def test_a_node_too_few_is_reported_with_all_nodes(tmp_path):
    before = changed(tmp_path, SMALL, *STATE, "nodes", to=[])
    (found,) = conform(tmp_path / "changed.json").differences
    assert (found.field, found.got) == ("state.nodes", before)


def test_an_assertion_is_compared_by_presence_and_not_by_text(tmp_path):
    changed(tmp_path, ENDED, "records", -1, "result", to={"exception": "other words"})
    assert conform(tmp_path / "changed.json").differences == []


def test_an_assertion_that_does_not_come_is_reported(tmp_path):
    raised = {"assertion": "none"}
    before = changed(tmp_path, SMALL, "records", 1, "result", to=raised)
    (found,) = conform(tmp_path / "changed.json").differences
    assert (found.field, found.expected, found.got) == ("result", raised, before)


def test_an_assertion_that_was_not_recorded_is_reported(tmp_path):
    changed(tmp_path, ENDED, "records", -1, "result", to={"freed": 0})
    (found,) = conform(tmp_path / "changed.json").differences
    assert (found.record, found.field) == (9, "result")


def test_every_record_that_differs_is_reported_once(tmp_path):
    data = read(SMALL)
    for record in data["records"]:
        record["state"]["held"], record["state"]["dev_avail"] = 9, 9
    (tmp_path / "changed.json").write_text(json.dumps(data))
    report = conform(tmp_path / "changed.json")
    assert [d.record for d in report.differences] == list(range(report.records))
    assert report.equal == 0


# --- files


def test_a_report_counts_its_records():
    report = conform(SMALL)
    counted = len(read(SMALL)["records"])
    assert (report.files, report.records, report.equal) == (1, counted, counted)


def test_a_script_without_recorded_states_is_refused(tmp_path):
    (tmp_path / "a.json").write_text('{"config": {"pool_tokens": 8}, "ops": []}')
    with pytest.raises(InputError, match=r"a\.json: no recorded states; name a golden"):
        conform(tmp_path / "a.json")
