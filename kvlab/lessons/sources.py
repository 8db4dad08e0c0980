"""Where does each rule stand, in the engine and in kvlab?

Two lists, read off the rules themselves: the decisions, each with the card that the
player shows of it, and the rules in which releases of SGLang differ. A line leads to
the engine's file at its release, and to kvlab's own lines, which open beneath it.
Left out: what the rules say (views/why_*.py, rules.py).
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..record import block_events as be
from ..record import events as ev
from ..rule import NEW, OLD
from ..rules import facts
from ..views.block_whys import BLOCK_WHYS, block_source
from ..views.cards import kind_of
from ..views.markup import NOTHING, Markup, esc, join, tag
from ..views.player_tables import own_lines
from ..views.theme import LINE2, Lang, Words
from ..views.why import Own, Why
from ..views.why_schedule import WHYS
from .checks import language

PACKAGE = Path(__file__).resolve().parents[1]
_TREE = "hiradix"
_TELL = ("rule.py", "rules.py", "lessons", "observe", "views")
"""Files and folders that tell the rules, and ask none."""
_AROUND = 2
"""Lines shown before and after a line that asks a rule."""
_ROOTS = {
    "SGLang": "https://github.com/sgl-project/sglang/blob/v{release}/python/sglang/srt/",
    "vLLM": "https://github.com/vllm-project/vllm/blob/v{release}/vllm/",
}
_DECISIONS = Words("Decisions", "决策")
_RULES = Words("Rules that differ between releases", "版本之间不同的规则")
_HEAD = (Words("rule", "规则"), Words("in the engine", "引擎中"),
         Words("in kvlab", "kvlab 中"))  # fmt: skip


class Place(NamedTuple):
    """Where a rule stands in an engine: a file of a release, and a symbol in it."""

    project: str
    release: str
    path: str
    symbol: str

    @property
    def address(self) -> str:
        """The file at that release, on the project's own pages."""
        return _ROOTS[self.project].format(release=self.release) + self.path

    def __str__(self) -> str:
        return f"{self.project} {self.release} · {self.path} · {self.symbol}".rstrip(
            " ·"
        )


class Lines(NamedTuple):
    """Where a rule stands in kvlab: a file, a line counted from 1, the code there."""

    path: str
    line: int
    code: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class Entry(NamedTuple):
    """One rule: its names, what it says, and all places at which it stands."""

    names: tuple[str, ...]
    says: Words
    engine: tuple[Place, ...]
    own: tuple[Lines, ...]


class Index(NamedTuple):
    """All rules with their places; a notebook shows it as two tables of links, a
    terminal as text."""

    decisions: tuple[Entry, ...]
    rules: tuple[Entry, ...]
    lang: Lang

    def __repr__(self) -> str:
        return "\n".join(
            line
            for words, entries in self._parts()
            for line in (words.to(self.lang), *map(_text, entries))
        )

    def _repr_html_(self) -> str:
        return join(
            _folded(esc(f"{words.to(self.lang)} ({len(entries)})"),
                    _table(entries, self.lang))
            for words, entries in self._parts()
        )  # fmt: skip

    def _parts(self) -> Iterator[tuple[Words, tuple[Entry, ...]]]:
        yield _DECISIONS, self.decisions
        yield _RULES, self.rules


def index(lang: Lang | None = None) -> Index:
    """Return where every rule stands; `lang` is the folder's, or else English."""
    return Index(tuple(_decisions()), tuple(_rules()), lang or language() or "en")


# --- which rules there are


def _decisions() -> Iterator[Entry]:
    """Yield the decisions that have a place, those of one place as one."""
    found: dict[tuple[tuple[Place, ...], tuple[Lines, ...]], list[tuple[str, Why]]] = {}
    placed = [(entry, why, _sglang(why)) for entry, why in WHYS.items()]
    placed += [(entry, why, _vllm(entry)) for entry, why in BLOCK_WHYS.items()]
    for entry, why, engine in placed:
        found.setdefault((engine, _own(why.own)), []).append((_name(entry), why))
    for (engine, own), told in found.items():
        if engine or own:
            names = tuple(name for name, _ in told)
            yield Entry(names, told[0][1].rule, engine, own)


def _name(entry: str) -> str:
    """Return an entry of the cards as the engine spells its kind.

    >>> _name("trybackup host_full")
    'try_backup host_full'
    """
    kind, *how = entry.split(" ")
    return " ".join([_KINDS[kind], *how])


_KINDS = {
    kind.__name__.lower(): kind_of(kind)
    for kind in (*ev.DECISIONS, *be.BLOCK_DECISIONS, *be.BLOCK_CHANGES)
}


def _rules() -> Iterator[Entry]:
    """Yield the rules of `Rules`; a source that stands alone is the newer release's."""
    for name, rule in facts().items():
        releases = (OLD, NEW)[-len(rule.sources) :]
        places = _engine(zip(releases, rule.sources, strict=True), ", ")
        says = Words(rule.effect, rule.effect_zh)
        yield Entry((name,), says, tuple(places), _asks()[name])


def _sglang(why: Why) -> tuple[Place, ...]:
    return tuple(_engine(zip((OLD, NEW), why.sources, strict=True), " · "))


def _engine(sources: Iterable[tuple[str, str]], between: str) -> Iterator[Place]:
    for release, source in sources:
        path, _, symbol = source.format(tree=_TREE).partition(between)
        if path:
            yield Place("SGLang", release, path, symbol)


def _vllm(entry: str) -> tuple[Place, ...]:
    source = block_source(entry)
    if not source:
        return ()
    engine, path, symbol = source.split(" · ")
    project, release = engine.split(" ")
    return (Place(project, release, path, symbol),)


def _own(own: Own | None) -> tuple[Lines, ...]:
    found = own_lines(own) if own is not None else None
    if found is None:
        return ()
    path, line = found["where"].partition(" · ")[0].split(":")
    return (Lines(path, int(line), tuple(found["lines"])),)


@cache
def _asks() -> dict[str, tuple[Lines, ...]]:
    """Return where kvlab's code asks each rule by its field. Cost: reads every file."""
    found: dict[str, list[Lines]] = {name: [] for name in facts()}
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name in _TELL or path.parent.name in _TELL:
            continue
        source = path.read_text("utf-8")
        lines = source.splitlines()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Attribute) and node.attr in found:
                first = max(node.lineno - 1 - _AROUND, 0)
                code = tuple(lines[first : node.lineno + _AROUND])
                where = path.relative_to(PACKAGE.parent).as_posix()
                found[node.attr].append(Lines(where, node.lineno, code))
    return {name: tuple(dict.fromkeys(places)) for name, places in found.items()}


# --- how it looks


def _text(entry: Entry) -> str:
    places = [*entry.engine, *entry.own]
    return "\n".join([f"  {', '.join(entry.names)}", *(f"      {p}" for p in places)])


def _table(entries: tuple[Entry, ...], lang: Lang) -> Markup:
    head = join(tag("th", esc(w.to(lang)), style=_CELL) for w in _HEAD)
    rows = join(tag("tr", _row(entry, lang)) for entry in entries)
    return tag("table", join([tag("thead", tag("tr", head)), tag("tbody", rows)]))


_CELL = (
    f"text-align:left;vertical-align:top;border-top:1px solid {LINE2};"
    "overflow-wrap:anywhere"
)


def _row(entry: Entry, lang: Lang) -> Markup:
    names = join((tag("code", esc(name)) for name in entry.names), "<br>")
    says = tag("div", tag("small", esc(entry.says.to(lang))))
    engine = join(
        tag("div", tag("a", esc(place), href=place.address)) for place in entry.engine
    )
    own = join(map(_opening, entry.own))
    cells = (join([names, says]), engine, own)
    return join(tag("td", cell, style=_CELL) for cell in cells)


def _opening(place: Lines) -> Markup:
    """Return a line that opens on the code; also a link, where JupyterLab has it."""
    name = tag("code", esc(place), style="white-space:nowrap")
    href = _beside(place)
    link = NOTHING if href is None else tag("a", esc("↗"), href=href, title=str(place))
    code = tag("pre", join((esc(line) for line in place.code), "\n"))
    return _folded(join([name, link], " "), code)


def _folded(title: Markup, content: Markup) -> Markup:
    return tag("details", join([tag("summary", title), content]))


def _beside(place: Lines) -> str | None:
    """Return the file's address from here, if here is a notebook of the checkout: what
    lies elsewhere JupyterLab does not serve."""
    root, here = PACKAGE.parent, Path.cwd()
    if not here.is_relative_to(root / "notebooks"):
        return None
    return f"{os.path.relpath(root / place.path, here)}#line={place.line - 1}"
