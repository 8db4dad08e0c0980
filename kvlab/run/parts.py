"""Where did a request's time go?

A request is always in one stage, and every change of stage books the time since the
last one, in whole nanoseconds. So the parts sum to its time by construction:

        arrival  queue   load    prefill   first token
           |------|-------|--------|         TTFT = queue + load + prefill + recompute
                                   |- decode -|  requeue  |- recompute -|- decode -|
                                            sent back   admitted again

SGLang sends back whoever has begun to answer, so its TTFT has no recompute; vLLM may
preempt a request before its first token, which then queues again and recomputes.
"""

from __future__ import annotations

from enum import StrEnum


class Part(StrEnum):
    """What a request does with its time."""

    QUEUE = "queue"
    LOAD = "load"
    PREFILL = "prefill"
    DECODE = "decode"
    REQUEUE = "requeue"
    RECOMPUTE = "recompute"


class Booked:
    """The time of one request, part by part.

    Units: nanoseconds; `spent` has an entry for each part, in their order, `ttft` is
    None before the first token.

    >>> request = Booked(arrival=5)
    >>> request.enter(Part.LOAD, 9); request.enter(Part.PREFILL, 10)
    >>> request.spent[Part.QUEUE], request.spent[Part.LOAD], request.part.value
    (4, 1, 'prefill')
    """

    def __init__(self, arrival: int) -> None:
        self.spent = _NOTHING.copy()
        self.ttft: int | None = None
        self.part = Part.QUEUE
        self._since = arrival

    def enter(self, part: Part, now: int) -> None:
        """Book the time since the last change, and begin `part`."""
        self.spent[self.part] += now - self._since
        self.part, self._since = part, now

    @property
    def waiting_part(self) -> Part:
        """What it is called when this request waits."""
        return Part.QUEUE if self.ttft is None else Part.REQUEUE


_NOTHING = dict.fromkeys(Part, 0)
