"""Does the second tier do what it is there for?

L2 only ever saves prefill work; it adds no concurrency. So these rules speak when L1 is
not the limit.
"""

from __future__ import annotations

from collections.abc import Iterable

from .finding import Finding, no, number, quote, yes
from .samples import Sample
from .signs import PIN, Signs


def load_serialised(signs: Signs) -> Finding | None:
    """Do requests wait, deferred, behind L2 loads while L1 has room?"""
    most = signs.track.high("deferred") or signs.track.high("kv_fetch")
    if most is None:
        return None
    rows = [
        r
        for r in signs.queued
        if max(r.sample.values.get(n, 0.0) for n in ("deferred", "kv_fetch"))
        >= 0.5 * r.queue
    ]
    if len(rows) < max(2, 0.4 * len(signs.queued)) or signs.usage_max >= PIN:
        return no(
            "l2_load_serialised",
            f"at most {number(most)} deferred, usage at most {number(signs.usage_max)}",
        )
    shown = ("deferred", "kv_fetch", "queue", "usage", "running")
    return yes(
        "l2_load_serialised",
        f"of {number(signs.queue_max)} waiting, up to {number(most)} wait for L2 loads "
        f"in {len(rows)} reports, while usage is at most {number(signs.usage_max)}",
        quotes=[quote(r.sample, *shown) for r in (rows[0], rows[-1])],
    )


def host_pressure(signs: Signs) -> Finding | None:
    """Does the host tier drop or refuse what it is given?"""
    track = signs.track
    dropped = track.growth("dropped_total")
    refused = (track.growth("l2_refusals_total") or 0.0) + track.count["l2_refused"]
    if dropped is None and not refused:
        return None
    if not dropped and not refused:
        return no("l2_host_pressure", "the host tier dropped nothing")
    quotes = [quote(track.peaks.get("dropped_total"), "dropped_total", "l2_fraction")]
    quotes += [quote(s) for s in list(track.events.get("l2_refused", ()))[:2]]
    quotes.append(quote(track.lasts.get("l2_refusals_total"), "l2_refusals_total"))
    what = f"{number(dropped)} tokens were dropped" if dropped else ""
    said = f"{number(refused)} allocations were refused" if refused else ""
    return yes(
        "l2_host_pressure",
        " and ".join(part for part in (what, said) if part) + " by the host tier",
        quotes=quotes,
    )


def never_match(signs: Signs) -> Finding | None:
    """Is the second tier asked and never hits?"""
    track, rate = signs.track, signs.external_hit_rate
    logged = track.high("external_hit_rate_logged")
    if not signs.lookups and logged is None:
        return None
    if rate or (logged or 0.0) > 0.01:
        return no("l2_keys_never_match", f"L2 gives {max(rate or 0, logged or 0):.1%}")
    asked = track.count["lookup"]
    if not signs.lookups and track.num_samples < 3:
        return None
    if signs.lookups and asked and asked < 3:
        return no("l2_keys_never_match", f"only {asked} lookups")
    stored = track.sums["stored_tokens"] or track.growth("store_bytes_total") or 0.0
    what = (
        f"{number(signs.lookups)} tokens were asked of L2 and none was found"
        if signs.lookups
        else "the external hit rate is 0 throughout"
    )
    while_ = f", while {number(stored)} were stored" if stored else ""
    quotes = [quote(s, "lookup_tokens", "lookup_hits")
              for s in _ends(track.events.get("lookup", ()))]  # fmt: skip
    shown = (
        "external_hits_total",
        "external_queries_total",
        "external_hit_rate_logged",
    )
    quotes.append(quote(track.samples[-1] if track.samples else None, *shown))
    return yes(
        "l2_keys_never_match",
        what + while_ + ": the keys never match, or nothing ever comes back",
        quotes=quotes,
    )


def never_read(signs: Signs) -> Finding | None:
    """Do backups grow while nothing is ever loaded back?"""
    track = signs.track
    written = track.growth("backup_total") or track.growth("store_bytes_total")
    if not written:
        return None
    read = (
        (track.growth("load_back_total") or 0.0)
        + (track.growth("load_bytes_total") or 0.0)
        + (track.growth("host_cached_total") or 0.0)
    )
    if read:
        return no("l2_written_never_read", f"{number(read)} came back from L2")
    evicted = track.growth("evicted_total")
    hit_rate = signs.hit_rate
    if evicted == 0 or (hit_rate is not None and hit_rate >= 0.5):
        return no(
            "l2_written_never_read",
            "L1 still holds what is asked for, so nothing needs to come back",
        )
    quotes = [
        quote(side.get(name), name, "load_back_total", "l2_fraction")
        for name in ("backup_total", "store_bytes_total")
        for side in (track.firsts, track.lasts)
    ]
    unit = "bytes" if "store_bytes_total" in track.growths else "tokens"
    share = track.high("l2_fraction")
    return yes(
        "l2_written_never_read",
        f"{number(written)} {unit} were backed up to L2 and none was loaded back",
        *([f"L2 is {share:.0%} full"] if share is not None else []),
        *([f"{number(evicted)} tokens were evicted from L1"] if evicted else []),
        *([f"the hit rate is {hit_rate:.1%}"] if hit_rate is not None else []),
        quotes=quotes,
    )


def _ends(events: Iterable[Sample]) -> list[Sample]:
    """Return the first and the last."""
    kept = list(events)
    return kept[:1] + kept[1:][-1:]
