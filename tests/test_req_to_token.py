"""Does a request's row name the slot of its i-th token?"""

from __future__ import annotations

import pytest
import torch

from kvlab.memory.req_to_token import ReqToTokenPool
from kvlab.pages import as_pages


def test_rows_are_handed_out_lowest_first():
    rows = ReqToTokenPool()
    assert [rows.alloc() for _ in range(3)] == [0, 1, 2]


def test_a_row_that_was_given_back_is_handed_out_again():
    rows = ReqToTokenPool()
    for _ in range(4):
        rows.alloc()
    rows.free(2)
    rows.free(1)
    assert [rows.alloc(), rows.alloc(), rows.alloc()] == [1, 2, 4]


def test_the_table_grows_when_rows_run_out():
    rows = ReqToTokenPool(rows=2)
    rows.write(rows.alloc(), 0, as_pages([7]), 1)
    assert [rows.alloc(), rows.alloc()] == [1, 2]
    assert rows.table[0, 0].item() == 7


def test_the_table_grows_when_a_row_is_too_short():
    rows = ReqToTokenPool(context=4)
    row = rows.alloc()
    rows.write(row, 0, as_pages([7]), 1)
    rows.write(row, 1, as_pages(range(10, 19)), 10)
    assert rows.table[row, :10].tolist() == [7, *range(10, 19)]


def test_the_table_is_a_torch_tensor_of_32_bit_slots():
    assert ReqToTokenPool().table.dtype == torch.int32


def test_a_page_fills_the_row_with_its_slots():
    rows = ReqToTokenPool(page_size=4)
    row = rows.alloc()
    rows.write(row, 0, as_pages([5, 2]), 8)
    assert rows.table[row, :8].tolist() == [20, 21, 22, 23, 8, 9, 10, 11]


def test_a_partial_page_fills_only_the_tokens_there_are():
    rows = ReqToTokenPool(page_size=4)
    row = rows.alloc()
    rows.write(row, 0, as_pages([5]), 3)
    assert rows.table[row, :4].tolist() == [20, 21, 22, 0]


@pytest.mark.parametrize(
    ("start", "end", "pages"),
    [(0, 8, [5, 2]), (4, 8, [2]), (0, 5, [5, 2]), (4, 4, [])],
)
def test_the_pages_of_a_stretch_are_read_back(start, end, pages):
    rows = ReqToTokenPool(page_size=4)
    row = rows.alloc()
    rows.write(row, 0, as_pages([5, 2]), 8)
    assert rows.pages(row, start, end).tolist() == pages


def test_pages_read_from_a_row_do_not_follow_it():
    rows = ReqToTokenPool()
    row = rows.alloc()
    rows.write(row, 0, as_pages([5, 6]), 2)
    before = rows.pages(row, 0, 2)
    rows.write(row, 0, as_pages([8, 9]), 2)
    assert before.tolist() == [5, 6]
