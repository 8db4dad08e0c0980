"""kvlab: a teaching workbench for the KV cache of LLM serving engines.

`Workbench` is an engine to try by hand, `play` shows a trace in a notebook, `accounts`
gives its pools' accounts as rows; `tour`, `predict`, `check` and `claims` are the
course's. All are imported on first use, so that the command line answers before torch
is loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "Workbench": "kvlab.run.workbench",
    "accounts": "kvlab.views.exports",
    "check": "kvlab.lessons.checks",
    "claims": "kvlab.lessons.claims.shown",
    "play": "kvlab.views.widget",
    "predict": "kvlab.lessons.checks",
    "read_trace": "kvlab.record.trace_file",
    "tour": "kvlab.lessons.tour",
    "write_trace": "kvlab.record.trace_file",
}

__all__ = [
    "Workbench", "accounts", "check", "claims", "play", "predict", "read_trace", "tour",
    "write_trace",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'kvlab' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(_PUBLIC)
