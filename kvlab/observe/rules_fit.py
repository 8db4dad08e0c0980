"""Which part of L1 is the limit, where it is not the whole?

One request that is larger than the pool, or larger than what is left of it; the slots
of recurrent states; the room before a decode worker's pool.
Left out: a pool that is full of many (rules_pool.py).
"""

from __future__ import annotations

from statistics import fmean, median

from ..record.diagnosis import Quote
from .finding import Finding, no, quote, yes
from .said import say, span
from .signs import LOW, PIN, Signs
from .spells import Row

_SHOWN = ("usage", "queue", "running", "retracted", "preemptions", "prealloc")
IDLE_POOL = 0.1


def exceeds_pool(signs: Signs) -> Finding | None:
    """Is one request larger than the pool: thrown out again and again, or never let
    in?"""
    if signs.track.known("refused_too_long"):
        place = signs.track.info["refused_too_long"]
        return yes(
            "request_exceeds_pool",
            "the engine says that a request is longer than the pool",
            quotes=[Quote("refused: longer than the pool", str(place.place))],
            confidence="certain",
        )
    alone = [r for r in signs.pinned if r.running is not None and r.running <= 1]
    thrown = signs.thrown_out or 0.0
    if len(alone) >= max(2, 0.9 * len(signs.pinned)) and thrown >= 2:
        return yes(
            "request_exceeds_pool",
            say(
                "one running request alone fills the pool (usage {} or more in {} "
                "reports) and is thrown out {} times",
                PIN,
                len(alone),
                thrown,
            ),
            quotes=[quote(r.sample, *_SHOWN) for r in (alone[0], alone[-1])],
        )
    nobody = [r for r in signs.waits if _is_nobody(r) and r.usage < IDLE_POOL]
    if len(nobody) >= 3 and len(nobody) >= 0.8 * len(signs.waits):
        return yes(
            "request_exceeds_pool",
            say(
                "nothing runs, the pool is empty, and {} wait in {} reports: the next "
                "request is never let in",
                nobody[-1].queue,
                len(nobody),
            ),
            "a scheduler that is stuck looks the same",
            quotes=[quote(r.sample, *_SHOWN) for r in (nobody[0], nobody[-1])],
            confidence="possible",
            next=(
                "compare the request that waits longest (input + max_new_tokens) with "
                "the pool: if it is larger, lower context_len / max_model_len or the "
                "client's max tokens, or raise the pool",
                "if it would fit, the scheduler is stuck: take a stack dump of it "
                "(py-spy dump --pid PID), restart, and report the release; with a host "
                "tier or a KV connector, try without it",
            ),
        )
    if signs.queued:
        return no("request_exceeds_pool", "several requests run side by side")
    return None


def _is_nobody(row: Row) -> bool:
    """Say whether nothing runs; the requests of a prefill do, and do not count yet."""
    return row.running == 0 and not row.sample.values.get("new_seqs")


def pd_backlog(signs: Signs) -> Finding | None:
    """On a decode worker: does the backlog stand before the pool, not in the queue?"""
    track = signs.track
    if "prealloc" not in track.peaks and "transfer" not in track.peaks:
        return None
    most = (track.high("prealloc") or 0) + (track.high("retracted_queue") or 0)
    full = signs.crowded + (track.high("usage_prealloc") or 0.0)
    if most < 2 or not signs.stands or full < PIN - 0.05:
        return no(
            "pd_decode_backlog",
            say(
                "at most {} wait before the decode pool, usage at most {}",
                most,
                signs.usage_max,
            ),
        )
    return yes(
        "pd_decode_backlog",
        say(
            "the queue reads {}, but {} wait for pre-allocation, {} for their "
            "transfer and {} were retracted",
            track.high("queue") or 0,
            track.high("prealloc") or 0,
            track.high("transfer") or 0,
            track.high("retracted_queue") or 0,
        ),
        say("usage reaches {}", signs.usage_max),
        quotes=[
            quote(
                track.peaks.get(name),
                "usage",
                "queue",
                "prealloc",
                "transfer",
                "retracted_queue",
            )
            for name in ("prealloc", "retracted_queue", "usage")
        ],
    )


_MANY = 8
"""Requests in transfer up to which they are on their way and no backlog."""


def transfer_waits(signs: Signs) -> Finding | None:
    """On a decode worker with room: do requests stand in the transfer queue?"""
    samples = signs.track.with_field("transfer", "usage")
    held = [sample.values["transfer"] for sample in samples]
    ran = [sample.values.get("running", 0.0) for sample in samples]
    if len(held) < 3 or median(held) <= max(_MANY, median(ran)) or held[-1] <= _MANY:
        return None
    return yes(
        "waiting_below_pin",
        say(
            "{} requests are in the transfer queue while {} run and usage is at most "
            "{}: this worker has room, and its queue reads {}",
            span(min(held), max(held)),
            span(min(ran), max(ran)),
            signs.usage_max,
            signs.track.high("queue") or 0.0,
        ),
        "that queue counts those whose prompt is not computed yet as well: it does not "
        "say whether prefill or the link is late",
        quotes=[quote(s, "transfer", *_SHOWN) for s in (samples[0], samples[-1])],
        next=(
            "look at the prefill workers: requests in their queue mean that prefill is "
            "late, many in flight beside a short queue mean the link",
            "if the number stands still for minutes, transfers never end: look for "
            "KVTransferError and time-outs on both sides; update, restart",
        ),
    )


def next_does_not_fit(signs: Signs) -> Finding | None:
    """Do a few large requests leave less free than one of them holds?

    A pool need not be pinned then: at 0.9 with four running, each holds more than what
    is free.
    """
    rows = [row for row in signs.waits if row.running]
    if len(rows) < 3 or not signs.stands or median(r.usage for r in rows) < LOW:
        return None
    ran = max(row.running or 0.0 for row in rows)
    held = [(1 - row.usage, row.usage / (row.running or 1.0)) for row in rows]
    tight = [each for free, each in held if free < each]
    if len(tight) < 0.8 * len(rows) or ran < 2 or (signs.cap and ran >= signs.cap):
        return None
    longest = max(rows, key=lambda row: row.queue)
    return yes(
        "waiting_below_pin",
        say(
            "{} wait, {} run and hold about {} of the pool each, and less than that"
            " is free (usage {}): another of their size does not fit, so L1 is near"
            " its limit though it is not full",
            longest.queue,
            ran,
            round(fmean(tight), 3),
            median(r.usage for r in rows),
        ),
        "a cap on running requests of just that number would look the same",
        quotes=[quote(row.sample, *_SHOWN) for row in (rows[0], longest)],
        next=(
            "compare the prompts that wait with what is free: if they are no shorter, "
            "more L1 or smaller tokens (fp8 KV, tp) let more in",
            "bring the engine's start lines: pool and max_num_seqs / "
            "max_running_requests decide between the two",
        ),
    )


def state_slots(signs: Signs) -> Finding | None:
    """Do recurrent-state slots bind before KV tokens do?"""
    track = signs.track
    state = track.high("usage_mamba")
    if state is None:
        return None
    peak = track.peaks["usage_mamba"]
    tokens = max(peak.values.get(n, 0.0) for n in ("usage_full", "usage_kv"))
    if state < PIN or tokens >= PIN or not (signs.is_pinned and signs.stands):
        return no(
            "state_slots_cap", say("state slots at {}, tokens at {}", state, tokens)
        )
    return yes(
        "state_slots_cap",
        say(
            "state slots are full ({}) while only {} of the KV tokens are in use, "
            "and {} requests wait",
            state,
            tokens,
            signs.queue_max,
        ),
        quotes=[quote(peak, "usage_mamba", "usage_full", "queue", "running")],
    )
