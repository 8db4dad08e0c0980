"""What does a script come to, as a whole?

Its trace; where an assertion of the engine's own ends it, what came before and what the
assertion said: golden s25 is such a run.
Left out: reading files (script.py), and a single op (runner.py).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from ..config import EngineConfig
from ..errors import EngineFault
from ..record.trace import Header, Trace
from ..rules import Rules
from .runner import ScriptRunner
from .script import Script
from .tree_ops import Result


def run_whole(
    script: Script, results: list[Result] | None = None
) -> tuple[Trace, str | None]:
    """Carry out a script as far as it goes; return its trace and what ended it.

    Changes: `results`, if given, gets what every op returned.
    Raises: InputError as `ScriptRunner.step`.
    """
    trace = Trace(Header(name=script.name, config=script.config, rules=script.rules))
    runner = ScriptRunner(script, trace)
    for number, op in enumerate(script.ops):
        try:
            result = runner.step(number, op)
        except EngineFault as fault:
            return trace, f"operation {number} ({op.__struct_config__.tag}): {fault}"
        if results is not None:
            results.append(result)
    return trace, None


def run_script(script: Script) -> Trace:
    """Carry out a whole script and return its trace.

    Raises: EngineFault, with the op's number, where an assertion of the real engine
    would fail; InputError as `run_whole`.
    """
    trace, fault = run_whole(script)
    if fault is not None:
        raise EngineFault(fault)
    return trace


def is_script(path: Path) -> bool:
    """True for a file that is run, not one that was recorded."""
    return path.name.endswith((".json", ".json.gz")) and path.is_file()


def fork_of(script: Script) -> Callable[..., Trace]:
    """Return a function that runs the script again with some settings changed.

    Its `rules` takes a release's name. It raises ConfigError for impossible settings.
    """

    def fork(rules: str | None = None, **knobs: Any) -> Trace:
        settings = {**msgspec.structs.asdict(script.config), **knobs}
        changed = msgspec.structs.replace(
            script,
            config=EngineConfig.of(settings),
            rules=script.rules if rules is None else Rules.named(rules),
        )
        return run_whole(changed)[0]

    return fork
