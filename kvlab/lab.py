"""How does JupyterLab open on the notebooks?

From a checkout it opens the checkout's notebooks; from an installed package, a copy of
them in the user's folder, which is made once and never overwritten. It listens on
loopback only and keeps its token.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from .errors import InputError

COPY = "kvlab-notebooks"


def notebooks(here: Path) -> Path:
    """Return the folder of notebooks to open; `here` is where a copy may be made.

    Changes: copies the packaged notebooks to `here`/kvlab-notebooks if the package is
    no checkout and the copy does not exist.
    Raises: InputError if the package came without notebooks.
    """
    checkout = Path(__file__).resolve().parents[1] / "notebooks"
    if checkout.is_dir():
        return checkout
    copy = here / COPY
    packaged = Path(sysconfig.get_path("data"), "share", "kvlab", "notebooks")
    if not copy.exists():
        if not packaged.is_dir():
            raise InputError(str(packaged), "no notebooks here", "install kvlab again")
        shutil.copytree(packaged, copy)
    return copy


def lab_command(folder: Path, extra: Sequence[str]) -> list[str]:
    """Return the command line that opens JupyterLab on the folder."""
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [
        sys.executable, "-m", "jupyter", "lab", "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.root_dir={folder}", "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        *root, *extra,
    ]  # fmt: skip
