"""Is the pool full, do requests wait, was work thrown out?

The three signs of an L1 bottleneck: computed once for each track, so that every rule
means the same by them.
Left out: what tells it from what looks alike (measures.py), and what follows from both
(rules_*.py).
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from statistics import fmean, median, pstdev

from .climbs import Climb, climb
from .measures import Measures
from .spells import Row, Spell, last, longest

PIN = 0.95
"""A pool at or above this is full: what is left fits no next step."""
LOW = 0.8
"""A pool below this has room that nobody uses."""
IDLE = 0.05
"""Usage above this with nothing running is held by nobody."""
BURST_S = 5.0
"""Seconds below which a queue is a moment of the engine's loop and no burst."""
DRAINED = 0.1
"""A queue that ends below this part of its peak has drained."""
RARE = 0.01
"""Requests thrown out a report with a queue, up to which they are isolated ones."""
ACCIDENT = 0.001
"""The same, up to which they say nothing even beside a full pool."""
OFTEN = 0.05
"""Part of all reports from which something is no exception."""


class Signs(Measures):
    """What one track shows. Everything is computed when first asked for."""

    @cached_property
    def rows(self) -> list[Row]:
        """The kept samples that report usage and queue. A decode worker's queue is
        what waits for it: pre-allocation and retracted requests."""
        rows = []
        for sample in self.track.with_field("usage", "queue"):
            values = sample.values
            queue = values["queue"] + values.get("prealloc", 0.0)
            queue += values.get("retracted_queue", 0.0)
            rows.append(Row(sample, values["usage"], queue, values.get("running")))
        return rows

    @cached_property
    def queued(self) -> list[Row]:
        """The rows in which somebody waits."""
        return [row for row in self.rows if row.queue > 0]

    @cached_property
    def waits(self) -> list[Row]:
        """Those of them in the stretch of waiting that matters."""
        return [row for row in self.spell.rows if row.queue > 0]

    @cached_property
    def longest(self) -> Row:
        """That of them with the longest queue; asked for where there is one."""
        return max(self.waits, key=lambda row: row.queue)

    @cached_property
    def pinned(self) -> list[Row]:
        """The rows in which the pool is full."""
        return [row for row in self.rows if row.usage >= PIN]

    @cached_property
    def spell(self) -> Spell:
        """The stretch of waiting that matters: the one that the input ends in, if it
        is not a passing one, else the longest; empty if nobody ever waits."""
        return self._end if self._ends_waiting else longest(self.rows)

    @cached_property
    def is_pinned(self) -> bool:
        """The pool stays full while somebody waits, not for a moment only."""
        rows = self.spell.rows
        full = sum(row.usage >= PIN for row in rows)
        return full >= max(1, 0.15 * len(rows))

    @cached_property
    def usual(self) -> float:
        """The usage that half of the reports exceed while requests wait."""
        return median([row.usage for row in self.spell.rows] or [0.0])

    @cached_property
    def crowded(self) -> float:
        """The usage that one report in twenty exceeds while requests wait; the largest
        of fewer than twenty. A single moment of a long log is not what limits it."""
        usages = sorted(row.usage for row in self.spell.rows)
        return usages[len(usages) - 1 - len(usages) // 20] if usages else 0.0

    @cached_property
    def stands(self) -> bool:
        """Requests wait and go on waiting, at the end or for minutes before, or most of
        the time: the queue is not a passing one."""
        if self._ends_waiting or self.mostly_waits:
            return True
        return self.queue_max >= 2 and self.spell.lasted

    @cached_property
    def mostly_waits(self) -> bool:
        """Queues come and go, and somebody waits in most reports."""
        mostly = len(self.queued) > 0.5 * len(self.rows)
        return mostly and Spell(self.queued, 0, 0, False).lasted

    @cached_property
    def _end(self) -> Spell:
        return last(self.rows)

    @cached_property
    def _ends_waiting(self) -> bool:
        """The input ends in a queue that is near its longest, and that is no repetition
        of a shorter one that passed."""
        end = self._end
        if not end.rows or self.queue_max < 2:
            return False
        if end.rows[-1].queue < 0.3 * self.queue_max:
            return False
        passed = len(longest(self.rows[: end.start]).rows)
        return end.lasted or len(end.rows) > 2 * passed

    @cached_property
    def ends_in_queue(self) -> bool:
        """Some wait at the very end, more or longer than any that drained before, so
        that nobody knows whether they will."""
        end = self._end
        if len(end.rows) < 3 or end.rows[-1].queue < 2:
            return False
        passed = longest(self.rows[: end.start])
        return len(end.rows) > len(passed.rows) or end.queue_max > passed.queue_max

    @cached_property
    def grows(self) -> bool:
        """The queue is longer at the end than at the start."""
        if len(self.rows) < 2:
            return False
        third = max(1, len(self.rows) // 3)
        first = fmean(row.queue for row in self.rows[:third])
        last = fmean(row.queue for row in self.rows[-third:])
        return last > first + max(1.0, 0.2 * first)

    @cached_property
    def climb(self) -> Climb | None:
        """Usage rises all through the later half of the input or more, and at that
        pace the pool is full before twice the time has gone by."""
        return climb(self.rows)

    @cached_property
    def drained(self) -> bool:
        """A queue of some length was there for more than a moment, and is gone."""
        seconds = self.spell.seconds
        if self.queue_max < 3 or (seconds is not None and seconds < BURST_S):
            return False
        return self.rows[-1].queue <= DRAINED * self.queue_max

    @cached_property
    def recurs(self) -> bool:
        """A full pool with a queue came about three times or more, apart from one
        another, and is no exception among the reports."""
        count, inside = 0, False
        for row in self.rows:
            if row.queue <= 0:
                inside = False
            elif row.usage >= PIN and not inside:
                count, inside = count + 1, True
        full = sum(row.usage >= PIN for row in self.queued)
        return count >= 3 and full >= OFTEN * len(self.rows)

    @cached_property
    def thrown_out(self) -> float | None:
        """Requests retracted or preempted inside the input; None where the input cannot
        say. A lifetime counter never counts, only its growth."""
        track, marks = self.track, self.recording.marks
        if self.kind == "metrics":
            return self._thrown_out_by_metrics()
        if self.engine == "sglang":
            return track.sums["retracted"]
        if "preemptions printed" in marks:
            return track.sums["preemptions"]
        said = self._thrown_out_by_v0() if "v0" in marks else None
        if not said and self.sent_back:
            return self.sent_back
        return 0.0 if said is None and self.usage_max < PIN else said

    @cached_property
    def sent_back(self) -> float:
        """Running requests of vLLM that went back to the queue of a full pool, where no
        line says so: the queue grows by as many as run less, step for step. 0 where
        that is no rule."""
        if self.kind != "log" or self.engine != "vllm":
            return 0.0
        steps = [(a.running - b.running, b.queue - a.queue)
                 for a, b in pairwise(self.rows)
                 if a.running is not None and b.running is not None
                 and min(a.usage, b.usage) >= PIN]  # fmt: skip
        back = [less for less, more in steps if less == more > 0]
        often = len(back) >= 3 and len(back) >= 0.5 * len(self.rows[1:])
        return sum(back) if often else 0.0

    @cached_property
    def throws(self) -> bool:
        """Requests are thrown out, more than one now and then: measured against the
        reports with a queue, all of them, whether or not they were kept."""
        return (self.thrown_out or 0.0) > RARE * self.num_waiting

    @cached_property
    def throws_at_all(self) -> bool:
        """Requests are thrown out, and not by an accident of a long input."""
        return (self.thrown_out or 0.0) > ACCIDENT * self.num_waiting

    @cached_property
    def num_waiting(self) -> float:
        """Reports with a queue, kept or not."""
        return len(self.queued) * self.reports_each

    @cached_property
    def reports_each(self) -> float:
        """How many reports each kept one stands for."""
        return self.track.num_samples / max(1, len(self.track.samples))

    def _thrown_out_by_metrics(self) -> float | None:
        track = self.track
        if self.engine == "vllm":
            return track.growth("preemptions_total")
        grown = track.growth("retracted_total")
        newer = "kv_available" in track.peaks or "usage_full" in track.peaks
        if grown is None and newer and track.count["counters"] >= 2:
            return 0.0  # this release has the counter: absent means never
        return grown

    def _thrown_out_by_v0(self) -> float | None:
        """V0 prints the count itself with the first and every 50th after: the first
        reading is inside; without one, 49 may be, unless the log has its start."""
        first = self.track.first("preemptions_lifetime")
        last = self.track.last("preemptions_lifetime")
        if first is None or last is None:
            return 0.0 if self.track.known("pool_blocks") else None
        return last - first + 1

    @property
    def word(self) -> str:
        """What the engine calls throwing a running request out."""
        return "preemption" if self.engine == "vllm" else "retraction"

    @cached_property
    def queue_max(self) -> float:
        """The longest queue of all rows; 0 where nobody waits."""
        return max((row.queue for row in self.rows), default=0.0)

    @cached_property
    def running_waits(self) -> list[float]:
        """How many ran, in the rows of the stretch in which somebody waited."""
        return [row.running for row in self.waits if row.running is not None]

    def steadiness(self, name: str) -> float | None:
        """Return standard deviation over mean while somebody waits: near 0 is flat."""
        values = [r.sample.values[name] for r in self.waits if name in r.sample.values]
        if len(values) < 3 or fmean(values) <= 0:
            return None
        return pstdev(values) / fmean(values)
