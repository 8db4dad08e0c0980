"""How does a command tell its options, and refuse those that it does not know?

Its help ends with an example and with what its exit status means, and names every
default. It refuses as it refuses bad input: one line on stderr that says what to do,
and exit 2. argparse alone prints its whole usage first.
Left out: the options (one file a command).
"""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn
from unicodedata import category


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line; its subcommands are parsers of this kind."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where the help is. Raises: SystemExit with 2."""
        said = " ".join(message.split())
        print(one_line(f"{self.prog}: {said}; see {self.prog} --help"), file=sys.stderr)
        raise SystemExit(2)


def one_line(said: str) -> str:
    """Return the text as one line without what would steer a terminal; the middle of a
    very long one is left out.

    >>> one_line("a\\nb\\x1b[31m.log: is empty")
    'a\\\\nb\\\\x1b[31m.log: is empty'
    """
    line = harmless(said).replace("\n", "\\n")
    return line if len(line) <= _LONGEST else f"{line[:400]} … {line[-200:]}"


_LONGEST = 700


def harmless(text: str) -> str:
    """Return the text with an escape for each character, but the end of a line, that
    would steer a terminal or turn the direction of writing: names come from outside.

    >>> harmless("a\\x1b[31m\\nb")
    'a\\\\x1b[31m\\nb'
    """
    return "".join(
        c.encode("unicode_escape").decode() if _steers(c) else c for c in text
    )


def _steers(char: str) -> bool:
    return char != "\n" and category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")


class Help(argparse.RawDescriptionHelpFormatter):
    """Help in which every option that has a default says so."""

    def _get_help_string(self, action: argparse.Action) -> str:
        text, value = action.help or "", action.default
        none = value is None or value is False or value in ("", [], argparse.SUPPRESS)
        if none or not action.option_strings or "default" in text:
            return text
        return f"{text} (default %(default)s)"
