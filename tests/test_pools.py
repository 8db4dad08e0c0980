"""Is a pool that does not fit refused before anything is allocated?"""

from __future__ import annotations

import pytest
import torch
from watched_device import watched

from kvlab.config import EngineConfig
from kvlab.errors import ConfigError
from kvlab.memory import pools
from kvlab.memory.kv_form import KVForm
from kvlab.memory.kv_tensors import KVTensors
from kvlab.memory.pools import Tensors, make_pools

FORM = KVForm.of_heads(layers=2, kv_heads=2, head_dim=8)
EACH = FORM.token_bytes + 8


@pytest.fixture(autouse=True)
def allocated(monkeypatch):
    """Count what is allocated."""
    made, zeros = [], torch.zeros

    def counted(*args, **options):
        made.append(args)
        return zeros(*args, **options)

    monkeypatch.setattr(torch, "zeros", counted)
    return made


def config(**knobs):
    return EngineConfig(**{"pool_tokens": 100, "host_tokens": 300} | knobs)


def test_both_pools_have_the_slots_of_the_config_and_page_0_beside():
    device, host = make_pools(config(page_size=4), "tensors", Tensors(form=FORM))
    assert (len(device.prints), len(host.prints)) == (104, 300)
    assert (device.kv.num_bytes, host.kv.num_bytes) == (
        104 * FORM.token_bytes, 300 * FORM.token_bytes,
    )  # fmt: skip


def test_the_host_order_is_that_of_the_host_alone():
    tensors = Tensors(form=FORM, host_order="page_first")
    device, host = make_pools(config(), "tensors", tensors)
    assert (device.kv.order, host.kv.order) == ("layer_first", "page_first")


@pytest.mark.parametrize("mode", ["fingerprints", "ledger"])
def test_without_tensors_no_pool_holds_k_and_v(mode):
    assert [pool.kv for pool in make_pools(config(), mode)] == [None, None]


def test_pools_of_tensors_without_a_form_are_refused():
    with pytest.raises(ConfigError, match=r"give Tensors\(form=...\)"):
        make_pools(config(), "tensors")


def test_a_device_pool_over_its_budget_is_refused_with_the_numbers(allocated):
    tensors = Tensors(form=FORM, device_budget=101 * EACH - 1)
    said = (
        f"L1 of 101 slots needs {101 * EACH:,} bytes \\({EACH} a slot, 8 of them its "
        f"fingerprint\\), {101 * EACH - 1:,} are free on cpu; at most 100 slots fit"
    )
    with pytest.raises(ConfigError, match=said):
        make_pools(config(), "tensors", tensors)
    assert allocated == []


def test_a_host_pool_over_its_budget_is_refused_before_the_device_pool_is_made(
    allocated,
):
    tensors = Tensors(form=FORM, device_budget=10**6, host_budget=299 * EACH)
    with pytest.raises(ConfigError, match=r"L2 of 300 slots .* at most 299 slots fit"):
        make_pools(config(), "tensors", tensors)
    assert allocated == []


def test_budgets_that_are_met_exactly_fit():
    tensors = Tensors(form=FORM, device_budget=101 * EACH, host_budget=300 * EACH)
    assert len(make_pools(config(), "tensors", tensors)) == 2


def test_on_a_cpu_both_pools_share_what_is_free(allocated, monkeypatch):
    monkeypatch.setattr(pools, "free_bytes", lambda device: 400 * EACH)
    with pytest.raises(ConfigError, match=r"L2 of 300 slots .* at most 299 slots fit"):
        make_pools(config(), "tensors", Tensors(form=FORM))
    assert allocated == []


def test_a_budget_of_the_device_is_none_of_the_host():
    tensors = Tensors(form=FORM, device_budget=101 * EACH)
    assert len(make_pools(config(), "tensors", tensors)) == 2


def test_a_pool_larger_than_this_machine_is_refused(allocated):
    form = KVForm.of_heads(layers=80, kv_heads=64, head_dim=256)
    with pytest.raises(ConfigError, match="are free on cpu; at most"):
        make_pools(config(pool_tokens=2**27), "tensors", Tensors(form=form))
    assert allocated == []


def test_what_the_device_refuses_all_the_same_is_told_in_one_line(monkeypatch):
    def full(*args, **options):
        raise RuntimeError("out of memory. Tried to allocate 2 MiB.\nmore lines")

    monkeypatch.setattr(KVTensors, "__init__", full)
    said = r"pools of 101 and 300 slots .*: out of memory.* 2 MiB\.; use fewer$"
    with pytest.raises(ConfigError, match=said):
        make_pools(config(), "tensors", Tensors(form=FORM))


def test_a_pinned_pool_needs_room_for_powers_of_two(monkeypatch):
    with watched(monkeypatch) as device:
        monkeypatch.setattr(device, "mem_get_info", lambda index=None: (10**6, 10**6))
        tensors = Tensors(form=FORM, device="cuda", host_budget=300 * EACH)
        with pytest.raises(ConfigError, match=(
            "L2 of 300 slots needs 135,168 bytes, in powers of two since they are "
            r"pinned .* at most 256 slots fit"
        )):  # fmt: skip
            make_pools(config(), "tensors", tensors)


def test_a_device_pool_that_its_device_has_no_room_for_is_refused(monkeypatch):
    with watched(monkeypatch) as device:
        monkeypatch.setattr(device, "mem_get_info", lambda index=None: (999, 10**6))
        with pytest.raises(
            ConfigError, match=r"L1 of 101 slots .* 999 are free on cud"
        ):
            make_pools(config(), "tensors", Tensors(form=FORM, device="cuda"))
