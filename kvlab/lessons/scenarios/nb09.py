"""Which runs does notebook 09, Does L2 add concurrency, play?

Forty requests on a clock: with and without sharing, with and without L2, over a fast
link and a slow one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from ...config import EngineConfig
from ...record import events as ev
from ...record.trace import Header, Trace
from ...rules import Rules
from ...run.accelerators import accelerator
from ...run.cost import FS, Cost
from ...run.generators import poisson, shared_system
from ...run.model_shapes import model_shape
from ...run.tallies import Record, Tallies, percentile
from ...run.timed_engine import TimedEngine
from ...run.workbench import Workbench
from ...run.workload import OpenLoop

SECOND = 10**9
GB = 1e9
LENGTH, L1, L2 = 8192, 32_768, 327_680
SHARED = 0.9


class Guests(NamedTuple):
    """One way to serve the same forty requests.

    `share` of each prompt is one of eight prefixes. Units: tokens of both pools;
    gigabytes a second of the link, each way.
    """

    share: float = SHARED
    host_tokens: int = L2
    link_gbps: float = 50.0
    pool_tokens: int = L1
    rate: float = 2.5
    seed: int = 0


class Served(NamedTuple):
    """What serving them came to."""

    trace: Trace
    tallies: Tallies

    @property
    def p99(self) -> float:
        """P99 of TTFT, in seconds."""
        ttfts = sorted(r.ttft for r in self.tallies.done if r.ttft is not None)
        return percentile(ttfts, 0.99) / SECOND

    @property
    def span(self) -> float:
        """Seconds from the first arrival to the last departure."""
        done = self.tallies.done
        return (max(r.end for r in done) - min(r.arrival for r in done)) / SECOND

    @property
    def written(self) -> int:
        """Tokens copied to L2."""
        return sum(
            len(e.pages) * self.trace.header.config.page_size
            for e in self.trace.events
            if isinstance(e, ev.Backup)
        )


@cache
def serve(guests: Guests) -> Served:
    """Serve them on Llama-3-70B, TP8 of H100, by SGLang 0.5.23's rules."""
    host = {"tree": "hiradix", "host_tokens": guests.host_tokens}
    config = EngineConfig.of(
        {"pool_tokens": guests.pool_tokens, "page_size": 256,
         "chunked_prefill_size": LENGTH}
        | (host if guests.host_tokens else {"tree": "radix"})
    )  # fmt: skip
    rules = Rules.v0_5_23()
    trace = Trace(Header(name="guests", config=config, rules=rules, seed=guests.seed))
    engine = TimedEngine(config, rules, cost(guests.link_gbps), emit=trace)
    engine.run(OpenLoop(shared_system(
        40, poisson(guests.rate, guests.seed), length=LENGTH, outputs=100,
        share=guests.share, groups=8, seed=guests.seed,
    )))  # fmt: skip
    return Served(trace, engine.tallies)


@cache
def cost(link_gbps: float) -> Cost:
    """Return what steps and copies take."""
    return Cost(model_shape("llama-3-70b"), accelerator("h100"), tp=8,
                link_rate=link_gbps * GB)  # fmt: skip


def demand(run: Served) -> float:
    """Return the gigabytes a second that the run wrote to L2, on average."""
    return run.written * cost(50.0).model.kv_bytes / run.span / GB


def prefill_rate() -> float:
    """Return the gigabytes of KV a second that the prefill of one prompt makes."""
    model = cost(50.0)
    seconds = model.prefill([(LENGTH, 0)]) / FS
    return LENGTH * model.model.kv_bytes / seconds / GB


def residence(done: Sequence[Record]) -> float:
    """Return the mean seconds from arrival to the last token."""
    return sum(r.end - r.arrival for r in done) / len(done) / SECOND


SCENARIOS: dict[str, Callable[..., Workbench]] = {}
