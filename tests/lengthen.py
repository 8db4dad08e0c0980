"""The same server over a longer or a shorter time: logs and scrapes made of others."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

_FULL = re.compile(r"(\d{4}-\d\d-\d\d)([ T])(\d\d:\d\d:\d\d)")
_SHORT = re.compile(r"\b(INFO|WARNING) (\d\d-\d\d \d\d:\d\d:\d\d)")
_LIFETIME = re.compile(r"(total_num_cumulative_preemption=)(\d+)")
_COUNTER = re.compile(r"^(\w+:\w+_(?:total|bucket|sum|count)(?:\{[^}]*\})? )(\S+)")
_START = re.compile(r"max_total_num_tokens=|GPU blocks|GPU KV cache size|concurrency")


def repeated(text: str, times: int) -> str:
    """Return the log, one copy behind the other: the clock and V0's lifetime counter
    go on."""
    moments = [m for line in text.splitlines() if (m := _moment(line))]
    span = moments[-1] - moments[0] + (moments[-1] - moments[0]) / len(moments)
    lifetime = max((int(n) for _, n in _LIFETIME.findall(text)), default=0)
    parts = [text if text.endswith("\n") else text + "\n"]
    for copy in range(1, times):
        more = _shifted(parts[0], copy * span)
        more = _LIFETIME.sub(_adds(copy * lifetime), more)
        parts.append(more)
    return "".join(parts)


def middle(text: str) -> str:
    """Return the middle third of the log, and what the engine said at its start."""
    lines = text.splitlines()
    start = [line for line in lines if _START.search(line)]
    rest = [line for line in lines if not _START.search(line)]
    third = len(rest) // 3
    return "\n".join([*start, *rest[third : len(rest) - third]]) + "\n"


def repeated_scrapes(texts: list[str], times: int) -> list[str]:
    """Return the series, one copy behind the other: every counter goes on."""
    first, last = _counters(texts[0]), _counters(texts[-1])
    grown = {name: last.get(name, 0.0) - first.get(name, 0.0) for name in last}
    return [
        "\n".join(_counted(line, copy, grown) for line in text.splitlines()) + "\n"
        for copy in range(times)
        for text in texts
    ]


def _counted(line: str, copy: int, grown: dict[str, float]) -> str:
    found = _COUNTER.match(line)
    if found is None:
        return line
    return f"{found[1]}{float(found[2]) + copy * grown.get(found[1], 0.0)}"


def _counters(text: str) -> dict[str, float]:
    found = (_COUNTER.match(line) for line in text.splitlines())
    return {one[1]: float(one[2]) for one in found if one}


def _moment(line: str) -> datetime | None:
    if found := _FULL.search(line):
        return datetime.fromisoformat(f"{found[1]} {found[3]}")
    if found := _SHORT.search(line):
        return datetime.fromisoformat(f"2028-{found[2]}")
    return None


def _shifted(text: str, by: timedelta) -> str:
    def full(found: re.Match[str]) -> str:
        moment = datetime.fromisoformat(f"{found[1]} {found[3]}") + by
        return f"{moment:%Y-%m-%d}{found[2]}{moment:%H:%M:%S}"

    def short(found: re.Match[str]) -> str:
        moment = datetime.fromisoformat(f"2028-{found[2]}") + by
        return f"{found[1]} {moment:%m-%d %H:%M:%S}"

    return _SHORT.sub(short, _FULL.sub(full, text))


def _adds(more: int) -> Callable[[re.Match[str]], str]:
    return lambda found: f"{found[1]}{int(found[2]) + more}"
