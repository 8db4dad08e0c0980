"""Does every claim of the articles come out as the ledger's readers are told?"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from block_folding import block_differences
from folding import differences

from kvlab.cli import main
from kvlab.errors import InputError
from kvlab.lessons.claims import CLAIMS, Verdict, examine, known
from kvlab.lessons.claims.case_words import CASES, NUMBERS, SHARED
from kvlab.lessons.claims.ledger import Case, Entry
from kvlab.lessons.claims.shown import claims
from kvlab.lessons.stages import Blocks
from kvlab.run.workbench import Workbench


def named(ids: str) -> list[str]:
    return re.findall(r"\S+", ids)


FAILS = named(
    """
    S1-1.2-7 S1-5.2-2 S2-2.1-1 S2-2.2-1 S2-3.2-2 S2-2.2-11 S2-3.2-4 S2-4.3-2
    S2-5.1-1 S2-5.1-3 S2-5.1-5 S2-6-1
    """
)
CONDITION = named(
    """
    S1-0-1 S1-1.1-1 S1-1.1-4 S1-1.1-6 S1-1.1-9 S1-1.1-10 S1-1.2-1 S1-1.2-5 S1-1.2-8
    S1-2.1-2 S1-2.1-3 S1-2.1-5 S1-2.3-2 S1-3.1-1 S1-3.1-3 S1-3.3-1 S1-4.1-2
    S1-2.1-7 S1-2.2-7 S1-4.1-5 S1-5.1-1 S1-5.2-3 S1-5.3-2 S1-5.3-6 S1-5.4-1 S1-5.4-2
    S1-5.5-1 S1-5.6-2
    S1-5.7-1 S2-2.1-2 S2-2.2-4 S2-2.2-5 S2-3.2-5 S2-3.2-7 S2-3.2-9 S2-3.3-1
    S2-4.2-2 S2-4.4-1 S2-4.4-2 S2-4.4-6 S2-5.1-2 S2-5.1-4 S2-5.1-6 S2-6-3
    """
)
NOT_MODELLED = named(
    """
    S1-2.2-6 S1-4.0-1 S1-4.0-2 S1-4.2-3 S1-4.2-8 S1-6.0-2 S2-3.1-3 S2-4.3-3 S2-4.3-4
    S2-2.2-12 S2-4.4-5 S2-4.4-7
    """
)


@cache
def found(id: str) -> Entry:
    """A claim after its check. What checks read is folded from the trace; so at every
    op of theirs that is held against the engine itself."""
    with pytest.MonkeyPatch.context() as patch:
        do, step = Workbench.do, Blocks.step

        def done(bench: Workbench, op: Any) -> Any:
            result = do(bench, op)
            assert differences(bench.state, bench.engine) == []
            return result

        def stepped(engine: Blocks) -> Any:
            record = step(engine)
            assert block_differences(engine.state, engine.runner) == []
            return record

        patch.setattr(Workbench, "do", done)
        patch.setattr(Blocks, "step", stepped)
        return examine(*known([id]))


def expected(id: str) -> Verdict:
    if id in FAILS:
        return Verdict.FAILS
    if id in CONDITION:
        return Verdict.CONDITION
    return Verdict.NOT_MODELLED if id in NOT_MODELLED else Verdict.HOLDS


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_check_comes_to_its_verdict(claim):
    assert found(claim.id).verdict is expected(claim.id), found(claim.id).cases


def test_every_name_in_the_lists_is_a_claim():
    ids = {claim.id for claim in CLAIMS}
    assert ids.issuperset([*FAILS, *CONDITION, *NOT_MODELLED])


def test_ids_are_unique_and_well_formed():
    ids = [claim.id for claim in CLAIMS]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"S[12]-[0-9.]+-[0-9]+", id) for id in ids)


def test_every_case_and_number_has_a_name_in_chinese_or_one_that_is_shared():
    cases = [case for claim in CLAIMS for case in found(claim.id).cases]
    names = {case.name for case in cases}
    numbers = {name for case in cases for name in case.numbers}
    assert names - SHARED == set(CASES)
    assert numbers - SHARED == set(NUMBERS)
    assert names | numbers >= SHARED


def test_a_claim_shown_in_chinese_has_chinese_cases():
    shown = repr(claims("02", "zh"))
    assert "解码三步之后：三项之和 61，held 3，total 64" in shown
    assert "three decode steps in" in repr(claims("02", "en"))


def test_every_claim_speaks_both_languages():
    chinese = re.compile(r"[\u4e00-\u9fff]")
    for claim in CLAIMS:
        for words in (claim.says, claim.note):
            assert words.en and not chinese.search(words.en), claim.id
            assert words.zh and words.zh != words.en, claim.id


def test_every_case_shows_a_number():
    assert all(case.numbers for claim in CLAIMS for case in found(claim.id).cases)


def test_a_case_beside_does_not_judge():
    cases = Case("a", True, {}), Case("b", False, {}, beside=True)
    assert Entry(CLAIMS[0], cases).verdict is Verdict.HOLDS


@pytest.mark.parametrize(("folder", "word"), [("zh", "说法"), ("notebooks", "claim")])
def test_a_notebook_shows_its_claims_in_the_language_of_its_folder(
    folder, word, monkeypatch, tmp_path
):
    (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / folder)
    assert f">{word}<" in claims("08")._repr_html_()


def test_a_notebook_shows_its_claims_in_either_language():
    shown = claims("08", "zh")
    page = shown._repr_html_()
    assert "S2-4.4-6" in page
    assert "有条件成立" in page


def test_a_notebook_without_claims_is_refused():
    with pytest.raises(InputError, match="no claims"):
        claims("99")


def test_the_command_prints_verdict_note_and_numbers(capsys):
    assert main(["claims", "S2-2.1-1", "--cases"]) == 0
    said = capsys.readouterr().out
    assert "DOES NOT HOLD" in said
    assert "first insert" in said
    assert "after first 1" in said


def test_the_command_speaks_chinese(capsys):
    main(["claims", "S2-2.1-1", "--lang", "zh"])
    assert "首次插入" in capsys.readouterr().out


def test_the_command_takes_a_section(capsys):
    main(["claims", "S2-1", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert [each["id"] for each in told] == ["S2-1-1", "S2-1-2", "S2-1-3"]
    assert told[0]["cases"][0]["numbers"] == {"bytes": 134217728}


def test_the_command_refuses_an_id_that_no_claim_has(capsys):
    assert main(["claims", "S9-1"]) == 2
    assert "no claim" in capsys.readouterr().err
