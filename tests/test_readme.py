"""Is what the README shows true?"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = (".md", ".ipynb")
README = (ROOT / "README.md").read_text()


def example() -> list[str]:
    return re.search(r"```python\n(.*?)```", README, re.S)[1].splitlines()


def test_the_ten_lines_give_the_numbers_in_their_comments():
    names: dict[str, object] = {}
    checked = 0
    for line in filter(None, example()):
        code, _, comment = line.partition("  #")
        if not comment or "=" in code.split("(")[0]:
            exec(line, names)
            continue
        said = re.match(r"\s*(\{.*\}|\d+)", comment)[1]
        assert eval(code, names) == ast.literal_eval(said), line
        checked += 1
    assert checked >= 8


def test_the_layer_table_and_the_reading_order_name_files_that_exist():
    package = ROOT / "kvlab"
    for folder in re.findall(r"^\| `(\w+)/`", README, re.M):
        assert (package / folder).is_dir(), folder
    reading = README.split("**Reading order.**")[1].split("\n")[0]
    for name in re.findall(r"`([\w/]+\.py)`", reading):
        assert (package / name).is_file(), name


def test_every_file_that_the_readme_shows_is_there():
    for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert (ROOT / name).is_file(), name


def test_every_picture_is_shown_on_some_page():
    pages = [ROOT / "README.md", *(ROOT / "notebooks").rglob("*.*")]
    shown = "".join(page.read_text() for page in pages if page.suffix in PAGES)
    found = set(re.findall(r"assets/([\w.-]+)\)", shown))
    assert {picture.name for picture in (ROOT / "assets").iterdir()} == found


@pytest.mark.parametrize("command", re.findall(r"^kvlab (\w+)", README, re.M))
def test_every_command_that_it_names_has_help(command, capsys):
    from kvlab.cli import main

    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert "example:" in capsys.readouterr().out
