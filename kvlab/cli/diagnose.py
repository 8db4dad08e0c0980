"""What does `kvlab diagnose` do?

It brings observe/, views/ and runs together: a verdict as text, JSON or a page.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from ..errors import InputError
from ..files import replace_file
from ..observe.diagnose import diagnose, diagnose_run, failed
from ..observe.report import report
from ..observe.said import Lang
from ..observe.source import STDIN
from ..record.diagnosis import Diagnosis
from ..views.diagnosis_page import page
from .parser import harmless
from .shared import add_command, check_target, named_run, progress

Say = Callable[[int], object]


def add_diagnose(commands: Any) -> None:
    """Declare the command."""
    parser = add_command(
        commands, "diagnose", _diagnose,
        "say from logs, /metrics scrapes, a run or a request trace what is wrong",
        "kvlab diagnose server.log\n  kvlab diagnose 1.txt 2.txt --html out.html\n"
        "  docker logs sglang 2>&1 | kvlab diagnose - --json",
    )  # fmt: skip
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH",
        help="a log (plain, .gz, a log store's export, a folder of rotated files, - "
        "for stdin), scrapes in order, the JSON of a Prometheus query, a RUN, a TRACE",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--lang", default="en", choices=("en", "zh"), help="language")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page")


def _diagnose(arguments: Namespace) -> int:
    """Print what is wrong; write the page if one is asked for.

    Raises: InputError where nothing can be used; with `--json` the object is printed
    first, its status `error`.
    """
    check_target(arguments.html, *arguments.paths)
    try:
        with progress(_size(arguments.paths), "diagnose", "B") as bar:
            told = _told(arguments.paths, bar.update, arguments.lang)
    except InputError as problem:
        if arguments.json:
            print(json.dumps(to_builtins(failed(problem).told())))
        raise
    if arguments.html is not None:
        replace_file(arguments.html, page(told).encode())
    if arguments.json:
        print(json.dumps(to_builtins(told.told())))
    else:
        print(harmless(report(told)))
    return 0


def _size(paths: list[Path]) -> int | None:
    """Return the bytes of the files, as a bar's whole; None where it is not known."""
    known = all(path.is_file() for path in paths)
    return sum(path.stat().st_size for path in paths) if known else None


def _told(paths: list[Path], progress: Say, lang: Lang) -> Diagnosis:
    (first, *more) = paths
    if not more and not first.exists() and str(first) != STDIN:
        run = named_run(first)
        if run is not None:
            return diagnose_run(run, str(first), lang)
    return diagnose(paths, progress, lang)
