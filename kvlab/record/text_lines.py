"""How is a text file from outside read line by line, and what can go wrong?

One reader for all of them: gzip is recognised by its first bytes, and a missing file, a
folder, binary data or a gzip that was cut short raise an error that names file and
line. What lies before a cut is delivered first. Left out: what the lines mean.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from ..errors import InputError

GZIP = b"\x1f\x8b"
LONGEST = 256 << 20
"""Bytes of a line, which is held whole: a small gzip may unpack without end."""
_READ = 1 << 14
_PIECE = 1 << 12
"""Unpacked at a time: at most so much of the text before a damage is lost with it."""


def numbered_lines(
    path: str | Path, error: type[InputError] = InputError
) -> Iterator[tuple[int, bytes]]:
    """Yield (1, first line), (2, second line), ..., each with its line end.

    Raises: `error` if the file cannot be opened, is binary, has a line of `LONGEST`
    bytes, or is a damaged gzip; the last two only when the reading gets there.
    """
    number = 0
    try:
        with open(path, "rb") as file:
            packed = file.peek(len(GZIP))[: len(GZIP)] == GZIP
            plain = iter(partial(file.readline, LONGEST), b"")
            for line in _unpacked_lines(file) if packed else plain:
                number += 1
                if len(line) >= LONGEST:
                    raise error(
                        f"{path}:{number}",
                        f"has more than {LONGEST >> 20} MiB in one line",
                        "is it the right file?",
                    )
                if number == 1 and _is_binary(line):
                    raise error(
                        str(path),
                        "is binary data, not text",
                        "give a JSONL file, plain or .gz",
                    )
                yield number, line
    except (EOFError, zlib.error):
        raise error(
            f"{path}:{number + 1}",
            "the gzip data is damaged or cut short here",
            "fetch or write the file again",
        ) from None
    except OSError as problem:
        if str(path) == "-":
            raise error("-", "names no file to read", "use /dev/stdin") from None
        raise error(
            str(path),
            f"cannot be read ({problem.strerror})",
            "give the path of a file that exists and may be read",
        ) from None


def _is_binary(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return True
    return b"\0" in line


def _unpacked_lines(file: io.BufferedReader) -> Iterator[bytes]:
    """Yield the lines, the last one cut where it is longer than `LONGEST`."""
    parts: list[bytes] = []
    size = 0
    for piece in unpacked(iter(lambda: file.read(_READ), b""), _PIECE):
        head, *others = piece.split(b"\n")
        parts.append(head)
        size += len(head)
        if size >= LONGEST:
            break
        for other in others:
            yield b"".join(parts) + b"\n"
            parts, size = [other], len(other)
    if any(parts):
        yield b"".join(parts)


def unpacked(chunks: Iterable[bytes], most: int) -> Iterator[bytes]:
    """Yield what the gzip members in the chunks unpack to, at most so many bytes each.

    Raises: zlib.error where the data is damaged, EOFError where it ends too early.
    """
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16)
    for chunk in chunks:
        data = chunk
        while data:
            if unpack.eof:
                unpack = zlib.decompressobj(zlib.MAX_WBITS | 16)
            if piece := unpack.decompress(data, most):
                yield piece
            data = unpack.unconsumed_tail or unpack.unused_data.lstrip(b"\0")
    yield unpack.flush()
    if not unpack.eof:
        raise EOFError
