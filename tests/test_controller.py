"""Do pages get their targets at once and their bytes in time?"""

from __future__ import annotations

import numpy as np
import pytest

from kvlab.cache.controller import HiCacheController
from kvlab.memory.allocator import PageAllocator
from kvlab.memory.pool import KVPool
from kvlab.memory.transfer import HandTransfer
from kvlab.pages import as_pages
from kvlab.run.clocked_link import ClockedLink
from kvlab.run.cost import FS

DEVICE, HOST = 8, 4


class Rig:
    """A controller between two pools; device slot s holds 100 + s."""

    def __init__(
        self, link: HandTransfer | None = None, bytes_per_token: int = 0, page: int = 1
    ):
        self.link = link or HandTransfer()
        self.device = PageAllocator("L1", DEVICE, 1, page_size=page)
        self.host = PageAllocator("L2", HOST, 0, page_size=page)
        self.device_pool = KVPool((DEVICE + 1) * page, page)
        self.host_pool = KVPool(HOST * page, page)
        self.device_pool.write(as_pages(range(9)), np.arange(100, 109))
        self.controller = HiCacheController(
            self.device,
            self.host,
            self.device_pool,
            self.host_pool,
            self.link,
            bytes_per_token,
        )


@pytest.fixture
def rig() -> Rig:
    return Rig()


# --- to the host


def test_a_write_takes_host_pages_at_once(rig):
    assert rig.controller.write(7, as_pages([3, 5])).tolist() == [0, 1]
    assert rig.host.available == 2


def test_a_write_waits_in_the_queue_until_writing_starts(rig):
    rig.controller.write(7, as_pages([3, 5]))
    assert rig.link.pending("write") == 0
    assert rig.controller.start_writing() == [7]
    assert rig.link.pending("write") == 1
    assert rig.controller.start_writing() == []


def test_the_bytes_of_a_write_move_when_it_is_done(rig):
    rig.controller.write(7, as_pages([3, 5]))
    rig.controller.start_writing()
    assert rig.host_pool.prints.tolist() == [0, 0, 0, 0]
    rig.link.complete("write")
    assert rig.host_pool.prints.tolist() == [103, 105, 0, 0]


def test_a_write_without_host_room_is_none_and_submits_nothing(rig):
    assert rig.controller.write(7, as_pages(range(1, 6))) is None
    assert (rig.host.available, rig.link.pending("write")) == (4, 0)


def test_writes_are_acknowledged_in_order_by_node(rig):
    for node in (9, 4, 6):
        rig.controller.write(node, as_pages([1]))
        rig.controller.start_writing()
    rig.link.complete("write", 2)
    assert rig.controller.acked_writes() == [9, 4]


def test_queued_writes_go_as_one_batch(rig):
    for node in (9, 4):
        rig.controller.write(node, as_pages([node - 1]))
    rig.controller.start_writing()
    assert rig.link.complete("write", 1) == 1
    assert rig.controller.acked_writes() == [9, 4]
    assert rig.host_pool.prints.tolist() == [108, 103, 0, 0]


# --- to the device


def loaded(rig: Rig, node: int = 7, pages: int = 2) -> list[int]:
    rig.host_pool.write(as_pages(range(4)), np.arange(200, 204))
    return rig.controller.load(node, as_pages(range(pages))).tolist()


def test_a_load_takes_device_pages_at_once(rig):
    assert loaded(rig) == [1, 2]


def test_a_load_without_device_room_is_none_and_queues_nothing(rig):
    rig.device.alloc(7)
    assert rig.controller.load(7, as_pages([0, 1])) is None
    assert not rig.controller.has_queued


def test_a_load_waits_in_the_queue_until_loading_starts(rig):
    loaded(rig)
    assert rig.controller.has_queued
    assert rig.controller.batches_in_flight == 0
    rig.controller.start_loading()
    assert not rig.controller.has_queued
    assert rig.controller.batches_in_flight == 1


def test_the_bytes_of_a_load_move_when_its_batch_is_done(rig):
    loaded(rig)
    rig.controller.start_loading()
    assert rig.device_pool.read(as_pages([1, 2])).tolist() == [101, 102]
    rig.link.complete("load")
    assert rig.device_pool.read(as_pages([1, 2])).tolist() == [200, 201]


def test_queued_loads_go_as_one_batch(rig):
    loaded(rig, node=7)
    loaded(rig, node=3)
    rig.controller.start_loading()
    assert rig.controller.batches_in_flight == 1
    rig.link.complete("load")
    assert rig.controller.acked_loads() == [7, 3]
    assert rig.device_pool.read(as_pages([1, 2, 3, 4])).tolist() == [200, 201] * 2


def test_batches_are_acknowledged_in_order(rig):
    for node in (7, 3, 5):
        loaded(rig, node)
        rig.controller.start_loading()
    rig.link.complete("load", 2)
    assert rig.controller.acked_loads() == [7, 3]
    rig.link.complete("load")
    assert rig.controller.acked_loads() == [5]


# --- size


@pytest.mark.parametrize("page", [1, 4])
def test_a_copy_is_as_large_as_its_tokens(page):
    rig = Rig(ClockedLink(10.0), bytes_per_token=5, page=page)
    rig.controller.write(7, as_pages([1, 2]))
    rig.controller.start_writing()
    rig.link.now = round(0.9 * page * FS)
    assert rig.controller.acked_writes() == []
    rig.link.now = page * FS
    assert rig.controller.acked_writes() == [7]


def test_a_load_batch_is_as_large_as_all_its_tokens():
    rig = Rig(ClockedLink(10.0), bytes_per_token=5)
    loaded(rig, 7)
    loaded(rig, 3)
    rig.controller.start_loading()
    rig.link.now = round(1.9 * FS)
    assert rig.controller.acked_loads() == []
    rig.link.now = round(2.0 * FS)
    assert rig.controller.acked_loads() == [7, 3]
