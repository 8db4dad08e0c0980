"""How does a class that uses otter-grader get the course's checks?

    python -m kvlab.lessons.otter tests 07

writes one file an exercise, in otter's format of doctest cases, into the folder: all of
the course, or of the notebooks named. Students leave each answer under the exercise's
name, `e1` for 07.E1; a case asks `kvlab.check` for the verdict. No solution is in them.
Left out: otter itself, which kvlab does not need.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from pprint import pformat

from .command import command
from .exercises import EXERCISES
from .kinds import Exercise

GRADED = "E"


def variable(id: str) -> str:
    """Return the name under which the answer stands in a student's notebook.

    >>> variable("07.E1")
    'e1'
    """
    return id.split(".")[1].lower()


def otter_file(exercise: Exercise, points: int = 1) -> str:
    """Return the test file of one exercise."""
    call = f"bool(kvlab.check({exercise.id!r}, {variable(exercise.id)}))"
    case = {
        "code": f">>> import kvlab\n>>> {call}\nTrue",
        "hidden": False,
        "locked": False,
    }
    suite = {
        "cases": [case], "scored": True, "setup": "", "teardown": "", "type": "doctest",
    }  # fmt: skip
    test = {"name": exercise.id, "points": points, "suites": [suite]}
    return f"OK_FORMAT = True\n\ntest = {pformat(test, sort_dicts=False, width=88)}\n"


def write(folder: Path, notebooks: Iterable[str] = ()) -> list[Path]:
    """Write the files of these notebooks' exercises, all if none is named.

    Changes: makes the folder, replaces files of the same name.
    """
    wanted = set(notebooks)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for id, exercise in sorted(EXERCISES.items()):
        if id[3] == GRADED and (not wanted or id[:2] in wanted):
            written.append(folder / f"nb{id.replace('.', '_').lower()}.py")
            written[-1].write_text(otter_file(exercise), "utf-8")
    return written


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Write the files and say how many. Exit 2 for a notebook without exercises."""
    parser = argparse.ArgumentParser(description="Write the checks for otter-grader.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("notebook", nargs="*", help="07 09 ... (default: all)")
    given = parser.parse_args(argv)
    unknown = set(given.notebook) - {id[:2] for id in EXERCISES if id[3] == GRADED}
    if unknown:
        parser.error(f"no exercises in {', '.join(sorted(unknown))}")
    print(f"{given.folder}: {len(write(given.folder, given.notebook))} files")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
