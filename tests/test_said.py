"""Is everything that `kvlab diagnose` says there in both languages?"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from unicodedata import east_asian_width

import pytest

import kvlab
from kvlab.cli import main
from kvlab.observe.causes import CAUSES
from kvlab.observe.diagnose import diagnose
from kvlab.observe.report import WIDTH, report
from kvlab.observe.said import joined, say, to
from kvlab.observe.zh import WORDS_ZH, ZH
from kvlab.observe.zh_cache import CACHE_ZH
from kvlab.observe.zh_causes import CAUSES_ZH
from kvlab.observe.zh_input import INPUT_ZH
from kvlab.observe.zh_pool import POOL_ZH

OBSERVE = Path(kvlab.__file__).parent / "observe"
CASES = sorted((Path(__file__).parent / "cases").iterdir())
FIELD = Path(__file__).parent / "field"
HAN = re.compile("[\u4e00-\u9fff]")
PLAIN = ("rules_", "verdict")
"""Files whose plain sentences are said as well as those with gaps."""


def sentences(path: Path) -> set[str]:
    """Return what a file says: each first argument of say(), and in files of rules each
    other text of several words that is no docstring and no part of a longer one."""
    tree = ast.parse(path.read_text())
    said, left_out = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            left_out |= {id(part) for part in ast.walk(node)}
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(id(node.value))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say":
            first = node.args[0]
            said |= {first.value} if isinstance(first, ast.Constant) else set()
            left_out.add(id(first))
    if path.name.startswith(PLAIN):
        said |= {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and " " in node.value.strip()
            and id(node) not in left_out
        }
    return {text for text in said if re.search("[a-z]", text)}


SAID = set().union(*(sentences(path) for path in OBSERVE.glob("*.py")))


def test_every_sentence_that_a_rule_says_is_there_in_chinese():
    assert sorted(SAID - ZH.keys()) == []


def test_every_sentence_of_a_cause_is_there_in_chinese():
    wanted = {s for cause in CAUSES.values() for s in (cause.says, *cause.next)}
    assert wanted == CAUSES_ZH.keys()


def test_no_chinese_sentence_is_left_over():
    trees = [ast.parse(path.read_text()) for path in OBSERVE.glob("[!z]*.py")]
    texts = {getattr(node, "value", "") for tree in trees for node in ast.walk(tree)
             if isinstance(node, ast.Constant)}  # fmt: skip
    assert sorted({*POOL_ZH, *CACHE_ZH, *INPUT_ZH} - texts) == []


def test_a_sentence_has_one_place_in_chinese():
    tables = (WORDS_ZH, CAUSES_ZH, POOL_ZH, CACHE_ZH, INPUT_ZH)
    assert sum(map(len, tables)) == len(ZH)


def test_a_sentence_has_the_same_gaps_in_both():
    for text, chinese in ZH.items():
        gaps = re.findall(r"\{\d*\}", chinese)
        numbered = [f"{{{n}}}" for n in range(len(gaps))]
        assert len(gaps) == len(re.findall(r"\{\}", text)), text
        assert sorted(gaps) in (["{}"] * len(gaps), numbered), text


def test_a_sentence_within_a_sentence_is_said_in_its_language():
    word = say("{} {}s inside the input", 3, "retraction")
    assert word.to("zh") == "输入期间撤回 3 次"
    assert to(joined("; ", [word, say("{} requests wait", 2)]), "en") == (
        "3 retractions inside the input; 2 requests wait"
    )
    assert joined("; ", [word, word]).to("zh").count("；") == 1


# --- the command


def told(capsys, case: Path, *options: str) -> str:
    files = sorted(str(p) for p in case.iterdir() if p.name != "expect.json")
    assert main(["diagnose", *files, *options]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name[:2])
def test_a_case_in_chinese_leaves_no_sentence_in_english(capsys, case):
    got = json.loads(told(capsys, case, "--lang", "zh", "--json"))
    texts = [*got["reasons"], *got["next"], *got["notes"]]
    texts += [other["why"] for other in got["considered"]]
    assert [text for text in texts if not HAN.search(text)] == []


def test_the_language_changes_words_alone(capsys):
    en, zh = (
        json.loads(told(capsys, CASES[0], "--lang", lang, "--json"))
        for lang in ("en", "zh")
    )
    spoken = {"reasons", "next", "evidence", "considered", "notes"}
    assert {k: v for k, v in en.items() if k not in spoken} == {
        k: v for k, v in zh.items() if k not in spoken
    }
    places = [quote["place"] for quote in zh["evidence"]]
    assert places == [quote["place"] for quote in en["evidence"]]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_report_fits_the_terminal(lang):
    paths = {*CASES, *FIELD.iterdir()} - {FIELD / "access-only.log"}
    for path in sorted(paths):
        for line in report(diagnose([path], lang=lang)).splitlines():
            wide = sum(1 + (east_asian_width(c) in "WF") for c in line)
            assert wide <= WIDTH, line


def test_the_page_speaks_the_language_asked_for(capsys, tmp_path):
    target = tmp_path / "out.html"
    told(capsys, CASES[0], "--lang", "zh", "--html", str(target))
    text = target.read_text()
    assert 'lang="zh"' in text
    headings = re.findall(r"<h2>(.*?)</h2>", text)
    assert len(headings) >= 6
    assert all(HAN.search(heading) for heading in headings)
    assert WORDS_ZH["usage"] in text
