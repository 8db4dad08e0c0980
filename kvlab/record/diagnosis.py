"""What was found out about an engine, as plain records that a view can draw?

The result of `kvlab diagnose`: names and meanings as its contract says, with the
samples it rests on, what else was considered, and a few series for a timeline.
Left out: how it is found (observe/), how it looks (views/diagnosis_page.py).
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

Status = Literal["ok", "partial", "error"]


class Quote(Struct, frozen=True):
    """A sample that a verdict rests on: what it shows, and where it stands."""

    text: str
    place: str
    time: float | None = None


class Considered(Struct, frozen=True):
    """A cause that was looked at and is not the answer, and why not."""

    cause: str
    why: str


class Lane(Struct, frozen=True):
    """One curve of the timeline, of one scheduler.

    Shapes: `xs` and `values` are as long as one another. Units: `xs` in seconds where
    `timed`, else the number of the report; `top` is the value at the upper edge;
    `pool` says that it is how full L1 is.
    """

    label: str
    track: str
    xs: tuple[float, ...]
    values: tuple[float, ...]
    top: float
    pool: bool = False


class Diagnosis(Struct, frozen=True, kw_only=True):
    """What `kvlab diagnose` says. `says` is the cause in one sentence; `marks` are the
    x of the evidence, with its text; `lang` is the language of all sentences."""

    status: Status
    engine: str
    kind: str
    verdict: str
    cause: str
    confidence: str
    facts: dict[str, Any]
    reasons: tuple[str, ...]
    next: tuple[str, ...]
    says: str = ""
    evidence: tuple[Quote, ...] = ()
    considered: tuple[Considered, ...] = ()
    notes: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    lanes: tuple[Lane, ...] = ()
    marks: tuple[tuple[float, str], ...] = ()
    timed: bool = False
    lang: str = "en"

    def told(self) -> dict[str, Any]:
        """Return what `--json` prints: everything but the curves."""
        names = (
            "status", "engine", "kind", "verdict", "cause", "confidence", "facts",
            "reasons", "next", "evidence", "considered", "notes", "inputs",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}
