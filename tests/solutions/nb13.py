"""Answers to the exercises of notebook 13: worked out by hand, not by the engine."""

from __future__ import annotations

import re


def marked(t: dict) -> dict[str, str]:
    """Mark a tour of the loss of C: its stations are 45, 48 and 50; L2 has 13 free."""
    notes = {int(n): text for n, text in re.findall(r"event (\d+): (.*)", t["tour"].en)}
    found = {
        "moments": 5 <= len(notes) <= 7,
        "chain": {45, 48, 50} <= notes.keys(),
        "frame": min(notes) < 45 and max(notes) > 51,
        "numbers": "13 are free: 16 ≤ 13" in notes[48],
    }
    return {part: "yes" if right else "no" for part, right in found.items()}


def flipped(*parts: str):
    """The marks of somebody who sees the opposite in these parts."""
    other = {"yes": "no", "no": "yes"}
    return lambda t: {k: other[v] if k in parts else v for k, v in marked(t).items()}


def chain(causes, at):
    found = []
    while at >= 0:
        found.insert(0, at)
        at = causes[at]
    return found


def recursive(causes, at):
    return [] if at < 0 else [*recursive(causes, causes[at]), at]


def last_first(causes, at):
    return chain(causes, at)[::-1]


def without_itself(causes, at):
    return chain(causes, at)[:-1]


def all_before(causes, at):
    return list(range(at + 1))


def one_step(causes, at):
    return [causes[at], at]


SAID = {
    "text": "D needed 16 of L2 where 13 were free; asking for A again saved A.",
    "cause": "insert",
    "asking": "saves",
}
"""A sentence, and what it claims."""
LINKS = ["load", "evict", "backup", "host", "victim"]

RIGHT = {
    "13.P": ["insert"],
    "13.S": [{"need": 16, "free": 13}],
    "13.P2": ["both"],
    "13.E1": [LINKS],
    "13.E2": [marked],
    "13.E3": [chain, recursive],
    "13.E4": [SAID],
}
WRONG = {
    "13.P": ["match", "left", "full"],
    "13.S": [
        {"need": 16, "free": 41},
        {"need": 3, "free": 13},
        {"need": 12, "free": 13},
    ],
    "13.P2": ["a", "c", "none"],
    "13.E1": [
        ["cold", *LINKS],
        [*LINKS, "copied"],
        ["evict", "load", "backup", "host", "victim"],
        LINKS[:-1],
    ],
    "13.E2": [flipped("chain"), flipped("frame"), flipped("numbers", "moments")],
    "13.E3": [last_first, without_itself, all_before, one_step],
    "13.E4": [
        SAID | {"cause": "match"},
        SAID | {"cause": "full"},
        SAID | {"asking": "costs"},
        SAID | {"asking": "unsaid"},
    ],
}

TOURS = {
    "wrong": {
        12: "X leaves L1; its 20 tokens stay on L2.",
        16: "Y takes 30 slots of L1 and leaves 2. Y has no copy anywhere else.",
        22: "X should come home: 20 ≤ 2 is false. L1 has to make room first.",
        25: "write_back writes Y before it goes: 30 ≤ 20 is false, so L2 makes room.",
        27: "The coldest on L2 is n1: X itself, 20 tokens, whose load is under way. "
            "0.5.23 would have locked it.",
        38: "The load begins all the same. It reads 20 slots that were given away.",
        44: "Who asks for X's 20 tokens now finds 0 on either tier.",
    },
    "refused": {
        67: "r4 is in: its 4 tokens are locked, 8 slots are free.",
        73: "r5 too: 7 < 8 is true, by one slot.",
        91: "r6 is next. None of its 4 tokens is on L1.",
        92: "4 + 2 + 1 = 7 is not less than 4. The 48 free slots of L2 are in no term; "
            "three more of L1 would not do either: equal is refused.",
        98: "The next step does not even fit for those inside: r5 gives way, 1 token "
            "out.",
        105: "Only now L2 gets its first 4 tokens.",
    },
    "victim": {
        131: "Each of 3 requests wants a slot, 1 is free.",
        132: "b gives way: of equal outputs, 4, it has the longest prompt.",
        136: "Its slots are not enough: twenty steps for each of the others are 40, "
             "and 40 ≤ 4 is false.",
        138: "b's prompt, n2, is nobody's now and the coldest: all 46 tokens go. "
             "Without an L2 no copy is left.",
        142: "Now 2 requests go on, with 50 slots free.",
        178: "When b comes back it needs 52 and hits nothing: all is computed anew.",
    },
}  # fmt: skip
"""Tours that explain the outcome of each run that a learner may choose."""
