"""What does `kvlab replay` do?

It runs a request trace through one of the engines. The options of time: timing.py.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from ..block_config import BlockConfig
from ..config import EngineConfig
from ..errors import ConfigError, InputError
from ..rule import DEFAULT
from ..rules import Rules
from .both import beside, print_both, replay_both
from .shared import add_command, check_target, note, print_figures
from .timing import (
    add_timing,
    is_timed,
    needs_trace,
    timed_block_replay,
    timed_replay,
    write_telemetry,
)  # fmt: skip

_LEAVE_OUT = "leave it out, or use --engine sglang"


def add_replay(commands: Any) -> None:
    """Declare the command."""
    parser = add_command(
        commands, "replay", replay, "run a request trace through the L1/L2 cache",
        "kvlab replay conversation_trace.jsonl --limit 2000 --pool-tokens 3000000 "
        "--json",
    )  # fmt: skip
    parser.add_argument("trace", type=Path, metavar="TRACE", help="Mooncake or a "
        "dialect, Bailian (JSONL), BurstGPT, Azure (CSV); plain or .gz")  # fmt: skip
    add = parser.add_argument
    add("--json", action="store_true", help="print one JSON object")
    add("--record", type=Path, metavar="RUN", help="save the run (.jsonl, .jsonl.gz)")
    add("--limit", type=int, metavar="N", help="first N requests")
    add("--unique", action="store_true", help="remove all sharing")
    add("--unit", action="store_true", help="each hash id is one token; pages of one")
    add("--block-size", type=int, metavar="TOKENS", help="of the trace's hash ids, "
        "where its format leaves it open (default: what fits)")  # fmt: skip
    add("--engine", default="sglang", choices=("sglang", "vllm", "both"),
        help="both: side by side")  # fmt: skip
    add("--rules", default=DEFAULT, metavar="RELEASE", help=f"of SGLang (default "
        f"{DEFAULT}), or a combination such as 0.5.14-evict_whole_need")  # fmt: skip
    add("--pool-tokens", type=int, default=1_000_000, help="L1 (default 1000000)")
    host = parser.add_mutually_exclusive_group()
    host.add_argument("--host-tokens", type=int, help="L2 (default 0: none)")
    host.add_argument("--host-ratio", type=float, help="L2 by the engine's ratio rule")
    add("--page-size", type=int, default=1, help="tokens of a page (default 1)")
    add("--policy", default="lru", help="lru lfu fifo mru filo priority slru")
    add("--write-policy", default="write_through", help="or write_through_selective, "
        "write_back")  # fmt: skip
    add("--room", default="cut", choices=("cut", "engine"), help="a prompt asks room "
        "for its whole pages, or as the engine does for a page more")  # fmt: skip
    add("--hash-algo", default="chain64", help="vLLM: how blocks are named: chain64 "
        "(kvlab's own, fast), sha256, sha256_cbor, xxhash, xxhash_cbor")  # fmt: skip
    add_timing(parser)


def replay(arguments: argparse.Namespace) -> int:
    """Replay the trace, print its figures, and write what the options name."""
    from ..record.request_trace import read_requests, unique
    from ..record.trace_file import write_trace

    runs = {
        name: engine(arguments)
        for name, engine in (("sglang", _tree_engine), ("vllm", _block_engine))
        if arguments.engine in (name, "both")
    }
    check_target(arguments.record, arguments.trace)
    read = read_requests(arguments.trace, arguments.limit, block=arguments.block_size)
    if arguments.unique:
        read = unique(read)
    if arguments.unit and read.block_size is None:
        raise InputError("--unit", f"{arguments.trace} has no hash ids", "leave it out")
    note(f"{arguments.trace}: {read.about}")
    figures, traces = replay_both(
        runs,
        read.requests,
        unit=arguments.unit,
        record=arguments.record is not None or needs_trace(arguments),
        name=arguments.trace.name,
        seed=arguments.seed,
    )
    if len(runs) == 1:
        write_telemetry(traces[arguments.engine], arguments)
    for name, trace in traces.items():
        if arguments.record is not None:
            one = arguments.record
            write_trace(trace, one if len(runs) == 1 else beside(one, name))
    if len(runs) > 1:
        print_both(arguments, figures)
        return 0
    print_figures(arguments, figures[arguments.engine])
    return 0


def engine_of(arguments: argparse.Namespace) -> Any:
    """Return the replay through the one engine that the options describe.

    Raises: ConfigError or InputError for options with which no engine could start.
    """
    if arguments.engine == "both":
        raise InputError("--engine both", "is of kvlab replay", "name one engine")
    engine = _tree_engine if arguments.engine == "sglang" else _block_engine
    return engine(arguments)


def figures_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Replay the trace; return the figures, and print and keep nothing."""
    from ..record.request_trace import read_requests, unique

    run = engine_of(arguments)
    read = read_requests(arguments.trace, arguments.limit, block=arguments.block_size)
    if arguments.unique:
        read = unique(read)
    figures: dict[str, Any] = run(
        read.requests, unit=arguments.unit, name=arguments.trace.name,
        seed=arguments.seed,
    )[0]  # fmt: skip
    return figures


def _tree_engine(arguments: argparse.Namespace) -> Any:
    """Return the replay through SGLang's tree that the options describe."""
    from ..run.replay_trace import replay_trace

    rules = Rules.named(arguments.rules)
    config = _config(arguments)
    config.check_start(rules)
    if is_timed(arguments):
        return timed_replay(arguments, config, rules)
    room = arguments.room == "engine"
    return partial(replay_trace, config=config, rules=rules, engine_room=room)


def _block_engine(arguments: argparse.Namespace) -> Any:
    """Return the replay through vLLM's blocks that the options describe."""
    from ..run.block_serial import replay_blocks

    if arguments.engine == "both" and needs_trace(arguments):
        raise InputError(
            "--metrics-dir", "writes what one engine exports",
            "use --engine sglang, then --engine vllm",
        )  # fmt: skip
    if is_timed(arguments):
        return timed_block_replay(arguments, _block_config(arguments))
    if arguments.host_tokens:
        raise InputError(
            "--host-tokens", "vLLM's serial replay has no L2",
            "leave it out, or add --timing model",
        )  # fmt: skip
    return partial(replay_blocks, config=_block_config(arguments))


def _config(arguments: argparse.Namespace) -> EngineConfig:
    """Return the engine that the options describe.

    Raises: ConfigError for options with which no engine could start.
    """
    if arguments.unit and arguments.page_size != 1:
        raise InputError("--unit", "has pages of one token", "leave out --page-size")
    settings: dict[str, Any] = {
        "tree": "radix",
        "pool_tokens": _served(arguments.pool_tokens, arguments.page_size),
        "page_size": arguments.page_size,
        "eviction_policy": arguments.policy,
        "write_policy": arguments.write_policy,
    }
    if arguments.host_ratio is not None:
        settings |= {"tree": "hiradix", "hicache_ratio": arguments.host_ratio}
    elif arguments.host_tokens:
        settings |= {"tree": "hiradix", "host_tokens": arguments.host_tokens}
    return EngineConfig.of(settings)


def _served(pool_tokens: int, page_size: int) -> int:
    """Return the pool in whole pages, as a server's start-up hands it on: the size of
    L2 follows from that. One that holds no page is left for the config to refuse."""
    return pool_tokens // max(page_size, 1) * page_size or pool_tokens


def _block_config(arguments: argparse.Namespace) -> BlockConfig:
    """Return the block engine that the options describe; its null block on top.

    Raises: ConfigError for options with which no engine could start, InputError for
    those that a block engine does not have.
    """
    if arguments.unit and arguments.page_size != 1:
        raise InputError("--unit", "has blocks of one token", "leave out --page-size")
    if arguments.host_ratio is not None:
        raise InputError("--host-ratio", "is SGLang's rule", "use --host-tokens")
    if arguments.policy != "lru":
        raise InputError("--policy", "vLLM evicts what was freed first", _LEAVE_OUT)
    size = max(arguments.page_size, 1)
    settings: dict[str, Any] = {
        "num_gpu_blocks": arguments.pool_tokens // size + 1,
        "block_size": arguments.page_size,
        "max_model_len": max(arguments.pool_tokens, 1),
        "hash_algo": arguments.hash_algo,
    }
    if arguments.pool_tokens < size:
        raise ConfigError(
            f"pool_tokens {arguments.pool_tokens} holds no block of {size}; "
            "raise --pool-tokens or lower --page-size"
        )
    return BlockConfig.of(settings)
