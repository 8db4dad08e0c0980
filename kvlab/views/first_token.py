"""How long did a request wait for its first token, and for what?

Only of runs with a clock: from the moment it was sent until its first prefill began,
while prefill stood for KV on its way, and the rest, in which it was computed.
Left out: decode (the account of time is drawn by time_axis.py).
"""

from __future__ import annotations

from typing import NamedTuple

from ..record import events as ev
from ..record.events import Event


class Parts(NamedTuple):
    """Nanoseconds; together the time to the first token."""

    waiting: int
    loading: int
    computing: int


class FirstTokens:
    """Follows a run event by event; `parts` of each request that has its first token.

    >>> run = FirstTokens()
    >>> for event in (ev.Sent(-1, "r", 5), ev.Start(-1, "r", 8, False),
    ...               ev.Forward(-1, 25, 3, 7), ev.Output(-1, "r", 0)):
    ...     run.feed(event)
    >>> run.parts["r"]
    Parts(waiting=20, loading=3, computing=7)
    """

    def __init__(self) -> None:
        self.parts: dict[str, Parts] = {}
        self._sent: dict[str, int] = {}
        self._began: dict[str, int] = {}
        self._loads: dict[str, int] = {}
        self._round: list[str] = []
        self._now = 0

    def feed(self, event: Event) -> None:
        """Take the run's next event. Cost: O(requests of the round)."""
        match event:
            case ev.Sent():
                self._sent[event.request] = event.at
            case ev.Start() if event.request in self._sent:
                self._round.append(event.request)
            case ev.Forward():
                self._forward(event)
            case ev.Output() if event.request in self._began:
                self._first(event.request)

    def _forward(self, event: ev.Forward) -> None:
        for request in self._round:
            self._began.setdefault(request, event.begin)
            self._loads[request] = self._loads.get(request, 0) + event.load
        self._round = []
        self._now = event.begin + event.load + event.compute

    def _first(self, request: str) -> None:
        sent, began = self._sent.pop(request), self._began.pop(request)
        load = self._loads.pop(request)
        self.parts[request] = Parts(began - sent, load, self._now - began - load)
