"""Which curves make the timeline of a diagnosis, and where does its evidence stand?

Usage, queue, running, what was thrown out, hit rate, L2's fill and the time to first
token, for each scheduler, where the input has them. Over time where all samples have a
time, else over the number of the report.
Left out: drawing (views/diagnosis_page.py).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from msgspec.structs import replace

from ..record.diagnosis import Lane, Quote
from .facts import p99_bucket
from .rules_cache import windows
from .said import Lang, to
from .samples import Sample, Track
from .verdict import Judgement, Opinion

MOST_TRACKS = 8
MOST_POINTS = 600
_CURVES = (
    ("usage", "usage", 1.0),
    ("queue", "queue", None),
    ("pre-allocation queue", "prealloc", None),
    ("deferred", "deferred", None),
    ("running", "running", None),
    ("L2 fill", "l2_fraction", 1.0),
)


class Timeline(NamedTuple):
    """The curves, the x of each quote that has one, and whether x is in seconds."""

    lanes: tuple[Lane, ...]
    marks: tuple[tuple[float, str], ...]
    timed: bool


def timeline(
    found: Judgement, names: dict[int, str], quotes: tuple[Quote, ...], lang: Lang
) -> Timeline:
    """Return the curves of the tracks; `names` gives each track's by its `id`."""
    about, *rest = [found.about, *(o for o in found.opinions if o is not found.about)]
    shown = [about, *rest[: MOST_TRACKS - 1]]
    samples = [s for o in shown for s in o.track.samples]
    timed = bool(samples) and all(s.time is not None for s in samples)
    start = min((s.time or 0.0 for s in samples), default=0.0) if timed else 0.0
    lanes: list[Lane] = []
    where: dict[str, float] = {}
    for opinion in shown:
        axis = _axis(opinion.track, start if timed else None)
        if opinion is about:
            where = {str(s.place): x for s, x in axis}
        lanes += _lanes(opinion, names[id(opinion.track)], axis)
    lanes = [replace(lane, label=to(lane.label, lang)) for lane in lanes]
    return Timeline(tuple(lanes), _marks(quotes, where, start, timed), timed)


def _axis(track: Track, start: float | None) -> list[tuple[Sample, float]]:
    return [
        (s, float(at) if start is None else (s.time or start) - start)
        for at, s in enumerate(track.samples)
    ]


def _lanes(opinion: Opinion, name: str, axis: list[tuple[Sample, float]]) -> list[Lane]:
    lanes = []
    for label, field, top in _CURVES:
        points = [(x, s.values[field]) for s, x in axis if field in s.values]
        if points and (field == "usage" or any(value for _, value in points)):
            lane = _lane(label, name, points, top)
            lanes.append(replace(lane, pool=field == "usage"))
    at = {str(s.place): x for s, x in axis}
    thrown = _thrown(opinion, axis)
    if len(thrown) > 1 and thrown[-1][1]:
        lanes.append(_lane(f"{opinion.signs.word}s so far", name, thrown, None))
    rates = [
        (at[str(w.sample.place)], w.cached / w.total) for w in windows(opinion.signs)
    ]
    if len(rates) > 1:
        lanes.append(_lane("hit rate", name, rates, 1.0))
    scrapes = [(s, x) for s, x in axis if s.kind == "scrape"]
    slow = [
        (x, bucket[1])
        for (before, _), (after, x) in pairwise(scrapes)
        if (bucket := p99_bucket(before, after)) and bucket[1] != float("inf")
    ]
    if slow:
        lanes.append(_lane("TTFT p99 at most (s)", name, slow, None))
    return lanes


def _thrown(
    opinion: Opinion, axis: list[tuple[Sample, float]]
) -> list[tuple[float, float]]:
    """Return the growing count of retractions or preemptions."""
    points, total = [], 0.0
    base: float | None = None
    for sample, x in axis:
        values = sample.values
        total += values.get("preemptions", 0.0)
        for name in ("retracted_total", "preemptions_total"):
            if name in values:
                base = values[name] if base is None else base
                total = max(total, values[name] - base)
        points.append((x, total))
    events = opinion.track.events.get("retract", ())
    if not events or not axis:
        return points
    counted = []
    for sample, x in axis:
        before = [e for e in events if _is_before(e, sample)]
        counted.append((x, sum(e.values["retracted"] for e in before)))
    last = sum(e.values["retracted"] for e in events)
    return [*counted, (axis[-1][1], last)]


def _is_before(event: Sample, sample: Sample) -> bool:
    """By time where both have one: a log may have its newest line first."""
    if event.time is None or sample.time is None or event.time == sample.time:
        return event.place <= sample.place
    return event.time < sample.time


def _lane(
    label: str, name: str, points: list[tuple[float, float]], top: float | None
) -> Lane:
    step = max(1, len(points) // MOST_POINTS)
    kept = [max(points[at : at + step], key=lambda p: p[1])
            for at in range(0, len(points), step)]  # fmt: skip
    xs, values = zip(*kept, strict=True)
    return Lane(label, name, xs, values, top or max(*values, 1.0))


def _marks(
    quotes: tuple[Quote, ...], where: dict[str, float], start: float, timed: bool
) -> tuple[tuple[float, str], ...]:
    marks = []
    for quote in quotes:
        x = where.get(quote.place)
        if x is None and timed and quote.time is not None:
            x = quote.time - start
        if x is not None:
            marks.append((x, f"{quote.place}: {quote.text}"))
    return tuple(marks)
