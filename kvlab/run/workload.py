"""Who asks for what, and when?

A workload gives an engine its requests in order of arrival and is told when they leave:
an open loop does not care, a closed loop sends the next one then.
Left out: how requests are made up (generators.py) or read (record/request_trace.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Protocol

import numpy as np
from msgspec import Struct

from ..config import MAX_TOKENS
from ..record.events import Tokens
from ..record.request_trace import TracedRequest, tokens_of, unit_tokens_of
from .clocked_link import NEVER


class Ask(Struct, frozen=True, gc=False):
    """One request as its sender sees it.

    Units: `at` nanoseconds; tokens. `filler` stands for each of its outputs. `life` is
    the prompt with the outputs behind it, for a sender that has it at hand.
    """

    id: str
    at: int
    tokens: Tokens
    max_new: int
    filler: int = MAX_TOKENS
    life: Tokens | None = None


def life_of(prompt: Tokens, max_new: int, filler: int) -> Tokens:
    """Return the prompt with `max_new` outputs behind it, all of them `filler`."""
    life = np.concatenate((prompt, np.full(max_new, filler, np.int32)))
    life.flags.writeable = False
    return life


class Workload(Protocol):
    """What an engine on a clock takes its requests from."""

    @property
    def next_arrival(self) -> int:
        """When the next request arrives, in nanoseconds; NEVER, if none will."""

    def take(self) -> Ask:
        """Take the next request out."""

    def left(self, id: str, now: int) -> None:
        """The request is done, dropped or refused."""


class OpenLoop:
    """Requests that arrive whatever becomes of the others, sorted by arrival.

    >>> loop = OpenLoop([Ask("a", 5, (), 1), Ask("b", 9, (), 1)])
    >>> loop.next_arrival, loop.take().id, loop.next_arrival
    (5, 'a', 9)
    """

    def __init__(self, asks: Iterable[Ask]) -> None:
        self._asks: Iterator[Ask] = iter(asks)
        self._next = next(self._asks, None)

    @property
    def next_arrival(self) -> int:
        """When the next request arrives, in nanoseconds; NEVER, if none will."""
        return NEVER if self._next is None else self._next.at

    def take(self) -> Ask:
        """Take the next request out. Changes: what comes next."""
        taken = self._next
        assert taken is not None, "nobody is left to arrive"
        self._next = next(self._asks, None)
        assert self._next is None or self._next.at >= taken.at, "arrivals go back"
        return taken

    def left(self, id: str, now: int) -> None:
        """An open loop does not care."""


class ClosedLoop:
    """Sessions, each of which sends its next request after the last one left.

    A session yields (wait, ask): nanoseconds after the last one left, or after the
    start for the first, and the request, whose `at` is then set.
    """

    def __init__(self, sessions: Iterable[Iterator[tuple[int, Ask]]]) -> None:
        self._heap: list[tuple[int, int, Ask]] = []
        self._sessions: dict[str, tuple[int, Iterator[tuple[int, Ask]]]] = {}
        for number, session in enumerate(sessions):
            self._send(number, session, 0)

    def _send(self, number: int, session: Iterator[tuple[int, Ask]], now: int) -> None:
        for wait, ask in session:
            self._sessions[ask.id] = (number, session)
            heappush(self._heap, (now + wait, number, ask))
            return

    @property
    def next_arrival(self) -> int:
        """When the next request arrives, in nanoseconds; NEVER, if none will."""
        return self._heap[0][0] if self._heap else NEVER

    def take(self) -> Ask:
        """Take the next request out. Changes: what comes next."""
        at, _, ask = heappop(self._heap)
        return Ask(ask.id, at, ask.tokens, ask.max_new, ask.filler, ask.life)

    def left(self, id: str, now: int) -> None:
        """Let its session go on. Changes: what comes next."""
        number, session = self._sessions.pop(id)
        self._send(number, session, now)


def asks_of(
    requests: Sequence[TracedRequest], *, unit: bool = False, outputs: bool = True
) -> Iterator[Ask]:
    """Yield a trace's requests, at its times, made when they are asked for.

    Without `outputs` every request asks for one token; with `unit` each hash id is one
    token. Units: a trace's timestamps are milliseconds.
    """
    make = unit_tokens_of if unit else tokens_of
    order = sorted(range(len(requests)), key=lambda i: requests[i].timestamp)
    for number in order:
        request = requests[number]
        prompt, filler = make(request), MAX_TOKENS - number
        max_new = max(1, request.output_length) if outputs else 1
        life = life_of(prompt, max_new, filler)
        at = round(request.timestamp * 1e6)
        yield Ask(f"r{number}", at, life[: len(prompt)], max_new, filler, life)
