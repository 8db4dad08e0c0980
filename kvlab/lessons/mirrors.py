"""Is what the workbench teaches what the tool recognises?

`title_collapse` plays one sickness: L1 is full. Here are its mirror images: the same
model on the same eight devices, and each time one thing is different, so that requests
wait, or tokens vanish, for another reason. Each run is told in three forms, as kvlab
would have been handed it: the recorded run, SGLang's log, a series of /metrics scrapes;
each form is a file, and `kvlab diagnose` reads it.

        python -m kvlab.lessons.mirrors               the table, over three seeds
        python -m kvlab.lessons.mirrors --write DIR   the files, to diagnose by hand

Their sizes and the rules were tuned against each other: they are clear cases, and that
all are recognised is no detection rate. `python -m kvlab.lessons.mirror_grid` varies
the sizes and prints how often which sickness is taken for which.

`causes` says what each form can know: a log has no line on copies from L2, so the
honest answer to a slow link is there that nothing in the log explains the queue.
Left out: faults that one SGLang engine cannot have (ranks, prefill-decode splits).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from msgspec import Struct, to_builtins
from tqdm import tqdm

from ..config import EngineConfig
from ..errors import InputError
from ..memory.allocator import PageAllocator
from ..observe.diagnose import diagnose
from ..record.trace import Header, Trace
from ..record.trace_file import write_trace
from ..rules import Rules
from ..run.accelerators import accelerator
from ..run.cost import Cost
from ..run.engine_log import log_lines
from ..run.generators import poisson, ramp, shared_system, unique
from ..run.model_shapes import model_shape
from ..run.scrapes import write_scrapes
from ..run.timed_engine import TimedEngine
from ..run.workload import Ask, OpenLoop, Workload
from .command import command, parser
from .title_collapse import PAGE, POOL, SECOND

FORMS = ("run", "log", "metrics")
EVERY = 10 * SECOND
"""Nanoseconds between two scrapes."""


class Load(Struct, frozen=True, kw_only=True):
    """What the prompts are, but for what makes a sickness. Units: `rate` requests a
    second, `length` and `outputs` tokens; `share` is the part that all have in common.
    """

    rate: float = 0.6
    length: int = 8192
    outputs: int = 400
    share: float = 0.6


class Mirror(Struct, frozen=True, kw_only=True):
    """One sickness, and what each form can know of it.

    `workload` makes the requests of a seed, as large as `load` says. Units:
    `pool_tokens` and `host_tokens` tokens (0: no L2), `link` bytes a second, `leaks`
    pages a finished request loses.
    """

    name: str
    says: str
    causes: tuple[str, str, str]
    workload: Callable[[int, Load], Workload]
    load: Load = Load()
    pool_tokens: int = POOL // 8
    host_tokens: int = POOL
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


def ceiling(seed: int, load: Load) -> Workload:
    """As the title's: prompts that share nothing come faster and faster, with answers
    so long that what was admitted outgrows the pool."""
    arrivals = ramp(load.rate / 3, 2.5 * load.rate, 60, seed)
    length, outputs = load.length // 4, round(12.5 * load.outputs)
    return OpenLoop(
        unique(160, arrivals, length=length, outputs=outputs, spread=0.2, seed=seed)
    )


def steady(seed: int, load: Load) -> Workload:
    """Prompts that share a system prompt, at a rate that eight devices hold; half way
    two minutes of silence."""
    again = _prompts(seed + 1000, load, load.share)
    return OpenLoop(_halves(_prompts(seed, load, load.share), again))


def changed(seed: int, load: Load) -> Workload:
    """The same; after the silence a time stamp stands before the system prompt."""
    again = _prompts(seed + 1000, load, 0.0)
    return OpenLoop(_halves(_prompts(seed, load, load.share), again))


def _prompts(seed: int, load: Load, share: float) -> list[Ask]:
    made = shared_system(
        100, poisson(load.rate, seed), length=load.length, outputs=load.outputs,
        share=share, spread=0.2, seed=seed,
    )  # fmt: skip
    return list(made)


def _halves(first: list[Ask], second: list[Ask]) -> Iterator[Ask]:
    """Yield both; the tokens of the second half are others, but for a shared head."""
    yield from first
    begin, own = first[-1].at + 120 * SECOND, 1 << 28
    for ask in second:
        tokens = np.where(ask.tokens < own, ask.tokens + own, ask.tokens)
        tokens.flags.writeable = False
        yield Ask(f"n{ask.id}", begin + ask.at, tokens, ask.max_new, ask.filler - 100)


MIRRORS = (
    Mirror(
        name="the ceiling", says="as in the title: more want to run than L1 holds",
        causes=("pool_exhausted_retract",) * 3, workload=ceiling,
        pool_tokens=POOL // 8,
    ),
    Mirror(
        name="a cap", says="--max-running 2, though L1 has room",
        causes=("max_running_cap",) * 3, workload=steady, max_running=2,
    ),
    Mirror(
        name="a slow link", says="L2 is written over 0.2 GB/s, not 50",
        causes=("l2_copies_hold_pool", "waiting_below_pin", "l2_copies_hold_pool"),
        workload=steady, link=0.2e9,
    ),
    Mirror(
        name="a broken prefix", says="prompts that shared 60 % share nothing any more",
        causes=("prefix_broken_by_client",) * 3, workload=changed,
    ),
    Mirror(
        name="a leak", says="every finished request leaves 4 pages that nobody frees",
        causes=("leak_undercount", "leak_undercount", "leak_idle_usage"),
        workload=steady, leaks=4,
    ),
    Mirror(
        name="healthy", says="the same requests, nothing planted",
        causes=("healthy",) * 3, workload=steady,
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
            "write_policy": "write_through", "chunked_prefill_size": 8192,
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
    workload = mirror.workload(seed, mirror.load)
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


# --- the table


def table(found: Sequence[Outcome]) -> str:
    """Return one line a sickness and form, with how many seeds were right, as text."""
    lines = [f"{'sickness':16} {'form':8} {'right':>6}  what was said"]
    for mirror in MIRRORS:
        for form in FORMS:
            mine = [o for o in found if (o.mirror, o.form) == (mirror.name, form)]
            right = f"{sum(o.right for o in mine)}/{len(mine)}"
            said = dict.fromkeys(f"{o.verdict}: {o.cause}" for o in mine)
            lines.append(f"{mirror.name:16} {form:8} {right:>6}  {', '.join(said)}")
    return "\n".join(lines)


def write_all(folder: Path, seed: int) -> None:
    """Write every sickness's files into a folder of its own. Changes: the folder."""
    for mirror in MIRRORS:
        inner = folder / mirror.name.replace(" ", "_")
        inner.mkdir(parents=True, exist_ok=True)
        write_forms(play(mirror, seed), inner)


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; return 0 if every form of every run was recognised, else 1."""
    options = parser("mirrors", __doc__)
    options.add_argument("--seeds", type=int, default=3, metavar="N")
    options.add_argument("--first", type=int, default=0, metavar="SEED")
    options.add_argument("--json", action="store_true", help="print every outcome")
    options.add_argument("--write", type=Path, metavar="DIR", help="write the files")
    arguments = options.parse_args(argv)
    if not 1 <= arguments.seeds <= 1000:
        raise InputError(
            f"--seeds {arguments.seeds}", "is out of range", "use 1 to 1000"
        )
    if arguments.write is not None:
        write_all(arguments.write, arguments.first)
        return 0
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    runs = [(mirror, seed) for mirror in MIRRORS for seed in seeds]
    quiet = not sys.stderr.isatty()
    found = [
        outcome
        for mirror, seed in tqdm(runs, unit=" runs", disable=quiet)
        for outcome in outcomes(mirror, seed)
    ]
    print(json.dumps(to_builtins(found)) if arguments.json else table(found))
    return 0 if all(outcome.right for outcome in found) else 1


if __name__ == "__main__":
    sys.exit(main())
