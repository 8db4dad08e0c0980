"""Article 2, sections 5 to 7: write_through or write_back?

0.5.14 throughout.
Left out: how each works (s2_backup.py, s2_evict.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...config import WritePolicy
from ...memory.transfer import HandTransfer, Stream
from ...record import events as ev
from ...record.metrics import Metrics, metrics
from ...run.workbench import Workbench
from ..scenarios.nb07 import three_fates
from ..scenarios.nb12 import in_turn
from .ledger import Case, Ledger, case
from .scenes import bench, seen

LEDGER = Ledger()
claim = LEDGER.claim

POLICIES: tuple[WritePolicy, ...] = ("write_through", "write_back")
A = range(100, 112)


def shared(policy: str, *, turns: int = 4) -> Workbench:
    """Return an engine that served `turns` rounds of four users and 16 strangers.

    A user's prompt grows by six tokens a turn; strangers come once.
    """
    desk = bench(pool_tokens=96, host_tokens=193, write_policy=policy)
    for turn in range(turns):
        for user in range(4):
            prompt = range(1000 * user, 1000 * user + 12 + 6 * turn)
            desk.load_back(prompt)
            desk.insert(prompt)
            desk.ack_write()
            desk.ack_load()
            desk.insert(range(90_000 + 100 * (4 * turn + user), 90_012 + 100 * (
                4 * turn + user)))  # fmt: skip
            desk.ack_write()
    return desk


def _counted(policy: str) -> Metrics:
    return metrics(shared(policy).trace)


@claim(
    "S2-5.0-1", "12",
    ("Both policies write with the same cache_controller.write(): the format is the "
     "same.",
     "两种策略的底层 cache_controller.write() 完全一致。"),
    ("As it says: one event, one copy.", "如其所言：同一种事件、同一种拷贝。"),
)  # fmt: skip
def same_write() -> Iterator[Case]:
    """The copy of one node under both."""
    sizes = []
    for policy in POLICIES:
        desk = bench(write_policy=policy)
        desk.insert(A)
        desk.evict(12)
        (copy,) = seen(desk, ev.Backup)
        sizes.append(len(copy.pages))
    yield case("one node of 12", sizes == [12, 12], pages=str(sizes))


@claim(
    "S2-5.1-1", "12",
    ("Risk of loss: low under write_through, higher under write_back.",
     "数据丢失风险：write_through 低，write_back 较高。"),
    ("The other way round in an eviction: write_back writes every victim that L2 can "
     "take, write_through deletes what was never written.",
     "逐出时恰好相反：write_back 会写每个 L2 放得下的节点，write_through "
     "删除从未写过的。"),
)  # fmt: skip
def risk() -> Iterator[Case]:
    """Tokens that an eviction deleted without a copy, under both policies."""
    lost = {}
    for policy in POLICIES:
        trace = three_fates(write_policy=policy).trace
        sizes = {e.node: len(e.tokens) for e in trace.events if isinstance(e, ev.Add)}
        lost[policy] = sum(
            sizes[e.node] for e in trace.events if isinstance(e, ev.Delete)
        )
    through, back = (lost[policy] for policy in POLICIES)
    yield case("three fates", through < back, write_through=through, write_back=back)


@claim(
    "S2-5.1-2", "12",
    ("There is no difference in HBM.", "HBM 占用：无差异。"),
    ("There is while copies are under way: write_through locks their tokens.",
     "拷贝在途时有差异：write_through 会锁住这些 token。"),
)  # fmt: skip
def same_hbm() -> Iterator[Case]:
    """What could be cleared right after an insert, and after its copy."""
    left: dict[str, list[int]] = {}
    for policy in POLICIES:
        desk = bench(write_policy=policy)
        desk.insert(A)
        first = desk.account().evictable
        desk.ack_write()
        left[policy] = [first, desk.account().evictable]
    for index, name in enumerate(("copy under way", "copy done")):
        one, other = (left[policy][index] for policy in POLICIES)
        yield case(name, one == other, write_through=one, write_back=other)


@claim(
    "S2-5.1-3", "12",
    ("write_through writes at every hit.", "write_through 写放大高：每次命中都写。"),
    ("Once a node, however often it is hit.", "每个节点只写一次，无论命中多少次。"),
)  # fmt: skip
def every_hit() -> Iterator[Case]:
    """Copies of a node that was inserted five times."""
    desk = bench()
    for _ in range(5):
        desk.insert(A)
        desk.ack_write()
    copies = len(seen(desk, ev.Backup))
    yield case("five hits", copies == 5, copies=copies, hits=5)


@claim(
    "S2-5.1-4", "12",
    ("write_back writes less: only what is evicted in the end.",
     "write_back 写放大低：只写最终被逐出的。"),
    ("As far as something is never evicted. On a pool under pressure all is evicted "
     "sooner or later, and written.",
     "前提是有些内容始终不被逐出；池子压力大时迟早全部被逐出，也就全部写出。"),
)  # fmt: skip
def writes_less() -> Iterator[Case]:
    """Tokens written by both: prompts that grow among strangers; three users in turn,
    whose nine blocks do not fit."""
    through, back = (_counted(policy).backed_up_tokens for policy in POLICIES)
    yield case("four users, sixteen strangers", back < through, write_through=through,
               write_back=back)  # fmt: skip
    runs = (in_turn(pool_tokens=8, host_tokens=24, write_policy=p) for p in POLICIES)
    through, back = (run.written for run in runs)
    yield case("nine blocks in turn, room for eight", back < through,
               write_through=through, write_back=back)  # fmt: skip


@claim(
    "S2-5.1-5", "12",
    ("The signal: frequency under write_through, recency under write_back.",
     "信号来源：write_through 用命中次数，write_back 用逐出优先级。"),
    ("With a threshold of 1 the first asks nothing: the first insert is enough. And "
     "the second writes whatever is evicted.",
     "阈值为 1 时前者没有筛选作用：首次插入就够；后者则逐出谁就写谁。"),
)  # fmt: skip
def signal() -> Iterator[Case]:
    """Of a stranger who comes once: is it written? under each policy."""
    for policy in POLICIES:
        desk = bench(write_policy=policy)
        desk.insert(A)
        desk.ack_write()
        desk.evict(12)
        copies = len(seen(desk, ev.Backup))
        yield case(f"{policy}, a prompt that comes once", copies == 0, copies=copies)


@claim(
    "S2-5.1-6", "12",
    ("write_through for shared prefixes, write_back for pressure on writes.",
     "write_through 适合共享前缀多，write_back 适合写入压力大。"),
    ("Here write_back loads as much and writes less; what it costs is time, since "
     "allocations wait for its copies.",
     "此例中 write_back 取回一样多、写得更少；代价是时间：分配要等拷贝。"),
)  # fmt: skip
def which_fits() -> Iterator[Case]:
    """Tokens loaded back and written, for growing prompts."""
    through, back = map(_counted, POLICIES)
    yield case("shared: more comes back under write_through",
               through.loaded_back_tokens > back.loaded_back_tokens,
               write_through=through.loaded_back_tokens,
               write_back=back.loaded_back_tokens)  # fmt: skip
    yield case("pressure: fewer writes under write_back",
               back.backed_up_tokens < through.backed_up_tokens,
               write_through=through.backed_up_tokens,
               write_back=back.backed_up_tokens)  # fmt: skip


# --- 6 and 7


@claim(
    "S2-6-1", "12",
    ("write_through makes sure that L2 holds what is hottest.",
     "write_through 保证 L2 中有最热的数据。"),
    ("It writes everything at once, so L2 holds what came last. Hot and cold alike.",
     "它首次插入就写，所以 L2 里是最近来的，不分冷热。"),
)  # fmt: skip
def hottest() -> Iterator[Case]:
    """Share of L2's tokens that were inserted only once."""
    desk = shared("write_through")
    nodes = [n for n in desk.state.nodes.values() if n.host_pages is not None]
    total = sum(len(n.tokens) for n in nodes)
    cold = sum(len(n.tokens) for n in nodes if n.hit_count <= 1)
    yield case("four users, sixteen strangers", cold < 0.1 * total,
               tokens_on_l2=total, of_them_hit_once=cold)  # fmt: skip


@claim(
    "S2-6-2", "12",
    ("The three operations depend on each other: what is backed up decides what can be "
     "loaded back.",
     "三个操作不独立：备份的质量决定 load_back 的命中率。"),
    ("As it says.", "如其所言。"),
)  # fmt: skip
def depends() -> Iterator[Case]:
    """Tokens loaded back with a threshold of 1, and of 2."""
    first, second = (
        _counted(policy).loaded_back_tokens
        for policy in ("write_through", "write_through_selective")
    )
    yield case("threshold 1 and 2", first != second, threshold_1=first,
               threshold_2=second)  # fmt: skip


@claim(
    "S2-6-3", "12",
    ("The strategy of eviction decides whether L2 keeps what is recent or what is "
     "frequent.",
     "逐出策略决定 L2 保留最近使用的还是最常使用的。"),
    ("Under write_back, where hits are not counted, lfu keeps what is recent too.",
     "write_back 下不计命中，lfu 也只剩按时间。"),
)  # fmt: skip
def recent_or_frequent() -> Iterator[Case]:
    """Does lru drop another leaf of L2 than lfu does? under each write policy."""
    for write_policy in POLICIES:
        left = []
        for policy in ("lru", "lfu"):
            desk = bench(pool_tokens=40, host_tokens=41, eviction_policy=policy,
                         write_policy=write_policy)  # fmt: skip
            for _ in range(2):
                desk.insert(range(100, 120))
            desk.insert(range(200, 220))
            desk.ack_write()
            desk.evict(40)
            desk.insert(range(400, 420))
            desk.evict(20)
            left.append(desk.match(range(100, 120))["host_hit"])
        yield case(write_policy, left[0] != left[1], frequent_left_by_lru=left[0],
                   frequent_left_by_lfu=left[1])  # fmt: skip


@claim(
    "S2-6-4", "12",
    ("Writing is triggered by hits or by lack of room, reading by a match.",
     "写入由命中或空间压力触发，读取由请求匹配触发。"),
    ("By the insert, to be exact.", "准确说写入由 insert 触发。"),
)  # fmt: skip
def triggers() -> Iterator[Case]:
    """The op under which each copy was made."""
    desk = shared("write_through", turns=2)
    events = desk.trace.events
    for kind, op in ((ev.Backup, "insert"), (ev.Load, "load_back")):
        ops = {_op(desk, index) for index, e in enumerate(events) if type(e) is kind}
        yield case(kind.__name__, ops <= {op}, ops=", ".join(sorted(ops)))


def _op(desk: Workbench, index: int) -> str:
    first = desk.trace.events[desk.trace.chain(index)[0]]
    return first.op if isinstance(first, ev.Step) else "none"


STREAMS: tuple[Stream, ...] = ("write", "load")


@claim(
    "S2-7-1", "06",
    ("The controller has two streams: writes and loads do not wait for each other.",
     "HiCacheController 有 write/load 两条 CUDA stream。"),
    ("As it says.", "如其所言。"),
)  # fmt: skip
def two_streams() -> Iterator[Case]:
    """A load that is done while an earlier write is not."""
    link = HandTransfer()
    done: list[str] = []
    for number, stream in enumerate(STREAMS):
        link.submit(stream, number, 1, partial(done.append, stream))
    link.complete("load")
    yield case("a write before a load", done == ["load"], done=", ".join(done))
