"""What does a scheduler ask of whoever keeps KV outside L1?

A connector is asked at admission, told what was given, and asked once a step for the
copies that begin with it. It never sees a request: it takes ids, names and blocks.
Source: vLLM 0.33.0, distributed/kv_transfer/kv_connector/v1/base.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from .block_pool import BlockPool
from .hashing import BlockHash


class Pairs(NamedTuple):
    """Blocks to copy: each L1 block and, in the same place, its L2 block."""

    l1: list[int]
    l2: list[int]


class Computed(NamedTuple):
    """A request that is scheduled, or over: its table, and how far its KV goes.

    Units: tokens. `confirmed` is surely in L1 now, `computed` by the end of the step.
    `turn`: 0 for who runs for the first time in this step, 1 for who resumes, else 2.
    """

    id: str
    blocks: Sequence[int]
    confirmed: int
    computed: int = 0
    prompt_len: int = 0
    names: Sequence[BlockHash] = ()
    turn: int = 2


@dataclass
class Copies:
    """What the step's metadata asks of the worker.

    `loads` by request and `stores` by number begin. Blocks are about to be used again,
    so the stores `flushed` must end before the step; with `flush`, all copies.
    """

    loads: dict[str, Pairs] = field(default_factory=dict)
    stores: dict[int, Pairs] = field(default_factory=dict)
    flush: bool = False
    flushed: set[int] = field(default_factory=set)


class Connector(Protocol):
    """Where KV can be found beyond L1: `l2`.

    `loads` are those under way; `pending` the requests for which something was found
    and no load has begun.
    """

    l2: BlockPool
    loads: dict[str, Pairs]

    @property
    def pending(self) -> Mapping[str, Sequence[object]]:
        """What was found, by request."""

    def matched(
        self, id: str, names: Sequence[BlockHash], length: int, local: int
    ) -> int | None:
        """Return the tokens to be had beyond the `local` ones; None: ask again."""

    def started(self, id: str, blocks: Sequence[int], local: int) -> None:
        """The request was given `blocks`: what was matched last is to be loaded."""

    def plan(self, scheduled: Iterable[Computed], preempted: Collection[str]) -> Copies:
        """Return the copies that begin with this step: who is scheduled in it stands
        in the order in which the turn came to it."""

    def finished(self, request: Computed) -> None:
        """The request is done, its blocks still its own."""

    def loaded(self, id: str) -> None:
        """The request's load is over."""

    def stored(self, job: int) -> None:
        """The store is done."""
