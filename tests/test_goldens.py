"""Are goldens found, of either engine, and their reports added up?"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from kvlab.errors import InputError
from kvlab.run.abouts import ABOUT_ZH
from kvlab.run.goldens import conform_goldens
from kvlab.run.script import read_script

GOLDENS = Path(__file__).parent / "goldens"
SGLANG = GOLDENS / "sglang" / "s01_split.json"
OTHER = GOLDENS / "sglang" / "s21_split_during_write.json"


def records(path: Path) -> int:
    return len(json.loads(path.read_bytes())["records"])


def test_reports_are_added_up():
    report = conform_goldens([SGLANG, OTHER])
    counted = records(SGLANG) + records(OTHER)
    assert (report.files, report.records, report.equal) == (2, counted, counted)


def test_both_engines_may_stand_in_one_directory(tmp_path):
    vllm = min((GOLDENS / "vllm").glob("*.json*"), key=lambda path: path.stat().st_size)
    for path in (SGLANG, vllm):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    report = conform_goldens([tmp_path])
    assert (report.files, report.differences) == (2, [])


def test_a_directory_is_searched_to_its_depth(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.json").write_bytes(SGLANG.read_bytes())
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(SGLANG.read_bytes()))
    (tmp_path / "notes.txt").write_text("no golden")
    said: list[str] = []
    report = conform_goldens([tmp_path], say=lambda path: said.append(path.name))
    assert (report.files, said) == (2, ["b.json.gz", "a.json"])


def test_a_directory_without_goldens_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no goldens here; name a \.json or \.json"):
        conform_goldens([tmp_path])


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"a\.json: No such file or directory$"):
        conform_goldens([tmp_path / "a.json"])


def test_what_each_written_golden_is_about_is_told_in_chinese_too():
    written = {
        path.name.partition(".")[0]: path
        for release in ("sglang", "sglang23")
        for path in (GOLDENS / release).glob("[sx]*.json*")
    }
    assert set(ABOUT_ZH) == set(written)
    for path in written.values():
        script = read_script(path)
        assert re.search("[\u4e00-\u9fff]", script.about_zh), script.name
        assert re.search("[a-z]", script.about), script.name


def test_a_script_of_ones_own_says_itself_what_it_is_about(tmp_path):
    own = {"config": {"pool_tokens": 64}, "ops": [], "about": "one", "about_zh": "一"}
    (tmp_path / "own.json").write_text(json.dumps(own))
    script = read_script(tmp_path / "own.json")
    assert (script.about, script.about_zh) == ("one", "一")
