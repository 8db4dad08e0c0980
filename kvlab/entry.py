"""What runs when somebody types `kvlab`?

The commands, behind a guard: imports take a part of a second, and Ctrl-C in it ends
with the same line as later. Left out: the commands (cli/).
"""

from __future__ import annotations

import sys
from io import TextIOWrapper


def run() -> int:
    """Run one command; return its exit status, 130 for one that was stopped.

    What a terminal's encoding lacks (LANG=C, cp1252) is printed as an escape.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        from .cli import main  # inside the guard: this import is what takes long

        return main()
    except KeyboardInterrupt:
        print("kvlab: stopped; nothing was written", file=sys.stderr)
        return 130
