"""Does every event name what led to it?"""

from __future__ import annotations

import pytest

from kvlab.config import EngineConfig
from kvlab.record.events import Evict, Hit, Step, Touch
from kvlab.record.trace import QUIET, Header, Trace
from kvlab.rules import Rules


@pytest.fixture
def trace() -> Trace:
    return Trace(Header(config=EngineConfig(pool_tokens=8), rules=Rules.v0_5_14()))


def causes(trace: Trace) -> list[int]:
    return [event.cause for event in trace.events]


def test_an_event_by_itself_has_no_cause(trace):
    trace(Hit, 1)
    assert causes(trace) == [-1]


def test_what_is_said_inside_a_decision_is_caused_by_it(trace):
    with trace.of(Step, 0, "evict", ""):
        trace(Hit, 1)
        with trace.of(Evict, "L1", 4, "lru"):
            trace(Hit, 2)
        trace(Hit, 3)
    trace(Hit, 4)
    assert causes(trace) == [-1, 0, 0, 2, 0, -1]


def test_a_decision_that_fails_is_no_cause_of_what_follows(trace):
    with pytest.raises(ValueError, match="broken"), trace.of(Step, 0, "evict", ""):
        raise ValueError("broken")
    trace(Hit, 1)
    assert causes(trace) == [-1, -1]


def test_an_event_keeps_its_fields(trace):
    trace(Touch, 3, 17, 1)
    assert trace.events == [Touch(-1, 3, 17, 1)]


def test_an_events_index_is_its_place(trace):
    assert [trace(Hit, 1), trace(Hit, 2)] == [0, 1]
    assert len(trace) == 2


def test_a_chain_leads_from_the_first_cause_to_the_event(trace):
    with trace.of(Step, 0, "evict", ""):
        trace(Hit, 1)
        with trace.of(Evict, "L1", 4, "lru"):
            last = trace(Hit, 2)
    assert trace.chain(last) == [0, 2, 3]


def test_who_says_nothing_keeps_nothing():
    assert QUIET(Hit, 1) == -1
    with QUIET.of(Step, 0, "evict", ""):
        pass
