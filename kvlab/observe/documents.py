"""Which lines of a log does one JSON document hold?

Log stores export answers instead of lines: an array of records (`gcloud logging read`),
Elastic's hits, Loki's streams. Here they become the lines that the engine wrote, oldest
first, so that one reader serves both.
Left out: what the lines say (lines.py), Prometheus' answers (prometheus.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ..errors import InputError
from ..record.text_lines import GZIP
from .source import STDIN, Block, RawLine
from .wrappers import fields_of

MOST_BYTES = 64 << 20
"""A document is held whole; a larger one is exported as lines."""
_MOST_DEEP = 6

_Record = dict[str, object]
_Dated = tuple[str, str]


def document_lines(path: Path, given: Iterator[Block]) -> list[RawLine] | None:
    """Return the log lines that the document holds, as records of one line each; None
    where it holds none. A line's number is that of its record, counted from 1.

    `given` are the blocks of the file, taken where it cannot be read again whole.
    Raises: InputError where it is too large. Cost: O(bytes), held whole.
    """
    raw = _whole(path, given)
    if len(raw) > MOST_BYTES:
        raise InputError(
            str(path), f"is one JSON document of more than {MOST_BYTES >> 20} MiB",
            "export it as lines, one record each",
        )  # fmt: skip
    try:
        dated = [*_dated(msgspec.json.decode(raw), 0)]
    except (msgspec.DecodeError, RecursionError):
        return None
    if not dated:
        return None
    if all(time for time, _ in dated):
        dated.sort(key=lambda pair: pair[0])
    return [
        RawLine(number, json.dumps({"time": time, "message": text}).encode())
        for number, (time, text) in enumerate(dated, 1)
    ]


def _whole(path: Path, given: Iterator[Block]) -> bytes:
    """Return the bytes of the document, or more than `MOST_BYTES` of them."""
    if str(path) != STDIN:
        with open(path, "rb") as file:
            raw = file.read(MOST_BYTES + 1)
        if raw[:2] != GZIP:
            return raw
    parts, size = [], 0
    for block in given:
        parts.append(block.data)
        size += len(block.data)
        if size > MOST_BYTES or not block.whole:
            break  # a line that was cut decodes as nothing
    return b"".join(parts)


def _dated(node: object, deep: int) -> Iterator[_Dated]:
    """Yield time and text of every record at or below the node."""
    if deep > _MOST_DEEP:
        return
    if isinstance(node, list):
        for item in node:
            yield from _dated(item, deep + 1)
    elif isinstance(node, dict):
        found = _message(node)
        if found is not None:
            yield found
            return
        yield from _streams(node)
        for inner in node.values():
            if isinstance(inner, list | dict):
                yield from _dated(inner, deep + 1)


def _message(record: _Record) -> _Dated | None:
    """Return the message of a record, if it is one; a metric is none."""
    if "__name__" in record or "values" in record:
        return None
    found = fields_of(record)
    return None if found is None else (found[0].time, found[0].text)


def _streams(record: _Record) -> Iterator[_Dated]:
    """Yield the lines of one of Loki's streams, whose times are in nanoseconds."""
    values = record.get("values")
    if not isinstance(values, list) or "stream" not in record:
        return
    for pair in values:
        if isinstance(pair, list) and len(pair) >= 2 and isinstance(pair[1], str):
            yield str(pair[0]).zfill(20), pair[1]
