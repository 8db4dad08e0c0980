"""How does a log of any size come in, in bounded memory?

Files, gzip, folders of rotated files and standard input all become blocks of numbered
lines, so that a reader which wants few of them need not touch the rest; UTF-16, which
PowerShell's `>` writes, becomes UTF-8. A line longer than `LONGEST` is cut and marked;
a gzip that unpacks without end is stopped.
Left out: what the lines say (lines.py).
"""

from __future__ import annotations

import codecs
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

from ..errors import InputError
from ..record.text_lines import GZIP, unpacked
from ..record.text_lines import LONGEST as ENDLESS

LONGEST = 1 << 16
"""Bytes of one line that are looked at; the rest is passed over."""
_READ = 1 << 18
_PIECE = 1 << 20
MOST_TIMES = 500
"""A gzip that unpacks to more than so many times its size is no log."""
_FREE_BYTES = 64 << 20
STDIN = "-"

Say = Callable[[int], object]


class RawLine(NamedTuple):
    """One line without its end; `whole` is False for one that was cut."""

    number: int
    data: bytes
    whole: bool = True


class Block(NamedTuple):
    """Whole lines, one behind the other, each with its end; `number` is the first's. A
    line that was cut stands alone, without one."""

    number: int
    data: bytes
    whole: bool = True

    def lines(self) -> Iterator[RawLine]:
        """Yield the lines, those that are too long cut."""
        if not self.whole:
            yield RawLine(*self)
            return
        parts = self.data.split(b"\n")
        if not parts[-1]:
            parts.pop()
        for number, line in enumerate(parts, self.number):
            yield RawLine(number, line[:LONGEST], len(line) <= LONGEST)


def silent(_num_bytes: int) -> None:
    """Say nothing about progress."""


def blocks(path: str | Path, say: Say = silent) -> Iterator[Block]:
    """Yield the lines of a file, many at a time.

    `say` is told the bytes read, for a progress bar. Raises: InputError where the file
    cannot be opened, and where a gzip is damaged or unpacks without end, or a line
    does not end; the lines before that place come first. Cost: O(bytes), at most a few
    MiB of memory.
    """
    if str(path) == STDIN:
        if sys.stdin is None:
            raise InputError(STDIN, "standard input is closed", "pipe a log into it")
        yield from _blocks(_utf8(_chunks(sys.stdin.buffer, "stdin", say)), STDIN)
        return
    try:
        with open(path, "rb") as file:
            yield from _blocks(_utf8(_chunks(file, str(path), say)), str(path))
    except OSError as problem:
        raise InputError(
            str(path),
            f"cannot be read ({problem.strerror})",
            "give the path of a file that exists and may be read",
        ) from None


def files_of(path: Path) -> list[Path]:
    """Return the file itself, or the files of a folder.

    Raises: InputError for an empty folder.
    """
    if not path.is_dir():
        return [path]
    files = [p for p in path.iterdir() if p.is_file() and not p.name.startswith(".")]
    if not files:
        raise InputError(str(path), "is an empty folder", "name a log or a scrape")
    return files


_ROTATED = re.compile(r"(.+?)(?:[.-](\d[\dT_:-]*))?(?:\.gz)?")
_MOST_ROTATIONS = 4
"""Digits of a count of rotations; more are a date."""


def stem_of(path: Path | str) -> str:
    """Return the name that all rotated files of one log share.

    >>> stem_of("sglang.log.12.gz"), stem_of("sglang.log-20260311")
    ('sglang.log', 'sglang.log')
    >>> stem_of("sglang-2026-03-11.log")
    'sglang-.log'
    """
    stem, _ = _rotated(path)
    return re.sub(r"\d{4}-?\d\d-?\d\d(?:[T_-]?\d\d[:-]?\d\d(?:[:-]?\d\d)?)?", "", stem)


Age = tuple[list[str | int], list[str | int], bool, list[str | int]]


def age(path: Path, *, rotates: bool = True) -> Age:
    """Return a key by which the older of a folder's files comes first.

    Of a log that `rotates`, `a.log.2` is older than `a.log.1`, which is older than
    `a.log`; other numbers, and dates, count up: `2.txt` is older than `10.txt`.
    """
    stem, number = _rotated(path)
    counted = _numbers(number or "")
    if rotates and number and number.isdigit() and len(number) <= _MOST_ROTATIONS:
        counted = [-int(number)]
    newest = rotates and number is None
    return _numbers(str(path.parent)), _numbers(stem), newest, counted


def _rotated(path: Path | str) -> tuple[str, str | None]:
    """Return the name without what rotation put behind it, and that."""
    found = _ROTATED.fullmatch(name := Path(path).name)
    return (found[1], found[2]) if found else (name, None)


def _numbers(text: str) -> list[str | int]:
    """Return the text in parts, every second of them a number."""
    parts: list[str | int] = [*re.split(r"([0-9]+)", text)]
    parts[1::2] = map(int, parts[1::2])
    return parts


def _chunks(file: IO[bytes], name: str, say: Say) -> Iterator[bytes]:
    """Yield the contents piece by piece, unpacked if they are gzip."""
    first = file.read(_READ)
    taken = given = 0

    def read() -> Iterator[bytes]:
        nonlocal taken
        for data in filter(None, chain((first,), iter(lambda: file.read(_READ), b""))):
            say(len(data))
            taken += len(data)
            yield data

    if first[: len(GZIP)] != GZIP:
        yield from read()
        return
    try:
        for piece in unpacked(read(), _PIECE):
            given += len(piece)
            if given > max(MOST_TIMES * taken, _FREE_BYTES):
                raise InputError(
                    name,
                    f"unpacks to more than {MOST_TIMES} times its size",
                    "this is no log; unpack it by hand if it is",
                )
            yield piece
    except (EOFError, zlib.error):
        raise InputError(
            name, "the gzip data is damaged or cut short", "copy the file again"
        ) from None


_WIDE = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def _utf8(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the pieces as they are, those of a UTF-16 file as UTF-8."""
    first = next(chunks, b"")
    wide = next((name for mark, name in _WIDE if first.startswith(mark)), None)
    if wide is None and b"\0" in first[1:512:2] and first[:512:2].isascii():
        odd, even = first[1:512:2], first[:512:2]
        wide = "utf-16-le" if not odd.strip(b"\0") and b"\0" not in even else None
    if wide is None:
        yield from chain((first,), chunks)
        return
    decoder = codecs.getincrementaldecoder(wide)("replace")
    for chunk in chain((first,), chunks):
        yield decoder.decode(chunk).encode("utf-8", "replace")


def _blocks(chunks: Iterator[bytes], name: str) -> Iterator[Block]:
    """Yield the pieces cut at line ends; of a long line, LONGEST bytes."""
    number, rest, cut, passed = 1, b"", False, 0
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end and cut:
            yield Block(number, rest, whole=False)
            number, rest, cut = number + 1, b"", False
            begin = chunk.find(b"\n") + 1
        else:
            begin = 0
        if begin < end:
            data = rest + chunk[begin:end]
            yield Block(number, data)
            number += data.count(b"\n")
        if end:
            rest = b""
        passed = len(chunk) - end if end else passed + len(chunk)
        if passed > ENDLESS:
            raise InputError(
                f"{name}:{number}",
                f"has more than {ENDLESS >> 20} MiB in one line",
                "give a file of lines",
            )
        if not cut:
            rest += chunk[end:]
            if len(rest) > LONGEST:
                rest, cut = rest[:LONGEST], True
    if rest or cut:
        yield Block(number, rest, not cut)
