"""What do all commands share?

How a command is declared, how a run is found by name or in a file, what is checked
before long work, how progress and figures are printed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..record.trace import Trace


def add_command(
    commands: Any, name: str, run: Any, summary: str, example: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary,
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def open_run(name: Path) -> Trace:
    """Return the run of a scenario's name, or the run or script in a file."""
    from ..run.load import load_run

    scenario = scenario_run(name)
    return load_run(name) if scenario is None else scenario


def scenario_run(name: Path) -> Trace | None:
    """Return the run of a scenario's name; None if it is none."""
    from ..lessons.scenarios import SCENARIOS

    scenario = SCENARIOS.get(str(name))
    return None if scenario is None else scenario().trace


def check_target(path: Path) -> None:
    """Refuse, before hours of work, a place where nothing can be written."""
    if path.is_dir():
        raise InputError(str(path), "a directory", "name a file")
    if not path.absolute().parent.is_dir():
        raise InputError(str(path), "its folder does not exist", "make it first")


def print_figures(arguments: argparse.Namespace, figures: dict[str, Any]) -> None:
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        shown = f"{value:,.3f}" if isinstance(value, float) else value
        print(
            f"{name:22} {shown:,}" if isinstance(value, int) else f"{name:22} {shown}"
        )


def progress(total: int | None, what: str, unit: str) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, desc=what, unit=unit, disable=not sys.stderr.isatty())


def note(arguments: argparse.Namespace, text: str) -> None:
    print(text, file=sys.stderr)
