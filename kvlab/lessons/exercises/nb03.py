"""What does notebook 03, "Free" in vLLM, ask?

What free counts, where a freed block stands in the queue, when its content is lost.
Left out: the answers that are right (the tests hold them).
"""

from __future__ import annotations

from random import Random

from ...record import block_events as be
from ...record.events import Finish
from ...record.trace import BlockTrace
from ...views.compare import first_difference
from ...views.theme import Words
from ..fullness import judge
from ..kinds import Belief, Case, Choice, Fill, Function, Order
from ..own_words.states import FREE_BLOCK
from ..questions import moment, state_at
from ..scenarios import fork_of
from ..scenarios.nb03 import HELD, PROMPT, crowd, free_is_not_empty, some_dump
from ..scenarios.nb03 import some_leaving as leaving_at_random

COUNTED = Words(
    "A block is free when nobody holds it. What it holds does not matter: the two "
    "cached blocks are counted, too.",
    "没人持有的块就是 free，里面有没有内容都算：两个缓存块也算在内。",
)


def _ends(trace: BlockTrace) -> int:
    """Return the moment after the first request has given its blocks back."""
    return moment(trace, lambda e: isinstance(e, Finish))


def _prediction(random: Random) -> Case:
    trace = free_is_not_empty().trace
    ended = _ends(trace)
    account = state_at(trace, ended).tiers["L1"].account()
    found = moment(trace, lambda e: isinstance(e, be.Lookup), ended)
    lookup = trace.events[found - 1]
    assert isinstance(lookup, be.Lookup), "a moment is the event's"
    free = account.evictable + account.blank
    usage = round(100 * account.used / account.total)
    return Case(
        {"free": free, "usage": usage, "hit": lookup.local}, trace=trace, step=ended,
        steps={"free": ended, "usage": ended, "hit": found},
        beliefs=(
            Belief({"hit": 0}, Words(
                "Free is not empty: the full blocks kept their hash and are found.",
                "free 不等于空：满块保留哈希，仍能命中。"), found),
            Belief({"hit": PROMPT}, Words(
                "Only full blocks have a hash: 2 blocks of 4. The part is computed "
                "anew.",
                "只有满块才有哈希：2 块，每块 4 个。未满的部分要重算。"), found),
            Belief({"free": free - account.evictable}, COUNTED, ended),
        ),
        fork=fork_of(free_is_not_empty),
    )  # fmt: skip


def _seen(random: Random) -> Case:
    trace = free_is_not_empty().trace
    ended = _ends(trace)
    queue = list(state_at(trace, ended).tiers["L1"].free)
    part = HELD["a"][-1]
    places = {0: "head", len(queue) - 1: "tail"}
    return Case(
        places.get(queue.index(part), "middle"), trace=trace, step=ended,
        beliefs=(Belief("tail", Words(
            "The tail is for blocks with a hash. Block 3 is not full, so it has none.",
            "队尾留给有哈希的块。块 3 没满，没有哈希。"), ended),),
    )  # fmt: skip


def _knob(random: Random) -> Case:
    trace, other = crowd().trace, crowd(watermark=0.2).trace
    at = first_difference(trace, other).at
    assert at is not None, "the watermark makes a difference"
    kinds = {be.Slots: "admission", be.Forget: "evict", be.PickVictim: "decode"}
    return Case(
        kinds[type(other.events[at])], trace=trace, beside=other, step=at + 1,
        fork=fork_of(crowd),
        beliefs=(
            Belief("evict", Words(
                "Nothing evicts at a watermark. It is a term of allocate_slots, and "
                "only for requests that wait.",
                "水位线不会引起逐出。它只是 allocate_slots 中的一项，且只针对等待的"
                "请求。")),
            Belief("decode", Words(
                "Running requests do not know the watermark: a decode may take the "
                "last block.",
                "运行中的请求不受水位线约束：解码可以拿走最后一块。")),
        ),
    )  # fmt: skip


def _dump(random: Random) -> Case:
    dump = some_dump(random)
    account = state_at(dump.trace, dump.step).tiers["L1"].account()
    free = account.evictable + account.blank
    told = " | ".join(
        f"{id}: {ref} {'h' if hashed else '–'}"
        for id, (ref, hashed) in enumerate(dump.blocks)
    )
    answer = {
        "free": free, "evictable": account.evictable,
        "usage": round(100 * account.used / account.total),
    }  # fmt: skip
    counted = 100 * (len(dump.blocks) - free) / len(dump.blocks)
    return Case(
        answer, {"dump": told}, dump.trace, dump.step,
        beliefs=(
            Belief({"free": account.blank}, COUNTED),
            Belief({"free": free + 1}, Words(
                "Block 0 is the null block: it is never free and never counted.",
                "块 0 是 null block：永远不 free，也不计入。")),
            Belief({"usage": round(counted)}, Words(
                "The denominator is N − 1: the null block does not count.",
                "分母是 N − 1：null block 不计。")),
        ),
    )  # fmt: skip


def _leaving(random: Random) -> Case:
    engine, leaving = leaving_at_random(random)
    trace = engine.trace
    order = engine.seen(be.Take)[-1].blocks.tolist()
    taken = [i for i, e in enumerate(trace.events, 1) if isinstance(e, be.Take)][-1]
    last = "b" if leaving.first == "a" else "a"
    again = Words("nobody's", "没有") if leaving.again == "nobody" else leaving.again
    terms = {"first": leaving.first, "last": last, "again": again}
    return Case(
        [str(block) for block in order], terms, trace, taken,
        beliefs=(
            Belief([str(block) for block in sorted(order)], Words(
                "The queue is in order of freeing, not of numbers.",
                "队列按释放的先后排，不按编号。"), taken),
        ),
    )  # fmt: skip


BLOCKS = [block for held in HELD.values() for block in held]

EXERCISES = (
    Fill(
        id="03.P",
        asks=Words(
            "vLLM, 10 usable blocks of 4 tokens, all empty. a has 10 tokens of prompt, "
            "answers 2 and is done; nobody else runs. How many blocks are free then, "
            "what is the usage in percent, and how many of the 10 tokens does the "
            "same prompt find when it comes again?",
            "vLLM，10 个可用块，每块 4 个 token，全空。a 的 prompt 有 10 个 token，"
            "输出 2 个后结束，没有别的请求。此时 free 是几块？usage 百分之几？"
            "同一 prompt 再来，10 个 token 中能命中几个？"),
        parts={"free": Words("blocks free", "free 块数"),
               "usage": Words("usage, %", "usage，%"),
               "hit": Words("tokens found", "命中的 token")},
        case=_prediction,
    ),
    Choice(
        id="03.S",
        asks=Words(
            "a held blocks 1, 2 and 3; block 3 was not full. Where did block 3 go when "
            "a ended?",
            "a 持有块 1、2、3，块 3 没有填满。a 结束时块 3 去了哪里？"),
        options={"head": Words("to the head of the free queue", "空闲队列的队首"),
                 "tail": Words("to the tail, behind 2 and 1", "队尾，排在 2、1 之后"),
                 "middle": Words("back to its old place", "原来的位置")},
        case=_seen,
    ),
    Choice(
        id="03.P2",
        asks=Words(
            "Four requests want more than the 10 blocks. Now watermark = 0.2 instead "
            "of 0: int(0.2 × 11) = 2 blocks. Where do the two runs part first?",
            "四个请求要的比 10 个块多。watermark 从 0 改成 0.2：int(0.2 × 11) = 2 块。"
            "两次运行最先在哪里分开？"),
        options={
            "evict": Words("blocks are evicted until 2 are blank",
                           "逐出缓存，直到空出 2 块"),
            "admission": Words("a waiting request is not admitted",
                               "一个等待的请求没有被准入"),
            "decode": Words("a running request is refused its next block",
                            "一个运行中的请求拿不到下一块"),
        },
        case=_knob,
    ),
    Fill(
        id="03.E1",
        asks=Words(
            "Pool of 11 blocks, as id: ref_cnt and h for a hash, – for none:\n{dump}\n"
            "Block 0 is the null block. What does vLLM report?",
            "一个 11 块的池子，写作 id: ref_cnt，有哈希标 h，没有标 –：\n{dump}\n"
            "块 0 是 null block。vLLM 会报告什么？"),
        parts={"free": Words("free", "free"),
               "evictable": Words("of these evictable", "其中可逐出"),
               "usage": Words("usage, %", "usage，%")},
        case=_dump,
    ),
    Order(
        id="03.E2",
        asks=Words(
            "Six blocks. a holds 1 2 3, b holds 4 5 6, in the order of the prompt; 3 "
            "and 6 are not full. {first} ends, then {last}. Whose prompt comes once "
            "more, and ends, too: {again}. Now one request needs all six blocks: in "
            "which order does it take them?",
            "共六块。a 持有 1 2 3，b 持有 4 5 6（按 prompt 次序），3 和 6 没填满。"
            "先是 {first} 结束，再是 {last}。谁的 prompt 又来一次并结束：{again}。"
            "最后一个请求要全部六块：它按什么次序取走？"),
        steps={str(block): Words(f"block {block}", f"块 {block}") for block in BLOCKS},
        case=_leaving,
    ),
    Function(
        id="03.E3",
        asks=Words(
            "Write kv_cache_usage_perc, from 0 to 1. blocks is a list of all blocks, "
            "the null block among them; each has id, ref_cnt, has_hash, is_null. A "
            "pool of the null block alone reports 0.",
            "写出 kv_cache_usage_perc，取值 0 到 1。blocks 是全部块的列表，包括 null "
            "block；每块有 id、ref_cnt、has_hash、is_null。只有 null block 的池子报 "
            "0。"),
        start="def usage(blocks):\n    ...", judge=judge,
    ),
    FREE_BLOCK,
)  # fmt: skip
