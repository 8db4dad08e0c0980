"""What did somebody write to the events of a run, and how does a page keep it?

A note is one short line to one event, counted from 1; a bookmark is an event that
somebody wants to come back to, with a note or without.
Left out: typing and showing them (player/notes.js, player/caption.js).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import SupportsIndex

from ..errors import TraceError
from ..record.folding import is_among
from ..record.trace import AnyTrace

LONGEST = 200
"""Characters of a note."""

_WIDE = re.compile("[\u2e80-\uffef]")
_PACE = 15
"""Letters that are read aloud in a second; a Chinese character takes three letters'."""
_BREATH = 1
STEP = 0.6
"""Seconds from an event to the next while the player plays at 1×."""


def checked(notes: Mapping[int, str] | None, trace: AnyTrace) -> dict[int, str]:
    """Return the notes in the order of their events, each on one line.

    Raises: TraceError if the run has no such event, or a note is too long or no text.
    """
    if notes is None:
        return {}
    if not isinstance(notes, Mapping):
        raise TraceError("notes", "have no events", 'give {137: "30 are missing"}')
    found = {}
    for given, text in notes.items():
        event = event_of("note", given, trace)
        if not isinstance(text, str) or len(line := " ".join(text.split())) > LONGEST:
            raise TraceError(
                f"note {event}", "is no short text", f"use at most {LONGEST} characters"
            )
        found[event] = line
    return dict(sorted(found.items()))


def event_of(what: str, event: SupportsIndex, trace: AnyTrace) -> int:
    """Return the event as a number. Raises: TraceError if the run has no such event."""
    if not is_among(event, 1, len(trace)):
        raise TraceError(
            f"{what} {event!r:.40}", "is to no event of the run",
            f"use 1 to {len(trace)}",
        )  # fmt: skip
    return int(event)


def marks_of(bookmarks: Iterable[int], notes: Mapping[int, str]) -> bytes:
    """Return what a page keeps of bookmarks and their notes; empty without any."""
    marks = [[event, notes.get(event, "")] for event in bookmarks]
    return json.dumps(marks).encode() if marks else b""


def seconds(text: str) -> float:
    """Return how long it takes to read a note aloud.

    >>> round(seconds("30 are missing"), 1)
    1.9
    """
    return _BREATH + (len(text) + 2 * len(_WIDE.findall(text))) / _PACE
