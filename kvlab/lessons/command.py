"""How does a lesson behave on the command line?

As `kvlab` itself: bad input is one line and exit 2, Ctrl-C one line and exit 130.
Left out: what the lessons do.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import wraps
from typing import Protocol

from ..errors import KvlabError


class Main(Protocol):
    """Takes the words after the name, those of the process if None, and returns the
    exit status."""

    def __call__(self, argv: Sequence[str] | None = None) -> int: ...


def parser(module: str, doc: str | None) -> argparse.ArgumentParser:
    """Return a parser for `python -m kvlab.lessons.MODULE` that prints `doc` as is."""
    return argparse.ArgumentParser(
        prog=f"python -m kvlab.lessons.{module}", description=doc,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip


def command(main: Main) -> Main:
    """Return `main`, telling in one line what it could not do."""

    @wraps(main)
    def told(argv: Sequence[str] | None = None) -> int:
        try:
            return main(argv)
        except KvlabError as error:
            print(f"kvlab: {error}", file=sys.stderr)
        except OSError as error:
            problem = f"{error.filename}: {error.strerror}; name another place"
            print(f"kvlab: {problem}", file=sys.stderr)
        except KeyboardInterrupt:
            print("kvlab: stopped", file=sys.stderr)
            return 130
        return 2

    return told
