"""Do both pools of an engine fit, and with which contents are they made?

A pool is allocated once, when the engine starts. What does not fit is refused with the
numbers before a byte is allocated: a device that fails half-way leaves the other pool
behind. Left out: weights and activations, which need their own part of the memory.
"""

from __future__ import annotations

import os
from pathlib import Path

import torch
from msgspec import Struct

from ..config import EngineConfig
from ..errors import ConfigError
from .kv_form import KVForm
from .kv_tensors import KVTensors, Order
from .pool import KVPool, Mode

PRINT_BYTES = 8
"""The fingerprint that lies beside each slot's K and V."""


class Tensors(Struct, frozen=True, kw_only=True):
    """Which K and V an engine's pools hold, and where.

    Units: budgets in bytes; None asks the machine what is free. The host pool is pinned
    where the device is not the CPU itself.
    """

    form: KVForm
    device: str = "cpu"
    host_order: Order = "layer_first"
    device_budget: int | None = None
    host_budget: int | None = None


def make_pools(
    config: EngineConfig, mode: Mode, tensors: Tensors | None = None
) -> tuple[KVPool, KVPool]:
    """Return the device pool and the host pool; with `tensors` they hold K and V,
    whatever the mode.

    Raises: ConfigError with the numbers where a pool does not fit, before any is made;
    or if the mode is tensors and there are none.

    >>> form = KVForm.of_heads(layers=2, kv_heads=2, head_dim=8)
    >>> device, host = make_pools(
    ...     EngineConfig(pool_tokens=16, tree="radix"), "tensors", Tensors(form=form))
    >>> device.kv.num_bytes, len(host.prints)
    (4352, 0)
    """
    page = config.page_size
    slots = ((config.device_pages + 1) * page, config.host_pages * page)
    if tensors is None and mode == "tensors":
        raise ConfigError("pools of tensors need their form; give Tensors(form=...)")
    if tensors is None:
        return KVPool(slots[0], page, mode), KVPool(slots[1], page, mode)
    form, device = tensors.form, tensors.device
    form.dtype_on(device)
    check_room(tensors, slots)
    near = KVTensors(form, slots[0], device=device)
    far = KVTensors(
        form, slots[1], order=tensors.host_order, pinned=not _is_cpu(device)
    )
    return (
        KVPool(slots[0], page, "tensors", device, near),
        KVPool(slots[1], page, "tensors", kv=far),
    )


def check_room(tensors: Tensors, slots: tuple[int, int]) -> None:
    """Refuse pools of so many slots that do not fit.

    Raises: ConfigError with what is needed, what is there, and what would fit.
    """
    each = tensors.form.token_bytes + PRINT_BYTES
    need = slots[0] * each
    room = _free(tensors.device, tensors.device_budget)
    _check("L1", slots[0], each, room, tensors.device)
    if _is_cpu(tensors.device) and tensors.host_budget is None and room is not None:
        left: int | None = room - need
    else:
        left = _free("cpu", tensors.host_budget)
    _check("L2", slots[1], each, left, "cpu")


def _check(name: str, slots: int, each: int, room: int | None, where: str) -> None:
    if room is not None and slots * each > room:
        raise ConfigError(
            f"{name} of {slots:,} slots needs {slots * each:,} bytes ({each:,} a slot, "
            f"{PRINT_BYTES} of them its fingerprint), {max(room, 0):,} are free on "
            f"{where}; at most {max(room, 0) // each:,} slots fit"
        )


def _free(device: str, budget: int | None) -> int | None:
    """Return the bytes that may be used; None if the machine does not say."""
    if budget is not None:
        return budget
    if not _is_cpu(device):
        free, _ = torch.get_device_module(device).mem_get_info()
        return int(free)
    memory = Path("/proc/meminfo")
    if memory.is_file():
        for line in memory.read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) * 1024
    names = ("SC_PHYS_PAGES", "SC_PAGE_SIZE")
    if all(name in os.sysconf_names for name in names):
        return os.sysconf(names[0]) * os.sysconf(names[1])
    return None


def _is_cpu(device: str) -> bool:
    return torch.device(device).type == "cpu"
