"""Where do two runs part, and which rule did it?

Two runs, two scripts, or one script under two rule books. Of the last it is found out
which rule parts them (lessons/what_changed.py).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..record.trace import AnyTrace
from .blocks import two_block_runs
from .parser import harmless
from .play import write_text
from .shared import add_command, check_target, script_of, whole_run


def add_compare(commands: Any) -> None:
    """Declare the command."""
    parser = add_command(
        commands, "compare", compare, "the first event in which two runs differ",
        "kvlab compare a.jsonl.gz b.jsonl.gz\n"
        "  kvlab compare load_protects_source --rules 0.5.14 --rules 0.5.23\n"
        "  kvlab compare script.json --rules 0.5.14 --rules 0.5.14-evict_whole_need",
        found="they differ",
    )  # fmt: skip
    parser.add_argument("a", type=Path, metavar="A", help="a run, script or name")
    parser.add_argument("b", type=Path, nargs="?", metavar="B", help="another")
    parser.add_argument("--rules", action="append", default=[], metavar="RELEASE",
        help="twice, instead of B: play A under both")  # fmt: skip
    parser.add_argument("-o", "--out", type=Path, help="both as a page, side by side")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--lang", default="en", choices=("en", "zh"), help="language")


def compare(arguments: argparse.Namespace) -> int:
    """Say where two runs part; 0 if nowhere, 1 if somewhere."""
    check_target(arguments.out, arguments.a, arguments.b)
    if arguments.rules:
        return _under_two_books(arguments)
    if arguments.b is None:
        raise InputError(str(arguments.a), "nothing to compare with",
            "name a second run, or --rules twice")  # fmt: skip
    return _two_runs(arguments)


def _two_runs(arguments: argparse.Namespace) -> int:
    from ..views.compare import comparison, first_difference
    from ..views.page import to_html

    one: AnyTrace
    other: AnyTrace
    fault = None
    if (blocks := two_block_runs(arguments.a, arguments.b)) is not None:
        one, other = blocks
    else:
        (one, fault), (other, _) = whole_run(arguments.a), whole_run(arguments.b)
    found = first_difference(one, other)
    if arguments.out is not None:
        write_text(arguments.out, [to_html(one, other, **_ended(fault))])
    if arguments.json:
        print(json.dumps(found.told(one, other)))
    else:
        print(harmless(comparison(one, other, arguments.lang)))
    return 0 if found.at is None else 1


def _under_two_books(arguments: argparse.Namespace) -> int:
    from ..lessons.what_changed import change, notes, report, told
    from ..rules import Rules
    from ..views.page import to_html

    if arguments.b is not None or len(arguments.rules) != 2:
        raise InputError("--rules", "goes with one script, and twice",
            "e.g. --rules 0.5.14 --rules 0.5.23")  # fmt: skip
    if (script := script_of(arguments.a)) is None:
        there = arguments.a.exists()
        what = "a recorded run cannot be run again" if there else "no such file or name"
        raise InputError(str(arguments.a), what,
            "give its script, or a name such as load_protects_source")  # fmt: skip
    old, new = (Rules.named(text) for text in arguments.rules)
    found = change(script, old, new)
    one, other = found.a.trace, found.b.trace
    if arguments.out is not None:
        ended = _ended(found.a.fault)
        page = to_html(one, other, because=notes(found), **ended)
        write_text(arguments.out, [page])
    if arguments.json:
        print(json.dumps(told(found)))
    else:
        print(harmless(report(found, arguments.lang)))
    return 0 if found.parting.level is None else 1


def _ended(fault: str | None) -> dict[str, Any]:
    return {} if fault is None else {"ended": fault}
