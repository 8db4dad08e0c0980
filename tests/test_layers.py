"""Do imports point down only?"""

from __future__ import annotations

import ast
import json
from pathlib import Path

import kvlab

PACKAGE = Path(kvlab.__file__).parent
ORDER = ["record", "memory", "cache", "blocks", "schedule", "run", "lessons"]
BESIDE = {"views", "observe"}
"""May import the base and record only."""


def imports(path: Path) -> list[str]:
    """Return the kvlab folders (or base modules) that a file imports."""
    here = path.relative_to(PACKAGE).parts[:-1]
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level + 1]
            target = [*base, *(node.module or "").split(".")]
            names = [target[0]] if target[0] else [alias.name for alias in node.names]
            found += names
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            "kvlab."
        ):
            found.append(node.module.split(".")[1])
    return found


def folder(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


def test_every_import_points_down_or_sideways():
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        here = folder(path)
        for target in imports(path):
            upward = here in ORDER and target in ORDER[ORDER.index(here) + 1 :]
            aside = here in ORDER[:-1] and target in BESIDE
            inward = here in BESIDE and target in ORDER[1:]
            if upward or aside or inward:
                wrong.append(f"{path.name} imports {target}")
    assert wrong == []


def test_no_module_hides_an_import_from_the_type_checker():
    hidden = [p.name for p in PACKAGE.rglob("*.py") if "TYPE_CHECKING" in p.read_text()]
    assert hidden == []


def test_the_cache_knows_no_request():
    for path in [*(PACKAGE / "cache").glob("*.py"), *(PACKAGE / "blocks").glob("*.py")]:
        assert "Request" not in path.read_text(), path.name


def test_blocks_know_no_tree():
    for path in (PACKAGE / "blocks").glob("*.py"):
        assert "cache" not in imports(path), path.name


def test_what_a_notebook_imports_is_there():
    found: dict = {}
    for path in (PACKAGE.parent / "notebooks").glob("*.ipynb"):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            code = "".join(cell["source"]) if cell["cell_type"] == "code" else ""
            for node in ast.walk(ast.parse(code)):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    exec(ast.unparse(node), found)
    assert found["kvlab"] is kvlab
