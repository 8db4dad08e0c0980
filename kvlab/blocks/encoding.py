"""Which bytes does a block's name hash, without making an object of every token?

vLLM hashes (parent, tokens, extra keys), serialized by pickle or CBOR. In both formats
a block without extra keys is a head with the parent, its tokens one after the other and
a tail; and a token is an opcode and one, two or four bytes. So numpy writes the tokens
of a whole prompt at once, and the bytes are those of the serializer, to the last one.
What does not fit this (short blocks, huge ones, large numbers) is left to it.
Source: pickle protocol 5 (PEP 3154 frames), RFC 8949 for CBOR.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import pack
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Style = Literal["pickle", "cbor"]
Bytes = NDArray[np.uint8]

_FRAME = 1 << 16
"""Bytes from which pickle begins another frame."""


def block_pieces(tokens: NDArray[np.int64], size: int, style: Style) -> list[bytes]:
    """Return the serialized tokens of every block of `size`, without head and tail.

    Shapes: `tokens` has a whole number of blocks. Cost: O(tokens), some ns each.

    >>> block_pieces(np.array([1, 300, 70000, 5]), 2, "pickle")
    [b'K\\x01M,\\x01', b'Jp\\x11\\x01\\x00K\\x05']
    """
    rows = tokens.astype(np.uint32).reshape(-1, size)
    wide = rows.min(axis=1) >= 1 << 16
    pieces = iter(_wide_pieces(rows[wide].ravel(), size, style))
    others = iter(_mixed_pieces(rows[~wide].ravel(), size, style))
    return [next(pieces if easy else others) for easy in wide.tolist()]


def _mixed_pieces(values: NDArray[np.uint32], size: int, style: Style) -> list[bytes]:
    """Return the pieces of blocks whose tokens take one to five bytes each."""
    width = np.where(values < 1 << 16, np.where(values < 1 << 8, 1, 2), 4)
    cells = np.empty((len(values), 5), np.uint8)
    if style == "pickle":
        cells[:, 0] = _PICKLE[width]
        cells[:, 1:] = values.astype("<u4").view(np.uint8).reshape(-1, 4)
    else:
        cells[:, 0] = _CBOR[width]
        first = values << (8 * (4 - width)).astype(np.uint32)
        cells[:, 1:] = first.astype(">u4").view(np.uint8).reshape(-1, 4)
        tiny = values < 24
        cells[tiny, 0] = values[tiny]
        width[tiny] = 0
    ends = np.cumsum(width + 1)[size - 1 :: size].tolist()
    data = cells[np.arange(5) <= width[:, None]].tobytes()
    return [data[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def _wide_pieces(values: NDArray[np.uint32], size: int, style: Style) -> list[bytes]:
    """Return the same where every token takes four bytes: nothing is left out."""
    cells = np.empty(len(values), _PICKLE_WIDE if style == "pickle" else _CBOR_WIDE)
    cells["code"] = (_PICKLE if style == "pickle" else _CBOR)[4]
    cells["token"] = values
    data, step = cells.tobytes(), 5 * size
    return [data[at : at + step] for at in range(0, len(data), step)]


_PICKLE = np.array([0, ord("K"), ord("M"), 0, ord("J")], np.uint8)
_CBOR = np.array([0, 0x18, 0x19, 0, 0x1A], np.uint8)
_PICKLE_WIDE = np.dtype([("code", np.uint8), ("token", "<u4")])
_CBOR_WIDE = np.dtype([("code", np.uint8), ("token", ">u4")])


def writer(style: Style, size: int, parent_len: int) -> Callable[[bytes, bytes], bytes]:
    """Return what puts a block together from its parent's name and its piece."""
    if style == "cbor":
        head, middle, tail = _cbor_parts(size, parent_len)
        return lambda parent, piece: b"".join((head, parent, middle, piece, tail))
    around = parent_len + 10

    heads: dict[int, bytes] = {}

    def pickled(parent: bytes, piece: bytes) -> bytes:
        head = heads.get(len(piece))
        if head is None:
            frame = pack("<Q", around + len(piece))
            head = b"\x80\x05\x95" + frame + bytes((67, parent_len))
            heads[len(piece)] = head
        return b"".join((head, parent, b"\x94(", piece, b"t\x94N\x87\x94."))

    return pickled


def _cbor_parts(size: int, parent_len: int) -> tuple[bytes, bytes, bytes]:
    """Return what stands before the parent, between it and the tokens, and behind."""
    known = bytes((0x58, parent_len)) if parent_len > 23 else bytes((64 + parent_len,))
    if size < 24:
        count = bytes((0x80 + size,))
    elif size < 1 << 8:
        count = bytes((0x98, size))
    else:
        count = b"\x99" + pack(">H", size)
    return b"\x83" + known, count, b"\xf6"


def can_write(style: Style, size: int, tokens: NDArray[np.int64]) -> bool:
    """Return whether the serializer would write these blocks as this module does."""
    if size < 4 or size >= 1 << 16 or (style == "pickle" and 5 * size + 99 > _FRAME):
        return False
    return bool(len(tokens)) and 0 <= int(tokens.min()) <= int(tokens.max()) < 1 << 31
