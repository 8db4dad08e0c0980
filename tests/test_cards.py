"""Does every decision have a card whose numbers give its verdict?"""

from __future__ import annotations

from pathlib import Path

import pytest
from moments import about, step_of
from played import golden, played

from kvlab.errors import TraceError
from kvlab.record import events as ev
from kvlab.record.events import Decision
from kvlab.views.cards import (
    card,
    card_at,
    card_text,
    decision_behind,
    kind_of,
    links,
    why_text,
)
from kvlab.views.phrases import PHRASES
from kvlab.views.player_words import UI_WORDS
from kvlab.views.questions import QUESTIONS
from kvlab.views.sentences import entry_of
from kvlab.views.theme import LANGS, num

GOLDENS = Path(__file__).parent / "goldens"


def decisions(trace):
    return [i for i, e in enumerate(trace.events, 1) if isinstance(e, Decision)]


@pytest.mark.parametrize("lang", LANGS)
def test_every_decision_of_a_run_has_a_card(sample, lang):
    for step in decisions(sample):
        told = card_at(sample, step, lang)
        assert card_text(told).startswith(told.title)


def test_a_decision_of_every_kind_alone_has_a_card(sample, every_kind):
    for event in every_kind:
        if isinstance(event, Decision):
            told = card(sample, about(sample, event))
            assert told.reason.rule.en in card_text(told)


def test_a_change_is_told_by_the_card_of_what_led_to_it(sample):
    demote = step_of(sample, ev.Demote)
    assert why_text(sample, demote).startswith("n1 is demoted")
    assert why_text(sample, 0) == UI_WORDS["no_card"].en
    with pytest.raises(TraceError, match="use 0 to 142"):
        why_text(sample, 143)


def test_the_test_of_every_check_is_true_exactly_if_it_says_so(sample):
    for step in decisions(sample):
        for check in card_at(sample, step).reason.checks:
            if check.test and check.holds is not None:
                said = check.test.replace("≤", "<=").replace("≥", ">=")
                assert eval(said.replace(",", "")) == check.holds, check.test


def test_the_equations_of_an_admission_add_up(sample):
    for number in (0, 1, 2):
        event = sample.events[step_of(sample, ev.Admit, number) - 1]
        told = card_at(sample, step_of(sample, ev.Admit, number))
        demand, supply = told.reason.checks[0].equations
        assert demand[-1].number == str(event.extend + event.max_new + event.page)
        room = event.available + event.evictable - event.promised
        assert supply[-1].number == num(room)


def test_a_refused_admission_says_what_is_not_in_the_formula(sample):
    text = card_text(card_at(sample, step_of(sample, ev.Admit, 1)))
    assert "NO_TOKEN: c is not admitted" in text
    assert "extend 16 + max_new 4 + page 1 = need 21" in text
    assert "available 5 + evictable 6 − promised 1 = room 10" in text
    assert "21 < 10  ✗ false" in text
    assert "[L2 free = 0]  not in this formula" in text


def test_the_card_of_a_refusal_reads_in_chinese(sample):
    text = card_text(card_at(sample, step_of(sample, ev.Admit, 1), "zh"))
    assert "NO_TOKEN：c 未获准入" in text
    assert "不在此公式中" in text


def test_a_load_back_is_three_tests_in_order(sample):
    told = card_at(sample, step_of(sample, ev.LoadBack, 1))
    asks = [check.asks.en.split("?")[0] for check in told.reason.checks]
    assert asks[::2] == ["worth a copy", "is there room in L1"]
    assert asks[1].endswith("not tested, no caller sets a quota")
    assert [check.holds for check in told.reason.checks] == [True, None, True]


def test_a_quota_is_tested_where_a_caller_sets_one(sample):
    event = ev.LoadBack(-1, 3, 12, 10, 20, -9, 30, "over_quota")
    quota = card(sample, about(sample, event)).reason.checks[1]
    assert quota.test == "12 ≤ 11"
    assert quota.holds is False


def test_an_eviction_shows_how_much_it_freed_too_much(sample):
    told = card_at(sample, step_of(sample, ev.Evicted, 3))
    assert "freed 16 − ask 8 = over 8" in card_text(told)


def test_a_victim_says_whether_it_has_a_copy(sample):
    demoted = card_at(sample, step_of(sample, ev.Victim, 0))
    deleted = card_at(sample, step_of(sample, ev.Victim, 4))
    assert demoted.title == "n1 is demoted: L2 keeps it"
    assert deleted.title == "n7 is deleted: no copy is left"
    assert demoted.reason.checks[2].holds and not deleted.reason.checks[2].holds


def test_an_admission_over_the_input_budget_compares_with_that(sample):
    event = ev.Admit(
        -1, "d", "input_budget", 9, 2, 1, 90, 90, 0.0, 4, None, 0, 0, "OTHER", False, 9
    )
    check = card(sample, about(sample, event)).reason.checks[0]
    assert (check.test, check.holds) == ("9 < 4", False)


def test_the_causes_run_from_the_first_to_the_event_itself(sample):
    step = step_of(sample, ev.Victim, 1)
    chain = links(sample, step - 1)
    assert [link.kind for link in chain] == ["admit", "make_room", "evict", "victim"]
    assert chain[-1].step == step


def test_what_nothing_caused_is_not_told_as_its_own_cause(sample):
    first = step_of(sample, ev.Step)
    assert len(links(sample, first - 1)) == 1
    assert (
        UI_WORDS["cause"].en not in card_text(card_at(sample, first)).splitlines()[-1]
    )
    victim = card_text(card_at(sample, step_of(sample, ev.Victim, 1)))
    assert f"{UI_WORDS['cause'].en}: " in victim


def test_a_change_has_the_card_of_what_led_to_it(sample):
    demote = step_of(sample, ev.Demote) - 1
    backup = step_of(sample, ev.Backup) - 1
    assert isinstance(sample.events[decision_behind(sample, demote)], ev.Victim)
    assert isinstance(sample.events[decision_behind(sample, backup)], ev.TryBackup)


def test_a_change_that_nothing_led_to_has_no_card_of_its_own(hostile):
    assert decision_behind(hostile, -1) is None


def test_kinds_are_spelled_as_the_engine_does():
    assert kind_of(ev.MakeRoom(-1, "L1", 1, 1, 1)) == "make_room"


@pytest.mark.parametrize("lang", LANGS)
def test_hostile_names_stay_on_their_lines(hostile, lang):
    for step in decisions(hostile):
        text = card_text(card_at(hostile, step, lang))
        assert len(text.splitlines()) < 25


def test_a_card_says_which_of_its_tests_were_not_reached():
    trace = golden("s11")
    step = 1 + next(
        i for i, e in enumerate(trace.events)
        if isinstance(e, ev.LoadBack) and e.verdict == "below_threshold"
    )  # fmt: skip
    lines = card_text(card_at(trace, step)).splitlines()
    late = lines.index("not reached: a test before it failed")
    assert lines.index("worth a copy?") < late < lines.index("is there room in L1?")


def test_every_outcome_that_a_golden_has_is_offered_as_an_answer():
    kinds = {kind for kind in ev.DECISIONS if kind.__name__.lower() in QUESTIONS}
    missing = {
        entry
        for path in sorted(GOLDENS.glob("sglang*/*"))
        for event in played(path).events
        if type(event) in kinds
        for entry in [entry_of(event, PHRASES)]
        if not any(entry in asked.answers for asked in QUESTIONS.values())
    }
    assert missing == set()


def test_a_load_carries_out_the_load_back_that_made_room_for_it():
    trace = golden("s25")
    load = next(i for i, e in enumerate(trace.events) if isinstance(e, ev.Load))
    kinds = [link.kind for link in links(trace, load)]
    assert kinds == ["step", "load_back", "load"]
