"""Which options does a replay on a clock have, and what do they mean together?

Left out: what every replay has (replay.py).
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ..block_config import BlockConfig, L2Config
from ..config import EngineConfig
from ..errors import InputError
from ..files import replace_file
from ..record.trace import BlockTrace
from ..rules import Rules
from ..schedule.policy import POLICIES
from .shared import check_target, named_model

CHUNK = 8192
"""SGLang's own chunked_prefill_size on accelerators of 60 to 90 GB."""
SEATS = 1024
"""vLLM's own max_num_seqs on accelerators of 70 GB and more."""


def add_timing(parser: argparse.ArgumentParser) -> None:
    """Add the options of time to `kvlab replay`. Changes: the parser."""
    add = parser.add_argument
    add("--timing", default="none", choices=("none", "model"), help="model: a virtual "
        "clock, whose steps take what --model on --accelerator takes")  # fmt: skip
    add("--concurrency", default="serial", choices=("serial", "open", "closed"),
        help="open: requests arrive at the trace's times and run together; closed: each"
        " of --users sends its next when its last has left")  # fmt: skip
    add("--users", type=int, metavar="N", help="of a closed loop; each takes the "
        "trace's next session when it is done with one")  # fmt: skip
    add("--output-tokens", default="none", choices=("none", "trace"), help="trace: "
        "each request produces the trace's output_length")  # fmt: skip
    add("--model", default="llama-3-70b", help="a name (capacity --list) or a "
        "config.json (default llama-3-70b)")  # fmt: skip
    add("--accelerator", default="h100", help="a100 h100 h200 b200 l40s laptop")
    add("--tp", type=int, default=1, help="tensor parallel degree (default 1)")
    add("--link-gbps", type=float, metavar="GB/S", help="host link, gigabytes a "
        "second each way, all ranks together (default: their PCIe)")  # fmt: skip
    add("--chunked-prefill-size", type=int, default=CHUNK, metavar="TOKENS",
        help=f"tokens of one prefill, 0 for no bound (default {CHUNK})")  # fmt: skip
    add("--schedule-policy", default="fcfs", choices=POLICIES, help="SGLang: in which "
        "order waiting requests are tried (default fcfs)")  # fmt: skip
    add("--max-running", type=int, metavar="N", help="admission control: at most N "
        "requests run at once")  # fmt: skip
    add("--metrics-dir", type=Path, metavar="DIR", help="write the engine's "
        "metrics there, one file a scrape")  # fmt: skip
    add("--metrics-every", type=float, default=10.0, metavar="SECONDS", help="of the "
        "virtual clock, between two scrapes (default 10)")  # fmt: skip
    add("--engine-log", type=Path, metavar="FILE", help="write its log lines there")
    add("--seed", type=int, default=0, help="of unique prompts and random draws")


def is_timed(arguments: argparse.Namespace) -> bool:
    """Return whether the options ask for a clock.

    Raises: InputError for options that do not go together.
    """
    closed, users = arguments.concurrency == "closed", arguments.users
    if users is not None and not closed:
        raise InputError("--users", "are of a closed loop", "add --concurrency closed")
    if arguments.timing == "model":
        if arguments.concurrency == "serial":
            raise InputError(
                "--timing model", "requests arrive at their times",
                "add --concurrency open, or closed with --users",
            )  # fmt: skip
        if closed and users is None:
            raise InputError(
                "--concurrency closed", "has no users", "say how many with --users"
            )
        if users is not None and users < 1:
            raise InputError("--users", f"is {users}", "use 1 or more")
        return True
    if arguments.schedule_policy != "fcfs":
        raise InputError(
            "--schedule-policy", "orders a queue, and one by one nobody waits",
            "add --timing model",
        )  # fmt: skip
    if needs_trace(arguments):
        raise InputError("--metrics-dir", "needs a clock", "add --timing model")
    for option, plain in (("concurrency", "serial"), ("output_tokens", "none")):
        if (value := getattr(arguments, option)) != plain:
            name = option.replace("_", "-")
            raise InputError(f"--{name} {value}", "needs a clock", "add --timing model")
    return False


def timed_replay(
    arguments: argparse.Namespace, config: EngineConfig, rules: Rules
) -> Any:
    """Return the replay on a clock that the options describe.

    Raises: ConfigError or InputError for options with which no engine could start.
    """
    from ..run.timed_replay import replay_timed

    if arguments.room == "engine":
        raise InputError("--room engine", "is of the serial replay", "leave it out")
    if arguments.max_running is not None and arguments.max_running < 1:
        raise InputError(
            "--max-running", f"is {arguments.max_running}", "use 1 or more"
        )
    cost = _cost(arguments)
    chunk = arguments.chunked_prefill_size or None
    config = msgspec.structs.replace(config, chunked_prefill_size=chunk)
    config.check_start(rules)
    return partial(
        replay_timed,
        config=config,
        rules=rules,
        cost=cost,
        outputs=arguments.output_tokens == "trace",
        users=arguments.users,
        policy=arguments.schedule_policy,
        max_running=arguments.max_running,
    )


def timed_block_replay(arguments: argparse.Namespace, config: BlockConfig) -> Any:
    """Return vLLM's replay on a clock: blocks of L2, tokens of a step and sequences.

    Raises: ConfigError or InputError for options with which no engine could start.
    """
    from ..run.block_timed_replay import replay_blocks_timed

    host = (arguments.host_tokens or 0) // config.block_size
    tokens = arguments.chunked_prefill_size or config.usable_tokens
    seats = SEATS if arguments.max_running is None else arguments.max_running
    config = msgspec.structs.replace(
        config,
        max_num_batched_tokens=tokens,
        max_num_seqs=min(seats, tokens),
        max_model_len=config.usable_tokens,
        l2=L2Config(num_cpu_blocks=host + 1) if host else None,
    )
    config.check_start()
    return partial(
        replay_blocks_timed,
        config=config,
        cost=_cost(arguments),
        outputs=arguments.output_tokens == "trace",
        users=arguments.users,
    )


def _cost(arguments: argparse.Namespace) -> Any:
    """Return what steps take: of which model, on which machine, over which link."""
    from ..run.accelerators import accelerator
    from ..run.cost import Cost

    rate = arguments.link_gbps
    return Cost(
        named_model(arguments.model),
        accelerator(arguments.accelerator),
        tp=arguments.tp,
        link_rate=None if rate is None else rate * 1e9,
    )


def needs_trace(arguments: argparse.Namespace) -> bool:
    """Return whether the run must be recorded for what is written after it.

    Raises: InputError, before hours of work, for a place where nothing can be written.
    """
    folder, log = arguments.metrics_dir, arguments.engine_log
    if folder is not None and not folder.is_dir():
        raise InputError(str(folder), "is no directory", "make it first")
    if folder is not None and not os.access(folder, os.W_OK):
        raise InputError(str(folder), "takes no file from you", "name another")
    if folder is not None and any(folder.glob("scrape_*.prom")):
        raise InputError(str(folder), "holds scrapes of a run", "name an empty folder")
    check_target(log, arguments.trace, arguments.record)
    if not 0.001 <= arguments.metrics_every <= 1e6:
        raise InputError(
            "--metrics-every", f"is {arguments.metrics_every}", "use 0.001 to 1000000"
        )
    return folder is not None or log is not None


def write_telemetry(trace: Any, arguments: argparse.Namespace) -> None:
    """Write the scrapes and the log that were asked for. Changes: files."""
    if not needs_trace(arguments):
        return
    from ..run.block_telemetry import block_log_lines, write_block_scrapes
    from ..run.engine_log import log_lines
    from ..run.scrapes import write_scrapes

    blocks = isinstance(trace, BlockTrace)
    every = round(arguments.metrics_every * 1e9)
    if arguments.metrics_dir is not None:
        write = write_block_scrapes if blocks else write_scrapes
        write(trace, arguments.metrics_dir, every)
    if arguments.engine_log is not None:
        lines = block_log_lines(trace) if blocks else log_lines(trace)
        replace_file(arguments.engine_log, ("\n".join(lines) + "\n").encode())
