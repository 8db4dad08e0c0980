"""What does a row of Mooncake's JSON lines, a dialect's or Bailian's ask for?

All have the same names for lengths and blocks. Bailian is known by its `chat_id`; its
times are seconds and its blocks 16 tokens, where Mooncake has milliseconds and 512.
Dialects add sessions, whose later turns may have a `delay` instead of a time.
Source: Mooncake, FAST25-release/traces; AIPerf and Dynamo, mooncake_trace;
alibaba-edu/qwen-bailian-usagetraces-anon.
Left out: traces of text, which need a tokenizer.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from ..errors import InputError
from .trace_row import (
    WRITE_IT,
    Lines,
    OpenTrace,
    TraceRow,
    check_length,
    check_seconds,
)

BLOCKS = (512, 16, 64, 32, 128, 256, 1024)
"""Block sizes that a Mooncake dialect may have, the format's own first."""
BAILIAN_BLOCK = 16
_PROBE = 200
"""Rows by which the block size of a dialect is found."""


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


class _Kind(NamedTuple):
    """How rows are read. Units: `scale` seconds a unit of time; `block` tokens, None
    without prefix identity."""

    scale: float
    block: int | None
    chats: bool


def json_trace(path: str | Path, lines: Lines, block: int | None = None) -> OpenTrace:
    """Return the trace whose first rows these lines are; `block` overrides the block
    size that fits them.

    Raises: InputError with file and line, now or when the rows get there.
    """
    probe = []
    for number, line in lines:
        probe.append((f"{path}:{number}", _decode(path, number, line)))
        if len(probe) == _PROBE:
            break
    rows = [row for _, row in probe]
    chats = rows[0].chat_id is not UNSET
    if chats:
        name, unit, scale, fits = "bailian", "s", 1.0, BAILIAN_BLOCK
    else:
        name = "mooncake-dialect" if any(map(_is_dialect, rows[:8])) else "mooncake"
        unit, scale, fits = "ms", 1e-3, _block_size(rows)
    identity = any(row.hash_ids is not UNSET for row in rows)
    kind = _Kind(scale, (block or fits) if identity else None, chats)
    rest = ((f"{path}:{n}", _decode(path, n, line)) for n, line in lines)
    made = (_row(where, row, kind) for where, row in chain(probe, rest))
    return OpenTrace(name, unit, kind.block, made)


def _is_dialect(row: _Row) -> bool:
    added = (
        row.session_id, row.delay, row.delay_ms, row.created_time, row.input_tokens,
        row.text_input, row.messages,
    )  # fmt: skip
    return any(value is not UNSET for value in added)


def _decode(path: str | Path, number: int, line: bytes) -> _Row:
    where = f"{path}:{number}"
    try:
        row = _ROWS.decode(line)
    except msgspec.ValidationError as problem:
        raise InputError(where, f"is not a request ({problem})", WRITE_IT) from None
    except msgspec.DecodeError as problem:
        raise InputError(where, f"is not JSON ({problem})", WRITE_IT) from None
    if row.input_length is UNSET and row.input_tokens is UNSET:
        raise InputError(where, _foreign(line), WRITE_IT)
    return row


_ROWS = msgspec.json.Decoder(_Row)


def _foreign(line: bytes) -> str:
    if b'"conversations"' in line:
        return "is a ShareGPT conversation: text without times or token counts"
    if b'"llm_calls"' in line:
        return "is a session of coding-agent calls, whose prompts have no identity"
    if b'"request_throughput"' in line or b'"ttfts"' in line:
        return "is the result of a benchmark, not a trace of requests"
    return "has no input_length"


def _block_size(rows: list[_Row]) -> int:
    """Return the block size that fits every row, the format's own if several do, or if
    no row has two blocks by which another could be told."""
    sizes = [
        (_first(row.input_length, row.input_tokens) or 0, len(row.hash_ids))
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


# --- one row


def _row(where: str, row: _Row, kind: _Kind) -> TraceRow:
    asked = _one(where, "input_length", row.input_length, row.input_tokens)
    made = _one(where, "output_length", row.output_length, row.output_tokens)
    length = check_length(where, "input_length", asked or 0)
    output = check_length(where, "output_length", made or 0)
    stamp = _one(where, "timestamp", row.timestamp, row.created_time)
    delay = _one(where, "delay", row.delay, row.delay_ms)
    if kind.chats and row.chat_id is UNSET:
        raise InputError(where, "has no chat_id, the first row has", "mend the line")
    if kind.chats and stamp is None:
        raise InputError(where, "has no timestamp", "mend or remove the line")
    session = _first(row.chat_id, row.session_id)
    return TraceRow(
        where,
        _time(where, "timestamp", stamp, kind.scale),
        length,
        output,
        _blocks(where, row, length, kind.block),
        "" if session is None else str(session),
        _time(where, "delay", delay, 1e-3),
    )


def _time(where: str, name: str, value: float | None, scale: float) -> float | None:
    return None if value is None else check_seconds(where, name, value, scale)


def _blocks(where: str, row: _Row, length: int, block: int | None) -> tuple[int, ...]:
    """Return the row's block ids. Raises: InputError where they contradict it."""
    ids = () if isinstance(row.hash_ids, UnsetType) else row.hash_ids
    if block is None:
        if ids:
            raise InputError(
                where, "has hash_ids, the first rows have none",
                "this is no trace of one format; mend the file",
            )  # fmt: skip
        return ids
    if len(ids) != -(-length // block):
        raise InputError(
            where,
            f"input_length {length} makes {-(-length // block)} blocks of {block}, "
            f"hash_ids has {len(ids)}",
            "this is no trace of equal blocks; mend or remove the line",
        )
    if ids and min(ids) < 0:
        raise InputError(
            where, f"hash id {min(ids)} is negative", "number blocks from 0"
        )
    return ids


_Value = TypeVar("_Value", int, float)


def _one(
    where: str, name: str, value: _Value | UnsetType, other: _Value | UnsetType
) -> _Value | None:
    """Return the one that the row has under its name or its alias.

    Raises: InputError for two that differ.
    """
    if isinstance(value, UnsetType):
        return None if isinstance(other, UnsetType) else other
    if not isinstance(other, UnsetType) and other != value:
        raise InputError(
            where, f"{name} is {value} and, by its other name, {other}", "keep one"
        )
    return value


def _first(one: Any, other: Any) -> Any:
    if one is not UNSET:
        return one
    return None if other is UNSET else other
