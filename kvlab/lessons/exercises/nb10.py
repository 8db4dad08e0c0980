"""What does notebook 10, When even decode does not fit, ask?

Who gives way in each engine, what of its KV survives, where the recompute shows.
Left out: the answers that are right (the tests hold them).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ...record import block_events as be
from ...record import events as ev
from ...record.events import Event
from ...run.parts import Part
from ...views.theme import Words
from ..giving_way import judge
from ..kinds import Belief, Case, Choice, Fill, Function
from ..own_words.limits import GIVES_WAY
from ..questions import moment, state_at
from ..scenarios import fork_of
from ..scenarios.nb10 import (
    preempt,
    preempted_in_prefill,
    retract,
    some_full,
)  # fmt: skip

OLDEST = Words(
    "Neither engine looks for the oldest: SGLang counts outputs, then prompt tokens; "
    "vLLM takes the last in the running list.",
    "两个引擎都不看谁最老：SGLang 比输出数，再比 prompt 长度；vLLM 取运行列表的最后"
    "一个。",
)
FEWEST = Words(
    "SGLang sorts by outputs first; of equal ones the longest prompt gives way.",
    "SGLang 先比输出数；相同时，prompt 最长的让位。",
)
LAST = Words(
    "vLLM under fcfs does not compare: the last in the running list gives way.",
    "vLLM 的 fcfs 不做比较：运行列表的最后一个让位。",
)
URGENT = Words(
    "vLLM under priority takes the largest number, the least urgent; of equal ones the "
    "last to arrive.",
    "vLLM 的 priority 取数值最大的，也就是最不急的；相同时取最后到的。",
)
ALL_LOST = Words(
    "num_computed_tokens is 0, but the freed blocks keep their hash: what nobody took "
    "in the meantime is found again.",
    "num_computed_tokens 归零，但释放的块哈希还在：期间没被取走的会再次命中。",
)

IDS = {
    "a": Words("a: the oldest, 30 tokens", "a：最老，30 个 token"),
    "b": Words("b: the longest, 46 tokens", "b：最长，46 个 token"),
    "c": Words("c: the last in, 14 tokens", "c：最后进来，14 个 token"),
}


def _prediction(random: Random) -> Case:
    trace = retract().trace
    at = moment(trace, lambda e: isinstance(e, ev.Retract))
    picked = trace.events[at - 1]
    assert isinstance(picked, ev.Retract), "a moment is the event's"
    return Case(
        picked.request, trace=trace, step=at, fork=fork_of(retract),
        beliefs=(Belief("a", OLDEST, at), Belief("c", FEWEST, at)),
    )  # fmt: skip


def _seen(random: Random) -> Case:
    trace = retract().trace
    at = moment(trace, lambda e: isinstance(e, ev.Ratio))
    waiting = state_at(trace, at).waiting
    return Case(
        {"b": "head", "late": "tail"}[waiting[0]], trace=trace, step=at,
        beliefs=(Belief("head", Words(
            "That is vLLM. SGLang appends the retracted: late is served first.",
            "那是 vLLM。SGLang 把被撤回的接在队尾：late 先服务。"), at),),
    )  # fmt: skip


def _first(kind: type[Event]) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, kind)


def _engine(random: Random) -> Case:
    trace = preempt().trace
    at = moment(trace, _first(be.Preempt))
    victim = trace.events[at - 1]
    assert isinstance(victim, be.Preempt), "a moment is the event's"
    return Case(
        victim.request, trace=trace, step=at, fork=fork_of(preempt),
        beliefs=(Belief("a", OLDEST, at), Belief("b", LAST, at)),
    )  # fmt: skip


def _found(random: Random) -> Case:
    trace = preempt().trace
    at = moment(trace, _first(be.Preempt))
    gone = state_at(trace, at - 1).requests["c"].computed
    again = moment(trace, lambda e: isinstance(e, be.Lookup) and e.request == "c", at)
    lookup = trace.events[again - 1]
    assert isinstance(lookup, be.Lookup), "a moment is the event's"
    return Case(
        {"found": lookup.local}, {"computed": gone}, trace, again,
        beliefs=(
            Belief({"found": 0}, ALL_LOST, again),
            Belief({"found": gone}, Words(
                "One of its blocks, the last, was at the head of the queue: b took it "
                "at once.",
                "它的尾块排在队首，b 立刻拿走了一块。"), again),
        ),
    )  # fmt: skip


ENGINES = {
    "": Words("SGLang", "SGLang"),
    "fcfs": Words("vLLM, policy fcfs", "vLLM（policy fcfs）"),
    "priority": Words("vLLM, policy priority", "vLLM（policy priority）"),
}


def _victim(random: Random) -> Case:
    policy = random.choice(list(ENGINES))
    full = some_full(random, policy or "fcfs")
    told = Words(
        "\n".join(
            f"{id}: priority {priority}, prompt {prompt}, outputs {outputs}"
            for id, priority, prompt, outputs in full.told
        ),
        "\n".join(
            f"{id}：priority {priority}，prompt {prompt}，输出 {outputs}"
            for id, priority, prompt, outputs in full.told
        ),
    )
    terms = {"engine": ENGINES[policy], "told": told}
    if policy:
        at = moment(full.vllm, _first(be.Preempt))
        victim = full.vllm.events[at - 1]
        assert isinstance(victim, be.Preempt), "a moment is the event's"
        why = URGENT if policy == "priority" else LAST
        return Case(
            victim.request,
            terms,
            full.vllm,
            at,
            beliefs=_all_but(victim.request, why, at),
        )
    at = moment(full.sglang, _first(ev.Retract))
    picked = full.sglang.events[at - 1]
    assert isinstance(picked, ev.Retract), "a moment is the event's"
    return Case(
        picked.request, terms, full.sglang, at,
        beliefs=_all_but(picked.request, FEWEST, at),
    )  # fmt: skip


def _all_but(right: str, why: Words, at: int) -> tuple[Belief, ...]:
    """Say the rule to whoever names somebody else."""
    others = (f"r{n}" for n in range(1, 5))
    return tuple(Belief(other, why, at) for other in others if other != right)


def _parts(random: Random) -> Case:
    read = preempted_in_prefill(random)
    at = moment(read.trace, _first(be.Preempt))
    names = ("arrived", "admitted", "preempted", "again", "first")
    terms = {name: f"{getattr(read, name) / 1e6:.3f}" for name in names}
    kinds = (Part.QUEUE, Part.PREFILL, Part.RECOMPUTE)
    answer = {str(part): read.record.part(part) / 1e6 for part in kinds}
    once = (read.admitted - read.arrived) / 1e6
    return Case(
        answer | {"ttft": (read.record.ttft or 0) / 1e6}, terms, read.trace, at,
        steps=dict.fromkeys((*answer, "ttft"), at),
        beliefs=(
            Belief({"queue": once}, Words(
                "It waits twice before its first token: both times are queue.",
                "首个 token 之前它等了两次，两次都算排队。"), at),
            Belief({"recompute": answer[str(Part.PREFILL)]}, Words(
                "Its full blocks that nobody took were hit again: only the rest is "
                "computed anew.",
                "没被取走的满块再次命中：只重算其余部分。"), at),
            Belief({"recompute": 0}, Words(
                "What was computed before the preemption is computed again, before the "
                "first token.",
                "抢占之前算过的要再算一遍，而且在首个 token 之前。"), at),
        ),
    )  # fmt: skip


EXERCISES = (
    Choice(
        id="10.P",
        asks=Words(
            "SGLang. a, b and c came in this order, each has 4 outputs, and L1 has one "
            "slot left; late waits. Decode needs three. Who gives way?",
            "SGLang。a、b、c 依次进来，各有 4 个输出，L1 只剩一个槽位，late 在等。"
            "解码需要三个。谁让位？"),
        options=IDS, case=_prediction,
    ),
    Choice(
        id="10.S",
        asks=Words(
            "late waited already. Where did the retracted request join the queue?",
            "late 早就在等。被撤回的请求排到了队列哪里？"),
        options={"head": Words("at the head, before late", "队首，在 late 之前"),
                 "tail": Words("at the tail, behind late", "队尾，在 late 之后"),
                 "gone": Words("nowhere: it was aborted", "不排队：它被中止了")},
        case=_seen,
    ),
    Choice(
        id="10.P2",
        asks=Words(
            "The same requests in vLLM, in 25 blocks of 4. Who gives way?",
            "同样的请求放到 vLLM，25 块，每块 4 个 token。谁让位？"),
        options=IDS, case=_engine,
    ),
    Fill(
        id="10.S2",
        asks=Words(
            "c had {computed} tokens computed when it was preempted. How many of them "
            "did its next lookup find?",
            "c 被抢占时已计算 {computed} 个 token。它下一次查找命中了其中几个？"),
        parts={"found": Words("tokens found", "命中的 token")}, case=_found,
    ),
    Choice(
        id="10.E1",
        asks=Words(
            "{engine}. Four requests run, in the order in which they came:\n{told}\n"
            "Decode does not fit, and nothing can be evicted. Who gives way?",
            "{engine}。四个请求在跑，按到达先后：\n{told}\n"
            "解码装不下，也没有可逐出的。谁让位？"),
        options={f"r{n}": Words(f"r{n}", f"r{n}") for n in range(1, 5)}, case=_victim,
    ),
    Fill(
        id="10.E2",
        asks=Words(
            "vLLM's clock, of one request, in ms: arrived {arrived}, admitted "
            "{admitted}, preempted in the midst of its prefill {preempted}, admitted "
            "again {again}, first token {first}. What it computes once it is back "
            "counts as recompute. Where did its TTFT go?",
            "vLLM 的时钟，同一个请求，单位 ms：到达 {arrived}，准入 {admitted}，"
            "预填充半途被抢占 {preempted}，再次准入 {again}，首个 token {first}。"
            "回来之后的计算都算重算。TTFT 花在哪里？"),
        parts={"queue": Words("queue, ms", "排队，ms"),
               "prefill": Words("prefill, ms", "预填充，ms"),
               "recompute": Words("recompute, ms", "重算，ms"),
               "ttft": Words("TTFT, ms", "TTFT，ms")},
        case=_parts, tolerance=0.005,
    ),
    Function(
        id="10.E3",
        asks=Words(
            "Choose whom to preempt so that at least need blocks come free and the "
            "fewest tokens must be recomputed. running is in the order of admission; "
            "each has id, prompt, outputs, own (blocks that it alone holds: they come "
            "free) and recompute (tokens in them). Return a list of ids.",
            "选出要抢占的请求：至少腾出 need 块，且重算的 token 最少。running 按准入"
            "先后排列；每个有 id、prompt、outputs、own（只有它持有的块，会腾出来）、"
            "recompute（这些块里的 token）。返回 id 的列表。"),
        start="def choose(running, need):\n    ...", judge=judge,
    ),
    GIVES_WAY,
)  # fmt: skip
