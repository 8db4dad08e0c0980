"""How does a command refuse options that it does not know?

As it refuses bad input: one line on stderr that says what to do, and exit 2. argparse
alone prints its whole usage first. Left out: the options (one file a command).
"""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line; its subcommands are parsers of this kind."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where the help is. Raises: SystemExit with 2."""
        said = " ".join(message.split())
        print(f"{self.prog}: {said}; see {self.prog} --help", file=sys.stderr)
        raise SystemExit(2)
