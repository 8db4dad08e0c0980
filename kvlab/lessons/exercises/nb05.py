"""What does notebook 05, Who said no?, ask?

Which line keeps a request out, with which numbers, and what would let it in.
Left out: the answers that are right (the tests hold them).
"""

from __future__ import annotations

from random import Random
from typing import Any

from ...record import events as ev
from ...views.compare import first_difference
from ...views.theme import Words
from ..bids import asked, crowded, judge
from ..kinds import Belief, Case, Choice, Fill, Function, Order
from ..own_words.limits import NOT_IN_IT
from ..questions import moment
from ..scenarios import fork_of
from ..scenarios.nb05 import three_lines, who_said_no

LINES = {
    "admitted": Words("It gets in: 37 slots are free, it needs 15",
                      "准入：空着 37 个槽位，只要 15 个"),
    "room": Words("It waits: too much of L1 is promised to others",
                  "等待：L1 里承诺给别人的太多"),
    "input_budget": Words("It waits: the GPU is busy, this prefill takes no more",
                          "等待：GPU 正忙，这次预填充装不下"),
    "host": Words("It waits: L2 has to be asked for room first",
                  "等待：要先向 L2 要空间"),
}  # fmt: skip


def _prediction(random: Random) -> Case:
    bench = who_said_no()
    at, event = asked(bench, "r5")
    return Case(event.line, trace=bench.trace, step=at, fork=fork_of(who_said_no),
                beliefs=(
        Belief("admitted", Words(
            "37 are available, but 31.8 of them are promised: to r1, r2, r3, and to "
            "r4, which got in a moment before.",
            "空闲 37 个，但其中 31.8 个已承诺给 r1、r2、r3 和刚刚获准入的 r4。"), at),
        Belief("input_budget", Words(
            "The prefill has taken 8 of 16,384 tokens: rem_input is 16,376.",
            "这次预填充才用了 16,384 中的 8 个 token：rem_input 为 16,376。"), at),
        Belief("host", Words(
            "L2's 128 free slots are in no term of the test.",
            "L2 的 128 个空槽不在判据的任何一项里。"), at),
    ))  # fmt: skip


def _seen(random: Random) -> Case:
    bench = who_said_no()
    at, event = asked(bench, "r5")
    room = event.available + event.evictable - event.promised
    return Case(room, trace=bench.trace, step=at, beliefs=(
        Belief(event.available, Words(
            "That is what is available; what is promised has to come off.",
            "这是空闲数；还要减去已承诺的。"), at),
        Belief(event.promised, Words(
            "That is what is promised; it comes off what is available.",
            "这是已承诺的；要从空闲里减掉它。"), at),
    ))  # fmt: skip


RATIO = {
    "in": Words("r5 gets in at once", "r5 马上进来"),
    "same": Words("Nothing: r5 waits as before", "没有变化：r5 照样等"),
    "worse": Words("It gets stricter: r4 waits too", "更严：r4 也得等"),
}


def _ratio(random: Random) -> Case:
    first, second = who_said_no(), who_said_no(new_token_ratio=0.098)
    at, event = asked(second, "r5")
    r4 = asked(second, "r4")[1]
    answer = "worse" if not r4.added else "in" if event.added else "same"
    need = event.extend + event.max_new + event.page
    room = event.available + event.evictable - event.promised
    return Case(
        answer, trace=first.trace, step=at, beside=second.trace,
        fork=fork_of(who_said_no),
        beliefs=(
            Belief("worse", Words(
                "A smaller ratio sets less aside, so admission gets looser, not "
                "stricter.",
                "比例越小，预留越少，准入变松而不是变严。"), at),
            Belief("same", Words(
                f"Less is promised to those who run: r5 needs {need}, and {room:.1f} "
                "are left.",
                f"许给在跑请求的少了：r5 需要 {need}，余量 {room:.1f}。"), at),
        ),
    )  # fmt: skip


HOST = {
    "in": Words("r5 gets in at once", "r5 马上进来"),
    "later": Words("r5 gets in one round earlier", "r5 提前一轮进来"),
    "same": Words("Nothing: not one event differs", "没有变化：一个事件都不差"),
}


def _host(random: Random) -> Case:
    first, second = who_said_no(), who_said_no(host_tokens=1280)
    found = first_difference(first.trace, second.trace)
    at, event = asked(second, "r5")
    answer = "same" if found.at is None else "in" if event.added else "later"
    return Case(
        answer, trace=first.trace, step=at, beside=second.trace,
        fork=fork_of(who_said_no),
        beliefs=tuple(Belief(said, Words(
            "The test reads available, evictable and promised: all of L1.",
            "判据读的是 available、evictable、promised：全是 L1 的。"), at)
            for said in ("in", "later")),
    )  # fmt: skip


def _total(random: Random) -> Case:
    ratio = random.choice([0.7, 0.5, 0.3])
    bench = crowded(random, random.randint(60, 75), ratio)
    at, event = asked(bench)
    state = bench.state
    still = [r.max_new - r.outputs for r in state.requests.values()
             if r.stage == "running" and r.id != "r9"]  # fmt: skip
    room = event.available + event.evictable - event.promised
    need = event.extend + event.max_new + event.page
    terms: dict[str, Any] = {
        "available": event.available, "evictable": event.evictable,
        "running": len(still), "left": still[0], "ratio": ratio,
        "extend": event.extend, "max_new": event.max_new,
    }  # fmt: skip
    return Case(
        {"room": room, "need": need}, terms, bench.trace, at,
        beliefs=(
            Belief({"room": event.available + event.evictable}, Words(
                "Running requests are promised ratio times what each may still write.",
                "运行中的请求各预留：比例 × 还能写的 token 数。"), at),
            Belief({"room": event.available - event.promised}, Words(
                "What is evictable counts as room: it can be taken away.",
                "可逐出的也算余量：它可以拿走。"), at),
            Belief({"room": event.available + event.evictable - sum(still)}, Words(
                f"Not all that they may still write is promised: {ratio} of it.",
                f"不是把还能写的全部预留，只预留它的 {ratio}。"), at),
            Belief({"need": event.extend + event.max_new}, Words(
                "One page more is asked for.", "还要多算一页。"), at),
        ),
    )  # fmt: skip


ROUND = {
    "r4 test": Words("r4 is tested: 15 < 20.2", "检验 r4：15 < 20.2"),
    "r5 test": Words("r5 is tested: 15 < 5.2", "检验 r5：15 < 5.2"),
    "match": Words("r4's prompt is looked up in the tree", "在树上查找 r4 的 prompt"),
    "alloc": Words("slots for r4's prompt leave the free list",
                   "从空闲列表取走 r4 的槽位"),
    "start": Words("r4 runs", "r4 开始运行"),
    "ask L2": Words("L2 is asked how much is free", "向 L2 询问剩余空间"),
}  # fmt: skip


def _round(random: Random) -> Case:
    bench = who_said_no()
    trace = bench.trace
    (r4, first), (r5, _) = asked(bench, "r4"), asked(bench, "r5")
    steps = {
        "match": first.cause + 1,
        "r4 test": r4,
        "r5 test": r5,
        "alloc": moment(trace, lambda e: isinstance(e, ev.Alloc), r5),
        "start": moment(trace, lambda e: isinstance(e, ev.Start), r5),
    }
    order = sorted(steps, key=steps.__getitem__)
    return Case(order, {}, trace, steps=steps | {"ask L2": r5}, beliefs=(
        Belief(("match", "r4 test", "alloc", "start", "r5 test"), Words(
            "All are tested before anyone gets a slot; what r4 will take is promised.",
            "先全部检验，再分配槽位；r4 将要用的先记为承诺。"), r5),
    ))  # fmt: skip


STOPS = {
    "blocks": Words("blocks: allocate_slots finds too few",
                    "块：allocate_slots 分不出来"),
    "seats": Words("seats: max_num_seqs", "席位：max_num_seqs"),
    "tokens": Words("tokens: max_num_batched_tokens",
                    "token：max_num_batched_tokens"),
}  # fmt: skip


def _vllm(random: Random) -> Case:
    knobs = {"num_gpu_blocks": random.randint(30, 33), "max_num_seqs": 7,
             "max_num_batched_tokens": 112}  # fmt: skip
    line = random.choice(list(STOPS))
    if line == "blocks":
        knobs["num_gpu_blocks"] = random.randint(9, 24)
    elif line == "seats":
        knobs["max_num_seqs"] = random.randint(2, 5)
    else:
        knobs["max_num_batched_tokens"] = 16 * random.randint(2, 5)
    found = three_lines(**knobs)
    return Case(found, knobs, beliefs=(
        *(Belief({"line": other}, Words(
            "Count by each line alone: a request takes four blocks, one seat and 16 "
            "tokens. The line that lets in fewest says no.",
            "三条线各自算：一个请求要四块、一个席位、16 个 token。"
            "放进来最少的那条线说了“不”。"))
          for other in STOPS if other != found["line"]),
        Belief({"in": knobs["num_gpu_blocks"] // 4}, Words(
            "One block is the null block: nobody gets it.",
            "有一个块是 null block，谁也拿不到。")),
    ))  # fmt: skip


EXERCISES = (
    Choice(
        id="05.P",
        asks=Words(
            "L1 has 64 slots, 37 of them available. r1, r2, r3 run and may write 24 "
            "more tokens together; r4 got in a moment ago. r5 brings 8 tokens and may "
            "answer with 6. L2 has 128 slots, all free. What happens to r5?",
            "L1 有 64 个槽位，空闲 37 个。r1、r2、r3 在运行，合计还能写 24 个 token；"
            "r4 刚刚获准入。r5 带来 8 个 token，最多输出 6 个。L2 的 128 个槽位全空。"
            "r5 会怎样？"),
        options=LINES, case=_prediction,
    ),
    Fill(
        id="05.S",
        asks=Words("When r5 was tested, how many slots could still be promised (room)?",
                   "检验 r5 的时候，还能承诺多少槽位（room）？"),
        parts={"room": Words("room", "room")}, case=_seen, tolerance=0.01,
    ),
    Choice(
        id="05.P2",
        asks=Words(
            "While an engine decodes and nobody is retracted (sent back to the queue), "
            "new_token_ratio decays, from 0.7 to 0.098. What does 0.098 change here?",
            "引擎持续解码、没有请求被撤回（退回队列）时，new_token_ratio 从 0.7 衰减到 "
            "0.098。"
            "这里换成 0.098 会怎样？"),
        options=RATIO, case=_ratio,
    ),
    Choice(
        id="05.P3",
        asks=Words("Back to 0.7. L2 gets ten times as much: 1,280 slots. What changes?",
                   "回到 0.7。L2 给十倍：1,280 个槽位。会变什么？"),
        options=HOST, case=_host,
    ),
    Fill(
        id="05.E1",
        asks=Words(
            "L1: available {available}, evictable {evictable}. {running} requests run, "
            "each may write {left} more tokens; new_token_ratio is {ratio}. A request "
            "brings {extend} new tokens, may answer with {max_new}; a page is 1 slot. "
            "What are the two sides of the test?",
            "L1：available {available}、evictable {evictable}。{running} 个请求在运行，"
            "各还能写 {left} 个 token；new_token_ratio 为 {ratio}。一个请求带来 "
            "{extend} 个新 token，最多输出 {max_new} 个；一页 1 个槽位。"
            "判据两边各是多少？"),
        parts={"room": Words("room (remaining_total)", "room（remaining_total）"),
               "need": Words("need", "need")},
        case=_total, tolerance=0.005,
    ),
    Order(
        id="05.E2",
        asks=Words("Put in order what the round does in which r4 gets in and r5 does "
                   "not; leave out what does not happen.",
                   "r4 进来、r5 没进来的那一轮做了什么？按先后排列；没有发生的去掉。"),
        steps=ROUND, case=_round,
    ),
    Function(
        id="05.E3",
        asks=Words(
            "Write the admission test: True if the request may join. It is asked at "
            "every admission of 40 engines whose L1 differs by one slot.",
            "写出准入判据：请求可以加入则返回 True。会在 40 个 L1 各差一个槽位的引擎的"
            "每次准入上检验。"),
        start="def admits(extend, max_new, page, available, evictable, promised):\n"
              "    ...",
        judge=judge,
    ),
    NOT_IN_IT,
    Fill(
        id="05.E5",
        asks=Words(
            "vLLM, blocks of 4 tokens: num_gpu_blocks {num_gpu_blocks}, max_num_seqs "
            "{max_num_seqs}, max_num_batched_tokens {max_num_batched_tokens}. Eight "
            "requests of 16 tokens wait. How many are scheduled in the first step, and "
            "which line keeps the next one out?",
            "vLLM，每块 4 个 token：num_gpu_blocks {num_gpu_blocks}，max_num_seqs "
            "{max_num_seqs}，max_num_batched_tokens {max_num_batched_tokens}。"
            "八个 16 token 的请求在等。第一步调度几个？下一个被哪条线挡住？"),
        parts={"in": Words("scheduled", "调度了几个"),
               "line": Words("the next is kept out by", "下一个被挡在")},
        options=STOPS, typed=("in",), case=_vllm,
    ),
)  # fmt: skip
