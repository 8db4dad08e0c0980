"""Is work done twice that the cache should have saved?

A low hit rate alone is no fault: prompts may have nothing in common. These rules want a
change inside the input, or hits that end right after a shared beginning.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from .finding import Finding, no, quote, yes
from .said import say
from .samples import Sample
from .signs import PIN, Signs


class Window(NamedTuple):
    """Prompt tokens of a stretch of samples: how many, how many of them cached."""

    sample: Sample
    total: float
    cached: float


MOST_WINDOWS = 8
_FEW_TOKENS = 10_000
"""Prompt tokens below which a hit rate says nothing."""


def windows(signs: Signs) -> list[Window]:
    """Return the hit rates over time: from scrape to scrape, or a log in parts."""
    track = signs.track
    logged = track.with_field("new_tokens", "cached_tokens")
    if logged:
        size = max(1, len(logged) // MOST_WINDOWS)
        parts = [logged[at : at + size] for at in range(0, len(logged), size)]
        found = [_sum(part) for part in parts]
    else:
        found = _between(signs, "cached_total", "computed_total", False)
        found = found or _between(signs, "hits_total", "queries_total", True)
        found = _merged(found)
    return [window for window in found if window.total > 0]


def _merged(found: list[Window]) -> list[Window]:
    """Join many windows into few of about as many tokens."""
    if len(found) <= MOST_WINDOWS:
        return found
    share = sum(window.total for window in found) / MOST_WINDOWS
    merged, total, cached = [], 0.0, 0.0
    for window in found:
        total, cached = total + window.total, cached + window.cached
        if total >= share or window is found[-1]:
            merged.append(Window(window.sample, total, cached))
            total = cached = 0.0
    return merged


def _sum(part: list[Sample]) -> Window:
    cached = sum(s.values["cached_tokens"] for s in part)
    return Window(part[-1], cached + sum(s.values["new_tokens"] for s in part), cached)


def _between(signs: Signs, hits: str, other: str, whole: bool) -> list[Window]:
    """Return what two counters grew by; `whole`: `other` counts the hits as well."""
    samples = signs.track.with_field(other)
    found = []
    for before, after in pairwise(samples):
        cached = after.values.get(hits, 0.0) - before.values.get(hits, 0.0)
        total = after.values[other] - before.values[other]
        if cached >= 0 and total >= 0:
            found.append(Window(after, total if whole else total + cached, cached))
    return found


_SHOWN = (
    "cached_tokens", "new_tokens", "cached_total", "computed_total", "hits_total",
    "queries_total",
)  # fmt: skip


def prefix_changed(signs: Signs) -> Finding | None:
    """Do hits end inside the input though L1 has room to keep what was shared?

    A cache that is too small loses hits as it evicts; a changed prompt loses them at
    once, whether or not L1 was evicting all along.
    """
    found = _enough(signs)
    if found is None:
        return None
    rates = [window.cached / window.total for window in found]
    fall = next(i for i in range(len(rates) + 1) if max(rates[i:], default=0) <= 0.1)
    before = max(rates[:fall], default=0.0)
    if before < 0.3 or fall == len(rates):
        return no(
            "prefix_broken_by_client",
            say("{} of the last are hits", f"{rates[-1]:.1%}"),
        )
    held = max(i for i in range(fall) if rates[i] >= 0.5 * before)
    if held < fall - 2 or _began_to_evict(signs, found, held):
        return no("prefix_broken_by_client", "hits fall as evictions grow")
    grown = signs.track.growth("evicted_total")
    evicted = "" if grown is None else say(", {} tokens evicted", grown)
    ends = found[held], found[-1]
    return yes(
        "prefix_broken_by_client",
        say(
            "the hit rate falls from {} to {} while L1 has room (usage at most "
            "{}{}): the prompts have changed, not the cache",
            f"{before:.1%}",
            f"{rates[-1]:.1%}",
            signs.usage_max,
            evicted,
        ),
        quotes=[quote(window.sample, *_SHOWN) for window in ends],
    )


def _began_to_evict(signs: Signs, found: list[Window], held: int) -> bool:
    """Did evictions begin, or become many more, after window `held`, the last with
    hits? None shows in a log.

    Measured against the tokens computed: a full cache evicts one for each.
    """
    first = signs.track.growths.get("evicted_total")
    at = [0.0 if first is None else first.first]
    at += [window.sample.values.get("evicted_total", at[0]) for window in found]
    after = at[-1] - at[held + 1]
    if after <= 0.5 * (signs.pool_tokens or float("inf")):
        return False
    before = (at[held + 1] - at[held]) * _computed(found[held + 1 :])
    return before < 0.5 * after * _computed(found[held : held + 1])


def _computed(found: list[Window]) -> float:
    return sum(window.total - window.cached for window in found)


def prefix_parts_early(signs: Signs) -> Finding | None:
    """Do prompts share a few first tokens and then nothing, with room to keep them?"""
    found = _enough(signs)
    if found is None or signs.stands:
        return None
    evicted, pool = signs.track.growth("evicted_total"), signs.pool_tokens
    if evicted is None and pool and _computed(found) > pool:
        return no("prefix_broken_by_client", "L1 may have evicted what was shared")
    if (evicted or 0.0) > 0.5 * (pool or evicted or 0.0):
        return None
    total = sum(window.total for window in found)
    rate = sum(window.cached for window in found) / total
    if not 0 < rate < 0.05:
        return no(
            "prefix_broken_by_client",
            say("{} of the prompt tokens are hits", f"{rate:.1%}"),
        )
    return yes(
        "prefix_broken_by_client",
        say(
            "only {} of {} prompt tokens are hits, with room to keep them: prompts "
            "part early, as with a timestamp, an id or a salt near the beginning, "
            "or they have nothing in common",
            f"{rate:.1%}",
            total,
        ),
        quotes=[quote(found[at].sample, *_SHOWN) for at in (0, -1)],
        confidence="possible",
    )


def _enough(signs: Signs) -> list[Window] | None:
    """Return the hit rates, if they are of enough tokens, the cache is on, and L1 has
    room."""
    found = windows(signs)
    few = len(found) < 2 or sum(window.total for window in found) < _FEW_TOKENS
    off = signs.track.known("disable_radix_cache") == 1.0
    off = off or signs.track.known("prefix_caching") == 0.0
    return None if few or off or signs.usage_max >= PIN else found


def working_set(signs: Signs) -> Finding | None:
    """Do hits fall as evictions grow: what returns was given up before? Retracted
    requests find their own KV again, so a rate with retractions in it says nothing."""
    found = windows(signs)
    evicted = signs.track.growth("evicted_total")
    if not found or evicted is None or sum(w.total for w in found) < _FEW_TOKENS:
        return None
    rates = [window.cached / window.total for window in found]
    pool = signs.pool_tokens or 0.0
    falls = len(rates) >= 2 and rates[-1] <= 0.7 * max(rates) and max(rates) >= 0.1
    if signs.throws:
        return no("working_set_exceeds_cache", say("{}s blur the hit rate", signs.word))
    if signs.comes_back == 0:
        return no("working_set_exceeds_cache", "L2 keeps it and gives nothing back")
    if not evicted or not falls:
        return no(
            "working_set_exceeds_cache",
            say("{} tokens evicted, hit rate {} at last", evicted, f"{rates[-1]:.1%}"),
        )
    pools = say(", {} times the pool", f"{evicted / pool:.1f}") if pool else ""
    return yes(
        "working_set_exceeds_cache",
        say(
            "{} tokens were evicted{}, and the hit rate is {} after {}: what comes "
            "back has been given up before",
            evicted,
            pools,
            f"{rates[-1]:.1%}",
            f"{max(rates):.1%}",
        ),
        quotes=[
            quote(found[at].sample, "evicted_total", "cached_total", "computed_total")
            for at in (0, -1)
        ],
    )
