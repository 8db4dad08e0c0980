"""Is it known what a pool takes, and what there is?"""

from __future__ import annotations

import pytest

from kvlab.memory import room
from kvlab.memory.kv_form import KVForm
from kvlab.memory.room import free_bytes, most_slots, pool_cost

GQA = KVForm.of_heads(layers=3, kv_heads=2, head_dim=8, dtype="bfloat16")
MLA = KVForm.of_latent(layers=3, rank=10, rope_dim=2, dtype="fp8")
forms = pytest.mark.parametrize("form", [GQA, MLA], ids=["gqa", "mla"])


@forms
def test_a_pool_costs_its_tokens_and_their_fingerprints(form):
    assert pool_cost(form, 100) == 100 * (form.token_bytes + 8)


def test_each_pinned_tensor_costs_the_next_power_of_two():
    assert GQA.token_bytes == 192
    assert pool_cost(GQA, 100, pinned=True) == 2 * 16384 + 1024  # K, V of 9,600 each
    assert pool_cost(MLA, 100, pinned=True) == 4096 + 1024  # 3,600 in one part
    assert pool_cost(MLA, 0, pinned=True) == 0


def test_a_power_of_two_costs_itself():
    assert pool_cost(GQA, 2**20 // 3 * 3, pinned=True) <= 2 * 2**27 + 2**23


@forms
@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("space", [0, 63, 5_000, 10**6, 10**18])
def test_the_largest_pool_that_fits_fits_and_one_slot_more_does_not(
    form, pinned, space
):
    most = most_slots(form, space, pinned)
    assert pool_cost(form, most, pinned) <= space
    assert pool_cost(form, most + 1, pinned) > space


def test_less_than_nothing_holds_nothing():
    assert most_slots(GQA, -5) == 0


# --- what the machine says


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with 1,000 KiB left, whose process is in a group of a group."""
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable: 1000 kB\n")
    (tmp_path / "mine").write_text("4:memory:/old\n0::/outer/inner\n")
    inner = tmp_path / "groups" / "outer" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.setattr(room, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(room, "_MINE", tmp_path / "mine")
    monkeypatch.setattr(room, "_GROUPS", tmp_path / "groups")

    def limit(group, most, used=0, cached=0):
        folder = tmp_path / "groups" / group
        (folder / "memory.max").write_text(f"{most}\n")
        (folder / "memory.current").write_text(f"{used}\n")
        (folder / "memory.stat").write_text(f"anon 1\ninactive_file {cached}\n")

    return limit


def test_without_limits_the_host_has_what_the_machine_has_left(machine):
    machine("outer", "max")
    assert free_bytes("cpu") == 1000 * 1024


@pytest.mark.parametrize("group", ["outer", "outer/inner"])
def test_a_limit_on_any_group_above_counts_less_what_it_uses(machine, group):
    machine(group, 500_000, used=200_000, cached=50_000)
    assert free_bytes("cpu") == 350_000


def test_a_limit_beyond_what_is_left_gives_nothing_more(machine):
    machine("outer", 10**12)
    assert free_bytes("cpu") == 1000 * 1024
