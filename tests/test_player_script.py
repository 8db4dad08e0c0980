"""Do the player's files make one script, and does each stand for itself?"""

from __future__ import annotations

import re
from collections import Counter

import pytest

from kvlab.views.player_script import FOLDER, imports, modules, script

DEFINED = re.compile(
    r"^(?:export )?(?:async )?(?:function\*?|class|const|let) (\w+)", re.MULTILINE
)
LONGEST = 300
"""Lines of a file that still holds one idea."""


def defined(source: str) -> list[str]:
    listed = re.findall(r"^(?:const|let) \[([^\]]*)\] =", source, re.M)
    return [*DEFINED.findall(source), *re.findall(r"\w+", " ".join(listed))]


def exported(source: str) -> set[str]:
    return set(DEFINED.findall("\n".join(re.findall("^export .*$", source, re.M))))


def test_every_file_of_the_folder_is_in_the_script():
    assert set(modules()) == {path.name for path in FOLDER.glob("*.js")}


def test_a_file_comes_after_all_that_it_imports():
    order = list(modules())
    for name, source in modules().items():
        for neighbour in imports(source):
            assert order.index(neighbour) < order.index(name), (neighbour, name)


def test_no_two_files_define_the_same_name():
    names = Counter(defined("\n".join(modules().values())))
    assert [name for name, times in names.items() if times > 1] == []


def test_what_a_file_imports_its_neighbour_exports():
    for name, source in modules().items():
        found = re.findall(r'^import \{([^}]*)\} from "\./([\w.]+)"', source, re.M)
        for names, neighbour in found:
            wanted = {word.strip() for word in names.split(",") if word.strip()}
            assert wanted <= exported(modules()[neighbour]), (name, neighbour)


def test_no_import_is_left_in_the_script():
    assert "import " not in script()


def test_what_files_say_of_themselves_is_left_out_and_no_code():
    said = re.compile(r"^(//| */\*\*| +\* | +\*/)")
    written = re.sub(r"^import [^;]*;\n", "", "\n".join(modules().values()), flags=re.M)
    code = [line for line in written.splitlines() if line and not said.match(line)]
    assert [line for line in script().splitlines() if line] == code


@pytest.mark.parametrize("name", modules())
def test_a_file_asks_one_question_and_keeps_to_it(name):
    lines = modules()[name].splitlines()
    assert lines[0].startswith("// ") and lines[0].endswith("?")
    assert len(lines) <= LONGEST
