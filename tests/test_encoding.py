"""Are the bytes that a block's name hashes those of pickle and CBOR?"""

from __future__ import annotations

import pickle

import cbor2
import numpy as np
import pytest

from kvlab.blocks.encoding import block_pieces, can_write, writer
from kvlab.blocks.hashing import Extras, Hasher

EDGES = [0, 1, 23, 24, 127, 128, 255, 256, 65535, 65536, 2**31 - 1]


def tokens(count: int, seed: int) -> np.ndarray:
    """Return numbers of every width, the edges of each among them."""
    dice = np.random.default_rng(seed)
    wide = dice.integers(0, 32, count)
    values = dice.integers(0, 2**31, count) >> wide
    values[:: max(count // 40, 1)] = dice.choice(
        EDGES, len(values[:: max(count // 40, 1)])
    )
    return values


@pytest.mark.parametrize("size", [4, 16, 23, 24, 255, 256, 512, 4096])
@pytest.mark.parametrize("parent_len", [16, 32])
def test_the_bytes_are_the_serializers(size, parent_len):
    values, parent = tokens(3 * size, size), bytes(range(parent_len))
    assert can_write("pickle", size, values)
    for at in range(3):
        content = tuple(values[at * size : (at + 1) * size].tolist())
        whole = (parent, content, None)
        for style, want in (("pickle", pickle.dumps(whole, protocol=5)),
                            ("cbor", cbor2.dumps(whole, canonical=True))):  # fmt: skip
            piece = block_pieces(values, size, style)[at]
            assert writer(style, size, parent_len)(parent, piece) == want


@pytest.mark.parametrize("style", ["pickle", "cbor"])
def test_where_all_are_wide_the_bytes_are_the_same(style):
    values = tokens(64, 3) | 1 << 16
    narrow = np.concatenate((values, [5] * 4))
    assert block_pieces(values, 4, style) == block_pieces(narrow, 4, style)[:-1]


@pytest.mark.parametrize("algo", ["sha256", "sha256_cbor", "xxhash", "xxhash_cbor"])
def test_a_prompt_has_the_names_that_its_blocks_have_one_by_one(algo):
    values = tokens(16 * 40, 7)
    hasher, names = Hasher(algo, 16), []
    for end in range(16, len(values) + 1, 16):
        names += hasher.extend(names, values[:end].tolist())
    assert hasher.extend([], values) == names
    assert hasher.extend(names[:5], values.tolist()) == names[5:]


@pytest.mark.parametrize(
    ("size", "values"),
    [(3, [1] * 9), (4, [-1] + [5] * 7), (4, [2**31] * 8), (40_000, [1] * 40_000)],
)
def test_what_the_serializer_writes_otherwise_is_left_to_it(size, values):
    assert not can_write("pickle", size, np.array(values, np.int64))


@pytest.mark.parametrize("values", [[-7] * 64, [2**40] * 64, list(range(64))])
def test_numbers_of_any_size_have_the_names_of_the_serializer(values):
    hasher, names = Hasher("sha256", 4), []
    for end in range(4, 65, 4):
        names += hasher.extend(names, values[:end])
    assert hasher.extend([], values) == names


def test_extra_keys_enter_every_name_as_before():
    extras = Extras(lora=("a", "b"))
    one, many = Hasher("sha256", 4), []
    for end in range(4, 65, 4):
        many += one.extend(many, list(range(end)), extras)
    assert one.extend([], list(range(64)), extras) == many
    assert many != one.extend([], list(range(64)))
