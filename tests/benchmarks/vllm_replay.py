"""How fast does a request trace run through vLLM's blocks?

    python tests/benchmarks/vllm_replay.py conversation_trace.jsonl

Prints hit tokens, which must be vLLM's, and requests per CPU-second, best of three.
vLLM 0.33.0 itself, driven the same way on a 2-core machine, serves 1,600-2,900 (blocks
of 512) and 170-315 (blocks of 16), three quarters of it hashing. `chain64` names all
blocks of a prompt at once; `sha256` names them as vLLM does by default.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from kvlab.block_config import BlockConfig, HashAlgo
from kvlab.cli.parser import Help, Parser
from kvlab.record.request_trace import TracedRequest, read_requests
from kvlab.run.block_serial import Figures, replay_blocks

ROUNDS = 3


class Case(NamedTuple):
    """One replay, the hits of the real engine and its speed, low and high."""

    requests: int
    block_size: int
    num_blocks: int
    hit_tokens: int
    peer: tuple[int, int]


CASES = (
    Case(2000, 512, 6_000, 4_176_896, (1600, 2900)),
    Case(500, 16, 192_000, 834_992, (170, 315)),
)


def main(path: Path) -> int:
    """Run the cases; return 1 if a hit count is not the real engine's."""
    requests = read_requests(path, max(case.requests for case in CASES)).requests
    wrong = 0
    for case in CASES:
        for algo, record in (("chain64", False), ("chain64", True), ("sha256", False)):
            best = max(
                (run(requests, case, algo, record) for _ in range(ROUNDS)),
                key=lambda figures: figures["requests_per_cpu_s"],
            )
            wrong += best["device_hit_tokens"] != case.hit_tokens
            print(line(case, algo, record, best))
    return int(wrong > 0)


def run(
    requests: tuple[TracedRequest, ...], case: Case, algo: HashAlgo, record: bool
) -> Figures:
    config = BlockConfig(
        num_gpu_blocks=case.num_blocks + 1,
        block_size=case.block_size,
        max_model_len=case.num_blocks * case.block_size,
        hash_algo=algo,
    )
    return replay_blocks(requests[: case.requests], config, record=record)[0]


def line(case: Case, algo: str, record: bool, figures: Figures) -> str:
    low, high = case.peer
    speed = figures["requests_per_cpu_s"]
    return (
        f"{case.requests} requests, blocks of {case.block_size}, {algo}"
        f"{', recorded' if record else ''}: {figures['device_hit_tokens']:,} hit "
        f"tokens (vLLM {case.hit_tokens:,}), {speed:,.0f} requests per CPU-second, "
        f"{speed / high:.1f} to {speed / low:.1f} times vLLM"
    )


if __name__ == "__main__":
    options = Parser(description=__doc__, formatter_class=Help)
    options.add_argument("path", type=Path, metavar="TRACE")
    sys.exit(main(options.parse_args().path))
