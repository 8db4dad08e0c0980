"""Does the second tier do what it is there for?

L2 only ever saves prefill work; it adds no concurrency. So these rules speak when L1 is
not the limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from .busy_prefill import chunk_tokens
from .finding import Finding, no, quote, usage_text, yes
from .said import Text, joined, say
from .samples import Sample
from .signs import LOW, PIN, RARE, Signs
from .spells import Row

FEW = 0.1
"""Running requests below this part of the most that ever ran are few."""
_MOSTLY_HITS = 0.5
_SOME_HITS = 0.1
"""Hit rate from which L1 serves what returns: what it evicted need not come back."""
_SHOWN = ("usage", "queue", "running", "copying", "l2_fraction")


def copies_hold_pool(signs: Signs) -> Finding | None:
    """Is the pool full of pages that wait for their copy, while hardly anything runs?

    A page stays locked until it is written to L2, and is taken before it is loaded: a
    link that does not keep up fills L1 with pages that no request uses.
    """
    full, few = _full_with_few(signs)
    if len(full) < 3 or not signs.stands:
        return None
    moves = signs.track.high("l2_fraction") or signs.track.growth("backup_total")
    held = [row for row in full if row.sample.values.get("copying", 0.0) >= 0.5]
    if signs.kind == "run" and len(held) < 0.3 * len(full):
        return no("l2_copies_hold_pool", "copies in flight do not fill the pool")
    if not few or not moves or not _mostly(few, full):
        return None
    longest = max(full, key=lambda row: row.queue)
    seen = [row.sample.values["copying"] for row in held]
    return yes(
        "l2_copies_hold_pool",
        _few_text(signs, full, few),
        say("copies in flight hold up to {} of it", f"{max(seen):.0%}")
        if seen
        else "L2 is on: "
        "pages that wait to be written, or were taken to be loaded, are locked",
        "the link between L1 and L2 does not keep up; more L1 would fill as well",
        quotes=[quote(row.sample, *_SHOWN) for row in (few[0], longest, few[-1])],
        confidence="certain" if seen else "likely",
    )


def held_by_others(signs: Signs) -> Finding | None:
    """Is the pool full though hardly anything runs, and nothing here says of what?"""
    full, few = _full_with_few(signs)
    if not few or len(full) < 3 or not signs.stands or not _mostly(few, full):
        return None
    return yes(
        "waiting_below_pin",
        _few_text(signs, full, few),
        "so something else holds it: copies to a host tier that lag, locks that were "
        "not given back, or one very long prompt; this input has no line on them",
        quotes=[quote(row.sample, *_SHOWN) for row in (few[0], few[-1])],
        next=(
            "bring two scrapes of /metrics while it lasts: hicache_* counters show a "
            "host tier and its copies, kv_used_tokens what is locked",
            "if a host tier is on (--enable-hierarchical-cache), measure its link or "
            "switch it off once and compare",
        ),
    )


def _full_with_few(signs: Signs) -> tuple[list[Row], list[Row]]:
    """Return the reports of a full pool with a queue, and those of them in which too
    few run to fill it."""
    most = signs.track.high("running") or 0.0
    context, pool = signs.track.known("context_len"), signs.pool_tokens
    full = [r for r in signs.spell.rows if r.usage >= PIN and r.running is not None]

    def is_few(running: float) -> bool:
        if context and pool and (running + 1) * context < 0.5 * pool:
            return True
        return running <= (max(1.0, FEW * most) if most >= 5 else 0.0)

    return full, [r for r in full if r.running is not None and is_few(r.running)]


def _mostly(few: list[Row], full: list[Row]) -> bool:
    """Are those few most of the time? An engine that stands prints nothing, so a report
    counts as long as it is the last, where there is a clock."""
    times = [row.sample.time for row in full]
    if any(time is None for time in times):
        return len(few) >= 0.4 * len(full)
    known = [time for time in times if time is not None]
    spans = {
        id(row): after - before
        for row, before, after in zip(full, known, known[1:], strict=False)
    }
    return sum(spans.get(id(row), 0.0) for row in few) >= 0.4 * sum(spans.values())


def _few_text(signs: Signs, full: list[Row], few: list[Row]) -> Text:
    ran = max(row.running or 0.0 for row in few)
    most = signs.track.high("running") or 0.0
    return say(
        "the pool is full and {} wait, yet in {} of {} such reports at most {} "
        "run, of {} at other times: running requests do not fill it",
        signs.queue_max,
        len(few),
        len(full),
        ran,
        most,
    )


def stands_for_loads(signs: Signs) -> Finding | None:
    """In a run on a clock: do prefills stand longer for copies from L2 than they
    compute, while L1 has room?"""
    track = signs.track
    stood, worked = track.growth("load_ns_total"), track.growth("compute_ns_total")
    if not stood or not worked:
        return None
    said = say(
        "prefills stood {} s for L2 loads and computed {} s",
        f"{stood / 1e9:,.0f}",
        f"{worked / 1e9:,.0f}",
    )
    if stood < worked or signs.crowded >= PIN:
        return no("l2_load_serialised", said)
    longest = track.peaks.get("queue")
    return yes(
        "l2_load_serialised",
        say("{}; {}", said, usage_text(signs)),
        quotes=[quote(longest, *_SHOWN), quote(track.lasts.get("usage"), *_SHOWN)],
        confidence="certain",
    )


def loads_unseen(signs: Signs) -> Finding | None:
    """In a log, which prints no load: do requests wait beside room and idle compute
    while nearly all of their prompts come from the cache, and L2 is on?"""
    track, hits = signs.track, signs.hit_rate
    if track.known("enable_hierarchical_cache") != 1.0 or hits is None:
        return None
    if signs.kind != "log" or signs.throws or not signs.stands:
        return None
    sizes = [s.values["new_tokens"] for s in track.samples if s.kind == "prefill"]
    chunk = chunk_tokens(signs)
    if hits < _MOSTLY_HITS or signs.crowded >= LOW or len(sizes) < 3:
        return None
    if fmean(sizes) > 0.5 * chunk:
        return None
    return yes(
        "l2_load_serialised",
        say(
            "{} wait, {}, and a prefill computes {} tokens on average, of a chunk "
            "of {}: neither room nor compute is short",
            signs.longest.queue,
            usage_text(signs),
            round(fmean(sizes)),
            chunk,
        ),
        say(
            "L2 is on and {} of the prompt tokens are hits: loads over a slow link "
            "fit this; the log does not print them, so it is not proved",
            f"{hits:.1%}",
        ),
        quotes=[
            quote(row.sample, *_SHOWN, "new_tokens", "cached_tokens")
            for row in (signs.waits[0], signs.longest)
        ],
        confidence="possible",
        next=(
            "take two /metrics scrapes: growth of load_back_tokens_total times the "
            "bytes of a token, over the seconds between, is what the link carries "
            "(kvlab capacity MODEL says the bytes)",
            "measure the link (PCIe width, NUMA, pinned memory, hicache_io_backend, "
            "hicache_mem_layout), or run once without the host tier and compare TTFT",
            "if hardly anything is loaded back, reservations are the other "
            "explanation: lower schedule_conservativeness or send a true "
            "max_new_tokens",
        ),
    )


def load_serialised(signs: Signs) -> Finding | None:
    """Do requests wait, deferred, behind L2 loads while L1 has room?"""
    most = signs.track.high("deferred") or signs.track.high("kv_fetch")
    if most is None:
        return None
    rows = [
        r
        for r in signs.waits
        if max(r.sample.values.get(n, 0.0) for n in ("deferred", "kv_fetch"))
        >= 0.5 * r.queue
    ]
    if len(rows) < max(2, 0.4 * len(signs.waits)) or signs.crowded >= PIN:
        return no(
            "l2_load_serialised",
            say("at most {} deferred, usage at most {}", most, signs.crowded),
        )
    shown = ("deferred", "kv_fetch", "queue", "usage", "running")
    return yes(
        "l2_load_serialised",
        say(
            "of {} waiting, up to {} wait for L2 loads in {} reports; {}",
            signs.queue_max,
            most,
            len(rows),
            usage_text(signs),
        ),
        quotes=[quote(r.sample, *shown) for r in (rows[0], rows[-1])],
    )


def host_pressure(signs: Signs) -> Finding | None:
    """Does the host tier drop or refuse what it is given?"""
    track = signs.track
    dropped = track.growth("dropped_total")
    refused = (track.growth("l2_refusals_total") or 0.0) + track.count["l2_refused"]
    if dropped is None and not refused:
        return None
    written = track.growth("backup_total") or 0.0
    if (dropped or 0.0) <= RARE * written and refused <= RARE * track.num_samples:
        return no("l2_host_pressure", _pressure(dropped, refused))
    quotes = [quote(track.peaks.get("dropped_total"), "dropped_total", "l2_fraction")]
    quotes += [quote(s) for s in list(track.events.get("l2_refused", ()))[:2]]
    quotes.append(quote(track.lasts.get("l2_refusals_total"), "l2_refusals_total"))
    return yes("l2_host_pressure", _pressure(dropped, refused), quotes=quotes)


def _pressure(dropped: float | None, refused: float) -> Text:
    what = say("{} tokens were dropped", dropped) if dropped else ""
    said = say("{} allocations were refused", refused) if refused else ""
    if not dropped and not refused:
        return "the host tier dropped nothing"
    return say("{} by the host tier", joined(" and ", [t for t in (what, said) if t]))


def never_match(signs: Signs) -> Finding | None:
    """Is the second tier asked and never hits?"""
    track, rate = signs.track, signs.external_hit_rate
    logged = track.high("external_hit_rate_logged")
    if not signs.lookups and logged is None:
        return None
    if rate or (logged or 0.0) > 0.01:
        return no(
            "l2_keys_never_match",
            say("L2 gives {}", f"{max(rate or 0, logged or 0):.1%}"),
        )
    asked = track.count["lookup"]
    if not signs.lookups and track.num_samples < 3:
        return None
    if signs.lookups and asked and asked < 3:
        return no("l2_keys_never_match", say("only {} lookups", asked))
    tokens = track.sums["stored_tokens"]
    stored = tokens or track.growth("store_bytes_total") or 0.0
    unit = "tokens" if tokens else "bytes"
    what = (
        say("{} tokens were asked of L2 and none was found", signs.lookups)
        if signs.lookups
        else "the external hit rate is 0 throughout"
    )
    while_ = say(", while {} {} were stored", stored, unit) if stored else ""
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
        say("{}{}: the keys never match, or nothing ever comes back", what, while_),
        quotes=quotes,
    )


def never_read(signs: Signs) -> Finding | None:
    """Do backups grow while nothing is ever loaded back?"""
    track = signs.track
    written = track.growth("backup_total") or track.growth("store_bytes_total")
    if not written or signs.comes_back is None:
        return None
    if signs.comes_back:
        return no(
            "l2_written_never_read",
            say("{} of what was written came back from L2", f"{signs.comes_back:.0%}"),
        )
    evicted = track.growth("evicted_total")
    hit_rate = signs.hit_rate
    if evicted == 0 or (hit_rate is not None and hit_rate >= _SOME_HITS):
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
        say("{} {} were backed up to L2 and next to none loaded back", written, unit),
        *([say("L2 is {} full", f"{share:.0%}")] if share is not None else []),
        *([say("{} tokens were evicted from L1", evicted)] if evicted else []),
        *(
            [say("the hit rate is {}", f"{hit_rate:.1%}")]
            if hit_rate is not None
            else []
        ),
        quotes=quotes,
    )


def _ends(events: Iterable[Sample]) -> list[Sample]:
    """Return the first and the last."""
    kept = list(events)
    return kept[:1] + kept[1:][-1:]
