"""What does `kvlab rules` print?

The rules in which the releases of SGLang differ: their answers, sources, recorded
states and effects, from the record itself (kvlab/rules.py).
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..errors import InputError
from .shared import add_command


def add_rules(commands: Any) -> None:
    """Declare the command."""
    parser = add_command(
        commands, "rules", rules, "the rules in which SGLang's releases differ",
        "kvlab rules\n  kvlab rules load_protects_source evict_whole_need",
    )  # fmt: skip
    parser.add_argument("names", nargs="*", metavar="RULE", help="default: all")
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    parser.add_argument("--lang", default="en", choices=("en", "zh"), help="language")


def rules(arguments: argparse.Namespace) -> int:
    """Print the table of the rules."""
    from ..rules import facts
    from ..views.rule_table import rules_text, rules_told

    for name in arguments.names:
        if name not in facts():
            raise InputError(f"rule {name!r}", "is none", "`kvlab rules` lists them")
    if arguments.json:
        chosen = arguments.names or facts()
        print(json.dumps([rule for rule in rules_told() if rule["name"] in chosen]))
    else:
        print(rules_text(arguments.names or None, arguments.lang))
    return 0
