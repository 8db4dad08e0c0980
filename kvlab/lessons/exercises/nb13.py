"""What does notebook 13, Present, ask?

What the first cause of a loss is, whose loss a condition decides, what is on a chain of
causes and in which order, and what a tour lacks.
Left out: the answers that are right (the tests hold them), the learner's own tour
(draft.py).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from ...record import events as ev
from ...record.events import Event
from ...views.cards import links
from ...views.theme import Words
from ..causes import judge
from ..kinds import Belief, Case, Choice, Fill, Function, Order
from ..own_words.tours import WHY_C
from ..presenting import Point, review
from ..questions import LOST, fates, moment, state_at
from ..scenarios import fork_of
from ..scenarios.nb07 import A, C, three_fates
from ..scenarios.nb13 import TOUR, scene

CAUSES: dict[type[Event], str] = {
    ev.Evict: "left", ev.Match: "match", ev.Insert: "insert",
}  # fmt: skip
WENT = {
    "a": Words("A alone", "只有 A"), "c": Words("C alone", "只有 C"),
    "both": Words("A and C", "A 和 C"), "none": Words("neither", "都没有"),
}  # fmt: skip


def _first_cause(random: Random) -> Case:
    trace, outcome = scene("lost")
    chain = [trace.events[at] for at in trace.chain(outcome - 1)]
    cause = next(e for e in chain if not isinstance(e, ev.Step))
    left = moment(trace, lambda e: isinstance(e, ev.Demote) and e.node == 3)
    match = moment(trace, lambda e: isinstance(e, ev.Match))
    return Case(
        CAUSES[type(cause)], trace=trace, step=moment(trace, lambda e: e is cause),
        fork=fork_of(three_fates),
        beliefs=(
            Belief("match", Words(
                "That made C the coldest. But it asked for no room: nothing went "
                "because of it.",
                "这让 C 成了最冷的。但它不要空间：没有什么因它而走。"), match),
            Belief("left", Words(
                "Then C had a copy on L2, and kept it.",
                "那时 C 在 L2 有副本，而且留住了。"), left),
            Belief("full", Words(
                "L2 had 13 free slots all the while. A state causes nothing by "
                "itself.",
                "L2 一直空闲 13 个。状态本身引不起什么。"), match),
        ),
    )  # fmt: skip


def _full(random: Random) -> Case:
    trace, _ = scene("lost")
    at = moment(trace, lambda e: isinstance(e, ev.TryBackup)
                and e.verdict == "make_room")  # fmt: skip
    event, before = trace.events[at - 1], state_at(trace, at - 1)
    assert isinstance(event, ev.TryBackup), "moment found one"
    free = before.host_account().available
    return Case(
        {"need": event.tokens, "free": free}, trace=trace, step=at,
        beliefs=(Belief({"free": before.host_account().total}, Words(
            "That is all of L2. Free is what holds nothing.",
            "那是整个 L2。空闲是什么也没放的部分。"), at),),
    )  # fmt: skip


NOT_ASKED = Words("In B nobody asks for A again.", "B 中没有人再次请求 A。")


def _not_asked(random: Random) -> Case:
    trace, other = three_fates().trace, three_fates(again=False).trace
    found = fates(other, {"A": A, "C": C})
    lost = tuple(name for name, fate in found.items() if fate == LOST)
    names = {("A",): "a", ("C",): "c", ("A", "C"): "both"}
    return Case(
        names.get(lost, "none"), trace=trace,
        step=moment(trace, lambda e: isinstance(e, ev.Match)), beside=other,
        explain=lambda one, two: [NOT_ASKED],
        beliefs=(
            Belief("a", Words(
                "A goes first now. But eviction is asked for D's whole need, 16, and A "
                "has 12: C goes next.",
                "A 先走。但要腾的是 D 的全部需求 16，A 只有 12：接着走 C。")),
            Belief("c", Words(
                "A is the coldest then, so it goes first.",
                "这时最冷的是 A，它先走。")),
            Belief("none", Words(
                "D needs 16 slots on L2 and 13 are free: somebody has to go.",
                "D 要 L2 的 16 个槽位，空闲 13：总得有谁走。")),
        ),
    )  # fmt: skip


LINKS = {
    "load": Words(
        "X is wanted on L1: 20 tokens, 2 slots free",
        "要把 X 取回 L1：20 个 token，空闲 2",
    ),
    "evict": Words("L1 is asked for room", "向 L1 要空间"),
    "backup": Words(
        "Y needs 30 slots on L2, where 20 are free", "Y 要 L2 的 30 个槽位，空闲 20"
    ),
    "host": Words("L2 is asked for room", "向 L2 要空间"),
    "victim": Words("X is the coldest on L2", "L2 上最冷的是 X"),
    "cold": Words("X left L1, long before", "很久之前 X 离开 L1"),
    "copied": Words("the copy of Y arrives on L2", "Y 的副本到达 L2"),
}


def _links(random: Random) -> Case:
    trace, outcome = scene("wrong")
    chain = {link.step for link in links(trace, outcome - 1)}
    kinds: dict[str, Callable[[Event], bool]] = {
        "load": lambda e: isinstance(e, ev.LoadBack),
        "evict": lambda e: isinstance(e, ev.Evict) and e.ask == 20,
        "backup": lambda e: isinstance(e, ev.TryBackup) and e.node == 2,
        "host": lambda e: isinstance(e, ev.Evict) and e.tier == "L2",
        "victim": lambda e: isinstance(e, ev.Victim) and e.fate == "evict_host",
        "cold": lambda e: isinstance(e, ev.Demote) and e.node == 1,
        "copied": lambda e: isinstance(e, ev.BackupDone) and e.node == 2,
    }
    steps = {name: moment(trace, kind) for name, kind in kinds.items()}
    order = sorted((n for n in steps if steps[n] in chain), key=steps.__getitem__)
    return Case(order, {}, trace, outcome, steps)


# --- tours that lack something


class Telling(NamedTuple):
    """A tour of the loss of C, with or without its faults."""

    notes: dict[int, Words]
    points: dict[str, Point]


def telling(random: Random) -> Telling:
    """Return the good tour with one to three faults, and what the run says of it."""
    notes = dict(TOUR)
    faults = random.sample(("chain", "frame", "numbers"), random.randint(1, 3))
    if "numbers" in faults:
        free = random.choice((12, 14, 15, 18))
        notes[48] = Words(*(text.replace("13", str(free)) for text in notes[48]))
    if "chain" in faults:
        del notes[random.choice((45, 50))]
    if "frame" in faults:
        for event in random.choice(((37, 42), (54,))):
            del notes[event]
    trace, outcome = scene("lost")
    english = {event: words.en for event, words in notes.items()}
    return Telling(notes, review(trace, outcome, english))


def _lines(notes: dict[int, Words]) -> Words:
    return Words(
        "\n".join(f"event {event}: {words.en}" for event, words in notes.items()),
        "\n".join(f"事件 {event}：{words.zh}" for event, words in notes.items()),
    )


PARTS = {
    "moments": Words("five to seven notes", "五到七条批注"),
    "chain": Words("every station of the chain of causes", "因果链每一站都有"),
    "frame": Words("how it came to this, and what came of it", "有前情，也有后果"),
    "numbers": Words("every number stands at its event", "每个数都在它的事件上"),
}
YES_NO = {"yes": Words("yes", "有"), "no": Words("no", "没有")}


def _marked(random: Random) -> Case:
    told = telling(random)
    trace, outcome = scene("lost")
    answer = {part: "yes" if told.points[part].holds else "no" for part in PARTS}
    steps = {part: told.points[part].step or outcome for part in PARTS}
    return Case(
        answer, {"tour": _lines(told.notes)}, trace, outcome, steps,
        beliefs=tuple(
            Belief({part: "yes" if answer[part] == "no" else "no"},
                   _sentence(told.points[part].why), steps[part])
            for part in ("chain", "frame", "numbers")
        ),
    )  # fmt: skip


def _sentence(line: Words) -> Words:
    return Words(f"{line.en[:1].upper()}{line.en[1:]}.", f"{line.zh}。")


EXERCISES = (
    Choice(
        id="13.P",
        asks=Words(
            "At event 51 L2 drops C for good. Which event stands first on its chain of "
            "causes?",
            "事件 51：L2 永久丢弃 C。它的因果链上，第一个事件是哪一个？"),
        options={
            "left": Words("C had to leave L1 (event 37)", "C 被逐出 L1（事件 37）"),
            "match": Words("A was asked for again (event 42)",
                           "A 再次被请求（事件 42）"),
            "insert": Words("D was given to the tree (event 45)",
                            "D 交给树（事件 45）"),
            "full": Words("none: L2 was nearly full", "没有：L2 本来就快满了"),
        },
        case=_first_cause,
    ),
    Fill(
        id="13.S",
        asks=Words(
            "Event 48, the copy of D. What was put against what?",
            "事件 48，D 的副本：拿什么和什么比？"),
        parts={"need": Words("tokens needed", "需要的 token"),
               "free": Words("slots free on L2", "L2 的空闲槽位")},
        case=_full,
    ),
    Choice(
        id="13.P2",
        asks=Words(
            "Take event 42 away: nobody asks for A again. Which of A and C does L2 "
            "lose now?",
            "去掉事件 42：没有人再请求 A。这时 L2 丢掉 A 和 C 中的哪个？"),
        options=WENT, case=_not_asked,
    ),
    Order(
        id="13.E1",
        asks=Words(
            "Another run (14): X is dropped from L2 while it is being loaded to L1. "
            "Put its chain of causes in order; leave out what is not on it.",
            "另一次运行（14）：X 正在取回 L1，却被 L2 丢弃。把因果链按先后排好；"
            "不在链上的去掉。"),
        steps=LINKS, case=_links,
    ),
    Fill(
        id="13.E2",
        asks=Words(
            "A tour of why C was lost. What has it?\n\n{tour}",
            "一份导览：C 为什么丢失。它有什么？\n\n{tour}"),
        parts=PARTS, options=YES_NO, case=_marked,
    ),
    Function(
        id="13.E3",
        asks=Words(
            "causes[i] is the place of the event that caused event i, counted from 0; "
            "-1 if none did. Return the places on the chain of causes of at, first "
            "cause first, at last.",
            "causes[i] 是引起第 i 个事件的那个事件的位置，从 0 数起；没有则为 -1。"
            "返回 at 的因果链上各位置，第一个原因在前，at 在最后。"),
        start="def chain(causes, at):\n    ...", judge=judge,
    ),
    WHY_C,
)  # fmt: skip
