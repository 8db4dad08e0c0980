"""Would anybody notice, if a copy went wrong?

Five faults that such caches are prone to, each planted in a cache of its own by one
override, and for each a story in which it does harm. The same story with the sound
cache does none. The engine itself has none of these switches.

        early unlock      the lock that protects a write is dropped at its submission
        reuse in flight   the lock that protects a load is dropped at its submission
        wrong order       the nodes of a loaded chain take their pages leaf first
        off by a page     each page of a loaded chain takes its neighbour's place
        gap               a node is not written, those below it are; nobody asks

What happens is silent: requests are answered, and but for the gap, whose host copies
form no chain, every state obeys every law of record/invariants.py. Only who compares
contents, or logits, can tell.
Left out: faults that fail an assertion at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch

from ..cache.hiradix import HiRadixCache
from ..cache.tree import Node
from ..memory.kv_tensors import Order
from ..pages import Pages, join
from ..record import events as ev
from ..record.events import Tokens
from ..record.trace import Trace
from ..rule import DEFAULT
from ..rules import Rules
from ..run.checker import explain
from ..run.model import Model, Spec, as_bytes
from ..run.model_bench import ModelBench

PAGE = 2
A, B = as_bytes("first node, "), as_bytes("second node.")
OTHER = as_bytes("somebody else's text")
TAIL = as_bytes(" And then?")

# --- the faults


class EarlyUnlock(HiRadixCache):
    """Unlocks a node as soon as its write is submitted."""

    _noting = False

    def _write_locked(self, node: Node) -> int:
        written = super()._write_locked(node)
        if written:
            self.dec_lock_ref(node)
        return written

    def writing_check(self) -> int:
        self._noting = True
        done = super().writing_check()
        self._noting = False
        return done

    def dec_lock_ref(self, node: Node) -> int:
        return 0 if self._noting else super().dec_lock_ref(node)


class ReuseInFlight(HiRadixCache):
    """Unlocks a chain as soon as its load is queued."""

    _noting = False

    def load_back(self, end: Node, quota: int | None = None) -> Pages | None:
        pages = super().load_back(end, quota)
        if pages is not None:
            self.dec_lock_ref(end)
        return pages

    def loading_check(self) -> int:
        self._noting = True
        done = super().loading_check()
        self._noting = False
        return done

    def dec_lock_ref(self, node: Node) -> int:
        return 0 if self._noting else super().dec_lock_ref(node)


class WrongOrder(HiRadixCache):
    """Hands the pages of a load out leaf first; the bytes came root first."""

    def _commit(self, chain: list[Node], end: Node, pages: Pages) -> None:
        super()._commit(chain[::-1], end, pages)


class OffByAPage(HiRadixCache):
    """Hands the pages of a load out from the second on."""

    def _commit(self, chain: list[Node], end: Node, pages: Pages) -> None:
        super()._commit(chain, end, np.roll(pages, -1))


class Gap(HiRadixCache):
    """Writes no node that hangs under the root, but those below it; lets go of what has
    a copy below as if it had one itself; and of a chain loads what L2 has."""

    def write_backup(self, node: Node) -> int:
        return 0 if node.above is self.tree.root else self._write_locked(node)

    def _delete(self, node: Node, fate: str = "delete") -> int:
        if not node.host_children:
            return super()._delete(node, fate)
        self._victim(node, "demote", self.device_leaves.key(node))
        self._left_device(node)
        return self._demote(node)

    def _load_pages(
        self, chain: list[Node], quota: int | None, delta: int
    ) -> Pages | None:
        there = [node for node in chain if node.backed_up]
        loaded = super()._load_pages(there, quota, delta)
        missing = sum(node.size for node in chain if not node.backed_up)
        unwritten = self.allocator.alloc(missing // self.page_size)
        if loaded is None or unwritten is None:
            return None
        return join([unwritten, loaded])


# --- the stories


class Question(NamedTuple):
    """A prompt whose logits a fault spoils, and where its computation was cut: the same
    cuts without a cache give the same bits."""

    prompt: Tokens
    cuts: tuple[int, ...]


def overwrite_a_write(bench: ModelBench) -> Question:
    """A is on its way to L2 when somebody needs all of L1; later A is loaded back."""
    bench.insert(A)
    bench.insert(OTHER)
    bench.ack_write()
    bench.insert(OTHER)
    bench.ack_write()
    return Question(_joined(A, TAIL), (len(A),))


def overwrite_a_load(bench: ModelBench) -> Question:
    """A is on its way back when somebody needs all of L1, and is asked for later."""
    bench.insert(A)
    bench.ack_write()
    bench.evict(len(A))
    bench.load_back(A)
    bench.insert(OTHER)
    bench.ack_load()
    bench.insert(OTHER)
    bench.ack_write()
    return Question(_joined(OTHER, TAIL[:2]), (len(OTHER),))


def load_a_chain(bench: ModelBench) -> Question:
    """A and B, one node each, give way to somebody else and are loaded back as one."""
    bench.ask(A)
    bench.ask(_joined(A, B))
    bench.ack_write()
    bench.insert(OTHER)
    bench.ack_write()
    bench.load_back(_joined(A, B))
    bench.ack_load()
    return Question(_joined(A, TAIL), (len(A),))


class Planted(NamedTuple):
    """A fault, and a story in which it does harm."""

    cache: type[HiRadixCache]
    story: Callable[[ModelBench], Question]


FAULTS: dict[str, Planted] = {
    "early unlock": Planted(EarlyUnlock, overwrite_a_write),
    "reuse in flight": Planted(ReuseInFlight, overwrite_a_load),
    "wrong order": Planted(WrongOrder, load_a_chain),
    "off by a page": Planted(OffByAPage, load_a_chain),
    "gap": Planted(Gap, load_a_chain),
}
"""Every fault by name."""


class Harm(NamedTuple):
    """What came of a story: what each check after an op found, and how far the logits
    lie from those of the model without a cache (0.0: not a bit)."""

    wrong: list[ev.Wrong]
    difference: float
    trace: Trace

    @property
    def line(self) -> str:
        """The first failure in one line; "" if there is none."""
        return explain(self.wrong[0], self.trace) if self.wrong else ""


def tell(
    name: str,
    *,
    planted: bool = True,
    spec: Spec | None = None,
    host_order: Order = "layer_first",
    device: str = "cpu",
    release: str = DEFAULT,
) -> Harm:
    """Tell the story of a fault, with the fault or with the sound cache."""
    fault = FAULTS[name]
    model = Model(spec or Spec(layers=2), device)
    bench = ModelBench(
        model,
        Rules.named(release),
        name=f"{name}{'' if planted else ', sound'}",
        host_order=host_order,
        host_cache_type=fault.cache if planted else HiRadixCache,
        checked=True,
        pool_tokens=28,
        host_tokens=64,
        page_size=PAGE,
        load_back_threshold=1,
    )
    question = fault.story(bench)
    answer = bench.ask(question.prompt).logits
    alone, _ = model.prefill(question.prompt, question.cuts)
    same = torch.equal(answer, alone)
    difference = 0.0 if same else float((answer - alone).abs().max())
    return Harm(bench.found, difference, bench.trace)


def _joined(*parts: Tokens) -> Tokens:
    return np.concatenate(parts)
