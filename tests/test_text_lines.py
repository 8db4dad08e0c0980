"""Does a text file from outside come in whole lines, and is trouble told in one?"""

from __future__ import annotations

import gzip
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlab.errors import InputError, TraceError
from kvlab.record.text_lines import numbered_lines

TEXT = st.lists(st.text("ab\r é", max_size=9), max_size=9).map("\n".join)


@given(TEXT)
def test_the_lines_are_those_of_the_file(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "plain"
    path.write_bytes(text.encode())
    with open(path, "rb") as file:
        assert [line for _, line in numbered_lines(path)] == list(file)


@given(TEXT)
def test_a_gzip_has_the_lines_of_its_text(tmp_path_factory, text):
    folder = tmp_path_factory.getbasetemp()
    (folder / "text").write_bytes(text.encode())
    (folder / "packed").write_bytes(gzip.compress(text.encode()))
    packed = list(numbered_lines(folder / "packed"))
    assert packed == list(numbered_lines(folder / "text"))


def test_lines_are_numbered_from_1(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"a\nb\nc")
    assert list(numbered_lines(path)) == [(1, b"a\n"), (2, b"b\n"), (3, b"c")]


def test_a_line_longer_than_any_buffer_is_one_line(tmp_path):
    dice = random.Random(0)
    line = "".join(dice.choices("0123456789", k=300_000)).encode()
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(line + b"\nend"))
    assert list(numbered_lines(path)) == [(1, line + b"\n"), (2, b"end")]


def test_text_that_packs_extremely_well_comes_out_whole(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(b"a\n" * 100_000))
    assert sum(1 for _ in numbered_lines(path)) == 100_000


def test_what_lies_before_a_cut_is_delivered(tmp_path):
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"a\nb\nc\n")[:-9])
    lines = numbered_lines(path)
    assert [next(lines), next(lines)] == [(1, b"a\n"), (2, b"b\n")]
    with pytest.raises(InputError) as told:
        list(lines)
    assert "the gzip data is damaged or cut short here; fetch" in str(told.value)


@pytest.mark.parametrize("missing", range(9, 40))
def test_every_whole_line_before_a_cut_is_delivered(tmp_path, missing):
    content = gzip.compress(b"a\n" * 100_000)[:-missing]
    path = tmp_path / "file.gz"
    path.write_bytes(content)
    found = []
    with pytest.raises(InputError):
        found.extend(numbered_lines(path))
    assert len(found) == zlib.decompressobj(31).decompress(content).count(b"\n")


def test_padding_behind_a_gzip_is_no_damage(tmp_path):
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"a\n") + b"\0" * 512)
    assert list(numbered_lines(path)) == [(1, b"a\n")]


def test_the_caller_chooses_the_error(tmp_path):
    with pytest.raises(TraceError, match="cannot be read"):
        list(numbered_lines(tmp_path / "none", TraceError))


def test_binary_data_in_a_gzip_is_told(tmp_path):
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"\0\1\2"))
    with pytest.raises(InputError) as told:
        list(numbered_lines(path))
    assert str(told.value) == (
        f"{path}: is binary data, not text; give a JSONL file, plain or .gz"
    )


@pytest.mark.parametrize("write", [bytes, gzip.compress])
def test_a_line_without_end_is_not_held_whole(tmp_path, monkeypatch, write):
    monkeypatch.setattr("kvlab.record.text_lines.LONGEST", 1 << 20)
    path = tmp_path / "file"
    path.write_bytes(write(b"a\n" + b"b" * (5 << 20) + b"\nc\n"))
    lines = numbered_lines(path)
    assert next(lines) == (1, b"a\n")
    with pytest.raises(InputError, match=":2: has more than 1 MiB in one line"):
        next(lines)


def test_a_dash_names_no_file():
    with pytest.raises(InputError, match="-: names no file to read; use /dev/stdin"):
        next(numbered_lines("-"))
