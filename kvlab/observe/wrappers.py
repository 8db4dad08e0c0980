"""What did the machinery around an engine wrap its lines in?

Container runtimes, orchestrators and terminals each put something around a line. Any
number of layers comes off here, without options: docker's JSON, CRI records with their
partial lines, `compose` and `kubectl --prefix` names, journalctl, Ray, JSON logging,
colours, carriage returns, a byte order mark.
Left out: lines that a terminal broke or cut (lines.py).
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

ANSI = re.compile(r"(?:\x1b|#033|\^\[)\[[0-9;?]*[A-Za-z]")
_CRI = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\dT\S+) (?P<stream>stdout|stderr) (?P<flag>[FP])(?:$| )"
)
_KUBECTL = re.compile(r"\[(?P<source>(?:pod|pods)/[^\]\s]+)\] ")
_COMPOSE = re.compile(r"(?P<source>[A-Za-z0-9][\w./-]*?) +\| ?")
_JOURNAL = re.compile(
    r"(?P<time>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?|"
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*) "
    r"(?P<source>[\w.-]+) (?P<unit>[\w@./:-]+)\[\d+\]: "
)
_RAY = re.compile(r"\((?:\w+ )?pid=\d+, ip=[\d.]+\) ")
_MESSAGES = ("log", "message", "msg", "MESSAGE", "text", "event")
_TIMES = ("time", "timestamp", "@timestamp", "asctime", "ts")
_SOURCES = ("pod_name", "pod", "container_name", "hostname")
_DOCKER_PART = 16_000
"""Docker splits records of 16 KiB; a shorter one without line end is whole."""
MOST_LAYERS = 5
_MOST_STREAMS = 64


class Peeled(NamedTuple):
    """A line as the engine wrote it. `time` is the wrapper's own, as text; `source`
    names the container or pod, "" where nothing does."""

    text: str
    time: str = ""
    source: str = ""


class Unwrapper:
    """Takes the layers off, and joins what a runtime split into partial records.

    >>> Unwrapper().peel("web-1  | [2026-01-01 00:00:00 TP0] Decode batch").source
    'web-1'
    """

    def __init__(self) -> None:
        self._partial: dict[str, str] = {}

    @property
    def waiting(self) -> bool:
        """Whether a record has begun whose last part is still to come."""
        return bool(self._partial)

    def peel(self, line: str) -> Peeled | None:
        """Return the line without its layers; None for a part that is not the last.

        Changes: the parts kept for their last one.
        """
        text, time, source = _plain(line), "", ""
        for _ in range(MOST_LAYERS):
            layer = _layer(text)
            if layer is None:
                break
            part, more = layer
            text = _plain(part.text)
            time, source = part.time or time, part.source or source
            key = part.source
            if more:
                self._keep(key, text)
                return None
            text = self._partial.pop(key, "") + text
        return Peeled(text, time, source)

    def _keep(self, key: str, text: str) -> None:
        if len(self._partial) < _MOST_STREAMS:
            self._partial[key] = (self._partial.get(key, "") + text)[: 1 << 16]


def safe_name(text: str) -> str:
    r"""Return a name from outside with nothing in it that a terminal would obey.

    >>> safe_name("pod-1\x1b[2J")
    'pod-1??2J'
    """
    return re.sub(r"[^\w./:@ -]", "?", text, flags=re.ASCII)[:80]


def _plain(line: str) -> str:
    """Return the line without colours, ends and byte order mark."""
    line = line.lstrip("\ufeff")
    if "[" in line:
        line = ANSI.sub("", line)
    return line.strip("\r\n").replace("\r", " ")


def _layer(text: str) -> tuple[Peeled, bool] | None:
    """Take off the outermost layer; True with it says that the record goes on."""
    if text.startswith("{"):
        return _json(text)
    if found := _CRI.match(text):
        rest = text[found.end() :]
        return Peeled(rest, found["time"]), found["flag"] == "P"
    if found := _KUBECTL.match(text) or _COMPOSE.match(text):
        return Peeled(text[found.end() :], "", found["source"]), False
    if found := _JOURNAL.match(text):
        return Peeled(text[found.end() :], found["time"], found["source"]), False
    if found := _RAY.match(text):
        return Peeled(text[found.end() :]), False
    return None


def _json(text: str) -> tuple[Peeled, bool] | None:
    """Take a line out of the JSON object of a logging driver; None if it is none."""
    try:
        record = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
    if not isinstance(record, dict):
        return None
    message = next((record[k] for k in _MESSAGES if isinstance(record.get(k), str)), "")
    if not message:
        return None
    flat = record
    for nested in ("kubernetes", "docker"):
        if isinstance(record.get(nested), dict):
            flat = flat | record[nested]
    time = next((flat[k] for k in _TIMES if isinstance(flat.get(k), str)), "")
    source = next((flat[k] for k in _SOURCES if isinstance(flat.get(k), str)), "")
    source = safe_name(source)
    cut = "log" in record and not message.endswith("\n") and len(message) > _DOCKER_PART
    return Peeled(message, time, source), cut
