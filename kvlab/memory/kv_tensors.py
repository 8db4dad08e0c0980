"""Where do K and V lie, and how do they travel page by page?

One tensor for each part of a layer's row, in one of two orders:

        layer_first   (layers, slots, *row)   a layer is one block: attention reads it
        page_first    (slots, layers, *row)   a page is one block: a copy moves it whole

The device is layer-first; the host may be either. Between two layer-first pools a copy
goes layer by layer, so a forward pass can begin with the first layer while the others
are on their way; a page-first copy moves all layers of a page at once, in fewer pieces.

Only neighbouring slots are moved, as slices: between a device and pinned memory that is
a copy which nobody has to wait for. Left out: when a copy is done (transfer.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np
import torch

from ..pages import Pages
from .kv_form import KVForm

Order = Literal["layer_first", "page_first"]


class KVTensors:
    """K and V of one pool's slots.

    fp8 lies here as the bytes it is made of, since torch does not index it everywhere.
    Shapes: `parts` has one tensor for each row of the form, in the order above.
    Source: SGLang 0.5.14, server_args.py, hicache_mem_layout, names both orders.

    >>> form = KVForm.of_heads(layers=2, kv_heads=1, head_dim=4)
    >>> kv = KVTensors(form, num_slots=8)
    >>> kv.write(1, torch.tensor([3]), [torch.ones(1, 1, 4), torch.zeros(1, 1, 4)])
    >>> kv.read(1, torch.tensor([3]))[0].tolist(), kv.num_bytes
    ([[[1.0, 1.0, 1.0, 1.0]]], 512)
    """

    def __init__(
        self,
        form: KVForm,
        num_slots: int,
        *,
        device: str = "cpu",
        order: Order = "layer_first",
        pinned: bool = False,
    ) -> None:
        self.form = form
        self.order = order
        self.device = device
        self.pinned = pinned
        self._dtype = form.dtype_on(device)
        self._stored = torch.uint8 if form.dtype == "fp8" else self._dtype
        outer = (form.layers, num_slots)
        if order == "page_first":
            outer = (num_slots, form.layers)
        self.parts = [
            torch.zeros(
                (*outer, *row), dtype=self._stored, device=device, pin_memory=pinned
            )
            for row in form.rows
        ]

    @property
    def num_bytes(self) -> int:
        """Bytes of all parts."""
        return sum(part.numel() * part.element_size() for part in self.parts)

    def layer(self, layer: int) -> list[torch.Tensor]:
        """Return each part of one layer, (slots, *row), as a view."""
        if self.order == "layer_first":
            return [part[layer] for part in self.parts]
        return [part[:, layer] for part in self.parts]

    def write(self, layer: int, slots: torch.Tensor, rows: list[torch.Tensor]) -> None:
        """Write one layer's rows of some tokens. Changes: these tensors.

        Shapes: slots (n,); rows one (n, *row) for each part, of any float dtype.
        """
        for part, row in zip(self.layer(layer), rows, strict=True):
            part[slots] = row.to(self._dtype).view(self._stored)

    def read(self, layer: int, slots: torch.Tensor) -> list[torch.Tensor]:
        """Return one layer's rows of some tokens as float32, gathered slot by slot."""
        found = [part[slots] for part in self.layer(layer)]
        return [rows.view(self._dtype).float() for rows in found]

    def raw(self, slots: torch.Tensor) -> list[torch.Tensor]:
        """Return the stored bits of some tokens, (layers, n, *row) for each part."""
        at = 0 if self.order == "page_first" else 1
        found = [part.index_select(at, slots.to(part.device)) for part in self.parts]
        return [rows.transpose(0, 1) if at == 0 else rows for rows in found]

    # --- copies

    def moves(
        self, source: KVTensors, from_pages: Pages, to_pages: Pages, page_size: int
    ) -> list[Callable[[], None]]:
        """Return the steps of a copy from another pool, in order; nothing moves yet.

        One a layer between layer-first pools, else one for all layers.
        """
        runs = list(paired_runs(from_pages, to_pages, page_size))
        if self.order == source.order == "layer_first":
            layers = range(self.form.layers)
            return [partial(self._copy_layer, source, runs, n) for n in layers]
        return [partial(self._copy_pages, source, runs)]

    def _copy_layer(self, source: KVTensors, runs: list[Run], layer: int) -> None:
        pairs = zip(source.layer(layer), self.layer(layer), strict=True)
        for there, here in pairs:
            for at, to, size in runs:
                here[to : to + size].copy_(there[at : at + size], non_blocking=True)

    def _copy_pages(self, source: KVTensors, runs: list[Run]) -> None:
        """Turn the rows on the device, so that what crosses the link is one block."""
        for there, here in zip(source.parts, self.parts, strict=True):
            for at, to, size in runs:
                if source.order == self.order:
                    here[to : to + size].copy_(there[at : at + size], non_blocking=True)
                elif self.order == "page_first":
                    turned = there[:, at : at + size].transpose(0, 1).contiguous()
                    here[to : to + size].copy_(turned, non_blocking=True)
                else:
                    block = there[at : at + size].to(self.device, non_blocking=True)
                    here[:, to : to + size].copy_(block.transpose(0, 1))


Run = tuple[int, int, int]
"""Neighbouring slots that go to neighbouring slots: the first of both, how many."""


def paired_runs(from_pages: Pages, to_pages: Pages, page_size: int) -> Iterator[Run]:
    """Yield the longest runs of slots that are neighbours on both sides.

    >>> list(paired_runs(np.array([4, 5, 9]), np.array([0, 1, 2]), 2))
    [(8, 0, 4), (18, 4, 2)]
    """
    breaks = (np.diff(from_pages) != 1) | (np.diff(to_pages) != 1)
    starts = [0, *(np.flatnonzero(breaks) + 1).tolist(), len(from_pages)]
    for start, end in pairwise(starts):
        if start < end:
            first, target = int(from_pages[start]), int(to_pages[start])
            yield first * page_size, target * page_size, (end - start) * page_size
