"""What can kvlab do from the command line?

Every command prints a result (`--json` for programs) and exits 0. Bad input is one
line on stderr and exit 2, with nothing written. A command imports what it needs when
it runs, so that `--help` answers before torch is loaded.
Left out: play, compare, export (cli_play.py); sweep (a later part).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .block_config import BlockConfig
from .cli_play import add_play
from .cli_timing import (
    add_timing,
    is_timed,
    needs_trace,
    timed_replay,
    write_telemetry,
)
from .config import EngineConfig
from .errors import ConfigError, InputError, KvlabError
from .record.trace import Trace
from .rules import Rules


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    arguments = _parser().parse_args(argv)
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except KvlabError as error:
        return _refuse(str(error))
    except (RecursionError, OverflowError, MemoryError) as error:
        deep = isinstance(error, RecursionError)
        what = "is nested too deeply" if deep else "asks for more than fits here"
        return _refuse(f"{_given(arguments)}: {what}; is it the right file?")
    except KeyboardInterrupt:
        print("kvlab: stopped; nothing was written", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _refuse(f"{_given(arguments)}: {error.strerror or error}; name another")


def _refuse(problem: str) -> int:
    print(f"kvlab: {problem}", file=sys.stderr)
    return 2


def _given(arguments: argparse.Namespace) -> str:
    """Return what the command was given to read, shortened."""
    names = ("path", "paths", "trace", "a", "model")
    given = next((v for n in names if (v := getattr(arguments, n, None))), "the input")
    return (", ".join(map(str, given)) if isinstance(given, list) else str(given))[:200]


# --- the commands


def _lab(arguments: argparse.Namespace) -> int:
    from .lab import course, lab_command

    command = lab_command(course(Path.cwd()), arguments.jupyter)
    os.execv(command[0], command)


def _conform(arguments: argparse.Namespace) -> int:
    from msgspec import to_builtins

    from .run.goldens import conform_goldens

    with _progress(None, "goldens", " files") as bar:
        report = conform_goldens(arguments.paths, say=lambda path: bar.update(1))
    if arguments.json:
        print(json.dumps(to_builtins(report)))
    else:
        for found in report.differences:
            print(
                f"{found.file}: record {found.record}: {found.field}: "
                f"expected {found.expected}, got {found.got}"
            )
        print(
            f"{report.files} files, {report.records} records, {report.equal} equal, "
            f"{len(report.differences)} differ"
        )
    return 1 if report.differences else 0


def _replay(arguments: argparse.Namespace) -> int:
    from .record.request_trace import read_requests, unique
    from .record.trace_file import write_trace

    engine = _block_engine if arguments.engine == "vllm" else _tree_engine
    run = engine(arguments)
    if arguments.record is not None:
        _check_target(arguments.record)
    read = read_requests(arguments.trace, arguments.limit)
    if arguments.unique:
        read = unique(read)
    _note(
        arguments,
        f"{arguments.trace}: {read.format}, {len(read.requests)} requests, "
        f"arrivals in {read.unit}, blocks of {read.block_size} tokens",
    )
    with _progress(len(read.requests), "replay", " requests") as bar:
        figures, trace = run(
            read.requests,
            unit=arguments.unit,
            record=arguments.record is not None or needs_trace(arguments),
            name=arguments.trace.name,
            seed=arguments.seed,
            progress=bar.update,
        )
    if arguments.record is not None:
        write_trace(trace, arguments.record)
    write_telemetry(trace, arguments)
    _print_figures(arguments, figures)
    return 0


def _tree_engine(arguments: argparse.Namespace) -> Any:
    """Return the replay through SGLang's tree that the options describe."""
    from .run.replay_trace import replay_trace

    rules = Rules.named(arguments.rules)
    config = _config(arguments)
    config.check_start(rules)
    if is_timed(arguments):
        return timed_replay(arguments, config, rules)
    room = arguments.room == "engine"
    return partial(replay_trace, config=config, rules=rules, engine_room=room)


def _block_engine(arguments: argparse.Namespace) -> Any:
    """Return the replay through vLLM's blocks that the options describe."""
    from .run.block_serial import replay_blocks

    if is_timed(arguments):
        raise InputError("--timing model", "is of --engine sglang so far", _LEAVE_OUT)
    return partial(replay_blocks, config=_block_config(arguments))


def _render(arguments: argparse.Namespace) -> int:
    from .views.export import render

    trace = _open(arguments.path)
    step = len(trace) if arguments.step is None else arguments.step
    render(trace, step, arguments.what, arguments.out, arguments.lang)
    _note(arguments, f"{arguments.out}: {arguments.what} after event {step}")
    return 0


def _diagnose(arguments: argparse.Namespace) -> int:
    from .observe_commands import diagnose_command

    if arguments.html is not None:
        _check_target(arguments.html)
    with _progress(None, "diagnose", "B") as bar:
        return diagnose_command(arguments, _scenario, bar.update)


def _capacity(arguments: argparse.Namespace) -> int:
    from .observe_commands import capacity_command

    if arguments.figure is not None:
        _check_target(arguments.figure)
    return capacity_command(arguments)


# --- their options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kvlab",
        description="A workbench for the KV cache of LLM serving engines.",
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (
        _add_lab, _add_replay, _add_render, _add_conform, _add_diagnose, _add_capacity
    ):  # fmt: skip
        add(commands)
    add_play(commands, _add)
    return parser


def _add(
    commands: Any, name: str, run: Any, summary: str, example: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary,
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def _add_lab(commands: Any) -> None:
    parser = _add(
        commands, "lab", _lab, "open JupyterLab on the notebooks (loopback, token)",
        "kvlab lab\n  kvlab lab -- --no-browser --port 8899",
    )  # fmt: skip
    parser.add_argument("jupyter", nargs="*", help="options for jupyter lab, after --")


def _add_conform(commands: Any) -> None:
    parser = _add(
        commands, "conform", _conform,
        "replay recorded states of a real engine and compare every record",
        "kvlab conform tests/goldens/sglang",
    )  # fmt: skip
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE|DIR")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_diagnose(commands: Any) -> None:
    parser = _add(
        commands, "diagnose", _diagnose,
        "say from logs, /metrics scrapes, a run or a request trace what is wrong",
        "kvlab diagnose server.log\n  kvlab diagnose 1.txt 2.txt --html out.html\n"
        "  docker logs sglang 2>&1 | kvlab diagnose - --json",
    )  # fmt: skip
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH",
        help="a log (plain, .gz, a folder of rotated files, - for stdin), scrapes in "
        "order, a RUN, a TRACE",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page")


def _add_capacity(commands: Any) -> None:
    parser = _add(
        commands, "capacity", _capacity,
        "KV bytes of a token, tokens in the pool, sequences that fit",
        "kvlab capacity llama-3-70b --tp 8 --kv-gib 60 --context 32768\n"
        "  kvlab capacity ./config.json --memory-gib 80 --weights-gib 17 --json",
    )  # fmt: skip
    add = parser.add_argument
    add("model", nargs="?", metavar="MODEL|config.json")
    add("--list", action="store_true", help="print the models known by name")
    add("--json", action="store_true", help="print one JSON object")
    add("--tp", type=int, default=1, help="tensor parallel ranks")
    add("--pp", type=int, default=1, help="pipeline stages")
    add("--dp-attention", type=int, default=1, help="attention ranks, within tp")
    add("--kv-dtype", default="auto", help="auto bf16 fp8 fp4 fp8_ds_mla")
    add("--kv-gib", type=float, help="GiB left for KV on each GPU, or:")
    add("--memory-gib", type=float, help="GiB of each GPU")
    add("--fraction", "--mem-fraction-static", "--gpu-memory-utilization",
        dest="fraction", type=float, default=0.9, help="of it (0.9)")  # fmt: skip
    add("--weights-gib", type=float, default=0.0, help="weights on each GPU")
    add("--reserve-gib", type=float, default=0.0, help="activations, graphs, draft KV")
    add("--context", "--context-len", type=int, help="input + output tokens")
    add("--page-size", type=int, default=1, help="SGLang's page, or vLLM's block")
    add("--state-mib", type=float, default=0.0, help="recurrent state of a sequence")
    add("--pool-tokens", type=int, help="tokens of L1, instead of memory")
    add("--figure", type=Path, metavar="FILE.svg", help="ceiling against context")
    add("--fit", type=int, metavar="N", help="what would have to change to fit N")


def _add_render(commands: Any) -> None:
    parser = _add(
        commands, "render", _render, "draw one step of a run as a picture",
        "kvlab render run.jsonl.gz --step 120 --what tree -o tree.svg",
    )  # fmt: skip
    parser.add_argument("path", type=Path, metavar="RUN|SCRIPT|SCENARIO")
    parser.add_argument("--step", type=int, help="after so many events (default: all)")
    parser.add_argument(
        "--what", default="tree", choices=("tree", "pool", "timeline", "account")
    )
    parser.add_argument(
        "-o", "--out", type=Path, required=True, help=".svg, .png, .dot or .txt"
    )
    parser.add_argument("--lang", default="en", choices=("en", "zh"))


def _add_replay(commands: Any) -> None:
    parser = _add(
        commands, "replay", _replay, "run a request trace through the L1/L2 cache",
        "kvlab replay conversation_trace.jsonl --limit 2000 --pool-tokens 3000000 "
        "--json",
    )  # fmt: skip
    parser.add_argument("trace", type=Path, metavar="TRACE", help="Mooncake JSONL")
    add = parser.add_argument
    add("--json", action="store_true", help="print one JSON object")
    add("--record", type=Path, metavar="RUN", help="save the run (.jsonl, .jsonl.gz)")
    add("--limit", type=int, metavar="N", help="first N requests")
    add("--unique", action="store_true", help="remove all sharing")
    add("--unit", action="store_true", help="each hash id is one token; pages of one")
    add("--engine", default="sglang", choices=("sglang", "vllm"))
    add("--rules", default="0.5.14", metavar="RELEASE", help="default 0.5.14")
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


# --- helpers


def _open(name: Path) -> Trace:
    """Return the run of a scenario's name, or the run or script in a file."""
    from .run.load import load_run

    scenario = _scenario(name)
    return load_run(name) if scenario is None else scenario


def _scenario(name: Path) -> Trace | None:
    """Return the run of a scenario's name; None if it is none."""
    from .lessons.scenarios import SCENARIOS

    scenario = SCENARIOS.get(str(name))
    return None if scenario is None else scenario().trace


def _config(arguments: argparse.Namespace) -> EngineConfig:
    """Return the engine that the options describe.

    Raises: ConfigError for options with which no engine could start.
    """
    if arguments.unit and arguments.page_size != 1:
        raise InputError("--unit", "has pages of one token", "leave out --page-size")
    settings: dict[str, Any] = {
        "tree": "radix",
        "pool_tokens": arguments.pool_tokens,
        "page_size": arguments.page_size,
        "eviction_policy": arguments.policy,
        "write_policy": arguments.write_policy,
    }
    if arguments.host_ratio is not None:
        settings |= {"tree": "hiradix", "hicache_ratio": arguments.host_ratio}
    elif arguments.host_tokens:
        settings |= {"tree": "hiradix", "host_tokens": arguments.host_tokens}
    return EngineConfig.of(settings)


def _block_config(arguments: argparse.Namespace) -> BlockConfig:
    """Return the block engine that the options describe; its null block on top.

    Raises: ConfigError for options with which no engine could start, InputError for
    those that a block engine does not have.
    """
    if arguments.unit and arguments.page_size != 1:
        raise InputError("--unit", "has blocks of one token", "leave out --page-size")
    if arguments.host_tokens or arguments.host_ratio is not None:
        raise InputError("--host-tokens", "is not for vLLM's serial replay", _LEAVE_OUT)
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


_LEAVE_OUT = "leave it out, or use --engine sglang"


def _check_target(path: Path) -> None:
    """Refuse, before hours of work, a place where nothing can be written."""
    if path.is_dir():
        raise InputError(str(path), "a directory", "name a file")
    if not path.absolute().parent.is_dir():
        raise InputError(str(path), "its folder does not exist", "make it first")


def _print_figures(arguments: argparse.Namespace, figures: dict[str, Any]) -> None:
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        shown = f"{value:,.3f}" if isinstance(value, float) else value
        print(
            f"{name:22} {shown:,}" if isinstance(value, int) else f"{name:22} {shown}"
        )


def _progress(total: int | None, what: str, unit: str) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, desc=what, unit=unit, disable=not sys.stderr.isatty())


def _note(arguments: argparse.Namespace, text: str) -> None:
    print(text, file=sys.stderr)


def _version() -> str:
    from importlib.metadata import version

    return f"kvlab {version('kvlab')}"


if __name__ == "__main__":
    sys.exit(main())
