"""How large is what? Tokens, pages, bytes, and the host pool's own size rule.

Left out: bytes per token of named models (models.py, capacity.py).
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


def heads_width(kv_heads: int, head_dim: int) -> int:
    """Return the elements that one layer keeps of one token: K and V of every KV head.

    >>> heads_width(8, 128)
    2048
    """
    return 2 * kv_heads * head_dim


def latent_width(rank: int, rope_dim: int) -> int:
    """Return the elements that one MLA layer keeps of one token: the latent, and the
    part of the key that carries the position.

    >>> latent_width(512, 64)
    576
    """
    return rank + rope_dim


def pool_bytes(tokens: int, layers: int, width: int, element: int) -> int:
    """Return the bytes of a pool: tokens x layers x width x bytes an element.

    >>> pool_bytes(1, 32, heads_width(8, 128), 2)
    131072
    """
    return tokens * layers * width * element
