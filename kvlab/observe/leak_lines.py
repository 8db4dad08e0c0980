"""What does SGLang say when its KV account does not add up?

Five generations of text, over one to several lines, some without a timestamp. All come
down to one account for each pool: what is free, evictable, protected and held, against
the total. The same dump stands before a watchdog's timeout, so a dump alone is no leak:
the sum decides.
Left out: what the account means (rules_leak.py).
"""

from __future__ import annotations

import re

from msgspec import Struct

START = re.compile(
    r"(?:KV cache pool|Memory pool|memory|Pool Mem) leak detected|"
    r"Pool Mem Leak Detected|Warning: available_size=\d+, max_total_num_token=|"
    r"\[(?:full|swa|mamba)\] total=\d",
    re.I,
)
MORE = re.compile(
    r"^\s*(?:self\.\S+=|\[(?:full|swa|mamba)\]|\w*available_size=|leaked_\w+=|"
    r"KV cache pool leak|full_\w+=|mamba_\w+=|available_size=)"
)
_PAIR = re.compile(r"([A-Za-z_][\w.]*(?:\(\))?)=(-?\d{1,18})(?!\d)")
_POOL = re.compile(r"\[(full|swa|mamba)\]")
_TERMS = {
    "available_size": "available", "available": "available",
    "evictable_size": "evictable", "evictable": "evictable",
    "protected_size": "protected", "protected": "protected",
    "session_held": "session_held", "uncached": "uncached",
    "max_total_num_tokens": "total", "max_total_num_token": "total",
    "total": "total", "size": "total", "total_size": "total",
}  # fmt: skip
_PARTS = ("available", "evictable", "protected", "session_held", "uncached")


class Account(Struct, frozen=True):
    """One pool's account as the engine printed it. Units: tokens (slots of a pool that
    is not in tokens). `delta` is the sum of the parts less the total."""

    pool: str
    total: int
    available: int
    evictable: int
    protected: int
    session_held: int = 0
    uncached: int = 0

    @property
    def delta(self) -> int:
        """More than 0: counted twice; less: lost."""
        parts = sum(getattr(self, name) for name in _PARTS)
        return int(parts - self.total)


def read_accounts(text: str) -> list[Account]:
    """Return the accounts of a whole dump, its lines joined by newlines.

    A later, more precise value replaces an earlier one: old releases print
    available + evictable under the name of the first, and the true value below.
    """
    pools: dict[str, dict[str, int]] = {}
    for line in text.splitlines():
        at, named = 0, "full"
        slots = "Memory pool leak" in line and "KV" not in line
        if slots or "req_to_token_pool memory leak" in line:
            named = "request slots"
        if line.lstrip().startswith("mamba_"):
            named = "mamba"
        marks = [*_POOL.finditer(line)]
        for index, mark in enumerate(marks or [None]):
            if mark is not None:
                at, named = mark.end(), mark[1]
            end = marks[index + 1].start() if index + 1 < len(marks) else len(line)
            _take(line[at:end], pools.setdefault(named, {}))
    return [_account(name, terms) for name, terms in pools.items() if _whole(terms)]


def _take(text: str, terms: dict[str, int]) -> None:
    for key, value in _PAIR.findall(text):
        name = key.removesuffix("()").rsplit(".", 1)[-1]
        name = name.removeprefix("full_").removeprefix("mamba_").removeprefix("swa_")
        if name in _TERMS:
            terms[_TERMS[name]] = int(value)


def _whole(terms: dict[str, int]) -> bool:
    return terms.get("total", 0) > 0 and "available" in terms


def _account(pool: str, terms: dict[str, int]) -> Account:
    return Account(pool, terms["total"], *(terms.get(name, 0) for name in _PARTS))
