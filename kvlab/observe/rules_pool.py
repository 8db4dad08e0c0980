"""Is L1 the limit, and which part of it?

The three signs together: the pool pinned near 1, requests piling up, running requests
thrown out. Any one of them alone has a harmless explanation.
"""

from __future__ import annotations

from statistics import fmean, median

from ..record.diagnosis import Quote
from .finding import Finding, no, quote, yes
from .said import Text, say
from .signs import LOW, PIN, Signs
from .spells import Row

_SHOWN = ("usage", "queue", "running", "retracted", "preemptions", "prealloc")


def exhausted(signs: Signs) -> Finding | None:
    """Judge the three signs of a pool that is too small for what runs."""
    if not signs.rows:
        return None
    engine = "preempt" if signs.engine == "vllm" else "retract"
    cause = f"pool_exhausted_{engine}"
    thrown = signs.thrown_out
    missing = [
        text
        for holds, text in (
            (
                _is_full(signs),
                say("usage peaks at {}, not pinned", signs.usage_max),
            ),
            (
                signs.stands,
                say("no queue stands (at most {})", signs.queue_max),
            ),
            (thrown is None or signs.throws_at_all, _few_thrown(signs)),
        )
        if not holds
    ]
    recurring = signs.recurs and _is_full(signs) and signs.throws_at_all
    if thrown is None or (missing and not recurring):
        unread = [say("{}s cannot be read from this input", signs.word)]
        return no(cause, *(missing or unread))
    return yes(
        cause,
        _full_text(signs),
        _queue_text(signs),
        say("{} {}s inside the input", thrown, signs.word),
        *_not_the_cache(signs),
        quotes=_three(signs),
        confidence="certain" if signs.grows or len(signs.pinned) > 2 else "likely",
    )


def _is_full(signs: Signs) -> bool:
    """The pool stays full, or so full that running requests are thrown out again and
    again: each time the next step found no room, and each leaves a gap behind."""
    return signs.is_pinned or (signs.throws and signs.usual >= LOW)


def _full_text(signs: Signs) -> Text:
    if signs.is_pinned:
        return say("the pool is full: usage {} while requests wait", signs.usage_max)
    return say(
        "usage is {} half the time in which requests wait, and each {} is a "
        "step that found the pool full",
        signs.usual,
        signs.word,
    )


def _few_thrown(signs: Signs) -> Text:
    if not signs.thrown_out:
        return say("no {} inside the input", signs.word)
    return say(
        "only {} {}s in {} reports with a queue",
        signs.thrown_out,
        signs.word,
        round(signs.num_waiting),
    )


def two_of_three(signs: Signs) -> Finding | None:
    """A full pool and a queue, but the third sign is missing or cannot be read."""
    thrown = signs.thrown_out
    if not (signs.is_pinned and signs.stands) or signs.throws_at_all:
        return None
    third = _few_thrown(signs)
    if thrown is None:
        third = (
            say(
                "{}s cannot be read here: this release does not export a counter",
                signs.word,
            )
            if signs.kind == "metrics"
            else say("this release's log does not print {}s", signs.word)
        )
    return yes(
        "two_of_three_signs",
        say(
            "the pool is full (usage {}) and {} requests wait",
            signs.usage_max,
            signs.queue_max,
        ),
        third,
        *_gauge(signs),
        "two of the three signs point at L1; the third decides",
        quotes=_three(signs),
        next=_next_of_two(signs),
    )


def _gauge(signs: Signs) -> list[Text]:
    """Return what the gauge of old releases says: it is reset at every interval, so it
    shows that requests were retracted, never how many."""
    read = [s.values["retracted_gauge"]
            for s in signs.track.with_field("retracted_gauge")]  # fmt: skip
    some = sum(value > 0 for value in read)
    if signs.thrown_out is not None or not some:
        return []
    return [
        say(
            "the gauge num_retracted_reqs is above 0 in {} of {} scrapes, so some "
            "were retracted; it is reset all the time and does not say how many",
            some,
            len(read),
        )
    ]


def _next_of_two(signs: Signs) -> tuple[Text, ...]:
    if signs.thrown_out is not None:
        return _HELD_BACK
    if signs.engine == "sglang" and signs.kind == "metrics":
        return _BRING_LOG
    return ()


_BRING_LOG = (
    "look for 'Retract requests' in the engine's log of these minutes and give the log "
    "as well: a few such lines make it L1; a newer release counts them in "
    "num_retracted_requests_total",
    "if there is none, see whether prefill keeps up: prompt tokens that arrive in a "
    "second against those computed",
    "what eases it either way: limit what comes in (max_running_requests, a rate "
    "limit at the gateway); do not enlarge L2 for it, admission never reads it",
)


_HELD_BACK = (
    "nothing was thrown out: admission keeps newcomers out in time, so look whether "
    "running requests fill the pool; if so more L1 or smaller tokens let more in",
    "bring a longer window, or one from the worst hour: a retraction or preemption in "
    "it decides",
    "compare the prompt tokens that arrive a second with those computed: if prefill "
    "does not keep up either, more L1 alone does not end the queue",
)


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
    nobody = [r for r in signs.waits if r.running == 0 and r.usage < IDLE_POOL]
    if len(nobody) >= 3 and len(nobody) >= 0.8 * len(signs.waits):
        return yes(
            "request_exceeds_pool",
            say(
                "nothing runs, the pool is empty, and {} wait in {} reports: the next "
                "request is never let in",
                nobody[-1].queue,
                len(nobody),
            ),
            quotes=[quote(r.sample, *_SHOWN) for r in (nobody[0], nobody[-1])],
            confidence="possible",
        )
    if signs.queued:
        return no("request_exceeds_pool", "several requests run side by side")
    return None


IDLE_POOL = 0.1


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


# --- shared


def _not_the_cache(signs: Signs) -> list[Text]:
    """Say what the cache's own numbers are, since they mislead."""
    said: list[Text] = []
    fill, rate = signs.track.high("l2_fraction"), signs.hit_rate
    if fill is not None:
        said.append(
            say(
                "L2 is at most {} full, which does not matter: admission never reads "
                "it",
                f"{fill:.0%}",
            )
        )
    if rate is not None and rate >= 0.3:
        said.append(
            say(
                "{} of the prompt tokens are hits: the cache is not at fault",
                f"{rate:.0%}",
            )
        )
    return said


def _queue_text(signs: Signs) -> Text:
    first, last = signs.rows[0].queue, signs.rows[-1].queue
    seconds = signs.spell.seconds
    waited = (
        ""
        if not seconds
        else say("; they waited for {} minutes", f"{seconds / 60:,.1f}")
    )
    return say(
        "requests pile up: {} at first, {} at most, {} at last{}",
        first,
        signs.queue_max,
        last,
        waited,
    )


def _three(signs: Signs) -> list[Quote | None]:
    """Quote the first full report, the longest queue, what was thrown out first and
    last."""
    longest: Row = max(signs.rows, key=lambda row: row.queue)
    quotes = [quote(signs.pinned[0].sample, *_SHOWN)] if signs.pinned else []
    quotes.append(quote(longest.sample, *_SHOWN))
    for kind in ("retract", "preempted"):
        events = signs.track.events.get(kind, ())
        names = ("retracted", "ratio_before", "ratio_after", "preemptions_lifetime")
        for at in sorted({0, len(events) - 1} if events else ()):
            quotes.append(quote(events[at], *names))
    for name in ("retracted_total", "preemptions_total"):
        quotes.append(quote(signs.track.firsts.get(name), name))
        quotes.append(quote(signs.track.lasts.get(name), name))
    quotes.append(quote(signs.track.peaks.get("preemptions"), "preemptions"))
    return quotes
