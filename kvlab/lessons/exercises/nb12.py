"""What does notebook 12, Policies on real traces, ask?

Where a curve has its knee, what each write policy writes, and what beats LRU.
Left out: the answers that are right (the tests hold them).
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from random import Random

from ...record import events as ev
from ...record.trace import Trace
from ...views.theme import Words
from ..beating import judge
from ..block_caches import count, flat_lru
from ..claims import examine, known
from ..claims.ledger import Verdict
from ..kinds import Belief, Case, Choice, Fill, Function
from ..own_words.policies import WRITES_LESS
from ..questions import moment
from ..scenarios import fork_of
from ..scenarios.nb12 import USERS, in_turn, made_up

SIZES = (100, 200, 400, 800, 1600, 3200, 6400)
POINT = 0.01
"""The knee is the least size after which a doubling adds less than this."""

ROWS = {
    "when": "S2-2.1-1", "signal": "S2-5.1-5", "count": "S2-2.2-2", "risk": "S2-5.1-1",
    "hbm": "S2-5.1-2", "every": "S2-5.1-3", "less": "S2-5.1-4", "fits": "S2-5.1-6",
}  # fmt: skip
"""The rows of article 2's matrix (section 5.1), and the claims that play them."""

FAR = Words(
    "8 blocks are one too few: each user evicts what the next one needs. Nothing is "
    "hit until all 9 fit.",
    "8 块只差一块，但每个用户都逐出下一个用户要的。9 块全放下之前一次也不命中。",
)


def _prediction(random: Random) -> Case:
    trace = in_turn().trace
    at = moment(trace, lambda e: isinstance(e, ev.Victim))
    return Case(
        {f"at{pool}": in_turn(pool_tokens=pool).hits for pool in (8, 9, 18)},
        trace=trace, step=at, steps=dict.fromkeys(("at8", "at9", "at18"), at),
        fork=fork_of(in_turn),
        beliefs=(
            Belief({"at8": 24}, FAR, at),
            Belief({"at9": 36}, Words(
                "Nobody's first prompt was there before: 9 blocks cannot be hit.",
                "每个人的第一次都不可能命中：有 9 块从未出现过。"), at),
            Belief({"at18": 36}, Words(
                "Beyond the working set there is nothing left to hit.",
                "超过工作集之后，没有更多可命中的了。"), at),
        ),
    )  # fmt: skip


def _victims(trace: Trace) -> list[str]:
    starts = {e.node: e.tokens.item(0) for e in trace.events if isinstance(e, ev.Add)}
    names = {prompt.start: name for prompt, name in zip(USERS, "ABC", strict=True)}
    return [names[starts[e.node]] for e in trace.events if isinstance(e, ev.Victim)]


def _seen(random: Random) -> Case:
    trace = in_turn().trace
    first = moment(trace, lambda e: isinstance(e, ev.Victim))
    second = moment(trace, lambda e: isinstance(e, ev.Victim), first)
    return Case(
        _victims(trace)[1], trace=trace, step=second,
        beliefs=(Belief("C", Words(
            "C came last, so lru takes it last.",
            "C 最后到，lru 最后才拿它。"), second),),
    )  # fmt: skip


EVERY = Words(
    "Every prompt is evicted sooner or later, so every one is written.",
    "每个 prompt 迟早都被逐出，所以每个都会写。",
)


def _knob(random: Random) -> Case:
    found = {
        name: in_turn(pool_tokens=pool, host_tokens=24, write_policy=policy)
        for name, policy, pool in (
            ("through8", "write_through", 8), ("back8", "write_back", 8),
            ("back9", "write_back", 9),
        )
    }  # fmt: skip
    runs = {name: served.trace for name, served in found.items()}
    trace, other = runs["through8"], runs["back8"]
    at = moment(other, lambda e: isinstance(e, ev.Backup))
    return Case(
        {name: served.written for name, served in found.items()},
        trace=trace, beside=other, fork=fork_of(in_turn), step=at,
        steps=dict.fromkeys(runs, at),
        beliefs=(
            Belief({"back8": 0}, EVERY, at),
            Belief({"back8": 3}, EVERY, at),
            Belief({"back9": 9}, Words(
                "With 9 blocks nothing is ever evicted, so nothing is written.",
                "9 块时什么也不逐出，所以什么也不写。"), at),
            Belief({"through8": 36}, Words(
                "write_through writes a node once, however often it is hit.",
                "write_through 每个节点只写一次，无论命中多少次。"), at),
        ),
    )  # fmt: skip


@cache
def _curve(seed: int, at_once: int) -> tuple[int, tuple[int, ...]]:
    """Return the blocks asked for, and the hits by SIZES."""
    requests = made_up(seed, at_once=at_once)
    found = [count(flat_lru, requests, size) for size in SIZES]
    return found[0].blocks, tuple(each.hits for each in found)


def _numbers(random: Random) -> Case:
    blocks, hits = _curve(random.randrange(1000), random.choice((5, 10, 20, 40)))
    pairs = pairwise(zip(SIZES, hits, strict=True))
    knee = next(
        size for (size, one), (_, other) in pairs if other - one < POINT * blocks
    )
    at = random.choice(range(1, 4))
    by_size = list(zip(SIZES, hits, strict=True))
    told = Words(
        ", ".join(f"{size}: {h}" for size, h in by_size),
        "，".join(f"{size} 块时 {h}" for size, h in by_size),
    )
    return Case(
        {"ratio": round(100 * hits[at] / blocks, 2), "knee": knee,
         "gap": round(100 * (hits[-1] - hits[at]) / blocks, 2)},
        {"blocks": blocks, "told": told, "size": SIZES[at]},
        beliefs=(
            Belief({"knee": SIZES[-1]}, Words(
                "That is the ceiling. The knee comes earlier: the next doubling adds "
                "less than one point.",
                "那是上限。拐点更早：再翻一倍增加不到 1 个百分点。")),
            Belief({"knee": 2 * knee}, Words(
                "That is the size after the doubling; the knee is the one before it.",
                "那是翻倍之后的大小；拐点是翻倍之前的。")),
            Belief({"ratio": 100 * hits[at] / hits[-1]}, Words(
                "That is of what can be hit. A hit ratio is of all blocks asked for.",
                "那是占可命中块的比例。命中率的分母是请求的全部块。")),
        ),
    )  # fmt: skip


VERDICTS = {
    Verdict.HOLDS: "holds", Verdict.CONDITION: "partly", Verdict.FAILS: "fails",
}  # fmt: skip


@cache
def _verdict(id: str) -> str:
    (claim,) = known([id])
    return VERDICTS[examine(claim).verdict]


MATRIX = {
    "when": Words("write_through copies at the second access",
                  "write_through 在第二次访问时备份"),
    "signal": Words("signals: frequency, recency", "信号：频率与时效"),
    "count": Words("write_back skips the hit count", "write_back 跳过命中计数"),
    "risk": Words("risk of loss higher under write_back", "write_back 丢失风险更高"),
    "hbm": Words("no difference in HBM", "HBM 占用无差异"),
    "every": Words("write_through writes at every hit", "write_through 每次命中都写"),
    "less": Words("write_back writes less", "write_back 写得少"),
    "fits": Words("write_through where much is shared, write_back under pressure",
                  "共享多用 write_through，压力大用 write_back"),
}  # fmt: skip


def _matrix(random: Random) -> Case:
    answer = {row: _verdict(id) for row, id in ROWS.items()}
    return Case(answer, beliefs=tuple(
        Belief({row: said}, _found(row))
        for row, found in answer.items() if found != "holds"
        for said in VERDICTS.values() if said != found
    ))  # fmt: skip


def _found(row: str) -> Words:
    """Say what playing the row's claim has shown."""
    asks, note = MATRIX[row], known([ROWS[row]])[0].note
    return Words(f"{asks.en}: {note.en}", f"{asks.zh}：{note.zh}")


EXERCISES = (
    Fill(
        id="12.P",
        asks=Words(
            "Three users ask in turn, four times each; each always sends the same "
            "three blocks, nothing is shared. How many of the 36 blocks are hit in an "
            "LRU cache of 8, 9 and 18 blocks?",
            "三个用户轮流提问，各四次；每人每次都是自己的三个块，互不共享。"
            "LRU 缓存为 8、9、18 块时，36 个块里各命中几个？"),
        parts={"at8": Words("8 blocks", "8 块"), "at9": Words("9 blocks", "9 块"),
               "at18": Words("18 blocks", "18 块")},
        case=_prediction,
    ),
    Choice(
        id="12.S",
        asks=Words(
            "8 blocks: whose blocks went when A came for the second time?",
            "8 块时，A 第二次到来，谁的块被逐出？"),
        options={"A": Words("its own", "A 自己的"), "B": Words("B's", "B 的"),
                 "C": Words("C's", "C 的")},
        case=_seen,
    ),
    Fill(
        id="12.P2",
        asks=Words(
            "Now with an L2 of 24 blocks. How many blocks are written to it in all?",
            "现在加上 24 块的 L2。总共写入 L2 多少块？"),
        parts={
            "through8": Words("write_through, L1 of 8", "write_through，L1 为 8"),
            "back8": Words("write_back, L1 of 8", "write_back，L1 为 8"),
            "back9": Words("write_back, L1 of 9", "write_back，L1 为 9"),
        },
        case=_knob,
    ),
    Fill(
        id="12.E1",
        asks=Words(
            "A trace asks for {blocks} blocks. LRU hits, by size of the cache: {told}. "
            "The last is the ceiling; the knee is the least size after which a "
            "doubling adds less than one point. How do things stand at {size} blocks?",
            "一条 trace 共请求 {blocks} 个块。各缓存大小下的 LRU 命中数：{told}。"
            "最后一个是上限；拐点是再翻一倍增加不到 1 个百分点的最小值。"
            "在 {size} 块处情况如何？"),
        parts={
            "ratio": Words("hit ratio there, in %", "此处的命中率（%）"),
            "knee": Words("the knee, in blocks", "拐点（块）"),
            "gap": Words("points missing to the ceiling there", "此处距上限的百分点"),
        },
        case=_numbers, tolerance=0.01,
    ),
    WRITES_LESS,
    Function(
        id="12.E3",
        asks=Words(
            "Beat LRU by a point or more, in a tree of 300 blocks. Write the key of a "
            "block; the leaf with the smallest goes first. block has last_use and "
            "created (numbers of accesses), hits, depth (blocks above), prompt (blocks "
            "of its request).",
            "在 300 块的树里比 LRU 多命中至少 1 个百分点。写出块的键，键最小的叶子先"
            "走。block 有 last_use、created（第几次访问）、hits、depth（上方块数）、"
            "prompt（所在请求的块数）。"),
        start="def key(block):\n    ...", judge=judge,
    ),
    Fill(
        id="12.E4",
        asks=Words(
            "Article 2's matrix (section 5.1), for 0.5.14. Mark each row by what you "
            "measured.",
            "文章二 5.1 的矩阵，按 0.5.14。根据测得的数据标出每一行。"),
        parts=MATRIX,
        options={"holds": Words("holds", "成立"),
                 "partly": Words("with a condition", "有条件成立"),
                 "fails": Words("does not hold", "不成立")},
        case=_matrix,
    ),
)  # fmt: skip
