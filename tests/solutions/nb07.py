"""Answers to the exercises of notebook 07: worked out by hand, not by the engine.

RIGHT holds one or more an exercise, WRONG at least three; those of exercises with
numbers are functions of the numbers drawn.
"""

from __future__ import annotations

FATES = {"A": "demoted", "B": "deleted", "C": "lost"}


def by_fate(t: dict) -> dict[str, int]:
    """B was never on L2. D asks L2 for its whole size; leaves go whole, coldest first.

    What was not asked for again is colder."""
    cold, warm = ("c", "a") if t["kept"] == "A" else ("a", "c")
    lost, kept = t[cold], t[warm]
    if lost < t["d"]:
        lost, kept = lost + kept, 0
    return {"demoted": kept, "deleted": t["b"], "lost": lost}


def the_shortfall_alone(t: dict) -> dict[str, int]:
    """As if L2 were asked for what is missing: one leaf would be enough."""
    cold, warm = ("c", "a") if t["kept"] == "A" else ("a", "c")
    if t[cold] >= t["d"]:  # one is enough for the whole need, too
        return by_fate(t) | {"deleted": 0}
    return {"demoted": t[warm], "deleted": t["b"], "lost": t[cold]}


def evict(desk, ask):
    freed = 0
    for leaf in desk.leaves:
        if freed >= ask:
            break
        if leaf.locked:
            continue
        if leaf.backed_up:
            desk.demote(leaf)
        elif desk.write_back:
            desk.back_up(leaf)
        else:
            desk.delete(leaf)
        freed += leaf.tokens
    return freed


def evict_one_too_many(desk, ask):
    freed = 0
    for leaf in desk.leaves:
        if freed > ask:
            break
        if not leaf.locked:
            freed += leaf.tokens
            act = desk.back_up if desk.write_back else desk.delete
            (desk.demote if leaf.backed_up else act)(leaf)
    return freed


def evict_exactly(desk, ask):
    return min(evict(desk, ask), ask)


def evict_is_loss(desk, ask):
    freed = 0
    for leaf in desk.leaves:
        if freed < ask and not leaf.locked:
            desk.delete(leaf)
            freed += leaf.tokens
    return freed


def evict_through_locks(desk, ask):
    desk.leaves = [leaf._replace(locked=False) for leaf in desk.leaves]
    return evict(desk, ask)


SAID = {
    "text": "When L2 has no copy: never made, or dropped.",
    "when": "copy",
    "how": "both",
}
"""A sentence, and what it claims."""

RIGHT = {
    "07.P": [FATES],
    "07.S": ["same"],
    "07.P2": ["3"],
    "07.E1": [by_fate],
    "07.E2": [["insert", "refused", "victim", "backup", "ack"]],
    "07.E3": [evict],
    "07.E4": [SAID],
}

WRONG = {
    "07.P": [
        dict.fromkeys("ABC", "deleted"),
        FATES | {"B": "demoted"},
        FATES | {"C": "demoted"},
        {"A": "lost", "B": "deleted", "C": "demoted"},
    ],
    "07.S": ["more", "less", "none of these"],
    "07.P2": ["1", "2", "0"],
    "07.E1": [
        lambda t: {"demoted": 0, "deleted": t["a"] + t["b"] + t["c"], "lost": 0},
        lambda t: {"demoted": t["a"] + t["c"], "deleted": t["b"], "lost": 0},
        lambda t: by_fate(t) | {"lost": t["d"] - t["host"] + t["a"] + t["c"]},
        lambda t: by_fate(t) | {"deleted": by_fate(t)["deleted"] + 1},
        lambda t: by_fate(t) | {"deleted": 0, "demoted": t["a"] + t["b"]},
        the_shortfall_alone,
    ],
    "07.E2": [
        ["insert", "backup", "ack"],
        ["insert", "refused", "victim", "backup", "ack", "demote"],
        ["refused", "victim", "insert", "backup", "ack"],
        ["insert", "victim", "refused", "backup", "ack"],
    ],
    "07.E3": [
        evict_one_too_many, evict_exactly, evict_is_loss, evict_through_locks,
        lambda desk, ask: ask,
    ],
    "07.E4": [
        SAID | {"when": "every"},
        SAID | {"when": "second"},
        SAID | {"how": "never"},
        SAID | {"how": "dropped"},
    ],
}  # fmt: skip
