"""How did the account of an engine go, moment by moment, whichever engine it is?

Both engines' accounts in the same four terms and in tokens:

        term        SGLang                                   vLLM
        used        protected: lock_ref > 0                  ref_cnt > 0
        held        a request's slots outside the tree       –
        evictable   on the tree, lock_ref 0                  free, with a hash
        available   free                                     free, without a hash

vLLM's own "free" is the last two; its null block is in no term. A moment is a second
of the run's clock; a run without one counts the operations that its driver asked for.
Left out: drawing (both_accounts.py).
Source: SGLang 0.5.14, managers/scheduler_components/pool_stats_observer.py; vLLM
0.33.0, v1/core/block_pool.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..glossary import EngineName
from ..record import block_events as be
from ..record import events as ev
from ..record.block_snapshot import BlockState
from ..record.snapshot import State
from ..record.trace import BlockTrace, Trace


class Reading(NamedTuple):
    """One moment. Units: `at` seconds or operations; sizes in tokens; `host` is what
    L2 keeps; `given_up` counts retractions or preemptions so far."""

    at: float
    used: int
    held: int
    evictable: int
    available: int
    host: int
    running: int
    waiting: int
    given_up: int

    @property
    def usage(self) -> float:
        """The engine's own gauge, 0 to 1: what no eviction could free."""
        total = self.used + self.held + self.evictable + self.available
        return (self.used + self.held) / total if total else 0.0


class Readings(NamedTuple):
    """A run's readings, first to last, and its name.

    Units: tokens; `clocked`: `at` are seconds.
    """

    engine: EngineName
    version: str
    total: int
    host_total: int
    clocked: bool
    moments: list[Reading]
    name: str = ""


def readings(trace: Trace | BlockTrace, most: int = 400) -> Readings:
    """Return at most about `most` readings of a run, evenly over its time.

    Raises: TraceError, KeyError or ValueError for a run that does not fold.
    Cost: O(events), and O(blocks) a reading.
    """
    clocked = any(isinstance(e, ev.Clock | ev.Forward | ev.Decode)
                  for e in trace.events)  # fmt: skip
    end = _end(trace) if clocked else _operations(trace)
    every = max(end / most, 0 if clocked else 1)
    if isinstance(trace, BlockTrace):
        config = trace.header.config
        blocks = config.l2.num_cpu_blocks - 1 if config.l2 else 0
        return Readings(
            "vllm", trace.header.version, config.usable_tokens,
            blocks * config.block_size, clocked,
            list(_thinned(_of_blocks(trace, clocked), every)), trace.header.name,
        )  # fmt: skip
    start = State.start(trace.header.config)
    return Readings(
        "sglang", trace.header.rules.name, start.account().total,
        trace.header.config.host_pages * trace.header.config.page_size, clocked,
        list(_thinned(_of_tree(trace, start, clocked), every)), trace.header.name,
    )  # fmt: skip


class _Moment(NamedTuple):
    """A state to be read, if it is wanted: reading costs, moving on does not."""

    at: float
    state: State | BlockState
    given_up: int


def _thinned(moments: Iterator[_Moment], every: float) -> Iterator[Reading]:
    """Read the first moment of every stretch of `every`, and the last."""
    due, skipped = 0.0, None
    for moment in moments:
        skipped = moment if moment.at < due else None
        if skipped is None:
            yield _read(moment)
            while every and due <= moment.at:
                due += every
    if skipped is not None:
        yield _read(skipped)


def _of_tree(trace: Trace, state: State, clocked: bool) -> Iterator[_Moment]:
    return _walk(trace, state, clocked, ev.Retract)


def _of_blocks(trace: BlockTrace, clocked: bool) -> Iterator[_Moment]:
    state = BlockState.start(trace.header.config)
    return _walk(trace, state, clocked, be.Preempt)


def _walk(
    trace: Trace | BlockTrace,
    state: State | BlockState,
    clocked: bool,
    gives_up: type[ev.Event],
) -> Iterator[_Moment]:
    """Yield the state whenever the clock has moved, or before every operation."""
    given_up = operations = 0
    now = -1
    for event in trace.events:
        if not clocked and isinstance(event, ev.Step):
            yield _Moment(operations, state, given_up)
            operations += 1
        state.apply(event)
        given_up += isinstance(event, gives_up)
        if clocked and state.now != now:
            now = state.now
            yield _Moment(now / 1e9, state, given_up)
    yield _Moment(now / 1e9 if clocked else operations, state, given_up)


def _read(moment: _Moment) -> Reading:
    state = moment.state
    if isinstance(state, BlockState):
        size, account = state.config.block_size, state.tiers["L1"].account()
        waiting = len(state.waiting) + len(state.deferred)
        return Reading(
            moment.at, account.used * size, 0, account.evictable * size,
            account.blank * size, len(state.tiers["L2"].names) * size,
            len(state.running), waiting, moment.given_up,
        )  # fmt: skip
    device, host = state.account(), state.host_account()
    return Reading(
        moment.at, device.protected, device.held, device.evictable, device.available,
        host.host_only + host.copies, len(state.running), len(state.waiting),
        moment.given_up,
    )  # fmt: skip


def _end(trace: Trace | BlockTrace) -> float:
    """Return the last reading of the clock, in seconds."""
    for event in reversed(trace.events):
        if isinstance(event, ev.Clock | ev.Decode):
            return event.now / 1e9
        if isinstance(event, ev.Forward):
            return (event.begin + event.load + event.compute) / 1e9
    return 0.0


def _operations(trace: Trace | BlockTrace) -> int:
    return sum(isinstance(event, ev.Step) for event in trace.events)
