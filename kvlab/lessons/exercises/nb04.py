"""What does notebook 04, Eviction on demand, ask?

When an eviction begins, how much it frees, whom it takes.
Left out: the answers that are right (the tests hold them).
"""

from __future__ import annotations

from functools import partial
from random import Random

from ...config import EvictionPolicy
from ...record import events as ev
from ...record.trace import Trace
from ...views.theme import Words
from ..kinds import Belief, Case, Choice, Fill, Function, Order
from ..own_words.states import ON_DEMAND
from ..questions import moment, state_at
from ..scenarios import fork_of
from ..scenarios.nb04 import (
    LEAVES,
    NAMES,
    B,
    granted,
    history,
    one_missing,
    ranked,
    some_wish,
)  # fmt: skip
from ..strategy import judge
from ..victims import is_victim

WHOLE = Words(
    "Leaves go whole: a shortfall of 1 and a coldest leaf of 7 free 7.",
    "叶子整个逐出：缺 1 个，最冷的叶子有 7 个，就腾出 7 个。",
)


def _evictions(trace: Trace) -> list[ev.Evicted]:
    return [e for e in trace.events if isinstance(e, ev.Evicted)]


def _prediction(random: Random) -> Case:
    trace = one_missing().trace
    at = moment(trace, lambda e: isinstance(e, ev.Evicted))
    freed = _evictions(trace)[0].freed
    left = state_at(trace, at + 4).account().available
    return Case(
        {"freed": freed, "left": left}, trace=trace, step=at,
        steps={"freed": at, "left": at}, fork=fork_of(one_missing),
        beliefs=(
            Belief({"freed": 1}, WHOLE, at),
            Belief({"freed": 4}, Words(
                "There is no waterline: nothing is kept free beforehand.",
                "没有水位线：不会预先留空。"), at),
        ),
    )  # fmt: skip


def _seen(random: Random) -> Case:
    trace = one_missing().trace
    at = moment(trace, lambda e: isinstance(e, ev.MakeRoom) and e.ask > 0)
    available = state_at(trace, at).account().available
    return Case(
        str(available), trace=trace, step=at,
        beliefs=(Belief("4", Words(
            "90 % is no rule of SGLang's: the pool was full to the last slot.",
            "SGLang 没有 90 % 这条规则：池子用到了最后一个槽位。"), at),),
    )  # fmt: skip


def _knob(random: Random) -> Case:
    trace, other = one_missing().trace, one_missing(eviction_policy="lfu").trace
    second = moment(other, lambda e: isinstance(e, ev.Step) and e.number == 7)
    starts = {e.node: e.tokens.item(0) for e in other.events if isinstance(e, ev.Add)}
    names = {leaf.start: name for name, leaf in LEAVES.items()}
    gone = [
        names.get(starts[e.node], "child")
        for e in other.events[second:]
        if isinstance(e, ev.Victim)
    ]
    return Case(
        " ".join(gone), trace=trace, beside=other, fork=fork_of(one_missing),
        step=moment(trace, lambda e: isinstance(e, ev.Victim), second),
        beliefs=(
            Belief("A", Words(
                "A was hit twice, so lfu keeps it; lru took it for its age.",
                "A 被命中两次，lfu 会留下它；lru 因为它旧而逐出。")),
            Belief("child D", Words(
                "D was hit by both inserts that pass it, C by one: the fewest hits go "
                "first.",
                "两次插入都经过 D，各算一次命中；C 只有一次：命中最少的先走。")),
        ),
    )  # fmt: skip


def _order(random: Random) -> Case:
    policies: tuple[EvictionPolicy, ...] = ("lru", "lfu", "fifo")
    policy = random.choice(policies)
    bench, told = history(random, policy)
    trace = bench.trace
    starts = {e.node: e.tokens.item(0) for e in trace.events if isinstance(e, ev.Add)}
    victims = [e.node for e in trace.events if isinstance(e, ev.Victim)]
    order = [NAMES[starts[node] // 1000 - 1] for node in victims]
    steps = {
        name: moment(trace, partial(is_victim, node))
        for name, node in zip(order, victims, strict=True)
    }
    terms = {"policy": policy, "told": " ".join(told)}
    beliefs = tuple(
        Belief(ranked(told, other), RANKS[policy], steps[order[0]])
        for other in policies
        if other != policy
    )
    return Case(order, terms, trace, steps[order[0]], steps, beliefs)


RANKS = {
    "lru": Words("lru ranks by last access: a hit makes a leaf the newest.",
                 "lru 按最近访问排：一次命中就让叶子变成最新的。"),
    "lfu": Words("lfu ranks by hits, the insert counted; last access decides only "
                 "between equals.",
                 "lfu 先比命中次数（插入也算一次），相同时才比最近访问。"),
    "fifo": Words("fifo ranks by creation: a hit changes nothing.",
                  "fifo 按创建先后排：命中不改变次序。"),
}  # fmt: skip


def _freed(random: Random) -> Case:
    wish = some_wish(random)
    trace, old = (granted(wish, rules).trace for rules in ("0.5.23", "0.5.14"))
    at = moment(trace, lambda e: isinstance(e, ev.Evicted))
    freed, before = _evictions(trace)[0], _evictions(old)[0]
    missing = wish.need - wish.free
    return Case(
        {"ask": freed.ask, "freed": freed.freed, "old": before.ask}, wish._asdict()
        | {"sizes": ", ".join(map(str, wish.sizes))}, trace,
        steps={"ask": at, "freed": at, "old": at},
        beliefs=(
            Belief({"ask": wish.need}, Words(
                "0.5.23 asks for what is missing, need − available; it is 0.5.14 that "
                "asks for the whole need.",
                "0.5.23 只要缺口，即 need − available；按全部需求要的是 0.5.14。"), at),
            Belief({"freed": missing}, WHOLE, at),
            Belief({"old": missing}, Words(
                "0.5.14 asks for the whole need, not for what is missing.",
                "0.5.14 按全部需求要，而不是按缺口要。"), at),
        ),
    )  # fmt: skip


EXERCISES = (
    Fill(
        id="04.P",
        asks=Words(
            "L1 is full of cache. The coldest leaf has 7 tokens. Somebody needs 1 "
            "slot. How many slots are freed, and how many are left over afterwards?",
            "L1 装满缓存，最冷的叶子有 7 个 token。有人需要 1 个槽位。"
            "会腾出几个槽位？用掉之后还剩几个？"),
        parts={"freed": Words("slots freed", "腾出的槽位"),
               "left": Words("left over", "剩下的")},
        case=_prediction,
    ),
    Choice(
        id="04.S",
        asks=Words("How many slots were available when that eviction began?",
                   "这次逐出开始时，还有几个空闲槽位？"),
        options={"0": Words("none", "0 个"),
                 "4": Words("4: ten percent", "4 个（10 %）"),
                 str(len(B)): Words("7: a leaf's worth", "7 个（一个叶子）")},
        case=_seen,
    ),
    Choice(
        id="04.P2",
        asks=Words(
            "lfu instead of lru. Then twelve slots are needed, 6 are available. Who "
            "goes?",
            "lru 换成 lfu。随后需要 12 个槽位，只有 6 个空闲。谁会走？"),
        options={
            "A": Words("A, as under lru", "A，和 lru 一样"),
            "child C": Words("the child below D, then C", "D 下面的子节点，然后 C"),
            "child D": Words("the child, then its parent D", "子节点，然后父节点 D"),
        },
        case=_knob,
    ),
    Order(
        id="04.E1",
        asks=Words(
            "{policy}. +X inserts a leaf, X alone hits it again: {told}. Then "
            "everything is evicted. Put the leaves in the order in which they leave.",
            "{policy}。+X 表示插入叶子，单独的 X 表示再次命中：{told}。然后全部逐出。"
            "按离开的先后排列。"),
        steps={name: Words(name, name) for name in NAMES}, case=_order,
    ),
    Fill(
        id="04.E2",
        asks=Words(
            "L1 holds leaves of {sizes} tokens, coldest first, and {free} free slots. "
            "{need} slots are needed at once.",
            "L1 上的叶子（最冷在前）有 {sizes} 个 token，另有 {free} 个空槽。"
            "现在一次需要 {need} 个槽位。"),
        parts={
            "ask": Words("0.5.23 asks to evict", "0.5.23 要求逐出"),
            "freed": Words("0.5.23 frees", "0.5.23 实际腾出"),
            "old": Words("0.5.14 asks to evict", "0.5.14 要求逐出"),
        },
        case=_freed,
    ),
    Function(
        id="04.E3",
        asks=Words(
            "Write the key of slru: leaves with two hits or more go after all others; "
            "within both groups the least recently used goes first. leaf has node, "
            "tokens, hits, last_access, created. The smallest key goes first.",
            "写出 slru 的键：命中两次及以上的叶子排在其他之后；两组内部都是最久未用的先"
            "走。leaf 有 node、tokens、hits、last_access、created。键最小的先走。"),
        start="def key(leaf):\n    ...", judge=judge,
    ),
    ON_DEMAND,
)  # fmt: skip
