"""What does notebook 06, When does L2 get its first byte, ask?

When each write policy copies, what a copy under way does to L1, and the guard.
Left out: the answers that are right (the tests hold them).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ...config import WritePolicy
from ...record import events as ev
from ...record.events import Event
from ...record.trace import Trace
from ...views.theme import Words
from ..guard import judge
from ..kinds import Belief, Case, Choice, Fill, Function, Order
from ..own_words.tiers import FIRST_COPY
from ..questions import moment, state_at
from ..scenarios import fork_of
from ..scenarios.nb06 import MOMENTS, A, counted, first_byte, some_sizes

POLICIES: dict[WritePolicy, Words] = {
    "write_through": Words("write_through", "write_through"),
    "write_through_selective": Words("selective", "selective"),
    "write_back": Words("write_back", "write_back"),
}
SECOND = Words(
    "The insert itself is hit 1, and write_through's threshold is 1. The second hit is "
    "selective's.",
    "插入本身就是第 1 次命中，write_through 的阈值是 1；第 2 次是 selective 的规则。",
)


FIRST_OF_B = Words(
    "B's last chunk is the first hit of B's nodes; selective copies at the second.",
    "B 的最后 chunk 只是 B 的节点的第 1 次命中；selective 到第 2 次才拷。",
)
AT_EVICTION = Words(
    "write_back copies at the eviction; under the others what has no copy by then is "
    "deleted.",
    "write_back 到逐出时才拷；另外两种策略下，那时还没有副本的就删除了。",
)


def _on_host(trace: Trace, step: int) -> int:
    account = state_at(trace, step).host_account()
    return account.total - account.available


def _prediction(random: Random) -> Case:
    answer, ends = {}, {}
    for policy in POLICIES:
        trace = first_byte(write_policy=policy).trace
        ends[policy] = moment(trace, lambda e: isinstance(e, ev.Step) and e.number == 1)
        answer[policy] = _on_host(trace, ends[policy])
    trace = first_byte().trace
    asked = moment(trace, lambda e: isinstance(e, ev.TryBackup))
    written = moment(trace, lambda e: isinstance(e, ev.Backup))
    return Case(
        answer, trace=trace, step=written, steps=dict.fromkeys(POLICIES, written),
        beliefs=(
            Belief({"write_through": 0}, SECOND, written),
            Belief({"write_through_selective": len(A)}, Words(
                "selective's threshold is 2, and this insert is hit 1. The card of "
                "write_through asks for 1.",
                "selective 的阈值是 2，这次插入只是第 1 次命中。卡片上 write_through "
                "的阈值是 1。"), asked),
            Belief({"write_back": len(A)}, Words(
                "write_back writes at the eviction, and nothing is evicted yet.",
                "write_back 到逐出时才写，此时还没有逐出。"), written),
        ),
        fork=fork_of(first_byte),
    )  # fmt: skip


def _seen(random: Random) -> Case:
    trace = first_byte().trace
    written = moment(trace, lambda e: isinstance(e, ev.Lock))
    account = state_at(trace, written).account()
    states = {"protected": account.protected, "evictable": account.evictable}
    (answer,) = (name for name, tokens in states.items() if tokens == len(A))
    return Case(
        answer, trace=trace, step=written,
        beliefs=(Belief("evictable", Words(
            "The copy under way locks the path: lock_ref 1 until its acknowledgement.",
            "在途拷贝锁住了路径：ack 之前 lock_ref 为 1。"), written),),
    )  # fmt: skip


def _knob(random: Random) -> Case:
    trace = first_byte().trace
    other = first_byte(write_policy="write_through_selective").trace
    at = moment(other, lambda e: isinstance(e, ev.Backup))
    inserts = [
        e for e in other.events[:at] if isinstance(e, ev.Step) and e.op == "insert"
    ]
    parted = moment(trace, lambda e: isinstance(e, ev.TryBackup))
    return Case(
        str(len(inserts)), trace=trace, step=parted, beside=other,
        fork=fork_of(first_byte),
        beliefs=(
            Belief("1", Words(
                "selective's threshold is 2: the first insert is hit 1.",
                "selective 的阈值是 2：第一次插入只是第 1 次命中。"), parted),
            Belief("4", Words(
                "A is inserted twice before B comes: its second insert is hit 2.",
                "B 到来之前 A 已插入两次：第二次插入就是第 2 次命中。"), parted),
        ),
    )  # fmt: skip


def _tokens(random: Random) -> Case:
    sizes = some_sizes(random)
    policy = random.choice(list(POLICIES))
    bench, ends = counted(sizes, policy)
    answer = {
        name: _on_host(bench.trace, end)
        for name, end in zip(MOMENTS, ends, strict=True)
    }
    a, b, rest = sizes
    every = a + b + rest
    return Case(
        answer, sizes._asdict() | {"policy": policy}, bench.trace,
        steps=dict(zip(MOMENTS, ends, strict=True)),
        beliefs=(
            Belief({"rest": every}, FIRST_OF_B, ends[3])
            if policy == "write_through_selective" else
            Belief({"a": 0, "again": a, "chunk": a, "rest": every}, SECOND, ends[0]),
            Belief({"chunk": a + b}, Words(
                "A middle chunk counts no hit, so nothing is written for it yet.",
                "中间 chunk 不计命中，所以还不会写。"), ends[2]),
            Belief({"evict": 0 if policy == "write_back" else every}, AT_EVICTION,
                   ends[4]),
        ),
    )  # fmt: skip


ORDER = {
    "hit": Words("the insert counts a hit on the node", "插入给节点计一次命中"),
    "parent": Words("threshold and parent are asked", "检查阈值与父节点"),
    "slots": Words("L2 gives slots; host_value is set", "L2 分配槽位，host_value 置位"),
    "lock": Words("the path is locked", "给路径加锁"),
    "ack": Words("the copy is acknowledged", "拷贝得到 ack"),
    "unlock": Words("the path is unlocked", "路径解锁"),
    "free": Words("the L1 slots are freed", "释放 L1 槽位"),
}


def _steps(random: Random) -> Case:
    trace = first_byte().trace
    kinds: dict[str, Callable[[Event], bool]] = {
        "hit": lambda e: isinstance(e, ev.Hit),
        "parent": lambda e: isinstance(e, ev.TryBackup),
        "slots": lambda e: isinstance(e, ev.Backup),
        "lock": lambda e: isinstance(e, ev.Lock),
        "ack": lambda e: isinstance(e, ev.BackupDone),
        "unlock": lambda e: isinstance(e, ev.Unlock),
    }
    steps = {name: moment(trace, kind) for name, kind in kinds.items()}
    second = moment(trace, lambda e: isinstance(e, ev.Step) and e.number == 2)
    return Case(
        sorted(steps, key=steps.__getitem__), {}, trace, steps["hit"],
        steps | {"free": second},
    )  # fmt: skip


EXERCISES = (
    Fill(
        id="06.P",
        asks=Words(
            "A, 12 tokens, is inserted for the first time. How many slots of L2 does "
            "it take at that insert, under each write policy?",
            "A（12 个 token）第一次插入。三种写策略下，这次插入各占用多少个 L2 槽位？"),
        parts={name: words for name, words in POLICIES.items()}, case=_prediction,
    ),
    Choice(
        id="06.S",
        asks=Words(
            "Between the insert and ack_write, what are A's 12 slots of L1?",
            "从插入到 ack_write 之间，A 的 12 个 L1 槽位是什么状态？"),
        options={"protected": Words("protected", "protected（被锁定）"),
                 "evictable": Words("evictable", "evictable（可逐出）"),
                 "available": Words("available", "available（空闲）")},
        case=_seen,
    ),
    Choice(
        id="06.P2",
        asks=Words(
            "write_through_selective instead. At which insert is the first byte "
            "written?",
            "换成 write_through_selective。第几次插入时写下第一个字节？"),
        options={"1": Words("the first", "第一次"),
                 "2": Words("the second", "第二次"),
                 "4": Words("the last chunk of B", "B 的最后一个 chunk")},
        case=_knob,
    ),
    Fill(
        id="06.E1",
        asks=Words(
            "{policy}. A ({a} tokens) is inserted, then inserted again. B arrives in "
            "two chunks: {b} tokens, then {rest} more. At last everything is evicted "
            "from L1. Every copy is acknowledged at once; L2 has room.\nHow many slots "
            "of L2 are taken after each?",
            "{policy}。A（{a} 个 token）插入，再插入一次。B 分两个 chunk 到来：先 {b} "
            "个，再 {rest} 个。最后 L1 全部逐出。每次拷贝立即 ack，L2 足够大。\n每一步"
            "之后 L2 占用多少个槽位？"),
        parts={
            "a": Words("after A", "A 之后"), "again": Words("A again", "A 再次"),
            "chunk": Words("B's middle chunk", "B 的中间 chunk"),
            "rest": Words("B's last chunk", "B 的最后 chunk"),
            "evict": Words("after the eviction", "逐出之后"),
        },
        case=_tokens,
    ),
    Order(
        id="06.E2",
        asks=Words(
            "write_through, a first insert and its acknowledgement. Put in order what "
            "happens; leave out what does not.",
            "write_through，首次插入及其 ack。按先后排列；没有发生的去掉。"),
        steps=ORDER, case=_steps,
    ),
    Function(
        id="06.E3",
        asks=Words(
            "Write the guard before a copy. hit has node, hits (this one included), "
            "threshold, backed_up, parent_is_root, parent_backed_up. Return True if "
            "the copy is to be tried.",
            "写出拷贝之前的判断。hit 有 node、hits（含本次）、threshold、backed_up、"
            "parent_is_root、parent_backed_up。应当尝试拷贝时返回 True。"),
        start="def guard(hit):\n    ...", judge=judge,
    ),
    FIRST_COPY,
)  # fmt: skip
