"""Where do two records differ, field by field?

Equal means equal in type as well: 1 is neither true nor "1", though 1.0, since JSON has
one kind of number. A field that only one of the two has is a difference, whatever its
value. Left out: how the records come to be (conform.py, block_conform.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

ABSENT = "(absent)"
"""How a field that a record lacks is told."""

RAISED = ("assertion", "runtime_error", "exception")
"""Results of an op that failed: which of them, and its text, are the release's own."""

Found = tuple[str, Any, Any]
"""A field, what it should be, what it is."""


class Difference(Struct, frozen=True):
    """One field that differs. `record` is -1 for the state before the first op, and
    for what a file says of its run as a whole."""

    file: str
    record: int
    field: str
    expected: Any
    got: Any


class Report(Struct, frozen=True):
    """What was compared: of `records` in `files` files, `equal` agree in all fields."""

    files: int
    records: int
    equal: int
    differences: list[Difference]


def differences(want: Any, have: Any, field: str = "") -> Iterator[Found]:
    """Yield every leaf in which two decoded JSON values differ, in the fields' order.

    >>> list(differences({"a": [1, 2], "b": 1}, {"a": [1, 3], "b": True}))
    [('a[1]', 2, 3), ('b', 1, True)]
    """
    if type(want) is not type(have) and {type(want), type(have)} != {int, float}:
        yield field, want, have
    elif isinstance(want, dict):
        for key in sorted(want.keys() | have.keys()):
            inner = f"{field}.{key}" if field else key
            if key in want and key in have:
                yield from differences(want[key], have[key], inner)
            else:
                yield inner, want.get(key, ABSENT), have.get(key, ABSENT)
    elif isinstance(want, list) and len(want) == len(have):
        for at, (a, b) in enumerate(zip(want, have, strict=True)):
            yield from differences(a, b, f"{field}[{at}]")
    elif want != have:
        yield field, want, have


def failed(result: Any) -> bool:
    """True for the result of an op in which an assertion of the engine failed."""
    return isinstance(result, dict) and any(key in result for key in RAISED)
