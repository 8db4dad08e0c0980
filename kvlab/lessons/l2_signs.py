"""Does L2 help P99, and when?

One real trace, five times: with and without sharing, with and without L2, over a fast
link and a slow one.

        python -m kvlab.lessons.l2_signs conversation_trace.jsonl --limit 4000

Three signs are read off: without sharing L2 changes nothing; with sharing it takes away
prefill work, so requests leave sooner and P99 falls, while no more of them run at once;
and over a slow link write-through holds L1 with copies under way, worse than no L2.
Left out: why, request by request (`kvlab replay --record`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from tqdm import tqdm

from ..config import EngineConfig
from ..record.request_trace import RequestTrace, read_requests, unique
from ..rule import DEFAULT
from ..rules import Rules
from ..run.accelerators import accelerator
from ..run.cost import Cost
from ..run.model_shapes import model_shape
from ..run.timed_replay import replay_timed
from .command import command, parser

POOL, HOST, PAGE = 2_048_000, 25_600_000, 512


class Case(Struct, frozen=True):
    """One run. Units: tokens of L2; gigabytes a second."""

    name: str
    shared: bool
    host_tokens: int
    link: float


CASES = (
    Case("unique, no L2", False, 0, 50),
    Case("unique, L2", False, HOST, 50),
    Case("sharing, no L2", True, 0, 50),
    Case("sharing, L2", True, HOST, 50),
    Case("sharing, L2, 1 GB/s", True, HOST, 1),
)


class Outcome(Struct, frozen=True):
    """What one run came to. Units: seconds; `demand` gigabytes a second that
    write-through would need to keep up with the arrivals."""

    p99: float
    mean: float
    peak_running: int
    hit_rate: float
    demand: float
    virtual_s: float


def play(case: Case, trace: RequestTrace, rules: Rules) -> Outcome:
    """Serve the trace once, with pages of 512 and chunks of 8,192."""
    host = {"tree": "hiradix", "host_tokens": case.host_tokens}
    config = EngineConfig.of(
        {"pool_tokens": POOL, "page_size": PAGE, "chunked_prefill_size": 8192}
        | (host if case.host_tokens else {"tree": "radix"})
    )
    cost = Cost(
        model_shape("llama-3-70b"), accelerator("h100"), tp=8,
        link_rate=case.link * 1e9,
    )  # fmt: skip
    figures, _ = replay_timed(trace.requests, config, rules, cost)
    span = max(request.timestamp for request in trace.requests) / 1e3
    written = figures["backed_up_tokens"] * cost.model.kv_bytes / 1e9
    return Outcome(
        figures["ttft_s"]["p99"], figures["ttft_s"]["mean"], figures["peak_running"],
        figures["hit_rate"], written / span if span else 0.0, figures["virtual_s"],
    )  # fmt: skip


def signs(found: Sequence[Outcome]) -> list[tuple[str, str, bool]]:
    """Return each sign with its figure and whether it holds, in CASES' order."""
    alone, alone_l2, without, with_l2, slow = found
    change = alone_l2.p99 / alone.p99 - 1
    seats = alone_l2.peak_running / alone.peak_running - 1
    falls = with_l2.p99 / without.p99 - 1
    more = with_l2.peak_running / without.peak_running - 1
    slower = slow.p99 / with_l2.p99
    return [
        ("unique: L2 moves P99 by less than 2 %", _change(change), abs(change) < 0.02),
        ("unique: ... and peak running as well", _change(seats), abs(seats) < 0.02),
        ("sharing: L2 lowers P99 by a third or more", _change(falls), falls <= -1 / 3),
        ("sharing: peak running rises by 2 % at most", _change(more), more <= 0.02),
        ("1 GB/s: P99 is 1.5 times that at 50 GB/s or more", f"{slower:.1f} x",
         slower >= 1.5),
    ]  # fmt: skip


def _change(share: float) -> str:
    return f"{round(share, 3) + 0.0:+.1%}"


LEGEND = """\
mean, P99: of TTFT; running: most requests that decoded at once; hits: share of all
prompt tokens found on L1 or loaded from L2; writes: what copies to L2 would need of the
link to keep up with the arrivals. 50 GB/s unless said.
"""


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Print the runs and the signs; 0 if all hold, 1 if not, 2 for bad input."""
    options = parser("l2_signs", __doc__)
    options.add_argument("trace", type=Path, metavar="TRACE")
    options.add_argument("--limit", type=int, metavar="N")
    options.add_argument("--rules", default=DEFAULT, metavar="RELEASE")
    arguments = options.parse_args(argv)
    rules = Rules.named(arguments.rules)
    read = read_requests(arguments.trace, arguments.limit)
    alone = unique(read)
    quiet = not sys.stderr.isatty()
    found = [
        play(case, read if case.shared else alone, rules)
        for case in tqdm(CASES, unit=" runs", disable=quiet)
    ]
    print(table(found))
    print(LEGEND)
    told = signs(found)
    for text, number, holds in told:
        print(f"{'holds' if holds else 'FAILS'}  {number:>7}  {text}")
    return 0 if all(holds for *_, holds in told) else 1


def table(found: Sequence[Outcome]) -> str:
    """Return one line a case, as text."""
    lines = [
        f"{'case':20} {'mean':>8} {'P99':>9} {'running':>7} {'hits':>6} {'writes':>9}"
    ]
    for case, one in zip(CASES, found, strict=True):
        lines.append(
            f"{case.name:20} {one.mean:7.1f}s {one.p99:8.1f}s {one.peak_running:7} "
            f"{one.hit_rate:6.1%} {one.demand:4.1f} GB/s"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
