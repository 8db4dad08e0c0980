"""Answers to the exercises of notebook 05: worked out by hand, not by the engine."""

from __future__ import annotations

import math


def total(t: dict) -> dict[str, float]:
    promised = t["running"] * t["left"] * t["ratio"]
    return {
        "room": t["available"] + t["evictable"] - promised,
        "need": t["extend"] + t["max_new"] + 1,
    }


def vllm(t: dict) -> dict:
    """The null block is nobody's; a request of 16 tokens takes 4 blocks of 4."""
    lines = {
        "blocks": (t["num_gpu_blocks"] - 1) // 4,
        "seats": t["max_num_seqs"],
        "tokens": math.ceil(t["max_num_batched_tokens"] / 16),
    }
    line = min(lines, key=lines.__getitem__)
    return {"in": lines[line], "line": line}


def admits(extend, max_new, page, available, evictable, promised):
    return extend + max_new + page < available + evictable - promised


SAID = {
    "text": "The test reads L1's counters, L2 is not in it.",
    "reads": "l1",
    "l2": "unread",
}
"""A sentence, and what it claims."""

RIGHT = {
    "05.P": ["room"],
    "05.S": [5.2],
    "05.P2": ["in"],
    "05.P3": ["same"],
    "05.E1": [total],
    "05.E2": [["match", "r4 test", "r5 test", "alloc", "start"]],
    "05.E3": [admits],
    "05.E4": [SAID],
    "05.E5": [vllm],
}

WRONG = {
    "05.P": ["admitted", "input_budget", "host"],
    "05.S": [37, 31.8, 15, 20.2],
    "05.P2": ["worse", "same", "never"],
    "05.P3": ["in", "later", "sooner"],
    "05.E1": [
        lambda t: total(t) | {"room": t["available"] + t["evictable"]},
        lambda t: total(t) | {"room": total(t)["room"] - t["evictable"]},
        lambda t: total(t) | {"need": t["extend"] + t["max_new"]},
        lambda t: total(t) | {"room": total(t)["room"] + 1},
    ],
    "05.E2": [
        ["match", "r4 test", "alloc", "start", "r5 test"],
        ["match", "r4 test", "r5 test", "ask L2", "alloc", "start"],
        ["r4 test", "match", "r5 test", "alloc", "start"],
    ],
    "05.E3": [
        lambda extend, max_new, page, available, evictable, promised: (
            extend + max_new + page <= available + evictable - promised
        ),
        lambda extend, max_new, page, available, evictable, promised: (
            extend + max_new < available + evictable - promised
        ),
        lambda extend, max_new, page, available, evictable, promised: (
            extend + max_new + page < available - promised
        ),
        lambda extend, max_new, page, available, evictable, promised: (
            extend + page < available + evictable
        ),
        lambda *terms: True,
    ],
    "05.E4": [
        SAID | {"l2": "full"},
        SAID | {"reads": "gpu"},
        SAID | {"reads": "both"},
        SAID | {"l2": "slow"},
    ],
    "05.E5": [
        lambda t: vllm(t) | {"in": vllm(t)["in"] + 1},
        lambda t: vllm(t) | {"in": vllm(t)["in"] - 1},
        lambda t: vllm(t) | {"line": "L2"},
    ],
}
