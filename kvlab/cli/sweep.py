"""What does `kvlab sweep` do?

It replays one request trace once for every point of a grid of options, many at a time:
on this machine's cores, or on a Dask or Ray cluster that joblib reaches. A point is
given as the words that `kvlab replay` takes, so it can be repeated alone.
Left out: what a replay is (replay.py).
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import shlex
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError
from ..files import replace_file
from .parser import Parser
from .replay import add_replay, engine_of, figures_of
from .shared import add_command, check_target, note, progress

MOST_POINTS = 10_000
SHOWN = (
    "hit_rate", "device_hit_tokens", "loaded_back_tokens", "evicted_tokens",
    "backed_up_tokens", "lost_tokens", "retractions", "peak_running",
)  # fmt: skip
"""The figures of the text table; --csv and --json have all."""

Figures = dict[str, Any]


class Point(NamedTuple):
    """One replay: its options by name, and the words of its command line."""

    options: dict[str, str]
    words: list[str]


def add_sweep(commands: Any) -> None:
    """Declare the command."""
    parser = add_command(
        commands, "sweep", _sweep, "replay a trace once for every point of a grid",
        "kvlab sweep conversation_trace.jsonl --grid policy=lru,lfu "
        "--grid pool-tokens=500000,3000000 --with '--limit 2000'",
    )  # fmt: skip
    add = parser.add_argument
    add("trace", metavar="TRACE", help="as kvlab replay takes it")
    add("--grid", action="append", required=True, metavar="OPTION=A,B,...",
        help="an option of kvlab replay and its values; may be repeated")  # fmt: skip
    add("--with", dest="common", default="", metavar="'OPTIONS'",
        help="of kvlab replay, for all points")  # fmt: skip
    add("--jobs", type=int, default=-1, metavar="N", help="at once (-1: all cores)")
    add("--backend", default="loky", help="of joblib: loky (processes), dask, ray")
    add("--csv", type=Path, metavar="FILE", help="write all figures, a line a point")
    add("--json", action="store_true", help="print one JSON list")


def points(trace: str, grids: Sequence[str], common: Sequence[str]) -> list[Point]:
    """Return the points of a grid, the last option turning fastest.

    >>> [p.options for p in points("t", ["policy=lru,lfu"], [])]
    [{'policy': 'lru'}, {'policy': 'lfu'}]

    Raises: InputError for a grid that is none, or of more points than are played.
    """
    axes = [_axis(grid) for grid in grids]
    names = [name for name, _ in axes]
    if len(set(names)) < len(names):
        raise InputError("--grid", "names an option twice", "give all its values once")
    made: list[Point] = []
    for values in product(*(values for _, values in axes)):
        if len(made) == MOST_POINTS:
            raise InputError(
                "--grid", f"has more than {MOST_POINTS} points", "cut it in parts"
            )
        options = dict(zip(names, values, strict=True))
        turned = [f"--{name}={value}" for name, value in options.items()]
        made.append(Point(options, ["replay", trace, *common, *turned]))
    return made


def _axis(grid: str) -> tuple[str, list[str]]:
    name, _, values = grid.partition("=")
    found = [value for value in values.split(",") if value]
    if not name.strip("-") or not found:
        raise InputError(f"--grid {grid}", "is no OPTION=A,B,...", "name its values")
    return name.lstrip("-"), found


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as problem:
        raise InputError("--with", f"{problem}".lower(), "close the quote") from None


def play(words: Sequence[str]) -> Figures:
    """Replay one point; return its figures. Runs in a process of its own."""
    return figures_of(_parsed(words))


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="kvlab")
    add_replay(parser.add_subparsers(required=True))
    return parser.parse_args(list(words))


def _sweep(arguments: argparse.Namespace) -> int:
    """Replay every point. Raises: InputError or ConfigError before the first begins,
    if any point could not start."""
    from joblib import Parallel, delayed, parallel_config

    check_target(arguments.csv, Path(arguments.trace))
    grid = points(arguments.trace, arguments.grid, _words(arguments.common))
    for point in grid:
        one = _parsed(point.words)
        for option in ("record", "metrics_dir", "engine_log"):
            if getattr(one, option) is not None:
                name = option.replace("_", "-")
                raise InputError(f"--{name}", "writes one replay", "use kvlab replay")
        engine_of(one)
    if arguments.jobs == 0:
        raise InputError("--jobs", "is 0", "use 1 or more, or -1 for all cores")
    backend = _backend(arguments.backend)
    note(f"{arguments.trace}: {len(grid)} replays")
    figures: list[Figures] = []
    with parallel_config(backend=backend, n_jobs=arguments.jobs):
        found = Parallel(return_as="generator")(
            delayed(play)(point.words) for point in grid
        )
        with progress(len(grid), "sweep", " replays") as bar:
            for each in found:
                figures.append(each)
                bar.update()
    _tell(arguments, grid, figures)
    return 0


def _backend(name: str) -> str:
    """Return a backend that joblib has. Raises: InputError for one that it lacks."""
    from joblib.parallel import BACKENDS, EXTERNAL_BACKENDS

    if name == "ray":
        try:
            from ray.util.joblib import register_ray  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            raise InputError(
                "--backend ray", "ray is not installed", "pip install ray"
            ) from None
        register_ray()
    if name not in BACKENDS and name not in EXTERNAL_BACKENDS:
        known = ", ".join(sorted([*BACKENDS, *EXTERNAL_BACKENDS, "ray"]))
        raise InputError(f"--backend {name}", "joblib does not know it", f"use {known}")
    return name


# --- what is printed


def _tell(
    arguments: argparse.Namespace, grid: Sequence[Point], figures: Sequence[Figures]
) -> None:
    if arguments.csv is not None:
        replace_file(arguments.csv, as_csv(grid, figures).encode())
    if arguments.json:
        print(json.dumps([
            {"options": point.options, "figures": each}
            for point, each in zip(grid, figures, strict=True)
        ]))  # fmt: skip
    else:
        print(as_table(grid, figures))


def as_csv(grid: Sequence[Point], figures: Sequence[Figures]) -> str:
    """Return one line a point: its options, then every figure that is one number."""
    columns = [n for n, value in figures[0].items() if not isinstance(value, dict)]
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow([*grid[0].options, *columns])
    for point, each in zip(grid, figures, strict=True):
        writer.writerow([*point.options.values(), *(each.get(c) for c in columns)])
    return file.getvalue()


def as_table(grid: Sequence[Point], figures: Sequence[Figures]) -> str:
    """Return the grid with the figures that differ most often, as text."""
    columns = [name for name in SHOWN if name in figures[0]]
    if figures[0].get("ttft_s"):
        columns.append("ttft_p99_s")
    rows = [[*grid[0].options, *columns]]
    for point, each in zip(grid, figures, strict=True):
        told = each | {"ttft_p99_s": (each.get("ttft_s") or {}).get("p99")}
        rows.append([*point.options.values(), *(_short(told[c]) for c in columns)])
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(w) for cell, w in zip(row, wide, strict=True))
        for row in rows
    )


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
