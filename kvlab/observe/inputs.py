"""Which files are these, and what is each?

A file is recognised by its first lines, never by its name. What cannot be used is an
error when it was named, and left out when it merely lies in a folder.
Left out: reading them (lines.py, scrape.py, prometheus.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice, tee
from pathlib import Path
from typing import Literal, NamedTuple

from ..errors import InputError
from ..record.trace_formats import is_trace
from .documents import document_lines
from .prometheus import ANSWER, moments
from .said import Text, say
from .scrape import looks_like_metrics
from .source import Age, Block, RawLine, Say, age, blocks, files_of

Sort = Literal[
    "log", "metrics", "run", "trace", "html", "binary", "json", "prometheus", "empty"
]
_HEAD_LINES = 60
_MOST_BLANK = 1000
WANTED = (
    "give a log of SGLang or vLLM, scrapes of /metrics, a run of kvlab, or a request "
    "trace"
)
_WHY_NOT = {
    "html": "is an HTML page (a login or an error page?)",
    "binary": "is binary data, not text",
    "json": "is one JSON document, not a log of lines",
    "empty": "is empty, or begins with nothing but blank lines",
}


class Input(NamedTuple):
    """One file, recognised. `blocks` can be taken once; `by_moment` says that lines are
    numbered by moment, as those of an answer of Prometheus or of a log store; `also`
    are further answers in the same series."""

    path: Path
    sort: Sort
    blocks: Iterator[Block]
    by_moment: bool = False
    also: tuple[Path, ...] = ()

    @property
    def lines(self) -> Iterator[RawLine]:
        """The lines of the blocks."""
        return (line for block in self.blocks for line in block.lines())


def open_all(paths: list[Path], progress: Say) -> list[Input]:
    """Return the inputs that can be used: in the order given, those of a folder, and
    those given by name as a shell lists them, oldest first.

    Raises: InputError for a named file that cannot be used; in a folder it is left
    out.
    """
    inputs: list[Input] = []
    listed = paths == sorted(paths)
    for path in paths:
        named, begin = not path.is_dir(), 0 if listed else len(inputs)
        for file in files_of(path):
            one = _open(file, progress)
            if one.sort not in _WHY_NOT:
                inputs.append(one)
            elif named:
                first = next((line.data for line in one.lines), b"")
                raise InputError(str(file), _why_not(one, first), WANTED)
        inputs[begin:] = sorted(inputs[begin:], key=_age)
    if not inputs:
        raise InputError(str(paths[0]), "holds no file that can be used", WANTED)
    return _one_series(inputs)


def _age(one: Input) -> Age:
    """Scrapes are numbered as they come, unless their name says that they are a log."""
    return age(one.path, rotates=one.sort == "log" or ".log" in one.path.name)


def _one_series(inputs: list[Input]) -> list[Input]:
    """Return the inputs with all answers of Prometheus as one: an export has a file for
    each metric, and what one lacks the next may hold."""
    answers = [one.path for one in inputs if one.sort == "prometheus"]
    rest = [one for one in inputs if one.sort != "prometheus"]
    if not answers:
        return rest
    (first, *more), blocks = answers, moments(answers)
    joined = Input(first, "metrics", blocks, by_moment=True, also=tuple(more))
    return [*rest, joined]


_PACKED = (
    (b"PK\x03\x04", "a zip archive"),
    (b"\xfd7zXZ\0", "packed with xz"),
    (b"BZh", "packed with bzip2"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd"),
)
_TAR = b"ustar"


def _why_not(one: Input, head: bytes) -> str:
    """Return why the file cannot be used, by its first bytes."""
    if one.sort != "binary":
        return _WHY_NOT[one.sort]
    packed = next((name for magic, name in _PACKED if head.startswith(magic)), "")
    if head[257:262] == _TAR:
        packed = "a tar archive"
    return f"is {packed}: unpack it" if packed else _WHY_NOT[one.sort]


def _open(path: Path, progress: Say) -> Input:
    source = blocks(path, progress)
    taken: list[Block] = []
    head: list[RawLine] = []
    for block in source:
        taken.append(block)
        head += islice(block.lines(), _MOST_BLANK - len(head))
        if len(head) == _MOST_BLANK or sum(map(_says, head)) >= _HEAD_LINES:
            break
    head = list(_until_enough(head))
    sort = _sort(head)
    if sort in ("json", "prometheus"):
        source, kept = tee(source)
        records = document_lines(path, chain(taken, kept))
        if records is not None:
            given = (Block(n, data + b"\n") for n, data, _ in records)
            return Input(path, "log", given, by_moment=True)
    return Input(path, sort, chain(taken, source))


def _says(line: RawLine) -> bool:
    return bool(line.data.strip())


def _until_enough(head: list[RawLine]) -> Iterator[RawLine]:
    said = 0
    for line in head:
        yield line
        said += _says(line)
        if said == _HEAD_LINES:
            break


_HTML = re.compile(rb"\s*(?:<!doctype html|<html|<\?xml|<head)", re.I)
_RUN = re.compile(rb'\s*\{\s*"kvlab"\s*:\s*\d')


def _sort(head: list[RawLine]) -> Sort:
    """Return what a file is, by its first lines."""
    first = next((line.data for line in head if line.data.strip()), b"")
    text = b"\n".join(line.data[:2000] for line in head)
    shown = text.decode("utf-8", "replace")
    tests: tuple[tuple[Sort, bool], ...] = (
        ("empty", not first),
        ("binary", b"\0" in text or shown.count("\ufffd") > 0.2 * len(text)),
        ("html", _HTML.match(first) is not None),
        ("prometheus", ANSWER.match(text) is not None),
        ("json", first.strip() in (b"{", b"[") or first.startswith(b'[{"')),
        ("run", _RUN.match(first) is not None),
        ("trace", is_trace(first)),
        ("metrics", looks_like_metrics(shown)),
        ("json", len(head) == 1 and first.startswith(b"{")),
    )
    return next((sort for sort, holds in tests if holds), "log")


def remarks(given: list[Path], inputs: list[Input]) -> list[Text]:
    """Return a note for each file of a folder that is not among the inputs, and for
    each whose places are no lines."""
    used = {path for one in inputs for path in (one.path, *one.also)}
    told: list[Text] = []
    for one in inputs:
        if one.also:
            told.append(
                say(
                    "{} answers of Prometheus are one series: places {}:N count its "
                    "moments, not lines",
                    1 + len(one.also),
                    one.path.name,
                )
            )
        elif one.by_moment:
            told.append(say("{}: places count its moments, not lines", one.path.name))
    return told + [
        say("left out: {}", file.name)
        for path in given
        if path.is_dir()
        for file in files_of(path)
        if file not in used
    ]
