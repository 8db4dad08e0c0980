"""Answers to the exercises of notebook 08: worked out by hand, not by the engine."""

from __future__ import annotations


def way_back(t: dict) -> dict[str, int]:
    """L1 holds the first node. What the prompt shares beyond it is on L2: ten tokens or
    more are loaded, fewer are computed along with the prompt's own."""
    host = t["b"] + t["x"]
    loaded = host if host >= 10 else 0
    return {"device": t["a"], "host": host, "loaded": loaded,
            "extend": host - loaded + t["own"]}  # fmt: skip


def whole_nodes(t: dict) -> dict[str, int]:
    """As if a match could not end inside a node."""
    return way_back(t | {"x": 0, "own": t["own"] + t["x"]})


def one_hit(t: dict) -> dict[str, int]:
    """As if L1 and L2 were counted as one."""
    shared = t["a"] + t["b"] + t["x"]
    return {"device": shared, "host": 0, "loaded": 0, "extend": t["own"]}


def the_other_way(t: dict) -> dict[str, int]:
    """As if what is small were loaded and what is large computed."""
    found = way_back(t)
    loaded = found["host"] - found["loaded"]
    return found | {"loaded": loaded, "extend": found["host"] - loaded + t["own"]}


def loaded_is_computed(t: dict) -> dict[str, int]:
    """As if the prompt's own tokens had to be loaded as well."""
    found = way_back(t)
    return found | {"extend": t["b"] + t["x"] + t["own"] + 1 - found["loaded"]}


def load_back(desk):
    tokens = sum(node.tokens for node in desk.path)
    if tokens < desk.threshold:
        return 0
    if desk.quota is not None and tokens > desk.quota + desk.delta:
        return 0
    if desk.available < tokens:
        desk.evict(tokens)
    if desk.available < tokens:
        return 0
    desk.load(desk.path[::-1])
    return tokens


def leaf_first(desk):
    load = desk.load
    desk.load = lambda nodes: load(nodes[::-1])
    return load_back(desk)


def no_threshold(desk):
    desk.threshold = 0
    return load_back(desk)


def at_most_the_threshold(desk):
    desk.threshold += 1
    return load_back(desk)


def quota_with_slack(desk):
    desk.delta = -desk.delta
    return load_back(desk)


def no_delta(desk):
    desk.delta = 0
    return load_back(desk)


def over_at_the_quota(desk):
    desk.delta -= 1
    return load_back(desk)


def zero_is_no_quota(desk):
    desk.quota = desk.quota or None
    return load_back(desk)


def what_fits(desk):
    if sum(node.tokens for node in desk.path) < desk.threshold:
        return 0
    nodes, loaded = [], 0
    for node in desk.path[::-1]:
        if loaded + node.tokens <= desk.available:
            nodes.append(node)
            loaded += node.tokens
    desk.load(nodes)
    return loaded


def no_retry(desk):
    tokens = sum(node.tokens for node in desk.path)
    return load_back(desk) if desk.available >= tokens else 0


def exactly_the_shortfall(desk):
    evict, available = desk.evict, desk.available
    desk.evict = lambda tokens: evict(tokens - available)
    return load_back(desk)


def come_what_may(desk):
    tokens = sum(node.tokens for node in desk.path)
    desk.load(desk.path[::-1])
    return tokens


SAID = {
    "text": "A slot for each token of the chain, or it is computed.",
    "takes": "slots",
    "else": "none",
}
"""A sentence, and what it claims."""

RIGHT = {
    "08.P": ["0"],
    "08.S": ["deleted"],
    "08.P2": ["12"],
    "08.E1": [way_back],
    "08.E2": [
        ["match", "ancestor", "room", "alloc", "first", "second", "lock", "row", "ack"]
    ],
    "08.E3": [load_back],
    "08.E4": [SAID],
}
WRONG = {
    "08.P": ["7", "10", "12", "3"],
    "08.S": ["stays", "demoted", "lost"],
    "08.P2": ["0", "2", "7", "9"],
    "08.E1": [
        whole_nodes, one_hit, the_other_way, loaded_is_computed,
        lambda t: way_back(t) | {"host": way_back(t)["host"] - 1},
    ],
    "08.E2": [
        ["match", "ancestor", "alloc", "room", "first", "second", "lock", "row", "ack"],
        ["match", "ancestor", "room", "alloc", "second", "first", "lock", "row", "ack"],
        ["match", "ancestor", "room", "alloc", "first", "second", "lock", "row", "ack",
         "host"],
        ["match", "ancestor", "room", "alloc", "first", "second", "row", "ack"],
        ["match", "ancestor", "room", "alloc", "first", "second", "ack", "lock", "row"],
    ],
    "08.E3": [
        leaf_first, no_threshold, at_most_the_threshold, quota_with_slack, no_delta,
        over_at_the_quota, what_fits, no_retry, exactly_the_shortfall, come_what_may,
        zero_is_no_quota,
    ],
    "08.E4": [
        SAID | {"takes": "nothing"},
        SAID | {"else": "part"},
        SAID | {"else": "waits"},
        SAID | {"else": "unsaid"},
    ],
}  # fmt: skip
