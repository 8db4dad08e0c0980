"""What do `kvlab diagnose` and `kvlab capacity` do?

The bodies of the two commands that look at real engines; cli.py has their options.
Here and not in observe/, since they bring observe/, views/ and runs together.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from msgspec import to_builtins

from .errors import InputError
from .files import replace_file
from .observe.diagnose import diagnose, diagnose_run, failed
from .observe.report import report
from .observe.source import STDIN
from .record.diagnosis import Diagnosis
from .record.trace import Trace
from .views.diagnosis_page import page

Named = Callable[[Path], Trace | None]
Say = Callable[[int], object]


def diagnose_command(arguments: Namespace, named: Named, say: Say) -> int:
    """Print what is wrong; write the page if one is asked for.

    `named` returns the run that is known by a name. Raises: InputError where nothing
    can be used; with `--json` the object is printed first, its status `error`.
    """
    try:
        told = _told(arguments.paths, named, say)
    except InputError as problem:
        if arguments.json:
            print(json.dumps(to_builtins(failed(problem).told())))
        raise
    if arguments.html is not None:
        replace_file(arguments.html, page(told).encode())
    if arguments.json:
        print(json.dumps(to_builtins(told.told())))
    else:
        print(report(told))
    return 0


def _told(paths: list[Path], named: Named, say: Say) -> Diagnosis:
    (first, *more) = paths
    if not more and not first.exists() and str(first) != STDIN:
        run = named(first)
        if run is not None:
            return diagnose_run(run, str(first))
    return diagnose(paths, say)
