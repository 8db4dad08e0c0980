"""Which words may follow which? Used by the tests of what a run tells.

A rule is a regular expression over words: `Alloc (Free | Row)*`. Names of parts stand
for other rules.
"""

from __future__ import annotations

import re
from functools import cache


class Grammar:
    """Rules that share named parts.

    >>> Grammar({"pair": "Lock Unlock"}).allows("(pair)* Hit?", ["Lock", "Unlock"])
    True
    """

    def __init__(self, parts: dict[str, str]) -> None:
        self._parts = parts
        self._pattern = cache(lambda rule: re.compile(self._spelled(rule)))

    def allows(self, rule: str, words: list[str]) -> bool:
        said = "".join(f"{word} " for word in words)
        return self._pattern(rule).fullmatch(said) is not None

    def _spelled(self, rule: str) -> str:
        def put(found: re.Match[str]) -> str:
            part = self._parts.get(found[0])
            own = rf"{re.escape(found[0])}\s" if part is None else self._spelled(part)
            return f"(?:{own})"

        return re.sub(r"[A-Za-z][\w.]*", put, rule).replace(" ", "")
