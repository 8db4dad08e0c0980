"""What did the machinery around an engine wrap its lines in?

Container runtimes, orchestrators and terminals each put something around a line. Any
number of layers comes off here, without options: docker's JSON, CRI records with their
partial lines, `compose` and `kubectl --prefix` names, journalctl, Ray, the names that
grep, tail and a parallel shell put before lines, logging in JSON or logfmt, what log
stores export (GCP, Elastic, Splunk, Datadog, Grafana's CSV), colours, HTML's `&gt;`,
carriage returns, a byte order mark.
Left out: lines that a terminal broke or cut (lines.py), whole JSON documents
(documents.py).
"""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime
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
_GREP = re.compile(
    r"(?P<source>[\w./-]*\.(?:log|txt|out|err)(?:\.\d+)?)[:-](?:\d+:)?(?=[\[({A-Z\d])"
)
_HOST = re.compile(
    r"(?P<source>[A-Za-z][\w.-]*\d[\w.-]*): (?=\[\d|\(\w+ pid=|INFO |WARNING )"
)
_TAIL = re.compile(r"==> (?P<source>.+) <==$")
_RAY = re.compile(r"\((?:\w+ )?pid=\d+, ip=[\d.]+\) ")
_LOGFMT = re.compile(r"[\w.@-]+=")
_PAIR = re.compile(r'([\w.@-]+)=(?:"((?:[^"\\]|\\.)*)"|(\S*))(?: +|$)')
_REPEATED = re.compile(r" +\[repeated \d+x across cluster\].*$")
_CSV = re.compile(r'(?:[^",]*,|"(?:[^"]|"")*",)+"(?P<text>(?:[^"]|"")*)"\s*$')
_MESSAGES = (
    "log", "message", "msg", "MESSAGE", "text", "event", "body", "@message",
    "textPayload", "_raw", "line", "Log",
)  # fmt: skip
_NESTS = (
    "kubernetes", "docker", "fields", "record", "attributes", "_source", "result",
    "content", "jsonPayload", "labels", "resource",
)  # fmt: skip
_TIMES = ("time", "timestamp", "@timestamp", "asctime", "ts", "_time")
_SOURCES = ("pod_name", "pod", "container_name", "hostname")
_DOCKER_PART = 16_000
"""Docker splits records of 16 KiB; a shorter one without line end is whole."""
_EPOCH = 1e9
"""2001 in seconds; up to 2033 they are told from milliseconds by their size."""
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
        self._heading = ""

    @property
    def waiting(self) -> bool:
        """Whether a record has begun whose last part is still to come."""
        return bool(self._partial)

    def peel(self, line: str) -> Peeled | None:
        """Return the line without its layers; None for a part that is not the last, and
        for the heading that `tail` puts over the lines of a file.

        Changes: the parts kept for their last one, and the heading.
        """
        text, time, source = _plain(line), "", self._heading
        if text.startswith("==> ") and (found := _TAIL.match(text)):
            self._heading = safe_name(found["source"])
            return None
        for _ in range(MOST_LAYERS):
            layer = None if text.startswith("[2") else _layer(text)
            if layer is None:  # a date is the engine's own
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
    if "\x1b" in line or "#033" in line or "^[" in line:
        line = ANSI.sub("", line)
    if "across cluster]" in line:
        line = _REPEATED.sub("", line)
    if "&gt;" in line or "&#" in line:
        line = html.unescape(line)
    return line.strip("\r\n").replace("\r", " ")


_NAMED = (_KUBECTL, _COMPOSE, _GREP, _HOST)


def _layer(text: str) -> tuple[Peeled, bool] | None:
    """Take off the outermost layer; True with it says that the record goes on."""
    if text.startswith("{") or _LOGFMT.match(text):
        return _json(text) if text.startswith("{") else _logfmt(text)
    if found := _CRI.match(text):
        rest = text[found.end() :]
        return Peeled(rest, found["time"]), found["flag"] == "P"
    if found := next((f for p in _NAMED if (f := p.match(text))), None):
        return Peeled(text[found.end() :], "", found["source"]), False
    if found := _JOURNAL.match(text):
        return Peeled(text[found.end() :], found["time"], found["source"]), False
    if found := _RAY.match(text):
        return Peeled(text[found.end() :]), False
    found = _CSV.match(text) if text.endswith('"') else None
    return (Peeled(found["text"].replace('""', '"')), False) if found else None


def _json(text: str) -> tuple[Peeled, bool] | None:
    """Take a line out of the JSON object of a logging driver; None if it is none."""
    try:
        record = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
    if not isinstance(record, dict):
        return None
    return fields_of(record)


def fields_of(record: dict[str, object]) -> tuple[Peeled, bool] | None:
    """Take a line out of one record of a log store; None where it holds no message."""
    flat = record
    for nested in _NESTS * 2:
        inner = flat.get(nested)
        if isinstance(inner, dict):
            flat = inner | {k: v for k, v in flat.items() if k != nested}
    return _from_fields(flat)


def _logfmt(text: str) -> tuple[Peeled, bool] | None:
    """Take a line out of `key=value key="value"`; None if it is not that throughout."""
    fields: dict[str, object] = {}
    at = 0
    while found := _PAIR.match(text, at):
        quoted = found[2]
        fields[found[1]] = found[3] if quoted is None else _unescaped(quoted)
        at = found.end()
    return _from_fields(fields) if at == len(text) else None


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text) if "\\" in text else text


def _from_fields(fields: dict[str, object]) -> tuple[Peeled, bool] | None:
    """Return the message with its time and source; None where there is no message."""
    message = _first(fields, _MESSAGES)
    if not message:
        return None
    named = _first(fields, ("log",)) == message
    cut = named and not message.endswith("\n") and len(message) > _DOCKER_PART
    source = safe_name(_first(fields, _SOURCES))
    return Peeled(message, _time(fields), source), cut


def _first(fields: dict[str, object], names: tuple[str, ...]) -> str:
    """Return the first of the fields that is text; "" if none is."""
    return next((v for n in names if isinstance(v := fields.get(n), str)), "")


def _time(fields: dict[str, object]) -> str:
    """Return the wrapper's time as text; seconds or milliseconds since 1970 too."""
    for name in _TIMES:
        value = fields.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, int | float) and _EPOCH <= value < 1e3 * 2 * _EPOCH:
            seconds = value if value < 2 * _EPOCH else value / 1e3
            return datetime.fromtimestamp(seconds, UTC).isoformat(" ")
    return ""
