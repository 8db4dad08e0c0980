"""What does `kvlab lab` open, and how?"""

from __future__ import annotations

from pathlib import Path

import pytest

from kvlab import lab
from kvlab.errors import InputError

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """The package as if it came from a wheel, with its notebooks beside it."""
    packaged = tmp_path / "data" / "share" / "kvlab" / "notebooks"
    packaged.mkdir(parents=True)
    (packaged / "one.ipynb").write_text("{}")
    monkeypatch.setattr(lab, "__file__", str(tmp_path / "lib" / "kvlab" / "lab.py"))
    monkeypatch.setattr(lab.sysconfig, "get_path", lambda name: str(tmp_path / "data"))
    return packaged


def test_a_checkout_opens_its_own_notebooks(tmp_path):
    assert lab.notebooks(tmp_path) == ROOT / "notebooks"
    assert list(tmp_path.iterdir()) == []


def test_an_installed_package_copies_them_to_the_users_folder(installed, tmp_path):
    folder = lab.notebooks(tmp_path)
    assert folder == tmp_path / "kvlab-notebooks"
    assert (folder / "one.ipynb").read_text() == "{}"


def test_a_copy_that_the_user_changed_is_not_overwritten(installed, tmp_path):
    mine = lab.notebooks(tmp_path) / "one.ipynb"
    mine.write_text("mine")
    assert (lab.notebooks(tmp_path) / "one.ipynb").read_text() == "mine"


def test_a_package_without_notebooks_says_what_to_do(installed, tmp_path):
    (installed / "one.ipynb").unlink()
    installed.rmdir()
    with pytest.raises(InputError, match="install kvlab again"):
        lab.notebooks(tmp_path)


def test_it_listens_on_loopback_and_keeps_its_token(tmp_path):
    command = lab.lab_command(tmp_path, ["--no-browser"])
    assert "--ServerApp.ip=127.0.0.1" in command
    assert not any("token" in word or "password" in word for word in command)
    assert command[-1] == "--no-browser"
