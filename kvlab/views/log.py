"""What does the player need of a run, and how does it all travel once?

`player_log` folds the run and writes: for every event its entry of phrases.py, its
cause, its fields; for every change the patches that make it; for each watch its hits;
and, once, all words, cards, looks and the tree's rows. The browser gets this one blob
and needs nothing else: no kernel, no cache rule.
Left out: how events become columns (log_writer.py), the patches (patches.py), the bytes
(streams.py), the drawing (player/).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import TraceError
from ..pages import to_runs
from ..record import events as ev
from ..record.events import Event
from ..record.trace import Trace
from .columns import ACCOUNT, OWNERS, STAGES
from .first_token import FirstTokens
from .grades import Grade, grade_of
from .log_writer import OPTIONAL, Field, LogWriter, shown_fields
from .mistaken import misread, mistaken
from .next_victims import dropped, kept, line_behind
from .patches import Patches
from .phrases import GONE, PHRASES
from .player_tables import tables
from .sentences import entry_of, is_freed_twice
from .streams import Stream, pack
from .terms import chunk_left
from .tree_layout import tree_layout
from .watches import WATCHES, seen

_UNSHOWN = {
    ev.Touch: {"step"}, ev.Add: {"space", "time", "created"},
    ev.Split: {"time", "created"}, ev.Output: {"token"},
}  # fmt: skip
"""Fields that no sentence and no card names."""
_RISING = ("parent", "place", "locks", *OWNERS)
"""Columns of which a value is near the one before."""

READ = 20_000
"""Events of a run whose victims are told with who comes after them: to find that, every
node is looked at for each, and it takes some ten bytes of the page."""

LOOKS = 10_000_000
"""Nodes looked at, in a whole run, for what evictions that freed too little left."""

_MAY_GO_EARLY = (ev.Victim, ev.Load)
"""Kinds that begin a node's going although a load wants it."""


def fields_of(kind: type[Event]) -> list[Field]:
    """Return the fields that the player gets of a kind.

    >>> fields_of(ev.Hit)
    [Field(name='node', type='n')]
    """
    shown = shown_fields(kind, _UNSHOWN.get(kind, ()))
    if kind is ev.Admit:
        shown.append(Field("chunk_left", OPTIONAL))
    return shown


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
        **writer.contents(),
        "name": trace.header.name,
        "of": whole,
        "fault": fault,
        "account": ACCOUNT,
        "stages": STAGES,
        "behind": writer.lines,
        "reads": writer.reads,
        "ttft": writer.ttft,
        "unlined": READ if length > READ else 0,
        **(extra or {}),
    }
    return pack(contents, [*writer.streams(_RISING), *_rows(trace, writer.done)])


def _rows(trace: Trace, length: int) -> Iterator[Stream]:
    """Yield the tree's rows: of node 1, 2, ... in turn; -1 for one that never was."""
    layout = tree_layout(Trace(trace.header, trace.events[:length]))
    last = max(layout.rows, default=0)
    rows = [layout.rows.get(node, -1) for node in range(1, last + 1)]
    yield Stream("rows", rows, delta=True)
    yield Stream("tree", [layout.num_rows, layout.depth])


class _Writer(LogWriter):
    """The columns of a run of the tree, and who stood in line behind each victim."""

    def __init__(self, trace: Trace, length: int) -> None:
        self.patches = Patches(trace)
        schema = {kind: fields_of(kind) for kind in KINDS}
        super().__init__(self.patches, trace.events[:length], schema, WATCHES)
        self.lines: dict[int, list[Any]] = {}
        self.left: dict[int, int] = {}
        self.reads: dict[int, list[Any]] = {}
        self._looks = LOOKS
        self.first_tokens = FirstTokens()
        self.ttft: dict[int, list[int]] = {}
        admitted = self.values["admit.chunk_left"].append
        self._writes[ev.Admit][-1] = (
            admitted, lambda event: self.fraction(chunk_left(event))
        )  # fmt: skip

    def told(self, index: int, event: Event) -> tuple[str, Grade, list[str]]:
        """As `LogWriter.told`; the line behind a victim is that of before."""
        self._behind = self._line(index, event)
        state = self.patches.state
        entry = entry_of(event, PHRASES)
        if is_freed_twice(event, state):
            entry = f"{entry} {GONE}"
        return entry, grade_of(event, state), seen(event, state)

    def after(self, index: int, event: Event) -> None:
        """Keep who stands behind a victim, and the parts of a request's first token,
        for the event that ends it."""
        super().after(index, event)
        if self._behind:
            self.lines[index] = self._behind
        self.first_tokens.feed(event)
        if isinstance(event, ev.Finish):
            parts = self.first_tokens.parts.pop(event.request, None)
            if parts is not None:
                self.ttft[index] = list(parts)

    def _line(self, index: int, event: Event) -> list[Any]:
        """Return who stands in line behind a victim, was kept from an eviction that
        freed too little, or was dropped too early; nothing where that is untold."""
        state = self.patches.state
        early: list[tuple[Any, ...]] = []
        if state.orphans or isinstance(event, _MAY_GO_EARLY):
            read = misread(event, state, self.events, self.left)
            if isinstance(event, ev.Load) and len(read):
                runs = to_runs(read)
                self.reads[event.node] = [
                    [r, 1] if isinstance(r, int) else r for r in runs
                ]
            early = [
                *dropped(state, self.events, index, self.left),
                *mistaken(event, state, read),
            ]
        if isinstance(event, ev.EvictHost):
            self.left.setdefault(event.node, index + 1)
        if isinstance(event, ev.Evicted) and event.freed < event.ask:
            self._looks -= len(state.nodes)
            return [] if self._looks < 0 else [[], [], kept(state, event)]
        line = None
        if isinstance(event, ev.Victim) and len(self.events) <= READ:
            line = line_behind(state, event)
        if line is None:
            return [[], [], early] if early else []
        return [line.then, line.spared, early]
