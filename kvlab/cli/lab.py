"""What does `kvlab lab` do? It opens JupyterLab on the course."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from ..lab import course, lab_command
from .shared import add_command


def add_lab(commands: Any) -> None:
    """Declare the command."""
    parser = add_command(
        commands, "lab", lab, "open JupyterLab on the notebooks (loopback, token)",
        "kvlab lab\n  kvlab lab -- --no-browser --port 8899",
    )  # fmt: skip
    parser.add_argument("jupyter", nargs="*", help="options for jupyter lab, after --")


def lab(arguments: argparse.Namespace) -> int:
    """Become JupyterLab, on the notebooks."""
    command = lab_command(course(Path.cwd()), arguments.jupyter)
    os.execv(command[0], command)
