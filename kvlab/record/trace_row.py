"""What does one row of a request trace ask for, in whatever format it came?

The record that every reader of traces hands on, what a trace was taken for, and the
bounds that keep a number from outside from being allocated.
Left out: the formats (trace_json.py, trace_csv.py) and how they are told apart
(trace_formats.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..config import MAX_TOKENS
from ..errors import InputError

MOST_SECONDS = 1e12
"""Timestamps lie below: later than any date, and far from what a clock cannot hold."""
WRITE_IT = (
    "give a Mooncake, Qwen-Bailian, BurstGPT or Azure LLM trace (JSONL or CSV with its "
    "header)"
)

Lines = Iterator[tuple[int, bytes]]


class TraceRow(NamedTuple):
    """One request. Units: `time` in seconds, None where the row has none; `delay`
    seconds after the turn before it has left; lengths in tokens."""

    where: str
    time: float | None
    input_length: int
    output_length: int
    hash_ids: tuple[int, ...] = ()
    session: str = ""
    delay: float | None = None


class OpenTrace(NamedTuple):
    """A trace that was recognised. `unit` is that of the file's own timestamps;
    `block_size` is None where the rows have no prefix identity."""

    format: str
    unit: str
    block_size: int | None
    rows: Iterator[TraceRow]


def check_length(where: str, name: str, value: int) -> int:
    """Return the length, if tokens can be counted so far.

    Raises: InputError below 0 or beyond 32 bits.
    """
    if not 0 <= value <= MAX_TOKENS:
        raise InputError(
            where, f"{name} is {value}", f"use 0 to {MAX_TOKENS} tokens; mend the line"
        )
    return value


def check_seconds(where: str, name: str, value: float, scale: float = 1.0) -> float:
    """Return the time in seconds, if a clock can hold it; a unit of `value` is `scale`
    seconds.

    Raises: InputError below 0 or beyond 1e12 seconds.
    """
    if not 0 <= value * scale < MOST_SECONDS:
        raise InputError(
            where, f"{name} is {value:g}", "it must be 0 or more and below 1e12 seconds"
        )
    return value * scale
