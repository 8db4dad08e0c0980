"""Which pages hold a request, when nobody reads its slots?"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from kvlab.memory.page_rows import PageRows
from kvlab.memory.req_to_token import ReqToTokenPool


def pages(*numbers):
    return np.array(numbers, np.int32)


def test_a_row_grows_page_by_page_and_tells_where():
    rows = PageRows(page_size=4)
    row = rows.alloc()
    assert [rows.append(row, pages(i)) for i in range(100)] == list(range(100))
    assert rows.pages(row, 0, 400).tolist() == list(range(100))
    assert rows.pages(row, 396, 10**6).tolist() == [99]


def test_pages_that_somebody_holds_stay_when_the_row_grows_or_is_rewritten():
    rows = PageRows(page_size=1)
    row = rows.alloc()
    rows.append(row, pages(1, 2, 3))
    held = rows.pages(row, 0, 3)
    rows.append(row, pages(4))
    rows.write(row, 1, pages(8, 9), 3)
    rows.append(row, pages(5))
    assert held.tolist() == [1, 2, 3]
    assert rows.pages(row, 0, 9).tolist() == [1, 8, 9, 4, 5]


def test_the_pages_written_are_never_changed_by_an_append():
    tree = pages(1, 2)
    rows = PageRows(page_size=1)
    row = rows.alloc()
    rows.write(row, 0, tree, 2)
    rows.append(row, pages(7))
    assert tree.tolist() == [1, 2]
    assert rows.pages(row, 0, 3).tolist() == [1, 2, 7]


@pytest.mark.parametrize("size", [1, 3])
def test_a_row_given_back_is_empty_when_it_is_handed_out_again(size):
    rows = PageRows(page_size=1)
    row = rows.alloc()
    rows.append(row, pages(*range(size)))
    rows.free(row)
    assert rows.alloc() == row
    assert rows.pages(row, 0, 9).tolist() == []
    assert rows.append(row, pages(5)) == 0


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("seed", range(20))
def test_a_row_answers_as_the_table_that_attention_reads(size, seed):
    """After writes at its end, within it and over it, some of more pages than needed;
    the table knows no append, but a write at the end is one."""
    dice, rows, table = Random(seed), PageRows(size), ReqToTokenPool(size)
    row, other, length = rows.alloc(), table.alloc(), 0
    for _ in range(30):
        start = dice.randint(0, length) * size
        count = dice.randint(1, 4)
        end = start + dice.randint(1, count * size)
        new = pages(*(dice.randint(1, 99) for _ in range(count)))
        if (
            start == length * size
            and end == start + count * size
            and dice.random() < 0.5
        ):
            assert rows.append(row, new) == length
        else:
            rows.write(row, start, new, end)
        table.write(other, start, new, end)
        length = max(length, -(-end // size))
        found = rows.pages(row, 0, length * size).tolist()
        assert found == table.pages(other, 0, length * size).tolist()
