"""Which small runs does the course play?

One module a notebook: nb07 holds those of notebook 07, and names them in its
`SCENARIOS`. Each is a function that returns a `Workbench` with a run that tells one
thing; its arguments are the knobs that the lesson turns. A run of vLLM or on a clock is
a function of its module too, but not named in `SCENARIOS`, which the command line
plays. `PICTURES` are (file, scenario, op, view, nth): the view right before the op
begins, for the first or the nth time; `BLOCK_PICTURES` (file, run, step, view): right
before that step of a run of vLLM. Modules are found, not listed: a new notebook
edits no file of another.
Left out: what is asked about them (exercises).
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol

from msgspec.structs import replace

from ...errors import ConfigError
from ...record.trace import AnyTrace
from ...rules import Rules
from ...run.script import Script
from ...run.whole import run_whole
from ...run.workbench import Workbench


class Story(Protocol):
    """Anything with a recorded run: a `Workbench`, for one."""

    @property
    def trace(self) -> AnyTrace:
        """The run."""


def modules() -> list[ModuleType]:
    """Return the modules of all notebooks, in order."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [import_module(f".{name}", __name__) for name in names]


def _found() -> dict[str, Callable[..., Workbench]]:
    found: dict[str, Callable[..., Workbench]] = {}
    for module in modules():
        named = module.SCENARIOS
        assert not found.keys() & named.keys(), f"{module.__name__}: a name is taken"
        found |= named
    return found


SCENARIOS: dict[str, Callable[..., Workbench]] = _found()
"""The runs that the command line knows by name."""


def fork_of(scenario: Callable[..., Story]) -> Callable[..., AnyTrace]:
    """Return what a player forks with: the scenario, told with other knobs, or its ops
    under other `rules` (a release's name, or a combination's).

    It raises ConfigError for impossible knobs, and for rules where there are no ops.
    """

    def fork(rules: str | None = None, **knobs: Any) -> AnyTrace:
        story = scenario(**knobs)
        if rules is None:
            return story.trace
        script: Script | None = getattr(story, "script", None)
        if script is None:
            raise ConfigError("this run is no script: it has no other rules")
        return run_whole(replace(script, rules=Rules.named(rules)))[0]

    return fork
