"""How fast do both streams copy, and how much of a load hides behind computation?

    python tests/benchmarks/streams.py [cuda|cpu] [tokens]

Pools with the KV of an 8B model (32 layers, 8 KV heads of 128, bfloat16: 128 KiB a
token), layer-first on both sides, pages of 64 in neighbouring and in scattered places.
Prints gigabytes a second of a write and of a load alone, then a pass over all layers
that waits for each layer of a load: alone, behind the load, and beside it. On a CPU
copies are made at submission, so nothing can hide.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import torch

from kvlab.config import EngineConfig
from kvlab.memory.kv_form import KVForm
from kvlab.memory.pool import KVPool
from kvlab.memory.pools import Tensors, make_pools
from kvlab.memory.streams import StreamTransfer
from kvlab.memory.transfer import Steps
from kvlab.pages import Pages, as_pages

FORM = KVForm.of_heads(layers=32, kv_heads=8, head_dim=128, dtype="bfloat16")
PAGE, WIDTH, RUNS = 64, 4096, 5


def main(device: str = "cuda", tokens: int = 4096) -> int:
    """Print the figures; 2 where there is no such device."""
    if device == "cuda" and not torch.cuda.is_available():
        print("no CUDA device here; try: streams.py cpu 256", file=sys.stderr)
        return 2
    config = EngineConfig(
        pool_tokens=2 * tokens, host_tokens=2 * tokens, page_size=PAGE
    )
    near, far = make_pools(config, "tensors", Tensors(form=FORM, device=device))
    link = StreamTransfer(device)
    count = tokens // PAGE
    size = tokens * FORM.token_bytes / 1e9
    mixed = np.random.default_rng(0).permutation(2 * count)[:count]
    for name, pages in (("neighbours", np.arange(count)), ("scattered", mixed)):
        here, there = as_pages((pages + 1).tolist()), as_pages(pages.tolist())
        for stream, ends in (("write", (far, near)), ("load", (near, far))):
            places = (here, there) if stream == "write" else (there, here)
            took = best(lambda: copy(link, stream, *ends, *places))  # noqa: B023
            print(f"{name}, {stream}: {size / took:.1f} GB/s ({size:.2f} GB)")
    overlap(device, link, near, far, as_pages(range(1, count + 1)))
    return 0


def copy(
    link: StreamTransfer, stream: str, to: KVPool, source: KVPool, at: Pages, end: Pages
) -> None:
    """Make one copy and wait for it."""
    link.submit(stream, 0, 0, Steps(to.moves(source, at, end)))
    link.complete(stream)


def overlap(
    device: str, link: StreamTransfer, near: KVPool, far: KVPool, pages: Pages
) -> None:
    """Print what a pass takes alone, after a load, and beside it."""
    there = as_pages((pages - 1).tolist())
    width = WIDTH if device == "cuda" else WIDTH // 16
    x = torch.randn(width // 2, width, device=device, dtype=torch.bfloat16)
    weight = torch.randn(width, width, device=device, dtype=torch.bfloat16)

    def compute(wait: bool) -> None:
        y = x
        for layer in range(FORM.layers):
            if wait:
                link.wait_layer(layer)
            for _ in range(8):
                y = y @ weight
        torch.get_device_module(device).synchronize()

    def load() -> None:
        link.submit("load", 0, 0, Steps(near.moves(far, there, pages)))

    def beside() -> None:
        load()
        compute(wait=True)
        link.complete("load")

    def behind() -> None:
        load()
        link.complete("load")
        compute(wait=False)

    alone = best(lambda: compute(wait=False))
    after, both = best(behind), best(beside)
    print(
        f"a pass alone {alone * 1e3:.1f} ms, behind the load {after * 1e3:.1f} ms, "
        f"beside it {both * 1e3:.1f} ms"
    )
    if device != "cpu":
        print(f"{(after - both) / max(after - alone, 1e-9):.0%} of the load is hidden")


def best(run) -> float:
    """Return the shortest of some runs, in seconds; the first only warms up."""
    took = []
    for _ in range(RUNS + 1):
        began = time.perf_counter()
        run()
        took.append(time.perf_counter() - began)
    return min(took[1:])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2], *map(int, sys.argv[2:3])))
