"""Do the exported checks take right answers and refuse wrong ones?"""

from __future__ import annotations

import doctest
import runpy

import pytest
from solutions import given, solutions

from kvlab.lessons import otter
from kvlab.lessons.exercises import EXERCISES

GRADED = [id for id in EXERCISES if id[3] == "E"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("otter")
    otter.write(made)
    return made


def failures(folder, id: str, answer) -> int:
    """Run one exported file as otter does: its code as a doctest, over the answers."""
    file = folder / f"nb{id.replace('.', '_').lower()}.py"
    found = runpy.run_path(str(file))
    assert found["OK_FORMAT"] is True
    failed = 0
    for suite in found["test"]["suites"]:
        for case in suite["cases"]:
            names = {otter.variable(id): answer}
            test = doctest.DocTestParser().get_doctest(case["code"], names, id, None, 0)
            runner = doctest.DocTestRunner(verbose=False)
            failed += runner.run(test, out=lambda text: None).failed
    return failed


@pytest.mark.parametrize("id", GRADED)
def test_an_exported_check_takes_the_right_and_refuses_the_wrong(folder, id):
    assert failures(folder, id, given(id, solutions(id).RIGHT[id][0])) == 0
    assert failures(folder, id, given(id, solutions(id).WRONG[id][0])) == 1


def test_an_exported_check_holds_no_answer(folder):
    for path in folder.iterdir():
        lines = [line for line in path.read_text().splitlines() if ">>>" in line]
        assert all("kvlab" in line for line in lines)


def test_one_notebook_can_be_exported_alone(tmp_path, capsys):
    assert otter.main([str(tmp_path), "07"]) == 0
    assert {path.name[:4] for path in tmp_path.iterdir()} == {"nb07"}
    with pytest.raises(SystemExit):
        otter.main([str(tmp_path), "77"])
    assert "no exercises in 77" in capsys.readouterr().err
