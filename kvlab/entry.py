"""What runs when somebody types `kvlab`?

The commands, behind a guard: imports take a part of a second, and Ctrl-C in it ends
with the same line as later. Left out: the commands (cli/).
"""

from __future__ import annotations

import sys


def run() -> int:
    """Run one command; return its exit status, 130 for one that was stopped."""
    try:
        from .cli import main  # inside the guard: this import is what takes long

        return main()
    except KeyboardInterrupt:
        print("kvlab: stopped; nothing was written", file=sys.stderr)
        return 130
