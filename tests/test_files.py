"""Where does a result go, and where does it not?"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from kvlab.cli.shared import check_target
from kvlab.errors import InputError
from kvlab.files import replace_file, replacing


def test_a_file_is_replaced_and_nothing_lies_beside_it(tmp_path):
    file = tmp_path / "run.csv"
    file.write_text("old")
    replace_file(file, b"new")
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_after_an_error_the_old_file_stands_alone(tmp_path):
    file = tmp_path / "run.csv"
    file.write_text("old")
    with pytest.raises(KeyError), replacing(file) as part:
        part.write(b"half")
        raise KeyError
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_stays_a_link_and_its_file_gets_the_result(tmp_path):
    file, link = tmp_path / "real.html", tmp_path / "link.html"
    file.write_text("old")
    link.symlink_to(file.name)
    replace_file(link, b"new")
    assert link.is_symlink()
    assert file.read_text() == "new"


def test_a_private_file_stays_private(tmp_path):
    file = tmp_path / "run.csv"
    file.write_text("old")
    file.chmod(0o600)
    replace_file(file, b"new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        replace_file(pipe, b"all of it")
        assert os.read(reader, 100) == b"all of it"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_read_only_file_is_not_replaced(tmp_path):
    file = tmp_path / "run.csv"
    file.write_text("old")
    file.chmod(0o444)
    if os.access(file, os.W_OK):
        pytest.skip("root may write everything")
    with pytest.raises(InputError, match="Permission denied"):
        replace_file(file, b"new")
    with pytest.raises(InputError, match="may not be written"):
        check_target(file)
    assert file.read_text() == "old"


def test_a_file_that_is_read_is_no_target_by_any_name(tmp_path):
    file, link = tmp_path / "trace.jsonl", tmp_path / "link.jsonl"
    file.write_text("{}")
    link.symlink_to(file)
    for target in (file, link, tmp_path / "x" / ".." / file.name):
        (tmp_path / "x").mkdir(exist_ok=True)
        with pytest.raises(InputError, match="is what is read here"):
            check_target(target, Path("three_fates"), None, file)


def test_a_dash_is_no_target_and_says_what_is():
    with pytest.raises(InputError, match="/dev/stdout"):
        check_target(Path("-"))
