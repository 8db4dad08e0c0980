"""What is the state of a CPU pool of chunks after an event?

Part of a `BlockState`, rebuilt from changes alone: how each chunk is held, and in which
order of the replacement policy it stands. Keys are names or numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from . import block_events as ev

Key = int | str
PLACES = ("t1", "t2", "b1", "b2")


@dataclass(slots=True)
class ChunkState:
    """The chunks of a pool.

    `refs`: -1 while a store is pending, else how often it is being read. `orders`: t1
    and t2 hold what is here, first to go first, b1 and b2 keys that went lately.
    """

    refs: dict[Key, int] = field(default_factory=dict)
    orders: dict[str, dict[Key, None]] = field(
        default_factory=lambda: {place: {} for place in PLACES}
    )
    target_t1: float = 0.0

    def copy(self) -> ChunkState:
        """Return an independent state. Cost: O(chunks)."""
        orders = {place: dict(order) for place, order in self.orders.items()}
        return ChunkState(dict(self.refs), orders, self.target_t1)

    def hold(self, e: ev.ChunkHold) -> None:
        """Note how the chunks are held; None: they are gone."""
        for key in e.keys:
            if e.ref is None:
                del self.refs[key]
            else:
                self.refs[key] = e.ref

    def move(self, e: ev.ChunkMove) -> None:
        """Put the keys, one after the other, last in an order, or in none."""
        for key in e.keys:
            for order in self.orders.values():
                order.pop(key, None)
            if e.place:
                self.orders[e.place][key] = None

    def aim(self, e: ev.ChunkAim) -> None:
        """Note the size that t1 is to have."""
        self.target_t1 = e.target_t1
