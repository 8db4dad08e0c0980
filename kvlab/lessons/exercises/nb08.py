"""What does notebook 08, The way back, ask?

How much of a chain comes back, what making room for it costs, in which order it happens
and who decides.
Left out: the answers that are right (the tests hold them).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ...record import events as ev
from ...record.events import Event
from ...record.trace import Trace
from ...views.theme import Words
from ..kinds import Belief, Case, Choice, Fill, Function, Order
from ..loads import judge
from ..own_words.tiers import NOT_FREE
from ..questions import DELETED, DEMOTED, STAYS, fates, moment
from ..scenarios import fork_of
from ..scenarios.nb08 import (
    P2,
    P3,
    S,
    asked_for,
    half_a_chain,
    loaded_at_first,
    some_sizes,
)  # fmt: skip

WHOLE = Words(
    "All or nothing: one allocation for the whole chain. L1 had room for P2, and not "
    "even P2 was loaded.",
    "全有或全无：整条链只做一次分配。L1 放得下 P2，但 P2 也没有取回。",
)
ROOM = len(P2) + len(P3) - 2
"""What L1 can give in the story: two slots fewer than the chain needs."""


def _asked(trace: Trace) -> int:
    """Return the moment at which the chain is wanted for the first time."""
    return moment(trace, lambda e: isinstance(e, ev.LoadBack))


def _prediction(random: Random) -> Case:
    trace = half_a_chain().trace
    asked = _asked(trace)
    told = moment(trace, lambda e: isinstance(e, ev.LoadBack), asked)
    return Case(
        str(loaded_at_first(trace)), trace=trace, step=asked,
        fork=fork_of(half_a_chain),
        beliefs=(
            Belief(str(len(P2)), WHOLE, told),
            Belief(str(ROOM), WHOLE, told),
            Belief(str(len(P2) + len(P3)), Words(
                "R is locked: no eviction may take it, whoever asks.",
                "R 被锁住：谁来要都不能逐出它。"), told),
        ),
    )  # fmt: skip


def _seen(random: Random) -> Case:
    trace = half_a_chain().trace
    gone = moment(trace, lambda e: isinstance(e, ev.Victim), _asked(trace))
    return Case(
        fates(trace, {"S": S})["S"], trace=trace, step=gone,
        beliefs=(
            Belief(STAYS, Words(
                "Room is made first; only then is it seen that it is not enough.",
                "先腾位，之后才发现还不够。"), gone),
            Belief(DEMOTED, Words(
                "S had no copy on L2: it was a middle chunk, which counts no hit.",
                "S 在 L2 没有副本：它是中间 chunk，不计命中。"), gone),
        ),
    )  # fmt: skip


def _knob(random: Random) -> Case:
    trace, other = half_a_chain().trace, half_a_chain(pool_tokens=26).trace
    parted = moment(trace, lambda e: isinstance(e, ev.LoadBack), _asked(trace))
    return Case(
        str(loaded_at_first(other)), trace=trace, step=parted, beside=other,
        fork=fork_of(half_a_chain),
        beliefs=(
            Belief("2", Words(
                "Two slots were all that was missing: with them the whole chain fits.",
                "缺的正好是这两个槽位：有了它们，整条链都放得下。")),
            Belief(str(len(P2)), Words(
                "All or nothing: with room for P2 and P3 both come, in one allocation.",
                "全有或全无：P2 和 P3 都放得下，就一次分配、一起取回。")),
            Belief("0", Words(
                "8 slots are free and S gives 4: enough for 12.",
                "空闲 8 个，S 再让出 4 个：12 个正好。")),
        ),
    )  # fmt: skip


def _tokens(random: Random) -> Case:
    sizes = some_sizes(random)
    trace = asked_for(sizes).trace
    at = moment(trace, lambda e: isinstance(e, ev.Prefill))
    told = trace.events[at - 1]
    assert isinstance(told, ev.Prefill)
    hit = moment(trace, lambda e: isinstance(e, ev.Match) and e.host > 0, 20)
    back = _asked(trace)
    answer = {
        "device": told.device_hit, "host": told.host_hit, "loaded": told.loaded,
        "extend": told.extend,
    }  # fmt: skip
    return Case(
        answer, sizes._asdict(), trace,
        steps={"device": hit, "host": hit, "loaded": back, "extend": at},
        beliefs=(
            Belief({"host": sizes.b}, Words(
                "A match goes on inside a node: the last one is split where the "
                "prompt parts from it.",
                "match 会进入节点内部：prompt 在哪里分叉，就在哪里 split。"),
                hit),
            Belief({"host": sizes.b + sizes.c}, Words(
                "The match ends inside the third node: it is split there, and only "
                f"the {sizes.x} shared tokens count.",
                f"match 停在第三个节点内部：在那里 split，只有相同的 {sizes.x} 个 "
                "token 计入。"), hit),
            Belief({"loaded": sizes.b}, Words(
                "The chain comes as a whole or not at all.",
                "整条链要么全部取回，要么都不取回。"), back),
            Belief({"device": sizes.a + sizes.b + sizes.x}, Words(
                "The two parts are counted apart: what is on L2 alone is no L1 hit.",
                "两段分开计：只在 L2 的不算 L1 命中。"), hit),
            Belief({"loaded": told.host_hit - told.loaded}, Words(
                f"load_back_threshold is {trace.header.config.load_threshold}: "
                "less is computed, that much or more is loaded.",
                f"load_back_threshold 是 {trace.header.config.load_threshold}："
                "不足的重算，达到的取回。"), back),
            Belief({"extend": sizes.own + told.loaded}, Words(*(
                ("What came back from L2 is not computed again.",
                 "从 L2 取回的不再计算。") if told.loaded else
                ("What is on L2 and not loaded is computed, too.",
                 "在 L2 上而没有取回的，也要计算。"))), at),
        ),
    )  # fmt: skip


ORDER = {
    "match": Words("the match counts an L1 part and an L2 part",
                   "match 数出 L1 段与 L2 段"),
    "ancestor": Words("the L1 part (P1) is locked", "锁住 L1 段（P1）"),
    "room": Words("R, let go by now, is evicted", "逐出已经解锁的 R"),
    "alloc": Words("one allocation for P2 and P3", "为 P2、P3 做一次分配"),
    "first": Words("P2 gets its slots", "P2 得到槽位"),
    "second": Words("P3 gets its slots", "P3 得到槽位"),
    "lock": Words("the path down to P3 is locked", "锁住直到 P3 的路径"),
    "row": Words("the slots are written into the request's row",
                 "槽位写入请求的行"),
    "ack": Words("the copy is acknowledged", "拷贝得到 ack"),
    "host": Words("the copies on L2 are freed", "释放 L2 上的副本"),
}  # fmt: skip


def _steps(random: Random) -> Case:
    trace = half_a_chain().trace
    begin = moment(trace, lambda e: isinstance(e, ev.Arrive))
    deep = {"first": 3, "second": 1}
    kinds: dict[str, Callable[[Event], bool]] = {
        "match": lambda e: isinstance(e, ev.Match),
        "ancestor": lambda e: isinstance(e, ev.Lock) and e.node == 2,
        "room": lambda e: isinstance(e, ev.Victim),
        "alloc": lambda e: isinstance(e, ev.Alloc),
        "first": lambda e: isinstance(e, ev.Load) and e.node == deep["first"],
        "second": lambda e: isinstance(e, ev.Load) and e.node == deep["second"],
        "lock": lambda e: isinstance(e, ev.Lock) and e.node == deep["second"],
        "row": lambda e: isinstance(e, ev.Row),
        "ack": lambda e: isinstance(e, ev.LoadDone),
    }
    steps = {name: moment(trace, kind, begin) for name, kind in kinds.items()}
    return Case(
        sorted(steps, key=steps.__getitem__), {}, trace, steps["match"],
        steps | {"host": len(trace)},
    )  # fmt: skip


EXERCISES = (
    Choice(
        id="08.P",
        asks=Words(
            "P2 and P3, 7 + 5 tokens, are wanted back. L1 has 6 free slots; S can be "
            "evicted, 4 more; R is locked. How many tokens does load_back load?",
            "要取回 P2 和 P3，7 + 5 个 token。L1 空闲 6 个槽位；S 可逐出，再得 4 个；"
            "R 被锁住。load_back 取回多少个 token？"),
        options={
            "0": Words("none", "一个也不"),
            str(len(P2)): Words("7: P2, which fits", "7 个：放得下的 P2"),
            str(ROOM): Words("10: as many as fit", "10 个：能放多少放多少"),
            "12": Words("12: R has to go", "12 个：R 让位"),
        },
        case=_prediction,
    ),
    Choice(
        id="08.S",
        asks=Words("What became of S in this attempt?", "这次尝试中，S 怎么了？"),
        options={
            STAYS: Words("It stayed: nothing was loaded", "还在：反正什么都没取回"),
            DEMOTED: Words("It left L1, and is on L2", "离开 L1，留在 L2"),
            DELETED: Words("It is gone, for nothing", "没了，白白让位"),
        },
        case=_seen,
    ),
    Choice(
        id="08.P2",
        asks=Words(
            "L1 gets 2 more slots: 8 are free instead of 6, nothing else changes. How "
            "many tokens does the same load_back load now?",
            "L1 多 2 个槽位：空闲 8 个而不是 6 个，其他不变。"
            "同一次 load_back 现在取回多少个 token？"),
        options={
            "0": Words("none, as before", "还是一个也不"),
            "2": Words("2: two more than before", "2 个：比原来多两个"),
            str(len(P2)): Words("7: P2", "7 个：P2"),
            "12": Words("12: the chain", "12 个：整条链"),
        },
        case=_knob,
    ),
    Fill(
        id="08.E1",
        asks=Words(
            "A chain of three nodes: {a} tokens on L1, then {b} and {c} on L2 alone. A "
            "prompt shares the first two nodes and the first {x} tokens of the third; "
            "{own} tokens of its own follow. L1 has room for all of it.\n"
            "What is counted, loaded and computed?",
            "三个节点的链：{a} 个 token 在 L1，之后 {b} 个和 {c} 个只在 L2。"
            "一个 prompt 与前两个节点以及第三个的前 {x} 个 token 相同，"
            "后面是自己的 {own} 个。L1 空间足够。\n命中、取回、计算各是多少？"),
        parts={
            "device": Words("device_hit", "device_hit"),
            "host": Words("host_hit", "host_hit"),
            "loaded": Words("loaded by load_back", "load_back 取回"),
            "extend": Words("computed by the prefill", "预填充计算"),
        },
        case=_tokens,
    ),
    Order(
        id="08.E2",
        asks=Words(
            "R is let go and a request for the whole prompt comes; now the chain is "
            "loaded. Put in order what happens; leave out what does not.",
            "R 解锁之后，来了一个请求，要整个 prompt；这次链取回了。"
            "按先后排列；没有发生的去掉。"),
        steps=ORDER, case=_steps,
    ),
    Function(
        id="08.E3",
        asks=Words(
            "Write load_back as 0.5.14 does it. desk.path are the nodes on L2 alone, "
            "leaf first as the walk up finds them, each with node and tokens; "
            "desk.threshold, desk.quota (or None), desk.delta (0 or less) and "
            "desk.available are the terms; desk.evict(tokens) and desk.load(nodes) "
            "act; eviction is asked for the whole need. Return how many tokens are "
            "loaded, 0 if none.",
            "按 0.5.14 写出 load_back。desk.path 是只在 L2 的节点，按向上走的顺序，"
            "叶子在前，各有 node、tokens；desk.threshold、desk.quota（或 None）、"
            "desk.delta（≤ 0）、desk.available 是条件；desk.evict(tokens) 和 "
            "desk.load(nodes) 执行动作；逐出按全部需求要。"
            "返回取回的 token 数，没有则返回 0。"),
        start="def load_back(desk):\n    ...", judge=judge,
    ),
    NOT_FREE,
)  # fmt: skip
