"""What does notebook 00, Thirty seconds, ask?

How large L1 would have to be. Left out: why (05).
"""

from __future__ import annotations

from bisect import bisect_left
from random import Random

from ...record import events as ev
from ...record.trace import Trace
from ...views.theme import Words
from ..kinds import Belief, Case, Fill
from ..questions import moment
from ..scenarios.nb00 import thirty_seconds


def sixth(trace: Trace) -> tuple[int, bool]:
    """Return the moment at which r6 is first judged, and whether it got in."""
    at = moment(trace, lambda e: isinstance(e, ev.Admit) and e.request == "r6")
    event = trace.events[at - 1]
    assert isinstance(event, ev.Admit), "moment found an Admit"
    return at, event.added


def _least(random: Random) -> Case:
    prompt, max_new = random.randint(4, 8), random.randint(2, 4)
    full = 5 * prompt

    def run(pool: int, host: int = 200) -> Trace:
        return thirty_seconds(prompt, max_new, pool_tokens=pool, host_tokens=host).trace

    pools = range(full + prompt, 100)
    enough = pools[bisect_left(pools, True, key=lambda pool: sixth(run(pool))[1])]
    equal = run(enough - 1)
    at = sixth(equal)[0]
    return Case(
        {"L1": enough}, {"prompt": prompt, "max_new": max_new, "used": full}, equal, at,
        beliefs=(
            Belief(enough - 1, Words(
                "With that much, need equals room, and equal is refused too.",
                "这么大时需求等于余量，而相等也会被拒绝。"), at),
            Belief(full + prompt, Words(
                "The prompt alone is not enough: what it may answer is promised too.",
                "只够放 prompt 还不行：可能输出的部分也要预留。"), at),
            Belief(enough - 2, Words(
                "One more page is asked for, and need must be less than room.",
                "还要多算一页，而且需求必须小于余量。"), at),
        ),
    )  # fmt: skip


EXERCISES = (
    Fill(
        id="00.E1",
        asks=Words(
            "Five requests of {prompt} tokens run and hold {used} slots of L1. r6 "
            "brings {prompt} more and may answer with {max_new}; pages are one slot. "
            "How many slots must L1 have at least for r6 to get in at once?",
            "五个各 {prompt} token 的请求在运行，占着 L1 的 {used} 个槽位。r6 再带来 "
            "{prompt} 个，最多输出 {max_new} 个；一页就是一个槽位。L1 至少要有多少个"
            "槽位，r6 才能马上进来？"),
        parts={"L1": Words("slots of L1", "L1 槽位数")},
        case=_least,
    ),
)  # fmt: skip
