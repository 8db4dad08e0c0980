"""Do rows of K and V lie, and travel, as they should?"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kvlab.geometry import heads_width, latent_width, pool_bytes
from kvlab.memory.kv_form import KVForm
from kvlab.memory.kv_tensors import KVTensors, paired_runs
from kvlab.pages import as_pages, slots_of

ORDERS = ["layer_first", "page_first"]
ELEMENT = {"float32": 4, "bfloat16": 2, "fp8": 1}
KINDS = {
    "gqa": (lambda dtype: KVForm.of_heads(3, 2, 4, dtype), heads_width(2, 4)),
    "mha": (lambda dtype: KVForm.of_heads(3, 4, 4, dtype), heads_width(4, 4)),
    "mla": (lambda dtype: KVForm.of_latent(3, 8, 4, dtype), latent_width(8, 4)),
}
all_kinds = pytest.mark.parametrize("kind", KINDS)
all_orders = pytest.mark.parametrize("order", ORDERS)
all_dtypes = pytest.mark.parametrize("dtype", ELEMENT)


def filled(form: KVForm, num_slots: int, order: str = "layer_first") -> KVTensors:
    kv = KVTensors(form, num_slots, order=order)
    numbers = torch.Generator().manual_seed(1)
    for part in kv.parts:
        bits = torch.randint(0, 120, part.shape, generator=numbers)
        part.copy_(bits.to(part.dtype))
    return kv


def same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@all_kinds
@all_dtypes
@all_orders
def test_the_bytes_are_those_of_the_formula(kind, dtype, order):
    make, width = KINDS[kind]
    kv = KVTensors(make(dtype), 10, order=order)
    assert kv.num_bytes == pool_bytes(10, 3, width, ELEMENT[dtype])


def test_a_layer_of_a_layer_first_pool_is_one_block():
    kv = KVTensors(KVForm.of_heads(3, 2, 4), 10)
    assert [part.shape for part in kv.parts] == [(3, 10, 2, 4)] * 2
    assert all(part.is_contiguous() for part in kv.layer(1))


def test_a_page_of_a_page_first_pool_is_one_block():
    kv = KVTensors(KVForm.of_heads(3, 2, 4), 10, order="page_first")
    assert [part.shape for part in kv.parts] == [(10, 3, 2, 4)] * 2
    assert all(part[4:6].is_contiguous() for part in kv.parts)


@all_orders
@all_dtypes
def test_what_was_written_to_a_layer_is_read_from_it_alone(order, dtype):
    kv = KVTensors(KVForm.of_heads(3, 2, 4, dtype), 10, order=order)
    slots = torch.tensor([7, 2])
    k, v = torch.full((2, 2, 4), 1.5), torch.full((2, 2, 4), -2.0)
    kv.write(1, slots, [k, v])
    assert same(kv.read(1, slots), [k, v])
    assert all(float(rows.abs().sum()) == 0 for rows in kv.read(0, slots))


@pytest.mark.parametrize(("there", "here"), [(a, b) for a in ORDERS for b in ORDERS])
@all_kinds
@all_dtypes
def test_every_bit_of_every_row_is_copied(there, here, kind, dtype):
    form = KINDS[kind][0](dtype)
    source, target = filled(form, 16, there), KVTensors(form, 16, order=here)
    pages, places = as_pages([1, 2, 6, 4]), as_pages([3, 4, 5, 0])
    for move in target.moves(source, pages, places, 2):
        move()
    from_slots, to_slots = (torch.from_numpy(slots_of(p, 2)) for p in (pages, places))
    assert same(source.raw(from_slots), target.raw(to_slots))


def test_a_copy_leaves_other_slots_alone():
    form = KVForm.of_heads(2, 1, 2)
    source, target = filled(form, 8), KVTensors(form, 8, order="page_first")
    for move in target.moves(source, as_pages([3]), as_pages([5]), 1):
        move()
    others = torch.tensor([0, 1, 2, 3, 4, 6, 7])
    assert all(float(rows.sum()) == 0 for rows in target.raw(others))


def test_between_layer_first_pools_each_layer_is_a_step_of_its_own():
    form = KVForm.of_heads(3, 1, 2)
    source, target = filled(form, 8), KVTensors(form, 8)
    steps = target.moves(source, as_pages([3]), as_pages([5]), 1)
    steps[0]()
    moved = [bool(layer.abs().sum()) for layer in target.parts[0]]
    assert (len(steps), moved) == (3, [True, False, False])


def test_a_page_first_copy_is_one_step():
    form = KVForm.of_heads(3, 1, 2)
    target = KVTensors(form, 8, order="page_first")
    assert len(target.moves(filled(form, 8), as_pages([3]), as_pages([5]), 1)) == 1


PAGE_LISTS = st.lists(st.integers(0, 30), unique=True, max_size=12)


@given(PAGE_LISTS, st.randoms(use_true_random=False), st.sampled_from([1, 3]))
def test_paired_runs_name_every_slot_once_and_in_order(pages, random, page_size):
    places = random.sample(range(40), len(pages))
    runs = list(paired_runs(np.array(pages), np.array(places), page_size))
    here = [at + i for at, _, size in runs for i in range(size)]
    there = [to + i for _, to, size in runs for i in range(size)]
    assert here == slots_of(as_pages(pages), page_size).tolist()
    assert there == slots_of(as_pages(places), page_size).tolist()


def test_neighbours_on_both_sides_are_one_run():
    assert list(paired_runs(np.array([4, 5, 6]), np.array([1, 2, 3]), 2)) == [(8, 2, 6)]
