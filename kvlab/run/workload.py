"""Who asks for what, and when?

A workload gives an engine its requests in order of arrival and is told when they leave:
an open loop does not care, a closed loop sends the next one then.
Left out: how requests are made up (generators.py) or read (record/request_trace.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import chain
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

    >>> loop = ClosedLoop([iter([(5, Ask("a", 0, (), 1)), (2, Ask("b", 0, (), 1))])])
    >>> loop.take().at, loop.next_arrival == NEVER
    (5, True)
    >>> loop.left("a", 90); loop.take().at
    92
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


class TurnLoop:
    """A trace's requests, some of which are sent when the turn before has left.

    `ask` makes the request of that number, arriving at so many nanoseconds. Units: a
    trace's timestamps are milliseconds.

    >>> turns = [TracedRequest(0, 1, 1, (0,)), TracedRequest(2, 1, 1, (0,), after=0)]
    >>> loop = TurnLoop(turns, lambda number, at: Ask(f"r{number}", at, (), 1))
    >>> loop.take().id, loop.next_arrival == NEVER
    ('r0', True)
    >>> loop.left("r0", 5_000_000); loop.next_arrival
    7000000
    """

    def __init__(
        self, requests: Sequence[TracedRequest], ask: Callable[[int, int], Ask]
    ) -> None:
        self._requests = requests
        self._ask = ask
        self._later: dict[int, list[int]] = {}
        self._heap: list[tuple[int, int]] = []
        for number, request in enumerate(requests):
            if request.after is None:
                heappush(self._heap, (_ns(request), number))
            else:
                self._later.setdefault(request.after, []).append(number)

    @property
    def next_arrival(self) -> int:
        """When the next request arrives, in nanoseconds; NEVER, if none is known to."""
        return self._heap[0][0] if self._heap else NEVER

    def take(self) -> Ask:
        """Take the next request out. Changes: what comes next."""
        at, number = heappop(self._heap)
        return self._ask(number, at)

    def left(self, id: str, now: int) -> None:
        """Let the turns that wait for it arrive. Changes: what comes next."""
        for number in self._later.pop(int(id[1:]), ()):
            heappush(self._heap, (now + _ns(self._requests[number]), number))


class TraceAsks:
    """Makes a trace's requests into what an engine is asked.

    Without `outputs` every request asks for one token; with `unit` each hash id is one
    token. Outputs beyond `most` tokens, prompt included, are not made, and neither is a
    prompt that is longer: its tokens are one number, enough to say how long it is.
    """

    def __init__(
        self,
        requests: Sequence[TracedRequest],
        *,
        unit: bool = False,
        outputs: bool = True,
        most: int = MAX_TOKENS,
    ) -> None:
        self.requests = requests
        self._next_turn = {
            request.after: number
            for number, request in enumerate(requests)
            if request.after is not None
        }
        self.has_turns = bool(self._next_turn)
        self._make = unit_tokens_of if unit else tokens_of
        self._unit, self._outputs, self._most = unit, outputs, most

    def in_order(self) -> Iterator[Ask]:
        """Yield them by arrival, made when they are asked for."""
        requests = self.requests
        order = sorted(range(len(requests)), key=lambda i: requests[i].timestamp)
        return (self.ask(number, _ns(requests[number])) for number in order)

    def of_users(self, users: int) -> ClosedLoop:
        """Return them as a closed loop of so many users: each takes the next session,
        by first arrival, sends its turns one after the other, and then takes another.
        """
        firsts = [i for i, request in enumerate(self.requests) if request.after is None]
        firsts.sort(key=lambda i: self.requests[i].timestamp)
        sessions = map(self._turns, firsts)
        crew = min(users, len(firsts))
        return ClosedLoop(chain.from_iterable(sessions) for _ in range(crew))

    def _turns(self, first: int) -> Iterator[tuple[int, Ask]]:
        """Yield a session's turns, each with what it waits for after the one before."""
        number: int | None = first
        wait = 0
        while number is not None:
            yield wait, self.ask(number, 0)
            number = self._next_turn.get(number)
            wait = 0 if number is None else _ns(self.requests[number])

    def ask(self, number: int, at: int) -> Ask:
        """Return the request of that number, arriving at so many nanoseconds."""
        request, filler = self.requests[number], MAX_TOKENS - number
        length = len(request.hash_ids) if self._unit else request.input_length
        max_new = max(1, request.output_length) if self._outputs else 1
        if length > self._most:
            tokens: Tokens = np.broadcast_to(np.int32(filler), (length,))
            return Ask(f"r{number}", at, tokens, max_new, filler, tokens)
        made = min(max_new, max(1, self._most - length))
        life = life_of(self._make(request), made, filler)
        return Ask(f"r{number}", at, life[:length], max_new, filler, life)


def _ns(request: TracedRequest) -> int:
    return round(request.timestamp * 1e6)
