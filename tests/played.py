"""What did the recorded scripts of the real engine do here? Used by several tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from kvlab.record.trace import Trace
from kvlab.run.script import Script, read_script
from kvlab.run.whole import run_whole

GOLDENS = Path(__file__).parent / "goldens"
RECORDED = sorted((GOLDENS / "sglang").glob("*")) + sorted(
    (GOLDENS / "sglang23").glob("*")
)
"""The goldens of both releases of SGLang."""


class Played(NamedTuple):
    """A golden's run, the script without its recorded states, and what the real engine
    answered to each op."""

    trace: Trace
    script: Script
    answers: list[dict[str, Any]]


@cache
def replayed(path: Path) -> Played:
    """Play a golden once; no test changes what is returned."""
    script = read_script(path)
    answers = [record["result"] for record in script.records or []]
    bare = replace(script, records=None, initial=None)
    return Played(run_whole(bare)[0], bare, answers)


def played(path: Path) -> Trace:
    """Return the run of a golden."""
    return replayed(path).trace


def golden(name: str, release: str = "sglang") -> Trace:
    """Return the run of the golden whose name begins so."""
    return played(next((GOLDENS / release).glob(f"{name}*")))
