"""What do the commands do with the streams, names and terminals that they are given?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kvlab.cli import main
from kvlab.cli.parser import one_line


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `kvlab ...` as a shell does, with its redirections."""
    return subprocess.run(
        ["sh", "-c", command.replace("kvlab", f"{sys.executable} -m kvlab", 1)],
        capture_output=True, encoding="utf-8", check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


def test_a_closed_output_or_input_is_no_traceback():
    assert shell("kvlab rules >&-").returncode == 0
    refused = shell("kvlab diagnose - <&-")
    assert refused.returncode == 2
    assert refused.stderr == (
        "kvlab: -: standard input is closed; pipe a log into it\n"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_behind_the_output_is_not_blamed_on_the_input():
    refused = shell("kvlab rules > /dev/full")
    assert refused.returncode == 2
    assert refused.stderr == (
        "kvlab: standard output: No space left on device; name another\n"
    )


def test_what_the_terminal_cannot_show_is_escaped():
    told = shell("kvlab rules --lang zh", PYTHONIOENCODING="ascii")
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.isascii() and "\\u" in told.stdout


def test_a_name_of_a_file_does_not_steer_the_terminal(capsys, tmp_path):
    file = tmp_path / "a\nkvlab: b\x1b[31m\u202e.log"
    file.write_text("x\n")
    assert main(["diagnose", str(file)]) == 2
    said = capsys.readouterr().err
    assert said.isascii() and said.count("\n") == 1
    assert "a\\nkvlab: b\\x1b[31m\\u202e.log" in said


def test_a_message_keeps_both_ends_and_stays_short():
    said = one_line(f"kvlab: config.json: {'9' * 5000}; use 1 or more")
    assert len(said) < 700
    assert said.startswith("kvlab: config.json: 9")
    assert said.endswith("9; use 1 or more")


@pytest.mark.parametrize("words", [["play"], ["export", "--to", "jsonl"]])
def test_a_run_is_not_written_over_itself(capsys, tmp_path, words):
    run = tmp_path / "run.jsonl"
    assert main(["export", "three_fates", "--to", "jsonl", "-o", str(run)]) == 0
    before = run.read_bytes()
    assert main([*words, str(run), "-o", str(run)]) == 2
    assert "is what is read here" in capsys.readouterr().err
    assert run.read_bytes() == before


def test_a_trace_is_not_replaced_by_its_recording(capsys, tmp_path):
    trace = tmp_path / "trace.jsonl"
    trace.write_text('{"timestamp": 0, "input_length": 5, "output_length": 1, '
                     '"hash_ids": [0]}\n')  # fmt: skip
    before = trace.read_bytes()
    assert main(["replay", str(trace), "--record", str(trace)]) == 2
    assert "is what is read here" in capsys.readouterr().err
    assert trace.read_bytes() == before
