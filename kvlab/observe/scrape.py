"""What do scrapes of /metrics say, one file or a series?

Classic Prometheus text and OpenMetrics, with `sglang:`, `sglang_` or Ray's
`ray_sglang_` names; Ray has each counter twice, with and without `_total`. Lines are
parsed one by one, so a damaged one loses only itself. A file may hold several scrapes:
a new one begins where a series repeats or after `# EOF`. Engines, data-parallel ranks
and servers stay apart; the tensor ranks of one scheduler say the same, so one is read.
Left out: the names (scrape_names.py), judging (verdict.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from .said import say
from .samples import Place, Recording, Sample, Track, Values
from .scrape_marks import Marks, is_metric
from .scrape_names import CONFIG, ROLES, TTFT, Role
from .sglang_lines import BINDING
from .source import Block, RawLine
from .wrappers import safe_name

_OURS = re.compile(r"(?:ray_)?(?P<engine>sglang|vllm|lmcache)[:_](?P<name>[a-zA-Z]\w*)")
_SUMMED = {"priority", "is_streaming", "le", "pool", "finished_reason"}
_RANKS = ("pp_rank", "moe_ep_rank", "tp_rank", "pid")
_SERVERS = ("instance", "pod", "namespace", "host", "ReplicaId", "WorkerId")
_MS = 1e11
"""A timestamp above this many is in milliseconds (1973 in seconds)."""


class Reading(NamedTuple):
    """One value of a scrape."""

    engine: str
    name: str
    labels: dict[str, str]
    value: float
    time: float | None
    line: int


class Scrape(NamedTuple):
    """The readings of one moment. `damaged` are its lines that could not be read;
    `time` is what a line before it says, in seconds."""

    readings: list[Reading]
    damaged: list[int]
    time: float | None = None


class ScrapeReader:
    """Feeds one recording from any number of scrapes, in the order of their times.

    >>> recording = Recording("metrics")
    >>> text = b'vllm:num_requests_waiting{engine="0"} 3'
    >>> ScrapeReader(recording).read("m.txt", [RawLine(1, text)])
    >>> recording.track("engine 0").last("queue")
    3.0
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.scrapes = 0

    def read(self, name: str, lines: Iterable[RawLine], source: str = "") -> None:
        """Take the scrapes of one file. Changes: the recording."""
        last = None
        for scrape in _scrapes(lines):
            last = scrape
            for line in scrape.damaged:
                self.recording.damage(Place(name, line))
            if scrape.readings:
                self.scrapes += 1
                self._take(name, scrape, source)
        if last is not None and last.damaged:
            self.recording.note(
                say("{} holds damaged lines; it may be cut short", name)
            )

    def read_blocks(self, name: str, blocks: Iterable[Block], source: str = "") -> None:
        """Take the scrapes of one file, many lines at a time; as `read`."""
        lines = (line for block in blocks for line in block.lines())
        self.read(name, lines, source)

    def _take(self, name: str, scrape: Scrape, source: str) -> None:
        groups: dict[tuple[str, str], list[Reading]] = {}
        for reading in scrape.readings:
            groups.setdefault(_whose(reading, source), []).append(reading)
        _share(groups)
        for (server, group), readings in groups.items():
            for engine in {reading.engine for reading in readings}:
                self.recording.engines[engine] += engine != "lmcache"
            _report(self.recording.track(group, server), readings, name, scrape)


def looks_like_metrics(text: str) -> bool:
    """Say whether the first lines of a file are Prometheus text."""
    lines = [line for line in text.splitlines() if line.strip()][:40]
    said = [
        line for line in lines if line.startswith(("# HELP ", "# TYPE ", "# UNIT "))
    ]
    return bool(said) or any(_SAMPLE.match(line) for line in lines[:5])


_SAMPLE = re.compile(
    r"[a-zA-Z_:][\w:]*(?:\{[^{}]*\})? [-+]?(?:\d[\d.eE+-]*|NaN|\+?Inf)"
    r"(?: \d+(?:\.\d+)?)?$"
)


# --- the text


def _scrapes(lines: Iterable[RawLine]) -> Iterator[Scrape]:
    """Yield the scrapes of a file: a series that repeats begins the next one."""
    readings: list[Reading] = []
    damaged: list[int] = []
    seen: set[tuple[str, str, tuple[tuple[str, str], ...]]] = set()
    marks, time = Marks(), None
    for line in lines:
        text = line.data.decode("utf-8", "replace").strip("\r\ufeff ")
        if text == "# EOF":
            yield Scrape(readings, damaged, time)
            readings, damaged, seen = [], [], set()
        if not text or text.startswith("#"):
            continue
        if _OURS.match(text) is None:
            if not is_metric(text):
                if readings or damaged:
                    yield Scrape(readings, damaged, time)
                    readings, damaged, seen, time = [], [], set(), None
                said = marks.time(text)
                time = time if said is None else said
            elif not _SAMPLE.match(text) and (seen or damaged):
                damaged.append(line.number)
            continue
        reading = _reading(text, line.number) if line.whole else None
        if reading is None:
            damaged.append(line.number)
            continue
        key = (reading.engine, reading.name, tuple(sorted(reading.labels.items())))
        if key in seen:
            yield Scrape(readings, damaged, time)
            readings, damaged, seen, time = [], [], set(), None
        seen.add(key)
        readings.append(reading)
    if readings or damaged:
        yield Scrape(readings, damaged, time)


def _reading(text: str, number: int) -> Reading | None:
    """Return the value of one line; None if it is damaged or no number."""
    ours = _OURS.match(text)
    if ours is None:
        return None
    try:
        (family,) = text_string_to_metric_families(text)
        (sample,) = family.samples
    except (ValueError, KeyError, IndexError):
        return None
    if not math.isfinite(sample.value):
        return None
    time = None if sample.timestamp is None else float(sample.timestamp)
    if time is not None and time < _MS / 1000:
        time *= 1000  # OpenMetrics: it was in seconds
    labels = dict(sample.labels)
    return Reading(ours["engine"], ours["name"], labels, sample.value, time, number)


def _whose(reading: Reading, source: str) -> tuple[str, str]:
    """Return the server and the scheduler that a reading is about."""
    labels = reading.labels
    parts = [source, *(labels[name] for name in _SERVERS if labels.get(name))]
    server = safe_name("/".join(part for part in parts if part))
    if labels.get("engine"):
        return server, safe_name(f"engine {labels['engine']}")
    rank = labels.get("dp_rank", "")
    return server, safe_name(f"DP{rank}") if rank else ""


def _share(groups: dict[tuple[str, str], list[Reading]]) -> None:
    """Give what names no scheduler, as a tokenizer's or LMCache's metrics, to all of
    its server: it is none of its own, unless it reports what they do.

    Changes: the groups.
    """
    for server in {server for server, group in groups if group}:
        common = groups.get((server, ""), [])
        named = [r for (s, group), r in groups.items() if s == server and group]
        if {r.name for r in common}.isdisjoint(r.name for each in named for r in each):
            groups.pop((server, ""), None)
            for each in named:
                each.extend(common)


# --- one scheduler of one scrape


def _report(track: Track, readings: list[Reading], name: str, scrape: Scrape) -> None:
    """Turn the readings into one sample and one reading of counters."""
    first = readings[0].line
    time = next((r.time for r in readings if r.time is not None), scrape.time)
    readings = _one_rank(readings)
    by_name: dict[str, list[Reading]] = {}
    names = {reading.name for reading in readings}
    for reading in readings:
        if f"{reading.name}_total" not in names:
            by_name.setdefault(reading.name.removesuffix("_total"), []).append(reading)
    gauges, counters = {}, _ttft(by_name)
    for engine in sorted({reading.engine for reading in readings}):
        for role in ROLES[engine]:
            value = _value(role, by_name)
            if value is None:
                continue
            if role.counter:
                counters[role.name] = value
            elif value >= 0:
                gauges[role.name] = value
    gauges |= _derived(gauges)
    track.tags.setdefault(_tag(readings), None)
    _note_config(track, by_name, gauges, Place(name, first))
    track.add(Sample(Place(name, first), time, "scrape", gauges | counters))
    track.add_counters(counters, complete=not scrape.damaged)


def _one_rank(readings: list[Reading]) -> list[Reading]:
    """Return the readings of the first rank alone, metric by metric: all ranks of one
    scheduler export the same logical counts."""
    first: dict[str, tuple[str, ...]] = {}
    for reading in readings:
        rank = _rank(reading)
        first[reading.name] = min(first.get(reading.name, rank), rank)
    return [r for r in readings if _rank(r) == first[r.name]]


def _rank(reading: Reading) -> tuple[str, ...]:
    return tuple(reading.labels.get(name, "").zfill(6) for name in _RANKS)


def _value(role: Role, by_name: dict[str, list[Reading]]) -> float | None:
    """Return what the metrics say of the role; None if they do not name it."""
    for metric in role.metrics:
        found = [
            r
            for r in by_name.get(metric, ())
            if all(r.labels.get(label) == value for label, value in role.where)
        ]
        if not found:
            continue
        kv = [r for r in found if r.labels.get("pool") == "kv"] or found
        whole = [r for r in kv if not r.labels.get("priority")] or kv
        if role.counter or any(_SUMMED & r.labels.keys() for r in whole):
            return sum(r.value for r in whole) * role.scale
        return max(r.value for r in whole) * role.scale
    return None


def _derived(gauges: Values) -> Values:
    """Return what follows: the fullest pool's usage, unrounded where it can be."""
    more: Values = {}
    exact = [gauges[n] for n in BINDING if n in gauges and n != "usage_kv"]
    if exact or "usage_kv" in gauges:
        more["usage"] = max(exact) if exact else gauges["usage_kv"]
    if gauges.get("l2_size"):
        more["l2_fraction"] = gauges.get("l2_used", 0.0) / gauges["l2_size"]
    parts = [gauges.get(n) for n in ("kv_available", "kv_evictable", "kv_used")]
    if gauges.get("pool_tokens") and None not in parts:
        more["account_gap"] = gauges["pool_tokens"] - sum(p for p in parts if p)
    return more


def _tag(readings: list[Reading]) -> str:
    labels = readings[0].labels
    names = (("dp_rank", "DP"), ("tp_rank", "TP"), ("engine", ""))
    said = [f"{short}{labels[name]}" for name, short in names if labels.get(name)]
    return safe_name(" ".join(said))


def _note_config(
    track: Track, by_name: dict[str, list[Reading]], gauges: Values, place: Place
) -> None:
    """Keep what the metrics say of the pool: constant gauges, vLLM's labels."""
    said: Values = {
        n: gauges[n] for n in ("pool_tokens", "max_running_requests") if n in gauges
    }
    for reading in by_name.get(CONFIG, ()):
        for label, ours in (("num_gpu_blocks", "pool_blocks"), ("block_size",) * 2):
            if (text := reading.labels.get(label, "")).isdigit():
                said[ours] = float(text)
        caching = reading.labels.get("enable_prefix_caching")
        if caching in ("True", "False"):
            said["prefix_caching"] = float(caching == "True")
    for name in said.keys() - track.info.keys():
        track.info[name] = Sample(place, None, "start", {name: said[name]})
    if "gpu_prefix_cache_queries" in by_name:
        track.info["hits_in_blocks"] = Sample(
            place, None, "start", {"hits_in_blocks": 1.0}
        )


def _ttft(by_name: dict[str, list[Reading]]) -> Values:
    """Return the buckets of the time to first token as counters, by upper bound."""
    buckets: Values = {}
    for reading in by_name.get(f"{TTFT}_bucket", ()):
        try:
            bound = float(reading.labels.get("le", ""))
        except ValueError:
            continue
        name = f"ttft_le_{bound:g}_total"
        buckets[name] = buckets.get(name, 0.0) + reading.value
    return buckets
