"""Is what does not fit told in Chinese too, with the same numbers?"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from kvlab.record import events as ev
from kvlab.record.folding import FoldError
from kvlab.views.misfits import MISFITS, fault_words

KVLAB = Path(__file__).parents[1] / "kvlab"
FILES = (
    "record/fit.py", "record/snapshot.py", "record/block_tier.py", "record/folding.py",
    "views/painting.py", "views/patch_list.py", "views/patches.py",
    "views/block_patches.py",
)  # fmt: skip


def said_in(name: str) -> set[str]:
    """Return the sentences that a file says of an event: what fit.py returns, what a
    ValueError is of, what folding.py calls a problem; with {} for each value."""
    found = set()
    for node in ast.walk(ast.parse((KVLAB / name).read_text())):
        match node:
            case ast.Call(func=ast.Name("ValueError"), args=[text]):
                found |= sentences(text)
            case ast.Return(value) if name.endswith("fit.py") and value is not None:
                found |= sentences(value)
            case ast.Assign(targets=[ast.Name("problem")], value=text):
                found |= sentences(text)
    return found


def sentences(text: ast.expr) -> set[str]:
    if isinstance(text, ast.IfExp):
        return sentences(text.body)
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        return {text.value}
    if not isinstance(text, ast.JoinedStr):
        return set()
    parts = [p.value if isinstance(p, ast.Constant) else "{}" for p in text.values]
    return {"".join(parts)}


def test_every_sentence_that_is_said_of_a_misfit_has_its_chinese():
    said = set().union(*map(said_in, FILES))
    told = {re.sub(r"\{\w\}", "{}", template) for template in MISFITS}
    assert len(said) > 20
    assert said == told


@pytest.mark.parametrize("template", MISFITS)
def test_the_chinese_has_the_numbers_of_the_english(template):
    values = {name: str(10 + i) for i, name in enumerate("abcd")}
    error = FoldError(7, ev.Demote(-1, 3), template.format_map(values))
    told = fault_words(error)
    assert told.en == str(error)
    assert told.zh.startswith("事件 7（Demote）与之前的状态不符：")
    assert MISFITS[template].format_map(values) in told.zh
    assert sorted(re.findall(r"\{(\w)\}", template)) == sorted(
        re.findall(r"\{(\w)\}", MISFITS[template])
    )


def test_what_is_not_kvlabs_own_is_quoted():
    told = fault_words(FoldError(7, ev.Demote(-1, 3), "index 9 {a} out of range"))
    assert "index 9 {a} out of range" in told.zh


def test_a_name_from_the_run_is_no_template():
    told = fault_words(FoldError(7, ev.Demote(-1, 3), "request {b}\n is done already"))
    assert "请求 {b}\n 已处于 done 状态" in told.zh
