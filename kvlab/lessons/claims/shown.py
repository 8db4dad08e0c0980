"""How does a notebook show what the articles claim?

`claims("07")` plays the claims of one notebook and shows a table: the sentence, what
became of it, and the numbers. As plain text it is what `kvlab claims` prints.
Left out: playing a claim (ledger.py).
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from ...errors import InputError
from ...views.markup import Markup, esc, join, tag
from ...views.theme import ALERT, INK3, LINE2, LINK, OK, Lang, Words
from ..checks import language
from . import CLAIMS, known
from .case_words import CASES, NUMBERS, VALUES
from .ledger import Case, Entry, Number, Verdict, examine

WORDS = {
    Verdict.HOLDS: Words("holds", "成立"),
    Verdict.CONDITION: Words("holds with a condition", "有条件成立"),
    Verdict.FAILS: Words("does not hold", "不成立"),
    Verdict.NOT_MODELLED: Words("not modelled", "未建模"),
}
_MARKS = {
    Verdict.HOLDS: ("✓", OK),
    Verdict.CONDITION: ("◐", LINK),
    Verdict.FAILS: ("✗", ALERT),
    Verdict.NOT_MODELLED: ("–", INK3),
}
_BESIDE = Words(" (beside) ", "（对照）")
_HEAD = (
    Words("claim", "说法"),
    Words("verdict", "结论"),
    Words("what was found", "依据"),
)


class Shown(Struct, frozen=True):
    """Claims that were played, as a table in a notebook and as text elsewhere."""

    entries: tuple[Entry, ...]
    lang: Lang = "en"
    cases: bool = True

    def __repr__(self) -> str:
        told = [text(entry, self.lang, cases=self.cases) for entry in self.entries]
        counts = Counter(entry.verdict for entry in self.entries)
        total = "; ".join(f"{n} {WORDS[v].to(self.lang)}" for v, n in counts.items())
        return "\n".join([*told, total])

    def _repr_html_(self) -> str:
        head = join(tag("th", esc(w.to(self.lang)), style=_CELL) for w in _HEAD)
        rows = join(_row(entry, self.lang) for entry in self.entries)
        return tag("table", join([tag("thead", tag("tr", head)), tag("tbody", rows)]))


def claims(notebook: str, lang: Lang | None = None) -> Shown:
    """Return what the articles claim on a notebook's subject, each claim played; in the
    language of the folder if none is given, as the exercises are.

    Raises: InputError for a notebook that has no claims. Cost: up to some seconds.
    """
    found = [claim for claim in CLAIMS if claim.notebook == notebook]
    if not found:
        raise InputError(f"notebook {notebook}", "no claims", "use 01 to 12")
    entries = tuple(examine(claim) for claim in found)
    return Shown(entries, lang or language() or "en")


def ledger(ids: Iterable[str] = (), lang: Lang = "en", *, cases: bool = False) -> Shown:
    """Return the claims of an article, a section, or by id; all for none."""
    return Shown(tuple(map(examine, known([*ids]))), lang, cases)


# --- as text


def text(entry: Entry, lang: Lang, *, cases: bool) -> str:
    """Return one claim in a few lines."""
    claim, verdict = entry.claim, WORDS[entry.verdict].to(lang)
    lines = [f"{claim.id:9} {verdict.upper()}"]
    lines += _wrapped(claim.says.to(lang))
    lines += _wrapped("-> " + claim.note.to(lang))
    for case in entry.cases if cases else ():
        lines += _wrapped(_told(case, lang), "  ")
    return "\n".join(lines) + "\n"


def _wrapped(line: str, indent: str = "") -> list[str]:
    lead = " " * 10 + indent
    return textwrap.wrap(line, 88, initial_indent=lead, subsequent_indent=lead)


def _told(case: Case, lang: Lang) -> str:
    """Return a case in one line: whether it holds, and what was measured."""
    mark = ("✗", "✓")[case.holds]
    beside = _BESIDE.to(lang) if case.beside else " "
    return f"{mark}{beside}{measured(case, lang)}"


def measured(case: Case, lang: Lang = "en") -> str:
    """Return a case's name and numbers, and not whether it holds.

    >>> measured(Case("one page short", False, {"need": 4, "free": 3}))
    'one page short: need 4, free 3'
    """
    told = [(name, _short(n)) for name, n in case.numbers.items()]
    if lang == "zh":
        numbers = "，".join(
            f"{NUMBERS.get(name, name)} {VALUES.get(value, value)}"
            for name, value in told
        ).replace("） ", "）")
        return f"{CASES.get(case.name, case.name)}：{numbers}"
    numbers = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in told)
    return f"{case.name}: {numbers}"


def _short(value: Number) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else value


# --- as a table

_CELL = f"text-align:left;vertical-align:top;border-top:1px solid {LINE2}"


def _row(entry: Entry, lang: Lang) -> Markup:
    mark, colour = _MARKS[entry.verdict]
    claim = entry.claim
    verdict = tag("b", esc(f"{mark} {WORDS[entry.verdict].to(lang)}"),
                  style=f"color:{colour};white-space:nowrap")  # fmt: skip
    said = join(
        [tag("div", _with_code(claim.says.to(lang))), tag("small", esc(claim.id))]
    )
    found = join(
        tag("div", tag("small", esc(_told(case, lang)))) for case in entry.cases
    )
    note = tag("div", _with_code(claim.note.to(lang)))
    cells = (said, verdict, join([note, found]))
    return tag("tr", join(tag("td", cell, style=_CELL) for cell in cells))


def _with_code(text: str) -> Markup:
    """Return the text, what stands between backticks as code."""
    parts = text.split("`")
    return join(
        tag("code", esc(part)) if at % 2 else esc(part) for at, part in enumerate(parts)
    )
