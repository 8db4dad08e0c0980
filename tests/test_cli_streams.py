"""What do the commands do with the streams, names and terminals that they are given?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from engine_text import decode

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


def test_what_an_input_names_does_not_steer_the_terminal(capsys, tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({
        "model_type": "a\x1b[31m\u202e", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32,
    }))  # fmt: skip
    log = tmp_path / "a\x1b]0;x\x07.log"
    log.write_text(decode(1, 3, 0.5, 4) + "\n")
    for words in (["capacity", config, "--kv-gib", 1], ["diagnose", log]):
        assert main([str(word) for word in words]) == 0
        said = capsys.readouterr().out
        assert not set("\x1b\x07\u202e") & set(said)
        assert "\\x1b" in said


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


def test_a_run_that_another_tool_wrote_again_is_diagnosed(capsys, tmp_path):
    run = tmp_path / "run.jsonl"
    assert main(["export", "three_fates", "--to", "jsonl", "-o", str(run)]) == 0
    rows = [json.loads(line) for line in run.read_text().splitlines()]
    run.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    assert main(["diagnose", str(run)]) == 0
    assert "sglang run: run.jsonl" in capsys.readouterr().out


KILLED = """
import os, time
from pathlib import Path
import kvlab.cli
from kvlab.entry import run
from kvlab.files import replacing
def main():
    with replacing(Path("half.csv")) as file:
        file.write(b"1")
        os.kill(os.getpid(), {number})
        time.sleep(1)
kvlab.cli.main = main
run()
"""


LATE = """
import os, kvlab.cli
from kvlab.entry import run
kvlab.cli.main = lambda: 0
run()
os.kill(os.getpid(), {number})
"""


@pytest.mark.parametrize("number", [1, 2, 15])
def test_a_signal_after_the_work_ends_it_without_a_word(number):
    ended = subprocess.run(
        [sys.executable, "-c", LATE.format(number=number)],
        capture_output=True, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (-number, b"")


@pytest.mark.parametrize("number", [1, 15])
def test_a_signal_leaves_no_half_file(number, tmp_path):
    words = [sys.executable, "-c", KILLED.format(number=number)]
    ended = subprocess.run(words, cwd=tmp_path, check=False)
    assert ended.returncode == 128 + number
    assert list(tmp_path.iterdir()) == []


def test_a_hangup_that_is_kept_off_does_not_end_the_work(tmp_path):
    words = ["nohup", sys.executable, "-c", KILLED.format(number=1)]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == 0
    assert (tmp_path / "half.csv").read_bytes() == b"1"


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="no /dev/stdin here")
def test_a_trace_may_come_through_a_pipe(tmp_path):
    trace = tmp_path / "trace.jsonl"
    row = {"timestamp": 0, "input_length": 5, "output_length": 1, "hash_ids": [0]}
    trace.write_text(f"{json.dumps(row)}\n" * 3)
    told = shell(f"kvlab replay /dev/stdin --json < '{trace}'")
    piped = shell(f"kvlab replay /dev/stdin --json <<E\n{trace.read_text()}E\n")
    through = shell(f"cat '{trace}' | kvlab replay /dev/stdin --json")
    for each in (told, piped, through):
        assert json.loads(each.stdout)["requests"] == 3, each.stderr


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="no /dev/stdin here")
@pytest.mark.parametrize("given", ["-", "/dev/stdin"])
@pytest.mark.parametrize(
    ("sort", "line"), [("trace", '{"input_length": 5}'), ("run", '{"kvlab": 1}')]
)
def test_what_is_read_twice_does_not_come_through_a_pipe(given, sort, line, tmp_path):
    file = tmp_path / "file"
    file.write_text(f"{line}\n")
    told = shell(f"cat '{file}' | timeout 60 kvlab diagnose {given}")
    assert told.returncode == 2
    assert f"stdin: is a {sort}, which is read twice; save it" in told.stderr
