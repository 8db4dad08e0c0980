"""What does `kvlab capacity` do?

It prints how many bytes of KV a token takes and what fits. The rules: ..capacity.
"""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import msgspec
from msgspec import to_builtins

from ..capacity import (
    GIB,
    Capacity,
    Deployment,
    capacity,
    ceiling,
    check_bytes,
    to_fit,
)
from ..errors import InputError
from ..files import replace_file
from ..model_table import ALIASES, CONFIGS, known_shape
from ..models import KvShape, read_config
from ..run.accelerators import accelerator
from ..run.startup import SOURCES, Startup, start_up
from ..views.ceiling import ceiling_svg
from .parser import harmless
from .shared import add_command, check_target, model_config, named_model


def add_capacity(commands: Any) -> None:
    """Declare the command."""
    parser = add_command(
        commands, "capacity", _capacity,
        "KV bytes of a token, tokens in the pool, sequences that fit",
        "kvlab capacity llama-3-70b --tp 8 --kv-gib 60 --context 32768\n"
        "  kvlab capacity ./config.json --memory-gib 80 --weights-gib 17 --json\n"
        "  kvlab capacity llama-3-70b --accelerator h100 --tp 8 --fraction 0.88",
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
        dest="fraction", type=float, help="of it (0.9)")  # fmt: skip
    add("--weights-gib", type=float, default=0.0, help="weights on each GPU")
    add("--reserve-gib", type=float, default=0.0, help="activations, graphs, draft KV")
    add("--context", "--context-len", type=int, help="input + output tokens")
    add("--page-size", type=int, default=1, help="SGLang's page, or vLLM's block")
    add("--state-mib", type=float, default=0.0, help="recurrent state of a sequence")
    add("--accelerator", metavar="NAME", help="a100 h100 h200 b200 l40s laptop: where "
        "its memory goes when an engine starts, instead of GiB given here")  # fmt: skip
    add("--engine", default="sglang", choices=("sglang", "vllm"), help="that starts")
    add("--pool-tokens", type=int, help="tokens of L1, instead of memory")
    add("--figure", type=Path, metavar="FILE.svg", help="ceiling against context")
    add("--fit", type=int, metavar="N", help="what would have to change to fit N")


def _capacity(arguments: Namespace) -> int:
    """Print how many bytes a token takes and what fits.

    Raises: ConfigError for a model that is not known or a plan that cannot be;
    InputError for a file that is no model's config.json.
    """
    if arguments.list:
        print("\n".join(sorted([*CONFIGS, *ALIASES])))
        return 0
    if arguments.model is None:
        raise InputError("MODEL", "is missing", "name one (--list) or a config.json")
    figure = arguments.figure
    check_target(figure, Path(arguments.model))
    if figure is not None and figure.suffix not in ("", ".svg"):
        raise InputError(str(figure), "is no .svg", "name a file that ends so")
    started = None if arguments.accelerator is None else _start_up(arguments)
    shape, plan = _shape(arguments.model), _plan(arguments, started)
    told = to_builtins(capacity(shape, plan))
    if started is not None:
        told["startup"] = to_builtins(started) | {"sources": SOURCES[arguments.engine]}
    if arguments.fit is not None:
        told["fit"] = to_fit(shape, plan, arguments.fit)
    if figure is not None:
        replace_file(figure, _ceiling(shape, plan).encode())
    text = harmless(_capacity_text(shape, plan, told))
    print(json.dumps(told) if arguments.json else text)
    return 0


def _shape(name: str) -> KvShape:
    config = model_config(name)
    return known_shape(name) if config is None else read_config(config, name)


def _start_up(arguments: Namespace) -> Startup:
    """Return where the accelerator's memory goes.

    Raises: InputError for options that say so themselves, ConfigError if nothing is
    left for KV.
    """
    given = (arguments.kv_gib, arguments.memory_gib, arguments.pool_tokens)
    other = arguments.kv_dtype != "auto" or arguments.reserve_gib
    if any(value is not None for value in given) or other:
        raise InputError(
            "--accelerator", "says how much memory there is for 16-bit KV",
            "leave out --kv-gib, --memory-gib, --reserve-gib, --pool-tokens and "
            "--kv-dtype",
        )  # fmt: skip
    if arguments.pp > 1 or arguments.dp_attention > 1:
        raise InputError(
            "--accelerator", "starts tensor parallel engines alone", "use --tp"
        )
    weights = arguments.weights_gib * GIB
    check_bytes("weights", "--weights-gib", weights)
    return start_up(
        named_model(arguments.model), accelerator(arguments.accelerator),
        engine=arguments.engine, tp=arguments.tp, fraction=arguments.fraction,
        weights=int(weights) or None,
    )  # fmt: skip


def _plan(arguments: Namespace, started: Startup | None) -> Deployment:
    """Return the deployment that the options describe.

    Raises: ConfigError for one that cannot be, InputError for a fraction of nothing.
    """
    alone = arguments.memory_gib is None and started is None
    if arguments.fraction is not None and alone:
        raise InputError("--fraction", "is of a GPU's memory", "add --memory-gib or "
                         "--accelerator")  # fmt: skip

    def gib(value: float | None) -> float | None:
        return None if value is None else value * GIB

    return Deployment(
        tp=arguments.tp,
        pp=arguments.pp,
        dp_attention=arguments.dp_attention,
        kv_dtype=arguments.kv_dtype,
        kv_memory=gib(arguments.kv_gib) if started is None else started.kv,
        memory=gib(arguments.memory_gib),
        fraction=0.9 if arguments.fraction is None else arguments.fraction,
        weights=arguments.weights_gib * GIB if started is None else 0.0,
        reserve=arguments.reserve_gib * GIB,
        context=arguments.context,
        page_size=arguments.page_size,
        state=arguments.state_mib * (1 << 20),
        pool_tokens=arguments.pool_tokens,
    )


def _ceiling(shape: KvShape, plan: Deployment) -> str:
    """Return the figure. Raises: ConfigError where no memory was given."""
    points = ceiling(shape, plan)
    return ceiling_svg(points, f"{shape.name}: sequences that fit, by their length")


_CONTEXTS = (2048, 8192, 32768, 131072)


def _capacity_text(shape: KvShape, plan: Deployment, told: dict[str, object]) -> str:
    """Return the answer for people, with the ceiling at a few context lengths."""
    lines = [
        f"{name:30} {_shown(name, value)}"
        for name, value in told.items()
        if value is not None and not isinstance(value, dict) and _matters(name, value)
    ]
    answer = capacity(shape, plan)
    full, window = answer.bytes_per_token_full, answer.bytes_per_token_window
    if full and window and shape.window:
        lines.append(
            f"{'':30} beyond {shape.window:,} tokens one more takes {_size(full)}: "
            "long sequences hold more in all"
        )
    if plan.room is not None or plan.pool_tokens is not None:
        lines += ["", "context      sequences"]
        for context in _CONTEXTS:
            at = msgspec.structs.replace(plan, context=context)
            fits: Capacity = capacity(shape, at)
            lines.append(f"{context:>9,}  {fits.max_concurrency or 0:>9,}")
    else:
        lines += ["", "give --kv-gib or --memory-gib to learn what fits"]
    if isinstance(startup := told.get("startup"), dict):
        lines += ["", *_startup_text(startup)]
    fit = told.get("fit")
    if isinstance(fit, dict):
        lines += ["", *(f"{name:30} {_shown(name, fit[name])}" for name in fit)]
    return "\n".join(lines)


def _matters(name: str, value: object) -> bool:
    """Say whether a row says something: a model without windows has no bytes in one."""
    return value != 0 or not name.startswith(("bytes", "window", "state", "indexer"))


def _shown(name: str, value: object) -> str:
    """Return a value as people read it, bytes with their unit too."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and "bytes" in name:
        return f"{value:,} ({_size(value)})"
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def _size(count: int) -> str:
    """Return bytes in the unit that leaves the fewest digits.

    >>> _size(327680), _size(70272), _size(4 << 30)
    ('320 KiB', '68.625 KiB', '4 GiB')
    """
    units = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1))
    name, size = next((n, s) for n, s in units if count >= s or s == 1)
    return f"{count / size:,.3f}".rstrip("0").rstrip(".") + f" {name}"


_SLACK = GIB // 4
"""SGLang's own fraction takes up to so much less than its reserves for granted."""


def _startup_text(startup: dict[str, Any]) -> list[str]:
    """Return where each device's memory goes, a line a part, with its source."""
    lines = [f"each device, fraction {startup['fraction']:.3f}       GiB  source"]
    for part, source in startup["sources"].items():
        lines.append(f"{part:24} {startup[part] / GIB:13.2f}  {source}")
    if startup["unused"] < -_SLACK:
        lines.append("the fraction leaves less than the reserves: it may run out")
    return lines
