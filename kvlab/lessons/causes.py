"""Does a learner's function find the chain of causes of an event?

`judge` gives it the causes of all events of a run and asks for some of them.
Left out: which decisions a change carries out without being caused by them
(views/cards.py).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ..views.theme import Words
from .kinds import Flaw
from .scenarios.nb13 import RUNS, scene

TRIED = 12
"""Events of each run that are asked for, its outcome among them."""


def judge(function: Callable[..., Any], random: Random) -> Flaw | None:
    """Return where the function's chain is not the run's; None if nowhere found.

    Raises: what the function raises.
    """
    for name in RUNS:
        trace, outcome = scene(name)
        causes = [event.cause for event in trace.events]
        some = random.sample(range(len(trace)), TRIED - 1)
        for at in (outcome - 1, *some):
            wanted, given = trace.chain(at), function(list(causes), at)
            if not isinstance(given, list | tuple) or list(given) != wanted:
                return Flaw(Words(
                    f"at = {at}: the chain is {wanted}, yours {given!r:.60}.",
                    f"at = {at}：因果链是 {wanted}，你的是 {given!r:.60}。"),
                    trace, at + 1)  # fmt: skip
    return None
