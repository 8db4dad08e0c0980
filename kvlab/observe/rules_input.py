"""What can this input not say, and when is there nothing to say?

A tool that must always find a fault invents one. These rules keep it honest: clipped
lines, one reading, a burst that is over, waiting without a full pool, health.
"""

from __future__ import annotations

from ..record.diagnosis import Quote
from .finding import Finding, climb_text, no, quote, yes
from .rules_end import is_told
from .said import Said, Text, joined, say
from .signs import LOW, OFTEN, PIN, Signs

_SHOWN = ("usage", "queue", "running")
_MOST_DAMAGED = 4
"""Damaged lines for each whole report from which the whole ones are no fair sample."""


def damaged(signs: Signs) -> Finding | None:
    """Is so much of the input damaged that what is left shows no growth?"""
    recording = signs.recording
    if not recording.damaged:
        return None
    intact = signs.track.num_samples or round(signs.track.count["retract_lines"])
    few = max(4, recording.damaged / _MOST_DAMAGED)
    if recording.damaged <= intact or intact >= few:
        return no("input_damaged", say("{} whole reports are enough", intact))
    places = [Quote("damaged line", str(place)) for place in recording.damaged_at[:3]]
    return yes(
        "input_damaged",
        say(
            "{} lines are cut or damaged and were not trusted; {} whole reports are"
            " left",
            recording.damaged,
            intact,
        ),
        "what is left shows no growth that could be trusted",
        quotes=[*places, quote(signs.track.lasts.get("usage"), *_SHOWN)],
        confidence="certain",
    )


def single(signs: Signs) -> Finding | None:
    """Is there only one reading, so that no counter's growth is known?"""
    if signs.track.num_samples != 1 or is_told(signs):
        return None
    sample = signs.track.samples[0]
    what = "one scrape" if signs.kind == "metrics" else "one report"
    lifetime = [
        say(
            "{} {} in all is a lifetime total",
            sample.values[name],
            name.removesuffix("_total"),
        )
        for name in ("preemptions_total", "retracted_total")
        if sample.values.get(name)
    ]
    return yes(
        "single_scrape",
        say("{} shows a state and no growth", what),
        *lifetime,
        quotes=[quote(sample, *_SHOWN, "preemptions_total", "retracted_total")],
        confidence="certain",
        next=() if signs.kind == "metrics" else (_LONGER_LOG,),
    )


_LONGER_LOG = "bring a longer stretch of the log: reports over a minute or more"
_WHOLE_LOG = (
    "bring the whole log of these minutes, not the lines of one word: usage and queue "
    "decide between an accident and L1 as the limit"
)
_BATCH_LINES = (
    "bring SGLang's batch lines under load (--log-level info), or two scrapes of "
    "/metrics (--enable-metrics)"
)


def nothing(signs: Signs) -> Finding | None:
    """Is there no report at all, as from an idle vLLM, or a cache driven by hand?"""
    if signs.track.num_samples or is_told(signs):
        return None
    if signs.kind == "run":
        return _by_hand(signs)
    if (alone := _thrown_alone(signs)) is not None:
        return alone
    return yes(
        "no_samples",
        "the input names an engine and holds no report of its state; a missing line is "
        "not a zero",
        confidence="certain",
        next=(_BATCH_LINES,) if signs.engine == "sglang" else (),
    )


def _thrown_alone(signs: Signs) -> Finding | None:
    """Are lines on requests thrown out all that is left, as after a search for them?"""
    track = signs.track
    events = [*track.events.get("retract", ()), *track.events.get("preempted", ())]
    if not events:
        return None
    lifetime = track.last("preemptions_lifetime")
    counted = (
        say(
            "{} requests were retracted, in {} lines",
            track.sums["retracted"],
            track.count["retract_lines"],
        )
        if lifetime is None
        else say("the engine counts {} preemptions in all", lifetime)
    )
    return yes(
        "no_samples",
        counted,
        "no report of usage and queue stands beside them",
        quotes=_thrown(signs)
        or [quote(e, "preemptions_lifetime") for e in (events[0], events[-1])],
        confidence="certain",
        next=(_WHOLE_LOG,),
    )


def _by_hand(signs: Signs) -> Finding:
    track = signs.track
    sums = (("backed up to L2", "backup"), ("loaded back", "load_back"),
            ("evicted from L1", "evicted"))  # fmt: skip
    done = [
        say("{} tokens {}", track.growth(f"{name}_total") or 0.0, what)
        for what, name in sums
    ]
    fill = track.high("l2_fraction")
    return yes(
        "no_samples",
        "this run drives the cache by hand: no request waits or runs in it, so it says "
        "nothing of what limits an engine",
        say("what it does: {}", joined(", ", done))
        + ("" if fill is None else say("; L2 is at most {} full", f"{fill:.0%}")),
        quotes=[quote(track.peaks.get("l2_fraction"), "usage", "l2_fraction")],
        confidence="certain",
        next=(
            "step through it: kvlab play RUN -o out.html",
            "for a verdict record a run with requests: kvlab replay TRACE --timing "
            "model --concurrency open --output-tokens trace --record RUN",
        ),
    )


def averaged(signs: Signs) -> Finding | None:
    """Is the usage an average over engines, in which one full engine hides?"""
    if "aggregated" not in signs.recording.marks or not signs.stands:
        return None
    return yes(
        "waiting_below_pin",
        say(
            "{} wait, but the line averages the usage of several engines: one full "
            "engine cannot be seen in it",
            signs.queue_max,
        ),
        "bring the metrics of each engine",
        quotes=[quote(max(signs.queued, key=lambda r: r.queue).sample, *_SHOWN)],
    )


def burst(signs: Signs) -> Finding | None:
    """Did a queue come and go within the input?"""
    if not signs.queued:
        return None
    if signs.mostly_waits:
        return no("burst_drained", "somebody waits in most reports")
    if not signs.drained:
        return no("burst_drained", say("{} wait at the end", signs.rows[-1].queue))
    if len(signs.queued) < OFTEN * len(signs.rows):
        return no(
            "burst_drained",
            say(
                "{} of {} reports have a queue, at most {}, and it drains",
                len(signs.queued),
                len(signs.rows),
                signs.queue_max,
            ),
        )
    peak = max(signs.rows, key=lambda r: r.queue)
    thrown = signs.thrown_out
    return yes(
        "burst_drained",
        say("the queue rises to {} and drains to {}", peak.queue, signs.rows[-1].queue),
        *([say("{} {}s fell into it", thrown, signs.word)] if thrown else []),
        quotes=[quote(r.sample, *_SHOWN) for r in (peak, signs.rows[-1])],
    )


def waiting(signs: Signs) -> Finding | None:
    """Do requests wait for no reason that this input shows?"""
    if not signs.stands and not signs.ends_in_queue:
        return None
    peak = max(signs.rows, key=lambda r: r.queue)
    thrown = signs.thrown_out
    below = "" if signs.usage_max >= PIN else ", which is not full"
    return yes(
        "waiting_below_pin",
        say(
            "{} wait at usage {}{}, and no rule explains why",
            signs.queue_max,
            signs.usage_max,
            below,
        ),
        *([] if signs.stands else ["the input ends before it shows if they drain"]),
        *([say("{} {}s fell into it", thrown, signs.word)] if thrown else []),
        quotes=[quote(peak.sample, *_SHOWN)],
    )


def healthy(signs: Signs) -> Finding | None:
    """Is there nothing to fix?"""
    if signs.track.num_samples < 2:
        return None
    if (damage := signs.recording.damaged) > signs.track.num_samples:
        return yes(
            "input_damaged",
            say(
                "{} lines are cut or damaged and only {} whole: what these show of "
                "health is not the whole of it",
                damage,
                signs.track.num_samples,
            ),
        )
    if signs.stands or signs.ends_in_queue:
        return no("healthy", say("{} requests wait", signs.queue_max))
    thrown = signs.thrown_out or 0.0
    peak = quote(signs.track.peaks.get("usage"), *_SHOWN)
    if thrown:
        return yes(
            "occasional_retraction",
            say(
                "{} {}s, and no queue stands: an isolated one is normal",
                thrown,
                signs.word,
            ),
            *_few_hold_all(signs),
            quotes=[peak, *_thrown(signs)],
        )
    said = [say("usage is at most {}", signs.usage_max), _queue_text(signs)]
    if signs.thrown_out is not None:
        said.append(say("no {} inside the input", signs.word))
    if signs.hit_rate is not None:
        said.append(say("{} of the prompt tokens are hits", f"{signs.hit_rate:.1%}"))
    fills = climb_text(signs) if signs.climb and signs.climb.last >= LOW else []
    full = bool(signs.rows) and signs.rows[-1].usage >= PIN
    step = (_NO_BASELINE,) if fills or full else ()
    return yes("healthy", *said, *fills, quotes=[peak], next=step)


def _queue_text(signs: Signs) -> Said:
    if len(signs.queued) <= 0.5 * len(signs.rows):
        return say("at most {} wait, and never for long", signs.queue_max)
    share = f"{len(signs.queued) / len(signs.rows):.0%}"
    return say("at most {} wait, in {} of the reports", signs.queue_max, share)


_NO_BASELINE = (
    "nothing to fix yet: bring the minutes that follow; what waits or is thrown out "
    "once the pool is full decides"
)
_FEW = 4
"""Requests side by side up to which a full pool is named for each."""


def _few_hold_all(signs: Signs) -> list[Text]:
    """Say where no more than a few requests fill the pool: it is no crowd."""
    full = [row for row in signs.pinned if row.running]
    most = max((row.running or 0.0 for row in full), default=0.0)
    if len(full) < 2 or len(full) < 0.5 * len(signs.rows) or most > _FEW:
        return []
    last = full[-1]
    values = last.sample.values
    tokens = values.get("tokens", values.get("tokens_full", signs.pool_tokens))
    each = "" if tokens is None else say(
        ", about {} tokens each", round(tokens / (last.running or 1.0))
    )  # fmt: skip
    return [
        say(
            "{} running requests hold the whole pool{}: see whether they are meant to "
            "be that long (max_new_tokens, a loop in the answer)",
            last.running or 0.0,
            each,
        )
    ]


def _thrown(signs: Signs) -> list[Quote | None]:
    events = [*signs.track.events.get("retract", ())][:2]
    return [quote(s, "retracted", "ratio_before", "ratio_after") for s in events]
