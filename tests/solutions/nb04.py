"""Answers to the exercises of notebook 04: worked out by hand, not by the engine."""

from __future__ import annotations

from itertools import accumulate


def order(t: dict) -> list[str]:
    """lru: last touch. lfu: touches, then last touch. fifo: birth."""
    told = t["told"].split()
    born = [word[1:] for word in told if word.startswith("+")]
    touches = [word.lstrip("+") for word in told]
    last = {name: len(touches) - touches[::-1].index(name) for name in born}
    if t["policy"] == "fifo":
        return born
    if t["policy"] == "lru":
        return sorted(born, key=last.__getitem__)
    return sorted(born, key=lambda name: (touches.count(name), last[name]))


def other_way(t: dict) -> list[str]:
    return order(t)[::-1]


def swapped(t: dict) -> list[str]:
    first, second, *rest = order(t)
    return [second, first, *rest]


def all_but_one(t: dict) -> list[str]:
    return order(t)[:-1]


def wish(t: dict) -> dict[str, int]:
    missing = t["need"] - t["free"]
    sizes = map(int, t["sizes"].split(", "))
    freed = next(total for total in accumulate(sizes) if total >= missing)
    return {"ask": missing, "freed": freed, "old": t["need"]}


def exact(t: dict) -> dict[str, int]:
    return wish(t) | {"freed": t["need"] - t["free"]}


def one_ask(t: dict) -> dict[str, int]:
    return wish(t) | {"old": t["need"] - t["free"]}


def one_off(t: dict) -> dict[str, int]:
    return wish(t) | {"ask": wish(t)["ask"] + 1}


def slru(leaf):
    return (leaf.hits >= 2, leaf.last_access)


def lru(leaf):
    return leaf.last_access


def lfu(leaf):
    return (leaf.hits, leaf.last_access)


def three_hits(leaf):
    return (leaf.hits >= 3, leaf.last_access)


SAID = {
    "text": "When slots are missing, and whole leaves.",
    "when": "missing",
    "more": "leaf",
}
"""A sentence, and what it claims."""

RIGHT = {
    "04.P": [{"freed": 7, "left": 6}],
    "04.S": ["0"],
    "04.P2": ["child C"],
    "04.E1": [order],
    "04.E2": [wish],
    "04.E3": [slru],
    "04.E4": [SAID],
}
WRONG = {
    "04.P": [
        {"freed": 1, "left": 0},
        {"freed": 4, "left": 3},
        {"freed": 7, "left": 7},
        {"freed": 8, "left": 7},
    ],
    "04.S": ["4", "7", "36"],
    "04.P2": ["A", "child D", "C"],
    "04.E1": [other_way, swapped, all_but_one],
    "04.E2": [exact, one_ask, one_off],
    "04.E3": [lru, lfu, three_hits],
    "04.E4": [
        SAID | {"when": "waterline"},
        SAID | {"more": "exact"},
        SAID | {"more": "page"},
        SAID | {"more": "unsaid"},
    ],
}
