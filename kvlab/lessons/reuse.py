"""Is reused KV the KV that would be computed anew?

A tiny transformer reads K and V from the pools that the tree and the controller manage.
One prompt is answered three ways: computed, found in L1, and demoted to L2 and loaded
back. Then conversations churn both pools while every row of K and V is followed from
pool to pool, and all that is said is compared with what the model says without a cache.

Where the computation is cut into the same chunks, equal means every bit. Where it is
not, sums are taken in another order (a matrix product of 17 rows is not 17 products of
one), so logits agree within `TOLERANCES`; what is said stays the same.
Left out: what happens when something goes wrong (planted.py), the command (proof.py).
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
import torch

from ..config import EngineConfig, WritePolicy
from ..memory.kv_tensors import KVTensors, Order
from ..memory.pool import Slots, fingerprints
from ..memory.pools import Tensors
from ..memory.streams import StreamTransfer
from ..memory.transfer import HandTransfer, InstantTransfer
from ..record.events import Tokens
from ..record.trace import Header, Trace
from ..rule import DEFAULT
from ..rules import Rules
from ..run.checker import Checker
from ..run.engine import Engine
from ..run.model import Model, Spec, as_bytes
from ..run.model_bench import ModelBench
from ..run.model_engine import Conversation, ModelRun, serve

TOLERANCES = {"float32": 1e-4, "bfloat16": 1e-2, "fp8": 1e-1}
"""Of logits up to 4, by the dtype of K and V. A float32 sum of 64 terms differs in its
sixth digit; in a narrower dtype such a sum may round to the other neighbour."""

PREFIX = as_bytes("You are a cache: keep what is asked for again. ")
TAIL = as_bytes("What is kept?")
CHUNK = len(PREFIX)


class Setting(NamedTuple):
    """With which model, pools and rules the proof is made."""

    spec: Spec
    host_order: Order = "layer_first"
    write_policy: WritePolicy = "write_through"
    device: str = "cpu"
    release: str = DEFAULT

    @property
    def tolerance(self) -> float:
        """How far logits may lie apart that were computed in other chunks."""
        return TOLERANCES[self.spec.dtype]

    def link(self) -> HandTransfer:
        """Return a new link: streams of the device, or done at the next poll."""
        return (
            StreamTransfer(self.device) if self.device != "cpu" else InstantTransfer()
        )


class Way(NamedTuple):
    """One way to an answer. Units: tokens. `rows` counts K and V rows that are equal
    in every bit to those of the model without a cache; `same` says so of the logits,
    and `difference` how far they lie apart."""

    name: str
    device_hit: int
    loaded: int
    computed: int
    rows: int
    of: int
    same: bool
    difference: float


# --- one prompt, three ways


def paths(setting: Setting) -> list[Way]:
    """Answer one prompt computed, from L1 and by load_back, each in a fresh engine."""
    return [
        _way(setting, "recompute", cached=False, demoted=False),
        _way(setting, "L1 hit", cached=True, demoted=False),
        _way(setting, "load_back", cached=True, demoted=True),
    ]


def _way(setting: Setting, name: str, *, cached: bool, demoted: bool) -> Way:
    model = Model(setting.spec, setting.device)
    bench = ModelBench(
        model,
        Rules.named(setting.release),
        name=name,
        host_order=setting.host_order,
        link=None if setting.device == "cpu" else setting.link(),
        pool_tokens=96,
        host_tokens=192,
        load_back_threshold=1,
        write_policy=setting.write_policy,
        chunked_prefill_size=CHUNK,
    )
    prompt = np.concatenate((PREFIX, TAIL))
    if cached:
        bench.ask(PREFIX)
        bench.ack_write()
    if demoted:
        bench.evict(len(PREFIX))
    answer = bench.ask(prompt)
    logits, kv = model.prefill(prompt, (CHUNK,))
    rows = bench.rows(prompt)
    expected = kv.raw(torch.arange(len(prompt)))
    equal = [
        all(torch.equal(a[:, i], b[:, i]) for a, b in zip(rows, expected, strict=True))
        for i in range(len(prompt))
    ]
    apart = (answer.logits - logits).abs().max()
    return Way(
        name, answer.device_hit, answer.loaded, answer.computed, sum(equal), len(equal),
        torch.equal(answer.logits, logits), float(apart),
    )  # fmt: skip


def other_chunks(setting: Setting) -> float:
    """Return how far the logits lie apart when the prompt is computed in one pass, in
    two, and token by token."""
    model = Model(setting.spec, setting.device)
    prompt = np.concatenate((PREFIX, TAIL))
    ways: list[tuple[int, ...]] = [(), (CHUNK,), tuple(range(1, len(prompt)))]
    found = torch.stack([model.prefill(prompt, cuts)[0] for cuts in ways])
    return float((found.amax(0) - found.amin(0)).max())


# --- many requests, every row


class Witness(ModelRun):
    """A model that remembers the bits of every row it computes, by the prefix that ends
    there. A prefix computed twice may have two versions, in their last bits."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.seen: dict[int, list[list[torch.Tensor]]] = {}

    def __call__(
        self,
        kv: KVTensors,
        link: HandTransfer,
        request: str,
        tokens: Tokens,
        slots: Slots,
        start: int,
    ) -> None:
        super().__call__(kv, link, request, tokens, slots, start)
        rows = kv.raw(torch.from_numpy(slots[start:]))
        for at, print_ in enumerate(fingerprints(tokens)[start:].tolist()):
            self.seen.setdefault(print_, []).append([r[:, at].cpu() for r in rows])

    def strange(self, checker: Checker) -> tuple[int, int]:
        """Return how many rows are settled on both tiers, and how many of them are not
        bit for bit what was computed for their prefix."""
        rows = strange = 0
        for held in checker.settled():
            kv = checker.pool(held.tier).kv
            assert kv is not None, "a pool of tensors holds some"
            there = [r.cpu() for r in kv.raw(torch.from_numpy(held.slots))]
            for at, print_ in enumerate(held.prints.tolist()):
                row = [part[:, at] for part in there]
                rows += 1
                strange += not any(_same(row, past) for past in self.seen[print_])
        return rows, strange


def _same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


class Churn(NamedTuple):
    """What a run of conversations came to. `rows` were compared, on both tiers and
    after every step; `said` answers of `of` equal those of the model without a cache.
    `events` counts what the pools went through."""

    rows: int
    strange: int
    wrong: int
    said: int
    of: int
    events: Counter[str]


def churn(
    setting: Setting, *, conversations: int = 6, turns: int = 2, page_size: int = 1
) -> Churn:
    """Let conversations with one system prompt run against pools that hold two of
    them, and compare everything with the model alone."""
    config = EngineConfig(
        pool_tokens=96, host_tokens=104, page_size=page_size, load_back_threshold=1,
        write_policy=setting.write_policy, chunked_prefill_size=16,
    )  # fmt: skip
    rules = Rules.named(setting.release)
    trace = Trace(Header(name="conversations", config=config, rules=rules))
    run = Witness(Model(setting.spec, setting.device))
    engine = Engine(
        config, rules, emit=trace, mode="tensors", link=setting.link(), forward=run,
        tensors=Tensors(
            form=setting.spec.form, device=setting.device, host_order=setting.host_order
        ),
    )  # fmt: skip
    checker, sums = Checker(engine, trace), Counter[str]()

    def look() -> None:
        rows, strange = run.strange(checker)
        sums.update(rows=rows, strange=strange, wrong=len(checker.check()))

    talks = parting_talks(conversations, turns)
    serve(engine, run, talks, look)
    right = [
        run.model.speak(past, len(said)) == said
        for talk in talks
        for past, said in _asked(talk)
    ]
    kinds = Counter(type(event).__name__ for event in trace.events)
    return Churn(
        sums["rows"], sums["strange"], sums["wrong"], sum(right), len(right), kinds
    )


def parting_talks(count: int, turns: int) -> list[Conversation]:
    """Return conversations that begin alike and part at different places."""
    numbers = np.random.default_rng(7)
    shared = as_bytes("You are a cache.")
    talks = []
    for talk in range(count):
        said = [numbers.integers(32, 127, 11).astype(np.int32) for _ in range(turns)]
        said[0] = np.concatenate((shared[: 16 - 4 * (talk % 3)], said[0]))
        talks.append(Conversation(f"talk {talk + 1}", said, max_new=5))
    return talks


def _asked(talk: Conversation) -> list[tuple[Tokens, list[int]]]:
    """Return each prompt as it was sent, and the answer to it."""
    past: Tokens = np.empty(0, np.int32)
    found = []
    for turn, said in zip(talk.turns, talk.said, strict=True):
        past = np.concatenate((past, turn))
        found.append((past, said))
        past = np.concatenate((past, np.array(said, np.int32)))
    return found
