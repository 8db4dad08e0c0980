"""What does a scheduler ask of whoever keeps KV outside L1?

A connector is asked at admission, told what was given, and asked once a step for the
copies that begin with it. It never sees a request: it takes ids, names and blocks.
Source: vLLM 0.33.0, distributed/kv_transfer/kv_connector/v1/base.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from .hashing import BlockHash


class Pairs(NamedTuple):
    """Blocks to copy: each L1 block and, in the same place, its L2 block."""

    l1: list[int]
    l2: list[int]


class Computed(NamedTuple):
    """A scheduled request: its table, and how far its KV goes.

    Units: tokens. `confirmed` is surely in L1 now, `computed` by the end of the step.
    """

    id: str
    blocks: Sequence[int]
    confirmed: int
    computed: int = 0
    prompt_len: int = 0
    names: Sequence[BlockHash] = ()


@dataclass
class Copies:
    """What the step's metadata asks of the worker.

    `job` names the store, None without one; `flush` asks that all copies under way
    end before the step, since blocks are about to be used again.
    """

    loads: dict[str, Pairs] = field(default_factory=dict)
    job: int | None = None
    store: Pairs = field(default_factory=lambda: Pairs([], []))
    flush: bool = False


class Connector(Protocol):
    """Where KV can be found beyond L1."""

    loads: dict[str, Pairs]
    """Loads under way, by request."""

    def matched(
        self, id: str, names: Sequence[BlockHash], length: int, local: int
    ) -> int | None:
        """Return the tokens to be had beyond the `local` ones; None: ask again."""

    def started(self, id: str, blocks: Sequence[int], local: int) -> None:
        """The request was given `blocks`: what was matched last is to be loaded."""

    def plan(self, scheduled: Iterable[Computed], *, flush: bool) -> Copies:
        """Return the copies that begin with this step."""

    def finished(self, request: Computed) -> None:
        """The request is done, its blocks still its own."""

    def loaded(self, id: str) -> None:
        """The request's load is over."""

    def stored(self, job: int) -> None:
        """The store is done."""
