"""Which requests does somebody's trace ask an engine for?

A trace of any format that is known, made ready to be served: arrivals count from its
first, and equal block ids mean an equal prefix up to that block, so ids can stand in
for the tokens nobody published: block h is tokens h*b .. h*b+b-1. Where rows have no
ids, nobody knows what they share, and every prompt is one of its own.
Left out: the formats (trace_formats.py); running the requests (run/workload.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from ..config import MAX_TOKENS
from ..errors import ConfigError, InputError, OutOfPool
from ..geometry import floor_page
from .events import Tokens
from .trace_formats import open_requests
from .trace_row import WRITE_IT, TraceRow

BLOCK = 512
_MOST_BLOCK = 1 << 20
_MOST_SPAN = 1e9
"""Seconds, some thirty years."""


class TracedRequest(Struct, frozen=True, gc=False):
    """One row of a trace.

    Units: `timestamp` ms from the trace's first arrival, or from when request number
    `after` left, if that must be first; lengths in tokens, `block` those of a block.
    `where` is the row's file and line, "" for a request that is made up.
    """

    timestamp: float
    input_length: int
    output_length: int
    hash_ids: Sequence[int]
    block: int = BLOCK
    after: int | None = None
    where: str = ""


class RequestTrace(Struct, frozen=True, kw_only=True):
    """A trace and what it was taken for.

    Units: `block_size` in tokens, None where prompts have no prefix identity; `unit`
    is that of the file's own timestamps.
    """

    format: str = "mooncake"
    unit: str = "ms"
    block_size: int | None = BLOCK
    requests: tuple[TracedRequest, ...]

    @property
    def about(self) -> str:
        """What it was taken for, in a few words.

        >>> RequestTrace(requests=()).about
        'mooncake, 0 requests, arrivals in ms, blocks of 512 tokens'
        """
        shared = f"blocks of {self.block_size} tokens"
        if self.block_size is None:
            shared = "no prefix identity, so every prompt is unique"
        told = [self.format, f"{len(self.requests)} requests"]
        told += [f"arrivals in {self.unit}", shared]
        if any(request.after is not None for request in self.requests):
            told.append("later turns sent when the turn before has left")
        return ", ".join(told)


def read_requests(
    path: str | Path, limit: int | None = None, *, block: int | None = None
) -> RequestTrace:
    """Return the requests of a trace, plain or gzip; at most `limit`.

    `block` is the block size of a trace whose format leaves it open (None: the size
    that fits). Rows beyond `limit` are not read. Cost: O(rows).
    Raises: InputError with file and line at the first thing that makes the file no
    such trace; ConfigError if `limit` or `block` is out of range.
    """
    if limit is not None and not 1 <= limit <= MAX_TOKENS:
        raise ConfigError(f"limit is {limit}; use 1 to {MAX_TOKENS}")
    if block is not None and not 1 <= block <= _MOST_BLOCK:
        raise ConfigError(f"block size is {block}; use 1 to {_MOST_BLOCK}")
    opened = open_requests(path, limit=limit, block=block)
    requests = _requests(opened.rows, opened.block_size or BLOCK)
    if not requests:
        raise InputError(str(path), "has no requests", WRITE_IT)
    if (span := max(request.timestamp for request in requests) / 1e3) > _MOST_SPAN:
        raise InputError(
            str(path), f"has times {span:.3g} seconds apart", "mend its timestamps"
        )
    trace = RequestTrace(
        format=opened.format, unit=opened.unit, block_size=opened.block_size,
        requests=tuple(requests),
    )  # fmt: skip
    if opened.block_size is None:
        return unique(trace)
    return _renumbered(trace, (MAX_TOKENS + 1) // opened.block_size)


def tokens_of(request: TracedRequest) -> Tokens:
    """Return the prompt: the tokens of its blocks, cut to `input_length`.

    >>> tokens_of(TracedRequest(0, 514, 1, (3, 7)))[[0, 511, 512, 513]].tolist()
    [1536, 2047, 3584, 3585]
    """
    within = np.arange(request.block, dtype=np.int32)
    blocks = np.add.outer(unit_tokens_of(request) * np.int32(request.block), within)
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


def prompts_of(
    requests: Iterable[TracedRequest], *, unit: bool = False
) -> Iterator[Tokens]:
    """Yield the prompts, each made when it is asked for."""
    return map(unit_tokens_of if unit else tokens_of, requests)


def check_prompts(
    requests: Iterable[TracedRequest], pool: int, page: int, *, unit: bool
) -> None:
    """Refuse a prompt whose whole pages are more than a pool of so many tokens, before
    any is made.

    Raises: OutOfPool with the request's file and line, its number and its length.
    """
    for number, request in enumerate(requests):
        length = len(request.hash_ids) if unit else request.input_length
        if floor_page(length, page) > pool:
            place = f"{request.where}: " if request.where else ""
            raise OutOfPool(
                f"{place}request {number} has {length} tokens, the pool {pool}; "
                "use a larger pool (--pool-tokens)"
            )


def unique(trace: RequestTrace) -> RequestTrace:
    """Return the trace without any sharing: every block gets an id of its own.

    Raises: InputError if there are more blocks than 32-bit token ids.

    >>> once = TracedRequest(0, 514, 1, (3, 7))
    >>> alone = unique(RequestTrace(requests=(once, once)))
    >>> [list(r.hash_ids) for r in alone.requests]
    [[0, 1], [2, 3]]
    """
    block = trace.block_size or BLOCK
    sizes = [-(-request.input_length // block) for request in trace.requests]
    _check_blocks(sum(sizes), (MAX_TOKENS + 1) // block)
    fresh = []
    begin = 0
    for size, request in zip(sizes, trace.requests, strict=True):
        ids = range(begin, begin + size)
        fresh.append(msgspec.structs.replace(request, hash_ids=ids))
        begin += size
    return msgspec.structs.replace(trace, requests=tuple(fresh))


# --- from rows to requests


def _requests(rows: Iterable[TraceRow], block: int) -> list[TracedRequest]:
    """Return the rows as requests. A row without a time is a later turn: it is sent
    `delay` after the row before it in its session has left."""
    made: list[TracedRequest] = []
    last: dict[str, int] = {}
    first = float("inf")
    for row in rows:
        if row.input_length < 1:
            raise InputError(
                row.where, "input_length is 0",
                "a prompt has 1 token or more; mend or remove the line",
            )  # fmt: skip
        after, at = None, row.time
        if at is None:
            after, at = last.get(row.session), row.delay or 0.0
            if not row.session:
                raise InputError(
                    row.where, "has no timestamp",
                    "give one, or the session_id whose turn it is",
                )  # fmt: skip
        if after is None:
            first = min(first, at)
        if row.session:
            last[row.session] = len(made)
        made.append(
            TracedRequest(
                at,
                row.input_length,
                row.output_length,
                row.hash_ids,
                block,
                after,
                row.where,
            )
        )
    return [_from_first(request, first) for request in made]


def _from_first(request: TracedRequest, first: float) -> TracedRequest:
    begin = first if request.after is None else 0.0
    at = round((request.timestamp - begin) * 1e9) / 1e6
    return msgspec.structs.replace(request, timestamp=at)


def _renumbered(trace: RequestTrace, most: int) -> RequestTrace:
    """Return the trace as it is, or, where ids are too large for 32-bit tokens (hashes
    themselves, say), with ids numbered in the order in which they first appear."""
    requests = trace.requests
    if max(max(request.hash_ids) for request in requests) < most:
        return trace
    fresh = count()
    numbers: dict[int, int] = {}
    renumbered = []
    for request in requests:
        for id in request.hash_ids:
            if id not in numbers:
                numbers[id] = next(fresh)
        ids = tuple(numbers[id] for id in request.hash_ids)
        renumbered.append(msgspec.structs.replace(request, hash_ids=ids))
    _check_blocks(len(numbers), most)
    return msgspec.structs.replace(trace, requests=tuple(renumbered))


def _check_blocks(blocks: int, most: int) -> None:
    if blocks > most:
        raise InputError(
            "the trace",
            f"has {blocks} blocks, and 32-bit token ids are enough for {most}",
            "replay fewer requests (--limit)",
        )
