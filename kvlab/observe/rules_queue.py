"""Requests wait, and the pool has room: why?

Queue without pressure is the most common confusion: a cap on running requests, prefill
at its ceiling, reservations that are too large, one request that blocks the rest.
Left out: how it shows that prefill is busy (busy_prefill.py).
"""

from __future__ import annotations

from ..record.diagnosis import Quote
from .busy_prefill import busy_with_prefill, chunk_share, computes_prompts, grown
from .finding import Finding, climb_text, no, quote, usage_text, yes
from .said import Text, number, say, span
from .signs import BURST_S, LOW, PIN, Signs
from .spells import Row

_SHOWN = ("usage", "queue", "running", "prompt_tps", "gen_tps", "new_tokens")
_BUSY = 0.5
"""Part of a chunk from which prefill is at work."""


def running_cap(signs: Signs) -> Finding | None:
    """Does the number of running requests sit exactly at the configured maximum?"""
    ran = [_runs_then(row) for row in signs.waits if row.running is not None]
    if len(ran) < 2:
        return None
    cap = signs.cap
    if cap is not None:
        ran = [min(cap, value) for value in ran]
    most = max(ran)
    at_most = sum(value == most for value in ran) / len(ran)
    if cap is not None and most < cap:
        return no("max_running_cap", say("at most {} of {} allowed run", most, cap))
    if signs.crowded >= PIN:
        return no("max_running_cap", say("usage reaches {}", signs.crowded))
    few = most < 2 and cap is None
    if at_most < (0.5 if cap is not None else 0.9) or few or not signs.stands:
        return no("max_running_cap", "the number of running requests moves freely")
    if cap is None and (len(ran) < 3 or busy_with_prefill(signs) is not None):
        return None
    return _capped(signs, most, at_most)


def _capped(signs: Signs, most: float, at_most: float) -> Finding:
    """Say what the cap is, and whether the engine's own state slots set it."""
    cap = signs.cap
    if (each := signs.track.known("slots_each")) and cap is not None:
        return _cap_of_slots(signs, cap, each)
    known = say("the configured maximum {}", cap) if cap else "one and the same number"
    return yes(
        "max_running_cap",
        say(
            "{} requests run, {}, in {} of the reports in which others wait",
            most,
            known,
            f"{at_most:.0%}",
        ),
        say("{}: L1 has room", usage_text(signs)),
        quotes=_waiting(signs),
        confidence="certain" if cap is not None else "likely",
    )


def _cap_of_slots(signs: Signs, cap: float, each: float) -> Finding:
    """The engine lowered the cap itself, to what its recurrent-state slots hold."""
    return yes(
        "state_slots_cap",
        say(
            "{} requests run, the most that the engine's {} state slots allow ({} "
            "each), and {} wait",
            cap,
            signs.track.known("state_slots") or cap * each,
            each,
            signs.queue_max,
        ),
        usage_text(signs),
        quotes=_waiting(signs),
        confidence="certain",
    )


def _runs_then(row: Row) -> float:
    """Return how many run once the batch is in: a prefill is reported before its own
    requests count."""
    new = row.sample.values.get("new_seqs", 0.0) if row.sample.kind == "prefill" else 0
    return (row.running or 0.0) + new


def _waiting(signs: Signs) -> list[Quote | None]:
    """Quote the first report of those that wait, and the longest queue."""
    return [quote(row.sample, *_SHOWN) for row in (signs.waits[0], signs.longest)]


def one_runner(signs: Signs) -> Finding | None:
    """Does one runner, or one refused request, block those behind it?"""
    rows = signs.waits
    ran = signs.running_waits
    if len(rows) < 3 or len(ran) < len(rows):
        return None
    few = max(ran) <= 1 or (max(ran) == min(ran) and max(ran) <= 4)
    quiet = not any(_prompts(row) for row in rows) and not grown(rows, "prompt_total")
    if not few or not quiet or not signs.stands or signs.crowded >= PIN:
        return no(
            "one_runner_blocks_queue",
            say("{} run beside the queue", max(ran))
            + ("" if quiet else ", and prompts are being computed"),
        )
    free = 1 - signs.crowded
    return yes(
        "one_runner_blocks_queue",
        say(
            "{} runs while {} wait in all {} reports, and no prompt is computed",
            max(ran),
            span(min(r.queue for r in rows), signs.queue_max),
            len(rows),
        ),
        say(
            "{}; either only so many may run, or the next request needs more than "
            "the free {}",
            usage_text(signs),
            f"{free:.0%}",
        ),
        quotes=[quote(row.sample, *_SHOWN) for row in (rows[0], rows[-1])],
    )


def _prompts(row: Row) -> float:
    values = row.sample.values
    return values.get("prompt_tps", 0.0) + values.get("new_tokens", 0.0)


def prefill(signs: Signs) -> Finding | None:
    """Is prefill at its ceiling while L1 has room?"""
    if not signs.queued:
        return None
    busy = busy_with_prefill(signs)
    if not signs.stands:
        return no("prefill_throughput", "no queue stands")
    if signs.crowded >= LOW:
        return _prefill_near_full(signs, busy)
    if signs.throws:
        thrown = number(signs.thrown_out or 0)
        return no("prefill_throughput", say("{} {}s", thrown, signs.word))
    if busy is None and not (signs.engine == "vllm" and computes_prompts(signs)):
        return no("prefill_throughput", "prefill is not at a ceiling")
    return yes(
        "prefill_throughput",
        say(
            "{} wait; {}, and {}",
            signs.longest.queue,
            usage_text(signs),
            _thrown_text(signs),
        ),
        busy
        or "prompts are computed all the time, and nothing else explains the queue",
        *climb_text(signs),
        *([brief] if (brief := _brief(signs)) else []),
        quotes=_waiting(signs),
        confidence="likely" if busy and not brief else "possible",
        next=_L1_IS_NEXT if signs.climb else (),
    )


_FEWER_PROMPTS = "or raise the hit rate so that fewer prompt tokens are computed"
_L1_IS_NEXT = (
    "add prefill compute (replicas, TP) or a larger chunk, for as long as the pool has "
    "room",
    _FEWER_PROMPTS,
    "L1 is next: bring the minutes that follow; once the pool is full, faster prefill "
    "lets nobody in",
)


def _brief(signs: Signs) -> Text | None:
    """Say that the queue is seen for a moment only, which may be a burst; None if it
    is seen for longer, or nobody knows."""
    seconds = signs.spell.seconds
    if seconds is None or seconds >= BURST_S:
        return None
    return say("the queue is seen for {} s only", seconds)


def _thrown_text(signs: Signs) -> Text:
    if not signs.thrown_out:
        return "nothing was thrown out"
    return say("{}s are rare ({})", signs.word, signs.thrown_out)


def _prefill_near_full(signs: Signs, busy: Text | None) -> Finding:
    """The pool is nearly full at times: does prefill still limit, most of the time?"""
    thrown = signs.thrown_out or 0.0
    if busy is None or signs.is_pinned or signs.usual >= LOW:
        return no("prefill_throughput", say("usage reaches {}", signs.crowded))
    if signs.throws:
        return no("prefill_throughput", say("{} {}s", thrown, signs.word))
    hits = signs.hit_rate
    return yes(
        "prefill_throughput",
        say(
            "{} wait; while they do, usage is below {} half the time and full (at "
            "most {}) for moments only, {}s: {}",
            signs.queue_max,
            signs.usual,
            signs.usage_max,
            signs.word,
            thrown,
        ),
        busy,
        *(
            []
            if hits is None
            else [say("{} of the prompt tokens are hits", f"{hits:.1%}")]
        ),
        quotes=_waiting(signs),
        confidence="likely",
        next=(
            "add prefill compute (replicas, TP), or limit what comes in: prompts "
            "arrive faster than they are computed",
            "or raise the hit rate, if prompts share anything: kvlab diagnose on a "
            "request trace says how much",
            "watch usage as you do: it nears the pool at times, so L1 may be next",
        ),
    )


def conservative(signs: Signs) -> Finding | None:
    """Are reservations so large that the queue grows beside an idle pool?"""
    if not signs.queued or signs.engine != "sglang":
        return None
    if signs.thrown_out is None or signs.throws:
        return no("admission_too_conservative", "requests were retracted, or may be")
    if (why_not := _not_conservative(signs)) is not None:
        return no("admission_too_conservative", why_not)
    ratio = signs.track.last("new_token_ratio")
    said = [] if ratio is None else [say("new_token_ratio is {}", ratio)]
    return yes(
        "admission_too_conservative",
        say(
            "{} wait; {}; {}, running is below its cap and prefill is not busy: "
            "each request reserves more room than it uses",
            signs.longest.queue,
            usage_text(signs),
            _thrown_text(signs),
        ),
        *said,
        quotes=_waiting(signs),
    )


def _not_conservative(signs: Signs) -> Text | None:
    """Return what else limits admission, or that nothing waits; None if neither."""
    if signs.crowded >= LOW or not signs.stands or len(signs.waits) < 3:
        return say(
            "usage reaches {}, {} reports have a queue", signs.crowded, len(signs.waits)
        )
    most = max(signs.running_waits, default=0.0)
    if most <= 1:
        return "hardly anything runs"
    if (brief := _brief(signs)) is not None:
        return brief
    if signs.cap is not None and most >= signs.cap:
        return say("all {} allowed run", signs.cap)
    if (share := chunk_share(signs)) is not None and share > _BUSY:
        return say(
            "a prefill takes {} of a chunk on average: prompts are computed",
            f"{share:.0%}",
        )
    return None
