"""Answers to the exercises of notebook 03: worked out by hand, not by the engine."""

from __future__ import annotations

import re
from fractions import Fraction


def dump(t: dict) -> list[tuple[int, bool]]:
    """Read the dump back: (ref_cnt, has a hash) of each block but the null block."""
    found = re.findall(r"(\d+): (\d+) (h|–)", t["dump"])
    return [(int(ref), mark == "h") for id, ref, mark in found if id != "0"]


def report(t: dict) -> dict[str, int]:
    blocks = dump(t)
    free = [hashed for ref, hashed in blocks if ref == 0]
    held = len(blocks) - len(free)
    return {
        "free": len(free), "evictable": sum(free),
        "usage": round(100 * held / len(blocks)),
    }  # fmt: skip


def blank_only(t: dict) -> dict[str, int]:
    told = report(t)
    return told | {"free": told["free"] - told["evictable"]}


def with_null(t: dict) -> dict[str, int]:
    return report(t) | {"free": report(t)["free"] + 1}


def of_eleven(t: dict) -> dict[str, int]:
    return report(t) | {"usage": round(100 * (11 - report(t)["free"]) / 11)}


def cached_is_used(t: dict) -> dict[str, int]:
    told = report(t)
    return told | {"usage": told["usage"] + 10 * told["evictable"]}


def queue(t: dict, tail_first: bool = True, touched: bool = True) -> list[str]:
    """Unhashed to the head, hashed to the tail, a request's last block first."""
    held = {"a": ["1", "2", "3"], "b": ["4", "5", "6"]}
    free: list[str] = []
    for id in (t["first"], t["last"]):
        *full, part = held[id]
        free = [part, *free, *(full[::-1] if tail_first else full)]
    if t["again"] in held and touched:
        full = held[t["again"]][:2]
        free = [b for b in free if b not in full]
        free += full[::-1] if tail_first else full
    return free


def head_first(t: dict) -> list[str]:
    return queue(t, tail_first=False)


def hashed_first(t: dict) -> list[str]:
    right = queue(t)
    return right[2:] + right[:2]


def parts_swapped(t: dict) -> list[str]:
    right = queue(t)
    return [right[1], right[0], *right[2:]]


def usage(blocks):
    usable = [b for b in blocks if not b.is_null]
    if not usable:
        return 0.0
    return sum(b.ref_cnt > 0 for b in usable) / len(usable)


def as_a_fraction(blocks):
    return Fraction(usage(blocks)).limit_denominator(1000)


def counts_null(blocks):
    return sum(b.ref_cnt > 0 or b.is_null for b in blocks) / len(blocks)


def cached_counts(blocks):
    usable = [b for b in blocks if not b.is_null]
    held = sum(b.ref_cnt > 0 or b.has_hash for b in usable)
    return held / len(usable) if usable else 0.0


def owners(blocks):
    usable = [b for b in blocks if not b.is_null]
    return sum(b.ref_cnt for b in usable) / len(usable) if usable else 0.0


def no_edge(blocks):
    usable = [b for b in blocks if not b.is_null]
    return sum(b.ref_cnt > 0 for b in usable) / len(usable)


def percent(blocks):
    return 100 * usage(blocks)


SAID = {
    "text": "Nobody holds it, and it can be hit until it is given away.",
    "free": "nobody",
    "lost": "taken",
}
"""A sentence, and what it claims."""

RIGHT = {
    "03.P": [{"free": 10, "usage": 0, "hit": 8}],
    "03.S": ["head"],
    "03.P2": ["admission"],
    "03.E1": [report],
    "03.E2": [queue],
    "03.E3": [usage, as_a_fraction],
    "03.E4": [SAID],
}
WRONG = {
    "03.P": [
        {"free": 10, "usage": 0, "hit": 0},
        {"free": 8, "usage": 0, "hit": 8},
        {"free": 8, "usage": 20, "hit": 8},
        {"free": 10, "usage": 0, "hit": 10},
        {"free": 10, "usage": 0, "hit": 9},
        {"free": 11, "usage": 0, "hit": 8},
    ],
    "03.S": ["tail", "middle", "never"],
    "03.P2": ["evict", "decode", "nowhere"],
    "03.E1": [blank_only, with_null, of_eleven, cached_is_used],
    "03.E2": [
        head_first,
        hashed_first,
        parts_swapped,
        ["1", "2", "3", "4", "5", "6"],
    ],
    "03.E3": [counts_null, cached_counts, owners, no_edge, percent],
    "03.E4": [
        SAID | {"free": "empty"},
        SAID | {"lost": "watermark"},
        SAID | {"lost": "ended"},
        SAID | {"lost": "unsaid"},
    ],
}
