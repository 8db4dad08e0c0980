"""Is a release one record of named rules?"""

from __future__ import annotations

import pytest

from kvlab.errors import ConfigError
from kvlab.rules import Rules


def test_a_release_is_found_by_its_name():
    assert Rules.named("0.5.14") == Rules.v0_5_14()


def test_an_unknown_release_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"no rule book for SGLang '0\.4\.0'; kvlab"):
        Rules.named("0.4.0")


def test_a_rule_book_cannot_be_written_to():
    with pytest.raises(AttributeError, match="immutable"):
        Rules.v0_5_14().evict_whole_need = False


def test_release_0_5_14_answers_every_question_with_yes_but_two():
    rules = Rules.v0_5_14()
    answers = {name: getattr(rules, name) for name in rules.__struct_fields__}
    assert answers.pop("name") == "0.5.14"
    no = [name for name, answer in answers.items() if not answer]
    assert no == ["restore_counts_hit", "split_keeps_creation"]
