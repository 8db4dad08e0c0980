"""What do the engines that run on a virtual clock have in common?

The clock, the link beside it, and the loop around a turn:

        now <= arrivals and ends of copies are noted -> one turn of the engine
                                                     -> or nothing to do: the clock
                                                        goes to the next of them

Left out: what a turn is (timed_engine.py for SGLang, block_timed_engine.py for vLLM).
"""

from __future__ import annotations

import gc
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..record.events import Clock
from ..record.trace import Emitter
from .clocked_link import NEVER, ClockedLink
from .cost import NS, Cost
from .tallies import Tallies
from .workload import Ask, Workload


class ClockedEngine(ABC):
    """An engine whose time is what its steps cost.

    Units: `now` in femtoseconds; whatever leaves the engine is in nanoseconds.
    """

    def __init__(self, cost: Cost, emit: Emitter) -> None:
        self.cost = cost
        self.link = ClockedLink(cost.link_rate)
        self.tallies = Tallies()
        self._emit = emit
        self._num_gone = 0
        self._set(0)

    def run(
        self, workload: Workload, progress: Callable[[int], object] = lambda _: None
    ) -> None:
        """Serve the workload to its end. Changes: everything.

        `progress` is told how many more requests have left.
        Raises: EngineFault if requests wait that nothing could ever admit.
        """
        self._workload = workload
        goes_on = True
        with _uncollected():
            while goes_on:
                goes_on = self._turn()
                if self._num_gone:
                    progress(self._num_gone)
                    self._num_gone = 0

    @abstractmethod
    def _turn(self) -> bool:
        """Do what comes next; False if nothing ever will."""

    @abstractmethod
    def _arrive(self, ask: Ask) -> None:
        """Let a request join the queue, or refuse at once what could never run."""

    @abstractmethod
    def _check_nobody_waits(self) -> None:
        """Raises: EngineFault if somebody waits though nothing will ever change."""

    def _set(self, now: int) -> None:
        """Move the clock. It never goes back."""
        self.now = self.link.now = now

    @property
    def _now_ns(self) -> int:
        return self.now // NS

    @property
    def _next_moment(self) -> int:
        """When the next request arrives or the next copy is done, or NEVER."""
        return min(self._workload.next_arrival * NS, self.link.next_done)

    def _take_arrivals(self) -> None:
        while self._workload.next_arrival * NS <= self.now:
            self._arrive(self._workload.take())

    def _gone(self, id: str) -> None:
        """A request has left: whoever waits for that may send the next one."""
        self._num_gone += 1
        self._workload.left(id, self._now_ns)

    def _wait(self) -> bool:
        """Let the clock go to the next arrival or end of a copy; False if none is."""
        moment = self._next_moment
        if moment >= NEVER:
            self._check_nobody_waits()
            return False
        self._set(max(moment, self.now))
        self._emit(Clock, self._now_ns)
        return True


@contextmanager
def _uncollected() -> Iterator[None]:
    """Let Python look for no reference cycles meanwhile: whatever an engine drops is in
    none, and the search goes through all that it keeps."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
