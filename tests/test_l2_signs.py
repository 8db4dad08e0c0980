"""Are the signs read as they are meant?"""

from __future__ import annotations

import json

from kvlab.lessons.l2_signs import CASES, Outcome, main, signs, table


def outcomes(*p99_and_running):
    return [Outcome(p99, p99 / 2, n, 0.1, 1.0, 10.0) for p99, n in p99_and_running]


def test_all_signs_hold_for_the_picture_of_the_issue():
    found = outcomes((100, 60), (101, 60), (90, 60), (50, 60), (80, 70))
    assert [holds for *_, holds in signs(found)] == [True] * 5


def test_each_sign_can_fail():
    found = outcomes((100, 60), (103, 62), (90, 60), (70, 62), (90, 70))
    assert [holds for *_, holds in signs(found)] == [False] * 5


def test_a_sign_says_a_change_in_percent_and_a_ratio_as_times():
    found = outcomes((100, 60), (100, 60), (90, 60), (45, 60), (90, 60))
    assert [number for _, number, _ in signs(found)] == [
        "+0.0%", "+0.0%", "-50.0%", "+0.0%", "2.0 x",
    ]  # fmt: skip


def test_the_table_has_a_line_for_every_case():
    lines = table(outcomes(*[(1, 1)] * 5)).splitlines()
    assert [line[:20].strip() for line in lines[1:]] == [case.name for case in CASES]


def test_the_command_runs_all_cases_and_says_by_its_status_what_fails(tmp_path, capsys):
    path = tmp_path / "trace.jsonl"
    line = {"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [0, 1]}
    path.write_text("\n".join([json.dumps(line)] * 3))
    assert main([str(path)]) == 1
    assert "FAILS" in capsys.readouterr().out


def test_a_file_that_is_no_trace_is_one_line_and_exit_2(tmp_path, capsys):
    assert main([str(tmp_path / "none.jsonl")]) == 2
    assert capsys.readouterr().err.startswith("kvlab: ")
