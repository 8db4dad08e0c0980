"""Does every benchmark say what it does before it does it?"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parent / "benchmarks").glob("*.py"))
SCRIPTS = [path for path in FILES if "__main__" in path.read_text("utf-8")]


def run(script, monkeypatch, *words):
    """Run a script as `python script words`; return its exit status."""
    monkeypatch.setattr(sys, "argv", [str(script), *words])
    monkeypatch.syspath_prepend(script.parent)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(script), run_name="__main__")
    return ended.value.code


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_benchmark_has_help(script, monkeypatch, capsys):
    assert run(script, monkeypatch, "--help") == 0
    told = capsys.readouterr().out
    assert told.startswith(f"usage: {script.name} [-h]")
    question = script.read_text().split('"""')[1].splitlines()[0]
    assert f"\n{question}\n" in told


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_benchmark_refuses_an_option_that_it_does_not_know(
    script, monkeypatch, capsys
):
    assert run(script, monkeypatch, "--nothing") == 2
    told = capsys.readouterr().err
    assert told.startswith(f"{script.name}: ") and told.count("\n") == 1
