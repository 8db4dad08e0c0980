"""What can kvlab do from the command line?

Every command prints a result (`--json` for programs) and exits 0. Bad input is one
line on stderr and exit 2, with nothing written. A command imports what it needs when
it runs, so that `--help` answers before torch is loaded.
Left out: the commands themselves, one file each.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from ..errors import KvlabError
from .capacity import add_capacity
from .claims import add_claims
from .compare import add_compare
from .conform import add_conform
from .diagnose import add_diagnose
from .lab import add_lab
from .parser import Help, Parser, one_line
from .play import add_play
from .replay import add_replay
from .rules import add_rules
from .shared import EXITS
from .sweep import add_sweep

COMMANDS = (
    add_lab, add_replay, add_play, add_compare, add_conform, add_diagnose, add_capacity,
    add_rules, add_claims, add_sweep,
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    arguments = _parser().parse_args(argv)
    try:
        status: int = arguments.run(arguments)
        if sys.stdout is not None:  # None: the caller closed it
            sys.stdout.flush()
        return status
    except KvlabError as error:
        return _refuse(str(error))
    except (RecursionError, OverflowError, MemoryError) as error:
        deep = isinstance(error, RecursionError)
        what = "is nested too deeply" if deep else "asks for more than fits here"
        return _refuse(f"{_given(arguments)}: {what}; is it the right file?")
    except KeyboardInterrupt:
        print("kvlab: stopped; nothing was written", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _drop_output()
        return 0
    except OSError as error:
        where = _given(arguments)
        if error.filename is None:  # what is read or written by name has one
            _drop_output()
            where = "standard output"
        return _refuse(f"{where}: {error.strerror or error}; name another")


def _refuse(problem: str) -> int:
    print(one_line(f"kvlab: {problem}"), file=sys.stderr)
    return 2


def _drop_output() -> None:
    """Let what is still to be printed go nowhere, so that the end does not fail too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _given(arguments: argparse.Namespace) -> str:
    """Return what the command was given to read, shortened."""
    names = ("path", "paths", "trace", "a", "model")
    given = next((v for n in names if (v := getattr(arguments, n, None))), "the input")
    return (", ".join(map(str, given)) if isinstance(given, list) else str(given))[:200]


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="kvlab",
        description="A workbench for the KV cache of LLM serving engines.",
        epilog="example:\n  kvlab play three_fates -o page.html\n\n"
        f"exit status:\n  {EXITS.format('')};\n"
        "  compare and conform: 1 where something differs",
        formatter_class=Help,
    )
    parser.add_argument(
        "--version", action="version", version=f"kvlab {version('kvlab')}"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in COMMANDS:
        add(commands)
    return parser
