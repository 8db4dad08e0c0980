"""How fast does an engine on a clock serve the whole conversation trace?

    python tests/benchmarks/timed_replay.py conversation_trace.jsonl [--limit N]

Timing, sharing and L2, pages of 512: untraced, and with every decision recorded. The
stopwatch stands while token arrays are made. Peak memory is the process's, each run in
a process of its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

from kvlab.cli.parser import Help, Parser
from kvlab.config import EngineConfig
from kvlab.record.request_trace import read_requests
from kvlab.rules import Rules
from kvlab.run.accelerators import accelerator
from kvlab.run.cost import Cost
from kvlab.run.model_shapes import model_shape
from kvlab.run.timed_replay import replay_timed


def once(path: Path, limit: int | None, traced: bool, rules: str) -> dict:
    """Serve the trace once; return the speed and the peak memory in MB."""
    config = EngineConfig(
        pool_tokens=2_048_000, host_tokens=25_600_000, page_size=512,
        chunked_prefill_size=8192,
    )  # fmt: skip
    cost = Cost(model_shape("llama-3-70b"), accelerator("h100"), tp=8, link_rate=50e9)
    requests = read_requests(path, limit).requests
    figures, _ = replay_timed(requests, config, Rules.named(rules), cost, record=traced)
    names = ("requests", "requests_per_s", "requests_per_cpu_s", "events", "jumps",
             "decode_steps")  # fmt: skip
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {name: figures[name] for name in names} | {"peak_mb": round(peak)}


def main() -> None:
    parser = Parser(description=__doc__, formatter_class=Help)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rules", default="0.5.14")
    parser.add_argument("--traced", choices=("yes", "no"))
    arguments = parser.parse_args()
    if arguments.traced is not None:
        traced = arguments.traced == "yes"
        told = once(arguments.trace, arguments.limit, traced, arguments.rules)
        print(json.dumps(told))
        return
    for traced in ("no", "yes") * arguments.runs:
        command = [sys.executable, __file__, *sys.argv[1:], "--traced", traced]
        told = subprocess.run(command, capture_output=True, text=True, check=True)
        print("traced  " if traced == "yes" else "untraced", told.stdout.strip())


if __name__ == "__main__":
    main()
