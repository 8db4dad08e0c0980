"""Do JSON documents of log stores become the lines they hold?"""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest
from engine_text import decode

from kvlab.errors import InputError
from kvlab.observe import documents
from kvlab.observe.diagnose import diagnose
from kvlab.observe.documents import document_lines
from kvlab.observe.source import STDIN, blocks

LINES = [decode(9 * n, 5, 0.3, 0) for n in range(20)]
DOCUMENT = json.dumps([{"textPayload": x} for x in LINES], indent=1).encode()


def lines_of(tmp_path, node: object) -> list[str] | None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(node))
    found = document_lines(path, blocks(path))
    if found is None:
        return None
    return [json.loads(line.data)["message"] for line in found]


def test_a_document_from_standard_input_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DOCUMENT)))
    assert diagnose([Path(STDIN)]).facts["n_samples"] == 20


def test_a_packed_document_is_read(tmp_path):
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(DOCUMENT))
    assert diagnose([path]).facts["n_samples"] == 20


def test_records_with_times_come_oldest_first(tmp_path):
    node = [{"time": f"2026-05-0{day}", "log": f"{day}\n"} for day in (3, 1, 2)]
    assert lines_of(tmp_path, node) == ["1\n", "2\n", "3\n"]


def test_records_without_times_keep_their_order(tmp_path):
    assert lines_of(tmp_path, [{"log": "b\n"}, {"log": "a\n"}]) == ["b\n", "a\n"]


def test_a_document_without_a_message_holds_no_lines(tmp_path):
    assert lines_of(tmp_path, {"a": [1, {"b": "c"}]}) is None


@pytest.mark.parametrize("text", ['[{"a":' * 5000, "[" * 5000 + "]" * 5000, '[{"a"'])
def test_a_document_that_is_nested_or_cut_is_one_line_of_error(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InputError):
        diagnose([path])


def test_a_document_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "MOST_BYTES", 1 << 10)
    path = tmp_path / "a.json"
    path.write_bytes(DOCUMENT)
    with pytest.raises(InputError, match="export it as lines"):
        diagnose([path])
