"""Is L1 as a whole the limit?

The three signs together: the pool pinned near 1, requests piling up, running requests
thrown out. Any one of them alone has a harmless explanation.
Left out: one request, or one kind of slot, that does not fit (rules_fit.py).
"""

from __future__ import annotations

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
                _is_full(signs) or (signs.usage_max >= PIN and not signs.queued),
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
        _thrown_text(signs),
        *_not_the_cache(signs),
        quotes=_three(signs),
        confidence="certain"
        if (signs.grows or len(signs.pinned) > 2) and thrown != signs.sent_back
        else "likely",
    )


def _thrown_text(signs: Signs) -> Text:
    if signs.sent_back and signs.thrown_out == signs.sent_back:
        return say(
            "{} running requests went back to the queue: it grows by as many as run "
            "less, step for step, though no line says so",
            signs.sent_back,
        )
    return say("{} {}s inside the input", signs.thrown_out or 0.0, signs.word)


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
            else "V0 prints every 50th preemption only, and none of these is here"
            if "v0" in signs.recording.marks
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
        *_computed_wait(signs),
        *_gauge(signs),
        "two of the three signs point at L1; the third decides",
        quotes=_three(signs),
        next=_next_of_two(signs),
    )


_MANY_COMPUTED = 8.0
"""Requests in transfer up to which they are no backlog."""


def _computed_wait(signs: Signs) -> list[Text]:
    """Say, of a prefill worker, that the pool holds what nobody has taken over yet."""
    computed = signs.track.high("inflight") or 0.0
    if computed <= _MANY_COMPUTED or computed < 0.5 * signs.queue_max:
        return []
    return [
        say(
            "{} requests are computed and wait for their transfer: they hold this "
            "prefill worker's pool until the decode side takes them",
            computed,
        )
    ]


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
    if _computed_wait(signs):
        return _DECODE_SIDE
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


_DECODE_SIDE = (
    "look at the decode workers (token usage, #prealloc-req, #transfer-req) and at the "
    "link to them: this side computes faster than they take over",
    "more prefill workers or L1 here only lengthen that line; limit what comes in "
    "until the decode side keeps up",
)


_HELD_BACK = (
    "nothing was thrown out: admission keeps newcomers out in time, so look whether "
    "running requests fill the pool; if so more L1 or smaller tokens let more in",
    "bring a longer window, or one from the worst hour: a retraction or preemption in "
    "it decides",
    "compare the prompt tokens that arrive a second with those computed: if prefill "
    "does not keep up either, more L1 alone does not end the queue",
)


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
