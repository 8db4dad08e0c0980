"""Answers to the exercise of notebook 00: worked out by hand, not by the engine."""

from __future__ import annotations


def least(t: dict) -> int:
    """Admitted only if prompt + max_new + 1 page < total - used."""
    return t["used"] + t["prompt"] + t["max_new"] + 1 + 1


RIGHT = {"00.E1": [least]}

WRONG = {
    "00.E1": [
        lambda t: least(t) - 1,
        lambda t: least(t) + 1,
        lambda t: t["used"] + t["prompt"],
        lambda t: t["used"] + t["prompt"] + t["max_new"],
        lambda t: t["used"],
    ],
}
