"""What would a scrape of the engine read, every so many seconds?

A sample is the state between two turns of the engine's loop, as its own /metrics would
show it. Left out: names and text of an exposition.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from .engine import Engine
from .tallies import Tallies


class Sample(Struct, frozen=True, gc=False):
    """One reading. Units: `at` nanoseconds; sizes in tokens; counters from the start.

    `used` is what no eviction could free: total - available - evictable.
    """

    at: int
    running: int
    waiting: int
    available: int
    evictable: int
    used: int
    total: int
    host_used: int
    host_total: int
    retractions: int
    ratio: float

    @property
    def usage(self) -> float:
        """SGLang's token_usage: 0 to 1."""
        return self.used / self.total

    @property
    def host_fill(self) -> float:
        """The share of L2 that holds something: 0 to 1, 0 without L2."""
        return self.host_used / self.host_total if self.host_total else 0.0


class Samples:
    """Samples, one every `every` nanoseconds of an engine's clock.

    A jump may pass several moments: its state held at each of them.
    """

    def __init__(self, every: int) -> None:
        self.every = every
        self.samples: list[Sample] = []
        self.next = 0

    def note(self, now: int, sample: Sample) -> None:
        """Keep the sample, once for every moment passed. Changes: the samples."""
        while self.next <= now:
            self.samples.append(replace(sample, at=self.next))
            self.next += self.every


class Sampler(Samples):
    """Takes samples of an SGLang engine."""

    def look(self, now: int, engine: Engine, tallies: Tallies) -> None:
        """Note the state, once for every moment passed. Changes: the samples."""
        cache, scheduler = engine.cache, engine.scheduler
        total, host_total = cache.allocator.total, engine.host_total
        available, evictable = cache.allocator.available, cache.evictable_size
        sample = Sample(
            now, len(scheduler.running), len(scheduler.waiting),
            available, evictable, total - available - evictable, total,
            host_total - engine.host_available, host_total,
            tallies.retractions, scheduler.ratio,
        )  # fmt: skip
        self.note(now, sample)
