"""Article 2, sections 2.2 and 2.3: how is a node copied to L2, and what holds it?

0.5.14 throughout; 0.5.23 stands beside it where it differs.
Left out: what starts a copy (s2_backup.py), eviction (s2_evict.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...record import events as ev
from ...run.script import (
    AckWriteOp,
    AnyOp,
    DecodeOp,
    EvictHostOp,
    EvictOp,
    InsertOp,
    RequestFinishOp,
    RequestStartOp,
)
from .ledger import Case, Ledger, case
from .scenes import NEW, OLD, bench, forced, seen, written

LEDGER = Ledger()
claim = LEDGER.claim

GUARDED = "parent_not_backed_up"
A, LONG, B = range(100, 112), range(100, 120), range(200, 212)


# --- 2.2 the copy itself


@claim(
    "S2-2.2-4", "06",
    ("A node whose parent has no copy is not backed up.",
     "父节点没有备份时，子节点直接跳过。"),
    ("Except a child of the root; the guard as quoted would let nothing be backed up. "
     "0.5.23 writes the missing ancestors along.",
     "root 的子节点除外；照文中代码的写法，什么都备份不了。0.5.23 "
     "会把缺的祖先一并写。"),
)  # fmt: skip
def parent_guard() -> Iterator[Case]:
    """A parent too large for L2 with a child that would fit; a parent that L2 has room
    for by the time its child comes; a child of the root."""
    too_large: list[AnyOp] = [InsertOp(list(range(100, n))) for n in (130, 138)]
    for rules, ops, host in ((OLD, too_large, 24), (NEW, _written_late(), 30)):
        trace = forced(rules, ops, pool_tokens=96, host_tokens=host)
        asked = [e for e in trace.events if isinstance(e, ev.TryBackup)]
        (told,) = (e for e in asked if e.verdict in ("ancestors_first", GUARDED))
        at = trace.events.index(told)
        copies = sum(isinstance(e, ev.Backup) for e in trace.events[at:])
        yield case(
            f"{rules.name}, under an unwritten parent", told.verdict == GUARDED,
            beside=rules is NEW, copies=copies, verdict=told.verdict,
        )  # fmt: skip
    desk = bench()
    desk.insert(A)
    yield case("under the root", written(desk) == 0, copies=written(desk))


def _written_late() -> list[AnyOp]:
    """Return a request's life: its prompt finds L2 full, its end finds it empty."""
    return [
        InsertOp(list(range(20))), AckWriteOp(),
        RequestStartOp("a", list(A), max_new=6, first_out=1),
        EvictOp(20), EvictHostOp(20),
        DecodeOp("a", token=2), DecodeOp("a", token=3), RequestFinishOp("a"),
    ]  # fmt: skip


@claim(
    "S2-2.2-5", "08",
    ("The guard prevents gaps: every backed-up node hangs on backed-up ancestors.",
     "连续前缀不变量防止断点：备份的节点从 root 起连续。"),
    ("Under write_through. write_back writes the leaf alone, and its ancestors may "
     "have no copy.",
     "仅限 write_through；write_back 只写叶子，祖先可以没有副本。"),
)  # fmt: skip
def gaps() -> Iterator[Case]:
    """Backed-up nodes whose parent has no copy, after inserts and one eviction."""
    for policy in ("write_through", "write_back"):
        desk = bench(write_policy=policy)
        desk.insert(A)
        desk.insert(LONG)
        desk.ack_write()
        desk.evict(8)
        nodes = desk.state.nodes
        found = sum(
            n.host_pages is not None and n.parent in nodes and n.parent != 0
            and nodes[n.parent].host_pages is None
            for n in nodes.values()
        )  # fmt: skip
        yield case(policy, found == 0, gaps=found)


@claim(
    "S2-2.2-6", "06",
    ("When L2 is full, evict_host makes room and the write is tried again.",
     "host pool 满则触发 evict_host，然后重试写入。"),
    ("It is an allocation that fails, not the DMA; and one retry is all.",
     "失败的是分配而不是 DMA；且只重试一次。"),
)  # fmt: skip
def host_full() -> Iterator[Case]:
    """A write into a full L2: with a host-only leaf to evict, and with none."""
    desk = bench(pool_tokens=20, host_tokens=24)
    desk.insert(range(100, 116))
    desk.ack_write()
    desk.evict(16)
    before = written(desk)
    desk.insert(range(300, 316))
    made, gone = written(desk) - before, len(seen(desk, ev.EvictHost))
    yield case("a host-only leaf", (made, gone) == (1, 1), copies=made,
               host_nodes_evicted=gone)  # fmt: skip
    full: list[AnyOp] = [InsertOp(list(range(at, at + 12))) for at in (100, 200, 300)]
    trace = forced(OLD, full, host_tokens=24)
    made = sum(isinstance(e, ev.Backup) for e in trace.events)
    yield case("all of L2 is on L1 too", made == 2, beside=True, copies=made, inserts=3)


@claim(
    "S2-2.2-7", "07",
    ("evict_host takes the least important host leaf and removes it from the tree.",
     "evict_host 选优先级最低的 host 叶子，释放并从树中删除。"),
    ("Only leaves that are gone from L1.", "只挑已离开 L1 的叶子。"),
)  # fmt: skip
def host_victim() -> Iterator[Case]:
    """Two host-only leaves, the older asked for again: which one goes?"""
    desk = bench(pool_tokens=40, host_tokens=41)
    older, newer = range(100, 120), range(200, 220)
    desk.insert(older)
    desk.insert(newer)
    desk.ack_write()
    desk.evict(40)
    desk.match(older)
    desk.insert(range(400, 420))
    (gone,) = seen(desk, ev.EvictHost)
    left = desk.match(older)["host_hit"], desk.match(newer)["host_hit"]
    yield case("the older asked for again", left == (20, 0)
               and gone.node not in desk.state.nodes, host_hit_of_older=left[0],
               host_hit_of_newer=left[1])  # fmt: skip


@claim(
    "S2-2.2-8", "06",
    ("`backuped` turns true when the host indices are noted.",
     "host_value 记录之后 backuped 自动为 True。"),
    ("Which is when the copy is submitted, not when it is done.",
     "也就是提交拷贝之时，而不是拷贝完成之时。"),
)  # fmt: skip
def backed_up_early() -> Iterator[Case]:
    """The mark while the copy is under way, and after."""
    desk = bench()
    desk.insert(A)
    for name in ("under way", "acknowledged"):
        (node,) = (n for n in desk.state.nodes.values() if len(n.tokens) == 12)
        yield case(name, node.host_pages is not None,
                   under_way=len(desk.state.writes))  # fmt: skip
        desk.ack_write()


@claim(
    "S2-2.2-9", "06",
    ("A write in flight locks the node and all its ancestors.",
     "在途写入沿 parent 链给节点及所有祖先加锁。"),
    ("Until its acknowledgement, which the scheduler reads in order.",
     "直到 ack；调度器按顺序读取 ack。"),
)  # fmt: skip
def locks_path() -> Iterator[Case]:
    """lock_ref along a path of two while the child is being written."""
    desk = bench()
    desk.insert(A)
    desk.ack_write()
    desk.insert(LONG)
    locks = sorted(n.lock_ref for n in desk.state.nodes.values() if len(n.tokens))
    desk.ack_write()
    after = [n.lock_ref for n in desk.state.nodes.values() if len(n.tokens)]
    yield case("parent and child", locks == [1, 1] and after == [0, 0],
               while_writing=str(locks), after=str(after))  # fmt: skip


@claim(
    "S2-2.2-10", "02",
    ("A node with lock_ref > 0 is never evicted.", "lock_ref > 0 的节点不会被逐出。"),
    ("As it says.", "如其所言。"),
)  # fmt: skip
def locked_stays() -> Iterator[Case]:
    """An eviction of everything, with a lock on one leaf of two."""
    desk = bench()
    desk.insert(A)
    desk.insert(B)
    desk.ack_write()
    desk.lock("reader", A)
    freed = desk.evict(64)
    yield case("one of two locked", freed == 12 and desk.match(A)["device_hit"] == 12,
               freed=freed)  # fmt: skip


@claim(
    "S2-2.2-11", "06",
    ("An eviction that meets a node with a write in flight waits for its "
     "acknowledgement.",
     "eviction 遇到写入在途的节点时，会等待其 ack。"),
    ("Under write_through it does not wait: the node is locked, so it is no candidate, "
     "and the eviction frees nothing. Only write_back's eviction waits, for the copies "
     "that it has begun itself.",
     "write_through 下不等：节点被锁住，不是候选，这次逐出什么也腾不出。"
     "只有 write_back 的逐出会等它自己发起的拷贝。"),
)  # fmt: skip
def eviction_waits() -> Iterator[Case]:
    """What an eviction frees while the only node is being written, and after."""
    desk = bench()
    desk.insert(range(100, 112))
    freed, done = desk.evict(12), len(seen(desk, ev.BackupDone))
    desk.ack_write()
    yield case("one node, copy under way", freed == 12 and done == 1, freed=freed,
               acknowledged=done, freed_afterwards=desk.evict(12))  # fmt: skip


LEDGER.unmodelled(
    "S2-2.2-12", "06",
    ("The lock keeps another thread from evicting a node while it is written.",
     "锁保证写入 L2 期间，node 不会同时被另一个线程 evict。"),
    ("The lock does keep it. But evictions run in the scheduler's own thread, one "
     "operation after another, and kvlab has no other: the lock guards against its "
     "next operation.",
     "锁确实保证不被逐出；但逐出就在调度器自己的线程里依次进行，kvlab 也只有这一个："
     "锁防的是它的下一个操作。"),
)  # fmt: skip


# --- 2.3 write_back


@claim(
    "S2-2.3-1", "07",
    ("write_back's writes ask no parent and take no lock.",
     "write_back 模式跳过父节点检查，也不加锁。"),
    ("As it says.", "如其所言。"),
)  # fmt: skip
def write_back_free() -> Iterator[Case]:
    """A leaf under an unwritten parent, evicted: is it written, is anything locked?"""
    desk = bench(write_policy="write_back")
    desk.insert(A)
    desk.insert(LONG)
    desk.evict(8)
    locks = len(seen(desk, ev.Lock))
    yield case("leaf under an unwritten parent", written(desk) == 1 and not locks,
               copies=written(desk), locks=locks)  # fmt: skip


@claim(
    "S2-2.3-2", "07",
    ("Its acknowledgements are awaited together at the end; device slots go then.",
     "ack 在 eviction 末尾统一等待，然后统一释放 device pages。"),
    ("In 0.5.14. 0.5.23 writes, waits and demotes victim by victim.",
     "0.5.14 如此；0.5.23 逐个节点写、等、降级。"),
)  # fmt: skip
def waits_at_the_end() -> Iterator[Case]:
    """Is the second leaf written before the first is demoted?"""
    for rules in (OLD, NEW):
        desk = bench(rules, write_policy="write_back")
        desk.insert(A)
        desk.insert(B)
        desk.evict(24)
        kinds = [type(e) for e in desk.trace.events]
        writes = [i for i, kind in enumerate(kinds) if kind is ev.Backup]
        first = kinds.index(ev.Demote)
        yield case(rules.name, writes[-1] < first, beside=rules is NEW,
                   last_write_at=writes[-1], first_demotion_at=first)  # fmt: skip
