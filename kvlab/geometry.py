"""How large is what? Tokens, pages, and the host pool's own size rule.

Left out: bytes per token of named models (capacity, part of a later layer).
"""

from __future__ import annotations


def floor_page(num_tokens: int, page_size: int) -> int:
    """Return the tokens of the whole pages within `num_tokens`.

    >>> floor_page(35, 16)
    32
    """
    return num_tokens // page_size * page_size


def ceil_page(num_tokens: int, page_size: int) -> int:
    """Return the tokens of the pages that `num_tokens` need.

    >>> ceil_page(35, 16)
    48
    """
    return -(-num_tokens // page_size) * page_size


def host_size(device_tokens: int, ratio: float, page_size: int) -> int:
    """Return the host pool's tokens when only a ratio is given: one page more.

    Units: tokens. Source: SGLang 0.5.14, mem_cache/pool_host/base.py.

    >>> host_size(1_000_000, 2.0, 64)
    2000064
    """
    return (int(device_tokens * ratio) // page_size + 1) * page_size
