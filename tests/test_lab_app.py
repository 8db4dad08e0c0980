"""Does a notebook that `kvlab lab` saves open again as it was left?

Needs a Chromium for that; in CI its absence is a failure, not a reason to skip.
"""

from __future__ import annotations

import json
import os
from types import SimpleNamespace

import nbformat
import pytest
from lab_browser import CHROMIUM, OpenNotebook, chromium, jupyterlab
from nbconvert.exporters import HTMLExporter
from traitlets.config import Config

from kvlab.lab_app import DEFAULTS, STATE, VIEW, keep_widgets


def notebook(shown: list[str], held: dict | None):
    """A notebook whose one output after the other shows these widgets, and which holds
    the state of those; None: it was saved without widgets."""
    views = [
        nbformat.v4.new_output(
            "display_data",
            {VIEW: {"model_id": id}, "text/html": f"<b>twin of {id}</b>"},
        )
        for id in shown
    ]
    cell = nbformat.v4.new_code_cell("1", outputs=views)
    made = nbformat.v4.new_notebook(cells=[cell, nbformat.v4.new_markdown_cell("2")])
    if held is not None:
        made.metadata["widgets"] = {STATE: {"state": held}}
    return made


CARD = {"state": {"children": ["IPY_MODEL_part"], "layout": "IPY_MODEL_layout"}}
OLD = {
    "card": CARD,
    "part": {"state": {"_esm": "1", "parts": {"a": ["IPY_MODEL_deep"]}}},
    "deep": {"state": {"up": "IPY_MODEL_card"}},
    "layout": {"state": {}},
    "other": {"state": {}},
}


@pytest.fixture
def saved(tmp_path):
    """Save this over a notebook that showed a card; return the widgets it is given."""
    nbformat.write(notebook(["card"], OLD), tmp_path / "a.ipynb")

    def save(new, path="a.ipynb"):
        model = {"type": "notebook", "content": new}
        manager = SimpleNamespace(root_dir=str(tmp_path))
        keep_widgets(model=model, path=path, contents_manager=manager)
        return new.metadata.get("widgets", {}).get(STATE, {}).get("state", {})

    return save


def test_a_widget_that_is_shown_and_lost_is_kept_with_all_its_parts(saved):
    assert saved(notebook(["card"], {})) == {k: OLD[k] for k in OLD if k != "other"}


def test_what_lives_is_saved_as_it_is_now(saved):
    now = {"card": {"state": {"children": []}}}
    assert saved(notebook(["card"], now)) == now
    new = {"new": {"state": {}}, "part": {"state": {"_esm": "2"}}}
    kept = saved(notebook(["card", "new"], new))
    assert kept["part"] == new["part"] and kept["card"] == CARD


def test_what_no_output_shows_any_more_is_let_go(saved):
    assert saved(notebook([], {})) == {}
    assert saved(notebook(["another"], {})) == {}


def forms(new) -> list[str]:
    return list(new.cells[0].outputs[0].data)


def test_what_nobody_holds_leaves_its_twin(saved):
    for id, path in (("card", "new.ipynb"), ("unknown", "a.ipynb")):
        new = notebook([id], {})
        assert saved(new, path) == {}
        assert forms(new) == ["text/html"]
    new = notebook(["card"], {})
    saved(new)
    assert forms(new) == [VIEW, "text/html"]


def test_a_widget_that_was_closed_stays_hidden(saved):
    new = notebook([""], {})
    saved(new)
    assert forms(new) == [VIEW, "text/html"]


def test_a_notebook_that_is_saved_without_widgets_stays_as_it_is(saved):
    new = notebook(["card"], None)
    assert saved(new) == {}
    assert forms(new) == [VIEW, "text/html"] and "widgets" not in new.metadata


def test_a_text_file_is_none_of_its_business():
    keep_widgets({"type": "file", "content": "x"}, "a.txt", None)


def test_a_saved_notebook_becomes_a_page_of_twins_which_needs_no_network():
    told = json.loads((DEFAULTS / "jupyter_server_config.json").read_text())
    shown = notebook(["card"], OLD)
    page = "<b>twin of card</b>"
    assert page not in HTMLExporter().from_notebook_node(shown)[0]
    assert page in HTMLExporter(config=Config(told)).from_notebook_node(shown)[0]


CELLS = [
    "import kvlab\nfrom kvlab import Workbench\n"
    "bench = Workbench(pool_tokens=24)\nbench.insert(range(12))",
    "kvlab.play(bench.trace)",
    "kvlab.check('00.E1', lang='en')",
]
STANDING = """() => ({
    at: document.querySelector('.kv[data-ready]').kvlab.run.at,
    put: document.querySelector('.kvf [data-part]').value,
    told: document.querySelector('.kvf .told').textContent })"""


@pytest.mark.browser
@pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ,
    reason="no chromium on this machine (Debian: apt install chromium)",
)
def test_a_saved_notebook_opens_again_and_again_as_it_was_left(tmp_path):
    folder, home = tmp_path / "work", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    book = nbformat.v4.new_notebook(cells=cells)
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(book, folder / "a.ipynb")
    with jupyterlab(folder, home) as address, chromium() as browser:
        opened = OpenNotebook(browser, address, "a.ipynb", width=1280)
        opened.run_all()
        opened.page.fill(".kvf [data-part]", "12")
        opened.page.click(".kvf .go")
        opened.page.wait_for_selector(".kvf .told:not(:empty)")
        opened.page.focus(".kv")
        opened.page.keyboard.press("ArrowRight")
        opened.page.wait_for_timeout(300)  # the kernel hears of the step
        left = opened.page.evaluate(STANDING)
        assert left["at"] == 1 and left["told"].startswith("✗")
        leave(opened)
        for _ in range(2):
            opened = OpenNotebook(browser, address, "a.ipynb", width=1280)
            opened.page.wait_for_selector(".kv[data-ready]")
            opened.page.wait_for_selector(".kvf .told:not(:empty)")
            assert opened.page.evaluate(STANDING) == left
            assert opened.page.locator(".jp-toast, .Toastify__toast").count() == 0
            leave(opened)
        opened = OpenNotebook(browser, address, "a.ipynb", width=1280)
        opened.page.click(".kvf .go")
        said = opened.page.locator(".kvf .told")
        assert said.inner_text().startswith("The kernel that made this card is gone")
        opened.page.click(".kv [data-to=export]")
        opened.page.click(".kv [data-do=save][data-to=html]")
        said = opened.page.locator(".kv .forked").inner_text()
        assert said.startswith("The kernel that made this player is gone")
        opened.close()


def leave(opened: OpenNotebook) -> None:
    """Save, stop the kernel, close the tab."""
    opened.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    opened.close()
