"""Does `kvlab diagnose` get all sixteen cases right, in verdict, cause and facts?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kvlab.cli import main

CASES = sorted((Path(__file__).parent / "cases").iterdir())
NOTES = {
    "wrong_if_lines_summed", "max_queue_intact",
    "max_queue_if_damaged_lines_are_trusted",
}  # fmt: skip
"""Facts of the expectations that are remarks to the reader, not findings."""


def files(case: Path) -> list[Path]:
    return sorted(path for path in case.iterdir() if path.name != "expect.json")


def told(capsys, *paths: Path) -> dict:
    status = main(["diagnose", *map(str, paths), "--json"])
    assert status == 0
    return json.loads(capsys.readouterr().out)


def near(want: object, got: object) -> bool:
    """Say whether two facts are the same; rates are rounded differently."""
    if isinstance(want, float) and isinstance(got, float):
        return got == pytest.approx(want, abs=5e-4)
    return want == got


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name[:2])
def test_a_case_gets_its_verdict_its_cause_and_its_facts(capsys, case):
    want = json.loads((case / "expect.json").read_text())
    got = told(capsys, *files(case))
    for name in ("status", "engine", "kind", "verdict", "cause"):
        assert got[name] == want[name], name
    for name, value in want["facts"].items():
        if name not in NOTES:
            assert near(value, got["facts"].get(name)), (name, value, got["facts"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name[:2])
def test_a_case_given_as_a_folder_says_the_same(capsys, case):
    want, got = told(capsys, *files(case)), told(capsys, case)
    assert got["cause"] == want["cause"]
    assert got["facts"] == want["facts"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name[:2])
def test_a_case_quotes_the_places_it_rests_on(capsys, case):
    got = told(capsys, *files(case))
    names = {path.name for path in files(case)}
    assert got["reasons"] and got["next"]
    for quote in got["evidence"]:
        name, _, line = quote["place"].rpartition(":")
        assert name in names
        assert int(line) >= 1
