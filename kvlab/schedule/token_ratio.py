"""How much of what running requests may still write is set aside for them?

new_token_ratio times the tokens that each may still produce. It starts high, decays
with every decode round without retraction, and is estimated anew after one.
Source: SGLang 0.5.14, managers/scheduler_components/new_token_ratio_tracker.py; its
numbers are in environ.py.
"""

from __future__ import annotations

from collections.abc import Iterable

RETRACT_DECODE_STEPS = 20
"""Steps that a retraction plans ahead for each survivor."""


def estimate(survivors: Iterable[tuple[int, int]]) -> float:
    """Return the ratio after a retraction, from (outputs, max_new) of the survivors.

    It may rise or fall.

    >>> estimate([(7, 14), (6, 12)])
    1.0
    >>> estimate([(50, 400)])
    0.1745635910224439
    """
    pairs = list(survivors)
    decoded = sum(outputs for outputs, _ in pairs)
    allowed = sum(max_new for _, max_new in pairs)
    return min(1.0, (decoded + RETRACT_DECODE_STEPS * len(pairs)) / (allowed + 1))


class NewTokenRatio:
    """The ratio of a scheduler that runs for a while.

    Rounds are counted, not subtracted one by one, so many at once are exact.

    >>> ratio = NewTokenRatio()
    >>> round(ratio.value, 3)
    0.7
    >>> ratio.decay(600); round(ratio.value, 3)
    0.098
    """

    def __init__(self, conservativeness: float = 1.0) -> None:
        self.initial = min(0.7 * conservativeness, 1.0)
        self.least = self.initial * 0.14
        self.step = (self.initial - self.least) / 600
        self._start = self.initial
        self._rounds = 0

    @property
    def value(self) -> float:
        """The ratio now, 0 to 1. An estimate below `least` holds until it decays."""
        if self._rounds == 0:
            return self._start
        return max(self._start - self._rounds * self.step, self.least)

    def decay(self, rounds: int = 1) -> None:
        """Decode rounds passed without retraction. Changes: the ratio falls."""
        self._rounds += rounds

    def restart(self, value: float) -> None:
        """A retraction estimated the ratio anew: it falls from `value` from now on."""
        self._start, self._rounds = value, 0

    def reset(self) -> None:
        """The engine is idle: back to the start."""
        self.restart(self.initial)
