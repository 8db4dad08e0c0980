"""Right and wrong answers to the course's exercises, one module a notebook."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from kvlab.lessons.checks import draw
from kvlab.lessons.exercises import EXERCISES
from kvlab.lessons.kinds import Function


def solutions(id: str) -> ModuleType:
    """The module of that exercise's notebook: RIGHT and WRONG."""
    path = Path(__file__).with_name(f"nb{id[:2]}.py")
    spec = importlib.util.spec_from_file_location(f"solutions_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def given(id: str, answer: Any, seed: int = 0) -> Any:
    """An answer for this seed's numbers."""
    exercise = EXERCISES[id]
    if isinstance(exercise, Function) or not callable(answer):
        return answer
    return answer(exercise.case(draw(id, seed)).terms)
