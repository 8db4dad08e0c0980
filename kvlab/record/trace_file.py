"""How does a run lie on disk, and how is it read back?

JSONL: the first line is the header (with the number of events), then one event a line,
as an array that begins with its kind. Page and token lists are written as runs, so
`[[5,3],2]` is 5, 6, 7, 2. A path that ends in `.gz` is compressed.
Left out: whether the events fold into states (replay.py).
"""

from __future__ import annotations

import functools
import gzip
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec import Struct

from ..config import MAX_TOKENS
from ..errors import ConfigError, TraceError
from ..files import replacing
from ..pages import NO_PAGES, Pages, Runs, from_runs, to_runs
from .block_events import BLOCK_CHANGES, BLOCK_DECISIONS
from .block_lists import block_list_reader, to_block_runs
from .events import CHANGES, DECISIONS, Event
from .text_lines import numbered_lines
from .trace import FORMAT, BlockHeader, BlockTrace, Header, Trace, check_run

_BLOCK = 4096
_AGAIN = (
    "record the run again, or open the part before it in Python: "
    "read_trace(path, prefix=True)"
)
_LARGEST = 2**53
"""Numbers up to here are exact in every tool that reads JSON."""
_MAY_BE_LARGE = re.compile(rb"\d{16}|\d[eE]")

_T = TypeVar("_T")
Lines = Iterator[tuple[int, bytes]]


class _FirstLine(Header, frozen=True, kw_only=True, forbid_unknown_fields=True):
    events: int | None = None


class _BlockFirstLine(
    BlockHeader, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    events: int | None = None


class _Stamp(Struct):
    kvlab: int
    engine: str = "sglang"


class Prefix(NamedTuple):
    """The whole part of a file, and what stopped the reading (None: nothing did)."""

    trace: Trace
    damage: TraceError | None


# --- writing


def write_trace(trace: Trace | BlockTrace, path: str | Path) -> None:
    """Write the run, all of it or nothing; `.gz` at the end of the path compresses.

    The same run gives the same bytes. Changes: the file, replaced in one move.
    Raises: TraceError if the path names no file, or the folder or the disk does not
    take it; ConfigError for what is no run. Cost: O(events).
    """
    check_run(trace, "write_trace")
    target = Path(path)
    with replacing(target, TraceError) as file:
        _write(trace, file, compress=target.suffix == ".gz")


def _write(trace: Trace | BlockTrace, file: IO[bytes], compress: bool) -> None:
    if not compress:
        file.writelines(_encoded(trace))
        return
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
        packed.writelines(_encoded(trace))


def _encoded(trace: Trace | BlockTrace) -> Iterable[bytes]:
    blocks = isinstance(trace, BlockTrace)
    encoder = msgspec.json.Encoder(enc_hook=to_block_runs if blocks else _to_runs)
    header = msgspec.structs.asdict(trace.header)
    first_line = _BlockFirstLine if blocks else _FirstLine
    yield encoder.encode(first_line(**header, events=len(trace))) + b"\n"
    for first in range(0, len(trace), _BLOCK):
        yield encoder.encode_lines(trace.events[first : first + _BLOCK])


def _to_runs(array: Any) -> Runs:
    """Return a page list's runs; the usual list of one run at a third of the cost."""
    if not isinstance(array, np.ndarray):
        raise NotImplementedError(f"an event holds a {type(array).__name__}")
    if (size := len(array)) == 1:
        return [int(array[0])]
    if size and array[-1] - array[0] == size - 1 and (np.diff(array) == 1).all():
        return [(int(array[0]), size)]
    return to_runs(array)


# --- reading


def read_trace(path: str | Path, prefix: bool = False) -> Trace:
    """Return the run in the file; with `prefix`, the whole part of a damaged one.

    Raises: TraceError with file and line if the file is not a run of kvlab, is of a
    newer format, or, without `prefix`, is damaged anywhere. Cost: O(events).
    """
    trace, damage = read_prefix(path)
    if damage is not None and not prefix:
        raise damage
    return trace


def read_prefix(path: str | Path) -> Prefix:
    """Return the events before the first damage, and the damage.

    Raises: TraceError if not even the first line can be used.
    """
    lines = numbered_lines(path, TraceError)
    first = _first_line(path, next(lines, (1, b""))[1], "sglang", _FirstLine)
    fields = {name: getattr(first, name) for name in Header.__struct_fields__}
    trace = Trace(Header(**fields))
    config = first.config
    longest = max(config.device_pages, config.host_pages) * config.page_size
    try:
        _read_events(
            path, lines, trace.events, CHANGES + DECISIONS,
            functools.partial(_from_runs, longest),
        )  # fmt: skip
        _compare_count(path, first.events, len(trace))
    except TraceError as damage:
        return Prefix(trace, damage)
    return Prefix(trace, None)


def read_block_trace(path: str | Path) -> BlockTrace:
    """Return the run of vLLM in the file.

    Raises: TraceError with file and line if the file is no such run, is of a newer
    format, or is damaged anywhere. Cost: O(events).
    """
    lines = numbered_lines(path, TraceError)
    first = _first_line(path, next(lines, (1, b""))[1], "vllm", _BlockFirstLine)
    fields = {name: getattr(first, name) for name in BlockHeader.__struct_fields__}
    trace = BlockTrace(BlockHeader(**fields))
    l2 = first.config.l2
    longest = max(first.config.num_gpu_blocks, l2.num_cpu_blocks if l2 else 0)
    kinds = BLOCK_CHANGES + BLOCK_DECISIONS
    _read_events(path, lines, trace.events, kinds, block_list_reader(longest))
    _compare_count(path, first.events, len(trace))
    return trace


def engine_of(path: str | Path) -> str | None:
    """Return the engine of the run in the file; None if it is no run of kvlab.

    Raises: TraceError if the file cannot be read.
    """
    line = next(numbered_lines(path, TraceError), (1, b""))[1]
    try:
        return msgspec.json.decode(line, type=_Stamp).engine
    except msgspec.MsgspecError:
        return None


def _first_line(path: str | Path, line: bytes, engine: str, kind: type[_T]) -> _T:
    where = f"{path}:1"
    if not line:
        raise TraceError(str(path), "is empty", "give a run that kvlab recorded")
    try:
        stamp = msgspec.json.decode(line, type=_Stamp)
    except msgspec.MsgspecError:
        raise TraceError(
            where,
            "does not begin like a recorded run of kvlab",
            "give a file that kvlab recorded; request traces have their own reader",
        ) from None
    if stamp.kvlab > FORMAT:
        raise TraceError(
            where,
            f"is a run of format {stamp.kvlab}, newer than this kvlab's {FORMAT}",
            "update kvlab",
        )
    if stamp.engine != engine:
        raise TraceError(
            where, f"is a run of {stamp.engine}, not of {engine}",
            f"give a run that kvlab recorded of {engine}",
        )  # fmt: skip
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.MsgspecError, ConfigError) as problem:
        raise TraceError(
            where, f"the header is damaged ({problem})", "record the run again"
        ) from None


def _read_events(
    path: str | Path,
    lines: Lines,
    events: list[Event],
    kinds: Sequence[type[Event]],
    hook: Callable[[type, Any], Pages],
) -> None:
    """Append the events of the lines, lists being read by `hook`; no number is beyond
    2**53. Raises: TraceError at the first bad line.
    """
    union = functools.reduce(operator.or_, kinds)
    decode = msgspec.json.Decoder(union, dec_hook=hook).decode
    for number, line in lines:
        try:
            event: Event = decode(line)
        except msgspec.MsgspecError as problem:
            what = f"is not an event ({problem})"
            if not line.endswith(b"\n"):
                what = "the file ends in the middle of an event"
            raise TraceError(f"{path}:{number}", what, _AGAIN) from None
        if not -1 <= event.cause < len(events):
            what = f"event {len(events)} names event {event.cause} as its cause, "
            what += "which does not come before it"
            raise TraceError(f"{path}:{number}", what, _AGAIN)
        if _MAY_BE_LARGE.search(line) and (name := _too_large(event)) is not None:
            what = f"{name} is beyond {_LARGEST:,}"
            raise TraceError(f"{path}:{number}", what, _AGAIN)
        events.append(event)


def _too_large(event: Event) -> str | None:
    """Return the first field with a number that other tools could not read exactly."""
    for name in event.__struct_fields__:
        value = getattr(event, name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, int | float) and not abs(part) <= _LARGEST:
                return name
    return None


def _from_runs(longest: int, kind: type, runs: Any) -> Pages:
    """Return the list that `_to_runs` was given; msgspec names the place of errors."""
    pairs = [_pair(run) for run in runs]
    if sum(size for _, size in pairs) > longest:
        raise ValueError(f"a list is longer than the {longest} tokens of the pools")
    if len(pairs) != 1:
        return from_runs(runs) if pairs else NO_PAGES
    first, size = pairs[0]
    pages = first + np.arange(size, dtype=np.int32)
    pages.flags.writeable = False
    return pages


def _pair(run: Any) -> tuple[int, int]:
    first, size = (run, 1) if isinstance(run, int) else run
    if not (type(first) is int is type(size) and first >= 0 and size >= 1):
        raise ValueError(f"{run!r} is not a number or [first, length]")
    if first + size - 1 > MAX_TOKENS:
        raise ValueError(f"{run!r} goes beyond {MAX_TOKENS}")
    return first, size


def _compare_count(path: str | Path, promised: int | None, found: int) -> None:
    if promised is not None and promised != found:
        raise TraceError(
            f"{path}:{found + 2}",
            f"the header promises {promised} events, the file has {found}",
            _AGAIN,
        )
