"""How long do the copies of a scripted vLLM engine take?

Each a fixed number of steps; what is done is told in sorted order, at the end of a
step. Left out: time (clocked_link.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..blocks.connector import Copies


@dataclass
class Worker:
    """The copies under way, each with the step that ends it."""

    load_latency: int
    store_latency: int
    loads: dict[str, int] = field(default_factory=dict)
    stores: dict[int, int] = field(default_factory=dict)

    def submit(self, copies: Copies, step: int) -> None:
        """Begin the copies of a step; a flush ends all that is under way with it."""
        self.loads |= dict.fromkeys(copies.loads, step + self.load_latency)
        self.stores |= dict.fromkeys(copies.stores, step + self.store_latency)
        if copies.flush:
            self.loads = dict.fromkeys(self.loads, step)
        flushed = self.stores if copies.flush else copies.flushed
        self.stores |= dict.fromkeys(flushed, step)

    def done(self, step: int) -> tuple[list[str], list[int]]:
        """Return what is done by the end of the step, and forget it."""
        loads = sorted(id for id, end in self.loads.items() if end <= step)
        stores = sorted(job for job, end in self.stores.items() if end <= step)
        for id in loads:
            del self.loads[id]
        for job in stores:
            del self.stores[job]
        return loads, stores
