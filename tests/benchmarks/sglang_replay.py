"""How fast does a request trace run through SGLang's tree, traced and untraced?

    python tests/benchmarks/sglang_replay.py conversation_trace.jsonl [runs]

First 2,000 requests, pool of 3 M tokens, rules of 0.5.14, pages of 1 and 64. Prints hit
tokens and requests per CPU-second, best and median of the runs, and what tracing costs.
Token arrays are made outside the timed region. On a 2-core machine SGLang 0.5.14 itself
serves 4,900-6,800 (pages of 1) and 2,100-2,500 (of 64) when driven the same way, and
mini-sglang 6,700-7,700 and 5,600-6,700. Compare rates of one machine and hour only.
"""

from __future__ import annotations

import gc
import statistics
import sys
from pathlib import Path

from kvlab.cli.parser import Help, Parser
from kvlab.config import EngineConfig
from kvlab.record.request_trace import TracedRequest, read_requests
from kvlab.rules import Rules
from kvlab.run.replay_trace import replay_trace

REQUESTS = 2_000
POOL = 3_000_000
HIT_TOKENS = 4_078_677
"""What SGLang 0.5.14 hits with pages of 1."""


def main(path: Path, runs: int) -> int:
    """Print the figures; return 1 if the hits are not the real engine's."""
    requests = read_requests(path, REQUESTS).requests
    wrong = 0
    for page in (1, 64):
        rates = {}
        for record in (False, True):
            done = [run(requests, page, record) for _ in range(runs)]
            rates[record] = sorted(rate for rate, _ in done)
            hits = done[0][1]
            print(line(page, record, rates[record], hits))
        slower = rates[False][-1] / rates[True][-1]
        print(f"page {page}: tracing takes {slower:.2f} times as long (best of each)")
        wrong += page == 1 and hits != HIT_TOKENS
    return int(wrong > 0)


def run(
    requests: tuple[TracedRequest, ...], page: int, record: bool
) -> tuple[float, int]:
    """Return requests per CPU-second, and hit tokens."""
    gc.collect()
    config = EngineConfig(pool_tokens=POOL, page_size=page, tree="radix")
    figures, _ = replay_trace(requests, config, Rules.v0_5_14(), record=record)
    return figures["requests_per_cpu_s"], figures["device_hit_tokens"]


def line(page: int, record: bool, rates: list[float], hits: int) -> str:
    how = "traced" if record else "untraced"
    return (
        f"page {page}, {how}: {hits:,} hit tokens, {rates[-1]:,.0f} requests per "
        f"CPU-second at best, {statistics.median(rates):,.0f} in the middle of "
        f"{len(rates)} runs"
    )


if __name__ == "__main__":
    options = Parser(description=__doc__, formatter_class=Help)
    options.add_argument("path", type=Path, metavar="TRACE")
    options.add_argument("runs", type=int, nargs="?", default=5)
    sys.exit(main(**vars(options.parse_args())))
