"""Are right answers taken, wrong ones not, and does the hint lead to the moment?

Solutions live in tests/solutions, one module a notebook; what holds for every exercise
of the course is said here once.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from solutions import given, solutions

import kvlab
from kvlab.errors import KvlabError
from kvlab.lessons.checks import draw, language
from kvlab.lessons.exercises import EXERCISES
from kvlab.lessons.grading import Verdict
from kvlab.lessons.kinds import (
    UNSAID,
    Case,
    Choice,
    Fill,
    Function,
    Order,
    Sentence,
)
from kvlab.record import block_events as be
from kvlab.record import events as ev

SEEDS = range(3)
CASED = [id for id, e in EXERCISES.items() if not isinstance(e, Function)]

each = pytest.mark.parametrize("id", EXERCISES)
each_cased = pytest.mark.parametrize("id", CASED)


def case(id: str, seed: int) -> Case:
    return EXERCISES[id].case(draw(id, seed))


def verdict(id: str, answer, seed: int = 0) -> Verdict:
    return kvlab.check(id, given(id, answer, seed), seed=seed)


@each
def test_a_right_answer_is_taken_with_any_numbers(id):
    for answer in solutions(id).RIGHT[id]:
        for seed in SEEDS:
            found = verdict(id, answer, seed)
            assert found, f"seed {seed}: {found}"


@each
def test_three_wrong_answers_or_more_are_refused_with_any_numbers(id):
    wrong = solutions(id).WRONG[id]
    assert len(wrong) >= 3
    for answer in wrong:
        for seed in SEEDS:
            assert verdict(id, answer, seed).right is False, f"{answer}, seed {seed}"


@each
def test_no_answer_yet_is_no_mistake(id):
    def empty(a, b): ...

    for nothing in (None, ..., "?", " ", {}, [], {"A": "?"}, empty):
        assert kvlab.check(id, nothing).right is None


@each_cased
def test_a_wrong_answer_leads_to_a_moment_of_the_run(id):
    for answer in solutions(id).WRONG[id]:
        found = verdict(id, answer)
        if found.trace is not None:
            assert 0 < found.step <= len(found.trace), answer


@each_cased
def test_who_holds_a_belief_is_told_why_it_breaks(id):
    for at in range(len(case(id, 0).beliefs)):
        found = [believed(id, at, seed) for seed in SEEDS]
        assert any(verdict.right is False for verdict in found)
        for seed, verdict in enumerate(found):
            reasons = [belief.why for belief in case(id, seed).beliefs]
            assert verdict.right or verdict.why in reasons


def believed(id: str, at: int, seed: int) -> Verdict:
    """The verdict on the answer of who holds that belief and is right otherwise."""
    drawn = case(id, seed)
    said = drawn.beliefs[at].said
    if isinstance(said, dict) and isinstance(drawn.answer, dict):
        said = {"text": "So it is."} | drawn.answer | said
    return kvlab.check(id, said, seed=seed)


PREDICTED = [id for id in CASED if id[3] == "P"]


@pytest.mark.parametrize("id", PREDICTED)
def test_a_prediction_is_made_once_so_nobody_is_told_not_yet(id):
    exercise, wrong = EXERCISES[id], solutions(id).WRONG[id]
    for answer in exercise.options if isinstance(exercise, Choice) else wrong:
        found = verdict(id, answer)
        assert found.right or "Not yet" not in found.why.en, answer
        assert found.right or "还不对" not in found.why.zh, answer


@each_cased
def test_every_answer_can_be_given(id):
    exercise, answer = EXERCISES[id], case(id, 0).answer
    if isinstance(exercise, Choice):
        assert answer in exercise.options
    elif isinstance(exercise, Order):
        assert set(answer) <= set(exercise.steps)
    elif isinstance(exercise, Sentence):
        assert set(answer) == set(exercise.points)
        for part, about in exercise.points.items():
            assert answer[part] in set(about.says) - {UNSAID}
    else:
        answer = (
            answer if isinstance(answer, dict) else {next(iter(exercise.parts)): answer}
        )
        assert set(answer) == set(exercise.parts)
        picked = {answer[part] for part in answer if part not in exercise.typed}
        assert not exercise.options or picked <= set(exercise.options)


@each
def test_it_is_asked_in_both_languages(id):
    asks = EXERCISES[id].asks
    assert re.search(r"[\u4e00-\u9fff]", asks.zh)
    assert not re.search(r"[\u4e00-\u9fff]", asks.en)
    braces = {lang: set(re.findall(r"{(\w+)}", asks.to(lang))) for lang in ("en", "zh")}
    assert braces["en"] == braces["zh"]


@each
def test_it_has_an_id_of_the_course(id):
    assert re.fullmatch(r"\d\d\.(P|S|E)\d?", id)
    if id[3] == "S":
        assert f"{id[:2]}.P{id[4:]}" in EXERCISES


def test_no_solution_is_shipped():
    shipped = Path(kvlab.__file__).parent / "lessons" / "exercises"
    for path in shipped.glob("nb*.py"):
        assert "RIGHT" not in path.read_text()


def test_numbers_change_with_the_seed_and_only_with_it():
    assert case("07.E1", 1).terms == case("07.E1", 1).terms
    assert len({str(case("07.E1", seed).terms) for seed in range(5)}) > 1


def test_an_unknown_exercise_is_named_with_its_neighbours():
    with pytest.raises(KvlabError, match=r"no exercise '07\.E11'; there are 07\.E1"):
        kvlab.check("07.E11")


def test_a_function_that_stops_is_told_so():
    def evict(desk, ask):
        return desk.missing

    found = kvlab.check("07.E3", evict)
    assert found.right is False
    assert "AttributeError" in found.why.en


def test_a_function_of_more_than_fifteen_lines_is_refused():
    def evict(desk, ask):
        freed = 0
        a = 1
        b = 1
        c = 1
        d = 1
        e = 1
        f = 1
        for leaf in desk.leaves:
            if freed >= ask or leaf.locked:
                continue
            act = desk.back_up if desk.write_back else desk.delete
            act = desk.demote if leaf.backed_up else act
            act(leaf)
            freed += leaf.tokens
        freed = freed * a * b * c * d * e * f
        return freed

    assert "in 17 lines" in kvlab.check("07.E3", evict).why.en


def test_a_value_instead_of_a_function_is_told_so():
    assert "function itself" in kvlab.check("07.E3", 12).why.en


SAID = {"text": "It is gone when no copy is left.", "when": "copy", "how": "both"}


def test_a_sentence_alone_is_no_answer_and_its_points_are_asked():
    found = kvlab.check("07.E4", SAID["text"])
    assert found.right is None
    assert "'when': 'every' | 'second' | 'copy' | 'unsaid'" in found.why.en
    assert "已记下" in found.why.zh


def test_the_words_of_a_sentence_do_not_decide():
    assert kvlab.check("07.E4", SAID | {"text": "Every eviction is a loss."})
    assert kvlab.check("07.E4", SAID | {"text": " "}).right is None


def test_what_a_sentence_leaves_out_is_no_right_answer():
    found = kvlab.check("07.E4", SAID | {"how": "unsaid"})
    assert found.right is False and found.marks == {"when": True, "how": False}


def test_a_model_is_shown_once_the_sentence_is_sorted_and_not_before():
    model = EXERCISES["07.E4"].model
    for answer in (SAID, SAID | {"how": "never"}):
        assert model.en in kvlab.check("07.E4", answer).told("en")
        assert model.zh in kvlab.check("07.E4", answer).told("zh")
    assert model.en not in kvlab.check("07.E4", SAID["text"]).told("en")


def test_a_verdict_names_the_event_to_look_at():
    found = kvlab.check("07.S", "more")
    assert f"Look at event {found.step}." in repr(found)
    assert "看事件" in found.told("zh")
    assert "看事件" in repr(kvlab.check("07.S", "more", lang="zh"))


def test_a_verdict_opens_the_run_at_its_moment():
    found = kvlab.check("07.S", "more")
    assert found.show().step == found.step
    with pytest.raises(KvlabError, match="no run to show"):
        kvlab.check("11.E4", {"text": "x", "tells": "well", "silent": "room"}).show()


TYPED = ["60", " 60 % ", "60.0", "6e1", "６０", "60 个", "+60"]
NOT_TYPED = ["60 or 70", "60/100", "6.0.0", "sixty", "0.6", "%"]


@pytest.mark.parametrize("typed", TYPED + NOT_TYPED)
def test_a_number_may_be_typed_with_its_unit_and_nothing_else(typed):
    right = case("03.E1", 0).answer
    assert right["usage"] == 60
    found = kvlab.check("03.E1", right | {"usage": typed})
    assert found.right is (typed in TYPED)


def test_thousands_may_be_set_apart_in_either_script():
    right = case("01.E2", 0).answer
    for typed in ("524,288", "524，288 token"):
        assert kvlab.check("01.E2", right | {"tokens": typed})


def test_a_choice_is_its_key_in_any_case_and_type():
    assert kvlab.check("10.E1", " R4 ")
    assert kvlab.check("01.P2", 1)


def test_digits_typed_into_a_form_are_numbers():
    answer = {k: str(v) for k, v in case("07.E1", 0).answer.items()}
    assert kvlab.check("07.E1", answer)
    assert not kvlab.check("07.E1", answer | {"lost": "many"})


@pytest.mark.parametrize(
    ("folder", "lang"), [("a/zh", "zh"), ("a/notebooks", "en"), ("a", None)]
)
def test_the_folder_says_the_language(folder, lang):
    assert language(Path(folder)) == lang


def test_kinds_have_their_exercise():
    kinds = {type(e) for e in EXERCISES.values()}
    assert kinds >= {Choice, Fill, Order, Function, Sentence}


@pytest.mark.parametrize(
    ("id", "mistake", "words"),
    [
        ("02.E3", "one_node", "counts on the whole path"),
        ("06.E3", "every_hit", "copied once"),
        ("06.E3", "as_quoted", "the root needs no copy"),
        ("06.E3", "no_parent", "is a gap"),
        ("06.E3", "once_at_the_threshold", "2 ≥ 1"),
        ("02.E3", "the_root_too", "never locked"),
        ("10.E3", "forgets_to_return", "[] free 0"),
        ("11.E3", "few_hits_and_a_queue", "high hit rate"),
    ],
)
def test_a_function_is_told_what_it_forgot(id, mistake, words):
    found = verdict(id, getattr(solutions(id), mistake))
    assert words.lower() in str(found.why.en).lower()


@pytest.mark.parametrize(
    ("id", "said", "words"),
    [
        ("01.E1", dict(zip("abcde", (131, 131, 524, 328, 328), strict=True)), "1,024"),
        ("04.E1", list("EDABC"), "fifo ranks by creation"),
        ("04.E2", {"ask": 19, "freed": 26, "old": 19}, "0.5.14 that asks"),
        ("05.E1", {"room": 19, "need": 15}, "0.7 of it"),
        ("05.E5", {"in": 7, "line": "seats"}, "lets in fewest"),
        ("08.E1", {"device": 10, "host": 12, "loaded": 12, "extend": 2}, "is split"),
        ("08.E1", {"device": 10, "host": 8, "loaded": 0, "extend": 2}, "not loaded is"),
        ("01.P", {"short": 5, "long": 3}, "33 < 96"),
        ("07.P", {"A": "demoted", "B": "lost", "C": "lost"}, "no copy on L2"),
        ("07.P", {"A": "demoted", "B": "deleted", "C": "deleted"}, "L2 that dropped"),
        ("12.P", {"at8": 0, "at9": 36, "at18": 36}, "Nobody's first"),
        ("12.E1", {"ratio": 21.67, "knee": 6400, "gap": 12.94}, "the ceiling"),
        ("12.E1", {"ratio": 62.61, "knee": 3200, "gap": 12.94}, "of what can be hit"),
        ("14.P2", {"old": "wrong", "new": "none"}, "on both tiers"),
        ("14.P4", {"old": "kept", "new": "lost"}, "nothing was freed"),
        ("14.E1", {"old": 9, "new": 9}, "whole need, not for"),
        ("14.E1", {"old": 16, "new": 16}, "not for the whole"),
        ("09.E1", {"demand": 1.037}, "not 1,000"),
        ("09.E2", {"inside": 54.35}, "divide by the span"),
    ],
)
def test_a_likely_slip_is_told_what_it_rests_on(id, said, words):
    found = verdict(id, said)
    assert found.right is False
    assert words in found.why.en


def test_what_is_right_is_no_reason_for_another_part_that_is_wrong():
    """Here the coldest leaf is all that is lost, which a belief says too."""
    right = case("07.E1", 0)
    assert {"lost": right.answer["lost"]} in [belief.said for belief in right.beliefs]
    found = verdict("07.E1", right.answer | {"demoted": 1})
    assert found.why.en.startswith("Not yet: demoted")


def test_who_asks_l2_for_the_shortfall_alone_is_told_what_is_asked():
    cold = next(s for s in range(20) if case("07.E1", s).terms["kept"] == "C")
    said = solutions("07.E1").the_shortfall_alone(case("07.E1", cold).terms)
    assert "D's whole need" in verdict("07.E1", said, cold).why.en


def test_a_right_answer_that_was_rounded_too_far_is_told_no_belief():
    assert verdict("09.E1", {"demand": 1.0}).why.en == "Not yet: GB/s."
    assert "not 2^30" in verdict("09.E1", {"demand": 0.99}).why.en


def test_a_row_of_the_matrix_is_told_what_the_ledger_found():
    right = given("12.E4", solutions("12.E4").RIGHT["12.E4"][0])
    found = verdict("12.E4", right | {"every": "holds"})
    assert found.why.en == (
        "write_through writes at every hit: Once a node, however often it is hit."
    )


def test_a_wrong_point_of_a_sentence_is_quoted_and_an_unsaid_one_named():
    claimed = verdict("02.E4", SPOKEN | {"where": "free"})
    assert claimed.why.en == "Not so: “They are on the free list”."
    assert claimed.why.zh == "不对：“它们在哪里：在空闲列表里”。"
    silent = verdict("02.E4", SPOKEN | {"where": "unsaid"})
    assert silent.why.en == "Not said yet: “They are …”"


SPOKEN = {"text": "So it is.", "which": "decoded", "where": "request"}


def test_a_tour_s_mark_is_told_in_a_sentence():
    right = case("13.E2", 0).answer
    why = verdict("13.E2", right | {"frame": "yes"}).why
    assert why.en == "Nothing after event 51 says what came of it."
    assert why.zh.endswith("。")


def test_what_is_said_of_an_engine_points_at_that_engine_s_own_run():
    said = {"text": "So it is.", "sglang": "fewest", "vllm": "last", "kept": "cached"}
    old = verdict("10.E4", said | {"sglang": "last"})
    new = verdict("10.E4", said | {"vllm": "oldest"})
    assert isinstance(old.trace.events[old.step - 1], ev.Retract)
    assert isinstance(new.trace.events[new.step - 1], be.Preempt)


def test_who_admits_at_equal_is_shown_both_sides():
    def at_equal(extend, max_new, page, available, evictable, promised):
        return extend + max_new + page <= available + evictable - promised

    found = verdict("05.E3", at_equal)
    need, room = re.search(r"need (\d+), room (\d+);", found.why.en).groups()
    assert need == room


def test_what_is_inserted_once_is_not_copied_by_selective():
    selective = next(
        seed for seed in range(20)
        if case("06.E1", seed).terms["policy"] == "write_through_selective"
    )  # fmt: skip
    drawn = case("06.E1", selective)
    said = drawn.answer | {
        "rest": sum(drawn.terms[part] for part in ("a", "b", "rest"))
    }
    found = verdict("06.E1", said, selective)
    assert "selective copies at the second" in found.why.en


@pytest.mark.parametrize("id", sorted(EXERCISES))
@pytest.mark.parametrize(
    "answer", [5, 10**4000, float("nan"), "zz", object(), lambda: 1, {1: 2}, [{}]]
)
def test_an_answer_of_another_kind_is_a_wrong_answer_at_most(id, answer):
    verdict = kvlab.check(id, answer)
    assert isinstance(verdict, Verdict)
    assert not verdict


def test_a_number_of_numpy_is_a_number():
    right = given("07.E1", solutions("07.E1").RIGHT["07.E1"][0])
    found = kvlab.check("07.E1", {part: np.int64(n) for part, n in right.items()})
    assert found, found
