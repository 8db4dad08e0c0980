"""When is a copy done, and when do its bytes move?"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from kvlab.memory.streams import StreamTransfer
from kvlab.memory.transfer import HandTransfer, InstantTransfer, Steps
from kvlab.run.clocked_link import ClockedLink
from kvlab.run.cost import FS


def by_hand(link: HandTransfer) -> None:
    link.complete("write")
    link.complete("load")


def by_poll(link: HandTransfer) -> None:
    link.poll()


def by_clock(link: ClockedLink) -> None:
    link.now += 100 * FS
    link.poll()


WAYS = [
    pytest.param(HandTransfer, by_hand, id="hand"),
    pytest.param(InstantTransfer, by_poll, id="instant"),
    pytest.param(lambda: ClockedLink(100.0), by_clock, id="clock"),
]
STREAMS = [
    pytest.param(lambda: StreamTransfer("cpu"), by_hand, id="streams-cpu"),
    pytest.param(
        lambda: StreamTransfer("cuda"),
        by_hand,
        id="streams-cuda",
        marks=[
            pytest.mark.gpu,
            pytest.mark.skipif(
                not torch.cuda.is_available(), reason="no CUDA device here"
            ),
        ],
    ),
]
all_ways = pytest.mark.parametrize(("make", "finish"), WAYS + STREAMS)
off_device = pytest.mark.parametrize(("make", "finish"), WAYS)
Make, Finish = Callable[[], HandTransfer], Callable[[HandTransfer], None]


@all_ways
def test_nothing_is_done_right_after_submission(make: Make, finish: Finish):
    link = make()
    link.submit("write", 1, 10, lambda: None)
    assert (link.pending("write"), link.collect("write")) == (1, [])


@all_ways
def test_a_done_copy_has_moved_its_bytes_once(make: Make, finish: Finish):
    link, moved = make(), []
    steps = Steps([lambda: moved.append(1), lambda: moved.append(2)])
    link.submit("write", 1, 10, steps)
    finish(link)
    finish(link)
    assert moved == [1, 2]


@all_ways
def test_a_layer_that_was_waited_for_has_come(make: Make, finish: Finish):
    link, moved = make(), []
    link.submit("load", 1, 10, Steps([lambda: moved.append("layer 0")]))
    link.wait_layer(0)
    assert moved == ["layer 0"]
    finish(link)
    assert (moved, link.collect("load")) == (["layer 0"], [1])


@all_ways
def test_who_waits_for_loads_does_not_wait_for_writes(make: Make, finish: Finish):
    link = make()
    link.submit("write", 1, 10, lambda: None)
    link.wait_layer(0)
    assert link.pending("write") == 1


@off_device
def test_the_bytes_move_when_the_copy_is_done(make: Make, finish: Finish):
    link, moved = make(), []
    link.submit("write", 1, 10, lambda: moved.append(1))
    assert moved == []
    finish(link)
    assert moved == [1]


@all_ways
def test_copies_of_a_stream_are_done_in_the_order_of_submission(
    make: Make, finish: Finish
):
    link, moved = make(), []
    for tag in (3, 1, 2):
        link.submit("load", tag, 10, lambda tag=tag: moved.append(tag))
    finish(link)
    assert (moved, link.collect("load")) == ([3, 1, 2], [3, 1, 2])


@all_ways
def test_a_done_copy_is_collected_once(make: Make, finish: Finish):
    link = make()
    link.submit("write", 1, 10, lambda: None)
    finish(link)
    assert (link.collect("write"), link.collect("write")) == ([1], [])


@all_ways
def test_the_streams_do_not_mix(make: Make, finish: Finish):
    link = make()
    link.submit("write", 1, 10, lambda: None)
    link.submit("load", 2, 10, lambda: None)
    finish(link)
    assert (link.collect("load"), link.collect("write")) == ([2], [1])


@all_ways
def test_a_done_copy_is_not_pending(make: Make, finish: Finish):
    link = make()
    link.submit("write", 1, 10, lambda: None)
    finish(link)
    assert link.pending("write") == 0


# --- by hand


def test_a_hand_finishes_as_many_as_it_says():
    link = HandTransfer()
    for tag in (1, 2, 3):
        link.submit("write", tag, 0, lambda: None)
    assert link.complete("write", 2) == 2
    assert (link.collect("write"), link.pending("write")) == ([1, 2], 1)


def test_a_hand_cannot_finish_more_than_there_are():
    link = HandTransfer()
    link.submit("write", 1, 0, lambda: None)
    assert link.complete("write", 9) == 1


def test_polling_a_hand_finishes_nothing():
    link = HandTransfer()
    link.submit("write", 1, 0, lambda: None)
    link.poll()
    assert link.collect("write") == []


@pytest.mark.parametrize("kind", [HandTransfer, InstantTransfer])
def test_eager_bytes_move_at_submission(kind):
    link, moved = kind(eager=True), []
    link.submit("write", 1, 0, lambda: moved.append(1))
    assert moved == [1]


def test_eager_bytes_move_only_once():
    link, moved = HandTransfer(eager=True), []
    link.submit("write", 1, 0, lambda: moved.append(1))
    link.complete("write")
    assert moved == [1]


# --- by the clock


def done_by(link: ClockedLink, seconds: float, stream: str = "write") -> list[int]:
    link.now = round(seconds * FS)
    link.poll()
    return link.collect(stream)


def test_a_copy_takes_its_bytes_over_the_bandwidth():
    link = ClockedLink(100.0)
    link.submit("write", 1, 50, lambda: None)
    assert (done_by(link, 0.49), done_by(link, 0.5)) == ([], [1])


def test_copies_of_a_stream_wait_for_each_other():
    link = ClockedLink(100.0)
    link.submit("write", 1, 100, lambda: None)
    link.submit("write", 2, 100, lambda: None)
    assert (done_by(link, 1.99), done_by(link, 2.0)) == ([1], [2])


def test_each_direction_has_the_full_bandwidth():
    link = ClockedLink(100.0)
    link.submit("write", 1, 100, lambda: None)
    link.submit("load", 2, 100, lambda: None)
    assert done_by(link, 1.0, "load") == [2]


def test_an_idle_link_begins_when_a_copy_is_submitted():
    link = ClockedLink(100.0)
    link.now = 10 * FS
    link.submit("write", 1, 100, lambda: None)
    assert (done_by(link, 10.9), done_by(link, 11.0)) == ([], [1])


def test_the_clock_alone_finishes_nothing():
    link, moved = ClockedLink(100.0), []
    link.submit("write", 1, 100, lambda: moved.append(1))
    link.now = 5 * FS
    assert moved == []


def test_who_waits_for_a_load_is_told_until_when():
    link = ClockedLink(100.0)
    link.submit("load", 1, 250, lambda: None)
    link.wait_layer(0)
    assert link.waited_until == 2.5 * FS


def test_who_waits_for_nothing_is_told_nothing():
    link = ClockedLink(100.0)
    link.submit("write", 1, 250, lambda: None)
    link.wait_layer(0)
    assert link.waited_until == 0
