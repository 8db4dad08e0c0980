"""Do the lengths of a request tell where it stands?"""

from __future__ import annotations

import pytest

from kvlab.cache.key import as_tokens
from kvlab.schedule.request import Request


def request() -> Request:
    return Request("r", as_tokens([1, 2, 3]), 8, outputs=[7, 8])


def test_the_length_is_that_of_prompt_and_outputs():
    assert request().length == 5


@pytest.mark.parametrize("length", range(6))
def test_the_first_tokens_are_the_prompt_and_then_the_outputs(length):
    assert request().tokens(length).tolist() == [1, 2, 3, 7, 8][:length]


def test_a_prefill_computes_what_lies_beyond_the_prefix():
    some = request()
    some.prefix_len, some.fill_len = 2, 5
    assert some.extend_len == 3


def test_a_request_that_was_never_matched_has_no_node_to_lock():
    with pytest.raises(AssertionError, match="request r was never matched"):
        _ = request().node
