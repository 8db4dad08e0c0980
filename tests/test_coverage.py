"""Does every paragraph of the articles have its place in the course?"""

from __future__ import annotations

from kvlab.lessons.claims import CLAIMS
from kvlab.lessons.coverage import digests, main, paragraphs, strangers

IDS = {claim.id for claim in CLAIMS}


def test_every_paragraph_has_claims_or_a_reason():
    bare = [p for p in paragraphs() if not p.claims and not p.reason]
    assert bare == []


def test_paragraphs_are_numbered_without_a_gap():
    for article, last in ((1, 77), (2, 112)):
        numbers = [p.number for p in paragraphs() if p.article == article]
        assert numbers == list(range(1, last + 1))


def test_paragraphs_name_claims_of_the_ledger_only():
    assert {id for p in paragraphs() for id in p.claims} <= IDS


def test_every_claim_stands_in_some_paragraph():
    assert {id for p in paragraphs() for id in p.claims} >= IDS


def test_a_claim_is_found_in_its_own_article():
    across = {"S1-4.0-1"}
    for p in paragraphs():
        assert all(id[1] == str(p.article) or id in across for id in p.claims), p


def test_a_new_paragraph_is_told_by_its_number():
    assert strangers(1, "nobody wrote this\n\nnor this") == [1, 2]


def test_a_digest_does_not_change_with_the_line_breaks():
    assert digests("a b\nc") == digests("a  b c\n")


def test_the_command_names_what_is_not_covered(tmp_path, capsys):
    article = tmp_path / "a.txt"
    article.write_text("nobody wrote this")
    assert main([str(article), str(article)]) == 1
    assert "paragraphs [1] are not covered" in capsys.readouterr().out


def test_the_command_refuses_what_it_cannot_read(tmp_path, capsys):
    assert main([str(tmp_path / "none"), str(tmp_path / "none")]) == 2
    assert "no readable text" in capsys.readouterr().err
