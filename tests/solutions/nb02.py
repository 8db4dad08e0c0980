"""Answers to the exercises of notebook 02: worked out by hand, not by the engine."""

from __future__ import annotations

AFTER = {"available": 15, "evictable": 0, "protected": 6, "held": 3}


def missing(t: dict) -> dict[str, int]:
    held = t["total"] - t["available"] - t["evictable"] - t["protected"]
    return {"held": held, "used": held + t["protected"]}


def inc_lock_ref(node, account):
    while node.parent is not None:
        if node.lock_ref == 0:
            account.evictable -= node.tokens
            account.protected += node.tokens
        node.lock_ref += 1
        node = node.parent


def every_time(node, account):
    while node.parent is not None:
        account.evictable -= node.tokens
        account.protected += node.tokens
        node.lock_ref += 1
        node = node.parent


def one_node(node, account):
    if node.lock_ref == 0:
        account.evictable -= node.tokens
        account.protected += node.tokens
    node.lock_ref += 1


def too_late(node, account):
    while node.parent is not None:
        node.lock_ref += 1
        if node.lock_ref == 0:
            account.evictable -= node.tokens
            account.protected += node.tokens
        node = node.parent


def the_root_too(node, account):
    while node is not None:
        if node.lock_ref == 0:
            account.evictable -= node.tokens
            account.protected += node.tokens
        node.lock_ref += 1
        node = node.parent


def from_available(node, account):
    while node.parent is not None:
        if node.lock_ref == 0:
            account.protected += node.tokens
        node.lock_ref += 1
        node = node.parent


SAID = {
    "text": "What decode wrote is held by the request, not yet on the tree.",
    "which": "decoded",
    "where": "request",
}
"""A sentence, and what it claims."""

RIGHT = {
    "02.P": [AFTER],
    "02.S": ["evictable"],
    "02.P2": [8],
    "02.E1": [missing],
    "02.E2": [["match", "alloc", "add", "lock", "grow", "unlock"]],
    "02.E3": [inc_lock_ref],
    "02.E4": [SAID],
}

WRONG = {
    "02.P": [
        AFTER | {"protected": 9, "held": 0},
        AFTER | {"available": 18, "held": 0},
        AFTER | {"available": 14, "held": 4},
        AFTER | {"evictable": 6, "protected": 0},
    ],
    "02.S": ["available", "protected", "held"],
    "02.P2": [3, 4, 6, 0],
    "02.E1": [
        lambda t: {"held": 0, "used": t["protected"]},
        lambda t: missing(t) | {"used": t["protected"]},
        lambda t: missing(t) | {"used": missing(t)["used"] + t["evictable"]},
        lambda t: missing(t) | {"held": missing(t)["held"] + 1},
    ],
    "02.E2": [
        ["match", "alloc", "add", "lock", "grow", "free"],
        ["match", "lock", "alloc", "add", "grow", "unlock"],
        ["alloc", "match", "add", "lock", "grow", "unlock"],
        ["match", "alloc", "grow", "add", "lock", "unlock"],
    ],
    "02.E3": [every_time, one_node, too_late, from_available, the_root_too],
    "02.E4": [
        SAID | {"which": "evictable"},
        SAID | {"where": "tree"},
        SAID | {"which": "prompt"},
        SAID | {"where": "unsaid"},
    ],
}
