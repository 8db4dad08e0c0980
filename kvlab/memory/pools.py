"""Do both pools of an engine fit, and with which contents are they made?

A pool is allocated once, when the engine starts. What does not fit is refused with the
numbers before a byte is allocated: a device that fails half-way leaves the other pool
behind. Left out: what is free, and what a pool takes of it (room.py).
"""

from __future__ import annotations

import torch
from msgspec import Struct

from ..config import EngineConfig
from ..errors import ConfigError
from .kv_form import KVForm
from .kv_tensors import KVTensors, Order
from .pool import KVPool, Mode
from .room import PRINT_BYTES, free_bytes, most_slots, pool_cost


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
    where the device refuses one all the same; or if the mode is tensors and there are
    none.

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
    pinned = not _is_cpu(device)
    try:
        near = KVTensors(form, slots[0], device=device)
        far = KVTensors(form, slots[1], order=tensors.host_order, pinned=pinned)
        return (
            KVPool(slots[0], page, "tensors", device, near),
            KVPool(slots[1], page, "tensors", kv=far),
        )
    except RuntimeError as problem:
        reason = str(problem).partition("\n")[0]
        raise ConfigError(
            f"pools of {slots[0]:,} and {slots[1]:,} slots of {form.token_bytes:,} "
            f"bytes, free by all accounts: {reason}; use fewer"
        ) from None


def check_room(tensors: Tensors, slots: tuple[int, int]) -> None:
    """Refuse pools of so many slots that do not fit.

    Raises: ConfigError with what is needed, what is there, and what would fit.
    """
    form, device = tensors.form, tensors.device
    _check("L1", form, slots[0], _room(device, tensors.device_budget), device)
    left = _room("cpu", tensors.host_budget)
    if _is_cpu(device) and tensors.host_budget is None and left is not None:
        left -= pool_cost(form, slots[0])  # both come out of what the machine has
    _check("L2", form, slots[1], left, "cpu", pinned=not _is_cpu(device))


def _check(
    name: str,
    form: KVForm,
    slots: int,
    room: int | None,
    where: str,
    pinned: bool = False,
) -> None:
    need = pool_cost(form, slots, pinned)
    if room is not None and need > room:
        each = pool_cost(form, 1)
        powers = ", in powers of two since they are pinned" if pinned else ""
        raise ConfigError(
            f"{name} of {slots:,} slots needs {need:,} bytes{powers} ({each:,} a slot, "
            f"{PRINT_BYTES} of them its fingerprint), {max(room, 0):,} are free on "
            f"{where}; at most {most_slots(form, room, pinned):,} slots fit"
        )


def _room(device: str, budget: int | None) -> int | None:
    return budget if budget is not None else free_bytes(device)


def _is_cpu(device: str) -> bool:
    return torch.device(device).type == "cpu"
