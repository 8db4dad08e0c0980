"""What did a run come to, in numbers?

One pass over the events counts tokens at the changes that move them. The names are
those of `kvlab replay --json`. Left out: times, which only a run on a clock has
(run/meter.py), and vLLM's preemptions, which SGLang does not have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any

from msgspec import Struct

from . import events as ev
from .events import Event
from .moment import ROOT
from .replay import fold
from .snapshot import State
from .trace import Trace


class Metrics(Struct, frozen=True, kw_only=True):
    """The sums of one run.

    Units: tokens, unless the name says otherwise; `hit_rate` and `l2_peak_usage` are
    0 to 1. `device_hit_tokens` and `host_hit_tokens` count a request's first prefill;
    `computed_tokens` counts every prefill. `evicted_tokens` left the device,
    `lost_tokens` left it, or the host, with no copy remaining. `hit_rate` is None
    where no tokens came in.
    """

    requests: int
    input_tokens: int
    output_tokens: int
    device_hit_tokens: int
    host_hit_tokens: int
    loaded_back_tokens: int
    computed_tokens: int
    hit_rate: float | None
    evicted_tokens: int
    backed_up_tokens: int
    host_evicted_tokens: int
    lost_tokens: int
    retractions: int
    preemptions: int
    peak_running: int
    peak_waiting: int
    l2_peak_usage: float
    events: int
    tree_sha256: str


def metrics(trace: Trace) -> Metrics:
    """Return the sums of the run.

    Raises: TraceError with the index of an event that does not fit the state.
    Cost: O(events), one fold.
    """
    tally = _Tally(State.start(trace.header.config))
    for index, event in enumerate(trace.events):
        count = _COUNTS.get(type(event))
        if count is not None:
            count(tally, event)
        fold(tally.state, trace.events, index, index + 1)
        if isinstance(event, _PEAKS):
            tally.note_peaks()
    return tally.result(len(trace))


def tree_lines(state: State) -> Iterator[tuple[int, ...]]:
    """Yield one line per node: first token, tokens before it, its tokens, whether it
    lies on the device (0 or 1) and on the host, hit count."""
    children = state.children()
    todo = [(ROOT, 0)]
    while todo:
        parent, start = todo.pop()
        for node in children.get(parent, ()):
            size = len(node.tokens)
            todo.append((node.id, start + size))
            on_device, on_host = node.pages is not None, node.host_pages is not None
            yield (
                int(node.tokens[0]), start, size, int(on_device), int(on_host),
                node.hit_count,
            )  # fmt: skip


def tree_digest(lines: Iterable[tuple[int, ...]]) -> str:
    """Return the SHA-256 of a tree's lines, in order of the first token: what is
    where, and how often it was hit; page numbers and access times do not count.

    >>> tree_digest([(5, 0, 2, 1, 0, 1)])[:16]
    'e445f8fb95d838a6'
    """
    text = "".join(f"{' '.join(map(str, line))}\n" for line in sorted(lines))
    return sha256(text.encode()).hexdigest()


class _Tally:
    """The state so far, and the sums so far. Sizes are read before an event is
    applied: a node that is evicted is still there."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.page = state.config.page_size
        self.sums: Counter[str] = Counter()
        self.prefilled: set[str] = set()
        self.peak_running = self.peak_waiting = self.peak_host = 0

    def note_peaks(self) -> None:
        state = self.state
        host = state.pools["L2"]
        self.peak_running = max(self.peak_running, len(state.running))
        self.peak_waiting = max(self.peak_waiting, len(state.waiting))
        self.peak_host = max(self.peak_host, host.num_pages - len(host.free))

    def result(self, events: int) -> Metrics:
        sums = {name: self.sums[name] for name in _SUMS}
        hits = sums["device_hit_tokens"] + sums["loaded_back_tokens"]
        return Metrics(
            **sums,
            hit_rate=hits / sums["input_tokens"] if sums["input_tokens"] else None,
            preemptions=0,
            peak_running=self.peak_running,
            peak_waiting=self.peak_waiting,
            l2_peak_usage=self.peak_host / max(1, self.state.pools["L2"].num_pages),
            events=events,
            tree_sha256=tree_digest(tree_lines(self.state)),
        )

    # --- one event each

    def _arrive(self, e: ev.Arrive) -> None:
        self.sums["requests"] += 1
        self.sums["input_tokens"] += e.prompt_len
        self.prefilled.discard(e.request)

    def _prefill(self, e: ev.Prefill) -> None:
        self.sums["computed_tokens"] += e.extend
        if e.request not in self.prefilled:
            self.prefilled.add(e.request)
            self.sums["device_hit_tokens"] += e.device_hit
            self.sums["host_hit_tokens"] += e.host_hit

    def _output(self, e: ev.Output) -> None:
        self.sums["output_tokens"] += 1

    def _decode(self, e: ev.Decode) -> None:
        self.sums["output_tokens"] += e.steps * len(self.state.running)

    def _load(self, e: ev.Load) -> None:
        self.sums["loaded_back_tokens"] += len(e.pages) * self.page

    def _demote(self, e: ev.Demote) -> None:
        self.sums["evicted_tokens"] += self._size(e.node)

    def _delete(self, e: ev.Delete) -> None:
        self.sums["evicted_tokens"] += self._size(e.node)
        self.sums["lost_tokens"] += self._size(e.node)

    def _backup(self, e: ev.Backup) -> None:
        self.sums["backed_up_tokens"] += len(e.pages) * self.page

    def _evict_host(self, e: ev.EvictHost) -> None:
        self.sums["host_evicted_tokens"] += self._size(e.node)
        self.sums["lost_tokens"] += self._size(e.node)

    def _reclaim(self, e: ev.Reclaim) -> None:
        self.sums["host_evicted_tokens"] += self._size(e.node)

    def _retract(self, e: ev.Retract) -> None:
        self.sums["retractions"] += 1

    def _size(self, id: int) -> int:
        """Return the node's tokens; 0 for an unknown one, which the fold refuses."""
        node = self.state.nodes.get(id) or self.state.orphans.get(id)
        return len(node.tokens) if node else 0


_SUMS = (
    "requests", "input_tokens", "output_tokens", "device_hit_tokens",
    "host_hit_tokens", "loaded_back_tokens", "computed_tokens", "evicted_tokens",
    "backed_up_tokens", "host_evicted_tokens", "lost_tokens", "retractions",
)  # fmt: skip

_PEAKS = (ev.Arrive, ev.Start, ev.Retract, ev.Alloc)

_COUNTS: dict[type[Event], Callable[[_Tally, Any], None]] = {
    ev.Arrive: _Tally._arrive,
    ev.Prefill: _Tally._prefill,
    ev.Output: _Tally._output,
    ev.Decode: _Tally._decode,
    ev.Load: _Tally._load,
    ev.Demote: _Tally._demote,
    ev.Delete: _Tally._delete,
    ev.Backup: _Tally._backup,
    ev.EvictHost: _Tally._evict_host,
    ev.Reclaim: _Tally._reclaim,
    ev.Retract: _Tally._retract,
}
