"""How does a run become columns, event by event, whichever engine it is of?

For every event its entry of the phrases, its grade, its cause and its fields; for each
watch its hits; beside them the patches. A run is written up to its first event that
does not fold.
Left out: what an engine adds (log.py, block_log.py), the patches (patch_list.py), the
bytes (streams.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from ..record.events import Event
from ..record.folding import FoldError
from .grades import Grade
from .misfits import fault_words
from .patch_list import PatchList
from .streams import Stream
from .theme import Words

_NODES = {"node", "parent", "upper", "end", "last_device", "best"}
_RISING = {"number", "time", "at", "now", "begin"}
_FRACTIONS = {"promised", "before", "after", "target_t1"}

NODE, REQUEST, TEXT, PAGES, COUNT, NUMBER, OPTIONAL, KEY = "nrtpcifk"
"""Types of fields: node, request, text (both by place in a list), pages (a list, by its
length), tokens or requests (likewise), a number, one that has a fraction or is None (by
place in a list), an eviction key (three columns: its length and two numbers)."""


class Field(NamedTuple):
    """One field of a kind as the player knows it."""

    name: str
    type: str


def shown_fields(kind: type[Event], hidden: Collection[str] = ()) -> list[Field]:
    """Return the fields of a kind that are not hidden; an event's cause always is."""
    types = {f.name: str(f.type) for f in msgspec.structs.fields(kind)}
    return [
        Field(n, _type(n, t))
        for n, t in types.items()
        if n != "cause" and n not in hidden
    ]


def _type(name: str, type_: str) -> str:
    if name in _NODES:
        return NODE
    if name in ("request", "victim"):
        return REQUEST
    if name == "key":
        return KEY
    if name in _FRACTIONS or "None" in type_:
        return OPTIONAL
    if "ndarray" in type_ or "tuple" in type_:
        return PAGES if name in ("pages", "blocks") else COUNT
    return TEXT if "str" in type_ or "Literal" in type_ else NUMBER


_Write = tuple[Callable[[Any], None], Callable[[Any], Any]]


def _key_of(event: Any) -> tuple[int, int, int]:
    first, second = (*map(int, event.key), 0, 0)[:2]
    return len(event.key), first, second


class LogWriter(ABC):
    """Columns that grow event by event; `schema` names every kind and its fields."""

    def __init__(
        self,
        made: PatchList,
        events: list[Event],
        schema: Mapping[type[Event], list[Field]],
        watches: Iterable[str],
    ) -> None:
        self.made, self.events = made, events
        self.texts: dict[str, int] = {}
        self.fractions: dict[float | None, int] = {}
        self.variants: dict[tuple[str, Grade], int] = {}
        self.variant, self.cause, self.size = array("q"), array("q"), array("q")
        self.start = len(made.column)
        self.hits: dict[str, array[int]] = {name: array("q") for name in watches}
        self.done = 0
        self._kinds = {kind: kind.__name__.lower() for kind in schema}
        self._schema = schema
        self.values: dict[str, array[int]] = {
            f"{self._kinds[kind]}.{field.name}": array("q")
            for kind, fields in schema.items()
            for field in fields
        }
        self._writes = {
            kind: [self._write_of(kind, field) for field in fields]
            for kind, fields in schema.items()
        }

    @abstractmethod
    def told(self, index: int, event: Event) -> tuple[str, Grade, list[str]]:
        """Return the entry of an event that is about to follow the state, its grade,
        and the watches that it sets off."""

    def after(self, index: int, event: Event) -> None:
        """Count an event that has just been written; an engine may keep more of it."""
        self.done += 1

    def run(self) -> Words | None:
        """Write every event that folds; return what is wrong with the next, if any."""
        for index, event in enumerate(self.events):
            try:
                entry, grade, hits = self.told(index, event)
                size = self.made.step(index)
                for write, read in self._writes[type(event)]:
                    write(read(event))
            except (FoldError, LookupError, ValueError, OverflowError) as problem:
                return fault_words(self._fault(index, problem))
            self.size.append(size)
            for name in hits:
                self.hits[name].append(index)
            variant = self.variants.setdefault((entry, grade), len(self.variants))
            self.variant.append(variant)
            self.cause.append(index - event.cause if event.cause >= 0 else 0)
            self.after(index, event)
        return None

    def _fault(self, index: int, problem: Exception) -> FoldError:
        """Return why the event cannot be shown: it does not fold, or its patches name
        what is not there. What was begun of it lies behind all that `size` counts,
        where nobody looks."""
        if isinstance(problem, FoldError):
            return problem
        try:
            self.made.fold(index)
        except FoldError as fault:
            return fault
        return FoldError(index, self.events[index], str(problem))

    def _write_of(self, kind: type[Event], field: Field) -> _Write:
        """Return how a field is written: into its column, as what is read of it."""
        column = self.values[f"{self._kinds[kind]}.{field.name}"]
        if field.type == KEY:
            return column.extend, _key_of
        of = attrgetter(field.name)
        place_of, fraction, texts = self.made.place_of, self.fraction, self.texts
        reads: dict[str, Callable[[Any], Any]] = {
            REQUEST: lambda event: place_of(of(event)),
            TEXT: lambda event: texts.setdefault(of(event), len(texts)),
            PAGES: lambda event: len(of(event)),
            COUNT: lambda event: len(of(event)),
            OPTIONAL: lambda event: fraction(of(event)),
        }
        return column.append, reads.get(field.type, of)

    def fraction(self, value: float | None) -> int:
        """Return the place of a number that has a fraction, or is None."""
        return self.fractions.setdefault(value, len(self.fractions))

    def contents(self) -> dict[str, Any]:
        """Return what is told once, ready for JSON."""
        made = self.made
        return {
            "events": self.done,
            "requests": list(made.requests),
            "texts": list(self.texts),
            "fractions": list(self.fractions),
            "fields": {
                self._kinds[kind]: [list(field) for field in fields]
                for kind, fields in self._schema.items()
            },
            "variants": [entry for entry, _ in self.variants],
            "grades": [grade for _, grade in self.variants],
            "columns": made.columns,
            "deltas": made.deltas,
            "runs": list(made.paintings),
            "path": made.path,
            "batch": made.batch,
        }

    def streams(self, rising: Collection[str]) -> Iterator[Stream]:
        """Yield every column; values of `rising` ones are written as differences."""
        yield Stream("variant", self.variant)
        yield Stream("cause", self.cause)
        yield Stream("size", self.size)
        yield from self.made.streams(rising)
        yield Stream("start", [self.start])
        for name, hits in self.hits.items():
            yield Stream(f"watch.{name}", hits, delta=True)
        for kind, fields in self._schema.items():
            for field in fields:
                name = f"{self._kinds[kind]}.{field.name}"
                climbs = field.type in (NODE, REQUEST, TEXT) or field.name in _RISING
                yield Stream(name, self.values[name], delta=climbs)
