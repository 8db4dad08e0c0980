"""How does a running engine tell what it does?

A component is given an *emitter* and calls it next to the line that changes something:
`emit(Hit, node)`. `with emit.of(Evict, ...)` makes a decision the cause of everything
said inside. A `Trace` or `BlockTrace` keeps the events; `QUIET` drops them, for runs
that only count.
Left out: files (trace_file.py).
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import TracebackType
from typing import Any, Protocol

from msgspec import Struct

from ..block_config import BlockConfig
from ..config import EngineConfig
from ..errors import ConfigError
from ..rules import Rules
from .events import Event

FORMAT = 1


class Header(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a run was: enough, with its events, to show and to repeat it.

    Units: `seed` is that of the workload, 0 where nothing is random; `max_running` the
    most requests that may run at once, None for no bound.
    """

    kvlab: int = FORMAT
    engine: str = "sglang"
    name: str = ""
    config: EngineConfig
    rules: Rules
    seed: int = 0
    max_running: int | None = None


class BlockHeader(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a run of vLLM was; `version` is the release whose rules it follows."""

    kvlab: int = FORMAT
    engine: str = "vllm"
    name: str = ""
    config: BlockConfig
    version: str = "0.33.0"
    seed: int = 0


class Emitter(Protocol):
    """What every component of an engine is given to say what it does."""

    def __call__(self, kind: type[Event], *fields: Any) -> int:
        """Say that an event of `kind` with these fields happened; return its index."""

    def of(self, kind: type[Event], *fields: Any) -> AbstractContextManager[None]:
        """Say it, and make it the cause of what is said inside the `with`."""


class _Quiet(partial[int]):
    """A partial, since Python calls that in one step, and other objects in two."""

    def of(self, kind: type[Event], *fields: Any) -> AbstractContextManager[None]:
        return _SILENCE


_SILENCE: AbstractContextManager[None] = nullcontext()
QUIET: Emitter = _Quiet(lambda *_: -1)
"""Says nothing: for runs without a trace."""


class EventLog:
    """Events in memory, oldest first, and the cause of what is said now.

    Cost: one event about 0.3 us; an event keeps the page lists it names.
    """

    def __init__(self, events: list[Event] | None = None) -> None:
        self.events: list[Event] = [] if events is None else events
        self._cause = -1

    def __len__(self) -> int:
        return len(self.events)

    def __call__(self, kind: type[Event], *fields: Any) -> int:
        """Append an event. Changes: this log. Returns its index."""
        self.events.append(kind(self._cause, *fields))
        return len(self.events) - 1

    def of(self, kind: type[Event], *fields: Any) -> AbstractContextManager[None]:
        """Append an event and make it the cause of what follows inside the `with`."""
        scope = _Scope(self, self._cause)
        self._cause = self(kind, *fields)
        return scope

    def chain(self, index: int) -> list[int]:
        """Return the indexes from the first cause down to the event itself."""
        links = [index]
        while (cause := self.events[links[-1]].cause) >= 0:
            links.append(cause)
        return links[::-1]


class Trace(EventLog):
    """A run of SGLang in memory: its header and its events.

    >>> from kvlab.record.events import Hit, Step
    >>> trace = Trace(Header(config=EngineConfig(pool_tokens=8),
    ...                      rules=Rules.v0_5_14()))
    >>> with trace.of(Step, 0, "insert", ""):
    ...     _ = trace(Hit, 1)
    >>> [event.cause for event in trace.events]
    [-1, 0]
    """

    def __init__(self, header: Header, events: list[Event] | None = None) -> None:
        super().__init__(events)
        self.header = header


class BlockTrace(EventLog):
    """A run of vLLM in memory: its header and its events."""

    def __init__(self, header: BlockHeader, events: list[Event] | None = None) -> None:
        super().__init__(events)
        self.header = header


AnyTrace = Trace | BlockTrace
"""A run of either engine."""


class _Scope:
    __slots__ = ("_outer", "_trace")

    def __init__(self, trace: EventLog, outer: int) -> None:
        self._trace = trace
        self._outer = outer

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._trace._cause = self._outer


def check_run(value: object, verb: str) -> None:
    """Refuse what is no run of events. Raises: ConfigError."""
    if not isinstance(value, EventLog):
        raise ConfigError(
            f"{verb} takes a run's trace, not {type(value).__name__}; "
            "give bench.trace, or kvlab.read_trace(path)"
        )
