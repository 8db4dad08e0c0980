"""Answers to the exercises of notebook 09: worked out by hand, not by the engine."""

from __future__ import annotations


def demand(t: dict) -> dict[str, float]:
    return {"demand": t["tokens"] * t["kib"] * 1024 / t["span"] / 1e9}


def kib_as_kb(t: dict) -> dict[str, float]:
    return {"demand": demand(t)["demand"] / 1.024}


def no_kilo(t: dict) -> dict[str, float]:
    return {"demand": demand(t)["demand"] / 1024}


def gibits(t: dict) -> dict[str, float]:
    return {"demand": 8 * demand(t)["demand"]}


def little(t: dict) -> dict[str, float]:
    return {"inside": t["n"] / t["span"] * t["mean"]}


def rate(t: dict) -> dict[str, float]:
    return {"inside": t["n"] / t["span"]}


def all_of_them(t: dict) -> dict[str, float]:
    return {"inside": float(t["n"])}


def upside_down(t: dict) -> dict[str, float]:
    return {"inside": t["span"] / t["mean"]}


def effect(plan):
    if plan.share > 0:
        return "lower" if plan.link > plan.prefill else "higher"
    return "same" if plan.link > plan.demand else "higher"


def only_the_writes(plan):
    if plan.link < plan.demand:
        return "higher"
    return "lower" if plan.share > 0.5 else "same"


def only_the_loads(plan):
    if plan.link < plan.prefill:
        return "higher"
    return "lower" if plan.share > 0.5 else "same"


def always_lower(plan):
    return "lower"


def never(plan):
    return "same"


def no_link(plan):
    return "lower" if plan.share > 0.5 else "same"


def one_bound(plan):
    if plan.link < 4.5:
        return "higher"
    return "lower" if plan.share > 0.5 else "same"


def slogan(plan):
    return "lower" if plan.share > 0.5 and plan.link >= plan.demand else "same"


SAID = {
    "text": "No more seats; shared prefixes leave sooner if the link keeps up.",
    "seats": "same",
    "who": "shared",
    "link": "keeps",
}
"""A sentence, and what it claims."""

RIGHT = {
    "09.P": ["fast none slow"],
    "09.S": ["same"],
    "09.P2": ["same"],
    "09.E1": [demand],
    "09.E2": [little],
    "09.E3": [effect],
    "09.E4": [SAID],
}
WRONG = {
    "09.P": [
        "none fast slow",
        "fast slow none",
        "slow fast none",
        "fast none",
    ],
    "09.S": ["more", "fewer", "twice"],
    "09.P2": ["lower", "higher", "half"],
    "09.E1": [kib_as_kb, no_kilo, gibits],
    "09.E2": [rate, all_of_them, upside_down],
    "09.E3": [
        always_lower,
        never,
        no_link,
        slogan,
        only_the_writes,
        only_the_loads,
        one_bound,
    ],
    "09.E4": [
        SAID | {"seats": "more"},
        SAID | {"who": "nobody"},
        SAID | {"link": "any"},
        SAID | {"who": "all"},
    ],
}
