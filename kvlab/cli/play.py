"""Which commands show a recorded run to somebody else?

render draws one step, play writes a page, compare says where two runs part, export
serves other tools.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from ..errors import InputError
from ..record.trace import Trace
from .shared import add_command, note, open_run


def render(arguments: argparse.Namespace) -> int:
    """Draw one step of a run as a picture."""
    from ..views.export import render as draw

    trace = open_run(arguments.path)
    step = len(trace) if arguments.step is None else arguments.step
    draw(trace, step, arguments.what, arguments.out, arguments.lang)
    note(arguments, f"{arguments.out}: {arguments.what} after event {step}")
    return 0


def play(arguments: argparse.Namespace) -> int:
    """Write the run as one page that plays it."""
    from ..views.page import to_html

    trace, fault = _run(arguments.path)
    other = None if arguments.beside is None else _run(arguments.beside)[0]
    start = len(trace) if arguments.start is None else arguments.start
    how: dict[str, Any] = {"mode": "predict" if arguments.predict else "watch"}
    if arguments.start is not None:
        how["start"] = min(start, len(trace))
    if arguments.lang is not None:
        how["lang"] = arguments.lang
    if fault is not None:
        how["ended"] = fault
    page = to_html(trace, other, length=arguments.events, **how)
    _write(arguments.out, [page])
    print(f"{arguments.out}: {len(trace):,} events", file=sys.stderr)
    return 0


def compare(arguments: argparse.Namespace) -> int:
    """Say where two runs part; 0 if nowhere, 1 if somewhere."""
    from ..views.compare import comparison, first_difference
    from ..views.page import to_html

    one, other = _run(arguments.a)[0], _run(arguments.b)[0]
    found = first_difference(one, other)
    if arguments.out is not None:
        _write(arguments.out, [to_html(one, other)])
    if arguments.json:
        print(json.dumps(found.told(one, other)))
    else:
        print(comparison(one, other, arguments.lang))
    return 0 if found.at is None else 1


def export(arguments: argparse.Namespace) -> int:
    """Write the run for another tool."""
    from ..record.trace_file import write_trace
    from ..views.exports import account_csv, perfetto

    trace, _ = _run(arguments.path)
    if arguments.to == "jsonl":
        write_trace(trace, arguments.out)
    else:
        _write(
            arguments.out,
            {"perfetto": perfetto, "csv": account_csv}[arguments.to](trace),
        )
    return 0


def add_play(commands: Any) -> None:
    """Declare the four commands."""
    parser = add_command(
        commands, "render", render, "draw one step of a run as a picture",
        "kvlab render run.jsonl.gz --step 120 --what tree -o tree.svg",
    )  # fmt: skip
    parser.add_argument("path", type=Path, metavar="RUN|SCRIPT|SCENARIO")
    parser.add_argument("--step", type=int, help="after so many events (default: all)")
    parser.add_argument(
        "--what", default="tree", choices=("tree", "pool", "timeline", "account")
    )
    parser.add_argument(
        "-o", "--out", type=Path, required=True, help=".svg, .png, .dot or .txt"
    )
    parser.add_argument("--lang", default="en", choices=("en", "zh"))
    parser = add_command(
        commands, "play", play, "write a page that plays a run: no server, no network",
        "kvlab play three_fates -o page.html\n  kvlab play run.jsonl.gz -o page.html",
    )  # fmt: skip
    parser.add_argument("path", type=Path, metavar="RUN|SCRIPT|SCENARIO")
    parser.add_argument("-o", "--out", type=Path, required=True, help="the page")
    parser.add_argument("--start", type=int, help="open after so many events")
    parser.add_argument("--events", type=int, help="only the first so many events")
    parser.add_argument("--predict", action="store_true", help="ask before it shows")
    parser.add_argument("--lang", choices=("en", "zh"), help="default: the browser's")
    parser.add_argument("--beside", type=Path, metavar="RUN", help="compare with it")
    parser = add_command(
        commands, "compare", compare, "the first event in which two runs differ",
        "kvlab compare a.jsonl.gz b.jsonl.gz",
    )  # fmt: skip
    parser.add_argument("a", type=Path, metavar="A")
    parser.add_argument("b", type=Path, metavar="B")
    parser.add_argument("-o", "--out", type=Path, help="both as a page, side by side")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--lang", default="en", choices=("en", "zh"))
    parser = add_command(
        commands, "export", export, "write a run for other tools",
        "kvlab export run.jsonl.gz --to perfetto -o run.perfetto.json",
    )  # fmt: skip
    parser.add_argument("path", type=Path, metavar="RUN|SCRIPT|SCENARIO")
    parser.add_argument("--to", required=True, choices=("perfetto", "jsonl", "csv"))
    parser.add_argument("-o", "--out", type=Path, required=True)


def _run(name: Path) -> tuple[Trace, str | None]:
    """Return the run of a scenario's name or in a file, and what ended it early."""
    from ..lessons.scenarios import SCENARIOS
    from ..run.whole import load_whole

    if (scenario := SCENARIOS.get(str(name))) is not None:
        return scenario().trace, None
    return load_whole(name)


def _write(target: Path, parts: Iterable[str]) -> None:
    """Write the file, all of it or nothing. Raises: InputError if it cannot be."""
    if not target.name or target.is_dir():
        raise InputError(str(target), "a directory", "name a file")
    part = target.with_name(f".kvlab-{uuid4().hex}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            file.writelines(parts)
        os.replace(part, target)
    except OSError as problem:
        raise InputError(
            str(target), f"cannot be written ({problem.strerror})",
            "name a file in a folder that exists and has room",
        ) from None  # fmt: skip
    finally:
        with suppress(OSError):
            part.unlink()
