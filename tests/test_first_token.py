"""Are the parts of a first token, read off a trace, those that the run booked?"""

from __future__ import annotations

import pytest
from test_timed_engine import RULES, crowd, machine

from kvlab.config import EngineConfig
from kvlab.record.trace import Header, Trace
from kvlab.run.parts import Part
from kvlab.views.first_token import FirstTokens


@pytest.mark.parametrize("chunk", [None, 256])
def test_the_parts_read_off_a_trace_are_those_that_the_run_booked(chunk):
    knobs = {"pool_tokens": 4096, "chunked_prefill_size": chunk}
    config = EngineConfig.of({"host_tokens": 12000, "page_size": 16, **knobs})
    trace = Trace(Header(config=config, rules=RULES["0.5.14"]))
    engine = machine(trace, link=2e8, **knobs)
    engine.run(crowd())
    read = FirstTokens()
    for event in trace.events:
        read.feed(event)
    booked = {
        record.id: tuple(
            record.part(part) for part in (Part.QUEUE, Part.LOAD, Part.PREFILL)
        )
        for record in engine.tallies.done
    }
    assert read.parts == booked
    assert any(parts.loading for parts in read.parts.values())
