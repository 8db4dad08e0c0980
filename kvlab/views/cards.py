"""What does a card say of a decision, in plain text?

In fixed order: verdict, rule, each check with every name before its number, what is not
in the formula, what was not taken, the causes, the source. The twin of the player's
card, with the same numbers.
Left out: the numbers (reasons.py), the drawn card (player/).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import Struct

from ..record import events as ev
from ..record.events import Decision, Event
from ..record.folding import check_step
from ..record.trace import Trace
from .frame import Frame, frame_at
from .mistaken import amiss
from .player_words import UI_WORDS
from .reason import Check, Reason
from .reasons import reason_of
from .sentences import verdict
from .theme import Lang


class Link(NamedTuple):
    """One event of a chain of causes; `step` is where the player shows it."""

    step: int
    kind: str


class Card(NamedTuple):
    """All that the card of one decision says; plain text, not yet escaped."""

    title: str
    reason: Reason
    chain: tuple[Link, ...]
    lang: Lang


def card(trace: Trace, frame: Frame, lang: Lang = "en") -> Card:
    """Return the card of the frame's event, which must be a decision."""
    chain = tuple(links(trace, frame.index))
    return Card(verdict(frame, lang), reason_of(frame), chain, lang)


def card_at(trace: Trace, step: int, lang: Lang = "en") -> Card:
    """Return the card of the decision that is event number `step`.

    Raises: TraceError if the run has no such step. Cost: O(step).
    """
    return card(trace, frame_at(trace, step), lang)


CARRIES_OUT: dict[type[Event], tuple[type[Event], ...]] = {
    ev.Alloc: (ev.LoadBack, ev.TryBackup, ev.MakeRoom, ev.DecodeRoom),
    ev.Free: (ev.Victim, ev.PickRetract, ev.Insert),
    ev.Load: (ev.LoadBack,), ev.Backup: (ev.TryBackup,),
    ev.BackupDone: (ev.TryBackup,),
    ev.Demote: (ev.Victim,), ev.Delete: (ev.Victim,), ev.EvictHost: (ev.Victim,),
    ev.Reclaim: (ev.Victim,),
    ev.Lock: (ev.LoadBack, ev.TryBackup), ev.Unlock: (ev.LoadBack, ev.PickRetract),
    ev.HostUnlock: (ev.LoadBack,),
    ev.Start: (ev.Prefill,), ev.Cached: (ev.Prefill,),
    ev.Row: (ev.Prefill, ev.DecodeRoom), ev.Output: (ev.Prefill, ev.DecodeRoom),
    ev.Grow: (ev.DecodeRoom,), ev.Retract: (ev.PickRetract,),
}  # fmt: skip
"""Which decisions a change may carry out that do not cause it: they stand before it,
under the same cause."""


def links(trace: Trace, index: int) -> list[Link]:
    """Return the event's chain of causes, first cause first, itself last; before a
    change stands the decision that it carries out."""
    behind = decision_behind(trace, index)
    chain = [] if behind is None else trace.chain(behind)
    if behind != index:
        chain = [*chain, index]
    return [Link(i + 1, kind_of(trace.events[i])) for i in chain]


def decision_behind(trace: Trace, index: int) -> int | None:
    """Return the decision that an event carries out: itself, the one before it that
    CARRIES_OUT names, or its cause; None if nothing was decided."""
    events = trace.events
    if index < 0 or isinstance(events[index], Decision):
        return index if index >= 0 else None
    cause = events[index].cause
    carried = CARRIES_OUT.get(type(events[index]), ())
    for at in range(index - 1, cause, -1):
        if not isinstance(events[at], Decision) or events[at].cause != cause:
            continue
        if isinstance(events[at], carried):
            return at
        if not isinstance(events[at], ev.TryBackup):  # a victim tries one of its own
            break
    return decision_behind(trace, cause)


def kind_of(event: Struct | type[Struct]) -> str:
    """Return the kind of an event as the engine would spell it.

    >>> kind_of(ev.LoadBack)
    'load_back'
    """
    kind = event if isinstance(event, type) else type(event)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()


def why_text(trace: Trace, step: int, lang: Lang = "en") -> str:
    """Return the card of event number `step`, or of the decision it carries out; what
    either gets wrong stands above and below.

    Raises: TraceError if the run has no such step. Cost: O(step).
    """
    check_step(step, len(trace))
    at = decision_behind(trace, step - 1)
    if at is None:
        return UI_WORDS["no_card"].to(lang)
    own = amiss(trace, frame_at(trace, step), lang) if at < step - 1 else []
    frame = frame_at(trace, at + 1)
    said = card_text(card(trace, frame, lang))
    return "\n".join([*own, said, *amiss(trace, frame, lang)])


def card_text(card: Card) -> str:
    """Return the card as lines of text."""
    why, lang = card.reason, card.lang
    lines = [card.title, why.rule.to(lang)]
    late = False
    for check in why.checks:
        if check.late and not late:
            lines.append(UI_WORDS["not_reached"].to(lang))
        late = check.late
        lines += _check_lines(check, lang)
    if why.outside is not None:
        outside = f"{why.outside.name} = {why.outside.number}"
        lines.append(f"[{outside}]  {UI_WORDS['not_in_formula'].to(lang)}")
    if why.not_taken is not None:
        said = why.not_taken.to(lang)
        lines.append(f"{UI_WORDS['not_taken'].to(lang)}: {said}")
    if len(card.chain) > 1:
        chain = " -> ".join(f"{link.step} {link.kind}" for link in card.chain)
        lines.append(f"{UI_WORDS['cause'].to(lang)}: {chain}")
    return "\n".join([*lines, why.source] if why.source else lines)


def _check_lines(check: Check, lang: Lang) -> list[str]:
    lines = [check.asks.to(lang)] if check.asks else []
    for equation in check.equations:
        terms = [t if isinstance(t, str) else f"{t.name} {t.number}" for t in equation]
        lines.append("  " + " ".join(terms))
    if check.holds is not None:
        mark, numbers = "✓" if check.holds else "✗", ("false", "true")[check.holds]
        word = numbers if check.test else ("no", "yes")[check.holds]
        lines.append(f"  {check.test}  {mark} {UI_WORDS[word].to(lang)}".rstrip())
    return lines
