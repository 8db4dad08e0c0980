"""In which order are the waiting requests tried?

        fcfs         as they came
        lpm          longest prefix first, on whichever tier; of those that begin alike
                     and find little on the device, all but the first go last: they
                     wait for its KV
        dfs-weight   by a walk down the tree, first into the branch that most requests
                     wait for, and deepest nodes before those above

lpm falls back to fcfs where more than 128 wait, since it matches every one of them in
every round. The queue itself is sorted, and ties stay as they were.
Source: SGLang 0.5.14, managers/schedule_policy.py, SchedulePolicy, calc_priority.
Left out: lof, random, routing-key, and priorities among requests.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import inf
from typing import Literal, get_args

from ..cache.tree import Node
from .request import Request

Policy = Literal["fcfs", "lpm", "dfs-weight"]
POLICIES: tuple[Policy, ...] = get_args(Policy)

LPM_MOST = 128
"""The longest queue that lpm sorts, and how many a refresh matches."""
REFRESH_EVERY = 32
"""Rounds from one refresh of what the queue waits for to the next.
(SGLang: WAITING_PREFIX_REFRESH_INTERVAL)"""
CHECK_BELOW = 32
"""A device prefix of so many tokens or fewer is little: others may be about to compute
it, whatever the host holds.
(SGLang: IN_BATCH_PREFIX_CACHING_CHECK_THRESHOLD)"""
ALIKE = 32
"""Requests that share so many first tokens begin alike.
(SGLang: IN_BATCH_PREFIX_CACHING_DEPRIORITIZE_THRESHOLD)"""


def active_policy(policy: Policy, waiting: int) -> Policy:
    """Return the policy by which a queue of so many is sorted.

    >>> active_policy("lpm", 128), active_policy("lpm", 129)
    ('lpm', 'fcfs')
    """
    return "fcfs" if policy == "lpm" and waiting > LPM_MOST else policy


def by_prefix(waiting: Sequence[Request]) -> list[Request]:
    """Return the matched requests, longest prefix first (lpm): device and host hits,
    short of the last token, which is always computed."""
    late = _told_to_wait(waiting)

    def found(request: Request) -> int:
        return min(request.device_hit + request.host_hit, request.length - 1)

    return sorted(waiting, key=lambda r: inf if r.id in late else -found(r))


def _told_to_wait(waiting: Sequence[Request]) -> set[str]:
    """Return those that find little and begin like one before them that does."""
    begun: set[bytes] = set()
    late: set[str] = set()
    for request in waiting:
        if request.device_hit > CHECK_BELOW or request.length < ALIKE:
            continue
        head = request.tokens(ALIKE).tobytes()
        if head in begun:
            late.add(request.id)
        else:
            begun.add(head)
    return late


def by_branch(waiting: Sequence[Request]) -> list[Request]:
    """Return the matched requests in the order of the walk (dfs-weight).

    Cost: O(requests x depth + children of the nodes on their paths).
    """
    weight: Counter[Node] = Counter()
    at: defaultdict[Node, list[Request]] = defaultdict(list)
    for request in waiting:
        at[request.node].append(request)
        here: Node | None = request.node
        while here is not None:
            weight[here] += 1
            here = here.parent
    order: list[Request] = []
    stack = [(node, False) for node in weight if node.parent is None]
    while stack:
        node, done = stack.pop()
        if done:
            order += at[node]
            continue
        stack.append((node, True))
        wanted = [child for child in node.children.values() if child in weight]
        wanted.sort(key=lambda child: -weight[child])
        stack += [(child, False) for child in reversed(wanted)]
    return order
