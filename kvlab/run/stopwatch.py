"""How fast was a replay, its own work alone?

The watch runs while the engine works, and stands while token arrays are made.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from typing import TypeVar

BATCH = 128
"""Requests whose token arrays exist before they are served."""

T = TypeVar("T")


class Stopwatch:
    """Wall and CPU seconds of the engine's own work, final once the watch is paused.

    >>> watch = Stopwatch()
    >>> watch.pause(); watch.wall >= 0
    True
    """

    def __init__(self) -> None:
        self.wall = -time.perf_counter()
        self.cpu = -time.process_time()

    def pause(self) -> None:
        """From now on time does not count. Changes: `wall` and `cpu` are final."""
        self.wall += time.perf_counter()
        self.cpu += time.process_time()

    def resume(self) -> None:
        """From now on time counts again."""
        self.wall -= time.perf_counter()
        self.cpu -= time.process_time()

    def batches(self, made: Iterator[T]) -> Iterator[list[T]]:
        """Yield the same in batches, each made while the watch is stopped."""
        while True:
            self.pause()
            batch = list(islice(made, BATCH))
            self.resume()
            if not batch:
                return
            yield batch

    def speed(self, requests: int) -> dict[str, float | None]:
        """Return the figures of so many requests, under their public names."""
        return {
            "wall_s": self.wall,
            "cpu_s": self.cpu,
            "requests_per_s": requests / self.wall if self.wall else None,
            "requests_per_cpu_s": requests / self.cpu if self.cpu else None,
        }
