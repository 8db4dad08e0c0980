"""When do two prefixes agree?"""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlab.cache.key import WINDOW, as_tokens, branch, common_prefix, whole_pages
from kvlab.config import MAX_TOKENS
from kvlab.errors import InputError

SMALL = st.lists(st.integers(0, 2), max_size=20)


@pytest.mark.parametrize("bad", [-1, MAX_TOKENS + 1, 1.0, True, None, "a"])
def test_what_is_no_token_id_is_refused(bad):
    with pytest.raises(InputError) as refused:
        as_tokens([1, bad])
    assert str(refused.value) == f"tokens: {bad!r} is no token id; use 0 to 2147483647"


def test_the_largest_token_id_fits():
    assert as_tokens([0, MAX_TOKENS]).tolist() == [0, MAX_TOKENS]


def test_a_key_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        as_tokens([1, 2])[0] = 3


@pytest.mark.parametrize(("length", "kept"), [(0, 0), (3, 0), (4, 4), (7, 4), (8, 8)])
def test_a_key_is_cut_down_to_whole_pages(length, kept):
    assert len(whole_pages(as_tokens(range(length)), 4)) == kept


def test_a_branch_is_a_whole_page():
    here, other = as_tokens([1, 2, 3, 4]), as_tokens([3, 4])
    assert branch(here, 2, 2) == branch(other, 0, 2) != branch(here, 0, 2)


def test_pages_with_the_same_first_token_are_two_branches():
    assert branch(as_tokens([1, 2]), 0, 2) != branch(as_tokens([1, 3]), 0, 2)


@given(SMALL, SMALL)
def test_the_common_prefix_is_where_the_first_difference_stands(a, b):
    equal = 0
    while equal < min(len(a), len(b)) and a[equal] == b[equal]:
        equal += 1
    assert common_prefix(as_tokens(a), as_tokens(b)) == equal


LONG = 2 * WINDOW + 900


@pytest.mark.parametrize("at", [0, WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW, 33000])
def test_a_difference_is_found_in_every_window(at):
    a = as_tokens(range(LONG))
    b = as_tokens([*range(at), 77777, *range(at + 1, LONG)])
    assert common_prefix(a, b) == at


def test_equal_long_keys_agree_to_the_end():
    assert common_prefix(as_tokens(range(LONG)), as_tokens(range(33333))) == 33333


def test_long_keys_that_differ_early_cost_a_window_not_their_length():
    a, b = np.zeros(50 * WINDOW, np.int32), np.zeros(50 * WINDOW, np.int32)
    b[1] = 1
    tracemalloc.start()
    try:
        assert common_prefix(a, b) == 1
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 4 * 4 * WINDOW
