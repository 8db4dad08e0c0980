"""Is a release one record of named rules?"""

from __future__ import annotations

import pytest

from kvlab.errors import ConfigError
from kvlab.rules import Rules


def test_an_unknown_release_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"no rule book for SGLang '0\.4\.0'; kvlab"):
        Rules.named("0.4.0")


def test_a_rule_book_cannot_be_written_to():
    with pytest.raises(AttributeError, match="immutable"):
        Rules.v0_5_14().evict_whole_need = False


@pytest.mark.parametrize("release", ["0.5.14", "0.5.23"])
def test_a_release_is_found_by_its_name(release):
    assert Rules.named(release).name == release


def test_the_two_releases_answer_every_question_differently():
    old, new = Rules.v0_5_14(), Rules.v0_5_23()
    same = [n for n in old.__struct_fields__ if getattr(old, n) == getattr(new, n)]
    assert same == []
