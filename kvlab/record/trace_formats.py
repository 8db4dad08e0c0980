"""Which request trace is this, and what does each of its rows ask for?

Formats are told apart by the names of their fields, never by position: Mooncake and its
dialects, Qwen-Bailian, BurstGPT with 6 or 8 columns, the Azure LLM traces. Each says
its unit of time and its block size, and a row that contradicts itself is refused.
Rows are handed on one by one, so a trace of any length takes little memory.
Source: FORMATS 4. Left out: parquet; running the requests (request_trace.py reads what
`kvlab replay` takes); traces of text, which need a tokenizer.
"""

from __future__ import annotations

import calendar
import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from ..config import MAX_TOKENS
from ..errors import InputError
from .text_lines import numbered_lines

BLOCKS = (512, 16, 64, 32, 128, 256, 1024)
"""Block sizes that a Mooncake dialect may have, the format's own first."""
_PROBE = 200
"""Rows by which the block size of a dialect is found."""
_FORMATS = (
    "give a Mooncake, Qwen-Bailian, BurstGPT or Azure LLM trace (JSONL or CSV with its "
    "header)"
)


class TraceRow(NamedTuple):
    """One request. Units: `time` in seconds (None where the row has none), lengths in
    tokens."""

    time: float | None
    input_length: int
    output_length: int
    hash_ids: tuple[int, ...] = ()
    session: str = ""


class OpenTrace(NamedTuple):
    """A trace that was recognised. `unit` is that of the file's own timestamps;
    `block_size` is None where the rows have no prefix identity."""

    format: str
    unit: str
    block_size: int | None
    rows: Iterator[TraceRow]


Lines = Iterator[tuple[int, bytes]]


def open_requests(path: str | Path) -> OpenTrace:
    """Return the trace, recognised by the names of its fields.

    Raises: InputError with file and line where the file is no such trace, now or when
    the rows get there.
    """
    lines = ((n, line) for n, line in numbered_lines(path) if line.strip())
    first = next(lines, None)
    if first is None:
        raise InputError(str(path), "has no requests", _FORMATS)
    number, line = first
    text = line.removeprefix(b"\xef\xbb\xbf")
    if text.lstrip().startswith(b"{"):
        return _json_trace(path, chain([(number, text)], lines))
    header = [name.strip() for name in text.decode("utf-8", "replace").split(",")]
    names = {name.lower() for name in header}
    if {"request tokens", "response tokens"} <= names:
        return _burstgpt(path, header, lines)
    if {"contexttokens", "generatedtokens"} <= names:
        return _azure(path, header, lines)
    raise InputError(f"{path}:{number}", "is no request trace that is known", _FORMATS)


def is_trace(head: bytes) -> bool:
    """Say whether the first line of a file is that of a request trace."""
    line = head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0]
    if line.startswith(b"{"):
        return bool(_ROW_NAMES.search(line)) and not line.startswith(b'{"log"')
    low = line.lower()
    return b"response tokens" in low or b"generatedtokens" in low


_ROW_NAMES = re.compile(
    rb'"(?:input_length|input_tokens|hash_ids|text_input|conversations|llm_calls|'
    rb'ttfts|total_input_tokens)"\s*:'
)


# --- JSON lines


class _Row(Struct):
    """What a Mooncake row, one of its dialects, or a Bailian row may say."""

    timestamp: float | UnsetType = UNSET
    created_time: float | UnsetType = UNSET
    input_length: int | UnsetType = UNSET
    input_tokens: int | UnsetType = UNSET
    output_length: int | UnsetType = UNSET
    output_tokens: int | UnsetType = UNSET
    hash_ids: tuple[int, ...] | UnsetType = UNSET
    chat_id: int | str | UnsetType = UNSET
    session_id: int | str | UnsetType = UNSET
    delay: float | UnsetType = UNSET
    delay_ms: float | UnsetType = UNSET
    text_input: Any = field(default=UNSET)
    messages: Any = field(default=UNSET)


def _json_trace(path: str | Path, lines: Lines) -> OpenTrace:
    probe = []
    for number, line in lines:
        probe.append((number, line, _decode(path, number, line)))
        if len(probe) == _PROBE:
            break
    rows = [row for _, _, row in probe]
    first = rows[0]
    if first.chat_id is not UNSET:
        name, unit, scale, block = "bailian", "s", 1.0, 16
    else:
        dialect = any(
            value is not UNSET
            for row in rows[:8]
            for value in (row.session_id, row.delay, row.delay_ms, row.created_time,
                          row.input_tokens, row.text_input, row.messages)
        )  # fmt: skip
        name, unit, scale = ("mooncake-dialect" if dialect else "mooncake"), "ms", 1e-3
        block = _block_size(rows)
    identity = any(row.hash_ids is not UNSET for row in rows)
    again = chain(iter(probe), ((n, line, _decode(path, n, line)) for n, line in lines))
    made = (
        _json_row(f"{path}:{n}", row, scale, block if identity else None)
        for n, _, row in again
    )
    return OpenTrace(name, unit, block if identity else None, made)


def _decode(path: str | Path, number: int, line: bytes) -> _Row:
    where = f"{path}:{number}"
    try:
        row = _ROWS.decode(line)
    except msgspec.ValidationError as problem:
        raise InputError(where, f"is not a request ({problem})", _FORMATS) from None
    except msgspec.DecodeError as problem:
        raise InputError(where, f"is not JSON ({problem})", _FORMATS) from None
    if _length(row.input_length, row.input_tokens) is None:
        raise InputError(where, _foreign(line), _FORMATS)
    return row


_ROWS = msgspec.json.Decoder(_Row)


def _foreign(line: bytes) -> str:
    if b'"conversations"' in line:
        return "is a ShareGPT conversation: text without times or token counts"
    if b'"llm_calls"' in line:
        return "is a session of coding-agent calls, which is not read yet"
    if b'"request_throughput"' in line or b'"ttfts"' in line:
        return "is the result of a benchmark, not a trace of requests"
    return "has no input_length"


def _length(one: int | UnsetType, other: int | UnsetType) -> int | None:
    if not isinstance(one, UnsetType):
        return one
    return None if isinstance(other, UnsetType) else other


def _block_size(rows: list[_Row]) -> int:
    """Return the block size that fits every row, the format's own if several do, or if
    no row has two blocks by which another could be told."""
    sizes = [
        (_length(row.input_length, row.input_tokens) or 0, len(row.hash_ids))
        for row in rows
        if not isinstance(row.hash_ids, UnsetType)
    ]
    if max((ids for _, ids in sizes), default=0) < 2:
        return BLOCKS[0]
    fitting = (
        size
        for size in BLOCKS
        if all(ids == -(-length // size) for length, ids in sizes)
    )
    return next(fitting, BLOCKS[0])


def _json_row(where: str, row: _Row, scale: float, block: int | None) -> TraceRow:
    asked = _length(row.input_length, row.input_tokens) or 0
    made = _length(row.output_length, row.output_tokens)
    stamp = row.created_time if isinstance(row.timestamp, UnsetType) else row.timestamp
    ids = () if isinstance(row.hash_ids, UnsetType) else row.hash_ids
    _check(where, asked, 0 if made is None else made)
    if block is not None and len(ids) != -(-asked // block):
        raise InputError(
            where,
            f"input_length {asked} makes {-(-asked // block)} blocks of {block}, "
            f"hash_ids has {len(ids)}",
            "this is no trace of equal blocks; mend or remove the line",
        )
    time = None if isinstance(stamp, UnsetType) else stamp * scale
    if time is not None and time < 0:
        raise InputError(where, f"timestamp is {stamp}", "it must be 0 or more")
    chat = row.session_id if isinstance(row.chat_id, UnsetType) else row.chat_id
    session = "" if isinstance(chat, UnsetType) else str(chat)
    return TraceRow(time, asked, made or 0, ids, session)


def _check(where: str, asked: int, made: int) -> None:
    for name, value in (("input", asked), ("output", made)):
        if not 0 <= value <= MAX_TOKENS:
            raise InputError(
                where, f"{name} length is {value}", f"use 0 to {MAX_TOKENS} tokens"
            )


# --- CSV, columns by header


def _burstgpt(path: str | Path, header: list[str], lines: Lines) -> OpenTrace:
    """BurstGPT, 6 columns (1, 2) or 8 (3): seconds, no prefix identity."""
    columns = _columns(path, header, ("Timestamp", "Request tokens", "Response tokens"))
    total = _columns(path, header, ("Total tokens",), optional=True)
    session = _columns(path, header, ("Session ID",), optional=True)

    def rows() -> Iterator[TraceRow]:
        for where, cells in _cells(path, header, lines):
            asked, made = (_count(where, cells[at]) for at in columns[1:])
            if total and cells[total[0]]:
                whole = _count(where, cells[total[0]])
                if whole != asked + made:
                    raise InputError(
                        where,
                        f"Total tokens {whole} is not {asked} + {made}",
                        "columns are shifted or the line is damaged; mend it",
                    )
            named = cells[session[0]] if session else ""
            yield TraceRow(_seconds(where, cells[columns[0]]), asked, made, (), named)

    return OpenTrace("burstgpt", "s", None, rows())


def _azure(path: str | Path, header: list[str], lines: Lines) -> OpenTrace:
    """Azure LLM inference 2023 and 2024, LMM 2025: dates with up to 100 ns."""
    at, asked_at, made_at = _columns(
        path, header, ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
    )
    cells = _cells(path, header, lines)
    first = next(cells, None)
    if first is None:
        raise InputError(str(path), "has no requests", _FORMATS)
    year = first[1][at][:4]

    def rows() -> Iterator[TraceRow]:
        for where, row in chain([first], cells):
            asked, made = _count(where, row[asked_at]), _count(where, row[made_at])
            yield TraceRow(_date(where, row[at]), asked, made)

    return OpenTrace(f"azure-{year}", "date", None, rows())


def _columns(
    path: str | Path, header: list[str], wanted: Iterable[str], optional: bool = False
) -> list[int]:
    """Return where the wanted columns are."""
    low = [name.lower() for name in header]
    missing = [name for name in wanted if name.lower() not in low]
    if missing and not optional:
        raise InputError(
            f"{path}:1", f"has no column {missing[0]}", "give the file with its header"
        )
    return [low.index(name.lower()) for name in wanted if name.lower() in low]


def _cells(
    path: str | Path, header: list[str], lines: Lines
) -> Iterator[tuple[str, list[str]]]:
    """Yield place and cells of every row; a row of another width is refused."""
    for number, line in lines:
        where = f"{path}:{number}"
        cells = next(csv.reader([line.decode("utf-8", "replace").strip()]), [])
        if len(cells) != len(header):
            raise InputError(
                where,
                f"has {len(cells)} columns, the header {len(header)}",
                "mend or remove the line",
            )
        yield where, [cell.strip() for cell in cells]


def _count(where: str, text: str) -> int:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= MAX_TOKENS or value != int(value):
        raise InputError(where, f"{text[:40]!r} is no count of tokens", "mend the line")
    return int(value)


def _seconds(where: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value < 1e12:
        raise InputError(where, f"{text[:40]!r} is no time in seconds", "mend the line")
    return value


_DATE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(\.\d{1,9})?"
    r"(?:Z|(?P<sign>[+-])(?P<h>\d\d):?(?P<m>\d\d))?"
)


def _date(where: str, text: str) -> float:
    """Return seconds; any number of fraction digits, with or without an offset."""
    found = _DATE.fullmatch(text)
    if found is None:
        raise InputError(where, f"{text[:40]!r} is no date and time", "mend the line")
    year, month, day, hour, minute, second = (int(found[i]) for i in range(1, 7))
    whole: float = calendar.timegm((year, month, day, hour, minute, second))
    if found["sign"]:
        offset = int(found["h"]) * 3600 + int(found["m"]) * 60
        whole -= offset if found["sign"] == "+" else -offset
    return whole + float(found[7] or 0)
