"""Answers to the exercises of notebook 11, read off the graphs as a person does."""

from __future__ import annotations

from kvlab.lessons.scenarios.nb11 import LETTERS, graphs


def readings(number: int, letter: str) -> dict[str, float]:
    """The highest reading of each graph, as its text twin tells it."""
    highest = {}
    for line in graphs(number, letter).text.splitlines():
        name, told = line.split(": ")
        highest[name] = float(told.split(",")[0].split()[0])
    return highest


def verdict(number: int, letter: str) -> str:
    """Full and many run: the ceiling. Full and few: the link. A queue with room: the
    cap. Nobody waits: the prefix broke if L2 filled twice as far."""
    high = readings(number, letter)
    if high["token_usage"] > 90:
        return "ceiling" if high["num_running_reqs"] > 20 else "link"
    if high["num_queue_reqs"] > 5:
        return "cap"
    return "prefix" if high["hicache_host_used_tokens"] > 60 else "healthy"


def verdicts(t: dict) -> dict[str, str]:
    return {letter: verdict(t["number"], letter) for letter in LETTERS}


def swap(one: str, other: str):
    """The verdicts of somebody who takes one for the other."""
    names = {one: other, other: one}
    return lambda t: {k: names.get(v, v) for k, v in verdicts(t).items()}


def by_running(now):
    return now.usage > 0.8 and now.queue > 5 and now.running > 20


def by_retractions(now):
    return now.retracted > 6


def as_the_article(now):
    return now.usage > 0.95 and now.queue > 0 and now.retracted > 0


def full(now):
    return now.usage > 0.95


def somebody_waits(now):
    return now.queue > 0


def hit_rate(now):
    return now.hit_rate is not None and now.hit_rate < 0.3


def few_hits_and_a_queue(now):
    return (now.hit_rate or 1.0) < 0.5 and now.queue > 5


def never(now):
    return False


PROOF = {"ceiling_link": "running", "cap_link": "usage", "cap_healthy": "queue"}

SAID = {
    "text": "Prefill was saved; whether there is room it does not tell.",
    "tells": "saved",
    "silent": "room",
}
"""A sentence, and what it claims."""

RIGHT = {
    "11.P": ["link"],
    "11.S": ["one"],
    "11.P2": ["link"],
    "11.E1": [verdicts],
    "11.E2": [PROOF],
    "11.E3": [by_running, by_retractions],
    "11.E4": [SAID],
}
WRONG = {
    "11.P": ["ceiling", "cap", "healthy"],
    "11.S": ["many", "some", "none"],
    "11.P2": ["l1", "l2", "cap"],
    "11.E1": [
        swap("ceiling", "link"), swap("cap", "ceiling"), swap("prefix", "healthy"),
    ],
    "11.E2": [
        PROOF | {"ceiling_link": "usage"},
        PROOF | {"cap_link": "running"},
        dict.fromkeys(PROOF, "queue"),
    ],
    "11.E3": [
        as_the_article, full, somebody_waits, hit_rate, few_hits_and_a_queue, never,
    ],
    "11.E4": [
        SAID | {"tells": "well"},
        SAID | {"tells": "room"},
        SAID | {"silent": "unsaid"},
    ],
}  # fmt: skip
