"""Does a slot show whose prefix it holds?"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kvlab.cache.key import as_tokens
from kvlab.config import MAX_TOKENS
from kvlab.memory.kv_form import KVForm
from kvlab.memory.kv_tensors import KVTensors
from kvlab.memory.pool import KVPool, fingerprints
from kvlab.pages import Pages, as_pages

TOKEN_LISTS = st.lists(st.integers(0, MAX_TOKENS), max_size=50)


def copied(pool: KVPool, source: KVPool, from_pages: Pages, to_pages: Pages) -> None:
    for move in pool.moves(source, from_pages, to_pages):
        move()


def by_the_book(tokens: list[int], before: int = 7) -> list[int]:
    """The recurrence, one token at a time."""
    hashes = []
    for token in tokens:
        before = (before * 1_000_003 + token + 1) % 2**62
        hashes.append(before)
    return hashes


@given(TOKEN_LISTS)
def test_fingerprints_equal_the_plain_recurrence(tokens):
    assert fingerprints(as_tokens(tokens)).tolist() == by_the_book(tokens)


@pytest.mark.parametrize("length", [1023, 1024, 1025, 5000])
def test_long_prefixes_equal_the_plain_recurrence(length):
    tokens = [(i * 7919) % 32003 for i in range(length)]
    assert fingerprints(as_tokens(tokens)).tolist() == by_the_book(tokens)


@given(TOKEN_LISTS, TOKEN_LISTS)
def test_fingerprints_can_be_continued(head, tail):
    whole = fingerprints(as_tokens(head + tail)).tolist()
    before = whole[len(head) - 1] if head else 7
    assert fingerprints(as_tokens(tail), before).tolist() == whole[len(head) :]


def test_the_same_token_after_another_prefix_has_another_fingerprint():
    one, other = (fingerprints(as_tokens(tokens)) for tokens in ([1, 5], [2, 5]))
    assert one[1] != other[1]


# --- the pool


def test_the_contents_are_a_torch_tensor_of_one_int64_a_slot():
    prints = KVPool(12).prints
    assert isinstance(prints, torch.Tensor)
    assert (prints.dtype, prints.shape) == (torch.int64, (12,))


def test_prints_are_written_to_the_slots_of_the_pages_in_order():
    pool = KVPool(8, page_size=2)
    pool.write(as_pages([3, 1]), np.array([60, 61, 20, 21]))
    assert pool.prints.tolist() == [0, 0, 20, 21, 0, 0, 60, 61]


def test_a_write_may_begin_inside_a_page():
    pool = KVPool(8, page_size=4)
    pool.write(as_pages([1]), np.array([5, 6]), offset=1)
    assert pool.read(as_pages([1])).tolist() == [0, 5, 6, 0]


def test_what_was_written_is_read():
    pool = KVPool(8)
    pool.write(as_pages([5, 2]), np.array([50, 20]))
    assert pool.read(as_pages([2, 5])).tolist() == [20, 50]


def test_a_copy_takes_pages_of_one_pool_to_pages_of_another():
    device, host = KVPool(8, page_size=2), KVPool(8, page_size=2)
    device.write(as_pages([1, 2]), np.array([1, 2, 3, 4]))
    copied(host, device, as_pages([2, 1]), as_pages([0, 3]))
    assert host.prints.tolist() == [3, 4, 0, 0, 0, 0, 1, 2]


def test_a_ledger_holds_nothing():
    assert len(KVPool(1_000_000, mode="ledger").prints) == 0


def test_a_ledger_takes_writes_and_copies_and_reads_nothing():
    ledger = KVPool(8, mode="ledger")
    ledger.write(as_pages([1]), np.array([5]))
    copied(ledger, KVPool(8), as_pages([1]), as_pages([2]))
    assert ledger.read(as_pages([1])).tolist() == []


FORM = KVForm.of_heads(layers=2, kv_heads=1, head_dim=2)


def test_in_a_pool_of_tensors_k_and_v_travel_with_their_fingerprints():
    device = KVPool(8, 2, "tensors", kv=KVTensors(FORM, 8))
    host = KVPool(8, 2, "tensors", kv=KVTensors(FORM, 8, order="page_first"))
    device.write(as_pages([3]), np.array([60, 70]))
    rows = [torch.full((2, 1, 2), 5.0), torch.full((2, 1, 2), 6.0)]
    device.kv.write(1, torch.tensor([6, 7]), rows)
    copied(host, device, as_pages([3]), as_pages([1]))
    assert host.prints.tolist() == [0, 0, 60, 70, 0, 0, 0, 0]
    found = host.kv.read(1, torch.tensor([2, 3]))
    assert [float(part.sum()) for part in found] == [20.0, 24.0]


def test_the_fingerprints_of_a_copy_move_last():
    pools = [KVPool(8, 1, "tensors", kv=KVTensors(FORM, 8)) for _ in range(2)]
    pools[0].write(as_pages([1]), np.array([9]))
    *layers, last = pools[1].moves(pools[0], as_pages([1]), as_pages([4]))
    for move in layers:
        move()
    assert (len(layers), pools[1].prints[4].item()) == (2, 0)
    last()
    assert pools[1].prints[4].item() == 9


def test_a_copy_between_ledgers_has_no_steps():
    ledger = KVPool(8, mode="ledger")
    assert ledger.moves(ledger, as_pages([1]), as_pages([2])) == []


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_prints_live_on_the_device_they_were_given():
    pool, host = KVPool(8, device="cuda"), KVPool(8)
    pool.write(as_pages([3]), np.array([9]))
    copied(host, pool, as_pages([3]), as_pages([1]))
    pool.synchronize()
    assert (pool.prints.device.type, host.prints[1].item()) == ("cuda", 9)


def test_a_driver_too_old_for_torch_is_told_and_fails_no_test():
    said = "CUDA initialization: The NVIDIA driver on your system is too old (found ..."
    with warnings.catch_warnings(record=True) as heard:
        warnings.warn(said, UserWarning, stacklevel=1)
    assert [str(warning.message) for warning in heard] == [said]
