"""Does a sweep replay every point of its grid, and refuse what it cannot?"""

from __future__ import annotations

import csv
import json

import pytest

from kvlab.cli import main
from kvlab.cli.sweep import as_table, play, points
from kvlab.errors import InputError


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.jsonl"
    lines = [
        {"timestamp": 1000 * n, "input_length": 2048, "output_length": 4,
         "hash_ids": [n % 3, 10 + n % 5, 100 + n % 5, 1000 + n % 5]}
        for n in range(40)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def refused(capsys, *words: object) -> str:
    assert main(["sweep", *map(str, words)]) == 2
    return capsys.readouterr().err


def test_every_point_is_what_kvlab_replay_prints(capsys, trace):
    grid = ["--grid", "policy=lru,fifo", "--grid", "pool-tokens=4096,8192"]
    common = ["--with", "--page-size 512", "--jobs", "2"]
    assert main(["sweep", str(trace), *grid, *common, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told) == 4
    for each in told:
        words = [f"--{name}={value}" for name, value in each["options"].items()]
        main(["replay", str(trace), *words, "--page-size", "512", "--json"])
        alone = json.loads(capsys.readouterr().out)
        assert each["figures"]["tree_sha256"] == alone["tree_sha256"]
        assert each["figures"]["device_hit_tokens"] == alone["device_hit_tokens"]
    assert len({each["figures"]["device_hit_tokens"] for each in told}) > 1


def test_the_last_option_turns_fastest():
    found = [p.options for p in points("t", ["policy=lru,lfu", "limit=1,2"], [])]
    assert found[:2] == [
        {"policy": "lru", "limit": "1"},
        {"policy": "lru", "limit": "2"},
    ]


def test_the_file_has_a_line_a_point(capsys, trace, tmp_path):
    out = tmp_path / "sweep.csv"
    options = ["--grid", "pool-tokens=4096,8192", "--jobs", "1", "--csv", str(out)]
    assert main(["sweep", str(trace), *options]) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["pool-tokens"] for row in rows] == ["4096", "8192"]
    assert int(rows[0]["requests"]) == 40
    assert main(["sweep", str(trace), *options]) == 0  # again, over the first
    assert "is what is read here" in refused(capsys, trace, *options[:-1], trace)


def test_the_table_names_options_and_figures(trace):
    grid = points(str(trace), ["pool-tokens=4096,8192"], [])
    table = as_table(grid, [play(point.words) for point in grid])
    assert "pool-tokens  hit_rate" in table
    assert table.count("\n") == 2


def test_a_point_that_cannot_start_is_refused_before_any_begins(capsys, trace):
    said = refused(capsys, trace, "--grid", "policy=lru,best")
    assert "best" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--grid", "policy"), "no OPTION=A,B"),
        (("--grid", "policy=lru", "--grid", "policy=lfu"), "twice"),
        (("--grid", "policy=lru", "--with", "'open"), "close the quote"),
        (("--grid", "policy=lru", "--jobs", "0"), "--jobs"),
        (("--grid", "policy=lru", "--backend", "best"), "joblib does not know it"),
        (("--grid", "engine=both"), "name one engine"),
        (("--grid", "record=a,b"), "--record: writes one replay; use kvlab replay"),
        (("--grid", "policy=lru", "--with", "--engine-log x"), "--engine-log: writes"),
    ],
)
def test_what_makes_no_grid_is_one_line(capsys, trace, words, said):
    told = refused(capsys, trace, *words)
    assert said in told
    assert told.count("\n") <= 2


def test_a_grid_of_too_many_points_is_refused():
    numbers = ",".join(map(str, range(200)))
    with pytest.raises(InputError, match="more than 10000 points"):
        points("t", [f"limit={numbers}", f"seed={numbers}"], [])
