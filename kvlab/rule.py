"""What is a rule that differs between releases, and how is a set of them named?

A rule book has a name: a release's, or that of the nearer one and the rules that are
set (+) or taken away (-): `0.5.14-evict_whole_need+load_protects_source`. Rules that
rest on another are checked here.
Left out: the rules themselves (rules.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from .errors import ConfigError

OLD, NEW = RELEASES = ("0.5.14", "0.5.23")
"""The releases of SGLang that have a rule book."""

DEFAULT = NEW
"""The release that is followed where none is named."""


class Rule(Struct, frozen=True, kw_only=True):
    """What one field of `Rules` is about.

    `old` is 0.5.14's answer to `about`, 0.5.23's is the other; `effect` is what that
    comes to (`effect_zh`: the same in Chinese). `sources` are paths in the released
    wheels under `sglang/srt/` with a symbol, first 0.5.14's, then 0.5.23's; one, if it
    is the same or only 0.5.23 has it.
    `golden` names the record that shows it (`x03#10`: record 10), None where no
    compared record can; `note` says why, or what else to know.
    """

    old: bool
    about: str
    effect: str
    effect_zh: str
    sources: tuple[str, ...]
    golden: str | None = None
    note: str = ""

    def answer(self, release: str) -> bool:
        """Return the answer of a release."""
        return self.old if release == OLD else not self.old


NEEDS = (
    ("checkpoint_cuts_prompt", "request_counts_once",
     "its second insert of the prompt counts no hit because the request has"),
    ("reclaims_duplicates", "load_protects_source",
     "only its lock keeps a copy that is being read from being given up"),
)  # fmt: skip
"""Rules that rest on another, and why: the first without the second is no engine."""


def check_needs(answers: Mapping[str, bool]) -> None:
    """Raises: ConfigError if an answer needs another that is not given."""
    for rule, needed, why in NEEDS:
        if answers[rule] and not answers[needed]:
            raise ConfigError(
                f"rule {rule} needs {needed}: {why}; set both (+) or neither (-)"
            )


def nearest(answers: Mapping[str, bool], facts: Mapping[str, Rule]) -> str:
    """Return the release that shares more of the answers; 0.5.23 where they tie."""
    shared = [answers[name] == rule.old for name, rule in facts.items()]
    return OLD if 2 * sum(shared) > len(shared) else NEW


def name_of(answers: Mapping[str, bool], facts: Mapping[str, Rule]) -> str:
    """Return how the answers are called: what `read_name` reads."""
    release = nearest(answers, facts)
    changes = [
        f"{'+' if answers[name] else '-'}{name}"
        for name, rule in facts.items()
        if answers[name] != rule.answer(release)
    ]
    return release + "".join(changes)


def read_name(text: str, facts: Mapping[str, Rule]) -> dict[str, bool]:
    """Return the answers of a release, or of one with rules set or taken away.

    Raises: ConfigError for a release without a rule book, a rule that is none, or a
    change that changes nothing.
    """
    release, *changes = re.split(r"(?=[+-])", text)
    if release not in RELEASES:
        known = ", ".join(RELEASES)
        raise ConfigError(f"no rule book for SGLang {release!r}; kvlab has {known}")
    answers = {name: rule.answer(release) for name, rule in facts.items()}
    for change in changes:
        wanted, name = change[0] == "+", change[1:]
        if name not in facts:
            raise ConfigError(f"no rule {name!r}; `kvlab rules` lists them")
        if answers[name] == wanted:
            already, other = ("has", "-") if wanted else ("is without", "+")
            raise ConfigError(
                f"rules {text!r}: it already {already} {name}; write {other}{name}, "
                "or leave it out"
            )
        answers[name] = wanted
    return answers
