"""Does a workbench with a model answer, and notice what is wrong?"""

from __future__ import annotations

import pytest
import torch

from kvlab.errors import OutOfPool
from kvlab.record.replay import Replay
from kvlab.run import script as sc
from kvlab.run.clocked_link import ClockedLink
from kvlab.run.cost import FS
from kvlab.run.model import Model, Spec, as_bytes
from kvlab.run.model_bench import ModelBench

MODEL = Model(Spec(layers=1))
PROMPT = as_bytes("a shared prefix")


def bench(**knobs):
    defaults = {"pool_tokens": 40, "host_tokens": 80, "load_back_threshold": 1}
    return ModelBench(MODEL, **defaults | knobs)


def test_an_answer_says_what_was_found_and_what_was_computed():
    one = bench()
    assert one.ask(PROMPT)[:3] == (0, 0, 15)
    one.ack_write()
    one.evict(15)
    assert one.ask(as_bytes("a shared prefix!"))[:3] == (0, 15, 1)
    assert one.ask(as_bytes("a shared prefix?"))[:3] == (15, 0, 1)


def test_its_logits_are_the_models_own():
    assert torch.equal(bench().ask(PROMPT).logits, MODEL.prefill(PROMPT)[0])


def test_its_rows_are_the_models_own():
    one = bench()
    one.ask(PROMPT)
    expected = MODEL.prefill(PROMPT)[1].raw(torch.arange(15))
    rows = one.rows(PROMPT)
    assert all(torch.equal(a, b) for a, b in zip(rows, expected, strict=True))


def test_a_prompt_that_is_not_admitted_is_told_with_the_numbers():
    with pytest.raises(OutOfPool, match=r"ask1 of 45 tokens .* 40 are free and 0"):
        bench().ask(range(45))


def test_a_checked_bench_compares_after_every_op():
    one = bench(checked=True)
    one.insert(PROMPT)
    one.engine.device_pool.prints[3] = 0
    assert one.found == []
    one.match(PROMPT)
    assert [wrong.slot for wrong in one.found] == [3]


def test_its_trace_folds():
    one = bench(checked=True)
    one.ask(PROMPT)
    assert Replay(one.trace).fault is None


def test_on_a_clock_a_copy_takes_the_bytes_of_its_tokens():
    link = ClockedLink(1000.0)
    one = bench(link=link)
    one.insert(PROMPT)
    seconds = 15 * MODEL.spec.form.token_bytes / 1000
    (node,) = one.engine.cache.tree.nodes()
    for now, arrived in ((seconds * 0.99, False), (seconds, True)):
        link.now = round(now * FS)
        one.do(sc.CheckEventsOp())
        assert (node.writing is None) == arrived
