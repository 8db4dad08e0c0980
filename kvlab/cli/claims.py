"""What does `kvlab claims` do?

It plays every claim of the articles, or those asked for, and prints what was found.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections import Counter
from typing import Any

from ..errors import InputError
from .shared import add_command, progress


def add_claims(commands: Any) -> None:
    """Declare the command."""
    parser = add_command(
        commands, "claims", _claims, "play what the articles claim, and say what holds",
        "kvlab claims\n  kvlab claims S2-2.1 --cases\n  kvlab claims --lang zh",
    )  # fmt: skip
    parser.add_argument(
        "ids", nargs="*", metavar="ID", help="an article, a section or a claim: S2-2.1"
    )
    parser.add_argument("--cases", action="store_true", help="every case's numbers")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--lang", default="en", choices=("en", "zh"))


def _claims(arguments: argparse.Namespace) -> int:
    """Print the ledger. Raises: InputError for an id that no claim has."""
    from ..lessons.claims import examine, known

    found = known(arguments.ids)
    if not found:
        raise InputError(", ".join(arguments.ids), "no claim", "see kvlab claims")
    with progress(len(found), "claims", "") as bar:
        entries = [(examine(claim), bar.update())[0] for claim in found]
    if arguments.json:
        print(json.dumps([_told(entry) for entry in entries], ensure_ascii=False))
        return 0
    for entry in entries:
        print(_text(entry, arguments.lang, arguments.cases))
    counts = Counter(entry.verdict.value for entry in entries)
    print("; ".join(f"{number} {verdict}" for verdict, number in counts.items()))
    return 0


def _told(entry: Any) -> dict[str, Any]:
    from msgspec import to_builtins

    claim = entry.claim
    return {
        "id": claim.id,
        "article": claim.article,
        "section": claim.section,
        "says": claim.says._asdict(),
        "verdict": entry.verdict.value,
        "note": claim.note._asdict(),
        "notebook": claim.notebook,
        "cases": to_builtins(entry.cases),
    }


def _text(entry: Any, lang: Any, cases: bool) -> str:
    claim = entry.claim
    lines = [
        f"{claim.id:9} {entry.verdict.value.upper()}",
        *_wrapped(claim.says.to(lang)),
        *_wrapped("-> " + claim.note.to(lang)),
    ]
    for case in entry.cases if cases else ():
        mark = ("no", "yes")[case.holds] + (" (beside)" if case.beside else "")
        told = ", ".join(f"{name} {_number(n)}" for name, n in case.numbers.items())
        lines += _wrapped(f"{mark}: {case.name}: {told}", "  ")
    return "\n".join(lines) + "\n"


def _wrapped(text: str, indent: str = "") -> list[str]:
    lead = " " * 10 + indent
    return textwrap.wrap(text, 88, initial_indent=lead, subsequent_indent=lead)


def _number(value: float | int | str) -> str:
    return f"{value:,.3g}" if isinstance(value, float) else str(value)
