"""How fast is the machine? Peak figures of named accelerators, with their sources.

Peaks are what data sheets print, dense (a sheet that prints "with sparsity" is halved),
of bf16 and, where it is known, of fp8; memory is what nvidia-smi reports, a little off
the sheet's round number. What a serving engine reaches of them stands in cost.py, as
factors.
Left out: power limits, and clocks that fall under load.
"""

from __future__ import annotations

from msgspec import Struct

from ..errors import ConfigError


class Accelerator(Struct, frozen=True, kw_only=True):
    """One device's peaks.

    Units: `flops` a second, dense bf16, and `fp8_flops` dense fp8, None for a device
    that has none or whose figure is not known; `memory_bytes` and `memory_rate` of its
    own memory (bytes, bytes a second); `host_rate` bytes a second in each direction to
    the host; `peer_rate` bytes a second in each direction to its peers.
    """

    name: str
    flops: float
    memory_bytes: int
    memory_rate: float
    host_rate: float
    peer_rate: float
    source: str
    fp8_flops: float | None = None


_MIB = 1 << 20

_TABLE = (
    Accelerator(
        name="a100", flops=312e12, memory_bytes=81920 * _MIB, memory_rate=2.039e12,
        host_rate=32e9, peer_rate=300e9,
        source="NVIDIA A100 Tensor Core GPU data sheet, 80GB SXM: 312 TFLOPS bf16, "
        "2,039 GB/s, PCIe 4 x16 64 GB/s and NVLink 600 GB/s both ways together",
    ),
    Accelerator(
        name="h100", flops=989.5e12, memory_bytes=81559 * _MIB, memory_rate=3.35e12,
        host_rate=64e9, peer_rate=450e9,
        fp8_flops=1979e12,
        source="NVIDIA H100 Tensor Core GPU data sheet, SXM: 1,979 TFLOPS bf16 and "
        "3,958 fp8 with sparsity, 3.35 TB/s, PCIe 5 128 GB/s and NVLink 900 GB/s both "
        "ways together",
    ),
    Accelerator(
        name="h200", flops=989.5e12, memory_bytes=143771 * _MIB, memory_rate=4.8e12,
        host_rate=64e9, peer_rate=450e9,
        fp8_flops=1979e12,
        source="NVIDIA H200 Tensor Core GPU data sheet, SXM: 1,979 TFLOPS bf16 and "
        "3,958 fp8 with sparsity, 141 GB, 4.8 TB/s, PCIe 5 128 GB/s, NVLink 900 GB/s",
    ),
    Accelerator(
        name="b200", flops=2250e12, memory_bytes=183359 * _MIB, memory_rate=7.7e12,
        host_rate=64e9, peer_rate=900e9,
        fp8_flops=4500e12,
        source="NVIDIA HGX B200 and DGX B200 data sheets, one of eight: 4.5 PFLOPS "
        "bf16 and 9 fp8 with sparsity, 180 GB, 62 TB/s for eight, PCIe 5, NVLink 1.8 "
        "TB/s",
    ),
    Accelerator(
        name="l40s", flops=362e12, memory_bytes=46068 * _MIB, memory_rate=864e9,
        host_rate=32e9, peer_rate=32e9,
        fp8_flops=733e12,
        source="NVIDIA L40S data sheet: 362 TFLOPS bf16 and 733 fp8, 48 GB, 864 GB/s, "
        "PCIe 4 x16 64 GB/s both ways together; no NVLink, so peers talk over PCIe",
    ),
    Accelerator(
        name="laptop", flops=66e12, memory_bytes=16376 * _MIB, memory_rate=576e9,
        host_rate=16e9, peer_rate=16e9,
        source="NVIDIA GeForce RTX 4090 Laptop GPU: 16 GB GDDR6 on 256 bits at 18 "
        "Gb/s; bf16 is an estimate, twice the fp32 rate of 9,728 cores at 1.7 GHz; "
        "PCIe 4 x8",
    ),
)  # fmt: skip

ACCELERATORS: dict[str, Accelerator] = {entry.name: entry for entry in _TABLE}
"""The accelerators by name."""


def accelerator(name: str) -> Accelerator:
    """Return the accelerator of that name.

    Raises: ConfigError for one that the table has not.

    >>> accelerator("h100").memory_rate
    3350000000000.0
    """
    found = ACCELERATORS.get(name.lower())
    if found is None:
        known = ", ".join(ACCELERATORS)
        raise ConfigError(f"no accelerator {name!r}; kvlab knows {known}")
    return found
