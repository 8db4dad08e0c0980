"""What does notebook 02, Three states, five terms, ask?

Which counter a slot is counted in, and when it moves to another.
Left out: the answers that are right (the tests hold them).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ...record import events as ev
from ...record.events import Event
from ...record.trace import Trace
from ...rules import Rules
from ...run.script import DecodeOp, RequestFinishOp, RequestStartOp
from ...run.workbench import Workbench
from ...views.theme import Words
from ..kinds import Belief, Case, Choice, Fill, Function, Order
from ..locks import judge
from ..own_words.states import IN_BETWEEN
from ..questions import moment, state_at
from ..scenarios import fork_of
from ..scenarios.nb02 import one_life

TERMS = {
    "available": Words("available", "available（空闲）"),
    "evictable": Words("evictable", "evictable（可逐出）"),
    "protected": Words("protected", "protected（被锁定）"),
    "held": Words("held", "held（树外持有）"),
}


def after(trace: Trace, number: int) -> int:
    """Return the moment at which operation `number` is done."""
    try:
        return moment(trace, lambda e: isinstance(e, ev.Step) and e.number > number) - 1
    except ValueError:
        return len(trace)


def _terms(trace: Trace, step: int) -> dict[str, int]:
    account = state_at(trace, step).account()
    return {name: getattr(account, name) for name in TERMS}


def _prediction(random: Random) -> Case:
    trace = one_life().trace
    at = after(trace, 3)
    grown = moment(trace, lambda e: isinstance(e, ev.Grow))
    return Case(
        _terms(trace, at), trace=trace, step=at,
        steps={"held": grown, "protected": grown}, fork=fork_of(one_life),
        beliefs=(
            Belief({"held": 0}, Words(
                "What a decode step writes is not in the tree yet: the request holds "
                "it.", "解码写出的 token 还不在树上：由请求自己持有。"), grown),
            Belief({"available": 18}, Words(
                "Every decode step takes a slot.", "每步解码都要一个槽位。"), grown),
        ),
    )  # fmt: skip


def _seen(random: Random) -> Case:
    trace = one_life().trace
    before, then = _terms(trace, after(trace, 3)), _terms(trace, after(trace, 4))
    moved = {name: then[name] - before[name] for name in TERMS}
    answer = max(moved, key=moved.__getitem__)
    at = moment(trace, lambda e: isinstance(e, ev.Finish))
    return Case(answer, trace=trace, step=at, beliefs=(
        Belief("available", Words(
            "Nothing was freed: the answer went into the tree, where the next request "
            "may find it.", "没有释放：输出进了树，下一个请求可能命中它。"), at),
        Belief("protected", Words(
            "Nobody needs them any more: the lock of the path was undone.",
            "没有人再需要它们：路径上的锁解开了。"), at),
    ))  # fmt: skip


def _knob(random: Random) -> Case:
    trace, other = one_life().trace, one_life(page_size=4).trace
    at = after(other, 3)
    return Case(
        _terms(other, at)["held"], trace=trace, step=after(trace, 3), beside=other,
        fork=fork_of(one_life),
        beliefs=(
            Belief(3, Words(
                "A page is taken whole, and the tree owns whole pages only.",
                "页是整页取的，树也只拥有整页。")),
            Belief(4, Words(
                "Two tokens of the prompt are in no whole page: the request holds "
                "them too.", "prompt 有 2 个 token 不满一页：也由请求持有。")),
        ),
    )  # fmt: skip


def busy(random: Random) -> Workbench:
    """Return an engine with requests at different points of their lives."""
    bench = Workbench(
        Rules.v0_5_14(), "a busy pool", pool_tokens=random.randint(60, 90),
        tree="radix",
    )  # fmt: skip
    for number in range(1, 5):
        start = 100 * number
        name, prompt = f"r{number}", range(start, start + random.randint(3, 9))
        bench.do(RequestStartOp(name, list(prompt), max_new=8))
        for _ in range(random.randint(1, 4)):
            bench.do(DecodeOp(name, token=random.randint(1, 99)))
        if number < 3:
            bench.do(RequestFinishOp(name))
    return bench


def _missing(random: Random) -> Case:
    bench = busy(random)
    account, trace = bench.account(), bench.trace
    used = account.protected + account.held
    grown = moment(trace, lambda e: isinstance(e, ev.Grow))
    shown = {name: getattr(account, name) for name in (
        "total", "available", "evictable", "protected")}  # fmt: skip
    return Case(
        {"held": account.held, "used": used}, shown, trace, len(trace),
        beliefs=(
            Belief({"used": account.protected}, Words(
                "used is all that is neither available nor evictable; decode tokens "
                "are not protected, but used.",
                "used 是既不空闲也不可逐出的全部；解码出的 token 不算 protected，"
                "但算 used。"), grown),
            Belief({"held": 0}, Words(
                "Three terms do not sum to the pool while requests run.",
                "有请求在运行时，三项之和不等于池的总量。"), grown),
        ),
    )  # fmt: skip


LIFE = {
    "match": Words("its prompt is looked up in the tree", "在树上查找它的 prompt"),
    "alloc": Words("slots for its prompt leave the free list",
                   "从空闲列表取走 prompt 的槽位"),
    "add": Words("its prompt becomes a node of the tree", "prompt 成为树上的节点"),
    "lock": Words("the node is locked: protected", "节点加锁：protected"),
    "grow": Words("a decode step writes one more token", "一步解码再写一个 token"),
    "unlock": Words("the lock is undone: evictable", "解锁：evictable"),
    "free": Words("its slots join the free list again", "它的槽位回到空闲列表"),
}  # fmt: skip


def _life(random: Random) -> Case:
    trace = one_life().trace
    kinds: dict[str, Callable[[Event], bool]] = {
        "match": lambda e: isinstance(e, ev.Match),
        "alloc": lambda e: isinstance(e, ev.Alloc),
        "add": lambda e: isinstance(e, ev.Add),
        "lock": lambda e: isinstance(e, ev.Lock),
        "grow": lambda e: isinstance(e, ev.Grow),
        "unlock": lambda e: isinstance(e, ev.Unlock),
    }
    steps = {name: moment(trace, kind) for name, kind in kinds.items()}
    order = sorted(steps, key=steps.__getitem__)
    return Case(order, {}, trace, steps=steps | {"free": after(trace, 4)})


EXERCISES = (
    Fill(
        id="02.P",
        asks=Words(
            "L1 has 24 slots. r1 brings a prompt of 6 tokens, which is computed and "
            "cached in the tree; then it makes three decode steps. How many slots are "
            "in each term now?",
            "L1 有 24 个槽位。r1 带来 6 个 token 的 prompt，算完并缓存到树上；"
            "随后解码三步。现在每一项各有多少槽位？"),
        parts=TERMS, case=_prediction,
    ),
    Choice(
        id="02.S",
        asks=Words("r1 finished. Which term grew by the slots that it had held?",
                   "r1 结束时，它占用的槽位进了哪一项？"),
        options={name: TERMS[name] for name in ("available", "evictable", "protected")},
        case=_seen,
    ),
    Fill(
        id="02.P2",
        asks=Words(
            "The same run with pages of 4 slots instead of 1. How many slots does r1 "
            "hold outside the tree after its third decode step?",
            "同样的运行，页从 1 个槽位改为 4 个。第三步解码后，"
            "r1 在树外持有多少槽位？"),
        parts={"held": TERMS["held"]}, case=_knob,
    ),
    Fill(
        id="02.E1",
        asks=Words(
            "A pool of {total} slots reports available {available}, evictable "
            "{evictable}, protected {protected}. How many slots do requests hold "
            "outside the tree, and how many does the engine call used?",
            "一个 {total} 槽位的池报告 available {available}、evictable {evictable}、"
            "protected {protected}。请求在树外持有多少槽位？引擎说的 used 又是多少？"),
        parts={"held": TERMS["held"],
               "used": Words("used, as the engine says", "used（引擎所报）")},
        case=_missing,
    ),
    Order(
        id="02.E2",
        asks=Words("Put one request's life in order; leave out what does not happen.",
                   "按先后排列一个请求的一生；没有发生的去掉。"),
        steps=LIFE, case=_life,
    ),
    Function(
        id="02.E3",
        asks=Words(
            "Write inc_lock_ref: somebody needs the prefix that ends in node. node has "
            "tokens (how many), lock_ref and parent (the root's is None); account has "
            "evictable and protected. The root is never locked. Change both; it is "
            "tried in 10,000 random locks and unlocks.",
            "写出 inc_lock_ref：有人需要以 node 结尾的前缀。node 有 tokens（个数）、"
            "lock_ref、parent（根的 parent 为 None）；account 有 evictable 和 "
            "protected。根从不加锁。两者都要改；会用 10,000 次随机加锁、解锁来检验。"),
        start="def inc_lock_ref(node, account):\n    ...", judge=judge,
    ),
    IN_BETWEEN,
)  # fmt: skip
