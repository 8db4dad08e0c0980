"""Which exercises does the course have?

One module a notebook: nb07 holds those of notebook 07 in its `EXERCISES`. Modules are
found, not listed. No solution is in here: the tests hold them.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from ..kinds import Exercise


def _found() -> dict[str, Exercise]:
    found: dict[str, Exercise] = {}
    for module in pkgutil.iter_modules(__path__):
        for exercise in import_module(f".{module.name}", __name__).EXERCISES:
            assert exercise.id not in found, f"{exercise.id}: the id is taken"
            assert module.name == f"nb{exercise.id[:2]}", f"{exercise.id}: not its file"
            found[exercise.id] = exercise
    return found


EXERCISES: dict[str, Exercise] = _found()
