"""How fast do both streams copy, and how much of a load hides behind computation?

    python tests/benchmarks/streams.py [cuda|cpu] [tokens]

Pools with the KV of an 8B model (32 layers, 8 KV heads of 128, bfloat16: 128 KiB a
token), pages of 64. It prints gigabytes a second of a write, a load and both at once,
for pages in neighbouring and in scattered places and for both orders of the host; then
a pass over all layers that waits for each layer of a load: alone, behind the load, and
beside it. Before that it takes random bytes to the host and back and compares them all.

Read it so. Neighbours show the link: 50 to 57 GB/s each way is what PCIe 5 x16 gives,
22 to 26 PCIe 4 x16, and both at once more than one alone; under half of it, look for
memory of the other socket (`numactl`) or a card in a slot of 8 lanes. Scattered pages
show the calls: layer-first needs one a page, layer and part (64 a page here), 5 to 10
microseconds each of the host's time, so it falls to a half or a quarter, and both at
once, which one thread calls, to no more; real engines have a kernel for that.
Page-first needs one a page and part, and the device turns the rows. Beside the load a
pass should take hardly longer than alone: 80 % hidden or more. Times are the host's
clock until the last event, calls included, shortest of five runs; expect 10 % from
run to run. On a CPU copies are made at submission: nothing can hide.
"""

from __future__ import annotations

import sys
import time
from math import ceil

import numpy as np
import torch

from kvlab.cli.parser import Help, Parser
from kvlab.config import EngineConfig
from kvlab.memory.kv_form import KVForm
from kvlab.memory.kv_tensors import Order
from kvlab.memory.pools import Tensors, make_pools
from kvlab.memory.streams import StreamTransfer
from kvlab.memory.transfer import Steps, Stream
from kvlab.pages import Pages, as_pages, slots_of

FORM = KVForm.of_heads(layers=32, kv_heads=8, head_dim=128, dtype="bfloat16")
PAGE, WIDTH, RUNS = 64, 4096, 5


class Bench:
    """Both pools, twice as large as one copy, and the link between them."""

    def __init__(self, device: str, tokens: int, order: Order) -> None:
        size = 2 * tokens // PAGE * PAGE
        config = EngineConfig(pool_tokens=size, host_tokens=size, page_size=PAGE)
        tensors = Tensors(form=FORM, device=device, host_order=order)
        self.near, self.far = make_pools(config, "tensors", tensors)
        self.link, self.device = StreamTransfer(device), device
        self.pages = size // 2 // PAGE
        self.gigabytes = self.pages * PAGE * FORM.token_bytes / 1e9

    def places(self, scattered: bool) -> dict[Stream, tuple[Pages, Pages]]:
        """Return, for each stream, its pages on the device and on the host."""
        near = far = np.arange(2 * self.pages)
        if scattered:
            numbers = np.random.default_rng(0)
            near, far = numbers.permutation(near), numbers.permutation(far)
        halves = slice(self.pages), slice(self.pages, None)
        write, load = ((as_pages(near[at] + 1), as_pages(far[at])) for at in halves)
        return {"write": write, "load": load}

    def submit(self, stream: Stream, near: Pages, far: Pages) -> None:
        """Queue one copy; nobody waits."""
        if stream == "write":
            steps = self.far.moves(self.near, near, far)
        else:
            steps = self.near.moves(self.far, far, near)
        self.link.submit(stream, 0, 0, Steps(steps))

    def copy(self, **copies: tuple[Pages, Pages]) -> None:
        """Make one copy on each stream that is named, and wait for them."""
        for stream, places in copies.items():
            self.submit(stream, *places)
        for stream in copies:
            self.link.complete(stream)


def main(device: str, tokens: int) -> int:
    """Print the figures; 1 if a byte came back wrong, 2 where there is no device."""
    if device == "cuda" and not torch.cuda.is_available():
        print("no CUDA device here; try: streams.py cpu 256", file=sys.stderr)
        return 2
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    print(f"{name}, torch {torch.__version__}")
    for order in ("layer_first", "page_first"):
        bench = Bench(device, tokens, order)
        if not comes_back(bench):
            print(f"{order}: bytes came back wrong", file=sys.stderr)
            return 1
        speeds(bench, order)
        if order == "layer_first":
            overlap(bench)
        del bench
    return 0


def comes_back(bench: Bench) -> bool:
    """Take random bytes to the host and back to other places; are they the same?"""
    (one, there), (other, _) = bench.places(scattered=True).values()
    kv = bench.near.kv
    for part in kv.parts:
        part.view(torch.int16).random_()
    sent = kv.raw(torch.from_numpy(slots_of(one, PAGE)))
    bench.copy(write=(one, there))
    bench.copy(load=(other, there))
    back = kv.raw(torch.from_numpy(slots_of(other, PAGE)))
    return all(
        torch.equal(a.view(torch.int16), b.view(torch.int16))
        for a, b in zip(sent, back, strict=True)
    )


def speeds(bench: Bench, order: Order) -> None:
    """Print gigabytes a second of each stream, and of both at once."""
    for scattered in (False, True):
        places = bench.places(scattered)
        told = []
        for names in (("write",), ("load",), ("write", "load")):
            copies = {name: places[name] for name in names}
            took = best(lambda: bench.copy(**copies))  # noqa: B023
            speed = bench.gigabytes * len(names) / took
            told.append(f"{' and '.join(names)} {speed:.1f}")
        where = "scattered" if scattered else "neighbours"
        print(f"{order}, {where}: {', '.join(told)} GB/s ({bench.gigabytes:.2f} GB)")


def overlap(bench: Bench) -> None:
    """Print what a pass takes alone, after a load, and beside it."""
    link, device, load = bench.link, bench.device, bench.places(False)["load"]
    width = WIDTH if device == "cuda" else WIDTH // 16
    x = torch.randn(width // 2, width, device=device, dtype=torch.bfloat16)
    weight = torch.randn(width, width, device=device, dtype=torch.bfloat16)
    weight *= width**-0.5

    def compute(wait: bool, products: int) -> None:
        y = x
        for layer in range(FORM.layers):
            if wait:
                link.wait_layer(layer)
            for _ in range(products):
                y = y @ weight
        torch.get_device_module(device).synchronize()

    def beside() -> None:
        bench.submit("load", *load)
        compute(True, products)
        link.complete("load")

    def behind() -> None:
        bench.copy(load=load)
        compute(False, products)

    copied = best(lambda: bench.copy(load=load))
    products = ceil(1.5 * copied / best(lambda: compute(False, 1)))
    alone = best(lambda: compute(False, products))
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
    options = Parser(description=__doc__, formatter_class=Help)
    options.add_argument("device", nargs="?", choices=("cuda", "cpu"), default="cuda")
    options.add_argument("tokens", type=int, nargs="?", default=8192)
    sys.exit(main(**vars(options.parse_args())))
