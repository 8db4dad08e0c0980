"""Is reused KV, bit for bit, the KV that was computed?"""

from __future__ import annotations

import pytest
import torch
from lazy_device import LazyTransfer

from kvlab.lessons.reuse import CHUNK, TAIL, Setting, churn, other_chunks, paths
from kvlab.run.model import Spec

SPECS = {
    "gqa": Spec(layers=2), "mla": Spec(layers=2, rank=16),
    "bfloat16": Spec(layers=2, dtype="bfloat16"), "fp8": Spec(layers=2, dtype="fp8"),
}  # fmt: skip
on_gpu = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here"),
]
DEVICES = ["cpu", pytest.param("cuda", marks=on_gpu)]
all_specs = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
all_orders = pytest.mark.parametrize("order", ["layer_first", "page_first"])
all_policies = pytest.mark.parametrize("policy", ["write_through", "write_back"])
all_devices = pytest.mark.parametrize("device", DEVICES)


@all_specs
@all_orders
@all_devices
def test_computed_found_and_loaded_back_give_the_same_bits(spec, order, device):
    for way in paths(Setting(spec, order, device=device)):
        assert (way.rows, way.same) == (way.of, True), way


def test_the_three_ways_are_three_ways():
    ways = paths(Setting(SPECS["gqa"]))
    tail, whole = len(TAIL), CHUNK + len(TAIL)
    assert [way[1:4] for way in ways] == [
        (0, 0, whole), (CHUNK, 0, tail), (0, CHUNK, tail),
    ]  # fmt: skip


@all_specs
@all_devices
def test_other_chunks_stay_within_the_tolerance(spec, device):
    setting = Setting(spec, device=device)
    assert other_chunks(setting) < setting.tolerance


@all_orders
@all_policies
@all_devices
@pytest.mark.parametrize("page_size", [1, 4])
def test_under_churn_every_row_is_one_that_was_computed_for_its_prefix(
    order, policy, page_size, device
):
    setting = Setting(SPECS["gqa"], order, policy, device)
    found = churn(setting, page_size=page_size)
    assert (found.strange, found.wrong, found.said) == (0, 0, found.of)
    assert found.rows > 2000
    for kind in ("Demote", "Load", "Backup", "EvictHost"):
        assert found.events[kind], kind


@all_policies
def test_under_the_rules_of_0_5_14_nothing_else_comes_out(policy):
    found = churn(Setting(SPECS["gqa"], write_policy=policy, release="0.5.14"))
    assert (found.strange, found.wrong, found.said) == (0, 0, found.of)


def test_the_churn_splits_nodes_and_loads_chains():
    events = churn(Setting(SPECS["mla"], "page_first")).events
    assert events["Split"] >= 2
    assert events["Load"] > events["LoadDone"]


@all_orders
@pytest.mark.parametrize("spec", [SPECS["gqa"], SPECS["mla"]], ids=["gqa", "mla"])
def test_copies_that_come_as_late_as_events_allow_spoil_no_bit(
    spec, order, monkeypatch
):
    monkeypatch.setattr(Setting, "link", lambda self: LazyTransfer())
    found = churn(Setting(spec, order), conversations=4)
    assert (found.strange, found.wrong, found.said) == (0, 0, found.of)
    assert found.events["Load"] and found.events["Demote"]


def test_a_pass_that_does_not_wait_for_its_layers_reads_old_bytes(monkeypatch):
    monkeypatch.setattr(Setting, "link", lambda self: LazyTransfer(waits=False))
    found = churn(Setting(SPECS["gqa"]), conversations=4)
    assert found.said < found.of


def test_a_single_bit_that_differs_is_seen(monkeypatch):
    from kvlab.memory.kv_tensors import KVTensors

    copy = KVTensors._copy_layer

    def flip(self, source, runs, layer):
        copy(self, source, runs, layer)
        if layer == 1 and self.parts[0].shape[1] > 100:
            bits = self.parts[0][1, runs[0][1]].view(torch.int32)
            bits[0, 0] ^= 1

    monkeypatch.setattr(KVTensors, "_copy_layer", flip)
    found = churn(Setting(SPECS["gqa"]), conversations=3, turns=1)
    assert (found.strange > 0, found.wrong) == (True, 0)
