"""Does a tour of a run show why something happened, in about a minute?

A tour is a run with notes to some of its events, and the outcome that it explains: one
event. `review` reads off the run all that a machine can say of it: how many notes there
are, whether they stand on the chain of causes, before it and behind it, whether each
number of a note stands on the card or in the accounts of its event, and how long the
player takes from the first note to the last.
Left out: what only a reader can judge (draft.py), and vLLM's runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..record.events import Decision, Step
from ..record.trace import Trace
from ..views.cards import card_at, card_text, decision_behind, kind_of, links
from ..views.frame import Frame, frame_at
from ..views.notes import STEP, seconds
from ..views.sentences import describe
from ..views.theme import Words

CRITERIA = ("moments", "chain", "frame", "numbers", "minute")
"""Of how many, the causes, before and after, what is said, how long."""
LEAST, MOST = 5, 7
"""Notes of a tour."""
SHORTEST, LONGEST = 45, 75
"""Seconds of a tour: a minute, give or take a quarter."""
SPEEDS = (1, 2, 4)
"""At which the player may be set to play it."""

_FIGURE = re.compile(
    r"(?<![A-Za-z0-9_.])(?:n\d+|(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?![A-Za-z0-9_])"
)
_EVENT = re.compile(r"(?:\bevents?|事件)\s*(\d+)")
_RELEASE = re.compile(r"\d+\.\d+\.\d+")


class Point(NamedTuple):
    """What was found on one criterion; `step` is the event that lacks something."""

    holds: bool
    why: Words
    step: int | None = None


def review(trace: Trace, outcome: int, notes: Mapping[int, str]) -> dict[str, Point]:
    """Return what the run says of a tour that explains event number `outcome`.

    Units: `notes` are by their events, counted from 1; an empty note is none.
    Cost: O(events) for each note.
    """
    told = {event: text for event, text in sorted(notes.items()) if text.strip()}
    stops = stations(trace, outcome)
    points = (
        _moments(len(told)),
        _chain(trace, stops, told),
        _frame(trace, stops, told),
        _numbers(trace, stops, told),
        _minute(told),
    )
    return dict(zip(CRITERIA, points, strict=True))


def stations(trace: Trace, outcome: int) -> list[tuple[int, ...]]:
    """Return the stations of the chain of causes that a tour has to note, each with the
    events of which one will do: the first cause, every decision on the way that put a
    test, and the outcome, which has the card of the decision that it carries out."""
    chain = [link.step for link in links(trace, outcome - 1)]
    chain = [s for s in chain if not isinstance(trace.events[s - 1], Step)] or chain
    stops = [s for s in chain if s in (chain[0], outcome) or _is_tested(trace, s)]
    behind = decision_behind(trace, outcome - 1)
    if behind is not None and behind + 1 in stops[:-1]:
        stops.remove(behind + 1)
        return [*((s,) for s in stops[:-1]), (behind + 1, outcome)]
    return [(s,) for s in stops]


def _is_tested(trace: Trace, step: int) -> bool:
    if not isinstance(trace.events[step - 1], Decision):
        return False
    return any(check.holds is not None for check in card_at(trace, step).reason.checks)


def figures(text: str) -> set[str]:
    """Return the numbers and the nodes that a text names, each in one spelling.

    >>> sorted(figures("n3 of L2: 1,024 slots, 0.50 of r6's; by 0.5.14"))
    ['0.5', '1024', 'n3']
    """
    found = _FIGURE.findall(_RELEASE.sub(" ", text))
    return {f if f[0] == "n" else f"{float(f.replace(',', '')):g}" for f in found}


def _without_events(text: str, count: int) -> str:
    """Return the text without the events that it names, if the run has them."""
    return _EVENT.sub(lambda m: " " if 1 <= int(m[1]) <= count else m[0], text)


def figures_at(trace: Trace, step: int) -> set[str]:
    """Return the figures that stand at an event: in its headline, on its card, and in
    both accounts before and after it. Cost: O(step)."""
    frame = frame_at(trace, step)
    behind = decision_behind(trace, step - 1)
    said = [describe(frame), *_accounts(frame)]
    if behind is not None:
        card = card_at(trace, behind + 1)
        bare = card.reason._replace(rule=Words("", ""), source="")
        said.append(card_text(card._replace(reason=bare, chain=())))
    return figures(" ".join(said))


def _accounts(frame: Frame) -> Iterable[str]:
    for state in (frame.before, frame.state):
        for account in (state.account(), state.host_account()):
            yield " ".join(map(str, account or ()))


def playing_time(notes: Mapping[int, str], speed: float = 1) -> float:
    """Return the seconds that the player takes from the first note to the last.

    >>> playing_time({3: "x" * 15, 5: "x" * 30})
    6.8
    """
    steps = max(notes) - min(notes) + 1
    aloud = sum(seconds(text) for text in notes.values())
    return round(steps * STEP / speed + aloud, 1)


# --- the five points


def _moments(count: int) -> Point:
    right = LEAST <= count <= MOST
    return Point(right, Words(
        f"{count} notes; {LEAST} to {MOST} are wanted",
        f"{count} 条批注；要 {LEAST} 到 {MOST} 条"))  # fmt: skip


def _chain(
    trace: Trace, stops: list[tuple[int, ...]], notes: Mapping[int, str]
) -> Point:
    lacking = next((stop for stop in stops if not notes.keys() & {*stop}), None)
    if lacking is None:
        way = " → ".join(str(stop[0]) for stop in stops)
        return Point(True, Words(f"the chain of causes has its notes: {way}",
                                 f"因果链上都有批注：{way}"))  # fmt: skip
    step = lacking[0]
    kind = kind_of(trace.events[step - 1])
    return Point(False, Words(
        f"no note to event {step}, {kind}, which is on the chain of causes",
        f"因果链上的事件 {step}（{kind}）没有批注"), step)  # fmt: skip


def _frame(
    trace: Trace, stops: list[tuple[int, ...]], notes: Mapping[int, str]
) -> Point:
    first, last = stops[0][0], stops[-1][-1]
    if first > 1 and not any(event < first for event in notes):
        return Point(False, Words(
            f"nothing before event {first} says how it came to this",
            f"事件 {first} 之前没有一条批注交代前情"), first)  # fmt: skip
    if last < len(trace) and not any(event > last for event in notes):
        return Point(False, Words(
            f"nothing after event {last} says what came of it",
            f"事件 {last} 之后没有一条批注交代后果"), last)  # fmt: skip
    return Point(
        True,
        Words("it says how it came to this and what came of it", "前情和后果都有交代"),
    )


def _numbers(
    trace: Trace, stops: list[tuple[int, ...]], notes: Mapping[int, str]
) -> Point:
    on_chain = {event for stop in stops for event in stop}
    for event, text in notes.items():
        named = figures(_without_events(text, len(trace)))
        strange = sorted(named - figures_at(trace, event))
        if strange:
            return Point(False, Words(
                f"event {event}: {strange[0]} stands neither on its card nor in its "
                "accounts",
                f"事件 {event}：{strange[0]} 既不在它的卡片上，也不在账目里"),
                event)  # fmt: skip
        if event in on_chain and not named:
            return Point(False, Words(
                f"event {event}: a rule without its numbers",
                f"事件 {event}：只有规则，没有数"), event)  # fmt: skip
    return Point(bool(notes), Words(
        "every number stands on the card or in the accounts of its event",
        "每个数都在它那个事件的卡片或账目里") if notes else NO_NUMBER)  # fmt: skip


NO_NUMBER = Words("no note, so no number yet", "还没有批注，也就没有数")


def _minute(notes: Mapping[int, str]) -> Point:
    times = {speed: playing_time(notes, speed) for speed in SPEEDS if notes}
    fits = next((s for s in times if SHORTEST <= times[s] <= LONGEST), None)
    if fits is not None:
        lasts = f"{times[fits]:.0f} s"
        return Point(True, Words(
            f"from the first note to the last it plays {lasts} at {fits}×",
            f"以 {fits}× 播放，从第一条批注到最后一条用 {lasts}"))  # fmt: skip
    return Point(False, Words(
        f"from the first note to the last it plays {times.get(1, 0):.0f} s at 1×; "
        f"{SHORTEST} to {LONGEST} are wanted (at 1×, 2× or 4×)",
        f"以 1× 播放，从第一条批注到最后一条用 {times.get(1, 0):.0f} s；"
        f"要 {SHORTEST} 到 {LONGEST} s（1×、2× 或 4×）"))  # fmt: skip
