"""Does the index name every rule, with a place that is there?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kvlab
from kvlab.lessons import sources
from kvlab.lessons.sources import Place, index
from kvlab.rules import facts
from kvlab.views.block_whys import BLOCK_WHYS
from kvlab.views.why_schedule import WHYS

ROOT = Path(kvlab.__file__).resolve().parents[1]
ALL = index("en")
ENTRIES = (*ALL.decisions, *ALL.rules)
NO_ENGINE = {"compared", "compared wrong", "wrong"}
"""kvlab's own check of contents."""


def test_every_rule_that_differs_is_there():
    assert [entry.names for entry in ALL.rules] == [(name,) for name in facts()]


def test_every_decision_that_has_a_place_is_there():
    named = sorted(n.replace("_", "") for e in ALL.decisions for n in e.names)
    placed = [
        *(n for n, why in WHYS.items() if why.own or any(why.sources)),
        *(n for n, why in BLOCK_WHYS.items() if why.own),
    ]
    assert named == sorted(name.replace("_", "") for name in placed)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.names[0])
def test_a_rule_has_its_place_in_the_engine_and_in_kvlab(entry):
    assert entry.own
    assert bool(entry.engine) is not bool(NO_ENGINE & {*entry.names})
    for lines in entry.own:
        source = (ROOT / lines.path).read_text("utf-8").splitlines()
        assert source[lines.line - 1].strip() in [code.strip() for code in lines.code]


@pytest.mark.parametrize("entry", ALL.rules, ids=lambda entry: entry.names[0])
def test_the_line_of_a_rule_asks_it(entry):
    for lines in entry.own:
        source = (ROOT / lines.path).read_text("utf-8").splitlines()
        assert f".{entry.names[0]}" in source[lines.line - 1]


def test_a_place_has_the_address_of_its_release():
    place = Place("SGLang", "0.5.14", "mem_cache/common.py", "evict_from_tree_cache")
    assert place in ALL.rules[0].engine
    assert place.address == (
        "https://github.com/sgl-project/sglang/blob/v0.5.14/python/sglang/srt/"
        "mem_cache/common.py"
    )


def test_only_the_newer_release_is_named_where_one_source_stands_for_the_rule():
    (entry,) = [e for e in ALL.rules if e.names == ("refreshes_waiting",)]
    assert [place.release for place in entry.engine] == ["0.5.23"]


def test_as_text_it_has_a_line_for_every_place():
    places = {str(place) for e in ENTRIES for place in (*e.engine, *e.own)}
    lines = {line.strip() for line in repr(ALL).splitlines()}
    assert places <= lines


def links(html: str) -> list[str]:
    return re.findall(r'href="([^"]+)"', html)


def test_own_files_are_linked_from_a_notebook_of_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT / "notebooks" / "zh")
    own = [link for link in links(ALL._repr_html_()) if link.startswith("..")]
    assert len(own) >= len(ENTRIES)
    for link in own:
        path, line = re.fullmatch(r"(.+)#line=(\d+)", link).groups()
        assert (Path.cwd() / path).resolve().is_file()
        assert int(line) < len((Path.cwd() / path).read_text("utf-8").splitlines())


def test_elsewhere_own_lines_open_and_lead_nowhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    html = ALL._repr_html_()
    assert all(link.startswith("https://github.com/") for link in links(html))
    assert html.count("<summary>") == 2 + sum(len(e.own) for e in ENTRIES)


def test_code_is_shown_as_text():
    page = ALL._repr_html_()
    assert "need &lt; self.rem_total" in page
    assert sources.PACKAGE == ROOT / "kvlab"


def test_it_speaks_chinese():
    assert "规则" in index("zh")._repr_html_() and "in kvlab" in ALL._repr_html_()
