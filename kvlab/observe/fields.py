"""Is this line whole, and what do its fields say?

Engines print `name: value` fields between commas. A line that lost columns can still
look like one (`#cached-tounning-req: 34`), so a line counts only if every piece has the
form, every number is a number, the fields that its kind always has are all there and in
their order, and no name is spliced from two others.
Left out: which kinds there are (sglang_lines.py, vllm_lines.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

_PIECE = re.compile(r"(?P<name>#?[A-Za-z][^:]*?): *(?P<value>\S.*)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d{1,2})?")
_UNITS = re.compile(r" ?(?:%|tokens/s|token/s|reqs?|tokens|ms|GB/s|GB|x)\.?$")
_WORDS = {"True": 1.0, "False": 0.0, "None": None}


_DIGITS = re.compile(r"(?<![A-Za-z0-9])([0-9]+(?:\.[0-9]+)?)")
_SLOT = re.compile(rf"\0(?:{_UNITS.pattern})?")
Plan = tuple[tuple[str, bool] | None, ...]
"""For each number of a line: our name and whether it is a percent, None if not kept."""


class Layout(Struct, frozen=True, eq=False):
    """The fields of one kind of line; two are never the same.

    `known` maps every name to ours ("" for one that is read and not kept); `always`
    are the groups of which each line has one, in their order; `percent` names are 0 to
    100 on the line and become 0 to 1.
    """

    known: Mapping[str, str]
    always: Sequence[tuple[str, ...]]
    percent: frozenset[str] = frozenset()


def read_fields(text: str, layout: Layout) -> dict[str, float] | None:
    """Return the fields of the line by our names; None if the line is not whole.

    >>> layout = Layout({"#a": "a", "#b": "b"}, (("#a",), ("#b",)))
    >>> read_fields("#a: 3, #b: 4, ", layout), read_fields("#a: 3, #", layout)
    ({'a': 3.0, 'b': 4.0}, None)
    """
    form, said = split(text)
    slots = plan(form, layout)
    if slots is None or len(slots) != len(said):
        return _read(text, layout)
    return fill(slots, said)


def split(text: str) -> tuple[str, list[str]]:
    """Return the form of a line and its numbers. Lines of one release differ in their
    numbers only: a form is what is left, `\\0` in the place of each; those in the name
    of a rank stay.

    >>> split("TP0 Running: 3 reqs, usage: 9.5%")
    ('TP0 Running: \\x00 reqs, usage: \\x00%', ['3', '9.5'])
    """
    parts = _DIGITS.split(text)
    return "\0".join(parts[::2]), parts[1::2]


def fill(slots: Plan, said: list[str]) -> dict[str, float]:
    """Return the fields of a line whose form has this plan."""
    return {
        slot[0]: round(float(number) / 100, 6) if slot[1] else float(number)
        for slot, number in zip(slots, said, strict=True)
        if slot is not None
    }


def _read(text: str, layout: Layout) -> dict[str, float] | None:
    """Read a line whose form is not known: piece by piece."""
    found: dict[str, float] = {}
    order: list[str] = []
    for piece in text.strip().rstrip(",").split(", "):
        name, _, said = piece.strip().partition(": ")
        if name not in layout.known:
            if not _is_other_field(piece.strip(), layout.known):
                return None
            continue
        value = _number(said)
        if value is False:
            return None
        order.append(name)
        ours = layout.known[name]
        if ours and value is not None:
            found[ours] = round(value / 100, 6) if name in layout.percent else value
    return found if _in_order(order, layout.always) else None


@lru_cache(maxsize=256)
def plan(form: str, layout: Layout) -> Plan | None:
    """Return what the numbers of each line of this form are; None for a form that is
    not whole, or of which each line is to be read by itself.

    Nothing but the form decides whether a line is whole.
    """
    if _read(form.replace("\0", "0"), layout) is None:
        return None
    slots: list[tuple[str, bool] | None] = []
    for piece in form.strip().rstrip(",").split(", "):
        name, _, said = piece.strip().partition(": ")
        ours = layout.known.get(name)
        if ours is None or "\0" not in said:
            if "\0" in piece and ours is not None:
                return None
            slots += [None] * piece.count("\0")
        elif _SLOT.fullmatch(said.strip()):
            slots.append((ours, name in layout.percent) if ours else None)
        else:
            return None
        if ours and "\0" not in said:
            return None  # a word that is a value
    return tuple(slots)


def _number(text: str) -> float | bool | None:
    """Return the value; None for one that says nothing, False for a broken one."""
    text = text.strip()
    if text.replace(".", "", 1).isdecimal():
        return float(text)
    if text in _WORDS:
        return _WORDS[text]
    bare = _UNITS.sub("", text)
    if not _NUMBER.fullmatch(bare):
        return False
    return float(bare)


def _in_order(names: list[str], always: Sequence[tuple[str, ...]]) -> bool:
    """Say whether each group has a member among the names, one after the other."""
    place = 0
    for group in always:
        at = next((i for i in range(place, len(names)) if names[i] in group), None)
        if at is None:
            return False
        place = at + 1
    return True


def _is_other_field(piece: str, known: Mapping[str, str]) -> bool:
    """Say whether the piece is a whole field, if one that is not known here."""
    split = _PIECE.fullmatch(piece)
    return split is not None and not _is_splice(split["name"], known)


def _is_splice(name: str, known: Mapping[str, str]) -> bool:
    """Say whether the name begins like one field and ends like another: what a lost
    column leaves."""
    head, tail = name[:5], name[-5:]
    begins = {full for full in known if full.startswith(head)}
    ends = {full for full in known if full.endswith(tail)}
    return bool(begins) and bool(ends) and not begins & ends
