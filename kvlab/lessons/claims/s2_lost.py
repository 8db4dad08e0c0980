"""Article 2, section 3.3: what happens when L2 is full, too?

0.5.14 throughout; 0.5.23 stands beside it where it differs.
Left out: L1's eviction (s2_evict.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...record import events as ev
from ...record.metrics import metrics
from ...run.workbench import Workbench
from ..scenarios.nb07 import A, three_fates
from .ledger import Case, Ledger, case
from .scenes import bench, seen

LEDGER = Ledger()
claim = LEDGER.claim

LONG = range(100, 120)


# --- 3.3 evict_host


@claim(
    "S2-3.3-1", "07",
    ("L2 is much larger than HBM: evict_host is for extremes.",
     "host pool 容量远大于 HBM，evict_host 只是极端场景。"),
    ("Much larger only if it is set so. By default it is twice as large, write_through "
     "fills it at once, and from then on every new node evicts an old one.",
     "只有特意配大才成立。默认只是两倍大，write_through 很快写满；"
     "之后每写一个新节点都要逐出旧的。"),
)  # fmt: skip
def routine() -> Iterator[Case]:
    """How often twenty unique prompts evict from an L2 of the default size, and from
    one ten times as large as L1."""
    for name, size in (("L2 of the default size", None), ("L2 ten times L1", 640)):
        desk = bench(pool_tokens=64, host_tokens=size)
        for at in range(0, 2000, 100):
            desk.insert(range(at, at + 16))
            desk.ack_write()
        evictions = len(seen(desk, ev.EvictHost))
        yield case(name, evictions <= 1, host_evictions=evictions,
                   host_tokens=desk.host_account().total)  # fmt: skip


@claim(
    "S2-3.3-2", "07",
    ("A host leaf has left L1, has a host copy, and is not locked.",
     "host 叶子：value == None、host_value != None、lock_ref == 0。"),
    ("And has no child with a copy of its own.", "并且没有带副本的子节点。"),
)  # fmt: skip
def host_leaves() -> Iterator[Case]:
    """A demoted chain of two: which goes first?"""
    desk = bench(pool_tokens=40, host_tokens=41)
    desk.insert(A)
    desk.insert(LONG)
    desk.ack_write()
    desk.evict(40)
    desk.insert(range(400, 430))
    gone = [e.node for e in seen(desk, ev.EvictHost)]
    order = [_tokens(desk, node) for node in gone]
    yield case("chain of 12 + 8", order[:1] == [8], victims=str(order))


def _tokens(desk: Workbench, node: int) -> int:
    sizes = {e.node: len(e.tokens) for e in seen(desk, ev.Add)}
    return sizes[node]


@claim(
    "S2-3.3-3", "07",
    ("HBM full: the L1 copy goes. L2 full: the node goes, for good.",
     "HBM 满 → 释放 HBM、保留 L2；L2 满 → 删除节点，永久丢失。"),
    ("As it says.", "如其所言。"),
)  # fmt: skip
def chain_of_losses() -> Iterator[Case]:
    """Tokens that left L1, and tokens of which no copy is left."""
    found = metrics(three_fates().trace)
    left, lost = found.evicted_tokens, found.lost_tokens
    yield case("three fates", (left, lost) == (40, 28), left_l1=left, no_copy_left=lost)
