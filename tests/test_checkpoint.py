"""What does the tree take over from a request, and what comes back?"""

from __future__ import annotations

import pytest
from bench import RULES
from desk import Desk

from kvlab.record import events as ev
from kvlab.rules import Rules

NEW = Rules.v0_5_23()


# --- a finished request


def test_a_finished_request_leaves_its_tokens_in_the_tree():
    desk = Desk()
    request = desk.run("a", [1, 2, 3])
    desk.decode(request)
    desk.scheduler.finish(request)
    assert sorted(desk.paths()) == [(1, 2, 3), (1, 2, 3, 7)]


def test_the_token_that_was_sampled_last_has_no_kv_to_leave():
    desk = Desk()
    request = desk.run("a", [1, 2, 3])
    desk.scheduler.finish(request)
    assert request.outputs == [7]
    assert desk.match([1, 2, 3, 7]).device_len == 3


def test_a_finished_request_holds_and_locks_nothing():
    desk = Desk()
    request = desk.run("a", [1, 2, 3])
    desk.decode(request)
    desk.scheduler.finish(request)
    assert desk.account() == (60, 4, 0)


def test_a_partial_page_is_freed_when_the_request_finishes():
    desk = Desk(page_size=4)
    request = desk.run("a", range(6))
    desk.scheduler.finish(request)
    assert desk.account() == (60, 4, 0)


def test_a_finished_request_gives_its_row_back():
    desk = Desk()
    row = desk.run("a", [1, 2, 3]).row
    desk.scheduler.finish(desk.scheduler.running[0])
    assert desk.run("b", [4, 5]).row == row


def test_what_somebody_else_cached_meanwhile_is_freed():
    desk = Desk()
    request = desk.run("a", [1, 2, 3])
    desk.decode(request, 2)
    desk.insert([1, 2, 3, 7, 7])
    desk.scheduler.finish(request)
    assert desk.account() == (59, 5, 0)


def test_without_insert_only_what_the_tree_owns_stays():
    desk = Desk()
    request = desk.run("a", [1, 2, 3])
    desk.decode(request, 2)
    desk.scheduler.finish(request, insert=False)
    assert sorted(desk.paths()) == [(1, 2, 3)]
    assert desk.account() == (61, 3, 0)


def test_without_insert_a_partial_page_is_freed_too():
    desk = Desk(page_size=4)
    request = desk.run("a", range(6))
    desk.scheduler.finish(request, insert=False)
    assert desk.account() == (60, 4, 0)


# --- a request that goes on


def test_a_running_requests_prompt_is_shared_at_once():
    desk = Desk()
    desk.run("a", [1, 2, 3])
    assert desk.match([1, 2, 3]).device_len == 3


def test_a_running_request_locks_its_prompt():
    desk = Desk()
    desk.run("a", [1, 2, 3])
    assert desk.account() == (61, 0, 3)


def test_a_running_request_moves_its_lock_from_the_prefix_that_it_matched():
    desk = Desk()
    desk.insert([1, 2])
    desk.run("a", [1, 2, 3])
    assert desk.node([1, 2]).lock_ref == desk.node([1, 2, 3]).lock_ref == 1


def test_decode_tokens_are_held_outside_the_tree():
    desk = Desk()
    desk.decode(desk.run("a", [1, 2, 3]), 2)
    assert desk.account() == (59, 0, 3)


def test_two_requests_with_the_same_prompt_end_up_on_the_same_pages():
    desk = Desk()
    first, second = desk.arrive("a", [1, 2, 3]), desk.arrive("b", [1, 2, 3])
    assert desk.round() == ["a", "b"]
    assert desk.row(first) == desk.row(second)
    assert desk.account() == (61, 0, 3)


def test_a_partial_page_stays_with_the_request():
    desk = Desk(page_size=4)
    request = desk.run("a", range(6))
    assert (request.owned_len, request.kv_len) == (4, 6)
    assert desk.account() == (56, 0, 4)
    assert desk.holds_its_tokens(request)


def test_the_tree_owns_what_was_inserted():
    assert Desk().run("a", [1, 2, 3]).owned_len == 3


# --- hits


def hits(desk: Desk) -> dict[tuple[int, ...], int]:
    return {path: node.hit_count for path, node in desk.paths().items()}


def lived(rules: Rules, prompt: tuple[int, ...] = (1, 2, 3), priority: int = 0) -> Desk:
    """Return a desk on which one request wrote two outputs and finished."""
    desk = Desk(rules=rules)
    request = desk.arrive("a", prompt, priority=priority)
    desk.round()
    desk.decode(request)
    desk.scheduler.finish(request)
    return desk


def test_in_0_5_14_one_request_counts_its_own_prompt_twice():
    assert hits(lived(RULES)) == {(1, 2, 3): 2, (1, 2, 3, 7): 1}


def test_in_0_5_23_one_request_counts_every_node_once():
    assert hits(lived(NEW)) == {(1, 2, 3): 1, (1, 2, 3, 7): 1}


def test_a_request_that_finishes_at_prefill_counts_once():
    desk = Desk()
    desk.run("a", [1, 2, 3], max_new=1)
    assert hits(desk) == {(1, 2, 3): 1}


def test_a_middle_chunk_counts_no_hit():
    desk = Desk(chunked_prefill_size=4)
    desk.arrive("a", range(10))
    desk.round()
    desk.round()
    assert hits(desk) == {(0, 1, 2, 3): 0}


def test_the_last_chunk_counts_the_whole_path():
    desk = Desk(chunked_prefill_size=4)
    desk.arrive("a", range(10))
    for _ in range(3):
        desk.round()
    assert list(hits(desk).values()) == [1, 1, 1]


# --- the prompt set apart


@pytest.mark.parametrize("prompt", [(1, 2, 3), (1,)])
@pytest.mark.parametrize(("rules", "raised"), [(RULES, 0), (NEW, 1)])
def test_what_a_request_leaves_has_its_priority_in_0_5_23_the_prompt_one_more(
    rules, raised, prompt
):
    desk = lived(rules, prompt, priority=5)
    assert desk.node(prompt).priority == 5 + raised
    assert desk.node([*prompt, 7]).priority == 5


def test_in_0_5_23_the_tree_is_cut_where_the_prompt_ends():
    desk = Desk(rules=NEW)
    request = desk.arrive("a", [1, 2, 3], outputs=[8, 9])
    desk.round()
    assert sorted(desk.paths()) == [(1, 2, 3), (1, 2, 3, 8, 9)]
    assert len(desk.events(ev.CutPrompt)) == 1
    assert desk.holds_its_tokens(request)


def test_in_0_5_14_a_prompt_is_not_set_apart():
    desk = Desk()
    desk.arrive("a", [1, 2, 3], outputs=[8, 9])
    desk.round()
    assert sorted(desk.paths()) == [(1, 2, 3, 8, 9)]
