"""What does `kvlab lab` open, and how?"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from kvlab import lab
from kvlab.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
KINDS = (".ipynb", ".md", ".svg", ".png", ".html")


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """The package as if it came from a wheel, with its notebooks beside it."""
    packaged = tmp_path / "data" / "share" / "kvlab"
    for part in ("notebooks", "assets"):
        (packaged / part).mkdir(parents=True)
    (packaged / "notebooks" / "one.ipynb").write_text("{}")
    monkeypatch.setattr(lab, "__file__", str(tmp_path / "lib" / "kvlab" / "lab.py"))
    monkeypatch.setattr(lab.sysconfig, "get_path", lambda *name: tmp_path / "data")
    return packaged


def test_a_checkout_opens_its_own_notebooks(tmp_path):
    assert lab.course(tmp_path) == ROOT
    assert list(tmp_path.iterdir()) == []


def test_an_installed_package_copies_them_to_the_users_folder(installed, tmp_path):
    folder = lab.course(tmp_path)
    assert folder == tmp_path / "kvlab-notebooks"
    assert (folder / "notebooks" / "one.ipynb").read_text() == "{}"
    assert (folder / "assets").is_dir()


def test_a_copy_that_the_user_changed_is_not_overwritten(installed, tmp_path):
    mine = lab.course(tmp_path) / "notebooks" / "one.ipynb"
    mine.write_text("mine")
    assert lab.course(tmp_path) == mine.parents[1]
    assert mine.read_text() == "mine"


def test_a_package_without_notebooks_says_what_to_do(installed, tmp_path):
    (installed / "notebooks").rename(installed / "elsewhere")
    with pytest.raises(InputError, match="install kvlab again"):
        lab.course(tmp_path)


def test_a_package_installed_for_one_user_is_found(installed, tmp_path, monkeypatch):
    def path(name: str, scheme: str) -> Path:
        own = scheme == lab.sysconfig.get_preferred_scheme("user")
        return tmp_path / ("data" if own else "nowhere")

    monkeypatch.setattr(lab.sysconfig, "get_path", path)
    assert (lab.course(tmp_path) / "notebooks" / "one.ipynb").is_file()


def test_a_package_brings_all_of_the_course():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    given = project["tool"]["setuptools"]["data-files"]
    packed = {file for names in given.values() for n in names for file in ROOT.glob(n)}
    for part in lab.PARTS:
        lying = {f for f in (ROOT / part).rglob("*") if f.suffix in KINDS}
        own = {f for f in lying if ".ipynb_checkpoints" not in f.parts}
        assert own and own <= packed, own - packed


def test_a_package_brings_the_defaults_of_its_jupyterlab():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (pattern,) = project["tool"]["setuptools"]["package-data"]["kvlab"]
    lying = set((ROOT / "kvlab" / "jupyter").rglob("*.json"))
    assert len(lying) == 3 and lying == set((ROOT / "kvlab").glob(pattern))


def test_it_opens_the_first_notebook_where_its_pictures_can_be_reached():
    command = lab.lab_command(ROOT, [])
    assert f"--ServerApp.root_dir={ROOT}" in command
    opened = next(word for word in command if "default_url" in word)
    notebook = ROOT / opened.split("/lab/tree/")[1]
    assert notebook.is_file()


def test_it_listens_on_loopback_and_keeps_its_token():
    command = lab.lab_command(ROOT, ["--no-browser"])
    assert "--ServerApp.ip=127.0.0.1" in command
    assert not any("token" in word or "password" in word for word in command)
    assert command[-1] == "--no-browser"


def test_it_starts_the_jupyterlab_of_this_environment_whatever_else_is_on_the_path():
    command = lab.lab_command(ROOT, [])
    assert command[:3] == [sys.executable, "-m", "kvlab.lab_app"]


def test_a_copy_that_cannot_be_made_whole_is_not_left_behind(
    installed, tmp_path, monkeypatch
):
    kept = set(tmp_path.iterdir())
    real = lab.shutil.copytree

    def full(source, target):
        if source.name == "assets":
            raise OSError(28, "No space left on device")
        return real(source, target)

    monkeypatch.setattr(lab.shutil, "copytree", full)
    with pytest.raises(InputError, match=r"cannot be made \(No space left"):
        lab.course(tmp_path)
    assert set(tmp_path.iterdir()) == kept


def test_something_else_of_the_copys_name_is_told(installed, tmp_path):
    (tmp_path / lab.COPY).mkdir()
    with pytest.raises(InputError, match="holds no notebooks; move it away"):
        lab.course(tmp_path)
