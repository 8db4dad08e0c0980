"""How does JupyterLab open on the notebooks?

From a checkout it opens the checkout's notebooks; from an installed package, a copy of
them in the user's folder, which is made once and never overwritten. Pictures lie beside
them in `assets`. It listens on loopback only and keeps its token.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from .errors import InputError

COPY = "kvlab-notebooks"
PARTS = ("notebooks", "assets")


def course(here: Path) -> Path:
    """Return the folder that holds `notebooks` and `assets`; `here` is where a copy may
    be made.

    Changes: copies the packaged ones to `here`/kvlab-notebooks if the package is no
    checkout and the copy does not exist.
    Raises: InputError if the package came without notebooks, if `here` takes no copy,
    or if something else has the copy's name.
    """
    checkout = Path(__file__).resolve().parents[1]
    if (checkout / "notebooks").is_dir():
        return checkout
    copy = here / COPY
    if not copy.exists():
        _copy(_packaged(), copy)
    if not (copy / "notebooks").is_dir():
        raise InputError(str(copy), "holds no notebooks", "move it away, then again")
    return copy


def _packaged() -> Path:
    """Return where pip put the course: in the environment or, for `pip install
    --user`, in the user's own. Raises: InputError if it is in neither."""
    schemes = (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user"))
    places = [Path(sysconfig.get_path("data", s), "share", "kvlab") for s in schemes]
    for place in places:
        if (place / "notebooks").is_dir():
            return place
    raise InputError(str(places[0]), "no notebooks here", "install kvlab again")


def _copy(packaged: Path, copy: Path) -> None:
    """Copy the course, all of it or nothing. Changes: the folder, in one move."""
    part = copy.with_name(f".{copy.name}-{uuid4().hex}.part")
    try:
        for name in PARTS:
            shutil.copytree(packaged / name, part / name)
        part.rename(copy)
    except (OSError, shutil.Error) as problem:
        told = getattr(problem, "strerror", None) or "no room or no permission"
        remedy = "go to a folder of yours with room, then again"
        raise InputError(str(copy), f"cannot be made ({told})", remedy) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def lab_command(folder: Path, extra: Sequence[str]) -> list[str]:
    """Return the command line that opens JupyterLab on the course's first notebook."""
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    first = min((folder / "notebooks").glob("*.ipynb"))
    return [
        sys.executable, "-m", "kvlab.lab_app", "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.root_dir={folder}", "--LabApp.news_url=None",
        f"--LabApp.default_url=/lab/tree/notebooks/{first.name}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        *root, *extra,
    ]  # fmt: skip
