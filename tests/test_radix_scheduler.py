"""Who runs, who waits, and who gives way?"""

from __future__ import annotations

import pytest
from desk import Desk

from kvlab.errors import EngineFault
from kvlab.record import events as ev
from kvlab.rules import Rules
from kvlab.schedule.request import Request

NEW = Rules.v0_5_23()


# --- a match


def test_a_request_matches_all_but_its_last_token():
    desk = Desk()
    desk.insert(range(8))
    assert desk.matched(range(8)).prefix_len == 7


def test_a_request_with_outputs_matches_them_too():
    desk = Desk()
    desk.insert([1, 2, 3, 7, 7])
    assert desk.matched([1, 2, 3], outputs=[7, 7, 7]).prefix_len == 5


# --- a prefill round


def test_requests_are_served_first_come_first_served():
    desk = Desk()
    for id in "abc":
        desk.arrive(id, [1, 2, 3])
    assert desk.round() == ["a", "b", "c"]
    assert desk.scheduler.waiting == []


def test_the_round_stops_at_the_first_that_must_wait():
    desk = Desk(pool_tokens=20)
    desk.arrive("a", range(100, 105))
    desk.arrive("b", range(200, 215))
    desk.arrive("c", [1])
    assert desk.round() == ["a"]
    assert [request.id for request in desk.scheduler.waiting] == ["b", "c"]


def test_an_empty_queue_runs_nobody():
    assert Desk().round() == []


def test_a_prefill_writes_what_its_tokens_say():
    desk = Desk(page_size=4)
    desk.insert(range(8))
    assert desk.holds_its_tokens(desk.run("a", range(10)))


def test_a_prefill_gives_the_first_output():
    assert Desk().run("a", [1, 2, 3]).outputs == [7]


def test_a_request_that_wants_one_output_finishes_at_prefill():
    desk = Desk()
    desk.arrive("a", [1, 2, 3], max_new=1)
    ran, finished = desk.scheduler.prefill_round(lambda request: 7)
    assert ran == finished
    assert desk.scheduler.running == []
    assert desk.account() == (61, 3, 0)


def test_room_is_made_for_a_whole_batch_at_once():
    desk = Desk(pool_tokens=20)
    desk.insert(range(100, 118))
    desk.arrive("a", [1, 2], max_new=1)
    desk.arrive("b", [3, 4, 5], max_new=1)
    desk.round()
    (room,) = desk.events(ev.MakeRoom)[-1:]
    assert room.need == 5


@pytest.mark.parametrize("page", [2, 4])
def test_paged_room_is_a_page_more_for_each_request(page):
    desk = Desk(pool_tokens=32, page_size=page)
    desk.insert(range(100, 128))
    desk.arrive("a", [1, 2], max_new=1)
    desk.arrive("b", [3, 4, 5], max_new=1)
    desk.round()
    (room,) = desk.events(ev.MakeRoom)[-1:]
    assert room.need == 5 + 2 * page


def test_a_prefill_that_takes_all_pages_at_hand_sorts_none():
    """Pages of one token: no more is foreseen than is taken."""
    desk = Desk(pool_tokens=8, need_sort=True)
    desk.insert(range(100, 103))
    desk.cache.evict(3)
    desk.run("a", range(5), max_new=1)
    assert desk.events(ev.SortFree) == []


def test_a_batch_that_was_promised_too_much_is_the_engines_fault():
    desk = Desk(pool_tokens=8)
    request = desk.matched(range(9))
    with pytest.raises(EngineFault, match="needs 9 pages, 8 are free; raise pool_tok"):
        desk.scheduler.place([request])


def test_what_the_host_has_is_loaded_before_the_prefill_runs():
    desk = Desk(tree="hiradix", host_tokens=128)
    desk.insert(range(12))
    desk.ack_write()
    desk.cache.evict(12)
    desk.run("a", range(15))
    (prefill,) = desk.events(ev.Prefill)
    assert (prefill.device_hit, prefill.host_hit) == (0, 12)
    assert (prefill.loaded, prefill.extend) == (12, 3)
    assert desk.link.pending("load") == 1


def test_what_was_loaded_stands_in_the_requests_row():
    desk = Desk(tree="hiradix", host_tokens=128)
    desk.insert(range(12))
    desk.ack_write()
    desk.cache.evict(12)
    request = desk.run("a", range(15))
    desk.ack_load()
    assert desk.holds_its_tokens(request)


# --- chunks


def chunked(size: int = 20, **knobs: object) -> tuple[Desk, Request]:
    desk = Desk(**{"chunked_prefill_size": 8, **knobs})
    return desk, desk.arrive("a", range(size))


def test_a_long_prompt_runs_chunk_by_chunk():
    desk, request = chunked()
    lengths = [desk.round() and request.kv_len for _ in range(3)]
    assert lengths == [8, 16, 20]
    assert desk.holds_its_tokens(request)


def test_a_chunk_that_ends_inside_a_page_goes_on_there():
    desk, request = chunked(page_size=4, chunked_prefill_size=6)
    lengths = [desk.round() and request.kv_len for _ in range(4)]
    assert lengths == [4, 10, 16, 20]
    assert desk.holds_its_tokens(request)


def test_only_the_last_chunk_gives_an_output():
    desk, request = chunked()
    outputs = [desk.round() and list(request.outputs) for _ in range(3)]
    assert outputs == [[], [], [7]]


def test_a_chunk_is_shared_before_the_next_runs():
    desk, request = chunked()
    desk.round()
    desk.round()
    assert request.owned_len == 8


def test_the_chunked_request_goes_before_those_that_wait():
    desk, _ = chunked(size=12)
    desk.round()
    desk.arrive("b", [50])
    assert desk.round() == ["a", "b"]


def test_a_request_that_is_chunked_does_not_decode_yet():
    desk, request = chunked()
    desk.round()
    assert desk.scheduler.running == []
    assert desk.scheduler.chunked is request


@pytest.mark.parametrize(
    ("rules", "matches", "closed"),
    [(Rules.v0_5_14(), 1, []), (NEW, 0, [("b", 16384 - 8, 0)])],
)
def test_only_0_5_14_tries_a_request_when_the_chunk_is_spent(rules, matches, closed):
    desk, _ = chunked(rules=rules)
    desk.round()
    desk.arrive("b", [50])
    before = len(desk.events(ev.Admit))
    desk.round()
    assert len(desk.events(ev.Admit)) == before + matches
    told = desk.events(ev.CloseRound)
    assert [(e.request, e.rem_input, e.rem_chunk) for e in told] == closed


# --- decode


def test_a_decode_writes_the_token_before_and_appends_the_next():
    desk = Desk()
    request = desk.run("a", [1, 2, 3])
    desk.decode(request)
    assert (request.kv_len, request.outputs) == (4, [7, 7])
    assert desk.holds_its_tokens(request)


def test_a_decode_takes_a_new_page_only_at_the_start_of_one():
    desk = Desk(page_size=4)
    request = desk.run("a", [1, 2, 3])
    free = []
    for _ in range(3):
        desk.decode(request)
        free.append(desk.cache.allocator.available)
    assert free == [60, 56, 56]


def test_a_decode_makes_room_for_a_page_though_it_needs_none():
    desk = Desk(pool_tokens=8, page_size=4, max_prefill_tokens=8)
    request = desk.matched([1, 2], max_new=1)
    desk.scheduler.place([request])
    desk.scheduler.output(request, 7)
    desk.scheduler.keep_running(request)
    desk.insert(range(100, 104))
    desk.decode(request)
    assert desk.paths() == {}


@pytest.mark.parametrize("page", [2, 4])
def test_a_decode_foresees_a_page_though_it_begins_none(page):
    desk = Desk(page_size=page, need_sort=True)
    request = desk.run("a", [1])
    rest = desk.cache.allocator.alloc(64 // page - 1)
    desk.cache.allocator.free(rest[::-1])
    desk.decode(request)
    assert len(desk.events(ev.SortFree)) == 1


def test_a_decode_without_room_gives_no_token():
    desk = Desk(pool_tokens=5)
    request = desk.matched([1, 2, 3, 4], max_new=4)
    desk.scheduler.place([request])
    desk.scheduler.output(request, 7)
    desk.scheduler.keep_running(request)
    assert desk.scheduler.decode(request, 7)
    assert not desk.scheduler.decode(request, 7)
    assert request.outputs == [7, 7]


def test_the_need_of_a_batch_is_a_page_for_each_that_begins_one():
    desk = Desk(page_size=4)
    at_page_end, inside = desk.run("a", range(4)), desk.run("b", range(100, 105))
    assert desk.scheduler.decode_need([at_page_end, inside]) == 4


def test_the_check_evicts_to_make_room():
    desk = Desk(pool_tokens=8)
    request = desk.run("a", [1, 2, 3], max_new=2)
    desk.insert(range(100, 105))
    assert desk.scheduler.check_decode_mem([request])
    assert desk.cache.allocator.available == 5


def test_a_finished_request_leaves_the_batch():
    desk = Desk()
    first, _ = desk.run("a", [1, 2]), desk.run("b", [3, 4])
    desk.scheduler.finish(first)
    assert [request.id for request in desk.scheduler.running] == ["b"]


# --- retraction


def crowd(*requests: tuple[str, int, int], spare: int = 0) -> Desk:
    """Return a desk with running requests of (id, prompt tokens, outputs), and no more
    than the spare slots left."""
    desk = Desk(pool_tokens=128)
    for number, (id, prompt, outputs) in enumerate(requests):
        first = 100 * number
        request = desk.run(id, range(first, first + prompt), max_new=40)
        desk.decode(request, outputs - 1)
    free = desk.cache.allocator.available - spare
    desk.insert(range(5000, 5000 + free))
    desk.lock(range(5000, 5000 + free))
    return desk


def ids(requests: list[Request]) -> list[str]:
    return [request.id for request in requests]


def test_who_has_written_least_gives_way_first():
    report = crowd(("a", 3, 3), ("b", 3, 1), ("c", 3, 2)).scheduler.prepare_decode()
    assert ids(report.retracted) == ["b"]


def test_of_those_the_longest_prompt_gives_way():
    report = crowd(("a", 3, 2), ("b", 5, 2), ("c", 4, 2)).scheduler.prepare_decode()
    assert ids(report.retracted) == ["b"]


def test_of_those_the_latest_in_the_batch_gives_way():
    report = crowd(("a", 3, 2), ("b", 3, 2), ("c", 3, 2)).scheduler.prepare_decode()
    assert ids(report.retracted) == ["c"]


def test_more_give_way_until_the_rest_fits():
    desk = crowd(("a", 3, 5), ("b", 3, 2), ("c", 3, 1), ("d", 3, 1))
    for request in desk.scheduler.running:
        desk.cache.inc_lock_ref(request.node)
    report = desk.scheduler.prepare_decode()
    assert ids(report.retracted) == ["d", "c", "b"]


def test_at_least_one_gives_way_though_the_rest_would_fit():
    desk = crowd(("a", 3, 2), ("b", 3, 1), spare=1)
    report = desk.scheduler.prepare_decode()
    assert (len(report.retracted), ids(desk.scheduler.running)) == (1, ["a"])


def test_a_retraction_tells_who_went_and_whether_the_rest_fits():
    desk = crowd(("a", 3, 2), ("b", 3, 1), spare=1)
    desk.scheduler.prepare_decode()
    asked = [(e.batch, e.need, e.available, e.fits) for e in desk.events(ev.DecodeRoom)]
    assert asked[:2] == [(2, 2, 1, False), (1, 1, 1 + 3, True)]
    (pick,) = desk.events(ev.PickRetract)
    assert (pick.request, pick.outputs, pick.prompt_len, pick.survivors) == (
        "b", 1, 3, 1,
    )  # fmt: skip


def test_nobody_gives_way_while_there_is_room():
    desk = Desk()
    desk.run("a", [1, 2, 3])
    report = desk.scheduler.prepare_decode()
    assert (report.fits, report.need, report.retracted) == (True, 1, [])


def test_the_last_one_is_aborted_if_it_cannot_fit():
    desk = crowd(("a", 3, 2))
    report = desk.scheduler.prepare_decode()
    assert (ids(report.aborted), report.retracted) == (["a"], [])
    assert desk.scheduler.running == []


def test_an_aborted_request_does_not_wait_again():
    desk = crowd(("a", 3, 2))
    desk.scheduler.prepare_decode()
    assert desk.scheduler.waiting == []


def retracted() -> tuple[Desk, Request]:
    """Return a desk on which b gave way to a, and left it room for twenty steps."""
    desk = crowd(("a", 3, 25), ("b", 4, 22))
    desk.arrive("waits", [9, 9])
    report = desk.scheduler.prepare_decode()
    return desk, report.retracted[0]


def test_who_gave_way_joins_the_tail_of_the_queue():
    desk, _ = retracted()
    assert ids(desk.scheduler.waiting) == ["waits", "b"]


def test_who_gave_way_keeps_its_outputs():
    _, request = retracted()
    assert request.outputs == [7] * 22


def test_who_gave_way_holds_no_slot_and_no_row():
    _, request = retracted()
    assert (request.row, request.kv_len, request.owned_len) == (None, 0, 0)


def test_the_prompt_of_who_gave_way_stays_cached_and_its_outputs_do_not():
    desk, _ = retracted()
    assert desk.match([*range(100, 104), 7, 7]).device_len == 4


def test_who_gave_way_inserts_nothing():
    desk = crowd(("a", 3, 25), ("b", 4, 22))
    before = len(desk.events(ev.Insert))
    desk.scheduler.prepare_decode()
    assert len(desk.events(ev.Insert)) == before


def test_who_gave_way_computes_prompt_and_outputs_again():
    desk, request = retracted()
    desk.scheduler.waiting = [request]
    desk.scheduler.match(request)
    assert (request.prefix_len, request.fill_len) == (4, 26)


def test_the_gain_is_what_became_free():
    desk = crowd(("a", 3, 25), ("b", 4, 22), spare=1)
    report = desk.scheduler.prepare_decode()
    assert (report.gained, desk.cache.allocator.available) == (21, 22)


def test_room_is_made_for_twenty_steps_of_each_survivor():
    desk = crowd(("a", 3, 5), ("b", 4, 3))
    desk.scheduler.prepare_decode()
    assert desk.events(ev.MakeRoom)[-1].need == 20
    assert desk.match(range(100, 104)).device_len == 0


def test_the_ratio_is_estimated_anew_from_the_survivors():
    desk = crowd(("a", 3, 5), ("b", 4, 3))
    desk.scheduler.prepare_decode()
    assert desk.scheduler.ratio == (5 + 20) / (40 + 1)


def test_without_retraction_the_ratio_stays():
    desk = Desk(new_token_ratio=0.5)
    desk.run("a", [1, 2, 3])
    desk.scheduler.prepare_decode()
    assert desk.scheduler.ratio == 0.5


def test_all_of_this_folds_and_keeps_the_laws():
    desk, _ = retracted()
    assert desk.unsound() == []
