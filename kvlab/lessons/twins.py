"""How are a notebook and its Chinese twin written together?

Both `.ipynb` files are kept in git; this turns them into one text and back, so that
their code cannot part:

    python -m kvlab.lessons.twins notebooks/07_demote_or_delete.ipynb > 07.md
    python -m kvlab.lessons.twins 07.md notebooks/07_demote_or_delete.ipynb

The text is a row of cells. `%% code` opens a code cell that both share, `%% en` the
English of a Markdown cell, `%% zh` its Chinese, right after it. Cells are named
cell-00, cell-01, ... in order. Outputs are not kept. The twin lies in `zh` beside it.
Left out: running them (Jupyter).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError
from ..views.theme import LANGS, Lang, Words
from .command import command

MARK = "%% "
KERNEL = {
    "display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3",
}  # fmt: skip


class Cell(NamedTuple):
    """One cell of both notebooks; code reads the same in both."""

    is_code: bool
    source: Words


def twin_of(path: Path) -> Path:
    """Return where the Chinese twin of a notebook lies."""
    return path.parent / "zh" / path.name


def read_text(text: str, where: str = "text") -> list[Cell]:
    """Return the cells of a text. Raises: InputError with the line of a bad mark."""
    cells: list[Cell] = []
    blocks = list(_blocks(text, where))
    while blocks:
        line, name, body = blocks.pop(0)
        if name == "code":
            cells.append(Cell(True, Words(body, body)))
        elif name == "en" and blocks and blocks[0][1] == "zh":
            cells.append(Cell(False, Words(body, blocks.pop(0)[2])))
        else:
            raise InputError(
                f"{where}: line {line}", f"a cell {name!r} alone",
                "write %% code, or %% en and then %% zh",
            )  # fmt: skip
    return cells


def _blocks(text: str, where: str) -> Iterator[tuple[int, str, str]]:
    start, name, lines = 0, "", list[str]()
    for number, line in enumerate([*text.splitlines(), MARK], 1):
        if not line.startswith(MARK):
            lines.append(line)
            continue
        body = "\n".join(lines).strip("\n")
        if name:
            yield start, name, body
        elif body.strip():
            raise InputError(f"{where}: line 1", "text before the first cell")
        start, name, lines = number, line.removeprefix(MARK).strip(), []


def to_text(cells: Sequence[Cell]) -> str:
    """Return the text of the cells.

    >>> print(to_text([Cell(False, Words("Hello", "你好"))]))
    %% en
    Hello
    <BLANKLINE>
    %% zh
    你好
    <BLANKLINE>
    """
    parts = []
    for cell in cells:
        names = ("code",) if cell.is_code else LANGS
        parts += [f"{MARK}{n}\n{s}\n" for n, s in zip(names, cell.source, strict=False)]
    return "\n".join(parts)


def notebook(cells: Sequence[Cell], lang: Lang) -> dict[str, Any]:
    """Return one of the two notebooks, as its file holds it."""
    return {
        "cells": [_cell(at, cell, lang) for at, cell in enumerate(cells)],
        "metadata": {"kernelspec": KERNEL, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cell(at: int, cell: Cell, lang: Lang) -> dict[str, Any]:
    lines = cell.source.to(lang).splitlines(keepends=True)
    base = {"id": f"cell-{at:02}", "metadata": {}, "source": lines}
    if cell.is_code:
        return {"cell_type": "code", "execution_count": None, "outputs": []} | base
    return {"cell_type": "markdown"} | base


def write(cells: Sequence[Cell], path: Path) -> None:
    """Write a notebook and its twin. Changes: both files, and the folder `zh`."""
    for target, lang in zip((path, twin_of(path)), LANGS, strict=True):
        target.parent.mkdir(exist_ok=True)
        text = json.dumps(
            notebook(cells, lang), ensure_ascii=False, indent=1, sort_keys=True
        )
        target.write_text(text + "\n", "utf-8")


def read(path: Path) -> list[Cell]:
    """Return the cells of a notebook and its twin.

    Raises: InputError where the two are no twins.
    """
    one, other = (json.loads(p.read_text("utf-8"))["cells"]
                  for p in (path, twin_of(path)))  # fmt: skip
    if [c["cell_type"] for c in one] != [c["cell_type"] for c in other]:
        raise InputError(str(twin_of(path)), "other cells", f"compare with {path.name}")
    cells = []
    for at, (en, zh) in enumerate(zip(one, other, strict=True)):
        words = Words("".join(en["source"]), "".join(zh["source"]))
        is_code = en["cell_type"] == "code"
        if is_code and words.en != words.zh:
            raise InputError(
                f"{twin_of(path)}: cell {at}", "other code", "code is the same in both"
            )
        cells.append(Cell(is_code, words))
    return cells


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Turn a notebook into a text, or a text into two notebooks."""
    parser = argparse.ArgumentParser(description="Write a notebook and its twin.")
    parser.add_argument("path", type=Path, help="a notebook, or a text")
    parser.add_argument("target", type=Path, nargs="?", help="the notebook to write")
    given = parser.parse_args(argv)
    if given.target is None:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")  # as the way back reads it
        print(to_text(read(given.path)), end="")
    else:
        text = given.path.read_text("utf-8")
        write(read_text(text, str(given.path)), given.target)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
