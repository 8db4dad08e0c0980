"""What does the player need of a run, and how does it all travel once?

`player_log` folds the run and writes: for every event its entry of phrases.py, its
cause, its fields; for every change the patches that make it; for each watch its hits;
and, once, all words, cards, looks and the tree's rows. The browser gets this one blob
and needs nothing else: no kernel, no cache rule.
Left out: the patches (patches.py), the bytes (streams.py), the drawing (player/).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from ..errors import TraceError
from ..record import events as ev
from ..record.events import Event
from ..record.folding import FoldError
from ..record.replay import fold
from ..record.trace import Trace
from .columns import ACCOUNT, BATCH, COLUMNS, DELTAS, PATH, STAGES
from .columns import PAGES as PAGE_COLUMNS
from .first_token import FirstTokens
from .next_victims import kept, line_behind
from .patches import Patches
from .phrases import PHRASES
from .player_tables import tables
from .sentences import entry_of
from .streams import Stream, pack
from .terms import chunk_left
from .tree_layout import tree_layout
from .watches import WATCHES, seen

_NODES = {"node", "parent", "upper", "end", "last_device", "best"}
_UNSHOWN = {
    ev.Touch: {"step"}, ev.Add: {"space", "time", "created"},
    ev.Split: {"time", "created"}, ev.Output: {"token"},
}  # fmt: skip
"""Fields that no sentence and no card names."""
_RISING = {"number", "time", "at", "now", "begin"}
_FACTORED = {"promised", "before", "after"}

READ = 20_000
"""Events of a run whose victims are told with who comes after them."""

NODE, REQUEST, TEXT, PAGES, COUNT, NUMBER, OPTIONAL, KEY = "nrtpcifk"
"""Types of fields: node, request, text (both by place in a list), pages (a list, by its
length), tokens or requests (likewise), a number, one that has a fraction or is None (by
place in a list), an eviction key (three columns: its length and two numbers)."""


class Field(NamedTuple):
    """One field of a kind as the player knows it."""

    name: str
    type: str


def fields_of(kind: type[Event]) -> list[Field]:
    """Return the fields that the player gets of a kind.

    >>> fields_of(ev.Hit)
    [Field(name='node', type='n')]
    """
    hidden = _UNSHOWN.get(kind, set()) | {"cause"}
    types = {f.name: str(f.type) for f in msgspec.structs.fields(kind)}
    shown = [Field(n, _type(n, t)) for n, t in types.items() if n not in hidden]
    if kind is ev.Admit:
        shown.append(Field("chunk_left", OPTIONAL))
    return shown


def _type(name: str, type_: str) -> str:
    if name in _NODES:
        return NODE
    if name == "request":
        return REQUEST
    if name == "key":
        return KEY
    if name in _FACTORED or "None" in type_:
        return OPTIONAL
    if "ndarray" in type_ or "tuple" in type_:
        return PAGES if name == "pages" else COUNT
    return TEXT if "str" in type_ or "Literal" in type_ else NUMBER


KINDS: dict[type[Event], str] = {
    kind: kind.__name__.lower() for kind in (*ev.CHANGES, *ev.DECISIONS)
}


def player_log(
    trace: Trace, length: int | None = None, extra: dict[str, Any] | None = None
) -> bytes:
    """Return the log of the run's first `length` events; all, if None.

    A run that does not fold is shown up to its first bad event, with what is wrong.
    `extra` is put among the contents (start, language, mode).
    Raises: TraceError for a run of vLLM's blocks, which has no tree to show.
    Cost: O(events), about 15 us each, and the pages they name.
    """
    if trace.header.engine != "sglang":
        raise TraceError(
            trace.header.name or "run", f"a run of {trace.header.engine}",
            "the player shows runs of the radix tree",
        )  # fmt: skip
    whole = len(trace)
    length = whole if length is None else min(length, whole)
    writer = _Writer(trace, length)
    fault = writer.run()
    contents = {
        **tables(trace.header),
        "name": trace.header.name,
        "events": writer.done,
        "of": whole,
        "fault": fault,
        "requests": list(writer.patches.requests),
        "texts": list(writer.texts),
        "fractions": list(writer.fractions),
        "fields": {n: [list(f) for f in fields_of(k)] for k, n in KINDS.items()},
        "variants": list(writer.variants),
        "columns": COLUMNS,
        "deltas": DELTAS,
        "runs": PAGE_COLUMNS,
        "path": PATH,
        "batch": BATCH,
        "account": ACCOUNT,
        "stages": STAGES,
        "behind": writer.lines,
        "ttft": writer.ttft,
        **(extra or {}),
    }
    return pack(contents, [*writer.streams(), *_rows(trace, writer.done)])


def _rows(trace: Trace, length: int) -> Iterator[Stream]:
    """Yield the tree's rows: of node 1, 2, ... in turn; -1 for one that never was."""
    layout = tree_layout(Trace(trace.header, trace.events[:length]))
    last = max(layout.rows, default=0)
    rows = [layout.rows.get(node, -1) for node in range(1, last + 1)]
    yield Stream("rows", rows, delta=True)
    yield Stream("tree", [layout.num_rows, layout.depth])


_Write = tuple[Callable[[Any], None], Callable[[Any], Any]]


def _key_of(event: ev.Victim) -> tuple[int, int, int]:
    first, second = (*map(int, event.key), 0, 0)[:2]
    return len(event.key), first, second


class _Writer:
    """Columns that grow event by event."""

    def __init__(self, trace: Trace, length: int) -> None:
        self.patches = Patches(trace)
        self.events = trace.events[:length]
        self.texts: dict[str, int] = {}
        self.fractions: dict[float | None, int] = {}
        self.variants: dict[str, int] = {}
        self.variant, self.cause, self.size = array("q"), array("q"), array("q")
        self.start = len(self.patches.column)
        self.hits: dict[str, array[int]] = {name: array("q") for name in WATCHES}
        self.done = 0
        self.lines: dict[int, list[Any]] = {}
        self.first_tokens = FirstTokens()
        self.ttft: dict[int, list[int]] = {}
        self._schema = {kind: fields_of(kind) for kind in KINDS}
        self.values: dict[str, array[int]] = {
            f"{KINDS[kind]}.{field.name}": array("q")
            for kind, fields in self._schema.items()
            for field in fields
        }
        self._writes = {
            kind: [self._write_of(kind, field) for field in fields]
            for kind, fields in self._schema.items()
        }

    def run(self) -> str | None:
        """Write every event that folds; return what is wrong with the next, if any."""
        for index, event in enumerate(self.events):
            hits = seen(event, self.patches.state)
            line = self._line(event)
            try:
                size = self.patches.step(index)
                self._write_fields(event)
            except (FoldError, LookupError, ValueError, OverflowError) as problem:
                return self._fault(index, problem)
            if line:
                self.lines[index] = line
            self._follow_time(index, event)
            self.size.append(size)
            for name in hits:
                self.hits[name].append(index)
            entry = entry_of(event, PHRASES)
            self.variant.append(self.variants.setdefault(entry, len(self.variants)))
            self.cause.append(index - event.cause if event.cause >= 0 else 0)
            self.done += 1
        return None

    def _follow_time(self, index: int, event: Event) -> None:
        """Keep the parts of a request's first token, for the event that ends it."""
        self.first_tokens.feed(event)
        if isinstance(event, ev.Finish):
            parts = self.first_tokens.parts.pop(event.request, None)
            if parts is not None:
                self.ttft[index] = list(parts)

    def _line(self, event: Event) -> list[Any]:
        """Return who stands in line behind a victim, or was kept from an eviction that
        freed too little, in a run that can be read."""
        if len(self.events) > READ:
            return []
        if isinstance(event, ev.Evicted) and event.freed < event.ask:
            return [[], [], kept(self.patches.state, event)]
        if not isinstance(event, ev.Victim):
            return []
        line = line_behind(self.patches.state, event)
        return [] if line is None else [line.then, line.spared]

    def _fault(self, index: int, problem: Exception) -> str:
        """Say why the event cannot be shown: it does not fold, or its patches name
        what is not there. What was begun of it lies behind all that `size` counts,
        where nobody looks."""
        if isinstance(problem, FoldError):
            return str(problem)
        try:
            fold(self.patches.state, self.events, index, index + 1)
        except FoldError as fault:
            return str(fault)
        return str(FoldError(index, self.events[index], str(problem)))

    def _write_fields(self, event: Event) -> None:
        for write, read in self._writes[type(event)]:
            write(read(event))

    def _write_of(self, kind: type[Event], field: Field) -> _Write:
        """Return how a field is written: into its column, as what is read of it."""
        column = self.values[f"{KINDS[kind]}.{field.name}"]
        if field.type == KEY:
            return column.extend, _key_of
        if field.name == "chunk_left":
            return column.append, lambda event: self._fraction(chunk_left(event))
        of = attrgetter(field.name)
        place_of, fraction, texts = self.patches.place_of, self._fraction, self.texts
        reads: dict[str, Callable[[Any], Any]] = {
            REQUEST: lambda event: place_of(of(event)),
            TEXT: lambda event: texts.setdefault(of(event), len(texts)),
            PAGES: lambda event: len(of(event)),
            COUNT: lambda event: len(of(event)),
            OPTIONAL: lambda event: fraction(of(event)),
        }
        return column.append, reads.get(field.type, of)

    def _fraction(self, value: float | None) -> int:
        return self.fractions.setdefault(value, len(self.fractions))

    def streams(self) -> Iterator[Stream]:
        """Yield every column."""
        made = self.patches
        yield Stream("variant", self.variant)
        yield Stream("cause", self.cause)
        yield Stream("size", self.size)
        yield Stream("column", made.column)
        for column, name in enumerate((*COLUMNS, "path", "batch")):
            rising = name in ("parent", "place", "locks", *PAGE_COLUMNS)
            yield Stream(f"{name}.first", made.first[column], delta=True)
            yield Stream(f"{name}.value", made.value[column], delta=rising)
            yield Stream(f"{name}.count", made.count[column])
            yield Stream(f"{name}.position", made.position[column])
        for tier, painting in made.pages.items():
            yield Stream(f"handed{tier[1]}.first", painting.first, delta=True)
            yield Stream(f"handed{tier[1]}.count", painting.count)
        yield Stream("start", [self.start])
        for name, hits in self.hits.items():
            yield Stream(f"watch.{name}", hits, delta=True)
        for kind, fields in self._schema.items():
            for field in fields:
                name = f"{KINDS[kind]}.{field.name}"
                rising = field.type in (NODE, REQUEST, TEXT) or field.name in _RISING
                yield Stream(name, self.values[name], delta=rising)
