"""Is every access on a GPU after what it needs, and is a wait that is missing seen?

No GPU is asked for: `watched_device` stands in for one, and the pools, the streams, the
model and the engine are those that a GPU gets.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from watched_device import watched
from watched_order import Event, Line

from kvlab.config import EngineConfig
from kvlab.lessons.planted import FAULTS, OTHER, TAIL, A, tell
from kvlab.lessons.reuse import Setting, parting_talks, paths
from kvlab.memory.kv_form import KVForm
from kvlab.memory.kv_tensors import KVTensors
from kvlab.memory.pool import KVPool
from kvlab.memory.pools import Tensors, make_pools
from kvlab.memory.streams import StreamTransfer
from kvlab.memory.transfer import HandTransfer, Steps
from kvlab.pages import as_pages
from kvlab.record.trace import Header, Trace
from kvlab.rules import Rules
from kvlab.run import script as sc
from kvlab.run.checker import Checker
from kvlab.run.engine import Engine
from kvlab.run.model import Model, Spec
from kvlab.run.model_bench import ModelBench
from kvlab.run.model_engine import ModelRun, serve

GQA, MLA = Spec(layers=2), Spec(layers=2, rank=16, dtype="fp8")
WAYS = {
    "gqa": (GQA, "layer_first", "write_through"),
    "gqa back": (GQA, "page_first", "write_back"),
    "mla": (MLA, "page_first", "write_through"),
    "mla back": (MLA, "layer_first", "write_back"),
}


@pytest.fixture
def device(monkeypatch):
    with watched(monkeypatch) as device:
        yield device


def converse(spec=GQA, order="layer_first", policy="write_through"):
    """Let conversations churn both pools; return the kinds of what happened, and how
    many slots were found to be wrong."""
    config = EngineConfig(
        pool_tokens=64, host_tokens=96, load_back_threshold=1, write_policy=policy,
        chunked_prefill_size=16,
    )  # fmt: skip
    trace = Trace(Header(config=config, rules=Rules.v0_5_23()))
    run = ModelRun(Model(spec, "cuda"))
    engine = Engine(
        config, trace.header.rules, emit=trace, mode="tensors", forward=run,
        link=StreamTransfer("cuda"),
        tensors=Tensors(form=spec.form, device="cuda", host_order=order),
    )  # fmt: skip
    serve(engine, run, parting_talks(3, 2))
    wrong = Checker(engine, trace).check()
    return {type(event).__name__ for event in trace.events}, len(wrong)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_conversations_leave_nothing_to_luck(device, way):
    kinds, wrong = converse(*way)
    assert {"Backup", "Demote", "Load", "LoadDone"} <= kinds
    assert (wrong, device.faults) == (0, [])


def way_and_back():
    """Let A be computed, written, overwritten and loaded back, and nobody wait but who
    has to: the bench goes while copies are under way."""
    bench = ModelBench(
        Model(GQA, "cuda"), link=StreamTransfer("cuda"), pool_tokens=28, host_tokens=64,
        load_back_threshold=1,
    )  # fmt: skip

    def until_written():
        while bench.engine.link.pending("write"):
            bench.do(sc.CheckEventsOp())

    for tokens in (A, OTHER):
        bench.insert(tokens)
        until_written()
    assert bench.ask(np.concatenate((A, TAIL))).loaded == len(A)


def lies(link):
    """A poll that asks no event."""
    for stream in ("write", "load"):
        HandTransfer.complete(link, stream)
        link._events[stream].clear()


def pageable(self, *args, make=KVTensors.__init__, **options):
    make(self, *args, **options | {"pinned": False})


MISSING = {
    "a write waits for what was computed": (
        Line, "wait_stream", lambda self, other: None,
        "write reads what compute wrote, unordered",
    ),
    "a pass waits for the layers it reads": (
        StreamTransfer, "wait_layer", lambda self, layer: None,
        "compute reads what load wrote, unordered",
    ),
    "a pass waits for each of them": (
        StreamTransfer, "wait_layer",
        lambda self, layer, wait=StreamTransfer.wait_layer: wait(self, 0),
        "compute reads what load wrote, unordered",
    ),
    "a copy is done when its event says so": (
        StreamTransfer, "poll", lies,
        "compute writes over what write reads, unordered",
    ),
    "the host pool is pinned": (
        KVTensors, "__init__", pageable,
        "a copy that nobody waits for, of memory that is not pinned",
    ),
    "the allocator knows the streams of a pool": (
        KVPool, "_used_here", lambda self: None,
        "memory is freed while load uses it",
    ),
}  # fmt: skip


def test_on_the_way_to_the_host_and_back_all_is_ordered(device):
    way_and_back()
    assert device.faults == []


def test_the_three_ways_of_the_proof_mix_no_devices_and_agree(device):
    for way in paths(Setting(MLA, "page_first", device="cuda")):
        assert (way.rows, way.same) == (way.of, True), way
    assert device.faults == []


@pytest.mark.parametrize("missing", MISSING.values(), ids=MISSING)
def test_without_it_something_is_not(device, monkeypatch, missing):
    where, name, instead, fault = missing
    monkeypatch.setattr(where, name, instead)
    way_and_back()
    assert fault in device.faults


def test_who_looks_at_the_host_waits_for_the_device(device, monkeypatch):
    monkeypatch.setattr(KVPool, "synchronize", lambda self: None)
    tell("gap", planted=False, spec=Spec(layers=1), device="cuda")
    assert device.faults == ["host reads what compute wrote, unordered"]


def test_an_eviction_of_write_back_waits_for_its_write(device, monkeypatch):
    monkeypatch.setattr(Event, "synchronize", lambda self: None)
    converse(policy="write_back")
    assert "compute writes over what write reads, unordered" in device.faults


@pytest.mark.parametrize("name", ["early unlock", "reuse in flight"])
def test_a_lock_dropped_too_early_lets_streams_run_into_each_other(device, name):
    fault = FAULTS[name]
    bench = ModelBench(
        Model(Spec(layers=1), "cuda"), link=StreamTransfer("cuda"),
        host_cache_type=fault.cache, pool_tokens=28, host_tokens=64, page_size=2,
        load_back_threshold=1,
    )  # fmt: skip
    fault.story(bench)
    assert any("unordered" in found for found in device.faults)


@pytest.mark.parametrize("order", ["layer_first", "page_first"])
def test_the_host_waits_for_no_copy_that_it_submits(device, order):
    form = KVForm.of_heads(layers=2, kv_heads=1, head_dim=2)
    near, far = make_pools(
        EngineConfig(pool_tokens=8, host_tokens=8), "tensors",
        Tensors(form=form, device="cuda", host_order=order),
    )  # fmt: skip
    link, one, other = StreamTransfer("cuda"), as_pages([1, 2, 5]), as_pages([0, 4, 5])
    link.submit("write", 1, 0, Steps(far.moves(near, one, other)))
    link.submit("load", 2, 0, Steps(near.moves(far, other, one)))
    streams = device.lines[2:]
    assert [line.name for line in streams] == ["write", "load"]
    assert not device.host.clock.keys() & set(streams)
    link.complete("write")
    assert device.host.clock.keys() & set(streams) == {streams[0]}


def test_devices_are_not_mixed_and_fp8_is_not_indexed(device):
    one = torch.zeros(3, device="cuda")
    with pytest.raises(RuntimeError, match="on cuda:0 and on cpu"):
        one + torch.ones(3)
    with pytest.raises(NotImplementedError, match="Float8_e4m3fn"):
        one.to(torch.float8_e4m3fn)[torch.tensor([0])]
