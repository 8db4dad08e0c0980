"""Answers to the exercises of notebook 06: worked out by hand, not by the engine."""

from __future__ import annotations


def on_host(t: dict) -> dict[str, int]:
    """write_through: at the first hit, chunks count none. selective: at the second.

    write_back: at the eviction, all of it."""
    a, b, rest = t["a"], t["b"], t["rest"]
    if t["policy"] == "write_through":
        return {"a": a, "again": a, "chunk": a, "rest": a + b + rest,
                "evict": a + b + rest}  # fmt: skip
    if t["policy"] == "write_through_selective":
        return {"a": 0, "again": a, "chunk": a, "rest": a, "evict": a}
    return {"a": 0, "again": 0, "chunk": 0, "rest": 0, "evict": a + b + rest}


def second_hit(t: dict) -> dict[str, int]:
    a, b, rest = t["a"], t["b"], t["rest"]
    return {"a": 0, "again": a, "chunk": a, "rest": a + b + rest, "evict": a + b + rest}


def chunk_counts(t: dict) -> dict[str, int]:
    return on_host(t) | {"chunk": t["a"] + t["b"]}


def one_more(t: dict) -> dict[str, int]:
    return on_host(t) | {"a": on_host(t)["a"] + 1}


def guard(hit):
    if hit.backed_up or hit.hits < hit.threshold:
        return False
    return hit.parent_is_root or hit.parent_backed_up


def nothing_or_true(hit):
    if guard(hit):
        return True


def once_at_the_threshold(hit):
    return guard(hit) and hit.hits == hit.threshold


def no_parent(hit):
    return not hit.backed_up and hit.hits >= hit.threshold


def as_quoted(hit):
    return no_parent(hit) and hit.parent_backed_up


def every_hit(hit):
    return hit.hits >= hit.threshold


def second(hit):
    return guard(hit) and hit.hits > hit.threshold


SAID = {
    "text": "At the first insert, and the path is locked until the ack.",
    "when": "first",
    "pays": "lock",
}
"""A sentence, and what it claims."""

RIGHT = {
    "06.P": [{"write_through": 12, "write_through_selective": 0, "write_back": 0}],
    "06.S": ["protected"],
    "06.P2": ["2"],
    "06.E1": [on_host],
    "06.E2": [["hit", "parent", "slots", "lock", "ack", "unlock"]],
    "06.E3": [guard, nothing_or_true],
    "06.E4": [SAID],
}
WRONG = {
    "06.P": [
        {"write_through": 0, "write_through_selective": 0, "write_back": 0},
        {"write_through": 12, "write_through_selective": 12, "write_back": 0},
        {"write_through": 12, "write_through_selective": 0, "write_back": 12},
        {"write_through": 13, "write_through_selective": 0, "write_back": 0},
    ],
    "06.S": ["evictable", "available", "lost"],
    "06.P2": ["1", "4", "never"],
    "06.E1": [second_hit, chunk_counts, one_more],
    "06.E2": [
        ["hit", "parent", "lock", "slots", "ack", "unlock"],
        ["hit", "parent", "slots", "lock", "ack", "unlock", "free"],
        ["parent", "hit", "slots", "lock", "ack", "unlock"],
        ["hit", "parent", "slots", "ack"],
    ],
    "06.E3": [no_parent, as_quoted, every_hit, second, once_at_the_threshold],
    "06.E4": [
        SAID | {"when": "second"},
        SAID | {"when": "match"},
        SAID | {"pays": "nothing"},
        SAID | {"pays": "unsaid"},
    ],
}
