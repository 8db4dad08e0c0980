"""Does each rule have a script that it alone changes first?"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kvlab.lessons.rule_scripts import ON_A_CLOCK, RULE_SCRIPTS, base_of, rule_script
from kvlab.lessons.what_changed import change, parting, played
from kvlab.rules import Rules, facts

NEW = Rules.v0_5_23()
LEVELS = {
    "best_match_is_backed_up": "result", "evict_host_returns_none": "result",
    "lock_tells_evictable": "result", "freed_pages_sorted": "page",
    "host_must_exceed_device": "start",
}  # fmt: skip
"""Rules that change no event."""


def test_every_rule_has_a_script_or_needs_a_clock():
    assert sorted([*RULE_SCRIPTS, *ON_A_CLOCK]) == sorted(facts())


@pytest.mark.parametrize("rule", RULE_SCRIPTS)
def test_the_first_difference_of_its_script_is_that_rule_and_no_other(rule):
    script = rule_script(rule)
    assert len(script.ops) <= 15
    found = change(script, base_of(rule), NEW)
    assert found.rules == (rule,)
    assert found.parting.level == LEVELS.get(rule, "event")


def test_all_scripts_but_one_part_from_the_old_release():
    bases = {rule: base_of(rule).name for rule in RULE_SCRIPTS}
    assert [rule for rule, base in bases.items() if base != "0.5.14"] == [
        "load_evicts_whole_need"
    ]


def test_a_script_that_no_rule_touches_parts_nowhere():
    script = replace(rule_script("evict_whole_need"), ops=[])
    found = change(script, Rules.v0_5_14(), NEW)
    assert (found.parting.level, found.rules) == (None, ())


def test_what_a_rule_takes_along_is_not_responsible():
    """Without load_protects_source there is no reclaims_duplicates either; the script
    that reclaims names the one that does it."""
    found = change(rule_script("reclaims_duplicates"), Rules.v0_5_14(), NEW)
    assert found.rules == ("reclaims_duplicates",)


def test_the_wrong_kv_is_served_under_the_old_rules_alone():
    old, new = (
        played(rule_script("load_protects_source"), rules)
        for rules in (Rules.v0_5_14(), NEW)
    )
    assert old.results[3]["loaded"] == new.results[3]["loaded"] == 20
    assert old.results[5]["device_hit"] == 0, "its node has left the tree"
    assert new.results[5]["device_hit"] == 20
    assert "dropped while it was being loaded" in old.fault
    assert new.fault is None
    assert parting(old, new).level == "event"
