"""Does the account lose tokens, count them twice, or hold them for nobody?

Memory added to a leak is lost like the rest. Two kinds of proof: the engine's own dump
of an account that does not add up, and tokens in use with nothing running or waiting.
"""

from __future__ import annotations

from itertools import pairwise

from ..record.diagnosis import Quote
from .end_lines import WATCHDOG
from .finding import Finding, no, quote, yes
from .said import say
from .samples import Sample
from .signs import IDLE, Signs
from .spells import Row

_WRONG_SHOWN = ("compared", "wrong", "L1 slot", "L2 slot", "written by event")
_PAGES = (256, 128, 64, 32, 16)


def wrong_slots(signs: Signs) -> Finding | None:
    """In a run whose contents were compared: do slots hold another prefix?"""
    seen = [*signs.track.events.get("wrong slots", ())]
    if not seen:
        return None
    first = seen[0].values
    slots = [*signs.track.events.get("wrong slot", ())]
    return yes(
        "wrong_slots",
        say(
            "{} of {} slots hold another prefix than their node or request has "
            "there, and whoever matches it reads them",
            first["wrong"],
            first["compared"],
        ),
        *([say("{} comparisons found some", len(seen))] if len(seen) > 1 else []),
        quotes=[quote(sample, *_WRONG_SHOWN) for sample in (seen[0], *slots[:3])],
        confidence="certain",
    )


def account(signs: Signs) -> Finding | None:
    """Judge the accounts that the engine printed: the sum against the total."""
    dumps = [
        sample
        for kind, kept in signs.track.events.items()
        if kind.startswith("account:")
        for sample in kept
    ]
    if not dumps:
        return None
    dumps.sort(key=lambda sample: not sample.values["account_delta"])
    for sample in dumps:
        if (found := _judge(signs, sample)) is not None:
            return found
    if said := [s for s in dumps if s.values["account_said_leak"]]:
        return yes(
            "input_damaged",
            "the engine reports a leak, and each account that is whole here adds up to "
            "its pool: the one that does not is cut",
            quotes=[_shown(said[0])],
            confidence="certain",
            next=(_WHOLE_DUMP,),
        )
    delta = dumps[0].values["account_delta"]
    if delta:
        return no("leak_undercount", say(_OPEN, -delta))
    return no("leak_overcount", "the engine's account adds up to the pool")


_OPEN = (
    "the account lacks {} tokens, and was not printed by the check for leaks: what "
    "requests hold outside the tree stands nowhere in it"
)


_WHOLE_DUMP = (
    "bring the whole message, all its lines: a hybrid model has an account for each "
    "pool (full, swa, mamba)"
)


def _judge(signs: Signs, sample: Sample) -> Finding | None:
    terms = {k.removeprefix("account_"): v for k, v in sample.values.items()}
    total, delta, protected = terms["total"], terms["delta"], terms["protected"]
    shown = _shown(sample)
    if delta > 0 or (delta and terms["said_leak"]):
        return _unbalanced(sample, delta, shown)
    if protected and terms["said_leak"]:
        return yes(
            "leak_lock_ref",
            say(
                "{} tokens are protected while the check for leaks runs, which is when "
                "nothing runs: a lock was never given back",
                protected,
            ),
            quotes=[shown],
            confidence="certain",
        )
    if terms["session_held"] >= 0.5 * total:
        return yes(
            "sessions_pin_pool",
            say("sessions hold {} of {} tokens", terms["session_held"], total),
            quotes=[shown],
        )
    cached = terms["evictable"] >= 0.9 * total and terms["available"] <= 0.05 * total
    if cached and not terms["said_leak"] and not _is_in_a_step(signs, protected):
        return yes(
            "eviction_stuck",
            say(
                "{} of {} tokens could be evicted, almost none is free, and the engine "
                "stands still",
                terms["evictable"],
                total,
            ),
            quotes=[shown],
        )
    if protected >= 0.5 * total and not signs.track.last("running"):
        return yes(
            "leak_lock_ref",
            say("{} of {} tokens are protected and nothing runs", protected, total),
            quotes=[shown],
        )
    return None


def _is_in_a_step(signs: Signs, protected: float) -> bool:
    """Say whether the watchdog printed the account while a request runs: it has locked
    its prefix. The step hangs, and a tree that fills the pool beside it is usual, as it
    is while the check for leaks runs."""
    return bool(protected) and WATCHDOG in signs.track.events


_SLOTS = {"mamba": "the state pool (mamba)", "request slots": "the request pool"}
"""Pools that are no tokens."""


def _unbalanced(sample: Sample, delta: float, shown: Quote | None) -> Finding:
    pool = sample.kind.removeprefix("account:")
    more = "more" if delta > 0 else "less"
    how = "counted or freed twice" if delta > 0 else "lost"
    if pool in _SLOTS:
        by, of = abs(delta), (sample.values["account_total"], _SLOTS[pool], how)
        text = "the parts of the account are {} {} than the {} slots of {}: {}"
        why = [say(text, by, more, *of)]
    else:
        by_tokens = say("{} tokens", abs(delta))
        text = "the parts of the account are {} {} than the pool: {}"
        why = [say(text, by_tokens, more, how)]
        page = next((size for size in _PAGES if delta % size == 0), None)
        if page is not None:
            why.append(say("that is {} pages of {}", abs(delta) / page, page))
    cause = "leak_overcount" if delta > 0 else "leak_undercount"
    return yes(cause, *why, quotes=[shown], confidence="certain")


def _shown(sample: Sample) -> Quote | None:
    names = ("available", "evictable", "protected", "session_held", "total", "delta")
    return quote(sample, *(f"account_{name}" for name in names))


def sessions(signs: Signs) -> Finding | None:
    """Do idle sessions hold the pool? Nothing is evictable and nothing runs."""
    held = signs.track.last("session_held")
    pool = signs.pool_tokens
    if held is None or not pool:
        return None
    if held < 0.5 * pool or (signs.track.last("running") or 0) > 1:
        return no(
            "sessions_pin_pool",
            say("sessions hold {} of the pool", f"{held / pool:.0%}"),
        )
    return yes(
        "sessions_pin_pool",
        say("sessions hold {} of the pool and nothing runs", f"{held / pool:.0%}"),
        quotes=[
            quote(
                signs.track.lasts["session_held"],
                "session_held",
                "sessions",
                "running",
                "queue",
            )
        ],
    )


def idle(signs: Signs) -> Finding | None:
    """Does usage stay up with zero running and zero waiting?"""
    quiet = _last_quiet(signs.rows)
    if len(quiet) < 2:
        return None
    least = min(quiet, key=lambda row: row.usage)
    gap = min((r.sample.values.get("account_gap", 0.0) for r in quiet), default=0.0)
    pool = signs.pool_tokens or 0.0
    shown = [quote(r.sample, "usage", "running", "queue", "account_gap")
             for r in (quiet[0], quiet[-1])]  # fmt: skip
    if pool and gap >= IDLE * pool:
        return yes(
            "leak_lock_ref",
            say(
                "{} tokens are neither free nor evictable nor used while nothing runs: "
                "protected by locks that were not given back",
                gap,
            ),
            quotes=shown,
        )
    if least.usage < IDLE or quiet[-1].usage < 0.9 * quiet[0].usage:
        return no(
            "leak_idle_usage", say("usage falls to {} when nothing runs", least.usage)
        )
    return yes(
        "leak_idle_usage",
        say(
            "usage stays at {} or more in {} reports with nothing running and "
            "nothing waiting",
            least.usage,
            len(quiet),
        ),
        quotes=shown,
    )


def _last_quiet(rows: list[Row]) -> list[Row]:
    """Return the last stretch of two or more reports in which nothing ran or waited. A
    prefill is work, and so is a copy in flight."""
    stretch: list[Row] = []
    found: list[Row] = []
    for row in rows:
        busy = row.sample.kind in ("prefill", "forward")
        copying = row.sample.values.get("copying", 0.0)
        if row.running == 0 and row.queue == 0 and not busy and not copying:
            stretch.append(row)
            found = stretch if len(stretch) > 1 else found
        else:
            stretch = []
    return found


_TURNED_OVER = 3.0
"""Requests that began, for each that runs, from which most of them have ended."""
_FALL = 0.02
"""A fall of usage below this is rounding."""
_CLIMB = 0.3


def never_falls(signs: Signs) -> Finding | None:
    """In SGLang's log: do requests end without usage ever falling?

    What a request held becomes evictable at its end, and usage does not count that. So
    usage goes down whenever one ends, unless its tokens are lost.
    """
    rows = [row for row in signs.rows if row.running is not None]
    if signs.kind != "log" or signs.engine != "sglang" or len(rows) < 10:
        return None
    usages = [row.usage for row in rows]
    most = max(row.running or 0.0 for row in rows)
    begun = signs.track.sums["new_seqs"]
    climb = usages[-1] - usages[0]
    falls = [before - after for before, after in pairwise(usages)]
    third = len(rows) // 3
    early, late = (
        max(row.running or 0.0 for row in part)
        for part in (rows[:third], rows[-third:])
    )
    if climb < _CLIMB or max(falls) > _FALL or begun < _TURNED_OVER * most:
        return None
    if late > 1.2 * early:
        return None  # more run, so more is held
    return yes(
        "leak_never_falls",
        say(
            "usage climbs from {} to {} in {} reports and never falls, though at "
            "most {} run at a time and {} began: at least {} ended and gave nothing"
            " back",
            usages[0],
            usages[-1],
            len(rows),
            most,
            begun,
            begun - most,
        ),
        quotes=[
            quote(row.sample, "usage", "running", "queue", "tokens")
            for row in (rows[0], rows[len(rows) // 2], rows[-1])
        ],
    )


def stuck(signs: Signs) -> Finding | None:
    """Could nearly everything be evicted, and nothing is?"""
    pool = signs.pool_tokens
    rows = signs.track.with_field("kv_evictable", "queue")
    if not pool or not rows:
        return None
    full = [
        s
        for s in rows
        if s.values["kv_evictable"] >= 0.9 * pool
        and s.values.get("kv_available", pool) <= 0.05 * pool
        and s.values["queue"] > 0
        and s.values.get("running", 0.0) == 0
    ]
    ends = [s.values.get("evicted_total", 0.0) for s in full]
    evicted = ends[-1] - ends[0] if full else 0.0
    if len(full) < 2 or evicted or not signs.stands:
        return no(
            "eviction_stuck",
            say(
                "at most {} of the pool is evictable",
                f"{max(s.values['kv_evictable'] for s in rows) / pool:.0%}",
            )
            + (
                say(", {} tokens were evicted while requests waited", evicted)
                if evicted
                else ""
            ),
        )
    return yes(
        "eviction_stuck",
        say(
            "{} of the pool could be evicted, requests wait, and not one token was "
            "evicted",
            f"{full[-1].values['kv_evictable'] / pool:.0%}",
        ),
        quotes=[
            quote(s, "kv_evictable", "kv_available", "queue", "running")
            for s in (full[0], full[-1])
        ],
    )
