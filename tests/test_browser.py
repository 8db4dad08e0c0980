"""What does a person see who opens the notebook and clicks?

Needs a Chromium on the machine. In CI its absence is a failure, not a reason to skip.
The screenshots are left in the folder that KVLAB_SHOTS names, if it is set.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from lab_browser import CHROMIUM, OpenNotebook, chromium, jupyterlab

ROOT = Path(__file__).resolve().parents[1]
NAME = "notebooks/07_demote_or_delete.ipynb"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None and "CI" not in os.environ,
        reason="no chromium on this machine (Debian: apt install chromium)",
    ),
]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """The notebook, open in a real JupyterLab, all cells run."""
    home = tmp_path_factory.mktemp("home")
    folder = tmp_path_factory.mktemp("work")
    for part in ("notebooks", "assets"):
        shutil.copytree(ROOT / part, folder / part)
    with jupyterlab(folder, home) as address, chromium() as browser:
        opened = OpenNotebook(browser, address, NAME, width=1280)
        opened.run_all()
        yield opened
        opened.close()


def shoot(notebook: OpenNotebook, name: str, tmp_path: Path) -> Path:
    folder = Path(os.environ.get("KVLAB_SHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    notebook.page.screenshot(path=folder / name)
    return folder / name
