"""Article 2, sections 3 to 3.2: whom does an eviction take, and what becomes of it?

0.5.14 throughout; 0.5.23 stands beside it where it differs.
Left out: L2's own eviction (s2_lost.py), the way back (s2_load.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...record import events as ev
from ...run.script import AnyOp, DecodeStepOp, EvictOp, InsertOp
from ...run.workbench import Workbench
from ..questions import fates
from ..scenarios.nb07 import A, B, C, three_fates
from .ledger import Case, Ledger, case
from .scenes import NEW, OLD, bench, forced, new, prefill, seen

LEDGER = Ledger()
claim = LEDGER.claim

LONG = range(100, 120)


@claim(
    "S2-3.0-1", "04",
    ("Eviction reacts: it does not prevent.", "逐出不是预防性的，是响应性的。"),
    ("Nothing goes while something is available.", "只要还有空位就不逐出。"),
)  # fmt: skip
def reacts() -> Iterator[Case]:
    """Evictions before and after the pool is full."""
    desk = bench(pool_tokens=40)
    for leaf in (A, B, C):
        desk.insert(leaf)
        desk.ack_write()
    before = len(seen(desk, ev.Evict))
    desk.insert(range(400, 404))
    yield case("full, then four more", before == 0 and len(seen(desk, ev.Evict)) == 1,
               before=before, after=len(seen(desk, ev.Evict)))  # fmt: skip


@claim(
    "S2-3.1-1", "04",
    ("A candidate has lock_ref 0, holds device pages, and has no child that does.",
     "候选须 lock_ref == 0、持有 device pages、且所有子节点已 evicted。"),
    ("As it says; a host-only child does not stand in the way.",
     "如其所言；只在 L2 的子节点不挡路。"),
)  # fmt: skip
def candidates() -> Iterator[Case]:
    """Who can go: of a chain the leaf first, then its parent; a locked leaf never."""
    desk = bench()
    desk.insert(A)
    desk.insert(LONG)
    desk.insert(B)
    desk.ack_write()
    desk.lock("reader", B)
    desk.evict(64)
    order = [e.tokens for e in seen(desk, ev.Victim)]
    yield case("chain of 12 + 8, and a locked leaf", order == [8, 12],
               victims=str(order))  # fmt: skip


@claim(
    "S2-3.1-2", "04",
    ("The strategy ranks them: LRU, FIFO, priority; the least important goes first.",
     "优先级由 eviction_strategy 决定（LRU/FIFO/priority），弹出最不重要的。"),
    ("And lfu, mru, filo, slru.", "此外还有 lfu、mru、filo、slru。"),
)  # fmt: skip
def strategies() -> Iterator[Case]:
    """The first victim of one history under each of the three."""
    said = {"lru": 200, "fifo": 100, "priority": 300}
    for policy, first in said.items():
        desk = bench(eviction_policy=policy)
        desk.insert(A, priority=2)
        desk.insert(B, priority=1)
        desk.insert(C)
        desk.ack_write()
        desk.match(A)
        desk.match(C)
        desk.evict(1)
        (victim,) = seen(desk, ev.Victim)
        starts = {e.node: e.tokens.item(0) for e in seen(desk, ev.Add)}
        yield case(policy, starts[victim.node] == first, victim=starts[victim.node])


LEDGER.unmodelled(
    "S2-3.1-3", "04",
    ("evictable_leaves is a heap that is maintained.",
     "evictable_leaves 是一个最小堆维护的集合。"),
    ("In both releases it is a set, and every eviction builds a heap of all of it. The "
     "order is the same; what differs is time, and kvlab keeps a heap of its own.",
     "两个版本里它都是 set，每次逐出都重新建堆。顺序相同，差的是时间；kvlab "
     "自己维护堆。"),
)  # fmt: skip


# --- 3.2 three branches


@claim(
    "S2-3.2-1", "07",
    ("Unwritten under write_through: freed and deleted.",
     "非 backuped + write_through → 直接删除。"),
    ("As it says.", "如其所言。"),
)  # fmt: skip
def deleted() -> Iterator[Case]:
    """The fate of a middle chunk, which was never written."""
    found = fates(three_fates().trace, {"A": A, "B": B, "C": C})
    yield case("a middle chunk", found["B"] == "deleted", fate=found["B"])


@claim(
    "S2-3.2-2", "07",
    ("An unwritten node was never accessed a second time: nobody shares it.",
     "非 backuped 意味着从未被第二次访问，没有其他请求共享。"),
    ("Under write_through every node is written at its first insert. Unwritten are "
     "middle chunks, and what found no place on L2.",
     "write_through 下每个节点首次插入就写。未写的是中间 chunk，以及在 L2 "
     "上没找到位置的。"),
)  # fmt: skip
def never_twice() -> Iterator[Case]:
    """An unwritten leaf that three inserts went through, on a full L2."""
    ops: list[AnyOp] = [InsertOp(list(range(at, at + 12))) for at in (100, 200)]
    ops += [InsertOp(list(range(300, 312)))] * 3 + [EvictOp(64)]
    trace = forced(OLD, ops, host_tokens=24)
    (gone,) = (e.node for e in trace.events if isinstance(e, ev.Delete))
    hits = sum(isinstance(e, ev.Hit) and e.node == gone for e in trace.events)
    yield case("an L2 that is full", hits < 2, inserts_through_it=hits)


@claim(
    "S2-3.2-3", "07",
    ("Unwritten under write_back: written first, its device slots freed at the end.",
     "非 backuped + write_back → 先备份，device pages 由末尾统一释放。"),
    ("In 0.5.14; 0.5.23 goes victim by victim.", "0.5.14 如此；0.5.23 逐个处理。"),
)  # fmt: skip
def written_first() -> Iterator[Case]:
    """Order of Backup and Demote for a write_back victim."""
    desk = bench(write_policy="write_back")
    desk.insert(A)
    desk.evict(12)
    kinds = [type(e) for e in desk.trace.events]
    yield case("one leaf", kinds.index(ev.Backup) < kinds.index(ev.Demote),
               written_at=kinds.index(ev.Backup),
               demoted_at=kinds.index(ev.Demote))  # fmt: skip


@claim(
    "S2-3.2-4", "07",
    ("write_back backs a victim up only if its priority is still high enough.",
     "write_back 只给优先级仍足够高的节点备份机会。"),
    ("Every victim, whatever its rank, as long as L2 can take it.",
     "不看优先级：只要 L2 放得下，每个被逐出的节点都备份。"),
)  # fmt: skip
def high_enough() -> Iterator[Case]:
    """Three leaves of priorities 0, 1, 2, all evicted: how many are written?"""
    desk = bench(write_policy="write_back", eviction_policy="priority")
    for rank, leaf in enumerate((A, B, C)):
        desk.insert(leaf, priority=rank)
    desk.evict(64)
    written = len(seen(desk, ev.Backup))
    yield case("priorities 0, 1, 2", written < 3, written=written, of=3)


@claim(
    "S2-3.2-5", "07",
    ("Such a victim is backed up when its write returns.",
     "备份完成后节点变为 backuped 状态。"),
    ("If L2 has room. If not, 0.5.14 keeps it on L1 and the whole eviction frees "
     "nothing; 0.5.23 drops it and goes on.",
     "前提是 L2 放得下。放不下时 0.5.14 把它留在 L1，整次逐出一个都没释放；"
     "0.5.23 丢弃它并继续。"),
)  # fmt: skip
def host_exhausted() -> Iterator[Case]:
    """A write_back victim of 30 tokens, on an L2 of 48 and of 24."""
    ops: list[AnyOp] = [InsertOp(list(range(100, 130))), EvictOp(30)]
    for name, rules, host in (
        ("L2 of 48", OLD, 48), ("L2 of 24", OLD, 24), ("L2 of 24, 0.5.23", NEW, 24),
    ):  # fmt: skip
        trace = forced(rules, ops, host_tokens=host, write_policy="write_back")
        copies = sum(isinstance(e, ev.Backup) for e in trace.events)
        freed = sum(
            e.freed
            for e in trace.events
            if isinstance(e, ev.Evicted) and e.tier == "L1"
        )
        yield case(name, copies == 1, beside=rules is NEW, copies=copies, freed=freed)


@claim(
    "S2-3.2-6", "07",
    ("Backed up: only the device slots go; the node stays and can be had again.",
     "backuped → 仅释放 device pages，节点保留，可 load_back 重生。"),
    ("Under any policy, and without a copy at that moment.",
     "任何策略皆然，且此刻无需拷贝。"),
)  # fmt: skip
def node_stays() -> Iterator[Case]:
    """The node, its host part and the copies made, after its eviction."""
    desk = bench()
    desk.insert(A)
    desk.ack_write()
    copies = len(seen(desk, ev.Backup))
    desk.evict(12)
    hit = desk.match(A)["host_hit"]
    made = len(seen(desk, ev.Backup)) - copies
    yield case("one leaf", hit == 12 and made == 0, host_hit=hit, copies_made=made)


@claim(
    "S2-3.2-7", "07",
    ("What is deleted is lost for ever.", "删除后数据永久丢失。"),
    ("Until somebody computes it again: then it is a new node, and starts anew.",
     "直到有人重新算出来：那是一个新节点，从头计数。"),
)  # fmt: skip
def lost() -> Iterator[Case]:
    """The hit after a deletion, and after the next insert of the same tokens."""
    desk = bench()
    desk.insert(A, chunked=True)
    desk.evict(12)
    found = desk.match(A)
    yield case("after the deletion", found["device_hit"] + found["host_hit"] == 0,
               hit=found["device_hit"] + found["host_hit"])  # fmt: skip
    desk.insert(A)
    hit = desk.match(A)["device_hit"]
    yield case("computed again", hit == 0, hit=hit)


@claim(
    "S2-3.2-8", "07",
    ("Each eviction takes one of three branches.", "逐出有三条分支。"),
    ("Every victim of this run fell into exactly one.",
     "本例中每个被逐出的节点恰好落入一条。"),
)  # fmt: skip
def three_branches() -> Iterator[Case]:
    """Victims by fate, under both policies; every token has one."""
    for policy in ("write_through", "write_back"):
        trace = three_fates(write_policy=policy).trace
        told = [e.fate for e in trace.events if isinstance(e, ev.Victim)]
        device = [f for f in told if f != "evict_host"]
        yield case(policy, len(device) == 3 and len(set(device)) <= 3,
                   fates=", ".join(device))  # fmt: skip


@claim(
    "S2-3.2-9", "04",
    ("An eviction starts at check_decode_mem, when the next decode step lacks slots.",
     "eviction 由 check_decode_mem 触发：解码缺槽位时。"),
    ("That is one of three: an allocation for a prefill and a load_back make room in "
     "the same way.",
     "这只是三种之一：预填充的分配和 load_back 也同样腾位。"),
)  # fmt: skip
def who_asks() -> Iterator[Case]:
    """Evictions of a full L1 when a decode step, a prefill, a load_back wants slots."""
    for name, wants in (("decode", _decodes), ("prefill", _prefills),
                        ("load_back", _loads)):  # fmt: skip
        evictions = sum(event.freed > 0 for event in wants())
        yield case(name, (evictions > 0) == (name == "decode"), evictions=evictions)


def _full(desk: Workbench) -> Workbench:
    desk.insert(range(9000, 9000 + desk.account().available))
    desk.ack_write()
    return desk


def _decodes() -> list[ev.Evicted]:
    desk = bench()
    prefill(desk, new("a", range(100, 112), 8))
    desk.ack_write()
    _full(desk).do(DecodeStepOp(token=901))
    return seen(desk, ev.Evicted)


def _prefills() -> list[ev.Evicted]:
    desk = _full(bench())
    prefill(desk, new("a", range(100, 112), 8))
    return seen(desk, ev.Evicted)


def _loads() -> list[ev.Evicted]:
    desk = bench(host_tokens=256)
    desk.insert(LONG)
    desk.ack_write()
    desk.evict(20)
    by_hand = len(seen(desk, ev.Evicted))
    _full(desk).load_back(LONG)
    return seen(desk, ev.Evicted)[by_hand:]
