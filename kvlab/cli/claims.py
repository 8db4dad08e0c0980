"""What does `kvlab claims` do?

It plays every claim of the articles, or those asked for, and prints what was found.
"""

from __future__ import annotations

import argparse
import json
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
    parser.add_argument("--lang", default="en", choices=("en", "zh"), help="language")


def _claims(arguments: argparse.Namespace) -> int:
    """Print the ledger. Raises: InputError for an id that no claim has."""
    from ..lessons.claims import examine, known
    from ..lessons.claims.shown import Shown

    found = known(arguments.ids)
    if not found:
        raise InputError(", ".join(arguments.ids), "no claim", "see kvlab claims")
    with progress(len(found), "claims", "") as bar:
        entries = []
        for claim in found:
            entries.append(examine(claim))
            bar.update()
    if arguments.json:
        print(json.dumps([entry.told() for entry in entries], ensure_ascii=False))
    else:
        print(Shown(tuple(entries), arguments.lang, arguments.cases))
    return 0
