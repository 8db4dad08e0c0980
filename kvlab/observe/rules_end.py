"""Is the engine down, or does it stand?

A server that died prints nothing more, and its last reports may look healthy; one that
stands shows a queue beside a pool with room, as a cap would. Both come before the rules
that ask why requests wait.
"""

from __future__ import annotations

from itertools import takewhile

from ..record.diagnosis import Quote
from .end_lines import (
    DIED,
    ENDS,
    NO_HOST_ROOM,
    NO_ROOM,
    OUT_OF_MEMORY,
    REFUSED,
    REFUSED_NUMBERS,
    SILENT,
    TRANSFER,
    WATCHDOG,
)
from .finding import Confidence, Finding, no, quote, yes
from .said import Text, joined, say, span
from .samples import Sample
from .signs import PIN, Signs
from .spells import Row

_CAUSES = {
    NO_ROOM: "start_without_room",
    NO_HOST_ROOM: "start_without_host_room",
    REFUSED: "pool_alloc_failed",
    OUT_OF_MEMORY: "device_out_of_memory",
    WATCHDOG: "engine_stalled",
    SILENT: "engine_stalled",
    DIED: "engine_died",
}
_ALIVE = 10
"""Reports after an end, from which the engine was started again and serves."""
_STANDS = 4
"""Last reports without one token, from which the engine stands."""
_STANDS_S = 30.0
_SHOWN = ("running", "queue", "usage", "prompt_tps", "gen_tps")


def ended(signs: Signs) -> Finding | None:
    """Does the engine say that it cannot start, or cannot go on?"""
    kind = _kind(signs)
    if kind is None or is_late(signs):
        return None
    return _told(signs, kind)


def died(signs: Signs) -> Finding | None:
    """Does an engine that served say that it ended, and nothing else limited it?

    A server that is stopped may print the same words, so what its reports show comes
    first.
    """
    return _told(signs, DIED) if is_late(signs) else None


def is_late(signs: Signs) -> bool:
    """Say whether all that the engine says of its end is that it came, after reports
    of its state."""
    tracks = signs.recording.tracks.values()
    served = any(t.num_samples for t in tracks if t.source == signs.track.source)
    return served and _kind(signs) == DIED


def is_told(signs: Signs) -> bool:
    """Say whether a rule speaks where reports are few: of an end, of transfers that
    failed, or of loads that brought less than they should."""
    events = signs.track.events
    return is_late(signs) or TRANSFER in events or "l2_short" in events


def transfers(signs: Signs) -> Finding | None:
    """Between prefill and decode: were requests lost because their KV never came?

    A full pool makes them late as well, so what the reports show comes first.
    """
    told = [*signs.track.events.get(TRANSFER, ())]
    if not told:
        return None
    waited = max((s.values.get("waited_s", 0.0) for s in told), default=0.0)
    return yes(
        "kv_transfer_failed",
        say(
            "the engine says so: {}{}",
            TRANSFER,
            say(" in {} lines, of its ranks or again", signs.track.count[TRANSFER]),
        ),
        *([say("requests were given up after {} s", waited)] if waited else []),
        _state(signs),
        quotes=[_said(sample) for sample in (told[0], *told[1:][-1:])]
        + [quote(signs.track.lasts.get("usage"), *_SHOWN)],
        confidence="certain",
    )


def _kind(signs: Signs) -> str | None:
    events = signs.track.events
    came = (kind for kind in ENDS if events.get(kind))
    return next((k for k in came if k != SILENT or not _goes_on(signs)), None)


def _goes_on(signs: Signs) -> bool:
    """Say whether tokens are made after the last word of a worker that is silent."""
    said = signs.track.events[SILENT][-1]
    later = [s.values for s in signs.track.samples if _is_after(s, said)]
    return any(v.get("prompt_tps") or v.get("gen_tps") for v in later)


def _told(signs: Signs, kind: str) -> Finding:
    told = [*signs.track.events[kind]]
    cause = _CAUSES[kind]
    since = [s for s in signs.track.samples if _is_after(s, told[-1])]
    if len(since) >= _ALIVE:
        return no(
            cause,
            say(
                "{} at {}, but {} reports come after it: it was started again",
                kind,
                told[-1].place,
                len(since),
            ),
        )
    times = (
        "" if len(told) == 1 else say(" in {} lines, of its ranks or again", len(told))
    )
    return yes(
        cause,
        say("the engine says so: {}{}", kind, times),
        *_numbers([*told, *signs.track.events.get(REFUSED_NUMBERS, ())]),
        *([_COMPILES] if kind == SILENT and signs.track.last("usage") is None else []),
        _state(signs),
        quotes=[_said(sample) for sample in (told[0], *told[1:][-1:])]
        + [quote(signs.track.lasts.get("usage"), *_SHOWN)],
        confidence=_how_sure(kind, len(told)),
    )


def _state(signs: Signs) -> Text:
    usage = signs.track.last("usage")
    if usage is None:
        return "no report of its state comes before"
    return say(
        "its last report before shows usage {}, {} running, {} waiting",
        usage,
        signs.track.last("running") or 0,
        signs.track.last("queue") or 0,
    )


_COMPILES = (
    "compiling kernels at the start, or a very long prefill, looks the same and ends "
    "by itself"
)


def _how_sure(kind: str, count: int) -> Confidence:
    if kind != SILENT:
        return "certain"
    return "likely" if count > 1 else "possible"


def _is_after(sample: Sample, end: Sample) -> bool:
    if sample.place.file == end.place.file:
        return sample.place > end.place
    return None not in (sample.time, end.time) and (sample.time or 0) > (end.time or 0)


def _said(sample: Sample) -> Quote:
    return Quote(sample.kind, str(sample.place), sample.time)


_UNITS = (
    ("needed_gib", "one request of full length needs {} GiB of KV"),
    ("available_gib", "{} GiB are left for KV"),
    ("asked_tokens", "the longest request may have {} tokens"),
    ("fits_tokens", "{} tokens would fit"),
    ("tried_gib", "{} GiB were asked for"),
    ("free_gib", "{} GiB were free"),
    ("timeout_s", "no step ended for {} s"),
    ("profiled_tokens", "by its own count {} tokens are left for KV"),
    ("wanted_tokens", "{} tokens were asked for"),
    ("free_tokens", "{} tokens were free or evictable"),
    ("host_wanted_gb", "{} GB of host memory were asked for"),
    ("host_free_gb", "{} GB of it were free"),
)


def _numbers(told: list[Sample]) -> list[Text]:
    """Return what the engine said in numbers, as one sentence; none if it did not."""
    said = {name: value for sample in told for name, value in sample.values.items()}
    parts = [say(text, said[name]) for name, text in _UNITS if name in said]
    return [joined("; ", parts)] if parts else []


def stands(signs: Signs) -> Finding | None:
    """Do requests run to the very end of the input without one token made?"""
    quiet = _quiet_end(signs)
    if len(quiet) < 2:
        return None
    first, last = quiet[0], quiet[-1]
    seconds = _seconds(quiet)
    full = last.usage >= PIN
    least = _STANDS_S * (3 if full else 1)
    if len(quiet) < _STANDS or (seconds is not None and seconds < least):
        return no("engine_stalled", say("only {} reports without a token", len(quiet)))
    during = "" if seconds is None else say(" over {} s", seconds)
    return yes(
        "engine_stalled",
        say(
            "{} requests run, and the last {} reports{} show not one token made, of"
            " prompts or answers",
            last.running or 0,
            len(quiet),
            during,
        ),
        say("usage stays at {}: ", last.usage)
        + ("a full pool still makes tokens" if full else "the pool has room")
        + say("; {} wait", span(first.queue, last.queue)),
        quotes=[quote(row.sample, *_SHOWN) for row in (first, last)],
    )


def _seconds(rows: list[Row]) -> float | None:
    start, stop = rows[0].sample.time, rows[-1].sample.time
    return None if start is None or stop is None else stop - start


def _quiet_end(signs: Signs) -> list[Row]:
    """Return the last reports in which requests run and no token is made."""

    def is_quiet(row: Row) -> bool:
        values = row.sample.values
        made = [values.get("prompt_tps"), values.get("gen_tps")]
        return bool(row.running) and made == [0.0, 0.0]

    if signs.kind == "metrics":
        return _quiet_scrapes(signs)
    return [*takewhile(is_quiet, reversed(signs.rows))][::-1]


def _quiet_scrapes(signs: Signs) -> list[Row]:
    """Return the last scrapes between which neither token counter moved."""
    names = ("prompt_total", "generated_total")
    rows = [
        r for r in signs.rows if r.running and all(n in r.sample.values for n in names)
    ]
    if not rows or signs.rows[-1] is not rows[-1]:
        return []
    last = [rows[-1].sample.values[name] for name in names]
    same = takewhile(
        lambda row: [row.sample.values[name] for name in names] == last, reversed(rows)
    )
    return [*same][::-1]
