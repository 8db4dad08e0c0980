"""How far can a decode batch run before anything changes?

Every running request makes one token a step, so whatever will happen to it can be told
in steps of the batch: it begins a page at one step, and finishes after another. Heaps
keep these moments, and sums are kept, not counted. So a jump over k steps costs the
pages that are begun on the way, whatever k is and however many run.
Left out: who evicts and what a step takes (timed_engine.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from .timed_request import Steps, TimedRequest

Moment = tuple[int, int, TimedRequest]
"""(step, seat, request): stale once the request has left the seat."""


class DecodeBatch:
    """The running requests as a jump sees them: `size` of them hold `kv_tokens`.

    `clip` bounds what each counts for in `still`.

    >>> from kvlab.cache.key import as_tokens
    >>> batch = DecodeBatch(page_size=4, clip=4096)
    >>> request = TimedRequest("a", as_tokens([1] * 6), 9, 0, batch.steps)
    >>> request.kv_len = 6
    >>> batch.join(request)
    >>> steps, begun = batch.advance(limit=5, free=9, floor=0)
    >>> steps, [r.id for r in begun], request.kv_len, batch.still
    (5, ['a'], 11, 4)
    """

    def __init__(self, page_size: int, clip: int) -> None:
        self.steps = Steps()
        self.size = self.kv_tokens = 0
        self._page = page_size
        self._clip = clip
        self._seats = 0
        self._finishes: list[Moment] = []
        self._begins: list[Moment] = []
        self._clipped: list[Moment] = []
        self._num_clipped = self._num_close = self._close_ends = 0

    def join(self, request: TimedRequest) -> None:
        """Seat a request behind all others. Changes: the batch, how it counts."""
        now, self._seats = self.steps.count, self._seats + 1
        seat, end = self._seats, now + request.remaining
        self.size += 1
        self.kv_tokens += request.kv_len
        heappush(self._finishes, (end, seat, request))
        heappush(self._begins, (now + -request.kv_len % self._page, seat, request))
        if request.remaining > self._clip:
            self._num_clipped += 1
            heappush(self._clipped, (end - self._clip, seat, request))
        else:
            self._num_close += 1
            self._close_ends += end
        request.join(seat)

    def leave(self, request: TimedRequest) -> None:
        """Take a request out. Changes: the batch, how it counts."""
        self._settle()
        self.size -= 1
        self.kv_tokens -= request.kv_len
        if request.remaining > self._clip:
            self._num_clipped -= 1
        else:
            self._num_close -= 1
            self._close_ends -= self.steps.count + request.remaining
        request.leave()

    def reseat(self, order: Iterable[TimedRequest]) -> None:
        """Seat the requests anew, in this order. Cost: O(size log size)."""
        for request in order:
            self.leave(request)
            self.join(request)

    # --- the moments ahead

    @property
    def still(self) -> int:
        """Tokens that the running requests may still produce, each clipped."""
        self._settle()
        close = self._close_ends - self._num_close * self.steps.count
        return close + self._num_clipped * self._clip

    def _settle(self) -> None:
        """Those that have come down to the clip count by their end from now on."""
        heap = self._clipped
        while _live(heap) and heap[0][0] <= self.steps.count:
            _, _, request = heappop(heap)
            self._num_clipped -= 1
            self._num_close += 1
            self._close_ends += self.steps.count + request.remaining

    def num_beginning(self) -> int:
        """Return how many requests begin a page at the next step."""
        if not _live(self._begins):
            return 0
        group = self._take_group(self.steps.count)
        self._push_group(self.steps.count, group)
        return len(group)

    def steps_to_finish(self) -> int:
        """Return the steps until the first request is done."""
        _live(self._finishes)
        return self._finishes[0][0] - self.steps.count

    def take_finished(self) -> list[TimedRequest]:
        """Return those that are done by now, in order of their seats; each once."""
        done = []
        while _live(self._finishes) and self._finishes[0][0] <= self.steps.count:
            done.append(heappop(self._finishes)[2])
        return done

    def advance(
        self, limit: int, free: int, floor: int
    ) -> tuple[int, list[TimedRequest]]:
        """Run up to `limit` steps while `free` pages do; return the steps made, and
        whose pages were begun, in order of steps and seats.

        Before each step at least `floor` pages must be free, and those that it begins.
        Changes: the step counter, and so all lengths. Cost: O(log size) a page begun.
        """
        begun: list[TimedRequest] = []
        start = self.steps.count
        end = start + limit if free >= floor else start
        while _live(self._begins) and self._begins[0][0] < end:
            at = self._begins[0][0]
            group = self._take_group(at)
            if len(group) > free - len(begun):
                end = at
                self._push_group(at, group)
                break
            begun += [request for _, request in group]
            self._push_group(at + self._page, group)
            if free - len(begun) < floor:
                end = at + 1
        self.steps.count = end
        self.kv_tokens += (end - start) * self.size
        return end - start, begun

    def _take_group(self, at: int) -> list[tuple[int, TimedRequest]]:
        """Take out all that begin a page at the step, in order of their seats."""
        group = []
        while _live(self._begins) and self._begins[0][0] == at:
            _, seat, request = heappop(self._begins)
            group.append((seat, request))
        return group

    def _push_group(self, at: int, group: list[tuple[int, TimedRequest]]) -> None:
        for seat, request in group:
            heappush(self._begins, (at, seat, request))


def _live(heap: list[Moment]) -> bool:
    """Drop stale moments from the head; return whether one is left."""
    while heap and heap[0][2].seat != heap[0][1]:
        heappop(heap)
    return bool(heap)
