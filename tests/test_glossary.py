"""Does one table hold the words of both engines?"""

from __future__ import annotations

from pathlib import Path

import pytest

from kvlab.cli.both import NAMED
from kvlab.glossary import GLOSSARY, markdown

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_readme_prints_the_glossary():
    assert markdown() in README.read_text("utf-8")


@pytest.mark.parametrize("term", GLOSSARY.values(), ids=GLOSSARY)
def test_every_term_has_a_word_in_each_language_and_a_meaning(term):
    assert term.sglang or term.vllm
    assert term.zh
    assert term.what


@pytest.mark.parametrize(
    ("key", "engine", "own", "other"),
    [
        ("page", "vllm", "block", "page"),
        ("lock_ref", "sglang", "lock_ref", "ref_cnt"),
        ("retract", "vllm", "preempt", "retract"),
        ("watermark", "sglang", "watermark", "watermark"),
        ("held", "vllm", "held", "held"),
    ],
)
def test_an_engine_is_told_in_its_own_word(key, engine, own, other):
    term = GLOSSARY[key]
    assert (term.word(engine), term.other(engine)) == (own, other)


def test_what_an_engine_does_not_have_the_other_side_leaves_empty():
    assert GLOSSARY["held"].other("sglang") == ""


def test_figures_that_are_named_differently_are_in_it():
    assert set(NAMED.values()) <= GLOSSARY.keys()
