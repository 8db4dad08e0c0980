"""Is what the workbench teaches what the tool recognises?

`title_collapse` plays one sickness: L1 is full. Here are its mirror images: the same
model on the same eight devices, and each time one thing is different, so that requests
wait, or tokens vanish, for another reason. Each run is told in three forms, as kvlab
would have been handed it: the recorded run, SGLang's log, a series of /metrics scrapes;
each form is a file, and `kvlab diagnose` reads it.

        python -m kvlab.lessons.mirrors               the table, over three seeds
        python -m kvlab.lessons.mirrors --write DIR   the files, to diagnose by hand

`causes` says what each form can know: a log has no line on copies from L2, so the
honest answer to a slow link is there that nothing in the log explains the queue.
Left out: faults that one SGLang engine cannot have (ranks, prefill-decode splits).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct, to_builtins
from tqdm import tqdm

from ..config import EngineConfig
from ..memory.allocator import PageAllocator
from ..observe.causes import CAUSES
from ..observe.diagnose import diagnose
from ..record.trace import Header, Trace
from ..record.trace_file import write_trace
from ..rules import Rules
from ..run.accelerators import accelerator
from ..run.cost import Cost
from ..run.engine_log import log_lines
from ..run.generators import chat, poisson, ramp, shared_system, unique
from ..run.model_shapes import model_shape
from ..run.scrapes import write_scrapes
from ..run.timed_engine import TimedEngine
from ..run.workload import Ask, ClosedLoop, OpenLoop, Workload
from .title_collapse import PAGE, POOL, SECOND

FORMS = ("run", "log", "metrics")
EVERY = 10 * SECOND
"""Nanoseconds between two scrapes."""


class Mirror(Struct, frozen=True, kw_only=True):
    """One sickness, and what each form can know of it.

    `workload` makes the requests of a seed. Units: `pool_tokens` and `host_tokens`
    tokens (0: no L2), `link` bytes a second, `leaks` pages a finished request loses.
    """

    name: str
    says: str
    causes: tuple[str, str, str]
    workload: Callable[[int], Workload]
    pool_tokens: int = POOL
    host_tokens: int = 0
    link: float = 50e9
    max_running: int | None = None
    leaks: int = 0


class Outcome(Struct, frozen=True):
    """What `kvlab diagnose` said of one form of one run, and what it should."""

    mirror: str
    seed: int
    form: str
    verdict: str
    cause: str
    want: str
    reasons: tuple[str, ...]

    @property
    def right(self) -> bool:
        """It named the cause that this form can know."""
        return self.cause == self.want


# --- the sicknesses


def _ceiling(seed: int) -> Workload:
    """The title's own requests: long, alone, faster and faster."""
    arrivals = ramp(0.1, 1.0, 300, seed)
    return OpenLoop(
        unique(240, arrivals, length=12288, outputs=6000, spread=0.2, seed=seed)
    )


def _calm(seed: int) -> Workload:
    """Requests that share a system prompt, at a rate that eight devices hold."""
    return OpenLoop(
        shared_system(
            200, poisson(0.4, seed), length=4096, outputs=400, share=0.6, spread=0.2,
            seed=seed,
        )
    )  # fmt: skip


def _many(seed: int) -> Workload:
    """Short prompts with answers of medium length, more than a low cap lets run."""
    return OpenLoop(
        unique(300, poisson(1.0, seed), length=2048, outputs=1500, spread=0.2,
               seed=seed)
    )  # fmt: skip


def _talks(seed: int) -> Workload:
    """Talks whose users come back after others have pushed them out of L1."""
    return ClosedLoop(
        chat(40, turns=5, first=12288, question=256, outputs=200, think=20.0,
             stagger=2.0, seed=seed)
    )  # fmt: skip


def _changed(seed: int) -> Workload:
    """Half way a release of the client puts a time stamp before the system prompt."""
    shared = partial(shared_system, length=4096, outputs=300, spread=0.2, seed=seed)
    asks = [*shared(120, poisson(0.5, seed), share=0.8)]
    begin = asks[-1].at
    for ask in shared(120, poisson(0.5, seed + 1), share=0.0):
        asks.append(
            Ask(f"n{ask.id}", begin + ask.at, ask.tokens, ask.max_new, ask.filler - 999)
        )
    return OpenLoop(asks)


MIRRORS = (
    Mirror(
        name="the ceiling", says="L1 is full: the title itself",
        causes=("pool_exhausted_retract",) * 3, workload=_ceiling,
        host_tokens=2 * POOL + PAGE,
    ),
    Mirror(
        name="a cap", says="--max-running lets 24 run, L1 has room",
        causes=("max_running_cap",) * 3, workload=_many, max_running=24,
    ),
    Mirror(
        name="a slow link", says="prefixes come home from L2 over 1 GB/s",
        causes=("l2_load_serialised", "waiting_below_pin", "l2_load_serialised"),
        workload=_talks, pool_tokens=POOL // 8, host_tokens=POOL, link=1e9,
    ),
    Mirror(
        name="a broken prefix", says="prompts that shared 80 % share nothing any more",
        causes=("prefix_broken_by_client",) * 3, workload=_changed,
    ),
    Mirror(
        name="a leak", says="every finished request leaves pages that nobody frees",
        causes=("leak_undercount", "leak_undercount", "leak_idle_usage"),
        workload=_calm, leaks=40,
    ),
    Mirror(
        name="healthy", says="the same requests, nothing planted",
        causes=("healthy",) * 3, workload=_calm,
    ),
)  # fmt: skip
"""The title and its mirror images."""


class Leak:
    """A workload whose engine loses pages: a planted fault, outside the engine.

    Whenever a request leaves, it takes pages from the allocator and forgets them.
    """

    def __init__(self, inner: Workload, pages: int) -> None:
        self._inner, self._pages = inner, pages
        self.allocator: PageAllocator | None = None

    @property
    def next_arrival(self) -> int:
        """When the next request arrives, in nanoseconds."""
        return self._inner.next_arrival

    def take(self) -> Ask:
        """Take the next request out."""
        return self._inner.take()

    def left(self, id: str, now: int) -> None:
        """A request is done. Changes: the engine's free list, for good."""
        if self.allocator is not None:
            self.allocator.alloc(self._pages)
        self._inner.left(id, now)


# --- playing and asking


def play(mirror: Mirror, seed: int) -> Trace:
    """Return the recorded run of one sickness. Cost: O(events)."""
    settings = {"tree": "hiradix", "host_tokens": mirror.host_tokens}
    config = EngineConfig.of(
        {
            "pool_tokens": mirror.pool_tokens, "page_size": PAGE,
            "write_policy": "write_through_selective", "chunked_prefill_size": 8192,
            **(settings if mirror.host_tokens else {"tree": "radix"}),
        }
    )  # fmt: skip
    rules = Rules.named("0.5.14")
    trace = Trace(
        Header(
            name=mirror.name, config=config, rules=rules, seed=seed,
            max_running=mirror.max_running,
        )
    )  # fmt: skip
    cost = Cost(
        model_shape("llama-3-70b"), accelerator("h100"), tp=8, link_rate=mirror.link
    )
    engine = TimedEngine(
        config, rules, cost, emit=trace, max_running=mirror.max_running
    )
    workload = mirror.workload(seed)
    if mirror.leaks:
        workload = leak = Leak(workload, mirror.leaks)
        leak.allocator = engine.cache.allocator
    engine.run(workload)
    return trace


def write_forms(trace: Trace, folder: Path) -> dict[str, list[Path]]:
    """Write the run, its log and its scrapes; return the files by form."""
    run, log, metrics = (folder / name for name in ("run.jsonl.gz", "log", "metrics"))
    write_trace(trace, run)
    log.write_text("\n".join(log_lines(trace)) + "\n")
    metrics.mkdir(exist_ok=True)
    write_scrapes(trace, metrics, EVERY)
    return {"run": [run], "log": [log], "metrics": sorted(metrics.iterdir())}


def outcomes(mirror: Mirror, seed: int) -> Iterator[Outcome]:
    """Play one sickness and yield what `kvlab diagnose` says of each form."""
    with TemporaryDirectory() as folder:
        forms = write_forms(play(mirror, seed), Path(folder))
        for form, want in zip(FORMS, mirror.causes, strict=True):
            told = diagnose(forms[form])
            yield Outcome(
                mirror.name, seed, form, told.verdict, told.cause, want, told.reasons
            )
