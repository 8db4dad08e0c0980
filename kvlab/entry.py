"""What runs when somebody types `kvlab`?

The commands, behind a guard: imports take a part of a second, and Ctrl-C in it ends
with the same line as later. SIGTERM unwinds too, and so does a terminal that closes
(SIGHUP, unless nohup keeps it off): no half file and no worker stays.
Left out: the commands (cli/).
"""

from __future__ import annotations

import signal
import sys
from io import TextIOWrapper
from types import FrameType


def run() -> int:
    """Run one command; return its exit status, 130 for one that was stopped.

    What a terminal's encoding lacks (LANG=C, cp1252) is printed as an escape.
    Changes: what SIGTERM and SIGHUP do in this process, which then ends with 143 or
    129, and after the command what Ctrl-C does.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    ends = [signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        ends.append(signal.SIGHUP)
    for number in ends:
        signal.signal(number, _terminated)
    try:
        from .cli import main  # inside the guard: this import is what takes long

        return main()
    except KeyboardInterrupt:
        print("kvlab: stopped; nothing was written", file=sys.stderr)
        return 130
    finally:
        for number in (signal.SIGINT, *ends):
            signal.signal(number, signal.SIG_DFL)  # all is done: end without a word


def _terminated(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
