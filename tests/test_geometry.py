"""Are sizes cut and rounded to whole pages?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kvlab.geometry import (
    ceil_page,
    floor_page,
    heads_width,
    host_size,
    latent_width,
    pool_bytes,
)

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


def test_a_pool_of_llama_3_8b_takes_128_kib_a_token():
    assert pool_bytes(1000, 32, heads_width(8, 128), 2) == 1000 * 128 * 1024


def test_a_token_of_deepseek_v3_takes_70272_bytes_whatever_its_heads():
    assert pool_bytes(1, 61, latent_width(512, 64), 2) == 70_272
