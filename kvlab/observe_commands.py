"""What do `kvlab diagnose` and `kvlab capacity` do?

The bodies of the two commands that look at real engines; cli.py has their options.
Here and not in observe/, since they bring observe/, views/ and runs together.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import to_builtins

from .capacity import GIB, Capacity, Deployment, capacity, to_fit
from .errors import ConfigError, InputError
from .files import replace_file
from .model_table import ALIASES, CONFIGS, known_shape
from .models import KvShape, read_config
from .observe.diagnose import diagnose, diagnose_run, failed
from .observe.report import report
from .observe.source import STDIN
from .record.diagnosis import Diagnosis
from .record.trace import Trace
from .views.ceiling import ceiling_svg
from .views.diagnosis_page import page

Named = Callable[[Path], Trace | None]
Say = Callable[[int], object]


def diagnose_command(arguments: Namespace, named: Named, say: Say) -> int:
    """Print what is wrong; write the page if one is asked for.

    `named` returns the run that is known by a name. Raises: InputError where nothing
    can be used; with `--json` the object is printed first, its status `error`.
    """
    try:
        told = _told(arguments.paths, named, say)
    except InputError as problem:
        if arguments.json:
            print(json.dumps(to_builtins(failed(problem).told())))
        raise
    if arguments.html is not None:
        replace_file(arguments.html, page(told).encode())
    if arguments.json:
        print(json.dumps(to_builtins(told.told())))
    else:
        print(report(told))
    return 0


def _told(paths: list[Path], named: Named, say: Say) -> Diagnosis:
    (first, *more) = paths
    if not more and not first.exists() and str(first) != STDIN:
        run = named(first)
        if run is not None:
            return diagnose_run(run, str(first))
    return diagnose(paths, say)


# --- capacity

_MOST_BYTES = 16 << 20


def capacity_command(arguments: Namespace) -> int:
    """Print how many bytes a token takes and what fits.

    Raises: ConfigError for a model that is not known or a plan that cannot be;
    InputError for a file that is no model's config.json.
    """
    if arguments.list:
        print("\n".join(sorted([*CONFIGS, *ALIASES])))
        return 0
    if arguments.model is None:
        raise InputError("MODEL", "is missing", "name one (--list) or a config.json")
    shape, plan = _shape(arguments.model), _plan(arguments)
    told = to_builtins(capacity(shape, plan))
    if arguments.fit is not None:
        told["fit"] = to_fit(shape, plan, arguments.fit)
    if arguments.figure is not None:
        replace_file(arguments.figure, _ceiling(shape, plan).encode())
    print(json.dumps(told) if arguments.json else _capacity_text(shape, plan, told))
    return 0


def _shape(name: str) -> KvShape:
    path = Path(name)
    if path.is_dir() and (path / "config.json").is_file():
        path = path / "config.json"
    if not path.is_file():
        return known_shape(name)
    if path.stat().st_size > _MOST_BYTES:
        raise InputError(name, "is larger than 16 MiB", "give a model's config.json")
    try:
        return read_config(msgspec.json.decode(path.read_bytes()), name)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise InputError(
            name, f"is not JSON ({problem})", "give a model's config.json"
        ) from None
    except OSError as problem:
        raise InputError(
            name, f"cannot be read ({problem.strerror})", "give a readable file"
        ) from None


def _plan(arguments: Namespace) -> Deployment:
    def gib(value: float | None) -> float | None:
        return None if value is None else value * GIB

    return Deployment(
        tp=arguments.tp,
        pp=arguments.pp,
        dp_attention=arguments.dp_attention,
        kv_dtype=arguments.kv_dtype,
        kv_memory=gib(arguments.kv_gib),
        memory=gib(arguments.memory_gib),
        fraction=arguments.fraction,
        weights=arguments.weights_gib * GIB,
        reserve=arguments.reserve_gib * GIB,
        context=arguments.context,
        page_size=arguments.page_size,
        state=arguments.state_mib * (1 << 20),
        pool_tokens=arguments.pool_tokens,
    )


def _ceiling(shape: KvShape, plan: Deployment) -> str:
    """Return the figure. Raises: ConfigError where no memory was given."""
    if plan.room is None and plan.pool_tokens is None:
        raise ConfigError("--figure needs memory: give --kv-gib or --memory-gib")
    points = []
    for power in range(10, 20):
        at = msgspec.structs.replace(plan, context=1 << power)
        points.append((1 << power, capacity(shape, at).max_concurrency_exact or 0.0))
    return ceiling_svg(points, f"{shape.name}: sequences that fit, by their length")


_CONTEXTS = (2048, 8192, 32768, 131072)


def _capacity_text(shape: KvShape, plan: Deployment, told: dict[str, object]) -> str:
    """Return the answer for people, with the ceiling at a few context lengths."""
    lines = [
        f"{name:30} {value:,}"
        if isinstance(value, int | float)
        else f"{name:30} {value}"
        for name, value in told.items()
        if value is not None and not isinstance(value, dict)
    ]
    if plan.room is not None or plan.pool_tokens is not None:
        lines += ["", "context      sequences"]
        for context in _CONTEXTS:
            at = msgspec.structs.replace(plan, context=context)
            fits: Capacity = capacity(shape, at)
            lines.append(f"{context:>9,}  {fits.max_concurrency or 0:>9,}")
    else:
        lines += ["", "give --kv-gib or --memory-gib to learn what fits"]
    fit = told.get("fit")
    if isinstance(fit, dict):
        lines += ["", *(f"{name:30} {value}" for name, value in fit.items())]
    return "\n".join(lines)
