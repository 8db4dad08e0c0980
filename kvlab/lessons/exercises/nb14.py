"""What does notebook 14, What changed, and why, ask?

What a prompt, a prefix that comes home and a full host come to in either release; what
one rule alone would do; how many tokens go; in which order a safe load_back works.
Left out: the answers that are right (the tests hold them).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ...record import events as ev
from ...record.events import Event
from ...record.trace import Trace
from ...rule import NEW, OLD
from ...run import script as sc
from ...views.theme import Words
from ..kinds import Belief, Case, Choice, Fill, Order
from ..own_words.policies import HELD
from ..questions import STAYS, fates, moment
from ..scenarios import fork_of
from ..scenarios.nb14 import (
    A,
    B,
    C,
    Scene,
    admitted,
    coming_home,
    scene,
    served,
    small_host,
    two_missing,
)  # fmt: skip
from ..what_changed import explainer

RELEASES = {"old": Words("0.5.14", "0.5.14"), "new": Words("0.5.23", "0.5.23")}
ONE_RULE = f"{OLD}+load_protects_source"
SERVED = {
    "both": Words("X's own KV; Y is kept on L2", "X 自己的 KV；Y 留在 L2"),
    "alone": Words("X's own KV; Y is lost", "X 自己的 KV；Y 丢失"),
    "wrong": Words("20 slots whose KV was given away before it was read",
                   "20 个槽位，但其 KV 在读取之前已经让给别人"),
    "none": Words("nothing: X must be computed again", "什么也没有：X 要重算"),
}  # fmt: skip
ADMITTED = {
    "kept": Words("Z gets its slots; Y is kept on L2", "Z 得到槽位；Y 留在 L2"),
    "lost": Words("Z gets its slots; Y is lost", "Z 得到槽位；Y 丢失"),
    "stall": Words("Z gets none: no room is made", "Z 得不到槽位：腾不出空间"),
}


def _left(trace: Trace) -> int:
    found = fates(trace, {"A": A, "B": B, "C": C})
    return list(found.values()).count(STAYS)


def _both(
    tell: Callable[..., Scene], answer: Callable[[Trace], Any], step: int, **how: Any
) -> Case:
    """Return the case of a scene under both releases, which part at the rule."""
    old, new = tell(OLD), tell(NEW)
    said = {"old": answer(old.trace), "new": answer(new.trace)}
    return Case(
        said, trace=old.trace, step=step, steps={"old": step}, fork=fork_of(tell),
        beside=new.trace, explain=explainer(old.script), **how,
    )  # fmt: skip


def _missing(random: Random) -> Case:
    step = moment(two_missing().trace, lambda e: isinstance(e, ev.MakeRoom))
    whole = Words(
        "0.5.14 asks for all that the prompt needs, though most of it is free.",
        "0.5.14 按 prompt 的全部需求去要，尽管大部分已经空闲。",
    )
    short = Words(
        "0.5.23 asks for the 2 that are missing: one leaf of 10 is enough.",
        "0.5.23 只要缺的 2 个：一个 10 的叶子就够了。",
    )
    beliefs = Belief({"old": 2}, whole, step), Belief({"new": 1}, short, step)
    return _both(two_missing, _left, step, beliefs=beliefs)


def _asked(random: Random) -> Case:
    trace = two_missing().trace
    room = next(e for e in trace.events if isinstance(e, ev.MakeRoom))
    step = moment(trace, lambda e: e is room)
    return Case(
        str(room.ask), trace=trace, step=step,
        beliefs=(
            Belief("2", Words(
                "2 is what was missing. 0.5.14 asks for the whole need.",
                "缺的是 2；0.5.14 按全部需求要。"), step),
            Belief("20", Words(
                "20 is what went: two whole leaves. It had asked for less.",
                "走的是 20：两个整叶。它要的没有那么多。"), step),
        ),
    )  # fmt: skip


def _drops(node: int) -> Callable[[Event], bool]:
    return lambda e: isinstance(e, ev.EvictHost) and e.node == node


def _home(random: Random) -> Case:
    step = moment(coming_home().trace, _drops(1))
    why = Words(
        "L2 had 20 free slots and Y needs 30: it dropped the coldest host-only leaf. "
        "That was X, which was about to be read.",
        "L2 空闲 20，Y 要 30：它丢掉最冷的、只在主机的叶子。那正是即将读取的 X。",
    )
    held = Words(
        "0.5.23 locks X on both tiers before it makes room. So L2 has nobody to drop, "
        "and Y, which it cannot take, leaves L1 without a copy.",
        "0.5.23 在腾位之前把 X 在两层都锁住。L2 没有谁可丢，放不下的 Y 离开 L1，"
        "没有副本。",
    )
    beliefs = (
        *(Belief({"old": said}, why, step) for said in SERVED if said != "wrong"),
        *(Belief({"new": said}, held) for said in SERVED if said != "alone"),
    )
    return _both(coming_home, served, step, beliefs=beliefs)


def _dropped(random: Random) -> Case:
    trace = coming_home().trace
    gone = next(e for e in trace.events if isinstance(e, ev.EvictHost))
    name = {1: "x", 2: "y"}[gone.node]
    return Case(name, trace=trace, step=moment(trace, lambda e: e is gone))


def _full(random: Random) -> Case:
    step = moment(
        small_host().trace, lambda e: isinstance(e, ev.Victim) and e.fate == "stays"
    )
    beliefs = (
        *(Belief({"old": said}, Words(
            "0.5.14 gives up no KV that it cannot write: Y stays, nothing was freed.",
            "0.5.14 不丢写不出去的 KV：Y 留下，什么也没腾出。"), step)
          for said in ("lost", "kept")),
        *(Belief({"new": said}, Words(
            "0.5.23 drops what L2 cannot take: Y is lost, and Z gets its slots.",
            "0.5.23 丢掉 L2 放不下的：Y 丢失，Z 得到槽位。"), step)
          for said in ("stall", "kept")),
    )  # fmt: skip
    return _both(small_host, admitted, step, beliefs=beliefs)


def _emptied(random: Random) -> Case:
    trace = small_host().trace
    step = moment(trace, _drops(1))
    old, new = (
        any(map(_drops(1), small_host(release).trace.events)) for release in (OLD, NEW)
    )
    answer = {(True, True): "both", (True, False): "old", (False, True): "new"}
    why = Words(
        "Both make room on L2 before they see that Y is larger than all of it.",
        "两者都先在 L2 腾位，之后才发现 Y 比整个 L2 还大。",
    )
    return Case(
        answer.get((old, new), "none"), trace=trace, step=step,
        beliefs=tuple(Belief(said, why, step) for said in ("old", "new", "none")),
    )  # fmt: skip


def _one_rule(random: Random) -> Case:
    old, mixed = coming_home(OLD), coming_home(ONE_RULE)
    refused = moment(
        mixed.trace,
        lambda e: isinstance(e, ev.LoadBack) and e.verdict == "no_device_memory",
    )
    beliefs = (
        Belief("alone", Words(
            "Y was not dropped: that is another rule, and 0.5.14 keeps what it cannot "
            "write.", "Y 没有被丢：那是另一条规则，0.5.14 留住写不出去的。")),
        Belief("both", Words(
            "Y needs 30 slots on L2 and 20 are free; X, which holds the others, is "
            "locked. So Y stays, and X finds no room.",
            "Y 要 L2 的 30 个槽位，空闲 20；占着其余的 X 被锁住。"
            "于是 Y 留下，X 没有位置。")),
        Belief("wrong", Words(
            "X is locked now: none of its slots on L2 can be given away.",
            "X 现在被锁住：它在 L2 的槽位一个也让不出去。")),
    )  # fmt: skip
    return Case(
        served(mixed.trace), trace=old.trace, step=refused, beside=mixed.trace,
        fork=fork_of(coming_home), explain=explainer(old.script), beliefs=beliefs,
    )  # fmt: skip


def _amounts(random: Random) -> Case:
    a, b, c = (random.randint(6, 12) for _ in range(3))
    free = a + random.randint(0, 4)
    need = free + random.randint(1, 5)
    starts = (1000, 2000, 3000, 4000)
    ops: list[sc.AnyOp] = [
        sc.InsertOp(list(range(start, start + size)))
        for start, size in zip(starts, (a, b, c, need), strict=True)
    ]
    knobs = {"pool_tokens": a + b + c + free, "tree": "radix"}
    old, new = (scene("so many", release, knobs, ops) for release in (OLD, NEW))
    went = {"old": _freed(old.trace), "new": _freed(new.trace)}
    step = moment(old.trace, lambda e: isinstance(e, ev.Evicted))
    terms = {"a": a, "b": b, "c": c, "free": free, "need": need}
    beliefs = (
        Belief({"new": need - free}, Words(
            "It asks for the shortfall, and leaves go whole.",
            "它按缺口去要，但叶子整个逐出。")),
        Belief({"old": need}, Words(
            "It asks for the whole need, and leaves go whole.",
            "它按全部需求去要，但叶子整个逐出。"), step),
        Belief({"old": went["new"]}, Words(
            "0.5.14 asks for the whole need, not for what is missing.",
            "0.5.14 按全部需求要，而不是按缺口要。"), step),
        Belief({"new": went["old"]}, Words(
            "0.5.23 asks for what is missing, not for the whole need.",
            "0.5.23 只要缺口，而不是全部需求。")),
    )  # fmt: skip
    return Case(went, terms, old.trace, step, {"old": step}, beliefs)


def _freed(trace: Trace) -> int:
    return next(e.freed for e in trace.events if isinstance(e, ev.Evicted))


STEPS = {
    "drop": Words("Y leaves L1 without a copy", "Y 离开 L1，没有副本"),
    "load": Words("X gets its slots on L1", "X 得到 L1 的槽位"),
    "done": Words("the copy of X has arrived on L1", "X 的拷贝到达 L1"),
    "hold": Words("the copy of X on L2 is locked", "X 在 L2 的副本被锁住"),
    "free": Words("the lock on L2 goes", "L2 上的锁释放"),
    "lose": Words("L2 drops X", "L2 丢弃 X"),
}


def _safe(random: Random) -> Case:
    trace = coming_home(NEW).trace
    kinds: dict[str, Callable[[Event], bool]] = {
        "hold": lambda e: isinstance(e, ev.HostLock),
        "drop": lambda e: isinstance(e, ev.Delete) and e.node == 2,
        "load": lambda e: isinstance(e, ev.Load),
        "done": lambda e: isinstance(e, ev.LoadDone),
        "free": lambda e: isinstance(e, ev.HostUnlock),
    }
    steps = {name: moment(trace, kind) for name, kind in kinds.items()}
    order = sorted(steps, key=steps.__getitem__)
    return Case(order, {}, trace, steps["hold"], steps | {"lose": steps["hold"]})


EXERCISES = (
    Fill(
        id="14.P",
        asks=Words(
            "L1 has 40 slots; A, B and C (10 tokens each) are cached, 10 slots are "
            "free. A prompt of 12 comes. How many of A, B and C are left?",
            "L1 有 40 个槽位；A、B、C（各 10 个 token）在缓存里，空闲 10。"
            "来了一个 12 个 token 的 prompt。A、B、C 还剩几个？"),
        parts=RELEASES, case=_missing,
    ),
    Choice(
        id="14.S",
        asks=Words("0.5.14: how many tokens did make_room ask of eviction?",
                   "0.5.14：make_room 向逐出要了多少 token？"),
        options={"2": Words("2", "2"), "12": Words("12", "12"),
                 "20": Words("20", "20")},
        case=_asked,
    ),
    Fill(
        id="14.P2",
        asks=Words(
            "write_back. X (20 tokens) is on L2 only, Y (30) on L1 only. L1 has 2 free "
            "slots, L2 20. X is loaded back. What does the request get?",
            "write_back。X（20 个 token）只在 L2，Y（30）只在 L1。"
            "L1 空闲 2，L2 空闲 20。现在取回 X。请求得到什么？"),
        parts=RELEASES, options=SERVED, case=_home,
    ),
    Choice(
        id="14.S2",
        asks=Words("0.5.14: whom did L2 drop to make room for the copy of Y?",
                   "0.5.14：L2 为了给 Y 的副本腾位，丢掉了谁？"),
        options={"x": Words("X (n1)", "X（n1）"), "y": Words("Y (n2)", "Y（n2）"),
                 "none": Words("nobody", "没有丢")},
        case=_dropped,
    ),
    Choice(
        id="14.P3",
        asks=Words(
            "Take that one rule over into 0.5.14 (load_protects_source) and leave the "
            "rest. What does the request for X get?",
            "只把这一条规则（load_protects_source）搬进 0.5.14，其余不变。"
            "请求 X 的人得到什么？"),
        options=SERVED, case=_one_rule,
    ),
    Fill(
        id="14.P4",
        asks=Words(
            "write_back, L1 of 30 slots full of Y, L2 of 20 slots full of X, and Z (20 "
            "tokens) wants to be inserted. What happens?",
            "write_back，L1 的 30 个槽位被 Y 占满，L2 的 20 个被 X 占满，"
            "Z（20 个 token）要插入。会怎样？"),
        parts=RELEASES, options=ADMITTED, case=_full,
    ),
    Choice(
        id="14.S4",
        asks=Words("In which release was X dropped from L2?",
                   "在哪个版本里 X 从 L2 被丢弃？"),
        options={"old": Words("0.5.14 only", "只有 0.5.14"),
                 "new": Words("0.5.23 only", "只有 0.5.23"),
                 "both": Words("both", "两个都是"), "none": Words("none", "都没有")},
        case=_emptied,
    ),
    Fill(
        id="14.E1",
        asks=Words(
            "No L2. Three leaves of {a}, {b} and {c} tokens, coldest first, and {free} "
            "free slots. A prompt of {need} comes. How many tokens are evicted?",
            "没有 L2。三个叶子 {a}、{b}、{c} 个 token，最冷的在前，空闲 {free}。"
            "来了一个 {need} 个 token 的 prompt。逐出多少 token？"),
        parts=RELEASES, case=_amounts,
    ),
    Order(
        id="14.E2",
        asks=Words(
            "0.5.23 loads X back while L1 is full of Y and L2 has no room for Y. Put "
            "in order what happens; leave out what does not.",
            "0.5.23 取回 X，L1 被 Y 占满，L2 又放不下 Y。按先后排列；"
            "没有发生的去掉。"),
        steps=STEPS, case=_safe,
    ),
    HELD,
)  # fmt: skip
