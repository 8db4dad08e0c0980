"""Answers to the exercises of notebook 12: worked out by hand, not by the engine."""

from __future__ import annotations


def table(t: dict) -> tuple[list[int], list[int]]:
    pairs = [pair.split(": ") for pair in t["told"].en.split(", ")]
    return [int(size) for size, _ in pairs], [int(hits) for _, hits in pairs]


def curve(t: dict) -> dict[str, float]:
    """A hit ratio; the first size whose doubling adds under a point; the lack."""
    sizes, hits = table(t)
    mine = hits[sizes.index(t["size"])]
    knee = next(
        size
        for at, size in enumerate(sizes)
        if 100 * (hits[at + 1] - hits[at]) < t["blocks"]
    )
    return {
        "ratio": 100 * mine / t["blocks"],
        "knee": knee,
        "gap": 100 * (hits[-1] - mine) / t["blocks"],
    }


def one_late(t: dict) -> dict[str, float]:
    return curve(t) | {"knee": 2 * curve(t)["knee"]}


def of_the_ceiling(t: dict) -> dict[str, float]:
    _, hits = table(t)
    return curve(t) | {"ratio": curve(t)["ratio"] * t["blocks"] / hits[-1]}


def percent_of(t: dict) -> dict[str, float]:
    _, hits = table(t)
    return curve(t) | {"gap": 100 * curve(t)["gap"] * t["blocks"] / hits[-1] / 100}


def aged(block):
    return block.last_use + 2000 * min(block.hits, 3)


def once_hit(block):
    return block.last_use + 3000 * (block.hits > 0)


def lru(block):
    return block.last_use


def lfu(block):
    return (block.hits, block.last_use)


def fifo(block):
    return block.created


def longest_first(block):
    return (-block.prompt, block.last_use)


MATRIX = {
    "when": "fails", "signal": "fails", "count": "holds", "risk": "fails",
    "hbm": "partly", "every": "fails", "less": "partly", "fits": "partly",
}  # fmt: skip

SAID = {
    "text": "When much stays; an allocation waits for the copy.",
    "when": "stays",
    "cost": "wait",
}
"""A sentence, and what it claims."""

RIGHT = {
    "12.P": [{"at8": 0, "at9": 27, "at18": 27}],
    "12.S": ["B"],
    "12.P2": [{"through8": 9, "back8": 9, "back9": 0}],
    "12.E1": [curve],
    "12.E2": [SAID],
    "12.E3": [aged, once_hit],
    "12.E4": [MATRIX],
}
WRONG = {
    "12.P": [
        {"at8": 24, "at9": 27, "at18": 27},
        {"at8": 0, "at9": 27, "at18": 36},
        {"at8": 0, "at9": 36, "at18": 36},
        {"at8": 18, "at9": 27, "at18": 30},
    ],
    "12.S": ["A", "C", "none"],
    "12.P2": [
        {"through8": 36, "back8": 9, "back9": 0},
        {"through8": 9, "back8": 0, "back9": 0},
        {"through8": 9, "back8": 9, "back9": 9},
        {"through8": 9, "back8": 10, "back9": 0},
    ],
    "12.E1": [one_late, of_the_ceiling, percent_of],
    "12.E2": [
        SAID | {"when": "always"},
        SAID | {"when": "hits"},
        SAID | {"cost": "nothing"},
        SAID | {"cost": "unsaid"},
    ],
    "12.E3": [lru, lfu, fifo, longest_first],
    "12.E4": [
        dict.fromkeys(MATRIX, "holds"),
        MATRIX | {"risk": "holds"},
        MATRIX | {"hbm": "holds"},
        MATRIX | {"every": "holds"},
    ],
}
