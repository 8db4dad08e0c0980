"""Is this file a recorded run, or a script that can be run?"""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError
from ..record.trace import Trace
from ..record.trace_file import read_trace
from .script import read_script
from .workbench import run_script


def load_run(path: Path) -> Trace:
    """Return the run in the file; a script (`.json`, `.json.gz`) is run first.

    Raises: InputError with file, place and remedy; EngineFault as `run_script`.
    """
    if path.is_dir():
        raise InputError(str(path), "a directory", "name a run or a script in it")
    if path.name.endswith((".json", ".json.gz")):
        return run_script(read_script(path))
    return read_trace(path)
