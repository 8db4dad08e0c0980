"""What does notebook 07, Demote or delete, ask?

Which fate each leaf has, how many tokens each fate takes, and the loop that decides.
Left out: the answers that are right (the tests hold them).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import NamedTuple

from ...record import events as ev
from ...record.events import Event
from ...rules import Rules
from ...run.workbench import Workbench
from ...views.theme import Words
from ..kinds import Belief, Case, Choice, Fill, Function, Order
from ..own_words.tiers import FOR_GOOD
from ..questions import DELETED, DEMOTED, LOST, fates, moment, state_at
from ..scenarios import fork_of
from ..scenarios.nb07 import A, B, C, three_fates
from ..victims import is_victim, judge

FATES = {
    DEMOTED: Words("demoted: leaves L1, stays on L2", "降级：离开 L1，留在 L2"),
    DELETED: Words("deleted: its only copy goes", "删除：唯一的副本没了"),
    LOST: Words("lost: on L2 first, then dropped there", "丢失：先在 L2，后被 L2 丢弃"),
}
LEAVES = {"A": Words("A (n1)", "A（n1）"), "B": Words("B (n2)", "B（n2）"),
          "C": Words("C (n3)", "C（n3）")}  # fmt: skip


def _prediction(random: Random) -> Case:
    trace = three_fates().trace
    answer = fates(trace, {"A": A, "B": B, "C": C})
    victims = {
        name: moment(trace, partial(is_victim, n)) for n, name in enumerate("ABC", 1)
    }
    dropped = moment(trace, lambda e: isinstance(e, ev.EvictHost))
    return Case(
        answer, trace=trace, steps=victims | {"C": dropped}, fork=fork_of(three_fates),
        beliefs=(
            Belief({"A": DELETED}, Words(
                "A has a copy on L2: its slots on L1 go, the node and the copy stay.",
                "A 在 L2 有副本：走的是 L1 的槽位，节点和副本都留下。"), victims["A"]),
            Belief({"A": LOST}, Words(
                "Somebody asked for A again, so C was the coldest when L2 had to drop "
                "one.",
                "期间有人再次请求过 A，所以 L2 要丢一个时，最冷的是 C。"), dropped),
            *(Belief({"B": fate}, Words(
                "B has no copy on L2: a middle chunk counts no hit.",
                "B 在 L2 没有副本：中间 chunk 不计命中。"), victims["B"])
              for fate in (DEMOTED, LOST)),
            Belief({"C": DEMOTED}, Words(
                "At first it was. Then D needed 16 places on L2 where 13 were free.",
                "起初是。后来 D 要在 L2 占 16 个位置，而只有 13 个空槽。"), dropped),
            Belief({"C": DELETED}, Words(
                "C had a copy: leaving L1 it was demoted. It was L2 that dropped it.",
                "C 有副本：离开 L1 时是降级，后来被 L2 丢弃。"), victims["C"]),
        ),
    )  # fmt: skip


def _knob(random: Random) -> Case:
    trace, other = three_fates().trace, three_fates(write_policy="write_back").trace
    left = list(fates(other, {"A": A, "B": B, "C": C}).values()).count(DEMOTED)
    parted = moment(trace, lambda e: isinstance(e, ev.TryBackup))
    return Case(
        str(left), trace=trace, step=parted, beside=other,
        fork=fork_of(three_fates),
        beliefs=(
            Belief("2", Words(
                "B too: write_back tries at the eviction itself, whatever was counted.",
                "B 也在：write_back 在逐出那一刻才写，不看命中计数。")),
            Belief("1", Words(
                "Each is written as it is evicted, and L2 has room for all three.",
                "每个都在被逐出时写下去，L2 三个都放得下。")),
        ),
    )  # fmt: skip


def _seen(random: Random) -> Case:
    trace = three_fates().trace
    at = moment(trace, lambda e: isinstance(e, ev.Demote) and e.node == 1)
    before, after = (state_at(trace, step).host_account() for step in (at - 1, at))
    return Case(
        "same" if before.available == after.available else "more", trace=trace, step=at,
        beliefs=(Belief("more", Words(
            "No L2 slot was taken: the copy had been there since the insert.",
            "没有占用任何 L2 槽位：副本在插入时就有了。"), at),),
    )  # fmt: skip


class Sizes(NamedTuple):
    """Tokens of the leaves A, B, C, of the newcomer D, and of L2; and which leaf is
    asked for again before D comes."""

    a: int
    b: int
    c: int
    d: int
    host: int
    kept: str = "A"


def _sizes(random: Random) -> Sizes:
    a, b, c = random.randint(8, 14), random.randint(6, 15), random.randint(16, 22)
    d = random.randint(15, 16)
    host = a + c + d - random.randint(1, 5)
    return Sizes(a, b, c, d, host, random.choice("AC"))


def counted(sizes: Sizes) -> Workbench:
    """Return the run of E1: as three_fates, with these sizes."""
    starts = (1000, 2000, 3000, 4000)
    a, b, c, d = (range(s, s + n) for s, n in zip(starts, sizes[:4], strict=True))
    pool = max(len(a) + len(b) + len(c), len(d))
    bench = Workbench(
        Rules.v0_5_14(),
        name="three sizes", pool_tokens=min(pool, sizes.host - 1),
        host_tokens=sizes.host,
    )  # fmt: skip
    bench.insert(a)
    bench.ack_write()
    bench.insert(b, chunked=True)
    bench.evict(len(a) + len(b))
    bench.insert(c)
    bench.ack_write()
    bench.evict(len(c))
    bench.match({"A": a, "C": c}[sizes.kept])
    bench.insert(d)
    return bench


def _tokens(random: Random) -> Case:
    sizes = _sizes(random)
    bench = counted(sizes)
    names = {"A": range(1000, 1001), "B": range(2000, 2001), "C": range(3000, 3001)}
    found = fates(bench.trace, names)
    size = {"A": sizes.a, "B": sizes.b, "C": sizes.c}
    answer = dict.fromkeys((DEMOTED, DELETED, LOST), 0)
    for name, fate in found.items():
        answer[fate] += size[name]
    trace = bench.trace
    dropped = moment(trace, lambda e: isinstance(e, ev.EvictHost))
    gone = moment(trace, lambda e: isinstance(e, ev.Delete))
    lacks = sizes.d - (sizes.host - sizes.a - sizes.c)
    cold = sizes.c if sizes.kept == "A" else sizes.a
    return Case(
        answer, sizes._asdict(), trace,
        steps={DEMOTED: moment(trace, lambda e: isinstance(e, ev.Demote)),
               DELETED: gone, LOST: dropped},
        beliefs=(
            Belief({LOST: lacks}, Words(
                "L2 does not drop exactly what is missing: leaves go whole.",
                "L2 丢弃的不是正好所缺的数量：叶子整个丢弃。"), dropped),
            Belief({LOST: cold}, Words(
                f"evict_host is asked for D's whole need, {sizes.d}, and the coldest "
                f"leaf has {cold}: the other goes next.",
                f"向 evict_host 要的是 D 的全部需求 {sizes.d}，最冷的叶子只有 {cold}："
                "接着另一个也走。"), dropped),
            Belief({DELETED: sum(sizes[:3])}, Words(
                "An eviction is no loss while L2 has a copy.",
                "只要 L2 有副本，逐出就不是丢失。"), gone),
            Belief({LOST: 0}, Words(
                "D wants a place on L2, which is too full: one leaf there has to go.",
                "D 要在 L2 占位，而 L2 不够空：那里必须走一个叶子。"), dropped),
            Belief({DELETED: 0}, Words(
                "One leaf was never backed up: a middle chunk counts no hit.",
                "有一个叶子从未备份：中间 chunk 不计命中。"), gone),
        ),
    )  # fmt: skip


STEPS = {
    "victim": Words("evict_host takes the coldest host-only leaf",
                    "evict_host 取最冷的、只在 L2 的叶子"),
    "refused": Words("L2 has too few free slots for the copy of D",
                     "L2 的空槽不够放 D 的副本"),
    "insert": Words("D becomes a leaf on L1", "D 成为 L1 上的叶子"),
    "backup": Words("D gets its slots on L2", "D 得到 L2 的槽位"),
    "ack": Words("the copy is acknowledged", "拷贝得到 ack"),
    "demote": Words("D gives up its slots on L1", "D 让出 L1 的槽位"),
}  # fmt: skip


def _newcomer(random: Random) -> Case:
    bench = counted(_sizes(random))
    start = len(bench.trace)
    bench.ack_write()
    trace = bench.trace
    d = next(e.node for e in reversed(trace.events) if isinstance(e, ev.Add))
    kinds: dict[str, Callable[[Event], bool]] = {
        "victim": lambda e: isinstance(e, ev.EvictHost),
        "refused": lambda e: isinstance(e, ev.TryBackup) and e.verdict == "make_room",
        "insert": lambda e: isinstance(e, ev.Add) and e.node == d,
        "backup": lambda e: isinstance(e, ev.Backup) and e.node == d,
        "ack": lambda e: isinstance(e, ev.BackupDone) and e.node == d,
    }
    steps = {name: moment(trace, kind) for name, kind in kinds.items()}
    return Case(
        sorted(steps, key=steps.__getitem__),
        {},
        trace,
        start,
        steps | {"demote": start},
    )


EXERCISES = (
    Fill(
        id="07.P",
        asks=Words(
            "All three leaves are evicted from L1. Then A is asked for once more, and "
            "D (16 tokens) wants a place on L2. What becomes of each?",
            "三个叶子全部被逐出 L1。之后有人再次请求 A，D（16 个 token）要在 L2 占位。"
            "它们各会怎样？"),
        parts=LEAVES, options=FATES, case=_prediction,
    ),
    Choice(
        id="07.S",
        asks=Words("A left L1 when it was demoted. What happened on L2 at that event?",
                   "A 被降级、离开 L1。那个事件里 L2 发生了什么？"),
        options={
            "same": Words("Nothing: its copy was there already",
                          "没有变化：副本早就在了"),
            "more": Words("It took 12 slots for the copy", "为副本占用了 12 个槽位"),
            "less": Words("It gave up 12 slots", "让出了 12 个槽位"),
        },
        case=_seen,
    ),
    Choice(
        id="07.P2",
        asks=Words(
            "write_back instead of write_through. How many of A, B and C can still be "
            "had at the end, from L1 or L2?",
            "write_through 换成 write_back。最后 A、B、C 中有几个还能从 L1 或 L2 "
            "取回？"),
        options={"1": Words("one", "一个"), "2": Words("two", "两个"),
                 "3": Words("all three", "三个都能")},
        case=_knob,
    ),
    Fill(
        id="07.E1",
        asks=Words(
            "write_through. A ({a} tokens) is inserted and backed up, B ({b}) is a "
            "middle chunk; both are evicted. C ({c}) is inserted, backed up, evicted. "
            "{kept} is asked for again. D ({d}) is inserted. L2 has {host} slots; "
            "0.5.14 asks evict_host for the whole need.\n"
            "How many tokens of A, B and C have met each fate?",
            "write_through。A（{a} 个 token）插入并已备份，B（{b}）是中间 chunk；两者被"
            "逐出。C（{c}）插入、备份、被逐出。{kept} 再次被请求。插入 D（{d}）。"
            "L2 有 {host} 个槽位；0.5.14 向 evict_host 按全部需求要。\n"
            "A、B、C 各有多少 token 落入每种结局？"),
        parts={fate: FATES[fate] for fate in (DEMOTED, DELETED, LOST)},
        case=_tokens,
    ),
    Order(
        id="07.E2",
        asks=Words(
            "L2 is nearly full when D is inserted under write_through. Put in order "
            "what happens; leave out what does not.",
            "write_through 下插入 D 时 L2 几乎满了。按先后排列；没有发生的去掉。"),
        steps=STEPS, case=_newcomer,
    ),
    Function(
        id="07.E3",
        asks=Words(
            "Write the loop of evict. desk.leaves are the leaves, coldest first, each "
            "with node, tokens, locked, backed_up; desk.write_back is the policy; "
            "desk.demote(leaf), desk.delete(leaf), desk.back_up(leaf) act. Return how "
            "many tokens leave L1.",
            "写出 evict 的循环。desk.leaves 是叶子，最冷的在前，各有 node、tokens、"
            "locked、backed_up；desk.write_back 是策略；desk.demote(leaf)、"
            "desk.delete(leaf)、desk.back_up(leaf) 执行动作。"
            "返回离开 L1 的 token 数。"),
        start="def evict(desk, ask):\n    ...", judge=judge,
    ),
    FOR_GOOD,
)  # fmt: skip
