"""Do environment.yml and pyproject.toml say the same?"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from rattler import MatchSpec

ROOT = Path(__file__).resolve().parents[1]
CONDA_ONLY = {"python", "pip", "graphviz"}
"""Conda packages without a twin on PyPI: its `graphviz` is the dot program."""

pytestmark = pytest.mark.skipif(
    not (ROOT / "environment.yml").exists(), reason="not a checkout"
)


def problems(environment: str, project: str) -> list[str]:
    """Return what is wrong with an environment file beside a pyproject file."""
    data = yaml.safe_load(environment)
    needs = tomllib.loads(project)["project"]
    conda = [item for item in data["dependencies"] if isinstance(item, str)]
    pip = [
        line
        for item in data["dependencies"]
        if isinstance(item, dict)
        for line in item.get("pip", [])
    ]
    found = [f"unknown key {key}" for key in set(data) - KEYS]
    found += [f"bad spec {spec}" for spec in conda if not is_spec(spec)]
    found += [] if "pip" in conda else ["a pip section without pip"]
    python = next((c for c in conda if c.startswith("python=")), "python=0")
    version = python.removeprefix("python=") + ".99"
    if not SpecifierSet(needs["requires-python"]).contains(version):
        found.append(f"{python} is outside {needs['requires-python']}")
    have = {re.match(r"[\w.-]+", c)[0].lower() for c in conda} - CONDA_ONLY
    have |= {canonicalize_name(Requirement(p).name) for p in pip if p[0] != "-"}
    want = {canonicalize_name(Requirement(d).name) for d in needs["dependencies"]}
    if "-e ." not in pip and want - have:
        found.append(f"missing: {sorted(want - have)}")
    return found


KEYS = {"name", "channels", "dependencies"}


def is_spec(text: str) -> bool:
    try:
        MatchSpec(text, strict=True)
    except Exception:
        return False
    return True


@pytest.fixture
def files() -> tuple[str, str]:
    return (
        (ROOT / "environment.yml").read_text(),
        (ROOT / "pyproject.toml").read_text(),
    )


def test_the_environment_file_follows_pyproject(files):
    assert problems(*files) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("-e .", "plotly", "missing"),
        ("graphviz>=2.42", "graphviz>=2.42,<", "bad spec"),
        ("python=3.11", "python=3.9", "outside"),
        ("name:", "prefix: /x\nname:", "unknown key"),
    ],
)
def test_a_wrong_environment_file_is_noticed(files, old, new, complaint):
    environment, project = files
    assert complaint in " ".join(problems(environment.replace(old, new), project))
