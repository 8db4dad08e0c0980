"""Do the cells of both pools lie where they can be told apart?"""

from __future__ import annotations

import pytest

from kvlab.views.grid import LANE, WIDTH, grids


@pytest.mark.parametrize("pages", [1, 24, 48, 192, 320, 1200, 1201, 10_000, 2_000_000])
def test_a_pool_of_any_size_fits_the_page(pages):
    device, host = grids(pages, 2 * pages)
    assert 20 <= device.height <= 176
    assert host.top == device.height + LANE
    assert host.cell == device.cell


def test_few_slots_have_cells_of_9_px_and_more():
    assert grids(24, 48)[0].cell >= 9


def test_a_run_over_the_end_of_a_row_is_cut_there():
    device, _ = grids(64, 0)
    pieces = list(device.pieces(31, 4))
    assert [piece.cells for piece in pieces] == [2, 2]
    assert pieces[0].x + pieces[0].width == WIDTH
    assert pieces[1].x == 0


def test_the_pieces_of_a_run_hold_all_its_cells():
    device, _ = grids(1000, 0)
    assert sum(piece.cells for piece in device.pieces(5, 700)) == 700
