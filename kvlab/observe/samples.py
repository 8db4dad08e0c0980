"""What did an engine show, moment by moment, whatever it was read from?

A `Sample` is one report of an engine: a line of its log, one scrape of its metrics, one
step of a kvlab run, with the place it stands at. A `Track` takes the samples of one
scheduler (a data-parallel rank, an engine, a replica) in order and keeps what the rules
ask for: extremes with their places, sums, growth of counters, and the series itself,
thinned so that any number of samples takes bounded memory. A `Recording` is all tracks.
Left out: reading (lines.py, scrape.py, run_samples.py), judging (verdict.py).
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import Literal, NamedTuple

from msgspec import Struct

from .said import Text, say

KEEP = 2048
"""Most samples that a track keeps; beyond, every second one goes, again and again."""
KEEP_EVENTS = 64
"""Most events of a kind that a track keeps; the rest is counted."""
MOST_TRACKS = 256

Kind = Literal["log", "metrics", "trace", "run"]
Values = dict[str, float]

FLOWS = frozenset(
    {
        "new_tokens", "cached_tokens", "new_seqs", "preemptions", "retracted",
        "lookup_tokens", "lookup_hits", "stored_tokens", "retrieved_tokens",
        "given_tokens", "promised_tokens",
    }
)  # fmt: skip
"""Fields that count something since the sample before: they are summed."""


class Place(NamedTuple):
    """Where a sample stands. `line` counts from 1; in a run it is the event."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Sample(Struct, frozen=True):
    """One report of an engine.

    Units: `time` in seconds from any origin, None where the input has no clock; usages
    and rates are 0 to 1, queues are requests, sizes tokens. A name that ends in
    `_total` is a lifetime counter.
    """

    place: Place
    time: float | None
    kind: str
    values: Values


class Growth(Struct):
    """How far a counter moved inside the input. A fall is a reset: it counts from 0."""

    first: float
    last: float
    grown: float = 0.0
    readings: int = 1

    def read(self, value: float) -> None:
        """Take the next reading. Changes: this record."""
        self.grown += value if value < self.last else value - self.last
        self.last = value
        self.readings += 1


class Track:
    """What one scheduler showed, oldest first. Cost: O(1) a sample, bounded memory.

    `num_samples` counts all reports of the state, kept or not; `tags` are the ranks
    that made them; `info` is what the engine said of itself at its start.

    >>> track = Track("")
    >>> for line, queue in enumerate((3, 9, 4), 1):
    ...     track.add(Sample(Place("log", line), None, "decode", {"queue": queue}))
    >>> track.high("queue"), track.last("queue"), str(track.peaks["queue"].place)
    (9, 4, 'log:2')
    """

    def __init__(self, name: str, source: str = "") -> None:
        self.name, self.source = name, source
        self.tags: dict[str, None] = {}
        self.samples: list[Sample] = []
        self.count: Counter[str] = Counter()
        self.peaks: dict[str, Sample] = {}
        self.lows: dict[str, Sample] = {}
        self.firsts: dict[str, Sample] = {}
        self.lasts: dict[str, Sample] = {}
        self.sums: defaultdict[str, float] = defaultdict(float)
        self.growths: dict[str, Growth] = {}
        self.events: dict[str, deque[Sample]] = {}
        self.info: dict[str, Sample] = {}
        self.first_time: float | None = None
        self.last_time: float | None = None
        self.num_samples = 0
        self._stride = 1

    # --- taking

    def add(self, sample: Sample) -> None:
        """Take a report of the state. Changes: this track."""
        self._keep(sample)
        self.num_samples += 1
        self.count[sample.kind] += 1
        if sample.time is not None:
            if self.first_time is None:
                self.first_time = sample.time
            elif self.last_time is not None and sample.time != self.last_time:
                self.count["later" if sample.time > self.last_time else "earlier"] += 1
            self.last_time = sample.time
        self._note(sample)
        for name in FLOWS & sample.values.keys():
            self.sums[name] += sample.values[name]

    def add_counters(self, values: Values, complete: bool = True) -> None:
        """Take one reading of lifetime counters; a labelled counter is absent until
        its first use, so one that appears after a `complete` reading began at 0."""
        later, known = self.count["counters"] > 0, self.growths
        fell = any(n in known and v < known[n].last for n, v in values.items())
        self.count["falls"] += fell
        for name, value in values.items():
            if name in known:
                known[name].read(value)
            else:
                start = 0.0 if later else value
                known[name] = Growth(start, value, value - start, 1 + later)
        if complete:
            self.count["counters"] += 1

    def event(self, sample: Sample) -> None:
        """Take something that happened between reports. Changes: this track."""
        kept = self.events.setdefault(sample.kind, deque())
        if len(kept) < KEEP_EVENTS:
            kept.append(sample)
        self.count[sample.kind] += 1
        for name, value in sample.values.items():
            if name in FLOWS:
                self.sums[name] += value
        self._note(sample)

    def absorb(self, other: Track) -> None:
        """Take over the events of a track that has no samples of its own."""
        for kept in other.events.values():
            for sample in kept:
                self.events.setdefault(sample.kind, deque()).append(sample)
        self.count.update(other.count)
        for name, value in other.sums.items():
            self.sums[name] += value
        self.info = other.info | self.info
        for mine, theirs in (
            (self.peaks, other.peaks), (self.lows, other.lows),
            (self.firsts, other.firsts), (self.lasts, other.lasts),
        ):  # fmt: skip
            for name, sample in theirs.items():
                mine.setdefault(name, sample)

    # --- asking

    def high(self, name: str) -> float | None:
        """Return the largest value of the field; None if it was never reported."""
        found = self.peaks.get(name)
        return None if found is None else found.values[name]

    def low(self, name: str) -> float | None:
        """Return the smallest value of the field; None if it was never reported."""
        found = self.lows.get(name)
        return None if found is None else found.values[name]

    def first(self, name: str) -> float | None:
        """Return the first value of the field; None if it was never reported."""
        found = self.firsts.get(name)
        return None if found is None else found.values[name]

    def last(self, name: str) -> float | None:
        """Return the last value of the field; None if it was never reported."""
        found = self.lasts.get(name)
        return None if found is None else found.values[name]

    def growth(self, name: str) -> float | None:
        """Return how far the counter grew inside the input; None if it cannot be said,
        as from one reading."""
        if name not in self.growths or self.growths[name].readings < 2:
            return None
        return self.growths[name].grown

    def with_field(self, *names: str) -> list[Sample]:
        """Return the kept samples that report all these fields, in order."""
        return [s for s in self.samples if all(name in s.values for name in names)]

    def known(self, name: str) -> float | None:
        """Return what the start of the engine said about itself; None if unsaid."""
        found = self.info.get(name)
        return None if found is None else found.values[name]

    # --- inside

    def _keep(self, sample: Sample) -> None:
        if self.num_samples % self._stride == 0:
            self.samples.append(sample)
        if len(self.samples) > KEEP:
            del self.samples[1::2]
            self._stride *= 2

    def _note(self, sample: Sample) -> None:
        peaks, lows, values = self.peaks, self.lows, sample.values
        for name, value in values.items():
            if name not in peaks:
                peaks[name] = lows[name] = self.firsts[name] = sample
            elif value > peaks[name].values[name]:
                peaks[name] = sample
            elif value < lows[name].values[name]:
                lows[name] = sample
        self.lasts.update(dict.fromkeys(values, sample))


class Recording:
    """Everything that was read: the tracks, and what could not be used.

    `damaged` counts lines that were begun by an engine and cannot be trusted; `notes`
    are sentences for the reader about the input itself; `accesses` counts lines on HTTP
    requests; `named` those whose form alone says which program wrote them.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.engines: Counter[str] = Counter()
        self.tracks: dict[tuple[str, str], Track] = {}
        self.marks: set[str] = set()
        self.lines = 0
        self.damaged = 0
        self.damaged_at: list[Place] = []
        self.unusable: list[str] = []
        self.notes: list[Text] = []
        self.jumps = 0
        self.accesses = 0
        self.named: Counter[str] = Counter()

    def track(self, name: str, source: str = "") -> Track:
        """Return the track of that scheduler of that server, made when first asked for;
        beyond `MOST_TRACKS`, one for all the rest."""
        key = (source, name)
        if key not in self.tracks:
            if len(self.tracks) >= MOST_TRACKS:
                key = ("", "others")
                self.note(say("more than {} schedulers: the rest is one", MOST_TRACKS))
            self.tracks.setdefault(key, Track(key[1], key[0]))
        return self.tracks[key]

    def damage(self, place: Place) -> None:
        """Count a line that an engine began and that cannot be trusted."""
        self.damaged += 1
        if len(self.damaged_at) < 8:
            self.damaged_at.append(place)

    def note(self, text: Text) -> None:
        """Say something about the input, once."""
        if text not in self.notes:
            self.notes.append(text)

    @property
    def engine(self) -> str:
        """The engine that most of the input is from; "unknown" if nothing says so."""
        return self.engines.most_common(1)[0][0] if self.engines else "unknown"

    def settle(self) -> None:
        """Close the input: within a server, give what no scheduler was named for to the
        one that reports, and what it said of itself to all. Changes: the tracks."""
        for source in {source for source, _ in self.tracks}:
            mine = [t for (s, _), t in self.tracks.items() if s == source]
            shared = self.tracks.get((source, ""))
            full = [track for track in mine if track.num_samples]
            if shared is None or shared.num_samples or not full:
                continue
            for track in full:
                track.info = shared.info | track.info
            if len(full) == 1:
                full[0].absorb(shared)
            if len(full) == 1 or not shared.events:
                del self.tracks[source, ""]

    def reporting(self) -> list[Track]:
        """Return the tracks that report a state or an event; if none does, those that
        at least say how the engine was started."""
        told = [t for t in self.tracks.values() if t.num_samples or t.events]
        return told or [t for t in self.tracks.values() if t.info]

    def label(self, track: Track) -> str:
        """Return the track's name for the reader, with its server if there are more."""
        many = len({t.source for t in self.tracks.values()}) > 1
        parts = [track.source if many else "", track.name]
        first_tag = next(iter(track.tags), "")
        return " ".join(part for part in parts if part) or first_tag or "all"
