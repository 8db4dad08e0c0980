"""Are blocks named as vLLM names them?"""

from __future__ import annotations

import hashlib
import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlab.blocks.hashing import Extras, Hasher, MmItem, short_name

TOKENS = [1, 2, 3, 4, 5, 6, 7, 8]
ALGOS = ["sha256", "sha256_cbor", "xxhash", "xxhash_cbor", "chain64"]
VECTORS = {
    "sha256_cbor": (
        "9bd96a485ad84efdafb72ee48a1d7a69bcead0f8f0433173941b276b9581eef0",
        "58d0879dff3800f65f8c5fd449d73048c0f7699dd238a03b84b146b151d55111",
        "e1bc29393a2da9fd798f35ff04d215f846aee6df4b803ce3d43b57df56b58fb1",
    ),
    "sha256": (
        "066b1e8987e027138e98701c46128929378935f9b6cd1549105ae6b4f0d71198",
        "52a7f141c60918f65779927090482b5a24adbe68c8613a211a1eb4e3edd9361a",
        "bee96bce54f5fcaba04c4a3fc2491b30b48e29dbbd38a327d41bc1f76b956dde",
    ),
}


@pytest.mark.parametrize("algo", VECTORS)
def test_names_are_those_of_the_recorded_engine(algo):
    hasher = Hasher(algo, 4)
    names = [name.hex() for name in hasher.extend([], TOKENS)]
    assert (hasher.none_hash.hex(), *names) == VECTORS[algo]


def test_a_name_is_the_hash_of_parent_tokens_and_extra_keys():
    hasher = Hasher("sha256", 4)
    content = (hasher.none_hash, (1, 2, 3, 4), None)
    expected = hashlib.sha256(pickle.dumps(content, protocol=5)).digest()
    assert hasher.extend([], TOKENS)[0] == expected


def test_a_salt_changes_every_name_of_the_chain():
    plain = Hasher("sha256_cbor", 4).extend([], TOKENS)
    salted = Hasher("sha256_cbor", 4).extend([], TOKENS, Extras(cache_salt="tenant"))
    assert salted[0].hex().startswith("bad43dbd")
    assert not set(plain) & set(salted)


def test_a_salt_is_a_key_of_the_first_block_alone():
    salted = Extras(cache_salt="tenant")
    assert salted.keys(0, 4) == (("cache_salt", "tenant"),)
    assert salted.keys(1, 4) is None


def test_keys_stand_in_the_order_lora_item_salt_embeds():
    extras = Extras(("a", "/a"), (MmItem("cat", 2, 4),), "s", (b"digest",))
    kinds = [key[0] for key in extras.keys(0, 4)]
    assert kinds == ["lora", "mm", "cache_salt", "prompt_embeds"]


def test_an_item_is_a_key_of_the_blocks_that_it_overlaps():
    extras = Extras(items=(MmItem("cat", 5, 4),))
    assert [extras.keys(block, 4) for block in range(4)] == [
        None, (("mm", "cat", 1),), (("mm", "cat", -3),), None,
    ]  # fmt: skip


@pytest.mark.parametrize("algo", ALGOS)
def test_a_partial_block_has_no_name(algo):
    assert len(Hasher(algo, 4).extend([], TOKENS[:7])) == 1


@pytest.mark.parametrize("algo", ALGOS)
def test_only_what_is_new_is_hashed(algo):
    hasher = Hasher(algo, 4)
    whole = hasher.extend([], TOKENS)
    assert hasher.extend(whole[:1], TOKENS) == whole[1:]
    assert hasher.extend(whole, TOKENS) == []


@pytest.mark.parametrize("algo", ALGOS)
def test_an_array_is_named_like_a_list(algo):
    hasher = Hasher(algo, 4)
    assert hasher.extend([], np.array(TOKENS, np.int32)) == hasher.extend([], TOKENS)


@pytest.mark.parametrize("algo", ALGOS)
def test_equal_tokens_behind_another_prefix_have_another_name(algo):
    hasher = Hasher(algo, 4)
    one, other = hasher.extend([], TOKENS), hasher.extend([], [9, 9, 9, 9, 5, 6, 7, 8])
    assert one[1] != other[1]


@pytest.mark.parametrize("algo", ALGOS)
def test_a_salt_reaches_every_block_under_every_algorithm(algo):
    hasher = Hasher(algo, 4)
    salted = hasher.extend([], TOKENS, Extras(cache_salt="s"))
    assert not set(salted) & set(hasher.extend([], TOKENS))
    assert hasher.extend(salted[:1], TOKENS, Extras(cache_salt="s")) == salted[1:]


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=24),
    st.lists(st.integers(0, 3), min_size=1, max_size=24),
    st.integers(1, 4),
)
def test_chain64_names_are_equal_just_where_prefixes_are(one, other, size):
    hasher = Hasher("chain64", size)
    named = [
        (name, tokens[: (block + 1) * size])
        for tokens in (one, other)
        for block, name in enumerate(hasher.extend([], tokens))
    ]
    for (name, prefix), (second, another) in combinations(named, 2):
        assert (name == second) == (prefix == another)


def test_a_swap_of_two_tokens_changes_the_chain64_name():
    hasher = Hasher("chain64", 2)
    assert hasher.extend([], [1, 2, 3, 4])[1] != hasher.extend([], [1, 3, 2, 4])[1]


def test_another_seed_gives_other_names():
    assert Hasher("sha256", 4, "7").none_hash != Hasher("sha256", 4).none_hash


def test_a_short_name_is_the_first_48_bits():
    assert short_name(bytes.fromhex("0000000001ff" + "aa" * 26)) == 0x1FF
