"""Article 2, section 4.4: where does a prefix lie that came home, and what holds it?

0.5.14 throughout; 0.5.23 stands beside it where it differs.
Left out: when it comes (s2_load.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...record import events as ev
from .ledger import Case, Ledger, case
from .scenes import NEW, OLD, bench, chain_of_two, new, prefill, seen

LEDGER = Ledger()
claim = LEDGER.claim

A, LONG = range(100, 112), range(100, 132)


# --- 4.4 back in place


@claim(
    "S2-4.4-1", "08",
    ("If L1 is full, evict first and try again: the mirror image of evict_host.",
     "HBM 满则先 evict 再重试，与 evict_host 完全对称。"),
    ("Each side has one retry. But in 0.5.14 the eviction may need L2 itself, and drop "
     "the node that is being loaded; 0.5.23 locks it.",
     "两侧都只重试一次。但 0.5.14 的逐出本身可能要用 L2，从而丢掉正在取回的节点；"
     "0.5.23 会先锁住它。"),
)  # fmt: skip
def symmetrical() -> Iterator[Case]:
    """A load into a full L1: under write_through, and under write_back with L2 full."""
    desk = bench(pool_tokens=24, host_tokens=100)
    desk.insert(A)
    desk.ack_write()
    desk.evict(12)
    desk.insert(range(300, 324))
    desk.ack_write()
    loaded = desk.load_back(A)
    yield case("write_through", loaded["loaded"] == 12, loaded=loaded["loaded"])
    for rules in (OLD, NEW):
        desk = bench(rules, pool_tokens=32, host_tokens=40, write_policy="write_back")
        desk.insert(range(100, 120))
        desk.evict(20)
        desk.insert(range(200, 216))
        desk.evict(16)
        desk.insert(range(300, 332))
        loaded = desk.load_back(range(100, 120))
        dropped = any(
            e.node == seen(desk, ev.Load)[0].node for e in seen(desk, ev.EvictHost)
        ) if loaded["loaded"] else False  # fmt: skip
        yield case(f"write_back, L2 full, {rules.name}",
                   loaded["loaded"] == 20 and not dropped, beside=rules is NEW,
                   loaded=loaded["loaded"], dropped_meanwhile=dropped)  # fmt: skip


@claim(
    "S2-4.4-2", "08",
    ("The slots that a load gets are one contiguous run.",
     "device_indices 是一段连续的 slot 索引。"),
    ("They are what the free list gives: on a fragmented pool, scattered. The list is "
     "cut at the nodes.",
     "取决于 free list：池子碎片化时是散的。切分的是这个列表。"),
)  # fmt: skip
def contiguous() -> Iterator[Case]:
    """The slots of a load, on a fresh pool and on a fragmented one."""
    for name, fragmented in (("a fresh pool", False), ("a fragmented pool", True)):
        desk = bench(pool_tokens=48, host_tokens=100)
        desk.insert(A)
        desk.ack_write()
        desk.evict(12)
        if fragmented:
            for at in range(0, 48, 6):
                desk.insert(range(1000 + at, 1006 + at))
            desk.ack_write()
            for at in range(0, 48, 12):
                desk.match(range(1000 + at, 1006 + at))
            desk.evict(24)
        desk.load_back(A)
        slots = seen(desk, ev.Load)[-1].pages.tolist()
        yield case(name, slots == list(range(slots[0], slots[0] + 12)),
                   slots=str(slots))  # fmt: skip


@claim(
    "S2-4.4-3", "08",
    ("Once node.value is set, the next match hits it on L1.",
     "设置 node.value 后，后续 match 直接在 L1 命中。"),
    ("Before the copy is done; compute waits for it layer by layer.",
     "此时拷贝尚未完成；计算逐层等待。"),
)  # fmt: skip
def hits_at_once() -> Iterator[Case]:
    """A match right after the load was submitted."""
    desk = chain_of_two()
    desk.load_back(LONG)
    found = desk.match(LONG)
    yield case("copy under way", found["device_hit"] == 32 and bool(desk.state.loads),
               device=found["device_hit"], under_way=len(desk.state.loads))  # fmt: skip


@claim(
    "S2-4.4-4", "08",
    ("The loaded node is locked, so that it is not evicted before it is used.",
     "inc_lock_ref(last_hit_node)：防止刚恢复的 KV 被立即逐出。"),
    ("Until the load is acknowledged; the request's own lock comes on top.",
     "直到 load 的 ack；请求自己的锁另算。"),
)  # fmt: skip
def locked_after_load() -> Iterator[Case]:
    """An eviction of everything, right after the load and after its ack."""
    desk = chain_of_two()
    desk.load_back(LONG)
    held = desk.evict(64)
    desk.ack_load()
    freed = desk.evict(64)
    yield case("a chain of 32", (held, freed) == (0, 32), freed_under_way=held,
               freed_after_ack=freed)  # fmt: skip


LEDGER.unmodelled(
    "S2-4.4-5", "08",
    ("A store event with medium GPU tells an indexer that the block is back.",
     "_record_store_event(medium=GPU) 告知下游 block 已回到 GPU。"),
    ("kvlab's own events say it (Load, LoadDone); the engine's event feed for indexers "
     "is not modelled.",
     "kvlab 有自己的事件（Load、LoadDone）；引擎面向 indexer 的事件流未建模。"),
)  # fmt: skip


@claim(
    "S2-4.4-6", "08",
    ("init_load_back writes the loaded slots to req_to_token; attention asks only the "
     "index, not where a slot came from.",
     "init_load_back 将 device_indices 写入 req_to_token_pool；attention "
     "只按索引寻址。"),
    ("The row holds both parts side by side, but it is the prefill's allocation that "
     "writes it.",
     "行里确实两段并列，但写这一行的是预填充的分配步骤。"),
)  # fmt: skip
def request_row() -> Iterator[Case]:
    """Who writes the request's row, and what it then holds."""
    desk = bench()
    desk.insert(A)
    desk.insert(LONG)
    desk.ack_write()
    desk.evict(1)
    prefill(desk, new("a", [*LONG, 1, 2], 4))
    kinds = [type(e) for e in desk.trace.events]
    load = len(kinds) - 1 - kinds[::-1].index(ev.Load)
    row = kinds.index(ev.Row)
    written = desk.trace.events[row]
    by_load = isinstance(desk.trace.events[written.cause], ev.LoadBack)
    slots = len(desk.state.requests["a"].row)
    yield case("written after the load", row > load and slots == 34, slots=slots)
    yield case("written by the load", by_load, cause=written.cause)


LEDGER.unmodelled(
    "S2-4.4-7", "08",
    ("cache_controller.load() allocates device pages and moves the data to them.",
     "load() 先分配 device pages，再把 host 数据搬过去。"),
    ("load() allocates and queues; the copy starts before the prefill, layer by layer. "
     "The record shows the submission and the acknowledgement, not the start.",
     "load() 只分配并入队；拷贝在预填充之前才逐层启动。录制里只看得到提交与 ack。"),
)  # fmt: skip
