"""What is a prefix, and when do two of them agree?

A key is an int32 array of token ids, never written to and cut to whole pages; a
namespace (SGLang's `extra_key`) keeps equal tokens of different tenants apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from ..config import MAX_TOKENS
from ..errors import InputError
from ..record.events import Tokens

WINDOW = 1 << 14
"""Tokens that are compared at once: copies so small are not asked of the system."""


def as_tokens(ids: Iterable[int]) -> Tokens:
    """Return the ids as a key.

    Raises: InputError if an id is not an integer from 0 to 2^31 - 1.
    """
    listed = list(ids)
    for i in listed:
        if type(i) is not int or not 0 <= i <= MAX_TOKENS:
            raise InputError(
                "tokens", f"{i!r} is no token id", f"use 0 to {MAX_TOKENS}"
            )
    tokens = np.array(listed, np.int32)
    tokens.flags.writeable = False
    return tokens


def whole_pages(tokens: Tokens, page_size: int) -> Tokens:
    """Return the tokens of the whole pages; a view, no copy."""
    spare = len(tokens) % page_size
    return tokens[: len(tokens) - spare] if spare else tokens


def branch(tokens: Tokens, at: int, page_size: int) -> Hashable:
    """Return what a parent files a child under: the page that begins at `at`."""
    if page_size == 1:
        return tokens.item(at)
    return tokens[at : at + page_size].tobytes()


def common_prefix(a: Tokens, b: Tokens) -> int:
    """Return how many leading tokens agree. Cost: O(answer), in windows.

    >>> common_prefix(as_tokens([1, 2, 3]), as_tokens([1, 2, 9, 9]))
    2
    """
    at, n = 0, min(len(a), len(b))
    while at < n:
        end = min(at + WINDOW, n)
        here, there = a[at:end], b[at:end]
        if here.tobytes() != there.tobytes():  # mostly they agree: the quick test
            return at + int((here != there).argmax())
        at = end
    return n
