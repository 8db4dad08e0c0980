"""Which small runs does the course play?

One module a notebook: nb07 holds those of notebook 07, and names them in its
`SCENARIOS`. Each is a function that returns a `Story`: a run that tells one thing. Its
arguments are the knobs that the lesson turns. Modules are found, not listed: a new
notebook edits no file of another.
Left out: what is asked about them (exercises).
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

from ...record.trace import Trace


class Story(Protocol):
    """Anything with a recorded run: a `Workbench`, for one."""

    trace: Trace


def _found() -> dict[str, Callable[..., Story]]:
    found: dict[str, Callable[..., Story]] = {}
    for module in pkgutil.iter_modules(__path__):
        named = import_module(f".{module.name}", __name__).SCENARIOS
        assert not found.keys() & named.keys(), f"{module.name}: a name is taken"
        found |= named
    return found


SCENARIOS: dict[str, Callable[..., Story]] = _found()
"""The runs that the command line knows by name."""


def fork_of(scenario: Callable[..., Story]) -> Callable[..., Trace]:
    """Return what a player forks with: the scenario, told with other knobs."""

    def fork(**knobs: Any) -> Trace:
        return scenario(**knobs).trace

    return fork
