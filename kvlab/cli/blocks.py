"""How do render and play show a run of vLLM?

The same commands, but blocks have no tree and no rule book.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import InputError
from ..record.trace import BlockTrace
from .shared import note, whole_run


def block_run(path: Path, rules: str | None = None) -> BlockTrace | None:
    """Return the run of vLLM in the file; None if it holds something else.

    Raises: InputError; also for rules, which are SGLang's.
    """
    from ..run.block_run import load_blocks

    run = load_blocks(path)
    if run is not None and rules is not None:
        raise InputError(str(path), "a run of vLLM has no --rules", "leave it out")
    return run


def render_block_run(arguments: argparse.Namespace, trace: BlockTrace) -> None:
    """Draw one step of the run. Changes: the file."""
    from ..views.block_export import render_blocks

    step = len(trace) if arguments.step is None else arguments.step
    what = arguments.what or "pool"
    render_blocks(trace, step, what, arguments.out, arguments.lang)
    note(f"{arguments.out}: {what} after event {step}")


def blocks_beside(path: Path) -> BlockTrace:
    """Return the run that is to stand beside one of vLLM.

    Raises: InputError if it is none of vLLM's.
    """
    other = block_run(path)
    if other is None:
        raise InputError(
            str(path), "is no run of vLLM, as the first is",
            "use kvlab render A --beside B for both accounts",
        )  # fmt: skip
    return other


def two_block_runs(a: Path, b: Path) -> tuple[BlockTrace, BlockTrace] | None:
    """Return both runs if they are vLLM's; None if neither is.

    Raises: InputError if one is and the other is not, or is no run at all.
    """
    if (one := block_run(a)) is not None:
        return one, blocks_beside(b)
    if block_run(b) is not None:
        whole_run(a)
        raise InputError(
            str(b), "is a run of vLLM, and the first is none",
            "use kvlab render A --beside B for both accounts",
        )  # fmt: skip
    return None


def render_beside(arguments: argparse.Namespace) -> None:
    """Draw both runs' accounts over time. Changes: the file.

    Raises: InputError for options that say another picture.
    """
    from ..views.block_export import render_both

    if arguments.what not in (None, "account") or arguments.step is not None:
        raise InputError(
            "--beside", "draws two accounts over time", "leave out --what and --step"
        )
    runs = [
        block_run(path) or whole_run(path)[0]
        for path in (arguments.path, arguments.beside)
    ]
    render_both(runs, arguments.out, arguments.lang)
    note(f"{arguments.out}: both accounts over time")
