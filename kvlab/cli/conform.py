"""What does `kvlab conform` do? It replays recorded states and compares each."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from .shared import add_command, progress


def add_conform(commands: Any) -> None:
    """Declare the command."""
    parser = add_command(
        commands, "conform", conform,
        "replay recorded states of a real engine and compare every record",
        "kvlab conform tests/goldens/sglang", found="a record differs",
    )  # fmt: skip
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE|DIR")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def conform(arguments: argparse.Namespace) -> int:
    """Play the goldens and print what differs; return 1 if anything does."""
    from msgspec import to_builtins

    from ..run.goldens import conform_goldens

    with progress(None, "goldens", " files") as bar:
        report = conform_goldens(arguments.paths, say=lambda path: bar.update(1))
    if arguments.json:
        print(json.dumps(to_builtins(report)))
    else:
        for found in report.differences:
            print(
                f"{found.file}: record {found.record}: {found.field}: "
                f"expected {found.expected}, got {found.got}"
            )
        print(
            f"{report.files} files, {report.records} records, {report.equal} equal, "
            f"{len(report.differences)} differ"
        )
    return 1 if report.differences else 0
