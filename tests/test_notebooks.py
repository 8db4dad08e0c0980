"""Does every notebook run from top to bottom, and is it fit to be read in git?"""

from __future__ import annotations

import ast
import re
import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LIMIT_S = 30

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [c for c in nbformat.read(path, 4).cells if c.cell_type == "code"]


def test_there_is_a_notebook():
    assert NOTEBOOKS


@each_notebook
def test_it_runs_in_order_without_an_error_or_a_warning(path, monkeypatch, tmp_path):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    notebook = nbformat.read(path, 4)
    begin = time.monotonic()
    NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(FOLDER)}}
    ).execute()
    outputs = [o for c in notebook.cells for o in c.get("outputs", [])]
    assert [o.text for o in outputs if o.get("name") == "stderr"] == []
    assert time.monotonic() - begin < 4 * LIMIT_S, "four times the limit on a busy core"


@each_notebook
def test_it_is_stored_without_outputs(path):
    for cell in code_cells(path):
        assert cell.outputs == []
        assert cell.execution_count is None
    assert nbformat.read(path, 4).metadata.kernelspec.name == "python3"


@each_notebook
def test_its_code_cells_are_short_and_define_no_class(path):
    for cell in code_cells(path):
        assert len(cell.source.splitlines()) <= 15
        tree = ast.parse(cell.source)
        assert not any(isinstance(node, ast.ClassDef) for node in ast.walk(tree))


@each_notebook
def test_its_pictures_exist(path):
    cells = nbformat.read(path, 4).cells
    names = [n for c in cells for n in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", c.source)]
    assert names
    for name in names:
        assert (FOLDER / name).is_file(), name
