"""What does a run on a clock come to, request by request and in sums?

Kept as the run goes, so that a run without a trace can say it; a trace says the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ..schedule.request import Request
from .parts import Part
from .timed_request import TimedRequest


class Record(Struct, frozen=True, gc=False):
    """One request that left.

    Units: nanoseconds; `spent` has one entry for each of `Part`, in their order, and
    sums to `end - arrival`; queue, load and prefill sum to `ttft` (None: none came),
    with what was recomputed by then, if vLLM preempted it before its first token.
    """

    id: str
    arrival: int
    end: int
    ttft: int | None
    spent: tuple[int, ...]
    prompt_len: int
    outputs: int
    retracted: int
    aborted: bool

    def part(self, part: Part) -> int:
        """Return the nanoseconds spent on a part."""
        return self.spent[_ORDER[part]]


_ORDER = {part: index for index, part in enumerate(Part)}


class Refused(Struct, frozen=True, gc=False):
    """One request that could never run: it needs `need` tokens of `total`."""

    id: str
    need: int
    total: int


class Tallies:
    """The sums of a run. Units: tokens, requests."""

    def __init__(self) -> None:
        self.done: list[Record] = []
        self.refused: list[Refused] = []
        self.turned_away = 0
        self.input_tokens = 0
        self.device_hit_tokens = self.host_hit_tokens = self.computed_tokens = 0
        self.recomputed_tokens = 0
        self.retractions = self.decode_steps = self.jumps = self.prefills = 0
        self.peak_running = self.peak_waiting = 0

    @property
    def left(self) -> int:
        """Requests that left, one way or another."""
        return len(self.done) + len(self.refused) + self.turned_away

    def arrived(self, waiting: int) -> None:
        """Somebody joined the queue of now `waiting`."""
        self.peak_waiting = max(self.peak_waiting, waiting)

    def refuse(self, request: TimedRequest, need: int, total: int) -> None:
        """A request larger than the pool was turned away."""
        self.refused.append(Refused(request.id, need, total))
        self.input_tokens += len(request.prompt)

    def turn_away(self, request: TimedRequest) -> None:
        """A request came to a full queue."""
        self.turned_away += 1
        self.input_tokens += len(request.prompt)

    def prefilled(
        self, batch: Iterable[TimedRequest], running: int, chunked: Request | None
    ) -> None:
        """A prefill was placed beside `running` others."""
        self.prefills += 1
        for request in batch:
            running += request is not chunked
            self.computed_tokens += request.extend_len
            if not request.was_admitted:
                request.was_admitted = True
                self.device_hit_tokens += request.device_hit
                self.host_hit_tokens += request.host_hit
            elif request.ttft is not None:
                self.recomputed_tokens += request.extend_len
        self.peak_running = max(self.peak_running, running)

    def decoded(self, steps: int) -> None:
        """A batch made steps."""
        self.jumps += 1
        self.decode_steps += steps

    def retracted(self, requests: Sequence[TimedRequest], waiting: int) -> None:
        """Running requests were sent back to the queue of now `waiting`."""
        self.retractions += len(requests)
        for request in requests:
            request.num_retracted += 1
        self.peak_waiting = max(self.peak_waiting, waiting)

    def leave(self, request: TimedRequest, now: int, *, aborted: bool) -> None:
        """A request is done, or gone."""
        self.input_tokens += len(request.prompt)
        self.done.append(
            Record(
                request.id, request.arrival, now, request.ttft,
                tuple(request.spent.values()), len(request.prompt),
                request.num_outputs, request.num_retracted, aborted,
            )
        )  # fmt: skip


def percentile(sorted_values: Sequence[int], share: float) -> float:
    """Return the value below which `share` of them lie, between neighbours linearly.

    >>> percentile([10, 20, 30], 0.5), percentile([10, 20], 0.75)
    (20.0, 17.5)
    """
    at = share * (len(sorted_values) - 1)
    low = int(at)
    high = min(low + 1, len(sorted_values) - 1)
    return sorted_values[low] + (at - low) * (sorted_values[high] - sorted_values[low])


def seconds(values: Iterable[int]) -> dict[str, float] | None:
    """Return mean, p50, p90 and p99 of nanoseconds, in seconds; None of nothing."""
    ordered = sorted(values)
    if not ordered:
        return None
    found = {"mean": sum(ordered) / len(ordered) / 1e9}
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        found[name] = percentile(ordered, share) / 1e9
    return found
