"""Does one workload drive both engines past what their pools hold?"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from kvlab.lessons import both_engines
from kvlab.views.readings import readings

README = Path(__file__).resolve().parents[1] / "README.md"
both = cache(both_engines.both)


@pytest.mark.parametrize(("at", "engine"), [(0, "sglang"), (1, "vllm")])
def test_each_engine_gives_up_requests_of_a_pool_as_large(at, engine):
    told = readings(both()[at])
    assert (told.engine, told.total) == (engine, both_engines.POOL)
    assert told.moments[-1].given_up > 0


def test_both_serve_the_same_requests_to_the_end():
    for trace in both():
        last = readings(trace).moments[-1]
        assert (last.running, last.waiting) == (0, 0)
    kinds = [[type(event).__name__ for event in trace.events] for trace in both()]
    assert [names.count("Finish") for names in kinds] == [40, 40]


def test_the_readme_tells_how_often_each_gave_one_up():
    tree, blocks = (readings(trace).moments[-1].given_up for trace in both())
    said = f"SGLang retracts {tree} times and vLLM preempts {blocks} times"
    assert said in README.read_text("utf-8")
