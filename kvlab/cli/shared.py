"""What do all commands share?

How a command is declared, how a run is found by name or in a file, what is checked
before long work, how progress and figures are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import msgspec

from ..errors import InputError
from ..record.trace import Trace
from ..run.model_shapes import ModelShape, model_shape, shape_of
from ..run.script import Script
from .parser import Help, one_line

EXITS = "0 done, {}2 bad input (one line on stderr, nothing written), 130 stopped"


def add_command(
    commands: Any, name: str, run: Any, summary: str, example: str, found: str = ""
) -> argparse.ArgumentParser:
    """Declare a command; `found` is what it exits 1 for. Changes: the parser."""
    exits = EXITS.format(found and f"1 {found}, ")
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary,
        epilog=f"example:\n  {example}\n\nexit status:\n  {exits}",
        formatter_class=Help,
    )
    parser.set_defaults(run=run)
    return parser


def script_of(name: Path) -> Script | None:
    """Return the script of a lesson's or a rule's name, or in a file; None for a run,
    and for a lesson that is more than ops.

    Raises: InputError with file, place and remedy.
    """
    from ..lessons.rule_scripts import RULE_SCRIPTS, rule_script
    from ..lessons.scenarios import SCENARIOS
    from ..run.script import read_script
    from ..run.whole import is_script

    if (scenario := SCENARIOS.get(str(name))) is not None:
        script: Script | None = getattr(scenario(), "script", None)
        return script
    if str(name) in RULE_SCRIPTS:
        return rule_script(str(name))
    return read_script(name) if is_script(name) else None


def whole_run(name: Path, rules: str | None = None) -> tuple[Trace, str | None]:
    """Return the run of a name or in a file as far as it goes, and what ended it; a
    script is run, under `rules` if they are given.

    Raises: InputError; ConfigError for rules that are none.
    """
    from msgspec.structs import replace

    from ..lessons.scenarios import SCENARIOS
    from ..record.trace_file import read_trace
    from ..rules import Rules
    from ..run.whole import run_whole

    if rules is None and (scenario := SCENARIOS.get(str(name))) is not None:
        return scenario().trace, None
    if (script := script_of(name)) is None:
        if rules is not None:
            raise InputError(str(name), "no script to run again", "leave out --rules")
        return read_trace(name), None
    if rules is not None:
        script = replace(script, rules=Rules.named(rules))
    return run_whole(script)


def named_run(name: Path) -> Trace | None:
    """Return the run of a lesson's or a rule's name; None if it is none."""
    from ..lessons.rule_scripts import RULE_SCRIPTS
    from ..lessons.scenarios import SCENARIOS

    known = str(name) in SCENARIOS or str(name) in RULE_SCRIPTS
    return whole_run(name)[0] if known else None


def model_config(name: str) -> Any | None:
    """Return what a model's config.json says, by the path of the file or its folder;
    None if the name is no path.

    Raises: InputError for a file that is no JSON.
    """
    path = Path(name)
    if path.is_dir() and (path / "config.json").is_file():
        path = path / "config.json"
    if not path.is_file():
        return None
    remedy = "give a model's config.json"
    if path.stat().st_size > _MOST_BYTES:
        raise InputError(name, "is larger than 16 MiB", remedy)
    try:
        return msgspec.json.decode(path.read_bytes().removeprefix(BOM_UTF8))
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise InputError(name, f"is not JSON ({problem})", remedy) from None
    except OSError as problem:
        raise InputError(
            name, f"cannot be read ({problem.strerror})", "give a readable file"
        ) from None


def named_model(name: str) -> ModelShape:
    """Return the model of that name, or of that config.json, as a step's cost sees it.

    Raises: ConfigError for a name that is not known, InputError for a file that says
    too little.
    """
    config = model_config(name)
    return model_shape(name) if config is None else shape_of(config, name)


_MOST_BYTES = 16 << 20


def check_target(path: Path | None, *read: Path | None) -> None:
    """Refuse, before hours of work, a place where nothing can be written, or that is
    one of the files to be `read`.

    Raises: InputError with the place and what to do.
    """
    if path is None:
        return
    if path.is_dir():
        raise InputError(str(path), "a directory", "name a file")
    if str(path) == "-":
        raise InputError("-", "names no file to write", "use /dev/stdout")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InputError(str(path), "its folder does not exist", "make it first")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError(str(path), "may not be written here", "write to another file")
    known = (one for one in read if one is not None and one.exists())
    if path.is_file() and any(one.samefile(path) for one in known):
        raise InputError(str(path), "is what is read here", "write to another file")


def print_figures(arguments: argparse.Namespace, figures: dict[str, Any]) -> None:
    """Print the figures, or the object with `--json`."""
    if arguments.json:
        print(json.dumps(figures))
    else:
        print("\n".join(figure_lines(figures)))


def figure_lines(figures: dict[str, Any]) -> list[str]:
    """Return a line for each figure; a group of them is a line for each member.

    >>> figure_lines({"requests": 2000, "ttft_s": {"p50": 0.25, "p99": None}})
    ['requests               2,000', 'ttft_s p50             0.250', \
'ttft_s p99             –']
    """
    lines = []
    for name, value in figures.items():
        group = value.items() if isinstance(value, dict) else [("", value)]
        lines += [f"{f'{name} {part}'.strip():22} {_shown(one)}" for part, one in group]
    return lines


def _shown(value: Any) -> str:
    if isinstance(value, list):
        told = [f"{id} needs {need:,} of {total:,} tokens" for id, need, total in value]
        more = [f"and {len(told) - 3} more"] if len(told) > 3 else []
        return "; ".join([*told[:3], *more]) or "none"
    if isinstance(value, float):
        return f"{value:,.3f}"
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else str(value)


def progress(total: int | None, what: str, unit: str) -> Any:
    """Return a bar on stderr, off where that is no terminal."""
    from tqdm import tqdm

    return tqdm(
        total=total, desc=what, unit=unit, unit_scale=unit == "B",
        disable=not sys.stderr.isatty(),
    )  # fmt: skip


def note(text: str) -> None:
    """Say on stderr, in one line, what was done."""
    print(one_line(text), file=sys.stderr)
