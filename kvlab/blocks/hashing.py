"""Which name does a block's content have?

A full block is named by a hash of three things: the name of the block before it, its
own tokens, and extra keys for whatever else shapes its KV. So a name stands for the
whole prefix, and equal names mean equal KV:

        NONE --> h0 = H(NONE, t0..t3, extra) --> h1 = H(h0, t4..t7, extra) --> ...

`chain64` is kvlab's own, for long replays: the same chain as 64-bit sums, all blocks
of a prompt at once. It is no cryptographic hash, and no engine's names.
Left out: where named blocks lie (block_pool.py).
Source: vLLM 0.33.0, v1/core/kv_cache_utils.py and utils/hashing.py.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from typing import NamedTuple

import cbor2
import numpy as np
import xxhash
from numpy.typing import NDArray

from ..block_config import HashAlgo
from .encoding import Style, block_pieces, can_write, writer

BlockHash = bytes
ExtraKeys = tuple[tuple[object, ...], ...] | None
Tokens = Sequence[int] | NDArray[np.int32]

SEED = "vllm-none-hash"
"""What vLLM hashes for the block before the first, unless PYTHONHASHSEED is set. Its
xxhash variants start from random bytes instead; here they do not, so that runs repeat.
"""


class MmItem(NamedTuple):
    """A picture or sound in the prompt: whose tokens are placeholders, so its id must
    enter the name. Units: tokens."""

    id: str
    offset: int
    length: int


class Extras(NamedTuple):
    """What besides tokens shapes a request's KV.

    `embeds` holds one digest a block for prompts given as embeddings.
    """

    lora: tuple[str, str] | None = None
    items: tuple[MmItem, ...] = ()
    cache_salt: str | None = None
    embeds: tuple[bytes, ...] = ()

    def keys(self, block: int, block_size: int) -> ExtraKeys:
        """Return the extra keys of block number `block`; None if there are none.

        The salt enters the first block alone and reaches the others by the chain. The
        offset of an item counts from the block's start (no recorded state shows it).

        >>> Extras(cache_salt="tenant").keys(0, 4), Extras(cache_salt="t").keys(1, 4)
        ((('cache_salt', 'tenant'),), None)
        """
        start = block * block_size
        found: list[tuple[object, ...]] = []
        if self.lora is not None:
            found.append(("lora", *self.lora))
        for item in self.items:
            if item.offset < start + block_size and start < item.offset + item.length:
                found.append(("mm", item.id, item.offset - start))
        if self.cache_salt is not None and block == 0:
            found.append(("cache_salt", self.cache_salt))
        if block < len(self.embeds):
            found.append(("prompt_embeds", self.embeds[block]))
        return tuple(found) or None


NO_EXTRAS = Extras()

_ANY = np.uint64(0x9E3779B97F4A7C15)
"""What every block contributes to its chain64 name, whatever its tokens are."""

_MANY = 4
"""Blocks from which on numpy is quicker than the serializer."""


class Hasher:
    """Names the full blocks of a token list, as one of vLLM's algorithms does.

    >>> hasher = Hasher("sha256_cbor", 4)
    >>> [name.hex()[:8] for name in hasher.extend([], [1, 2, 3, 4, 5, 6, 7, 8, 9])]
    ['58d0879d', 'e1bc2939']
    """

    def __init__(self, algo: HashAlgo, block_size: int, seed: str = SEED) -> None:
        self.block_size = block_size
        self._chain = algo == "chain64"
        self._style: Style = "cbor" if algo.endswith("cbor") else "pickle"
        self._serialize = _cbor if self._style == "cbor" else _pickled
        self._hash = _sha256 if algo.startswith("sha256") else xxhash.xxh3_128_digest
        self.none_hash: BlockHash = self._digest(seed)
        self._write = writer(self._style, block_size, len(self.none_hash))
        self._weights = _odd_numbers(block_size, seed=1)
        self._places = _odd_numbers(64, seed=2)

    def extend(
        self, known: Sequence[BlockHash], tokens: Tokens, extras: Extras = NO_EXTRAS
    ) -> list[BlockHash]:
        """Return the names of the full blocks behind the `known` first ones.

        `tokens` is the whole list, from its start. Cost: O(tokens not yet named).
        """
        size, first = self.block_size, len(known)
        last = len(tokens) // size
        if first >= last:
            return []
        if self._chain:
            return self._sums(known, tokens, last, extras)
        if extras is NO_EXTRAS and last - first >= _MANY:
            fresh = np.asarray(tokens[first * size : last * size], np.int64)
            if can_write(self._style, size, fresh):
                return self._hashed(known, fresh)
        parent, names = known[-1] if known else self.none_hash, list[BlockHash]()
        plain = tokens.tolist() if isinstance(tokens, np.ndarray) else tokens
        for block in range(first, last):
            content = tuple(plain[block * size : (block + 1) * size])
            parent = self._digest((parent, content, extras.keys(block, size)))
            names.append(parent)
        return names

    def _digest(self, value: object) -> bytes:
        return self._hash(self._serialize(value))

    def _hashed(
        self, known: Sequence[BlockHash], fresh: NDArray[np.int64]
    ) -> list[BlockHash]:
        """Name many blocks without extra keys: the same bytes, written by numpy."""
        parent, hash_ = known[-1] if known else self.none_hash, self._hash
        write, names = self._write, list[BlockHash]()
        for piece in block_pieces(fresh, self.block_size, self._style):
            parent = hash_(write(parent, piece))
            names.append(parent)
        return names

    def _sums(
        self, known: Sequence[BlockHash], tokens: Tokens, last: int, extras: Extras
    ) -> list[BlockHash]:
        """Name block k by the sum, mod 2^64, of what the blocks 0..k contribute."""
        first, size = len(known), self.block_size
        fresh = np.asarray(tokens[first * size : last * size], np.uint64)
        if last > len(self._places):
            self._places = _odd_numbers(2 * last, seed=2)
        parts = fresh.reshape(last - first, size) @ self._weights
        parts += _ANY  # a block of zeros is a block as well
        parts *= self._places[first:last]
        if extras is not NO_EXTRAS:
            for block in range(first, last):
                keys = extras.keys(block, size)
                if keys is not None:
                    parts[block - first : block - first + 1] += _word(
                        self._digest(keys)
                    )
        if known:
            parts[:1] += _word(known[-1])
        names: list[BlockHash] = np.add.accumulate(parts).view("V8").tolist()
        return names


class Numbers(dict[BlockHash, int]):
    """Numbers names in the order in which they are told first, from 1 on.

    In a trace they stand for names that nobody could look up anywhere, chain64's, and
    lie in a third of the room: what is told together has numbers that follow.

    >>> numbers = Numbers()
    >>> [numbers.tell(name) for name in (b"a", b"b", b"a")]
    [1, 2, 1]
    """

    def tell(self, name: BlockHash) -> int:
        """Return the name's number. Changes: this record, for a name that is new."""
        return self.setdefault(name, len(self) + 1)


def short_name(name: BlockHash) -> int:
    """Return a name's first 48 bits, enough to tell blocks apart in a trace."""
    return int.from_bytes(name[:6])


def _odd_numbers(count: int, seed: int) -> NDArray[np.uint64]:
    """Return the first `count` of a fixed row of random odd 64-bit numbers."""
    bits = np.random.default_rng(seed).integers(0, 2**63, count, np.uint64)
    return bits * np.uint64(2) + np.uint64(1)


def _word(digest: bytes) -> NDArray[np.uint64]:
    return np.frombuffer(digest[:8], np.uint64)


def _pickled(value: object) -> bytes:
    return pickle.dumps(value, protocol=5)


def _cbor(value: object) -> bytes:
    return cbor2.dumps(value, canonical=True)


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
