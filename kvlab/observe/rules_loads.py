"""Do loads from L2 take long, by the engine's own clock, and do they bring it all?

SGLang exports how long each load took. Releases up to some 0.5.10 time only the order
that starts the copy, so a short time proves nothing; a long one does. LMCache says in
the log where it gave less than it had found.
Left out: the rest of L2 (rules_l2.py).
"""

from __future__ import annotations

from .finding import Finding, no, quote, yes
from .said import Text, say
from .signs import PIN, Signs

_SLOW_S = 0.25
"""Seconds of a load from which it is felt in a first token."""
_PART = 0.1
"""Part of the time to first token from which loads matter."""
_SHOWN = ("queue", "running", "usage", "load_seconds_total", "loads_total")


def slow_loads(signs: Signs) -> Finding | None:
    """Do requests wait while each load from L2 takes long and L1 has room?"""
    track = signs.track
    spent, loads = track.growth("load_seconds_total"), track.growth("loads_total")
    if not spent or not loads:
        return None
    mean = spent / loads
    first = _mean_first_token(signs)
    said = say("{} loads from L2 took {} s each", loads, round(mean, 2))
    if first is not None:
        said += say(", of {} s to a first token", round(first, 1))
    small = mean < _SLOW_S or (first is not None and mean < _PART * first)
    if small or not signs.queued or signs.crowded >= PIN:
        return no("l2_load_serialised", said)
    return yes(
        "l2_load_serialised",
        say(
            "{}, while {} wait and usage is at most {}: L1 has room, and what the "
            "loads bring is cached already",
            said,
            signs.queue_max,
            signs.crowded,
        ),
        *_carried(signs, spent, loads),
        quotes=[
            quote(side.get("load_seconds_total"), *_SHOWN)
            for side in (track.firsts, track.lasts)
        ],
    )


def gives_less(signs: Signs) -> Finding | None:
    """Does LMCache say that it gave less than its lookup had found?"""
    told = [*signs.track.events.get("l2_short", ())]
    if not told:
        return None
    sums = signs.track.sums
    return yes(
        "l2_gives_less",
        say(
            "LMCache gave {} of the {} tokens that it had found, in {} lines, of its "
            "ranks or again",
            sums["given_tokens"],
            sums["promised_tokens"],
            signs.track.count["l2_short"],
        ),
        quotes=[
            quote(sample, "given_tokens", "promised_tokens")
            for sample in (told[0], *told[1:][-1:])
        ],
        confidence="certain",
    )


def _mean_first_token(signs: Signs) -> float | None:
    spent = signs.track.growth("ttft_seconds_total")
    count = signs.track.growth("ttfts_total")
    return spent / count if spent and count else None


def _carried(signs: Signs, spent: float, loads: float) -> list[Text]:
    """Return what the link carried while it carried, as one sentence."""
    moved = signs.track.growth("loaded_bytes_total")
    if moved:
        return [
            say(
                "while a load runs the link carries {} GB/s",
                f"{moved / spent / 1e9:,.1f}",
            )
        ]
    tokens = signs.track.growth("load_back_total")
    if not tokens:
        return []
    return [
        say(
            "a load brings {} tokens: {} tokens a second while it runs; times the "
            "bytes of a token (kvlab capacity MODEL) that is what the link carries",
            round(tokens / loads),
            round(tokens / spent),
        )
    ]
