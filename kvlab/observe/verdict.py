"""What is the verdict, and which scheduler is it about?

Every rule asks every track; on each the first that holds wins, in an order in which
proof comes before pattern and L1 before the cache. Then the whole: the worst track
speaks, and one full rank beside idle ones is a cause of its own, since averages hide
it. What did not hold is kept with its reason.
Left out: the rules (rules_*.py), the numbers (facts.py).
"""

from __future__ import annotations

from typing import NamedTuple

from . import (
    rules_cache,
    rules_end,
    rules_fit,
    rules_input,
    rules_l2,
    rules_leak,
    rules_loads,
    rules_pool,
    rules_queue,
    rules_steps,
)
from .causes import CAUSES
from .finding import Finding, Rule, quote, yes
from .said import say
from .samples import Recording, Track
from .signs import LOW, Signs

RULES: tuple[Rule, ...] = (
    rules_leak.wrong_slots,
    rules_leak.account,
    rules_end.ended,
    rules_input.damaged,
    rules_input.nothing,
    rules_input.single,
    rules_leak.sessions,
    rules_leak.stuck,
    rules_leak.idle,
    rules_input.averaged,
    rules_l2.copies_hold_pool,
    rules_fit.exceeds_pool,
    rules_end.stands,
    rules_l2.held_by_others,
    rules_fit.pd_backlog,
    rules_fit.state_slots,
    rules_pool.exhausted,
    rules_pool.two_of_three,
    rules_leak.never_falls,
    rules_l2.stands_for_loads,
    rules_l2.load_serialised,
    rules_loads.slow_loads,
    rules_cache.prefix_changed,
    rules_cache.working_set,
    rules_fit.next_does_not_fit,
    rules_queue.running_cap,
    rules_queue.one_runner,
    rules_queue.prefill,
    rules_l2.loads_unseen,
    rules_queue.conservative,
    rules_l2.host_pressure,
    rules_l2.never_match,
    rules_l2.never_read,
    rules_cache.prefix_parts_early,
    rules_end.died,
    rules_end.transfers,
    rules_loads.gives_less,
    rules_fit.transfer_waits,
    rules_steps.slow_step,
    rules_input.burst,
    rules_input.waiting,
    rules_input.healthy,
)
"""Every rule, the first that holds wins."""

_NO_FAULT = {"healthy", "occasional_retraction"}
_FULL = {"pool_exhausted_retract", "pool_exhausted_preempt", "two_of_three_signs"}


class Opinion(NamedTuple):
    """What the rules say of one track. `others` did not win, or do not hold."""

    track: Track
    signs: Signs
    best: Finding
    rank: int
    others: list[Finding]


class Judgement(NamedTuple):
    """The verdict on the whole: its finding, the track it is about, all opinions."""

    finding: Finding
    about: Opinion
    opinions: list[Opinion]

    @property
    def verdict(self) -> str:
        """The verdict that the cause belongs to."""
        return CAUSES[self.finding.cause].verdict


def judge(recording: Recording) -> Judgement | None:
    """Return the verdict on a settled recording; None if no track reports anything."""
    opinions = [opinion(track, recording) for track in recording.reporting()]
    if not opinions:
        return None
    about = min(opinions, key=_urgency)
    uneven = _one_rank_full(opinions, recording)
    if uneven is not None:
        finding, about = uneven
        return Judgement(finding, about, opinions)
    return Judgement(about.best, about, opinions)


def opinion(track: Track, recording: Recording) -> Opinion:
    """Return what the rules say of one track."""
    signs = Signs(track, recording)
    best, rank, others = None, len(RULES), []
    for at, rule in enumerate(RULES):
        finding = rule(signs)
        if finding is None:
            continue
        if finding.holds and best is None:
            best, rank = finding, at
        else:
            others.append(finding)
    if best is None:
        why = "no rule explains what this input shows"
        best = yes("waiting_below_pin", why, confidence="possible")
    return Opinion(track, signs, best, rank, others)


def _urgency(found: Opinion) -> tuple[bool, int, float]:
    """Return a key by which the track to speak of comes first."""
    return found.best.cause in _NO_FAULT, found.rank, -found.signs.queue_max


def _one_rank_full(
    opinions: list[Opinion], recording: Recording
) -> tuple[Finding, Opinion] | None:
    """Return the finding that some ranks of a server are full while others idle."""
    for one in sorted(opinions, key=_urgency):
        mine = [o for o in opinions if o.track.source == one.track.source]
        mates = [o for o in mine if "usage" in o.track.peaks]
        full = [o for o in mates if o.best.cause in _FULL]
        idle = [o for o in mates if o.signs.usage_max < LOW and not o.signs.stands]
        if one not in full or len(idle) * 2 < len(mates):
            continue
        names = ", ".join(recording.label(o.track) for o in full)
        highest = max(o.signs.usage_max for o in idle)
        why = (
            say(
                "{} ran full while {} of {} ranks stayed at usage {} or below; an "
                "average over ranks hides it",
                names,
                len(idle),
                len(mates),
                highest,
            ),
            *one.best.why,
        )
        shown = [quote(o.track.peaks.get("usage"), "usage", "queue") for o in idle[:2]]
        cause = "rank_imbalance_one_rank_full"
        quotes = (*one.best.quotes, *(q for q in shown if q is not None))
        return Finding(cause, True, why, quotes, one.best.confidence), one
    return None
