"""What did the recorded scripts of the real engine do here? Used by several tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from kvlab.record.trace import Trace
from kvlab.run.whole import load_whole

GOLDENS = Path(__file__).parent / "goldens"


@cache
def played(path: Path) -> Trace:
    """Return the run of a golden, played once; no test changes it."""
    return load_whole(path)[0]


def golden(name: str, release: str = "sglang") -> Trace:
    """Return the run of the golden whose name begins so."""
    return played(next((GOLDENS / release).glob(f"{name}*")))
