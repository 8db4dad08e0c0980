"""How do millions of small numbers travel to a browser in few bytes?

As columns: every list of numbers is cut to differences where that helps, written as
zigzag varints one after the other, and all columns are compressed together behind a
JSON table of contents. What is cut off or damaged is noticed on opening.
Left out: what the columns mean (log.py).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAGIC = b"KVP1"
Numbers = Sequence[int] | NDArray[np.int64]


def varints(numbers: Numbers) -> bytes:
    """Return the numbers as zigzag varints, seven bits a byte, low bits first.

    >>> varints([0, -1, 1, 64]).hex()
    '0001028001'
    """
    values = np.asarray(numbers, np.int64)
    left = ((values << 1) ^ (values >> 63)).astype(np.uint64)
    size = np.ones(len(left), np.int64)
    for bits in range(7, 64, 7):
        size += left >= np.uint64(1 << bits)
    ends = np.cumsum(size)
    out = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    for place in range(int(size.max(initial=0))):
        more = size > place
        at = (ends - size + place)[more]
        low = ((left[more] >> np.uint64(7 * place)) & np.uint64(127)).astype(np.uint8)
        out[at] = low | np.where(size[more] > place + 1, 128, 0).astype(np.uint8)
    return out.tobytes()


def from_varints(data: bytes) -> NDArray[np.int64]:
    """Return the numbers that `varints` was given.

    >>> from_varints(varints([0, -1, 300])).tolist()
    [0, -1, 300]
    """
    raw = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(raw < 128)
    if len(ends) == 0:
        return np.empty(0, np.int64)
    starts = np.concatenate(([0], ends[:-1] + 1))
    place = np.arange(len(raw)) - np.repeat(starts, ends - starts + 1)
    parts = (raw & 127).astype(np.uint64) << (7 * place).astype(np.uint64)
    left = np.add.reduceat(parts, starts)
    signs = (left & np.uint64(1)).astype(np.int64)
    numbers: NDArray[np.int64] = (left >> np.uint64(1)).astype(np.int64) ^ -signs
    return numbers


class Stream(NamedTuple):
    """One column; `delta`: each number is written as its distance from the last."""

    name: str
    numbers: Numbers
    delta: bool = False


def pack(contents: dict[str, Any], streams: Sequence[Stream]) -> bytes:
    """Return contents and streams as one compressed log. The same gives the same.

    After the magic: the unpacked size (u32), the compressed payload: the size of the
    JSON (u32), the JSON, the streams' bytes.
    """
    parts, places = [], []
    for stream in streams:
        numbers = np.asarray(stream.numbers, np.int64)
        data = varints(np.diff(numbers, prepend=0) if stream.delta else numbers)
        parts.append(data)
        wide = bool(len(numbers)) and int(np.abs(numbers).max()) >= 1 << 31
        flags = int(stream.delta) + 2 * wide
        places.append([stream.name, len(data), len(numbers), flags])
    head = json.dumps({**contents, "streams": places}, ensure_ascii=False)
    said = head.encode("utf-8", "replace")
    raw = len(said).to_bytes(4, "little") + said + b"".join(parts)
    return MAGIC + len(raw).to_bytes(4, "little") + zlib.compress(raw, 9)


def unpack(log: bytes) -> tuple[dict[str, Any], dict[str, NDArray[np.int64]]]:
    """Return contents and columns of a log, as the player reads it.

    Raises: ValueError if it is no log, or cut off.
    """
    if log[:4] != MAGIC:
        raise ValueError("not a log of the player")
    try:
        raw = zlib.decompress(log[8:])
    except zlib.error as problem:
        raise ValueError(f"the log is damaged or cut off ({problem})") from None
    size = int.from_bytes(raw[:4], "little")
    contents = json.loads(raw[4 : 4 + size])
    at, columns = 4 + size, {}
    for name, length, _, flags in contents.pop("streams"):
        numbers = from_varints(raw[at : at + length])
        columns[name] = np.cumsum(numbers) if flags & 1 else numbers
        at += length
    return contents, columns
