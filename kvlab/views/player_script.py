"""How do the files under player/ become the one script that a page holds?

Each is an ES module of its own, which imports what it needs from its neighbours. Here
they are put one after the other, those imported first; the imports between them, and
what the files say of themselves, are dropped: one module, with no build step. So no two
files may define the same name.
Left out: the page around the script (page.py), the widget (widget.py).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("player")
FIRST = "start.js"
"""The file from which every other is reached."""

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w.]+)";\n', re.MULTILINE)

_SAID = re.compile(r"^(?://[^\n]*| */\*\*.*?\*/)\n", re.MULTILINE | re.DOTALL)
"""The head of a file, and what stands above a definition: a seventh of all bytes."""


@cache
def script() -> str:
    """Return the player's source as one ES module.

    Raises: FileNotFoundError if a file imports one that is not there.
    """
    joined = "\n".join(_IMPORT.sub("", source) for source in modules().values())
    return _SAID.sub("", joined)


def modules() -> dict[str, str]:
    """Return the source of every file by its name, each after all that it imports."""
    found: dict[str, str] = {}
    _collect(FIRST, found, ())
    return found


def imports(source: str) -> list[str]:
    """Return the neighbours that a file imports from.

    >>> imports('import { num } from "./text.js";\\n')
    ['text.js']
    """
    return _IMPORT.findall(source)


def _collect(name: str, found: dict[str, str], above: tuple[str, ...]) -> None:
    assert name not in above, f"player/{name} imports itself by way of {above}"
    if name in found:
        return
    source = (FOLDER / name).read_text("utf-8")
    for neighbour in imports(source):
        _collect(neighbour, found, (*above, name))
    found[name] = source
