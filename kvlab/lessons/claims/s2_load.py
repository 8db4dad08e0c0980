"""Article 2, sections 4.1 to 4.3: when does a prefix come home, and how much of it?

0.5.14 throughout; 0.5.23 stands beside it where it differs.
Left out: its slots and locks (s2_restored.py), whether it pays (s2_policies.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...record import events as ev
from ...run.script import LoadBackOp
from .ledger import Case, Ledger, case
from .scenes import bench, chain_of_two, new, prefill, seen

LEDGER = Ledger()
claim = LEDGER.claim

A, LONG = range(100, 112), range(100, 132)


@claim(
    "S2-4.1-1", "08",
    ("A match counts an L1 part and an L2 part, one after the other.",
     "match 得到 device 与 host 两段独立的命中长度。"),
    ("As it says.", "如其所言。"),
)  # fmt: skip
def two_parts() -> Iterator[Case]:
    """A chain whose leaf has left L1."""
    desk = bench()
    desk.insert(A)
    desk.insert(LONG)
    desk.ack_write()
    desk.evict(1)
    found = desk.match([*LONG, 1, 2])
    yield case("12 on L1, 20 on L2", (found["device_hit"], found["host_hit"])
               == (12, 20), device=found["device_hit"],
               host=found["host_hit"])  # fmt: skip


@claim(
    "S2-4.1-2", "08",
    ("A host hit starts a load_back in the prefill of the request.",
     "host_hit_length > 0 触发 init_load_back → load_back。"),
    ("Of ten tokens or more.", "不少于 10 个 token 时。"),
)  # fmt: skip
def triggers() -> Iterator[Case]:
    """A request whose prefix is on L2."""
    desk = chain_of_two()
    prefill(desk, new("a", [*LONG, 1, 2], 4))
    loads = len(seen(desk, ev.Load))
    yield case("a prefix of 32", loads == 2, nodes_loaded=loads)


@claim(
    "S2-4.2-1", "08",
    ("The whole chain from the first node on L1 down is loaded, ancestors first.",
     "恢复整条链：从第一个未 evicted 的祖先起，祖先先恢复。"),
    ("In one allocation that is cut at the nodes.", "一次分配，按节点边界切分。"),
)  # fmt: skip
def chain() -> Iterator[Case]:
    """The order in which a chain of two comes back."""
    desk = chain_of_two()
    loaded = desk.load_back(LONG)["loaded"]
    sizes = [len(e.pages) for e in seen(desk, ev.Load)]
    asked = next(i for i, e in enumerate(desk.trace.events) if type(e) is ev.LoadBack)
    allocations = sum(type(e) is ev.Alloc for e in desk.trace.events[asked:])
    yield case("12 + 20", loaded == 32 and sizes == [12, 20] and allocations == 1,
               loaded=loaded, in_this_order=str(sizes),
               allocations=allocations)  # fmt: skip


@claim(
    "S2-4.2-2", "08",
    ("Such a chain comes from splits.", "链来自 split 把一个节点分裂成多个。"),
    ("Or from prompts that grew: a second turn hangs below the first without any "
     "split.",
     "也可能来自不断变长的对话：第二轮直接挂在第一轮下面，没有任何 split。"),
)  # fmt: skip
def from_splits() -> Iterator[Case]:
    """Splits before a chain of two: a forked prompt, and a second turn."""
    forked = bench()
    forked.insert(LONG)
    forked.insert([*A, 7, 8, 9])
    grown = chain_of_two()
    for name, desk in (("a forked prompt", forked), ("a second turn", grown)):
        splits = len(seen(desk, ev.Split))
        yield case(name, splits > 0, splits=splits)


@claim(
    "S2-4.3-1", "08",
    ("A host hit shorter than load_back_threshold is not loaded.",
     "小于 load_back_threshold 的命中不取回。"),
    ("10 tokens, in both releases.", "两个版本都是 10 个 token。"),
)  # fmt: skip
def below_threshold() -> Iterator[Case]:
    """Nine tokens, ten tokens."""
    for size in (9, 10):
        desk = bench()
        desk.insert(range(100, 100 + size))
        desk.ack_write()
        desk.evict(size)
        loaded = desk.load_back(range(100, 100 + size))["loaded"]
        yield case(f"{size} tokens", bool(loaded) == (size >= 10), loaded=loaded)


@claim(
    "S2-4.3-2", "08",
    ("mem_quota + delta lets a load exceed the quota a little.",
     "mem_quota + delta 允许略超配额。"),
    ("delta is zero or negative: it is what locking the ancestors took from evictable, "
     "so the quota only shrinks.",
     "delta ≤ 0：锁住祖先会减少 evictable，配额只会变小。"),
)  # fmt: skip
def over_quota() -> Iterator[Case]:
    """A load of 20 behind 12 on L1, with a quota of 20, and of 32."""
    for quota in (20, 32):
        desk = bench()
        desk.insert(A)
        desk.insert(LONG)
        desk.ack_write()
        desk.evict(1)
        desk.do(LoadBackOp(list(LONG), quota=quota))
        told = seen(desk, ev.LoadBack)[-1]
        yield case(f"a load of 20, quota {quota}", told.delta > 0, delta=told.delta,
                   limit=quota + told.delta, verdict=told.verdict)  # fmt: skip


LEDGER.unmodelled(
    "S2-4.3-4", "08",
    ("Below the threshold computing is faster than loading.",
     "小于阈值时，重算比取回更快。"),
    ("The threshold is a fixed number, and nothing in the engine compares the two. A "
     "copy here takes its bytes over the link, without the fixed cost of a transfer "
     "that the argument rests on.",
     "阈值是固定数，引擎里没有比较二者的代码。这里的拷贝只计“字节数 / 带宽”，"
     "没有这个论证所依据的固定开销。"),
)  # fmt: skip


LEDGER.unmodelled(
    "S2-4.3-3", "08",
    ("The quota keeps large loads from starving new requests.",
     "配额防止过大的取回让新请求没有空间。"),
    ("No caller sets a quota, in either release: the check is there and never applies. "
     "A script here may set one.",
     "两个版本都没有调用者设置配额：检查存在但从不生效。这里的脚本可以设。"),
)  # fmt: skip
