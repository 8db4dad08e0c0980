"""Is a release one record of named rules, and is every combination named truly?"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import convert
from msgspec.json import decode, encode
from msgspec.structs import replace

from kvlab.errors import ConfigError
from kvlab.rule import NEEDS, NEW, OLD, RELEASES
from kvlab.rules import Rules, facts
from kvlab.run.conform import compare
from kvlab.run.script import read_script

GOLDENS = Path(__file__).parent / "goldens"
SHOWN = [name for name, rule in facts().items() if rule.golden]


def test_an_unknown_release_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"no rule book for SGLang '0\.4\.0'; kvlab"):
        Rules.named("0.4.0")


def test_a_rule_book_cannot_be_written_to():
    with pytest.raises(AttributeError, match="immutable"):
        Rules.v0_5_14().evict_whole_need = False


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_is_found_by_its_name(release):
    assert Rules.named(release).name == release
    assert Rules.named(release).is_release


def test_the_two_releases_answer_every_question_differently():
    old, new = Rules.v0_5_14().answers, Rules.v0_5_23().answers
    assert [name for name in old if old[name] == new[name]] == []


# --- what is said of each rule


@pytest.mark.parametrize("name", facts())
def test_a_rule_says_what_it_is_about_and_where_it_stands(name):
    rule = facts()[name]
    assert rule.about.endswith(".")
    assert rule.effect.endswith(".")
    assert rule.effect_zh.endswith("。")
    assert 1 <= len(rule.sources) <= 2
    assert all(".py" in source or "core" in source for source in rule.sources)
    assert rule.golden or rule.note, "no golden, and no word why"


@pytest.mark.parametrize("name", SHOWN)
def test_the_golden_that_a_rule_names_differs_without_it(name):
    """Of the recordings of both releases, at least one differs in that very record when
    this rule alone takes the other value (with what rests on it)."""
    file, _, record = facts()[name].golden.partition("#")
    told = []
    for folder in ("sglang", "sglang23"):
        (path,) = (GOLDENS / folder).glob(f"{file}_*.json")
        script = read_script(path)
        turned = turn(script.rules, name)
        found = compare(replace(script, rules=turned), path.name)
        told += [difference.record for difference in found]
    assert int(record) in told


def turn(rules: Rules, name: str) -> Rules:
    answers = {**rules.answers, name: not rules.answers[name]}
    for needing, needed, _ in NEEDS:
        if answers[needing] and not answers[needed]:
            answers[needed if needing == name else needing] = answers[name]
    return convert(answers, Rules)


# --- combinations


def test_a_combination_is_called_after_the_nearer_release_and_its_changes():
    mixed = replace(Rules.v0_5_23(), load_protects_source=False,
                    reclaims_duplicates=False, evict_whole_need=True)  # fmt: skip
    assert mixed.name == (
        "0.5.23+evict_whole_need-reclaims_duplicates-load_protects_source"
    )
    assert not mixed.is_release
    assert Rules.named(mixed.name) == mixed


def test_a_name_that_does_not_fit_the_rules_is_put_right():
    told = encode(Rules.v0_5_14()).replace(
        b'"evict_whole_need":true', b'"evict_whole_need":false'
    )
    assert decode(told, type=Rules).name == "0.5.14-evict_whole_need"


@pytest.mark.parametrize(
    ("release", "rule"),
    [
        (NEW, "refreshes_waiting"),
        (OLD, "finished_leave_late"),
        (OLD, "chunk_takes_two_seats"),
    ],
)
def test_a_run_that_does_not_tell_of_a_rule_was_recorded_without_it(release, rule):
    told = encode(Rules.named(release)).replace(f'"{rule}":true,'.encode(), b"")
    assert decode(told, type=Rules).name == f"{release}-{rule}"


def test_all_changes_together_are_the_other_release():
    text = OLD + "".join(
        f"{'-' if rule.old else '+'}{name}" for name, rule in facts().items()
    )
    assert Rules.named(text) == Rules.v0_5_23()


@pytest.mark.parametrize(("rule", "needed", "why"), NEEDS)
def test_a_rule_that_rests_on_another_is_refused_without_it(rule, needed, why):
    with pytest.raises(ConfigError, match=f"rule {rule} needs {needed}: {why}; set"):
        Rules.named(f"0.5.14+{rule}")
    with pytest.raises(ConfigError, match=f"rule {rule} needs {needed}"):
        Rules.named(f"0.5.23-{needed}")
    assert getattr(Rules.named(f"0.5.14+{rule}+{needed}"), rule)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.5.14+shortfall", "no rule 'shortfall'; `kvlab rules` lists them"),
        ("0.5.14-", "no rule ''"),
        ("0.5.14+evict_whole_need", "already has evict_whole_need; write -evict_whole"),
        ("0.5.23-evict_whole_need", "already is without evict_whole_need; write +"),
        ("+evict_whole_need", "no rule book for SGLang ''"),
    ],
)
def test_a_change_that_is_none_is_refused_in_one_line(text, message):
    with pytest.raises(ConfigError) as refused:
        Rules.named(text)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
