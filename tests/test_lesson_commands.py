"""Does a lesson fail in one line, as `kvlab` does?"""

from __future__ import annotations

import importlib

import pytest

from kvlab.errors import InputError
from kvlab.lessons.command import command

NOWHERE = f"{__file__}/at all"


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("l2_signs", [NOWHERE]),
        ("curves", [NOWHERE]),
        ("twins", [NOWHERE]),
        ("otter", [f"{NOWHERE}/checks"]),
        ("pictures", [NOWHERE]),
        ("mirrors", ["--seeds", "0"]),
        ("title_collapse", ["--seeds", "1", "--figure", f"{NOWHERE}/x.svg"]),
        ("proof", ["--fault", "gap", "--record", f"{NOWHERE}/x.jsonl.gz"]),
    ],
)
def test_what_a_lesson_cannot_do_is_one_line_and_exit_2(module, words, capsys):
    main = importlib.import_module(f"kvlab.lessons.{module}").main
    assert main(words) == 2
    told = capsys.readouterr()
    assert told.err.startswith("kvlab: ") and told.err.count("\n") == 1
    assert not told.out


@pytest.mark.parametrize(
    ("fault", "status", "said"),
    [
        (InputError("a", "is wrong", "mend it"), 2, "kvlab: a: is wrong; mend it\n"),
        (KeyboardInterrupt(), 130, "kvlab: stopped\n"),
    ],
)
def test_a_fault_is_told_by_its_status(fault, status, said, capsys):
    @command
    def main(argv=None):
        raise fault

    assert main([]) == status
    assert capsys.readouterr().err == said
