"""What does an article claim, and does the engine agree?

A claim is a sentence of an article, in our own words, with a check that plays it. The
check yields *cases*: one situation each, whether the sentence holds there, and the
numbers. The verdict is counted, never typed:

        every case holds             it holds
        some do, some do not         it holds with a condition (the note says which)
        no case holds                it does not hold

A case may stand *beside* the verdict: another release, shown for comparison. A claim
without a check says why nothing here can play it.
Left out: the claims themselves (s1_*.py, s2_*.py), which notebook shows them when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any

from msgspec import Struct, to_builtins

from ...views.theme import Words

Number = float | int | str


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"
    CONDITION = "holds with a condition"
    FAILS = "does not hold"
    NOT_MODELLED = "not modelled"


class Case(Struct, frozen=True):
    """One situation in which a claim was played. `beside`: it does not judge."""

    name: str
    holds: bool
    numbers: dict[str, Number]
    beside: bool = False


Check = Callable[[], Iterator[Case]]


class Claim(Struct, frozen=True, kw_only=True):
    """A sentence to be tested.

    `id` is the article, its section and a number: S1-1.2-3. `notebook` is the two
    digits of the one that plays it. `note` tells the condition, or the reason.
    """

    id: str
    says: Words
    note: Words
    notebook: str
    check: Check | None = None

    @property
    def article(self) -> int:
        """1: on L1 and admission; 2: on the L1-L2 data flow."""
        return int(self.id[1])

    @property
    def section(self) -> str:
        """The section of the article in which it stands."""
        return self.id.split("-")[1]


class Entry(Struct, frozen=True):
    """A claim after its check: what was found, and what that makes of it."""

    claim: Claim
    cases: tuple[Case, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict that the cases add up to.

        >>> held, failed = Case("a", True, {}), Case("b", False, {})
        >>> claim = Claim(id="S1-1-1", says=Words("", ""), note=Words("", ""),
        ...     notebook="01")
        >>> [str(Entry(claim, c).verdict) for c in ((held,), (held, failed), ())]
        ['holds', 'holds with a condition', 'not modelled']
        """
        judging = {case.holds for case in self.cases if not case.beside}
        if not judging:
            return Verdict.NOT_MODELLED
        if len(judging) == 2:
            return Verdict.CONDITION
        return Verdict.HOLDS if judging == {True} else Verdict.FAILS

    def told(self) -> dict[str, Any]:
        """Return the entry for JSON."""
        claim = self.claim
        return {
            "id": claim.id,
            "article": claim.article,
            "section": claim.section,
            "says": claim.says._asdict(),
            "verdict": self.verdict.value,
            "note": claim.note._asdict(),
            "notebook": claim.notebook,
            "cases": to_builtins(self.cases),
        }


class Ledger:
    """The claims of a file, in the order in which they stand there."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []

    def claim(
        self, id: str, notebook: str, says: tuple[str, str], note: tuple[str, str]
    ) -> Callable[[Check], Check]:
        """Return what enters the function below it as the check of a claim.

        `says` and `note` are English and Chinese. Changes: the ledger.
        """

        def enter(check: Check) -> Check:
            self._enter(id, notebook, says, note, check)
            return check

        return enter

    def unmodelled(
        self, id: str, notebook: str, says: tuple[str, str], why: tuple[str, str]
    ) -> None:
        """Enter a claim that nothing here can play, and why. Changes: the ledger."""
        self._enter(id, notebook, says, why, None)

    def _enter(
        self, id: str, notebook: str, says: tuple[str, str], note: tuple[str, str],
        check: Check | None,
    ) -> None:  # fmt: skip
        self.claims.append(
            Claim(
                id=id,
                says=Words(*says),
                note=Words(*note),
                notebook=notebook,
                check=check,
            )
        )


def case(name: str, holds: object, *, beside: bool = False, **numbers: Number) -> Case:
    """Return a case; `holds` is read as true or false.

    >>> case("one page short", 3 > 4, need=4, free=3).numbers
    {'need': 4, 'free': 3}
    """
    return Case(name, bool(holds), numbers, beside)


def examine(claim: Claim) -> Entry:
    """Play a claim's check. Cost: milliseconds to a second."""
    return Entry(claim, () if claim.check is None else tuple(claim.check()))
