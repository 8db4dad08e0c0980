"""What does notebook 09, Does L2 add concurrency, ask?

When L2 lowers P99, when it raises it, and why it seats nobody more.
Left out: the answers that are right (the tests hold them).
"""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from ...record import events as ev
from ...views.theme import Words
from ..kinds import Belief, Case, Choice, Fill, Flaw, Function
from ..own_words.tiers import SOONER
from ..questions import moment
from ..scenarios.nb09 import (
    SHARED,
    Guests,
    Served,
    cost,
    demand,
    prefill_rate,
    residence,
    serve,
)

NO_L2 = Guests(host_tokens=0)
RUNS = {
    "none": (Words("no L2", "没有 L2"), NO_L2),
    "fast": (Words("L2 over 50 GB/s", "L2，50 GB/s 链路"), Guests()),
    "slow": (Words("L2 over 1 GB/s", "L2，1 GB/s 链路"), Guests(link_gbps=1.0)),
}
SEATS = Words(
    "L2 adds no seats: admission counts L1's slots. Who hits leaves sooner, so the "
    "queue is shorter.",
    "L2 不增加席位：准入只数 L1 的槽位。命中的请求走得更快，队列才变短。",
)
LOCKED = Words(
    "write_through locks what it copies. A link slower than the writing keeps L1 "
    "locked.",
    "write_through 会锁住正在拷贝的内容；链路慢于写入速度时，L1 就一直被锁着。",
)


BOUND = Words(
    "With sharing L2 helps if the link beats what prefill makes.",
    "有共享时，链路要快过预填充产出 KV 的速度，L2 才有用。",
)
WRITES = Words(
    "Without sharing nothing comes back: the link has to take what is written.",
    "没有共享就没有东西要回来：链路只要跟得上写入。",
)


def _prediction(random: Random) -> Case:
    found = {name: serve(guests).p99 for name, (_, guests) in RUNS.items()}
    trace = serve(RUNS["fast"][1]).trace
    loaded = moment(trace, lambda e: isinstance(e, ev.Load))
    return Case(
        " ".join(sorted(found, key=found.__getitem__)), {}, trace, loaded,
        beside=serve(NO_L2).trace,
        beliefs=(
            Belief("fast slow none", LOCKED, loaded),
            Belief("slow fast none", LOCKED, loaded),
            Belief("none fast slow", Words(
                "Nine tenths of each prompt came back over the link instead of being "
                "computed.",
                "每个 prompt 的九成是从链路搬回来的，不用重算。"), loaded),
        ),
    )  # fmt: skip


def _seen(random: Random) -> Case:
    trace = serve(RUNS["fast"][1]).trace
    with_l2, without = (serve(g).tallies.peak_running for g in (Guests(), NO_L2))
    answer = "more" if with_l2 > without else "fewer" if with_l2 < without else "same"
    return Case(
        answer, {"n": without}, trace, moment(trace, lambda e: isinstance(e, ev.Start)),
        beliefs=(Belief("more", SEATS),),
    )  # fmt: skip


def _unique(random: Random) -> Case:
    with_l2, without = (
        serve(Guests(share=0.0, host_tokens=host)) for host in (Guests().host_tokens, 0)
    )
    change = with_l2.p99 / without.p99 - 1
    answer = "same" if abs(change) < 0.02 else "lower" if change < 0 else "higher"
    trace = with_l2.trace
    return Case(
        answer, {}, trace, moment(trace, lambda e: isinstance(e, ev.Backup)),
        beside=without.trace,
        beliefs=(
            Belief("lower", Words(
                "Nobody asks for what L2 holds.", "L2 里的东西没有人要。")),
            Belief("higher", Words(
                "It would over a slow link. At 50 GB/s copies are done before anybody "
                "wants the slots that they lock.",
                "链路慢时会。50 GB/s 时，拷贝在有人要它锁住的槽位之前就已完成。")),
        ),
    )  # fmt: skip


def _drawn(random: Random, **fixed: Any) -> Served:
    guests = Guests(seed=random.randint(1, 5), rate=random.choice((1.5, 2.5)), **fixed)
    return serve(guests)


def _demand(random: Random) -> Case:
    run = _drawn(random, share=random.choice((0.0, SHARED)))
    kib = cost(50.0).model.kv_bytes // 1024
    return Case(
        {"demand": demand(run)},
        {"tokens": run.written, "span": round(run.span, 3), "kib": kib},
        beliefs=tuple(
            Belief({"demand": run.written * kib / run.span / 1e9 * factor}, why)
            for factor, why in UNITS
        ),
    )  # fmt: skip


UNITS = (
    (1, Words("KiB, not bytes: a factor of 1,024 is missing.",
              "单位是 KiB：少乘了 1,024。")),
    (1000, Words("A KiB is 1,024 bytes, not 1,000.",
                 "1 KiB 是 1,024 字节，不是 1,000。")),
    (1024 * 1e9 / 2**30, Words("A GB is 10^9 bytes here, not 2^30.",
                               "这里 1 GB 是 10^9 字节，不是 2^30。")),
    (8 * 1024, Words("Bytes a second are asked for, not bits.",
                     "问的是每秒字节数，不是比特数。")),
)  # fmt: skip
"""What a token's KiB are multiplied with by mistake, and why it is one."""


def _little(random: Random) -> Case:
    run = _drawn(random, host_tokens=random.choice((0, Guests().host_tokens)))
    done = run.tallies.done
    mean = residence(done)
    return Case(
        {"inside": len(done) * mean / run.span},
        {"n": len(done), "span": round(run.span, 4), "mean": round(mean, 4)},
        beliefs=(
            Belief({"inside": len(done) / run.span}, Words(
                "That is the rate. Times the time that each stays, it is how many are "
                "there.",
                "这只是速率。再乘以每个停留的时间，才是同时在场的请求数。")),
            Belief({"inside": len(done) * mean}, Words(
                "Those are the seconds of all stays together. It is requests a second "
                "times the seconds each stays: divide by the span.",
                "这是所有停留时间之和。应当是每秒请求数乘以每个停留的秒数："
                "还要除以总时长。")),
            Belief({"inside": len(done)}, Words(
                "All came, but not at once: requests a second times the seconds each "
                "stays.",
                "都来过，但不是同时在场：每秒请求数乘以每个停留的秒数。")),
        ),
    )  # fmt: skip


class Plan(NamedTuple):
    """A deployment as E3 shows it.

    Units: `share` 0 to 1; GB/s: `demand` is what write_through has to write, `prefill`
    what prefill makes of KV.
    """

    share: float
    demand: float
    prefill: float
    link: float


LINKS = ((SHARED, 50.0), (SHARED, 8.0), (SHARED, 4.0), (SHARED, 1.0),
         (0.0, 50.0), (0.0, 4.0), (0.0, 1.0))  # fmt: skip
"""Share and link of each; some links lie between the two bounds, and 4 GB/s is too slow
where much is shared and fast enough where nothing is, so no one bound will do."""


def _effects() -> list[tuple[Plan, str, Served]]:
    found = []
    for share, link in LINKS:
        run = serve(Guests(share=share, link_gbps=link))
        ratio = run.p99 / serve(Guests(share=share, host_tokens=0)).p99
        effect = "same" if 0.9 < ratio < 1.1 else "lower" if ratio < 1 else "higher"
        out = demand(serve(Guests(share=share)))
        plan = Plan(share, round(out, 1), round(prefill_rate(), 1), link)
        found.append((plan, effect, run))
    return found


def _first_copy(run: Served) -> int:
    return moment(run.trace, lambda e: isinstance(e, ev.Backup))


def judge(function: Any, random: Random) -> Flaw | None:
    """Return what is wrong with a learner's rule, None if nothing is."""
    for plan, effect, run in _effects():
        said = function(plan)
        if said != effect:
            en, zh = BOUND if plan.share else WRITES
            return Flaw(Words(
                f"{plan}: P99 is {effect}, yours {said}. {en}",
                f"{plan}：P99 为 {effect}，你的是 {said}。{zh}"),
                run.trace, _first_copy(run))  # fmt: skip
    return None


ORDERS = ("fast none slow", "fast slow none", "none fast slow", "slow fast none")


def _named(order: str) -> Words:
    names = [RUNS[name][0] for name in order.split()]
    return Words(
        " < ".join(name.en for name in names), " < ".join(name.zh for name in names)
    )


EXERCISES = (
    Choice(
        id="09.P",
        asks=Words(
            "Forty requests; nine tenths of each prompt is one of eight shared "
            "prefixes. In which order do the runs stand, lowest P99 TTFT first?",
            "40 个请求，每个 prompt 的九成是 8 个共享前缀之一。三次运行按 P99 TTFT 从低"
            "到高是什么次序？"),
        options={order: _named(order) for order in ORDERS}, case=_prediction,
    ),
    Choice(
        id="09.S",
        asks=Words(
            "Without L2 at most {n} requests ran at once. With L2 over the fast link? "
            "(The cell below prints it.)",
            "没有 L2 时最多同时跑 {n} 个请求。有 L2（快链路）时呢？"
            "（下面的单元会打印。）"),
        options={"more": Words("more", "更多"), "same": Words("as many", "一样多"),
                 "fewer": Words("fewer", "更少")},
        case=_seen,
    ),
    Choice(
        id="09.P2",
        asks=Words("Now nothing is shared; the link stays at 50 GB/s. What does L2 do "
                   "to P99, against no L2?",
                   "现在没有任何共享，链路仍为 50 GB/s。与没有 L2 相比，P99 会怎样？"),
        options={"lower": Words("lowers it", "降低"),
                 "same": Words("nothing", "没有影响"),
                 "higher": Words("raises it", "升高")},
        case=_unique,
    ),
    Fill(
        id="09.E1",
        asks=Words(
            "In {span} s write_through copied {tokens} tokens of {kib} KiB to L2. How "
            "many gigabytes a second is that, on average (1 GB = 10^9 bytes)?",
            "{span} 秒内 write_through 向 L2 拷了 {tokens} 个 token，每个 {kib} KiB。"
            "平均是多少 GB/s（1 GB = 10^9 字节）？"),
        parts={"demand": Words("GB/s", "GB/s")}, tolerance=0.02, case=_demand,
    ),
    Fill(
        id="09.E2",
        asks=Words(
            "{n} requests came and left within {span} s; each stayed {mean} s on "
            "average (queue included). How many were there at once, on average?",
            "{span} 秒内来去了 {n} 个请求，平均每个停留 {mean} 秒（含排队）。"
            "平均同时在场几个？"),
        parts={"inside": Words("requests", "请求")}, tolerance=0.02, case=_little,
    ),
    Function(
        id="09.E3",
        asks=Words(
            "Write the rule: plan has share (the part of a prompt that is shared, 0 to "
            "1) and, in GB/s, demand (what write_through has to write), prefill (KV "
            "that prefill makes) and link. Return what L2 does to P99: 'lower', 'same' "
            "or 'higher'.",
            "写出规则：plan 有 share（prompt 中共享的比例，0 到 1），以及三个 GB/s："
            "demand（write_through 要写的）、prefill（预填充产出 KV 的速度）和 link。"
            "返回 L2 对 P99 的影响：'lower'、'same' 或 'higher'。"),
        start="def effect(plan):\n    ...", judge=judge,
    ),
    SOONER,
)  # fmt: skip
