"""Which commands show a recorded run to somebody else?

render draws one step, play writes a page, export serves other tools.
Left out: comparing two runs (compare.py).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import InputError, TraceError
from ..files import replacing
from ..record.trace import AnyTrace, Trace
from .blocks import block_run, blocks_beside, render_beside, render_block_run
from .shared import add_command, check_target, note, script_of, whole_run

RULES_HELP = "run a script under these rules (default: its own)"


def render(arguments: argparse.Namespace) -> int:
    """Draw one step of a run as a picture."""
    from ..views.export import render as draw
    from ..views.export import render_film

    check_target(arguments.out, arguments.path, arguments.beside)
    if arguments.beside is not None:
        render_beside(arguments)
        return 0
    blocks = block_run(arguments.path, arguments.rules)
    if blocks is not None:
        render_block_run(arguments, blocks)
        return 0
    what: Any = arguments.what or "tree"
    trace, fault = whole_run(arguments.path, arguments.rules)
    if fault is not None:
        note(f"{arguments.path}: the run ends early: {fault}")
    if arguments.film is not None:
        first, last = arguments.film
        steps = range(first, last + 1)
        render_film(trace, steps, arguments.out, arguments.lang)
        note(f"{arguments.out}: events {first} to {last}")
        return 0
    step = len(trace) if arguments.step is None else arguments.step
    draw(trace, step, what, arguments.out, arguments.lang)
    note(f"{arguments.out}: {what} after event {step}")
    return 0


def _steps(text: str) -> tuple[int, int]:
    """Return the two numbers of "10:20"."""
    first, _, last = text.partition(":")
    if not (first.isdigit() and last.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not FIRST:LAST, like 10:20")
    return int(first), int(last)


def _note(text: str) -> tuple[int, str]:
    """Return the event and the line of "137:30 are missing"."""
    event, _, line = text.partition(":")
    if not event.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not EVENT:TEXT, like 137:why")
    return int(event), line


def play(arguments: argparse.Namespace) -> int:
    """Write the run as one page that plays it."""
    from ..views.page import to_html

    check_target(arguments.out, arguments.path, arguments.beside)
    if (most := arguments.events) is not None and most < 1:
        raise InputError("--events", f"is {most}", "use 1 or more")
    trace: AnyTrace
    other: AnyTrace | None = None
    how: dict[str, Any] = {"mode": "predict" if arguments.predict else "watch"}
    if (blocks := block_run(arguments.path, arguments.rules)) is not None:
        trace = blocks
        if arguments.beside is not None:
            other = blocks_beside(arguments.beside)
    else:
        trace, how["ended"], how["cut"] = _as_far_as_it_goes(arguments)
        script = None if how["cut"] else script_of(arguments.path)
        if script and script.about:
            how["about"] = script.about, script.about_zh or script.about
        if arguments.beside is not None:
            other = whole_run(arguments.beside)[0]
    if arguments.start is not None:
        how["start"] = min(arguments.start, len(trace))
    how["lang"] = arguments.lang
    how["notes"] = dict(arguments.note) if arguments.note else None
    given = {name: value for name, value in how.items() if value is not None}
    write_text(arguments.out, [to_html(trace, other, length=most, **given)])
    note(f"{arguments.out}: {min(len(trace), most or len(trace)):,} events")
    return 0


def _as_far_as_it_goes(
    arguments: argparse.Namespace,
) -> tuple[Trace, str | None, str | None]:
    """Return the run, what ended it, and what is wrong with its file behind it."""
    from ..record.trace_file import read_prefix

    path: Path = arguments.path
    try:
        return *whole_run(path, arguments.rules), None
    except TraceError as damage:
        if not path.is_file():
            raise
        trace, _ = read_prefix(path)
        if not len(trace):
            raise
        what = str(damage).partition("; ")[0]
        note(f"{what}; the page plays the {len(trace):,} events before it")
        return trace, None, what.replace(str(path), path.name)


def export(arguments: argparse.Namespace) -> int:
    """Write the run for another tool."""
    from ..record.trace_file import write_trace
    from ..views.exports import account_csv, perfetto

    check_target(arguments.out, arguments.path)
    trace, _ = whole_run(arguments.path)
    if arguments.to == "jsonl":
        write_trace(trace, arguments.out)
    else:
        write_text(
            arguments.out,
            {"perfetto": perfetto, "csv": account_csv}[arguments.to](trace),
        )
    note(f"{arguments.out}: {len(trace):,} events")
    return 0


def add_play(commands: Any) -> None:
    """Declare the three commands."""
    parser = add_command(
        commands, "render", render, "draw one step of a run as a picture",
        "kvlab render run.jsonl.gz --step 120 --what tree -o tree.svg\n"
        "  kvlab render three_fates --film 10:16 -o film.svg",
    )  # fmt: skip
    parser.add_argument("path", type=Path, metavar="RUN|SCRIPT|SCENARIO")
    parser.add_argument("--step", type=int, help="after so many events (default: all)")
    parser.add_argument(
        "--what",
        choices=(
            "step", "tree", "pool", "contents", "timeline", "account", "card", "queue"
        ),
        help="default: tree; card: why, as .txt; of vLLM pool, account or queue "
        "(default: pool)",
    )  # fmt: skip
    parser.add_argument("--beside", type=Path, metavar="RUN",
        help="a run of the other engine: both accounts over time")  # fmt: skip
    parser.add_argument("--film", type=_steps, metavar="FIRST:LAST",
        help="the whole of these steps, one below the other (.svg, .png)")  # fmt: skip
    parser.add_argument(
        "-o", "--out", type=Path, required=True, help=".svg, .png, .dot or .txt"
    )
    parser.add_argument("--lang", default="en", choices=("en", "zh"), help="language")
    parser.add_argument("--rules", metavar="RELEASE", help=RULES_HELP)
    parser = add_command(
        commands, "play", play, "write a page that plays a run: no server, no network",
        "kvlab play three_fates -o page.html\n"
        '  kvlab play run.jsonl.gz --note "137:30 are missing" -o page.html',
    )  # fmt: skip
    parser.add_argument("path", type=Path, metavar="RUN|SCRIPT|SCENARIO")
    parser.add_argument("-o", "--out", type=Path, required=True, help="the page")
    parser.add_argument("--start", type=int, help="open after so many events")
    parser.add_argument("--events", type=int, help="only the first so many events")
    parser.add_argument("--note", type=_note, action="append", metavar="EVENT:TEXT",
        help="a bookmark with a line to it; may be given again")  # fmt: skip
    parser.add_argument("--predict", action="store_true", help="ask before it shows")
    parser.add_argument("--lang", choices=("en", "zh"), help="default: the browser's")
    parser.add_argument("--rules", metavar="RELEASE", help=RULES_HELP)
    parser.add_argument("--beside", type=Path, metavar="RUN", help="compare with it")
    parser = add_command(
        commands, "export", export, "write a run for other tools",
        "kvlab export run.jsonl.gz --to perfetto -o run.perfetto.json",
    )  # fmt: skip
    parser.add_argument("path", type=Path, metavar="RUN|SCRIPT|SCENARIO")
    parser.add_argument("--to", required=True, choices=("perfetto", "jsonl", "csv"),
        help="events for ui.perfetto.dev, a RUN, or the account over time")  # fmt: skip
    parser.add_argument("-o", "--out", type=Path, required=True, help="the file")


def write_text(target: Path, parts: Iterable[str]) -> None:
    """Write the file, all of it or nothing. Raises: InputError if it cannot be."""
    with replacing(target) as file:
        file.writelines(part.encode() for part in parts)
