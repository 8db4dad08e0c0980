"""What do two engines do with one workload that their pool cannot hold?

The same requests, at the same moments, on the same device, with a pool of as many
tokens. SGLang sets some of the tokens to come aside and retracts when that was too
little; vLLM sets nothing aside and preempts. Either way the given-up KV may be found
again in the cache, as long as nobody took it.

        python -m kvlab.lessons.both_engines both.svg

Left out: vLLM's asynchronous scheduling; L2, which neither has here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ..block_config import BlockConfig
from ..config import EngineConfig
from ..record.trace import BlockHeader, BlockTrace, Header, Trace
from ..rules import Rules
from ..run.accelerators import accelerator
from ..run.block_timed_engine import TimedBlockEngine
from ..run.cost import Cost
from ..run.generators import poisson, shared_system
from ..run.model_shapes import model_shape
from ..run.timed_engine import TimedEngine
from ..run.workload import OpenLoop
from ..views.block_export import render_both
from .command import command, parser

PAGE = 16
POOL = 16_384
CHUNK = 1024
"""Tokens of a page, of the pool, of a step's prefill."""


def both() -> tuple[Trace, BlockTrace]:
    """Return the run of each engine, recorded on its clock."""
    return _tree(), _blocks()


def _workload() -> OpenLoop:
    """Forty prompts that share their first half, five a second, with long answers."""
    asks = shared_system(
        40, poisson(5.0, 1), length=1024, outputs=1200, share=0.5, spread=0.2, seed=1
    )
    return OpenLoop(asks)


def _cost() -> Cost:
    return Cost(model_shape("llama-3-8b"), accelerator("h100"))


def _tree() -> Trace:
    config = EngineConfig(pool_tokens=POOL, page_size=PAGE, chunked_prefill_size=CHUNK)
    header = Header(name="both engines", config=config, rules=Rules.v0_5_23())
    trace = Trace(header)
    TimedEngine(config, header.rules, _cost(), emit=trace).run(_workload())
    return trace


def _blocks() -> BlockTrace:
    config = BlockConfig(
        num_gpu_blocks=POOL // PAGE + 1, block_size=PAGE, max_model_len=POOL,
        max_num_batched_tokens=CHUNK, hash_algo="chain64",
    )  # fmt: skip
    trace = BlockTrace(BlockHeader(name="both engines", config=config))
    TimedBlockEngine(config, _cost(), emit=trace).run(_workload())
    return trace


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Draw both accounts; return the exit status."""
    options = parser("both_engines", __doc__)
    options.add_argument("picture", type=Path, metavar="FILE", help=".svg or .png")
    render_both(both(), options.parse_args(argv).picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
