"""What does an answer of Prometheus' HTTP API say, as scrapes?

`query` and `query_range` return series, each a list of moments. Here they become the
text that the engine showed at each moment, with its time, so that one reader serves
both; several answers, one a metric, become one series. A metric has to come as itself:
rate() or sum() takes its name away.
Left out: reading the text (scrape.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from ..errors import InputError
from ..record.text_lines import GZIP
from .source import STDIN, Block

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


def moments(paths: Sequence[Path]) -> Iterator[Block]:
    """Yield the answers together as text of /metrics, moment by moment; a line's number
    is that of its moment, counted from 1.

    One answer a metric is how they are usually exported: what was read at one time, or
    less than half a step apart, is one moment.
    Raises: InputError where one is too large or damaged, or its series have no names.
    Cost: O(bytes), held whole.
    """
    series: dict[str, dict[float, str]] = {}
    for path in paths:
        _take(path, series)
    for number, (first, times) in enumerate(_joined(series), 1):
        for name, read in series.items():
            for time in times & read.keys():
                text = f"{name} {read[time]} {round(first * 1000)}\n"
                yield Block(number, text.encode())
        yield Block(number, b"# EOF\n")


def _take(path: Path, series: dict[str, dict[float, str]]) -> None:
    """Add what an answer says of each series. Changes: `series`."""
    found = _read(path).data.result
    named = [one for one in found if _NAME.fullmatch(one.metric.get("__name__", ""))]
    if found and not named:
        raise InputError(
            str(path), "holds series without the metric's name",
            'ask for the metrics themselves, {__name__=~"sglang:.*|vllm:.*"}, '
            "not for rate() or sum() of them",
        )  # fmt: skip
    for one in named:
        labels = ",".join(
            f'{label}="{_escaped(value)}"'
            for label, value in sorted(one.metric.items())
            if label != "__name__"
        )
        read = series.setdefault(f"{one.metric['__name__']}{{{labels}}}", {})
        read.update([*one.values, *([one.value] if one.value else [])])


def _joined(series: dict[str, dict[float, str]]) -> Iterator[tuple[float, set[float]]]:
    """Yield the moments in order: when each began, and the times that belong to it."""
    steps = [b - a for read in series.values() for a, b in pairwise(sorted(read))]
    near = min(steps, default=math.inf) / 2
    first, times = 0.0, set[float]()
    for time in sorted({time for read in series.values() for time in read}):
        if times and time - first >= near:
            yield first, times
            times = set()
        first = first if times else time
        times.add(time)
    if times:
        yield first, times


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
