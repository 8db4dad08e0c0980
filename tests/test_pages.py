"""Do lists of pages survive cutting, joining, and the free queue?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlab.pages import (
    NO_PAGES,
    FreeList,
    as_pages,
    from_runs,
    join,
    slots_of,
    to_runs,
)

NUMBERS = st.lists(st.integers(0, 40))


def test_a_list_of_pages_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        as_pages([1, 2])[0] = 9


def test_a_part_of_a_list_cannot_be_written_to_either():
    with pytest.raises(ValueError, match="read-only"):
        as_pages([1, 2])[1:][0] = 9


def test_joining_nothing_gives_no_pages():
    assert join([]) is NO_PAGES


def test_joining_one_list_copies_nothing():
    pages = as_pages([1, 2])
    assert join([pages]) is pages


def test_lists_are_joined_in_order():
    assert join([as_pages([3]), NO_PAGES, as_pages([1, 2])]).tolist() == [3, 1, 2]


@given(NUMBERS, st.sampled_from([1, 2, 16]))
def test_the_slots_of_pages_come_page_by_page(numbers, page):
    slots = slots_of(as_pages(numbers), page).tolist()
    assert slots == [n * page + i for n in numbers for i in range(page)]


@given(NUMBERS)
def test_runs_give_back_the_numbers(numbers):
    assert from_runs(to_runs(as_pages(numbers))).tolist() == numbers


def test_a_run_is_a_stretch_of_neighbours_in_rising_order():
    assert to_runs(as_pages([4, 5, 6, 5, 4])) == [(4, 3), 5, 4]


def test_numbers_from_runs_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        from_runs([(4, 3)])[0] = 9


# --- the free queue


def test_the_head_of_the_queue_is_taken_first():
    assert FreeList.of_range(1, 6).take(2).tolist() == [1, 2]


def test_taking_too_many_gives_none_and_changes_nothing():
    free = FreeList.of_range(1, 4)
    assert free.take(4) is None
    assert free.to_pages().tolist() == [1, 2, 3]


def test_taking_none_gives_no_pages():
    assert FreeList.of_range(1, 4).take(0).tolist() == []


def test_an_empty_range_is_an_empty_queue():
    assert len(FreeList.of_range(3, 3)) == 0


def test_a_copy_goes_its_own_way():
    free = FreeList.of_range(0, 4)
    other = free.copy()
    other.take(3)
    other.put(as_pages([9]))
    assert free.to_pages().tolist() == [0, 1, 2, 3]


ACTS = st.lists(
    st.tuples(st.sampled_from(["take", "put", "put_first"]), st.integers(0, 5))
)


@given(ACTS)
def test_the_queue_equals_a_plain_list(acts):
    free, model, fresh = FreeList.of_range(0, 6), list(range(6)), 100
    for act, count in acts:
        if act == "take":
            taken = free.take(count)
            wanted = model[:count] if count <= len(model) else None
            assert (None if taken is None else taken.tolist()) == wanted
            model = model[count:] if wanted is not None else model
        else:
            pages = list(range(fresh, fresh + count))
            fresh += count
            getattr(free, act)(as_pages(pages))
            model = model + pages if act == "put" else pages + model
    assert free.to_pages().tolist() == model
    assert len(free) == len(model)


def test_pages_are_32_bit_numbers():
    assert join([as_pages([1]), as_pages([2])]).dtype == np.int32
