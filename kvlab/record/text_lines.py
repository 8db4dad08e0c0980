"""How is a text file from outside read line by line, and what can go wrong?

One reader for all of them: gzip is recognised by its first bytes, and a missing file, a
folder, binary data or a gzip that was cut short raise an error that names file and
line. Left out: what the lines mean.
"""

from __future__ import annotations

import gzip
import io
import zlib
from codecs import getincrementaldecoder
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import InputError

GZIP = b"\x1f\x8b"
_HEAD = 4096


def numbered_lines(
    path: str | Path, error: type[InputError] = InputError
) -> Iterator[tuple[int, bytes]]:
    """Yield (1, first line), (2, second line), ..., each with its line end.

    Raises: `error` if the file cannot be opened, is binary, or is a damaged gzip; the
    last only when the reading gets there.
    """
    number = 0
    try:
        with open(path, "rb") as packed:
            file = _unpacked(packed)
            _refuse_binary(file, path, error)
            for line in file:
                number += 1
                yield number, line
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise error(
            f"{path}:{number + 1}",
            "the gzip data is damaged or cut short here",
            "fetch or write the file again",
        ) from None
    except OSError as problem:
        raise error(
            str(path),
            f"cannot be read ({problem.strerror})",
            "give the path of a file that exists and may be read",
        ) from None


def _unpacked(file: io.BufferedReader) -> io.BufferedReader:
    if file.peek(len(GZIP))[: len(GZIP)] != GZIP:
        return file
    reader: Any = gzip.GzipFile(fileobj=file, mode="rb")
    return io.BufferedReader(reader, 1 << 16)


def _refuse_binary(
    file: io.BufferedReader, path: str | Path, error: type[InputError]
) -> None:
    head = file.peek(_HEAD)[:_HEAD]
    try:
        getincrementaldecoder("utf-8")().decode(head)
        binary = b"\0" in head
    except UnicodeDecodeError:
        binary = True
    if binary:
        raise error(
            str(path), "is binary data, not text", "give a JSONL file, plain or .gz"
        )
