"""Are a run's sums those that its events say, each counted once?"""

from __future__ import annotations

import hashlib

import pytest

from kvlab.config import EngineConfig
from kvlab.errors import TraceError
from kvlab.pages import as_pages
from kvlab.record import events as ev
from kvlab.record.metrics import Metrics, metrics, tree_digest, tree_lines
from kvlab.record.snapshot import State
from kvlab.record.trace import Header, Trace
from kvlab.rules import Rules

PAGE = 2


def pages(*numbers: int):
    return as_pages(numbers)


def sums(*events: ev.Event, **settings: object) -> Metrics:
    config = {"pool_tokens": 16, "host_tokens": 20, "page_size": PAGE, **settings}
    header = Header(config=EngineConfig(**config), rules=Rules.v0_5_14())
    return metrics(Trace(header, list(events)))


def add(node: int, parent: int, first: int, *numbers: int) -> ev.Add:
    tokens = as_pages(range(first, first + PAGE * len(numbers)))
    return ev.Add(-1, node, parent, "", tokens, pages(*numbers), 0, 1, 1)


INSERT = (ev.Alloc(-1, "L1", pages(1, 2, 3)), add(1, 0, 10, 1, 2, 3))
BACKUP = (ev.Alloc(-1, "L2", pages(0, 1, 2)), ev.Backup(-1, 1, pages(0, 1, 2)))
DEMOTE = (ev.Demote(-1, 1), ev.Free(-1, "L1", pages(1, 2, 3)))


def arrive(name: str, prompt_len: int) -> ev.Arrive:
    return ev.Arrive(-1, name, prompt_len, 4, 0)


def prefill(name: str, device: int, host: int, loaded: int, extend: int) -> ev.Prefill:
    return ev.Prefill(-1, name, device, host, loaded, extend)


def test_a_run_without_events_comes_to_nothing():
    found = sums()
    assert found.requests == found.input_tokens == found.events == 0
    assert found.hit_rate is None
    assert found.l2_peak_usage == 0.0


def test_requests_and_their_tokens_are_counted_on_arrival():
    found = sums(arrive("a", 7), arrive("b", 5))
    assert (found.requests, found.input_tokens) == (2, 12)


def test_outputs_are_counted_one_by_one():
    found = sums(arrive("a", 7), ev.Output(-1, "a", 5), ev.Output(-1, "a", 5))
    assert found.output_tokens == 2


def test_hits_count_at_the_first_prefill_and_computed_tokens_at_all():
    found = sums(arrive("a", 20), prefill("a", 8, 6, 6, 6), prefill("a", 12, 2, 0, 10))
    assert (found.device_hit_tokens, found.host_hit_tokens) == (8, 6)
    assert found.computed_tokens == 16


def test_a_name_that_arrives_again_is_a_new_request():
    found = sums(
        arrive("a", 20), prefill("a", 8, 0, 0, 12), ev.Finish(-1, "a"),
        arrive("a", 20), prefill("a", 10, 0, 0, 10),
    )  # fmt: skip
    assert (found.requests, found.device_hit_tokens) == (2, 18)


def test_the_hit_rate_counts_what_was_loaded_and_not_what_lay_on_the_host():
    found = sums(
        arrive("a", 40), prefill("a", 10, 8, 6, 24), *INSERT, *BACKUP, *DEMOTE,
        ev.Alloc(-1, "L1", pages(1, 2, 3)), ev.Load(-1, 1, 1, pages(1, 2, 3)),
    )  # fmt: skip
    assert found.loaded_back_tokens == 6
    assert found.hit_rate == (10 + 6) / 40


def test_a_demoted_node_is_evicted_and_not_lost():
    found = sums(*INSERT, *BACKUP, *DEMOTE)
    assert (found.evicted_tokens, found.lost_tokens) == (6, 0)
    assert found.backed_up_tokens == 6


def test_a_deleted_node_is_evicted_and_lost():
    found = sums(*INSERT, ev.Delete(-1, 1))
    assert (found.evicted_tokens, found.lost_tokens) == (6, 6)


def test_a_node_dropped_by_the_host_is_lost_and_not_evicted_again():
    found = sums(*INSERT, *BACKUP, *DEMOTE, ev.EvictHost(-1, 1))
    assert (found.evicted_tokens, found.host_evicted_tokens) == (6, 6)
    assert found.lost_tokens == 6


def test_a_split_node_counts_by_its_halves():
    found = sums(*INSERT, ev.Split(-1, 1, 2, 4, 2, 2), ev.Delete(-1, 1))
    assert found.evicted_tokens == 2


def test_a_plain_radix_tree_loses_all_that_it_evicts():
    found = sums(*INSERT, ev.Delete(-1, 1), tree="radix")
    assert (found.evicted_tokens, found.lost_tokens) == (6, 6)
    assert found.l2_peak_usage == 0.0


def test_an_orphan_that_gives_up_the_device_counts_as_evicted():
    load = ev.Load(-1, 1, 1, pages(1, 2, 3))
    found = sums(
        *INSERT, *BACKUP, *DEMOTE, ev.EvictHost(-1, 1),
        ev.Alloc(-1, "L1", pages(1, 2, 3)), load, ev.Demote(-1, 1),
    )  # fmt: skip
    assert found.evicted_tokens == 12


def test_peaks_are_the_highest_marks_and_not_the_last():
    start = [ev.Start(-1, name, 2, False) for name in "abc"]
    found = sums(
        *(arrive(name, 2) for name in "abc"), *start,
        ev.Retract(-1, "a"), ev.Finish(-1, "b"), arrive("d", 2),
    )  # fmt: skip
    assert (found.peak_waiting, found.peak_running) == (3, 3)
    assert (found.retractions, found.preemptions) == (1, 0)


def test_the_peak_of_l2_is_a_share_of_its_pages():
    freed = (ev.EvictHost(-1, 1), ev.Free(-1, "L2", pages(0, 1, 2)))
    assert sums(*INSERT, *BACKUP, *DEMOTE, *freed).l2_peak_usage == 3 / 10


def test_all_events_are_counted_decisions_too():
    assert sums(arrive("a", 2), ev.Match(-1, 2, 0, 0, 0, 0)).events == 2


def test_a_run_that_does_not_fold_is_told():
    with pytest.raises(TraceError, match=r"event 1 \(Delete\).*it names 9"):
        sums(arrive("a", 2), ev.Delete(-1, 9))


# --- the digest


def tree() -> State:
    state = State.start(EngineConfig(pool_tokens=64, page_size=PAGE))
    for event in (
        add(1, 0, 10, 1, 2),
        ev.Backup(-1, 1, pages(0, 1)),
        add(2, 1, 14, 3),
        ev.Hit(-1, 2),
        ev.Demote(-1, 1),
        ev.Split(-1, 1, 3, 2, 1, 1),
        add(4, 0, 2, 4),
    ):
        state.apply(event)
    return state


def test_a_line_tells_where_a_node_lies_and_how_often_it_was_hit():
    assert sorted(tree_lines(tree())) == [
        (2, 0, 2, 1, 0, 0),
        (10, 0, 2, 0, 1, 0),
        (12, 2, 2, 0, 1, 0),
        (14, 4, 2, 1, 0, 1),
    ]


def test_the_digest_is_that_of_the_lines_in_order_of_the_first_token():
    text = "2 0 2 1 0 0\n10 0 2 0 1 0\n12 2 2 0 1 0\n14 4 2 1 0 1\n"
    expected = hashlib.sha256(text.encode()).hexdigest()
    assert tree_digest(tree_lines(tree())) == expected
    assert tree_digest(sorted(tree_lines(tree()), reverse=True)) == expected


def test_the_digest_of_a_run_is_that_of_its_last_state():
    empty = hashlib.sha256(b"").hexdigest()
    assert sums().tree_sha256 == empty
    assert sums(*INSERT).tree_sha256 != empty
    assert sums(*INSERT, ev.Delete(-1, 1)).tree_sha256 == empty
