"""Answers to the exercises of notebook 14: worked out by hand, not by the engine."""

from __future__ import annotations


def evicted(t: dict) -> dict[str, int]:
    """Whole leaves, coldest first: until the whole need is met, or the shortfall."""

    def gone(ask: int) -> int:
        freed = 0
        for leaf in (t["a"], t["b"], t["c"]):
            if freed < ask:
                freed += leaf
        return freed

    return {"old": gone(t["need"]), "new": gone(t["need"] - t["free"])}


SAID = {
    "text": "The eviction that makes room may drop its copy.",
    "danger": "drop",
    "then": "wrong",
}
"""A sentence, and what it claims."""

RIGHT = {
    "14.P": [{"old": 1, "new": 2}],
    "14.S": ["12"],
    "14.P2": [{"old": "wrong", "new": "alone"}],
    "14.S2": ["x"],
    "14.P3": ["none"],
    "14.P4": [{"old": "stall", "new": "lost"}],
    "14.S4": ["both"],
    "14.E1": [evicted],
    "14.E2": [["hold", "drop", "load", "done", "free"]],
    "14.E3": [SAID],
}

WRONG = {
    "14.P": [{"old": 2, "new": 2}, {"old": 1, "new": 1}, {"old": 0, "new": 0}],
    "14.S": ["2", "20", "10"],
    "14.P2": [
        {"old": "both", "new": "both"},
        {"old": "alone", "new": "alone"},
        {"old": "wrong", "new": "both"},
        {"old": "none", "new": "alone"},
    ],
    "14.S2": ["y", "none", "n1"],
    "14.P3": ["alone", "both", "wrong"],
    "14.P4": [
        {"old": "stall", "new": "stall"},
        {"old": "lost", "new": "lost"},
        {"old": "stall", "new": "kept"},
    ],
    "14.S4": ["old", "new", "none"],
    "14.E1": [
        lambda t: {"old": t["need"], "new": t["need"] - t["free"]},
        lambda t: dict.fromkeys(("old", "new"), evicted(t)["old"]),
        lambda t: dict.fromkeys(("old", "new"), evicted(t)["new"]),
    ],
    "14.E2": [
        ["hold", "lose", "drop", "load", "done", "free"],
        ["drop", "hold", "load", "done", "free"],
        ["hold", "drop", "free", "load", "done"],
    ],
    "14.E3": [
        SAID | {"danger": "late"},
        SAID | {"then": "slow"},
        SAID | {"danger": "busy"},
    ],
}  # fmt: skip
