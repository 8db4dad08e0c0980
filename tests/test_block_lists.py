"""Do lists of blocks and of names come back from the disk as they were?"""

from __future__ import annotations

from random import Random

import msgspec
import numpy as np
import pytest

from kvlab.record.block_lists import block_list_reader, to_block_runs
from kvlab.record.block_names import as_runs, names_in


def test_lists_that_count_up_and_down_come_back():
    dice, read = Random(3), block_list_reader(10_000)
    for _ in range(300):
        parts = []
        for _ in range(dice.randrange(5)):
            first, size = dice.randrange(50, 90), dice.randrange(1, 9)
            parts += [first + dice.choice((-1, 1)) * i for i in range(size)]
            parts += dice.choices(range(20), k=dice.randrange(3))
        blocks = np.array(parts, np.int32)
        again = read(np.ndarray, msgspec.json.decode(
            msgspec.json.encode(to_block_runs(blocks))))  # fmt: skip
        assert again.tolist() == parts
        assert again.dtype == np.int32


def test_a_run_down_is_two_numbers():
    assert to_block_runs(np.arange(900, 3, -1, dtype=np.int32)) == [(900, -897)]


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([[5, 0]], "is not a number or"),
        ([[3, -5]], "goes beyond 0"),
        ([-1], "is not a number or"),
        ([[5, 2.0]], "is not a number or"),
        ([[0, 99]], "longer than the 50 blocks"),
        ([[1, 30], [40, -30]], "longer than the 50 blocks"),
        ([2**40], "goes beyond 0"),
    ],
)
def test_what_is_no_list_of_blocks_is_refused(runs, said):
    with pytest.raises(ValueError, match=said):
        block_list_reader(50)(np.ndarray, runs)


def test_names_come_back_and_those_that_follow_each_other_are_runs():
    dice = Random(5)
    for _ in range(200):
        names = [dice.randrange(12) for _ in range(dice.randrange(20))]
        assert list(names_in(as_runs(names))) == names
    assert as_runs(range(7, 3000)) == ((7, 2993),)


def test_a_run_that_says_it_is_endless_costs_nothing():
    names = names_in(((1, 10**15),))
    assert [next(names), next(names)] == [1, 2]
