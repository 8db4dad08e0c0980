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
        opened.page.wait_for_selector(".kv[data-ready=true]")
        yield opened
        opened.close()


def shoot(notebook: OpenNotebook, name: str, tmp_path: Path) -> Path:
    folder = Path(os.environ.get("KVLAB_SHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    notebook.page.screenshot(path=folder / name)
    return folder / name


AT_A_DECISION = """() => {
    const run = document.querySelector('.kv').kvlab.run;
    return run.isDecision(run.at - 1);
}"""


def headline(notebook: OpenNotebook) -> str:
    return notebook.page.inner_text(".kv h2")


def press(notebook: OpenNotebook, action: str) -> str:
    """Press the button that does this; return the new headline."""
    notebook.page.click(f".kv .ctl [data-do={action}]")
    return headline(notebook)


def test_every_cell_runs_without_an_error_or_a_warning(notebook):
    assert notebook.complaints() == []


def test_the_buttons_step_both_ways(notebook):
    start = headline(notebook)
    forward = press(notebook, "next")
    assert forward != start
    assert press(notebook, "previous") == start


def test_dragging_on_the_timeline_moves_the_run(notebook, tmp_path):
    before = headline(notebook)
    box = notebook.page.locator(".kv .tl canvas").bounding_box()
    notebook.page.mouse.move(box["x"] + 200, box["y"] + 20)
    notebook.page.mouse.down()
    notebook.page.mouse.move(box["x"] + 400, box["y"] + 20, steps=12)
    notebook.page.mouse.up()
    assert headline(notebook) != before
    assert shoot(notebook, "dragged.png", tmp_path).stat().st_size > 10_000


def test_the_double_arrows_go_from_decision_to_decision(notebook):
    press(notebook, "first")
    for _ in range(4):
        press(notebook, "decision_after")
        assert notebook.page.evaluate(AT_A_DECISION)
    there = headline(notebook)
    press(notebook, "decision_after")
    assert press(notebook, "decision_before") == there


def test_a_decision_shows_its_terms_with_numbers(notebook, tmp_path):
    notebook.page.focus(".kv")
    notebook.page.keyboard.press("Home")
    for _ in range(30):
        notebook.page.keyboard.press("Control+ArrowRight")
        if "is deleted" in headline(notebook):
            break
    card = notebook.page.inner_text(".kv .p-why")
    assert "12" in card
    assert "copy on L2" in card
    shoot(notebook, "decision.png", tmp_path)


def test_the_language_switches_in_place(notebook, tmp_path):
    says = "word => document.querySelector('.kv').textContent.includes(word)"
    notebook.page.click(".kv button:has-text('中')")
    notebook.page.wait_for_function(says, arg="内存")
    shoot(notebook, "chinese.png", tmp_path)
    notebook.page.click(".kv button:has-text('EN')")
    notebook.page.wait_for_function(says, arg="Memory")


def test_nothing_was_said_on_the_console_and_nobody_else_was_asked(notebook):
    assert notebook.console == []
    assert notebook.foreign == []
