"""What does a log of SGLang, vLLM or LMCache say, whatever it is wrapped in?

Line by line, whatever the size: wrappers come off, pieces that a terminal broke are
joined, records are read, and each becomes a sample or an event of its scheduler's
track. A record that was begun and is not whole is counted as damaged and never trusted.
Left out: the formats (records.py and the modules it names), judging (verdict.py).
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from . import end_lines, leak_lines, sglang_lines, vllm_lines
from .clock import Clock
from .marks import wanted
from .records import HEADER, Found, Read, find_records, read_at_once, read_record
from .samples import Place, Recording, Sample, Track, Values
from .source import Block, RawLine
from .wrappers import Peeled, Unwrapper

_MOST_PIECES = 4
_SHORT = 12
_DIGITS = re.compile(r"\d{1,7}(?:, ?)?")
_MOST_KEYS = 64
_JUMP_S = 5.0
_MOST_NAMED = 100_000
"""Lines of an input that are looked at for their form alone."""
_FORMS = (
    ("LMCache", re.compile(rb"\bLMCache (?:DEBUG|INFO|WARNING|ERROR)\b|INFO LMCache:")),
    (
        "vLLM",
        re.compile(rb"(?:DEBUG|INFO|WARNING|ERROR) \d\d-\d\d [\d:]{8} \[?\S+\.py:"),
    ),
    (
        "SGLang",
        re.compile(rb"\[[\d-]{10} [\d:]{8}(?:\.\d+)?(?: (?:DP|TP|PP|EP)\d+)+\] "),
    ),
)


@dataclass(slots=True)
class _Held:
    """A record whose next line is not known yet."""

    place: Place
    peeled: Peeled
    found: Found
    read: Read | None
    length: int
    pieces: int = 1


class LogReader:
    """Feeds one recording from any number of logs.

    >>> recording = Recording("log")
    >>> reader = LogReader(recording)
    >>> line = b"INFO 10-02 11:15:00 x.py:1] # GPU blocks: 7, # CPU blocks: 4"
    >>> reader.read("a.log", [RawLine(1, line)])
    >>> recording.settle(); recording.track("").known("pool_blocks")
    7.0
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._held: _Held | None = None
        self._dump: list[str] = []
        self._dump_at: tuple[Place, Peeled] | None = None
        self._lengths: Counter[int] = Counter()
        self._longest = 0
        self._retractions: OrderedDict[tuple[object, ...], set[str]] = OrderedDict()
        self._clock, self._wrapper_clock = Clock(), Clock()

    def read(self, name: str, lines: Iterable[RawLine], source: str = "") -> None:
        """Take the lines of one file; `source` names the server it is from.

        Changes: the recording. Raises: what reading the lines raises; what came before
        is kept.
        """
        given = (Block(n, data + b"\n" * whole, whole) for n, data, whole in lines)
        self.read_blocks(name, given, source)

    def read_blocks(self, name: str, blocks: Iterable[Block], source: str = "") -> None:
        """Take the lines of one file, many at a time; as `read`."""
        unwrapper = Unwrapper()
        try:
            for block in blocks:
                self.recording.lines += block.data.count(b"\n") or 1
                self.recording.accesses += block.data.count(b" HTTP/1.")
                self._name(block)
                waits = partial(self._waits_for_more, unwrapper)
                for line, marked in wanted(block, waits):
                    self._take(name, line, marked, unwrapper, source)
        finally:
            self._release()
            self._close_dump()

    def _name(self, block: Block) -> None:
        """Count lines that are an engine's by their form, whatever they say; no more
        than at the start, and while nothing was read."""
        if self.recording.engines or self.recording.lines > _MOST_NAMED:
            return
        for engine, form in _FORMS:
            if found := form.findall(block.data):
                self.recording.named[engine] += len(found)

    def _waits_for_more(self, unwrapper: Unwrapper) -> bool:
        return bool(self._held or self._dump_at is not None or unwrapper.waiting)

    # --- one line

    def _take(
        self, name: str, line: RawLine, marked: bool, unwrapper: Unwrapper, source: str
    ) -> None:
        interesting = marked or unwrapper.waiting
        if not interesting and self._dump_at is None and not self._waits(line):
            return
        place = Place(name, line.number)
        if not line.whole:
            self._release()
            if interesting:
                self.recording.damage(place)
            return
        peeled = unwrapper.peel(line.data.decode("utf-8", "replace"))
        if peeled is None:
            return
        if source or peeled.source:
            joined = "/".join(part for part in (source, peeled.source) if part)
            peeled = peeled._replace(source=joined)
        if not self._continues(place, peeled):
            self._begin(place, peeled, len(line.data))

    def _waits(self, line: RawLine) -> bool:
        """Say whether the held record could go on in this line; let it go if not."""
        if self._held is None:
            return False
        if self._held.read is None or len(line.data) < _SHORT:
            return True
        self._release()
        return False

    def _begin(self, place: Place, peeled: Peeled, length: int) -> None:
        """Take a line that continues nothing."""
        self._release()
        if self._dump_at is not None and self._more_dump(peeled.text):
            return
        self._close_dump()
        if (known := read_at_once(peeled.text)) is not None:
            self._held = _Held(place, peeled, *known, length)
            return
        records = find_records(peeled.text)
        if records:
            *whole, last = records
            for found in whole:
                self._finish(_Held(place, peeled, found, read_record(found), length))
            self._held = _Held(place, peeled, last, read_record(last), length)
        elif leak_lines.START.search(peeled.text):
            self._dump_at, self._dump = (place, peeled), [peeled.text]
        else:
            self._start(place, peeled)

    def _continues(self, place: Place, peeled: Peeled) -> bool:
        """Join the line to the held record, if it is the rest of it."""
        held = self._held
        if held is None or held.pieces > _MOST_PIECES or peeled.time:
            return False
        if held.place.file != place.file or HEADER.match(peeled.text.lstrip(" [")):
            return False
        if held.place.line + held.pieces != place.line or find_records(peeled.text):
            return False
        if held.read is not None and not _DIGITS.fullmatch(peeled.text.strip()):
            return False
        joined = held.found._replace(text=held.found.text + peeled.text)
        read = read_record(joined)
        if read is None:
            spaced = held.found._replace(text=f"{held.found.text} {peeled.text}")
            if (read := read_record(spaced)) is not None:
                joined = spaced
        if held.read is not None and read is None:
            return False
        held.found, held.read = joined, read
        held.pieces += 1
        return True

    # --- one record

    def _release(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            self._longest = max(self._longest, held.length)
            self._finish(held)

    def _finish(self, held: _Held) -> None:
        """Take a record that has all the lines it will get."""
        if held.read is None:
            self._lengths[held.length] += 1
            self.recording.damage(held.place)
        elif held.length == self._longest and self._lengths[held.length] >= 3:
            self.recording.damage(held.place)  # it ends where the cut ones end
        else:
            self._record(held, held.read)

    def _record(self, held: _Held, read: Read) -> None:
        time = self._time(held.found.header, held.peeled)
        self.recording.engines[read.engine] += 1
        track = self.recording.track(read.group, held.peeled.source)
        sample = Sample(held.place, time, read.kind, read.values)
        if read.aggregated:
            self.recording.marks.add("aggregated")
        if read.kind == "retract":
            self._retract(track, read, sample)
        elif read.kind in ("decode", "prefill", "stats"):
            if not self._is_twin(track, read.tag):
                self._watch_clock(track, time)
                track.add(sample)
                self._mark(read, held.found.header)
        else:
            track.event(sample)

    def _mark(self, read: Read, header: str) -> None:
        if "preemptions" in read.values:
            self.recording.marks.add("preemptions printed")
        if read.engine == "vllm":
            old = "swapped" in read.values
            tagged = "pid=" in header
            self.recording.marks.add("v0" if old else "v1 tagged" if tagged else "v1")

    def _is_twin(self, track: Track, tag: str) -> bool:
        """Say whether another tensor rank of the same scheduler prints this already."""
        first = next(iter(track.tags), None)
        if first and tag and tag != first:
            track.count["twins"] += 1
            return True
        track.tags[tag] = None
        return False

    def _retract(self, track: Track, read: Read, sample: Sample) -> None:
        """Count a retraction once, though every tensor rank may print it."""
        track.count["retract_lines"] += 1
        if read.test:
            track.count["test_retractions"] += 1
            return
        key = (track.name, track.source, sample.time, read.key)
        tags = self._retractions.setdefault(key, set())
        if len(self._retractions) > _MOST_KEYS:
            self._retractions.popitem(last=False)
        if not tags or read.tag in tags:
            tags.clear()
            track.event(sample)
        tags.add(read.tag)

    def _watch_clock(self, track: Track, time: float | None) -> None:
        if time is None or track.last_time is None:
            return
        if time < track.last_time - _JUMP_S:
            self.recording.jumps += 1

    def _time(self, header: str, peeled: Peeled) -> float | None:
        time = self._clock.read(header)
        return self._wrapper_clock.read(peeled.time) if time is None else time

    # --- what is no report

    def _more_dump(self, text: str) -> bool:
        if leak_lines.MORE.match(text) and len(self._dump) < 12:
            self._dump.append(text)
            return True
        return False

    def _close_dump(self) -> None:
        """Take the accounts of a dump that has ended."""
        if self._dump_at is None:
            return
        (place, peeled), text = self._dump_at, "\n".join(self._dump)
        self._dump_at, self._dump = None, []
        tag = sglang_lines.tag_of(peeled.text[:80])
        track = self.recording.track(sglang_lines.group_of(tag), peeled.source)
        said = "leak detected" in text.lower()
        accounts = leak_lines.read_accounts(text)
        self.recording.engines["sglang"] += 1
        if not accounts:
            self.recording.damage(place)
        for account in accounts:
            values: Values = {
                f"account_{name}": float(getattr(account, name))
                for name in (*_TERMS, "delta")
            }
            values["account_said_leak"] = float(said)
            kind = f"account:{account.pool}"
            time = self._time(peeled.text[:40], peeled)
            track.event(Sample(place, time, kind, values))

    def _start(self, place: Place, peeled: Peeled) -> None:
        text = peeled.text
        if sglang_lines.START.search(text):
            engine, values = "sglang", sglang_lines.read_start(text)
            group = sglang_lines.group_of(sglang_lines.tag_of(text[:60]))
        elif vllm_lines.START.search(text):
            engine, values = "vllm", vllm_lines.read_start(text)
            group = vllm_lines.group_of(text[:60])
        else:
            self._end(place, peeled)
            return
        if not values:
            self._end(place, peeled)
            return
        self.recording.engines[engine] += 1
        track = self.recording.track(group, peeled.source)
        for name, value in values.items():
            track.info[name] = Sample(place, None, "start", {name: value})

    def _end(self, place: Place, peeled: Peeled) -> None:
        """Take what the engine says of its own end."""
        end = end_lines.read_end(peeled.text)
        if end is None:
            return
        header = peeled.text[:60]
        self.recording.engines[end.engine or self.recording.engine] += 1
        group = sglang_lines.group_of(sglang_lines.tag_of(header))
        track = self.recording.track(
            group or vllm_lines.group_of(header), peeled.source
        )
        track.event(Sample(place, self._time(header, peeled), end.kind, end.values))


_TERMS = ("total", "available", "evictable", "protected", "session_held", "uncached")
