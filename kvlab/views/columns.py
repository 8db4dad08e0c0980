"""Which columns of numbers are the player's state?

The account, nodes, requests and pages, each a column of integers. `columns_of` gives
them straight from a snapshot, for the test; how events move them says patches.py.
Left out: what the columns look like (player/).
"""

from __future__ import annotations

from ..pages import Pages
from ..record.events import Tier
from ..record.moment import NodeState
from ..record.snapshot import State

COLUMNS: tuple[str, ...] = (
    "account",
    "parent", "start", "len", "lock", "host_lock", "hits", "priority", "l1", "l2",
    "life", "stage", "place", "kv", "outputs", "owned", "locks", "prompt", "max_new",
    "retracted", "owner1", "place1", "owner2", "place2",
)  # fmt: skip
PATH = len(COLUMNS)
"""The patch that adds to `lock` of a node and of all its ancestors."""

BATCH = PATH + 1
"""The patch that adds to `kv` and `outputs` of every running request."""

DELTAS = ("account", "lock", "host_lock", "hits", "kv", "outputs", "retracted")
OWNERS = ("owner1", "owner2")
"""Columns whose patches cover `count` pages and move what stands beside them: `place`,
the page's position on its path plus one, 0 for none."""

KEEP, RESET, ONWARD, PLACE = 0, 1, 2, 3
"""What a page patch does to `place`: nothing; back to 0; positions go on where the last
patch of the column ended; or the first page gets position `PLACE` less than said."""

ACCOUNT = ("available", "evictable", "used", "host_only", "host_available", "copies")
"""Rows of the column `account`, in tokens."""

ABSENT, PRESENT, MOVING = 0, 1, 2
"""What `l1` and `l2` say: no copy, a copy, a copy on its way there."""

FREE, LOOSE = 0, 1
"""Owners of a page that is nobody's: free, or taken and not yet (or no more) owned."""

STAGES = ("", "waiting", "chunked", "running", "finished", "dropped")

MOST = 2**31 - 1
"""Columns are 32 bits wide in the browser."""

AT = {name: number for number, name in enumerate(COLUMNS)}
"""Where each column stands."""


def owner_of_node(node: int) -> int:
    """Return the owner number of a node: even, 2 and up."""
    return 2 + 2 * node


def owner_of_request(place: int) -> int:
    """Return the owner number of the request in that place of the list: odd."""
    return 3 + 2 * place


def columns_of(state: State, requests: dict[str, int]) -> dict[str, dict[int, int]]:
    """Return the columns of a state, zeros left out. Cost: O(pages + nodes).

    What a node or request leaves behind when it goes is not told: rows of the dead,
    and places of pages without owner, are left out.
    """
    found: dict[str, dict[int, int]] = {name: {} for name in COLUMNS}
    page = state.config.page_size
    for node in (*state.orphans.values(), *state.nodes.values()):
        orphan = node.id not in state.nodes
        for name, value in _node_rows(state, node, orphan):
            found[name][node.id] = value
    for id, place in requests.items():
        if (request := state.requests.get(id)) is None:
            continue
        found["stage"][place] = STAGES.index(request.stage)
        found["kv"][place], found["outputs"][place] = request.kv_len, request.outputs
        found["owned"][place], found["locks"][place] = request.owned_len, request.node
        found["prompt"][place] = request.prompt_len
        found["max_new"][place] = request.max_new
        found["retracted"][place] = request.retracted
    for tier, pool in state.pools.items():
        owners, places = found[f"owner{tier[1]}"], found[f"place{tier[1]}"]
        free = set(pool.free.to_pages().tolist())
        for pages, owner, position in _holders(state, requests, tier, page):
            for at, number in enumerate(pages.tolist(), position + 1):
                if number not in free:
                    owners[number], places[number] = owner, at
    return {
        name: {row: value for row, value in rows.items() if value}
        for name, rows in found.items()
    }


def _node_rows(
    state: State, node: NodeState, orphan: bool
) -> tuple[tuple[str, int], ...]:
    def copy(pages: Pages | None, moving: int | None) -> int:
        if pages is None:
            return ABSENT
        return PRESENT if moving is None else MOVING

    return (
        ("parent", node.parent), ("start", state.start_of(node.id)),
        ("len", len(node.tokens)), ("lock", node.lock_ref),
        ("host_lock", node.host_lock_ref), ("hits", node.hit_count),
        ("priority", node.priority), ("l1", copy(node.pages, node.loading)),
        ("l2", ABSENT if orphan else copy(node.host_pages, node.writing)),
        ("life", 2 if orphan else 1),
    )  # fmt: skip


def _holders(
    state: State, requests: dict[str, int], tier: Tier, page: int
) -> list[tuple[Pages, int, int]]:
    """Return who owns which pages, and the position of the first on its path."""
    held: list[tuple[Pages, int, int]] = []
    if tier == "L1":
        for id, request in state.requests.items():
            cut = request.owned_len // page
            held.append((request.row[cut:], owner_of_request(requests[id]), cut))
    for node in (*state.orphans.values(), *state.nodes.values()):
        pages = node.pages if tier == "L1" else node.host_pages
        if tier == "L2" and node.id not in state.nodes:
            pages = None
        if pages is not None:
            start = state.start_of(node.id) // page
            held.append((pages, owner_of_node(node.id), start))
    return held
