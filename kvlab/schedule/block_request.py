"""What does a vLLM engine know of a request?

Three lengths tell where it stands, in tokens of prompt + outputs:

        |<------- computed ------->|<- to compute ->|
        0                                        length   length + in_flight

There is no prefill and no decode: a step computes what is missing, and a token is
sampled when nothing is. With asynchronous scheduling, `in_flight` tokens have been
sampled and are not known yet: `steps_in_flight` steps that it is in are under way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ..blocks.hashing import NO_EXTRAS, BlockHash, Extras


class Status(StrEnum):
    """Where a request stands, in vLLM's words."""

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    PREEMPTED = "PREEMPTED"
    LOADING = "WAITING_FOR_REMOTE_KVS"
    FINISHED = "FINISHED"


@dataclass(eq=False)
class BlockRequest:
    """One request.

    Units: tokens; `arrival` orders requests of equal priority, smaller is served
    first. `names` are the hashes of its full blocks; `tokens` is prompt + outputs; a
    token of `stop` is its last.
    """

    id: str
    tokens: list[int]
    max_new: int
    priority: int = 0
    arrival: float = 0.0
    extras: Extras = NO_EXTRAS
    skip_reading: bool = False
    stop: Sequence[int] = ()
    status: Status = Status.WAITING
    computed: int = 0
    in_flight: int = 0
    steps_in_flight: int = 0
    preemptions: int = 0
    names: list[BlockHash] = field(default_factory=list)
    prompt_len: int = field(init=False)

    def __post_init__(self) -> None:
        self.prompt_len = len(self.tokens)

    @property
    def length(self) -> int:
        """Known tokens: prompt and outputs."""
        return len(self.tokens)

    @property
    def num_outputs(self) -> int:
        """Outputs that are known."""
        return len(self.tokens) - self.prompt_len

    @property
    def rank(self) -> tuple[int, float, str]:
        """The place under the priority policy: smallest first."""
        return (self.priority, self.arrival, self.id)

    @property
    def is_fresh(self) -> bool:
        """Was it never preempted? Only such requests count in the hit rate."""
        return self.preemptions == 0
