"""Which pictures do the README and the notebooks show, and how are they made?

    python -m kvlab.lessons.pictures assets

draws all of them anew; a test says that the files in `assets/` are these. A module of
stories names those of its notebook in its `PICTURES`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from ..record.events import Step
from ..record.trace import Trace
from ..views.export import What, render
from ..views.theme import LANGS
from .scenarios import SCENARIOS, modules


class Picture(NamedTuple):
    """One view of a scenario, right before the op of that name begins, for the `nth`
    time; at the end where none is named."""

    name: str
    scenario: str
    before_op: str
    what: What
    nth: int = 1


PICTURES = tuple(
    Picture(*each) for module in modules() for each in getattr(module, "PICTURES", ())
)


def draw(picture: Picture, folder: Path) -> list[Path]:
    """Draw one picture into the folder, in English and in Chinese (`.zh` in its name);
    return both. Changes: the files."""
    trace = SCENARIOS[picture.scenario]().trace
    step = _begin(trace, picture.before_op, picture.nth)
    name = Path(picture.name)
    files = [folder / name, folder / f"{name.stem}.zh{name.suffix}"]
    for lang, file in zip(LANGS, files, strict=True):
        render(trace, step, picture.what, file, lang)
    return files


def _begin(trace: Trace, op: str, nth: int) -> int:
    if not op:
        return len(trace)
    found = [
        index
        for index, event in enumerate(trace.events)
        if isinstance(event, Step) and event.op == op
    ]
    return found[nth - 1]


if __name__ == "__main__":
    for each in PICTURES:
        draw(each, Path(sys.argv[1]))
