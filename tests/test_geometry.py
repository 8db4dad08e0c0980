"""Are sizes cut and rounded to whole pages?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kvlab.geometry import ceil_page, floor_page, host_size

TOKENS = st.integers(0, 10**6)
PAGES = st.sampled_from([1, 2, 16, 64])


@given(TOKENS, PAGES)
def test_floor_is_the_largest_number_of_whole_pages_within(tokens, page):
    floor = floor_page(tokens, page)
    assert floor % page == 0
    assert floor <= tokens < floor + page


@given(TOKENS, PAGES)
def test_ceil_is_the_smallest_number_of_whole_pages_around(tokens, page):
    ceil = ceil_page(tokens, page)
    assert ceil % page == 0
    assert ceil - page < tokens <= ceil


def test_a_negative_size_is_rounded_down_by_floor_and_up_by_ceil():
    assert (floor_page(-3, 16), ceil_page(-3, 16)) == (-16, 0)


@given(TOKENS, st.floats(0.1, 8), PAGES)
def test_the_host_pool_has_one_page_more_than_the_ratio_says(tokens, ratio, page):
    size = host_size(tokens, ratio, page)
    assert size == floor_page(int(tokens * ratio), page) + page
