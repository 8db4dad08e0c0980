"""How many bytes may a pool take, and how many does it take?

What is free is what the device says, or on the host the least of what the machine has
left and what its control groups, a container's limit, still allow. Pinned memory costs
more than it holds: torch asks for it in powers of two.
Left out: who asks (pools.py), and weights and activations.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

import torch

from .kv_form import KVForm

PRINT_BYTES = 8
"""The fingerprint that lies beside each slot's K and V."""

_MEMINFO = Path("/proc/meminfo")
_GROUPS = Path("/sys/fs/cgroup")
_MINE = Path("/proc/self/cgroup")


def pool_cost(form: KVForm, slots: int, pinned: bool = False) -> int:
    """Return the bytes that a pool of so many slots takes.

    Source: PyTorch 2.6, ATen/core/CachingHostAllocator.h, whose rounding later
    releases keep unless PYTORCH_ALLOC_CONF says pinned_max_round_threshold_mb.

    >>> form = KVForm.of_heads(layers=2, kv_heads=2, head_dim=8)
    >>> pool_cost(form, 48), pool_cost(form, 48, pinned=True)
    (12672, 16896)
    """
    if not pinned:
        return slots * (form.token_bytes + PRINT_BYTES)
    width = sum(heads * size for heads, size in form.rows)
    parts = [form.token_bytes * heads * size // width for heads, size in form.rows]
    each = [PRINT_BYTES, *parts]
    return sum(1 << (slots * part - 1).bit_length() for part in each if slots)


def most_slots(form: KVForm, room: int, pinned: bool = False) -> int:
    """Return the slots of the largest pool that fits."""
    most = max(room, 0) // pool_cost(form, 1)
    return bisect_right(
        range(1, most + 1), room, key=lambda n: pool_cost(form, n, pinned)
    )


def free_bytes(device: str) -> int | None:
    """Return the bytes that may be used on a device; None if nothing says."""
    where = torch.device(device)
    if where.type != "cpu":
        free, _ = torch.get_device_module(device).mem_get_info(where.index)
        return int(free)
    said = [*_machine(), *_groups()]
    return min(said, default=None)


def _machine() -> Iterator[int]:
    """Yield what the machine has left, or all it has if it does not say."""
    lines = _MEMINFO.read_text().splitlines() if _MEMINFO.is_file() else []
    for line in lines:
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            yield int(value.split()[0]) * 1024
            return
    names = ("SC_PHYS_PAGES", "SC_PAGE_SIZE")
    if all(name in os.sysconf_names for name in names):
        yield os.sysconf(names[0]) * os.sysconf(names[1])


def _groups() -> Iterator[int]:
    """Yield what each limit on this process leaves, from its own group up; what is
    cached of files can be had back."""
    mine = _MINE.read_text().splitlines() if _MINE.is_file() else []
    for line in mine:
        number, _, path = line.split(":", 2)
        if number != "0":
            continue
        own = _GROUPS / path.lstrip("/")
        for group in (own, *own.parents):
            limit = group / "memory.max"
            if limit.is_file() and (most := limit.read_text().strip()) != "max":
                used = int((group / "memory.current").read_text())
                yield int(most) - used + _cached(group)


def _cached(group: Path) -> int:
    for line in (group / "memory.stat").read_text().splitlines():
        name, _, value = line.partition(" ")
        if name == "inactive_file":
            return int(value)
    return 0
