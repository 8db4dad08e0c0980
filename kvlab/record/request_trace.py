"""Which requests does somebody's trace ask for?

Mooncake's JSONL: one request a line with its arrival in milliseconds, its lengths, and
one hash id for each block of 512 prompt tokens, the last block partial. Equal ids mean
an equal prefix up to that block, so ids can stand in for the tokens nobody published:
block h is tokens h*512 .. h*512+511. Fields that dialects add are ignored.
Source: Mooncake, FAST25-release/traces (Apache-2.0 repository).
Left out: running the requests (run/workload.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from ..config import MAX_TOKENS
from ..errors import ConfigError, InputError
from .events import Tokens
from .text_lines import numbered_lines

BLOCK = 512
MAX_ID = (MAX_TOKENS + 1) // BLOCK - 1
"""The last hash id whose tokens are 32-bit numbers."""

_OTHER_BLOCKS = (16, 64, 256, 512, 1024)
_WRITE_IT = (
    "give one JSON object a line with timestamp (ms), input_length, output_length "
    "and hash_ids"
)


class TracedRequest(Struct, frozen=True, gc=False):
    """One line of a trace. Units: `timestamp` ms from the start, lengths in tokens."""

    timestamp: float
    input_length: int
    output_length: int
    hash_ids: tuple[int, ...]


class RequestTrace(Struct, frozen=True, kw_only=True):
    """A trace and what it was taken for.

    Units: `block_size` in tokens; `unit` is that of `timestamp`.
    """

    format: str = "mooncake"
    unit: str = "ms"
    block_size: int = BLOCK
    requests: tuple[TracedRequest, ...]


def read_requests(path: str | Path, limit: int | None = None) -> RequestTrace:
    """Return the requests of a Mooncake trace, plain or gzip; at most `limit`.

    Raises: InputError with file and line at the first thing that makes the file no
    such trace; ConfigError if `limit` is below 1. Lines beyond `limit` are not read.
    Cost: O(lines).
    """
    if limit is not None and not 1 <= limit <= MAX_TOKENS:
        raise ConfigError(f"limit is {limit}; use 1 to {MAX_TOKENS}")
    requests = tuple(islice(_requests(path), limit))
    if not requests:
        raise InputError(str(path), "has no requests", _WRITE_IT)
    return RequestTrace(requests=requests)


def tokens_of(request: TracedRequest) -> Tokens:
    """Return the prompt: the tokens of its blocks, cut to `input_length`.

    >>> tokens_of(TracedRequest(0, 514, 1, (3, 7)))[[0, 511, 512, 513]].tolist()
    [1536, 2047, 3584, 3585]
    """
    within = np.arange(BLOCK, dtype=np.int32)
    blocks = np.add.outer(unit_tokens_of(request) * np.int32(BLOCK), within)
    tokens: Tokens = blocks.reshape(-1)[: request.input_length]
    tokens.flags.writeable = False
    return tokens


def unit_tokens_of(request: TracedRequest) -> Tokens:
    """Return the prompt with each block as one token, its hash id.

    >>> unit_tokens_of(TracedRequest(0, 514, 1, (3, 7))).tolist()
    [3, 7]
    """
    tokens = np.array(request.hash_ids, np.int32)
    tokens.flags.writeable = False
    return tokens


def unique(trace: RequestTrace) -> RequestTrace:
    """Return the trace without any sharing: every block gets an id of its own.

    Raises: InputError if there are more blocks than 32-bit token ids.

    >>> once = TracedRequest(0, 514, 1, (3, 7))
    >>> [r.hash_ids for r in unique(RequestTrace(requests=(once, once))).requests]
    [(0, 1), (2, 3)]
    """
    blocks = sum(len(request.hash_ids) for request in trace.requests)
    if blocks > MAX_ID + 1:
        raise InputError(
            "the trace",
            f"has {blocks} blocks, and 32-bit token ids are enough for {MAX_ID + 1}",
            "replay fewer requests (--limit)",
        )
    fresh = count()
    return msgspec.structs.replace(
        trace,
        requests=tuple(
            msgspec.structs.replace(
                request, hash_ids=tuple(islice(fresh, len(request.hash_ids)))
            )
            for request in trace.requests
        ),
    )


# --- reading and refusing


def _requests(path: str | Path) -> Iterator[TracedRequest]:
    decoder = msgspec.json.Decoder(TracedRequest)
    for number, line in numbered_lines(path):
        if line.isspace():
            continue
        where = f"{path}:{number}"
        try:
            request = decoder.decode(line)
        except msgspec.ValidationError as problem:
            raise InputError(
                where, f"is not a request ({problem})", _WRITE_IT
            ) from None
        except msgspec.DecodeError as problem:
            raise InputError(where, f"is not JSON ({problem})", _WRITE_IT) from None
        _check_numbers(where, request)
        _check_blocks(where, request, path)
        yield request


def _check_numbers(where: str, request: TracedRequest) -> None:
    """Refuse what no engine could be asked for, before anything is made of it."""
    for name, least in (("timestamp", 0), ("input_length", 1), ("output_length", 0)):
        value = getattr(request, name)
        if value < least:
            raise InputError(
                where,
                f"{name} is {value}",
                f"it must be {least} or more; mend the line",
            )
        if name != "timestamp" and value > MAX_TOKENS:
            raise InputError(
                where,
                f"{name} is {value}, and tokens are counted in 32 bits",
                f"at most {MAX_TOKENS}; mend the line",
            )
    low, high = min(request.hash_ids, default=0), max(request.hash_ids, default=0)
    if low < 0:
        raise InputError(where, f"hash id {low} is negative", "number blocks from 0")
    if high > MAX_ID:
        raise InputError(
            where,
            f"hash id {high} stands for tokens up to {high * BLOCK + BLOCK - 1}, and "
            "token ids are 32-bit",
            f"renumber the ids; the last that fits is {MAX_ID}",
        )


def _check_blocks(where: str, request: TracedRequest, path: str | Path) -> None:
    blocks = -(-request.input_length // BLOCK)
    ids = len(request.hash_ids)
    if ids == blocks:
        return
    fitting = _fitting_block(path)
    remedy = "this is no trace of equal blocks; mend or remove the line"
    if fitting is not None:
        remedy = (
            f"blocks of {fitting} fit every line; convert the file to blocks of {BLOCK}"
        )
    raise InputError(
        where,
        f"input_length {request.input_length} makes {blocks} blocks of {BLOCK}, "
        f"hash_ids has {ids}",
        remedy,
    )


class _Sizes(Struct, gc=False):
    input_length: int
    hash_ids: list[int]


def _fitting_block(path: str | Path) -> int | None:
    """Return the one common block size that fits every line; None if none does."""
    fitting = set(_OTHER_BLOCKS)
    decoder = msgspec.json.Decoder(_Sizes)
    try:
        for _, line in numbered_lines(path):
            if line.isspace():
                continue
            sizes = decoder.decode(line)
            ids = len(sizes.hash_ids)
            fitting = {b for b in fitting if -(-sizes.input_length // b) == ids}
    except (msgspec.MsgspecError, InputError):
        return None  # a later line is damaged: no size fits every line
    return min(fitting, default=None)
