"""Is what the workbench teaches what the tool recognises, in all three forms?"""

from __future__ import annotations

import json

import pytest

from kvlab.lessons.mirrors import FORMS, MIRRORS, Outcome, main, outcomes, play, table
from kvlab.observe.diagnose import diagnose_run
from kvlab.record import events as ev

SEEDS = (11, 12)
RUNS = [(mirror, seed) for mirror in MIRRORS for seed in SEEDS]
BY_NAME = {mirror.name: mirror for mirror in MIRRORS}


@pytest.mark.parametrize(("mirror", "seed"), RUNS, ids=lambda v: getattr(v, "name", v))
def test_every_form_of_a_sickness_gets_the_cause_that_it_can_know(mirror, seed):
    said = {outcome.form: outcome.cause for outcome in outcomes(mirror, seed)}
    assert said == dict(zip(FORMS, mirror.causes, strict=True))


def test_each_mirror_but_the_title_differs_from_the_healthy_run_in_one_thing():
    healthy = BY_NAME["healthy"]
    for mirror in MIRRORS[1:-1]:
        fields = [f for f in mirror.__struct_fields__ if f not in ("name", "says")]
        differ = [f for f in fields if getattr(mirror, f) != getattr(healthy, f)]
        assert len(differ) == 2, (mirror.name, differ)
        assert "causes" in differ


def test_a_planted_leak_is_no_event_of_a_request():
    leaks, clean = play(BY_NAME["a leak"], 1), play(BY_NAME["healthy"], 1)
    kinds = [type(event) for event in leaks.events]
    assert kinds.count(ev.Finish) == sum(isinstance(e, ev.Finish) for e in clean.events)
    assert diagnose_run(leaks, "run").facts["leak_delta"] < 0
    assert "leak_delta" not in diagnose_run(clean, "run").facts


def outcome(seed: int, cause: str) -> Outcome:
    """What the log of a healthy run was taken for."""
    return Outcome("healthy", seed, "log", "healthy", cause, "healthy", ())


def test_the_table_counts_the_seeds_that_were_right():
    found = [outcome(0, "healthy"), outcome(1, "max_running_cap")]
    lines = [line.split() for line in table(found).splitlines()]
    assert [line[2] for line in lines if line[:2] == ["healthy", "log"]] == ["1/2"]


def test_the_command_writes_the_files_to_diagnose_by_hand(tmp_path, monkeypatch):
    monkeypatch.setattr("kvlab.lessons.mirrors.MIRRORS", (BY_NAME["healthy"],))
    assert main(["--write", str(tmp_path)]) == 0
    names = {path.name for path in (tmp_path / "healthy").iterdir()}
    assert names == {"run.jsonl.gz", "log", "metrics"}


@pytest.mark.parametrize(("cause", "status"), [("healthy", 0), ("max_running_cap", 1)])
def test_the_command_exits_1_where_a_form_was_not_recognised(
    cause, status, capsys, monkeypatch
):
    monkeypatch.setattr("kvlab.lessons.mirrors.MIRRORS", (BY_NAME["healthy"],))
    monkeypatch.setattr(
        "kvlab.lessons.mirrors.outcomes", lambda _, seed: [outcome(seed, cause)]
    )
    assert main(["--seeds", "1", "--json"]) == status
    (told,) = json.loads(capsys.readouterr().out)
    assert told["cause"] == cause


def test_a_wrong_number_of_seeds_is_one_line(capsys):
    assert main(["--seeds", "0"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
