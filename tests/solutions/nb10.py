"""Answers to the exercises of notebook 10: worked out by hand, not by the engine."""

from __future__ import annotations

import re
from itertools import combinations


def told(t: dict) -> list[tuple[str, int, int, int]]:
    """Read the table back: id, priority, prompt, outputs."""
    found = re.findall(
        r"(r\d): priority (\d+), prompt (\d+), outputs (\d+)", t["told"].en
    )
    return [(id, int(p), int(size), int(out)) for id, p, size, out in found]


def victim(t: dict) -> str:
    rows = told(t)
    if t["engine"].en == "SGLang":
        return min(rows, key=lambda r: (r[3], -r[2]))[0]
    if t["engine"].en.endswith("priority"):
        return max(rows, key=lambda r: r[1])[0]
    return rows[-1][0]


def most_urgent(t: dict) -> str:
    """The priority turned round; elsewhere who has written most, first come first."""
    rows = told(t)
    if t["engine"].en.endswith("priority"):
        return min(rows, key=lambda r: r[1])[0]
    return max(rows, key=lambda r: (r[3], r[2]))[0]


def one_before(t: dict) -> str:
    """Off by one in the list."""
    ids = [row[0] for row in told(t)]
    return ids[ids.index(victim(t)) - 1]


def most_outputs(t: dict) -> str:
    others = [row for row in told(t) if row[0] != victim(t)]
    return max(others, key=lambda r: r[3])[0]


def parts(t: dict) -> dict[str, float]:
    at = {name: float(t[name]) for name in t}
    return {
        "queue": at["admitted"] - at["arrived"] + at["again"] - at["preempted"],
        "prefill": at["preempted"] - at["admitted"],
        "recompute": at["first"] - at["again"],
        "ttft": at["first"] - at["arrived"],
    }


def first_wait_only(t: dict) -> dict[str, float]:
    return parts(t) | {"queue": float(t["admitted"]) - float(t["arrived"])}


def no_recompute(t: dict) -> dict[str, float]:
    right = parts(t)
    whole = right["prefill"] + right["recompute"]
    return right | {"prefill": whole, "recompute": 0}


def from_zero(t: dict) -> dict[str, float]:
    """It takes as long again as the first time: from token 0."""
    return parts(t) | {"recompute": parts(t)["prefill"]}


def from_again(t: dict) -> dict[str, float]:
    return parts(t) | {"ttft": float(t["first"]) - float(t["admitted"])}


def choose(running, need):
    best = None
    for size in range(1, len(running) + 1):
        for group in combinations(running, size):
            lost = sum(r.recompute for r in group)
            if sum(r.own for r in group) >= need and (best is None or lost < best[0]):
                best = lost, [r.id for r in group]
    return best[1]


def _until(order, need):
    chosen, freed = [], 0
    for request in order:
        if freed >= need:
            break
        chosen.append(request.id)
        freed += request.own
    return chosen


def last_in(running, need):
    return _until(running[::-1], need)


def oldest(running, need):
    return _until(running, need)


def as_sglang(running, need):
    return _until(sorted(running, key=lambda r: (r.outputs, -r.prompt)), need)


def cheapest_first(running, need):
    return _until(sorted(running, key=lambda r: r.recompute), need)


def one_short(running, need):
    return choose(running, max(need - 1, 1))


def forgets_to_return(running, need):
    choose(running, need)


def everybody(running, need):
    return [r.id for r in running]


SAID = {
    "text": "Fewest outputs; last admitted; what is cached is found again.",
    "sglang": "fewest",
    "vllm": "last",
    "kept": "cached",
}
"""A sentence, and what it claims."""

RIGHT = {
    "10.P": ["b"],
    "10.S": ["tail"],
    "10.P2": ["c"],
    "10.S2": [{"found": 12}],
    "10.E1": [victim],
    "10.E2": [parts],
    "10.E3": [choose],
    "10.E4": [SAID],
}
WRONG = {
    "10.P": ["a", "c", "late"],
    "10.S": ["head", "gone", "both"],
    "10.P2": ["a", "b", "late"],
    "10.S2": [{"found": 0}, {"found": 16}, {"found": 11}, {"found": 13}],
    "10.E1": [most_urgent, one_before, most_outputs],
    "10.E2": [first_wait_only, no_recompute, from_zero, from_again],
    "10.E3": [
        last_in,
        oldest,
        as_sglang,
        cheapest_first,
        one_short,
        everybody,
        forgets_to_return,
    ],
    "10.E4": [
        SAID | {"sglang": "oldest"},
        SAID | {"vllm": "oldest"},
        SAID | {"kept": "nothing"},
        SAID | {"kept": "swapped"},
    ],
}
