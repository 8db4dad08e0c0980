"""What does one scheduling turn have to give, and what has it given?

A turn lives for one step and carries its budgets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ..blocks.connector import Copies
from .block_request import BlockRequest


@dataclass
class Turn:
    """One turn: the budget that is left of it, and what was decided.

    `tokens` are the scheduled requests with their tokens; `sampling` those that get
    an output; `skipped` those whose load has not come, `retried` those whose
    connector could not tell.
    """

    budget: int
    cap: int
    tokens: dict[BlockRequest, int] = field(default_factory=dict)
    fresh: list[BlockRequest] = field(default_factory=list)
    resumed: list[BlockRequest] = field(default_factory=list)
    preempted: dict[BlockRequest, int] = field(default_factory=dict)
    skipped: list[BlockRequest] = field(default_factory=list)
    retried: list[BlockRequest] = field(default_factory=list)
    sampling: list[BlockRequest] = field(default_factory=list)
    copies: Copies | None = None

    def clip(self, tokens: int) -> int:
        """Return how many of the tokens this turn may still compute at once."""
        return min(tokens, self.cap or tokens, self.budget)

    def give(self, request: BlockRequest, tokens: int) -> None:
        """Schedule the request. Changes: the budget."""
        self.tokens[request] = tokens
        self.budget -= tokens

    def take_back(self, request: BlockRequest) -> None:
        """Undo `give`, if there was one. Changes: the budget."""
        self.budget += self.tokens.pop(request, 0)


class Found(NamedTuple):
    """What a waiting request need not compute: L1 blocks, and tokens in L2.

    `asked` is False for a request whose load is done: it was looked up before.
    """

    hits: list[int]
    external: int
    asked: bool
