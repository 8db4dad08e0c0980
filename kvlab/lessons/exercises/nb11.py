"""What does notebook 11, On call, ask?

Whether it is L1, by graphs alone; what would mend it; an alert that fires for that.
Left out: the answers that are right (the tests hold them).
"""

from __future__ import annotations

from random import Random

from ...views.theme import Words
from ..alerts import judge
from ..kinds import Belief, Case, Choice, Fill, Function
from ..own_words.limits import HIT_RATE
from ..scenarios.nb11 import LETTERS, Reading, mended, readings, sealed, seed_of

CAUSES = {
    "ceiling": Words("L1 is the limit", "L1 是瓶颈"),
    "cap": Words("a cap on running requests", "运行数上限"),
    "link": Words("a slow link to L2", "到 L2 的链路慢"),
    "prefix": Words("prompts changed, the prefix broke", "prompt 变了，前缀断了"),
    "healthy": Words("healthy", "健康"),
}
PAIRS = {
    "ceiling_link": Words("the ceiling or a slow link", "L1 到顶 / 链路慢"),
    "cap_link": Words("a cap or a slow link", "运行数上限 / 链路慢"),
    "cap_healthy": Words("a cap or healthy", "运行数上限 / 健康"),
}
GRAPHS = {
    "usage": Words("usage of L1", "L1 占用率"),
    "running": Words("requests running", "运行中请求"),
    "queue": Words("requests waiting", "排队请求"),
}
FEW = 5
"""Fewer waiting than this is no queue."""

FEW_RUN = Words(
    "The pool is full and many wait, as the article's checklist has it. Yet hardly "
    "anybody runs; copies on their way to L2 hold the pool.",
    "池满、有排队，文章清单里的信号都在。但几乎没有请求在运行，"
    "占着池子的是写往 L2 的在途拷贝。",
)
CAPPED = Words(
    "Under a cap the pool has room and the running requests stand flat at one number.",
    "有上限时，池子空着，运行数平平地停在一个数上。",
)
BROKEN = Words("Look at the hit rate in the second half.", "看后半段的命中率。")
MANY_RUN = Words(
    "The pool is full and many run, and are retracted: more want to run than fit.",
    "池满，运行的多，还不断撤回：想跑的比装得下的多。",
)
MIXED = (
    ("link", "ceiling", FEW_RUN), ("cap", "ceiling", CAPPED), ("cap", "link", CAPPED),
    ("ceiling", "cap", MANY_RUN), ("ceiling", "link", MANY_RUN),
    ("link", "cap", FEW_RUN), ("prefix", "healthy", BROKEN),
    ("healthy", "prefix", BROKEN),
)  # fmt: skip
"""What is taken for what, and which graph says otherwise."""


def _waiting(found: tuple[Reading, ...]) -> list[Reading]:
    """Return the readings with at least half of the longest queue; all, if nobody
    waits to speak of."""
    longest = max(now.queue for now in found)
    return [now for now in found if longest < FEW or now.queue >= longest / 2]


def _told_apart(field: str, one: list[Reading], other: list[Reading]) -> bool:
    """Say whether the graph never reads in one run as in the other; of a queue,
    whether only one of them has any."""
    first, second = (
        [float(getattr(now, field)) for now in run] for run in (one, other)
    )
    if field == "queue":
        return (max(first) < FEW) != (max(second) < FEW)
    return max(first) < min(second) or max(second) < min(first)


def apart(pair: str, seed: int) -> str:
    """Return the graph that tells two runs apart while requests wait."""
    one, other = (_waiting(readings(kind, seed)) for kind in pair.split("_"))
    (found,) = (graph for graph in GRAPHS if _told_apart(graph, one, other))
    return found


def _longest(found: tuple[Reading, ...]) -> int:
    return int(max(now.queue for now in found))


def _prediction(random: Random) -> Case:
    full = [now for now in readings("link") if now.usage > 0.95 and now.queue > FEW]
    running = sum(now.running for now in full) / len(full)
    return Case(
        "link" if running < 2 else "ceiling",
        beliefs=(
            Belief("ceiling", FEW_RUN),
            Belief("cap", CAPPED),
            Belief("prefix", Words(
                "The hit rate stays where it was all night. A prefix that breaks makes "
                "it fall.",
                "命中率整夜没有变化；前缀断了，它会掉下来。")),
            Belief("healthy", Words(
                "A hit rate of 60 % says that prefills are short. It says nothing of "
                "those who wait.",
                "60 % 的命中率只说明预填充短，不说明有没有人在等。")),
        ),
    )  # fmt: skip


def _seen(random: Random) -> Case:
    found = _waiting(readings("link"))
    typical = sorted(now.running for now in found)[len(found) // 2]
    return Case(
        "one" if typical < 2 else "some" if typical < 20 else "many",
        beliefs=(Belief("many", Words(
            "Look at num_running_reqs between 150 and 900 s.",
            "看 150 到 900 s 之间的 num_running_reqs。")),),
    )  # fmt: skip


def _knob(random: Random) -> Case:
    longest = {what: _longest(mended(what)) for what in ("l1", "l2", "link")}
    return Case(
        min(longest, key=longest.__getitem__),
        beliefs=(
            Belief("l1", Words(
                f"Twice the L1 still queues {longest['l1']}: copies fill it, too.",
                f"L1 翻倍仍有 {longest['l1']} 个排队：它同样被拷贝填满。")),
            Belief("l2", Words(
                f"Twice the L2 queues {longest['l2']}: L2 was never full.",
                f"L2 翻倍仍有 {longest['l2']} 个排队：L2 从来没满过。")),
        ),
    )  # fmt: skip


def _verdicts(random: Random) -> Case:
    number = random.randrange(100)
    answer = sealed(number)
    where = {kind: letter for letter, kind in answer.items()}
    return Case(
        answer, {"number": number},
        beliefs=tuple(Belief({where[kind]: said}, why) for kind, said, why in MIXED),
    )  # fmt: skip


def _proofs(random: Random) -> Case:
    number = random.randrange(100)
    answer = {pair: apart(pair, seed_of(number)) for pair in PAIRS}
    return Case(
        answer,
        beliefs=(
            Belief({"ceiling_link": "usage"}, Words(
                "In both the pool is full. In one it is full of requests.",
                "两者的池子都是满的，只有一个是被请求占满的。")),
            Belief({"cap_link": "running"}, Words(
                "Few run in both. In one the pool has room all the while.",
                "两者运行的都少，但其中一个的池子一直空着。")),
        ),
    )  # fmt: skip


EXERCISES = (
    Choice(
        id="11.P",
        asks=Words(
            "The dashboard above: P99 of the first token is minutes. What limits it?",
            "看上面的面板：P99 TTFT 到了几分钟。瓶颈在哪里？"),
        options=CAUSES, case=_prediction,
    ),
    Choice(
        id="11.S",
        asks=Words(
            "While most were waiting, how many ran?",
            "排队最多的那段时间里，有几个请求在运行？"),
        options={"many": Words("forty or so", "四十来个"),
                 "some": Words("about ten", "十个左右"),
                 "one": Words("one or none", "一个或没有")},
        case=_seen,
    ),
    Choice(
        id="11.P2",
        asks=Words(
            "One thing may be changed. After which is the longest queue shortest?",
            "只许改一样。改哪一样之后，最长队列最短？"),
        options={"l1": Words("twice the L1", "L1 翻倍"),
                 "l2": Words("twice the L2", "L2 翻倍"),
                 "link": Words("a link of 50 GB/s", "链路换成 50 GB/s")},
        case=_knob,
    ),
    Fill(
        id="11.E1",
        asks=Words(
            "Run the cell above with number = {number}. What is the matter with each "
            "run?",
            "在上一格里令 number = {number} 并运行。每次运行各是什么问题？"),
        parts={letter: Words(f"run {letter}", f"运行 {letter}") for letter in LETTERS},
        options=CAUSES, case=_verdicts,
    ),
    Fill(
        id="11.E2",
        asks=Words(
            "Which one graph proves which of the two it is? Look at the time in which "
            "most wait.",
            "凭哪一张图能断定是两者中的哪一个？看排队最多的那段时间。"),
        parts=PAIRS, options=GRAPHS, case=_proofs,
    ),
    Function(
        id="11.E3",
        asks=Words(
            "Write an alert that fires if L1 is the limit, and never otherwise. now "
            "has usage, hit_rate and l2 (0 to 1; the rate None if no prompt came), "
            "queue, running, and retracted (in the last minute). It is asked every ten "
            "seconds, in six runs that you have not seen.",
            "写一条告警：L1 是瓶颈时响，其余时候绝不响。now 有 usage、hit_rate、l2（0 "
            "到 1；没有 prompt 时命中率为 None）、queue、running、retracted（最近一分"
            "钟）。每十秒问一次，用的是你没见过的六次运行。"),
        start="def alert(now):\n    ...", judge=judge,
    ),
    HIT_RATE,
)  # fmt: skip
