"""What would the engine's own gauges and counters have read?

A meter folds a recorded run and keeps, beside the state, what SGLang counts: tokens
computed, cached, evicted, loaded, retracted, and the time to each first token. It reads
the trace alone, so any recorded run on a clock has its metrics and its log.
Left out: how they are written down (scrapes.py, engine_log.py).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from itertools import accumulate
from typing import Any, NamedTuple

from ..record import events as ev
from ..record.events import Event
from ..record.snapshot import State
from ..record.trace import Header
from ..schedule.token_ratio import NewTokenRatio

TTFT_BUCKETS = (
    0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400,
)  # fmt: skip
"""Seconds. Source: SGLang 0.5.14, observability/metrics_collector.py."""


class Histogram:
    """Counts by upper bound, as Prometheus keeps them.

    >>> histogram = Histogram((1, 2))
    >>> for value in (0.5, 1.5, 9): histogram.add(value)
    >>> histogram.cumulative(), histogram.total
    ([1, 2, 3], 11.0)
    """

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.total = 0.0
        self._counts = [0] * (len(bounds) + 1)

    def add(self, value: float) -> None:
        """Count a value. Changes: the histogram."""
        self._counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def cumulative(self) -> list[int]:
        """Return how many lie at or below each bound, and how many there are."""
        return [*accumulate(self._counts)]


class Placed(NamedTuple):
    """A request in a prefill: tokens that it computes, tokens found in the cache."""

    request: str
    new: int
    cached: int


class Meter:
    """The state of a run after some event, and the counts up to it.

    `batch` is the prefill that is being put together.
    Units: tokens in `counts`; `now` in nanoseconds.
    """

    def __init__(self, header: Header) -> None:
        self.header = header
        self.state = State.start(header.config)
        self.counts: Counter[str] = Counter()
        self.ttft = Histogram(TTFT_BUCKETS)
        self.ratio = NewTokenRatio()
        self.hit_rate = 0.0
        self.batch: list[Placed] = []
        self._retracting = False

    @property
    def now(self) -> int:
        """What the run's clock reads, in nanoseconds."""
        return self.state.now

    @property
    def used(self) -> int:
        """Tokens that nothing could free: total - available - evictable."""
        account = self.state.account()
        return account.total - account.available - account.evictable

    @property
    def usage(self) -> float:
        """SGLang's token_usage, 0 to 1."""
        return self.used / self.state.account().total

    def take(self, event: Event) -> None:
        """Move on over one event. Changes: the state, the counts.

        Raises: ValueError or KeyError as `State.apply`.
        """
        count = _COUNTS.get(type(event))
        if count is not None:
            count(self, event)
        self.state.apply(event)

    # --- one event each, before the state moves

    def _prefill(self, e: ev.Prefill) -> None:
        """A chunked request that goes on brings nothing from the cache."""
        request = self.state.requests[e.request]
        fresh = request.stage == "waiting"
        cached = e.device_hit + e.loaded if fresh else 0
        self.batch.append(Placed(e.request, e.extend, cached))
        self.counts["computed"] += e.extend
        self.counts["cached"] += cached
        if fresh and not request.outputs:
            self.counts["prompt"] += request.prompt_len

    def _output(self, e: ev.Output) -> None:
        request = self.state.requests[e.request]
        self.counts["generated"] += 1
        if request.outputs == 0:
            self.ttft.add((self.now - request.sent) / 1e9)

    def _decode(self, e: ev.Decode) -> None:
        self.counts["generated"] += e.steps * len(self.state.running)
        self.counts["steps"] += e.steps
        self.ratio.decay(e.steps - self._retracting)
        self._retracting = False

    def _retract(self, e: ev.Retract) -> None:
        request = self.state.requests[e.request]
        self.counts["retracted"] += 1
        self.counts["retracted_in"] += request.prompt_len
        self.counts["retracted_out"] += request.outputs

    def _estimate(self, e: ev.Ratio) -> None:
        self.ratio.restart(e.after)
        self._retracting = True

    def _clock(self, e: ev.Clock) -> None:
        self.ratio.reset()

    def _leave_device(self, e: ev.Demote | ev.Delete) -> None:
        self.counts["evicted"] += len(self.state.node(e.node).tokens)

    def _backup(self, e: ev.Backup) -> None:
        self.counts["backed_up"] += len(e.pages) * self.header.config.page_size

    def _load(self, e: ev.Load) -> None:
        self.counts["loaded"] += len(e.pages) * self.header.config.page_size

    def _forward(self, e: ev.Forward) -> None:
        new = sum(placed.new for placed in self.batch)
        cached = sum(placed.cached for placed in self.batch)
        self.hit_rate = cached / max(1, cached + new)
        self.batch = []

    def _finish(self, e: ev.Finish) -> None:
        self.counts["finished"] += 1


_COUNTS: dict[type[Event], Callable[[Meter, Any], None]] = {
    ev.Prefill: Meter._prefill,
    ev.Output: Meter._output,
    ev.Decode: Meter._decode,
    ev.Retract: Meter._retract,
    ev.Ratio: Meter._estimate,
    ev.Clock: Meter._clock,
    ev.Demote: Meter._leave_device,
    ev.Delete: Meter._leave_device,
    ev.Backup: Meter._backup,
    ev.Load: Meter._load,
    ev.Forward: Meter._forward,
    ev.Finish: Meter._finish,
}


def time_after(event: Event) -> int | None:
    """Return what the clock reads after the event, None if it does not move it."""
    if isinstance(event, ev.Forward):
        return event.begin + event.load + event.compute
    return event.now if isinstance(event, ev.Decode | ev.Clock) else None
