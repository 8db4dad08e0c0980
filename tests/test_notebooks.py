"""Does every notebook run from top to bottom, and is it fit to be read in git?"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from kvlab.lessons.exercises import EXERCISES
from kvlab.lessons.scenarios import nb02, nb03, nb04, nb05, nb06, nb07, nb08, nb09, nb14
from kvlab.record.events import Evicted
from kvlab.rules import facts

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
BOTH = NOTEBOOKS + sorted((FOLDER / "zh").glob("*.ipynb"))
LIMIT_S = 30
"""Of the kernel's own CPU time, its start, imports and the right answers included; a
busy machine takes longer by the clock, and fails nothing."""
SPENT = """
import sys, time
sys.path.insert(0, {tests!r})
from solutions import given, solutions
from kvlab.lessons.exercises import EXERCISES
for id in EXERCISES:
    if id[:2] == {number!r}:
        kvlab.check(id, given(id, solutions(id).RIGHT[id][0]))
time.process_time()
"""

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
each_file = pytest.mark.parametrize(
    "path", BOTH, ids=lambda path: f"{path.parent.name}-{path.stem}"
)


def cells(path: Path) -> list[nbformat.NotebookNode]:
    return nbformat.read(path, 4).cells


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [c for c in cells(path) if c.cell_type == "code"]


def prose(path: Path) -> list[str]:
    return [c.source for c in cells(path) if c.cell_type == "markdown"]


def execute(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Run it where it lies, and wait for a slow kernel's start and last output too."""
    where = {"metadata": {"path": str(path.parent)}}
    waits = dict.fromkeys(("timeout", "startup_timeout", "iopub_timeout"), 600)
    NotebookClient(notebook, resources=where, **waits).execute()


def run(path: Path) -> tuple[list[nbformat.NotebookNode], float]:
    """Run a notebook, then give every right answer; return the outputs and the CPU
    seconds of the kernel."""
    notebook = nbformat.read(path, 4)
    last = SPENT.format(tests=str(Path(__file__).parent), number=path.stem[:2])
    notebook.cells.append(nbformat.v4.new_code_cell(last))
    execute(notebook, path)
    outputs = [o for c in notebook.cells for o in c.get("outputs", [])]
    said = notebook.cells[-1].outputs
    (spent,) = [o for o in said if o.output_type == "execute_result"]
    return [o for o in outputs if o is not spent], float(spent.data["text/plain"])


def test_there_is_a_notebook():
    assert NOTEBOOKS


@each_notebook
def test_it_runs_in_order_without_an_error_or_a_warning(path, monkeypatch, tmp_path):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    outputs, spent = run(path)
    assert [o.text for o in outputs if o.get("name") == "stderr"] == []
    assert spent < LIMIT_S


def test_a_notebook_in_the_chinese_folder_speaks_chinese(monkeypatch, tmp_path):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    path = FOLDER / "zh" / NOTEBOOKS[-1].name
    notebook = nbformat.read(path, 4)
    notebook.cells = [
        nbformat.v4.new_code_cell(
            "from kvlab.lessons.checks import language\nlanguage()"
        )
    ]
    execute(notebook, path)
    assert notebook.cells[0].outputs[0].data["text/plain"] == "'zh'"


@each_notebook
def test_it_has_a_twin_with_the_same_cells_and_code(path):
    twin = cells(FOLDER / "zh" / path.name)
    assert [c.id for c in twin] == [c.id for c in cells(path)]
    assert [c.cell_type for c in twin] == [c.cell_type for c in cells(path)]
    here, there = code_cells(path), code_cells(FOLDER / "zh" / path.name)
    assert [c.source for c in here] == [c.source for c in there]


def test_every_twin_has_its_original():
    assert {p.name for p in (FOLDER / "zh").glob("*.ipynb")} == {
        p.name for p in NOTEBOOKS
    }


@each_notebook
def test_its_prose_is_english_and_its_twins_is_chinese(path):
    for text in prose(path):
        assert not HAN.search(text)
    for text in prose(FOLDER / "zh" / path.name):
        assert HAN.search(text)


HAN = re.compile(r"[\u4e00-\u9fff]")


@each_notebook
def test_it_asks_for_a_prediction_before_it_shows_a_run(path):
    code = "\n".join(c.source for c in code_cells(path))
    asked = re.search(r"kvlab\.(predict|tour)\(|predict=True", code)
    shown = re.search(r"kvlab\.play\((?!.*predict=True)", code)
    assert asked
    assert shown is None or asked.start() < shown.start()


@each_file
def test_what_follows_a_prediction_is_folded_away(path):
    asked = False
    for cell in cells(path):
        if cell.cell_type == "code":
            asked |= "kvlab.predict(" in cell.source or "kvlab.tour(" in cell.source
        elif asked:
            asked = False
            text = re.sub(r"^## (Why|What that was|为什么|刚才).*\n\n", "", cell.source)
            if not text.startswith("## "):
                assert text.startswith("<details><summary>"), cell.id
                assert text.count("\n\n</details>") == 1, cell.id


@each_notebook
def test_every_exercise_of_it_is_asked_and_exists(path):
    code = "\n".join(c.source for c in code_cells(path))
    asked = set(re.findall(r"kvlab\.(?:check|predict)\(\"(\d\d\.\w+)\"", code))
    assert asked <= set(EXERCISES)
    number = path.stem[:2]
    wanted = {id for id in EXERCISES if id[:2] == number and id[3] != "S"}
    assert wanted <= asked


@each_file
def test_it_is_stored_without_outputs(path):
    for cell in code_cells(path):
        assert cell.outputs == []
        assert cell.execution_count is None
    assert nbformat.read(path, 4).metadata.kernelspec.name == "python3"


@each_file
def test_its_code_cells_are_short_and_define_no_class(path):
    for cell in code_cells(path):
        assert len(cell.source.splitlines()) <= 15
        tree = ast.parse(cell.source)
        assert not any(isinstance(node, ast.ClassDef) for node in ast.walk(tree))


@each_file
def test_its_pictures_exist_and_are_told_in_words(path):
    for text in prose(path):
        assert "<img" not in text, "a picture is Markdown, with its words"
        for words, name in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", text):
            assert len(words) >= (10 if path.parent.name == "zh" else 20), name
            assert (path.parent / name).is_file(), name
            assert (".zh." in name) is (path.parent.name == "zh"), name


EVENTS = {
    "02": (nb02.one_life, {21: "Alloc", 34: "Output"}),
    "03": (nb03.free_is_not_empty, {17: "Release"}),
    "04": (nb04.one_missing, {36: "MakeRoom"}),
    "05": (nb05.who_said_no, {75: "Admit"}),
    "06": (nb06.first_byte, {6: "TryBackup"}),
    "07": (nb07.three_fates, {30: "Victim", 33: "Victim", 36: "Victim"}),
    "08": (nb08.half_a_chain, {46: "Lock", 47: "LoadBack", 57: "Step",
                               61: "Candidate", 64: "LoadBack", 103: "LoadDone"}),
    "09": (lambda: nb09.serve(nb09.Guests()), {360: "Load"}),
    "13": (nb07.three_fates, {51: "EvictHost"}),
    "14": (nb14.coming_home, {27: "Victim"}),
}  # fmt: skip
"""The events that a notebook's prose names by their number, and what each is."""
NUMBERED = {
    "notebooks": r"\bevents? (\d+(?:(?:, | and | or )\d+)*)",
    "zh": r"事件 (\d+(?:、\d+)*)",
}


@each_file
def test_the_events_that_its_prose_names_are_what_it_says(path):
    run, named = EVENTS.get(path.stem[:2], (None, {}))
    told = re.findall(NUMBERED[path.parent.name], "\n".join(prose(path)))
    assert {int(n) for some in told for n in re.findall(r"\d+", some)} == set(named)
    events = run().trace.events if run else []
    assert {at: type(events[at - 1]).__name__ for at in named} == named


def test_where_09_says_that_a_link_turns_from_harm_to_help_it_does():
    def against_none(**how):
        return nb09.serve(nb09.Guests(**how)).p99 / none.p99

    none = nb09.serve(nb09.Guests(host_tokens=0))
    assert against_none(link_gbps=6.0) > 1 > against_none(link_gbps=7.0)
    for path, said in (("", "between 6 and 7 GB/s"), ("zh", "在 6 与 7 GB/s 之间")):
        text = "\n".join(prose(FOLDER / path / "09_concurrency.ipynb"))
        assert said in text


def test_with_three_times_the_l1_of_09_nothing_comes_back_and_l2_changes_nothing():
    large = 3 * nb09.Guests().pool_tokens
    one, other = (
        nb09.serve(nb09.Guests(pool_tokens=large, host_tokens=host))
        for host in (0, nb09.Guests().host_tokens)
    )
    assert one.p99 == other.p99
    assert not any(type(event).__name__ == "Load" for event in other.trace.events)


def test_14_counts_the_rules_and_those_that_a_recording_shows():
    rules = facts().values()
    counted = len(rules), sum(rule.golden is not None for rule in rules)
    assert counted == (25, 19)
    for path, said in (("", ("25 of them", "Nineteen")), ("zh", ("25 条", "19 条"))):
        text = "\n".join(prose(FOLDER / path / "14_what_changed.ipynb"))
        assert [words for words in said if words not in text] == []


PAGES = [FOLDER / "README.md", FOLDER / "zh/README.md"]
each_page = pytest.mark.parametrize("page", PAGES, ids=("en", "zh"))


def snippets(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)


@each_page
def test_the_teachers_page_names_every_notebook(page):
    text = page.read_text("utf-8")
    for path in NOTEBOOKS:
        assert f"| {path.stem[:2]} |" in text, path.stem


@each_page
def test_what_the_teachers_page_says_to_type_plays(page):
    there: dict = {}
    for snippet in snippets(page):
        exec(snippet, there)
    locked, unlocked = [
        event.freed
        for event in there["bench"].trace.events
        if isinstance(event, Evicted)
    ]
    assert (locked, unlocked) == (0, 12)
    assert there["story"](pool_tokens=12).header.config.pool_tokens == 12


def test_both_teachers_pages_give_the_same_code():
    bare = [[re.sub("#.*", "", code) for code in snippets(page)] for page in PAGES]
    assert bare[0] == bare[1]
