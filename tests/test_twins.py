"""Do a notebook and its twin come from one text, and give it back?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kvlab.errors import InputError
from kvlab.lessons import twins

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))
TEXT = "%% en\n# A\n\n%% zh\n# 甲\n\n%% code\n1 + 1\n"


def test_the_text_of_cells_is_read_back():
    cells = twins.read_text(TEXT)
    assert [cell.is_code for cell in cells] == [False, True]
    assert twins.to_text(cells) == TEXT


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_what_its_own_text_makes(path, tmp_path):
    made = tmp_path / path.name
    twins.write(twins.read_text(twins.to_text(twins.read(path))), made)
    assert made.read_text("utf-8") == path.read_text("utf-8")
    twin = twins.twin_of(path)
    assert twins.twin_of(made).read_text("utf-8") == twin.read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("%% en\nalone\n\n%% code\n1\n", r"line 1: a cell 'en' alone"),
        ("%% code\n1\n%% zh\n甲\n", r"line 3: a cell 'zh' alone"),
        ("before\n%% code\n1\n", "line 1: text before the first cell"),
    ],
)
def test_a_text_that_is_no_notebook_names_its_line(text, says):
    with pytest.raises(InputError, match=says):
        twins.read_text(text)


def test_code_that_parted_is_named(tmp_path):
    path = tmp_path / "a.ipynb"
    twins.write(twins.read_text(TEXT), path)
    twin = twins.twin_of(path)
    twin.write_text(twin.read_text("utf-8").replace("1 + 1", "1 + 2"), "utf-8")
    with pytest.raises(InputError, match="cell 1: other code"):
        twins.read(path)


def test_the_command_ends_with_two_on_a_bad_text(tmp_path, capsys):
    bad = tmp_path / "bad.md"
    bad.write_text("%% zh\n甲\n", "utf-8")
    assert twins.main([str(bad), str(tmp_path / "a.ipynb")]) == 2
    assert "bad.md: line 1" in capsys.readouterr().err
    assert not (tmp_path / "a.ipynb").exists()


def test_the_text_is_utf_8_whatever_the_terminal_is(tmp_path):
    path = tmp_path / "a.ipynb"
    twins.write(twins.read_text(TEXT), path)
    told = subprocess.run(
        [sys.executable, "-m", "kvlab.lessons.twins", path],
        env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True,
        check=True,
    )  # fmt: skip
    assert told.stdout.decode("utf-8") == TEXT
