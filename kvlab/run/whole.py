"""How is a run shown that ended in an engine's own assertion?

Up to there, and with what the assertion said: golden s25 is such a run.
Left out: reading files (load.py).
"""

from __future__ import annotations

from pathlib import Path

from ..errors import EngineFault
from ..record.trace import Header, Trace
from .load import load_run
from .runner import ScriptRunner
from .script import Script, read_script


def run_whole(script: Script) -> tuple[Trace, str | None]:
    """Carry out a script as far as it goes; return its trace and what ended it."""
    trace = Trace(Header(name=script.name, config=script.config, rules=script.rules))
    runner = ScriptRunner(script, trace)
    for number, op in enumerate(script.ops):
        try:
            runner.step(number, op)
        except EngineFault as fault:
            return trace, f"op {number} ({op.__struct_config__.tag}): {fault}"
    return trace, None


def load_whole(path: Path) -> tuple[Trace, str | None]:
    """Return the run in the file as far as it goes, and what ended it, if anything.

    Raises: InputError with file, place and remedy.
    """
    if path.name.endswith((".json", ".json.gz")) and path.is_file():
        return run_whole(read_script(path))
    return load_run(path), None
