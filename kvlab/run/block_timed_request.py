"""What does a clock know of a request of vLLM's, beside its blocks?

Its outputs are counted and not kept: they all are one token that no other request has,
so that two requests share no more than their prompts do. The names of its blocks are
made once, prompt and outputs, and its time is booked as that of SGLang's requests is
(parts.py).
"""

from __future__ import annotations

from ..config import MAX_TOKENS
from ..schedule.block_request import BlockRequest
from .parts import Booked
from .tallies import Record
from .workload import Ask, life_of


class TimedBlockRequest(BlockRequest, Booked):
    """A request with an arrival in nanoseconds.

    `life` is the prompt with all outputs behind it; of it `length` tokens are known.
    Prompt and outputs together are `most` tokens at most (vLLM: max_model_len).

    >>> from kvlab.cache.key import as_tokens
    >>> request = TimedBlockRequest(Ask("a", 5, as_tokens([1, 2]), 9))
    >>> request.count(4); request.length, request.num_outputs, request.remaining
    (6, 4, 5)
    """

    def __init__(self, ask: Ask, most: int = MAX_TOKENS) -> None:
        max_new = max(1, min(ask.max_new, most - len(ask.tokens)))
        super().__init__(ask.id, [], max_new, arrival=ask.at)
        Booked.__init__(self, ask.at)
        kept = ask.life
        if kept is None:
            kept = life_of(ask.tokens, self.max_new, ask.filler)
        self.life = kept[:most]
        self.prompt_len = len(ask.tokens)
        self.at = ask.at
        self.num_placed = 0
        self._outputs = 0

    @property
    def length(self) -> int:
        """Known tokens: prompt and outputs."""
        return self.prompt_len + self._outputs

    @property
    def num_outputs(self) -> int:
        """Outputs that are known."""
        return self._outputs

    @property
    def remaining(self) -> int:
        """Outputs that it will still get."""
        return self.max_new - self._outputs

    @property
    def lacks_one(self) -> bool:
        """Would one more computed token give an output?"""
        return self.computed + 1 == self.length

    def count(self, outputs: int) -> None:
        """It has got so many outputs more."""
        self._outputs += outputs

    def record(self, end: int) -> Record:
        """Return what is left of it when it leaves."""
        self.enter(self.part, end)
        return Record(
            self.id, self.at, end, self.ttft, tuple(self.spent.values()),
            self.prompt_len, self._outputs, self.preemptions, False,
        )  # fmt: skip
