"""What should a learner's one sentence say, in notebook 13?

What a cause decides, and what a condition does. Which statement holds is read off two
runs that differ in that condition alone. Left out: how a sentence is sorted
(grading.py).
"""

from __future__ import annotations

from random import Random

from ...record import events as ev
from ...views.theme import Words
from ..kinds import Belief, Case, Sentence, point
from ..questions import LOST, fates, first
from ..scenarios.nb07 import A, C, three_fates


def _why_c(random: Random) -> Case:
    asked, not_asked = (three_fates(again=again).trace for again in (True, False))
    found, other = (fates(t, {"A": A, "C": C}) for t in (asked, not_asked))
    given, matched = first(asked, ev.EvictHost), first(asked, ev.Match)
    cause = next(
        name for kind, name in ((ev.Insert, "insert"), (ev.Match, "match"))
        if any(isinstance(asked.events[at], kind) for at in asked.chain(given - 1))
    )  # fmt: skip
    changed = {name for name in "AC" if found[name] != other[name]}
    decides = {("A",): "saves", ("C",): "costs", ("A", "C"): "either"}
    assert found["C"] == LOST, "a tour is made of why it was lost"
    return Case(
        {"cause": cause, "asking": decides.get(tuple(sorted(changed)), "nothing")},
        {}, asked, given, {"cause": given, "asking": matched},
        beliefs=(
            Belief({"cause": "match"}, Words(
                "It is on no chain of the loss: without it C is lost too.",
                "它不在这次丢失的因果链上：没有它，C 照样丢失。"), matched),
            Belief({"cause": "full"}, Words(
                "L2 had been as full for a long time, and nothing went. A state is no "
                "event: somebody has to ask.",
                "L2 早就这么满，什么也没走。状态不是事件：要有人来要。"), given),
            Belief({"asking": "costs"}, Words(
                "Take it away and C goes all the same; A goes too.",
                "去掉它，C 照样走，A 也跟着走。"), matched),
            Belief({"asking": "either"}, Words(
                "C has the same fate in both runs.",
                "两次运行里 C 的结局相同。"), matched),
        ),
    )  # fmt: skip


WHY_C = Sentence(
    id="13.E4",
    asks=Words(
        "In one sentence: why was C lost, and what did it matter that A was asked for "
        "again?",
        "一句话：C 为什么丢失？A 再次被请求，起了什么作用？"),
    points={
        "cause": point("C was lost because", "C 丢失是因为",
            match=("A was asked for again", "A 再次被请求"),
            full=("L2 was nearly full", "L2 几乎满了"),
            insert=("D was inserted, which needs 16 slots on L2 where 13 are free",
                    "插入了 D：它要 L2 的 16 个槽位，只有 13 个空闲")),
        "asking": point("That A was asked for again", "A 再次被请求",
            costs=("cost C its place", "让 C 丢了位置"),
            saves=("saved A", "救了 A"),
            either=("decided which of the two went", "决定了两者之中谁走"),
            nothing=("changed nothing", "什么也没改变")),
    },
    case=_why_c,
    model=Words(
        "D's insert needed 16 slots of L2 where 13 were free, so whole leaves went, "
        "coldest first; that A had been asked for again saved A, not cost C.",
        "插入 D 要 L2 的 16 个槽位，只有 13 个空闲，于是整叶丢弃，最冷的先走；"
        "A 再次被请求是救了 A，不是害了 C。"),
)  # fmt: skip
