"""What does an answer of Prometheus' HTTP API say, as scrapes?

`query` and `query_range` return series, each a list of moments. Here they become the
text that the engine showed at each moment, with its time, so that one reader serves
both. A metric has to come as itself: rate() or sum() takes its name away.
Left out: reading the text (scrape.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ..errors import InputError
from .source import GZIP, STDIN, Block

MOST_BYTES = 256 << 20
"""An answer is held whole; a larger one asks for a shorter range or a longer step."""
ANSWER = re.compile(rb'\s*\{\s*"status"\s*:\s*"success"')
_NAME = re.compile(r"[a-zA-Z_:][\w:]*")


class _Series(msgspec.Struct):
    metric: dict[str, str]
    values: list[tuple[float, str]] = []
    value: tuple[float, str] | None = None


class _Data(msgspec.Struct):
    result: list[_Series]


class _Answer(msgspec.Struct):
    data: _Data


def moments(path: Path) -> Iterator[Block]:
    """Yield the answer as text of /metrics, moment by moment; a line's number is that
    of its moment, counted from 1.

    Raises: InputError where it is too large or damaged, or its series have no names.
    Cost: O(bytes), held whole.
    """
    series = _read(path).data.result
    at: dict[float, list[str]] = {}
    for one in series:
        name = one.metric.get("__name__", "")
        if not _NAME.fullmatch(name):
            continue
        labels = ",".join(
            f'{label}="{_escaped(value)}"'
            for label, value in one.metric.items()
            if label != "__name__"
        )
        for time, value in [*one.values, *([one.value] if one.value else [])]:
            text = f"{name}{{{labels}}} {value} {round(time * 1000)}"
            at.setdefault(time, []).append(text)
    if series and not at:
        raise InputError(
            str(path), "holds series without the metric's name",
            'ask for the metrics themselves, {__name__=~"sglang:.*|vllm:.*"}, '
            "not for rate() or sum() of them",
        )  # fmt: skip
    for number, time in enumerate(sorted(at), 1):
        for text in at[time]:
            yield Block(number, text.encode() + b"\n")
        yield Block(number, b"# EOF\n")


def _read(path: Path) -> _Answer:
    if str(path) == STDIN:
        raise InputError("stdin", "is an answer of Prometheus", "save it in a file")
    with open(path, "rb") as file:
        raw = file.read(MOST_BYTES + 1)
    if raw[:2] == GZIP:
        raise InputError(str(path), "is a packed answer of Prometheus", "unpack it")
    if len(raw) > MOST_BYTES:
        raise InputError(
            str(path), f"holds more than {MOST_BYTES >> 20} MiB",
            "ask for a shorter range or a longer step",
        )  # fmt: skip
    try:
        return msgspec.json.decode(raw, type=_Answer)
    except msgspec.DecodeError as error:
        raise InputError(
            str(path), f"is no whole answer of Prometheus: {error}", "ask for it again"
        ) from None


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
