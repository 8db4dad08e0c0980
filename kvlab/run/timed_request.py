"""How long is a request on a clock, when nobody counts its tokens?

While it decodes, its lengths are not stored: they are the batch's step counter plus an
offset, so that a jump over many steps touches no request.
Left out: where its time goes (parts.py).
"""

from __future__ import annotations

from ..config import MAX_TOKENS
from ..record.events import Tokens
from ..schedule.request import Request
from .parts import Booked
from .workload import life_of


class Steps:
    """How many decode steps an engine has made: the counter that requests hang on."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class TimedRequest(Request, Booked):
    """A request with an arrival, whose outputs are counted and not kept.

    Units: `arrival` and the parts of `spent` in nanoseconds, tokens otherwise. Its
    outputs all are the token `filler`, which no other request has, so that two requests
    share no more than their prompts do.

    >>> from kvlab.cache.key import as_tokens
    >>> steps = Steps()
    >>> request = TimedRequest("a", as_tokens([1, 2]), 9, 0, steps)
    >>> request.append(0); request.kv_len = 2
    >>> request.join(seat=0); steps.count += 4
    >>> request.num_outputs, request.kv_len
    (5, 6)
    """

    def __init__(
        self,
        id: str,
        prompt: Tokens,
        max_new: int,
        arrival: int,
        steps: Steps,
        filler: int = MAX_TOKENS,
        life: Tokens | None = None,
    ) -> None:
        self._steps = steps
        self._output_base = self._kv_base = 0
        self.seat: int | None = None
        self._life = life_of(prompt, max_new, filler) if life is None else life
        super().__init__(id, self._life[: len(prompt)], max_new)
        Booked.__init__(self, arrival)
        self.arrival = arrival
        self.filler = filler
        self.num_retracted = 0
        self.was_admitted = False

    @property
    def num_outputs(self) -> int:
        """Tokens produced."""
        return self._output_base + (0 if self.seat is None else self._steps.count)

    def append(self, token: int) -> None:
        """Count one more output. Changes: `num_outputs`."""
        self._output_base += 1

    @property
    def kv_len(self) -> int:
        """Tokens that have KV."""
        return self._kv_base + (0 if self.seat is None else self._steps.count)

    @kv_len.setter
    def kv_len(self, length: int) -> None:
        self._kv_base = length - (0 if self.seat is None else self._steps.count)

    @property
    def remaining(self) -> int:
        """Tokens that it will still produce."""
        return self.max_new - self.num_outputs

    def join(self, seat: int) -> None:
        """From now on every step of the batch is one of this request's."""
        self.seat = seat
        self._output_base -= self._steps.count
        self._kv_base -= self._steps.count

    def leave(self) -> None:
        """The lengths stand still again."""
        self._output_base += self._steps.count
        self._kv_base += self._steps.count
        self.seat = None

    def tokens(self, length: int) -> Tokens:
        """Return the first `length` tokens of prompt + outputs; no copy."""
        return self._life[:length]
