"""May a request join the prefill, and which line says no?"""

from __future__ import annotations

import pytest
from desk import Desk

from kvlab.record import events as ev
from kvlab.rules import Rules
from kvlab.schedule.admission import Answer

CONTINUE, NO_TOKEN, OTHER = Answer.CONTINUE, Answer.NO_TOKEN, Answer.OTHER
NEW = Rules.v0_5_23()


# --- room for its whole life


def test_a_request_that_leaves_room_is_admitted():
    desk = Desk(pool_tokens=20)
    tried = desk.tried(desk.adder(), desk.matched(range(14), max_new=4))
    assert tried == (CONTINUE, "admitted", True)


def test_equality_refuses():
    desk = Desk(pool_tokens=20)
    tried = desk.tried(desk.adder(), desk.matched(range(15), max_new=4))
    assert tried == (NO_TOKEN, "room", False)


def test_a_whole_page_is_asked_on_top():
    desk = Desk(pool_tokens=32, page_size=8)
    lines = [
        desk.tried(desk.adder(), desk.matched(range(size), max_new=4))[1]
        for size in (19, 20)
    ]
    assert lines == ["admitted", "room"]


def test_evictable_tokens_count_as_room():
    desk = Desk(pool_tokens=20)
    desk.insert(range(100, 110))
    _, line, _ = desk.tried(desk.adder(), desk.matched(range(14), max_new=4))
    assert line == "admitted"


def test_protected_tokens_do_not():
    desk = Desk(pool_tokens=20)
    desk.insert(range(100, 110))
    desk.lock(range(100, 110))
    _, line, _ = desk.tried(desk.adder(), desk.matched(range(14), max_new=4))
    assert line == "room"


def test_a_prefix_on_device_need_not_be_placed():
    desk = Desk(pool_tokens=20)
    desk.insert(range(10))
    desk.lock(range(10))
    _, line, _ = desk.tried(desk.adder(), desk.matched(range(14), max_new=4))
    assert line == "admitted"


def test_what_was_written_before_a_retraction_is_not_asked_again():
    desk = Desk(pool_tokens=20)
    request = desk.matched(range(12), max_new=8, outputs=[7, 7, 7])
    assert desk.tried(desk.adder(), request)[1] == "room"
    request = desk.matched(range(10), max_new=8, outputs=[7, 7, 7])
    assert desk.tried(desk.adder(), request)[1] == "admitted"


def test_no_more_outputs_are_asked_than_the_clip():
    desk = Desk(pool_tokens=20, clip_max_new=3)
    tried = desk.tried(desk.adder(), desk.matched(range(14), max_new=999))
    assert tried == (CONTINUE, "admitted", True)


def test_its_own_prefix_stops_being_room_once_it_is_locked():
    desk = Desk(pool_tokens=20)
    desk.insert(range(10))
    request = desk.matched(range(14), max_new=6)
    assert desk.tried(desk.adder(), request) == (NO_TOKEN, "room_after_lock", False)


def test_in_0_5_23_only_the_test_after_the_lock_is_made():
    desk = Desk(pool_tokens=20, rules=NEW)
    tried = desk.tried(desk.adder(), desk.matched(range(15), max_new=4))
    assert tried == (NO_TOKEN, "room_after_lock", False)


def test_a_refused_request_locks_nothing():
    desk = Desk(pool_tokens=20)
    desk.insert(range(10))
    desk.tried(desk.adder(), desk.matched(range(14), max_new=6))
    assert desk.account() == (10, 10, 0)


def test_an_admitted_request_locks_its_prefix():
    desk = Desk(pool_tokens=20)
    desk.insert(range(10))
    desk.tried(desk.adder(), desk.matched(range(12)))
    assert desk.account() == (10, 0, 10)


# --- what is promised


def test_running_requests_are_promised_a_share_of_what_they_may_still_write():
    desk = Desk()
    desk.decode(desk.run("a", [1, 2, 3], max_new=12))
    assert desk.adder(ratio=0.5).promised == (12 - 2) * 0.5


def test_a_running_request_is_promised_no_more_than_the_clip():
    desk = Desk(clip_max_new=4)
    desk.run("a", [1, 2, 3], max_new=12)
    assert desk.adder(ratio=0.5).promised == 4 * 0.5


@pytest.mark.parametrize(("rules", "share"), [(Rules.v0_5_14(), 0.5), (NEW, 1.0)])
def test_only_in_0_5_23_is_all_promised_to_who_ignores_eos(rules, share):
    desk = Desk(rules=rules)
    desk.arrive("a", [1, 2, 3], 11, ignore_eos=True)
    desk.round()
    assert desk.adder(ratio=0.5).promised == 10 * share


def test_promises_leave_less_room():
    desk = Desk(pool_tokens=20)
    desk.run("a", [1, 2, 3], max_new=9)
    adder = desk.adder(ratio=0.5)
    assert (adder.rem_total, adder.cur_rem) == (17 - 4, 17)


def test_an_admitted_request_is_charged_its_input_its_outputs_and_a_page():
    desk = Desk(pool_tokens=64, page_size=8)
    adder = desk.adder()
    adder.add_one(desk.matched(range(10), max_new=5))
    assert (adder.rem_total, adder.cur_rem) == (64 - 16 - 5 - 8, 64 - 16 - 8)
    assert adder.rem_input == 16384 - 16


def test_the_charge_counts_all_outputs_where_the_test_counts_those_to_come():
    desk = Desk(pool_tokens=64)
    adder = desk.adder()
    adder.add_one(desk.matched(range(10), max_new=5, outputs=[7, 7]))
    assert adder.rem_total == 64 - 12 - 5 - 1


def test_the_terms_that_decided_are_told():
    desk = Desk(pool_tokens=20)
    desk.insert(range(100, 106))
    desk.tried(desk.adder(), desk.matched(range(15), max_new=4))
    told = desk.events(ev.Admit)[-1]
    assert (told.extend, told.max_new, told.page) == (15, 4, 1)
    assert (told.available, told.evictable, told.promised) == (14, 6, 0)


# --- the host


def with_host_hit(size: int = 12, **knobs: object) -> Desk:
    """Return a desk on which range(size) lies on the host alone."""
    desk = Desk(**{"tree": "hiradix", "host_tokens": 128, **knobs})
    desk.insert(range(size))
    desk.ack_write()
    desk.cache.evict(size)
    return desk


def test_host_hits_are_charged_as_new_tokens():
    desk = with_host_hit(pool_tokens=20)
    tried = desk.tried(desk.adder(), desk.matched(range(15), max_new=4))
    assert tried == (NO_TOKEN, "room", False)


def test_an_admitted_request_brings_its_host_hit_home():
    desk = with_host_hit()
    request = desk.matched(range(15))
    desk.adder().add_one(request)
    assert (request.prefix_len, request.extend_len) == (12, 3)
    assert request.owned_len == 12
    assert request.node is desk.node(range(12))


def test_what_was_loaded_is_not_charged_again():
    desk = with_host_hit()
    adder = desk.adder()
    adder.add_one(desk.matched(range(15), max_new=4))
    assert (adder.rem_input, adder.rem_total) == (16384 - 3, 64 - 12 - 3 - 4 - 1)


def test_a_host_hit_that_is_not_worth_loading_is_computed():
    desk = with_host_hit(size=9)
    request = desk.matched(range(15))
    assert desk.tried(desk.adder(), request) == (CONTINUE, "admitted", True)
    assert (request.prefix_len, request.extend_len) == (0, 15)


def test_a_refused_request_is_not_loaded():
    desk = with_host_hit(pool_tokens=20)
    desk.adder().add_one(desk.matched(range(15), max_new=4))
    assert desk.events(ev.LoadBack) == []


def test_what_the_host_has_is_no_input():
    desk = with_host_hit(max_prefill_tokens=6)
    adder = desk.adder()
    adder.add_one(desk.matched([50]))
    assert desk.tried(adder, desk.matched(range(16))) == (CONTINUE, "admitted", True)


# --- the input budget, where prefill is not chunked


def test_the_first_request_may_exceed_the_input_budget():
    desk = Desk(max_prefill_tokens=4)
    assert desk.tried(desk.adder(), desk.matched(range(10))) == (
        OTHER,
        "admitted",
        True,
    )


@pytest.mark.parametrize(("size", "line"), [(6, "input_budget"), (5, "admitted")])
def test_a_later_request_must_stay_below_what_is_left_of_it(size, line):
    desk = Desk(max_prefill_tokens=10)
    adder = desk.adder()
    adder.add_one(desk.matched(range(100, 104)))
    answer, said, _ = desk.tried(adder, desk.matched(range(size)))
    assert (answer, said) == (OTHER if size == 6 else CONTINUE, line)


def test_input_is_counted_in_whole_pages():
    desk = Desk(max_prefill_tokens=24, page_size=8)
    adder = desk.adder()
    adder.add_one(desk.matched(range(100, 108)))
    assert desk.tried(adder, desk.matched(range(9)))[1] == "input_budget"


def test_a_host_hit_that_was_not_loaded_is_input_after_all():
    desk = with_host_hit(size=9, max_prefill_tokens=10)
    adder = desk.adder()
    adder.add_one(desk.matched([50]))
    assert desk.tried(adder, desk.matched(range(10))) == (OTHER, "input_budget", False)


def test_in_0_5_23_a_load_that_did_not_come_is_tested_for_room_again():
    desk = with_host_hit(size=9, rules=NEW, pool_tokens=20)
    tried = desk.tried(desk.adder(), desk.matched(range(12), max_new=4))
    assert tried == (CONTINUE, "admitted", True)
    told = [event.verdict for event in desk.events(ev.LoadBack)]
    assert told == ["below_threshold"]


# --- chunks


def test_what_exceeds_the_chunk_is_cut_to_it():
    desk = Desk(chunked_prefill_size=8)
    adder, request = desk.adder(), desk.matched(range(20))
    assert desk.tried(adder, request) == (OTHER, "admitted", True)
    assert (request.extend_len, adder.chunked) == (8, request)


def test_a_chunk_reserves_no_outputs():
    desk = Desk(chunked_prefill_size=8)
    adder = desk.adder()
    adder.add_one(desk.matched(range(20), max_new=9))
    assert adder.rem_total == 64 - 8 - 1


def test_what_fits_the_chunk_exactly_is_not_cut():
    desk = Desk(chunked_prefill_size=8)
    adder = desk.adder()
    adder.add_one(desk.matched(range(8), max_new=9))
    assert (adder.chunked, adder.rem_total) == (None, 64 - 8 - 9 - 1)


def test_what_fits_the_chunk_but_for_its_partial_page_is_not_cut():
    desk = Desk(chunked_prefill_size=16, page_size=8)
    adder, request = desk.adder(), desk.matched(range(15))
    adder.add_one(request)
    assert (adder.chunked, request.extend_len) == (None, 15)


def test_a_chunk_is_cut_to_whole_pages():
    desk = Desk(chunked_prefill_size=16, page_size=8)
    adder = desk.adder()
    adder.add_one(desk.matched(range(100, 104)))
    request = desk.matched(range(20))
    adder.add_one(request)
    assert (request.extend_len, adder.rem_chunk) == (8, 0)


def test_less_than_a_page_of_chunk_is_too_little():
    desk = Desk(chunked_prefill_size=16, page_size=8)
    adder = desk.adder()
    adder.rem_chunk = 7
    tried = desk.tried(adder, desk.matched(range(20)))
    assert tried == (OTHER, "chunk_budget", False)


def test_where_prefill_is_chunked_the_input_budget_refuses_nobody():
    desk = Desk(chunked_prefill_size=20, max_prefill_tokens=10)
    adder = desk.adder()
    adder.add_one(desk.matched([50]))
    assert desk.tried(adder, desk.matched(range(12)))[1] == "admitted"


# --- going on with a chunked request


def continued(desk: Desk, size: int, done: int, max_new: int = 4):
    """Return an adder and a request of which `done` tokens are computed."""
    request = desk.matched(range(size), max_new)
    request.prefix_len, request.fill_len = done, size
    return desk.adder(), request


def test_the_rest_goes_on_up_to_the_chunk():
    adder, request = continued(Desk(chunked_prefill_size=8), 20, 8)
    assert adder.add_chunked(request) is request
    assert (request.extend_len, adder.rem_chunk) == (8, 0)


def test_the_last_chunk_finishes_it_and_reserves_its_outputs():
    adder, request = continued(Desk(chunked_prefill_size=8), 13, 8, max_new=9)
    assert adder.add_chunked(request) is None
    assert (request.extend_len, adder.rem_total) == (5, 64 - 5 - 9 - 1)


def test_a_rest_of_exactly_a_chunk_is_the_last():
    adder, request = continued(Desk(chunked_prefill_size=8), 16, 8)
    assert adder.add_chunked(request) is None


def test_a_middle_chunk_reserves_no_outputs():
    adder, request = continued(Desk(chunked_prefill_size=8), 20, 8, max_new=9)
    adder.add_chunked(request)
    assert adder.rem_total == 64 - 8 - 1


def test_a_continuation_is_not_cut_to_pages_so_the_chunk_budget_goes_below_0():
    desk = Desk(page_size=8, chunked_prefill_size=20)
    adder, request = continued(desk, 40, 8)
    adder.add_chunked(request)
    assert (request.extend_len, adder.rem_chunk) == (20, -4)


def test_a_continuation_takes_no_more_than_there_is_room_for():
    desk = Desk(chunked_prefill_size=32)
    desk.insert(range(100, 150))
    desk.lock(range(100, 150))
    adder, request = continued(desk, 40, 8)
    assert adder.add_chunked(request) is request
    assert request.extend_len == 14


def test_a_continuation_must_progress_even_without_room():
    desk = Desk(chunked_prefill_size=8)
    desk.insert(range(100, 164))
    desk.lock(range(100, 164))
    adder, request = continued(desk, 40, 8)
    adder.add_chunked(request)
    assert request.extend_len == 8


# --- what the answer says of the next one


def test_the_last_one_admitted_may_close_the_round():
    desk = Desk(pool_tokens=20)
    request = desk.matched(range(13), max_new=5, outputs=[7])
    assert desk.tried(desk.adder(), request) == (NO_TOKEN, "admitted", True)


@pytest.mark.parametrize(
    ("budget", "answer"),
    [
        ({}, CONTINUE),
        ({"promised": 64}, NO_TOKEN),
        ({"charged": 64}, NO_TOKEN),
        ({"rem_input": 0}, OTHER),
        ({"rem_chunk": 0}, OTHER),
        ({"rem_chunk": 1, "rem_input": 1, "promised": 63, "charged": 63}, CONTINUE),
        ({"promised": 64, "rem_input": 0}, NO_TOKEN),
    ],
)
def test_a_spent_budget_ends_the_round(budget, answer):
    adder = Desk(chunked_prefill_size=8).adder()
    for name, value in budget.items():
        setattr(adder, name, value)
    assert adder.budget_state() is answer
