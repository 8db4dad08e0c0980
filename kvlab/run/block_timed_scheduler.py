"""What does vLLM's scheduler need, so that a step takes time?

The rules are BlockScheduler's. What this adds: before anything counts as computed the
clock is told the turn; a decode token is no event of its own, all of a step are one
`Decode`; and `run_on` makes decode steps in which nobody can be admitted, preempted or
finished, one after the other, without asking who might be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..block_config import BlockConfig
from ..blocks.connector import Connector
from ..blocks.kv_cache_manager import KVCacheManager
from ..record import block_events as ev
from ..record.events import Decode, Output
from ..record.trace import QUIET, Emitter
from ..schedule.block_request import BlockRequest
from ..schedule.block_scheduler import BlockScheduler
from ..schedule.turn import Found, Turn
from .block_timed_request import TimedBlockRequest


class TimedBlockScheduler(BlockScheduler):
    """A scheduler whose every request is a `TimedBlockRequest`.

    `run_step` is told each turn, moves the clock to the end of its step and returns it
    in nanoseconds. `first_token` has, for each block, the first token of
    its content, or -1. Sums in tokens.
    """

    def __init__(
        self,
        manager: KVCacheManager,
        config: BlockConfig,
        run_step: Callable[[Turn], int],
        emit: Emitter = QUIET,
        connector: Connector | None = None,
    ) -> None:
        super().__init__(manager, config, emit, connector)
        self.first_token = np.full(config.num_gpu_blocks, -1)
        self.local_tokens = self.external_tokens = self.loaded_tokens = 0
        self._run_step = run_step
        self._told: set[BlockRequest] = set()

    # --- a turn

    def _name_blocks(self, request: BlockRequest) -> None:
        """Name the blocks of its whole life, once."""
        if self.config.enable_caching and not request.names:
            life = clocked(request).life
            request.names.extend(self.hasher.extend([], life, request.extras))

    def _give(self, request: BlockRequest, tokens: int, turn: Turn) -> None:
        if tokens == 1 and clocked(request).lacks_one:
            turn.give(request, tokens)
        else:
            super()._give(request, tokens, turn)

    def _allocate(self, request: BlockRequest, tokens: int) -> bool:
        """As always; a token that neither begins nor fills a block asks nobody."""
        if tokens == 1 and (request.computed + 1) % self.config.block_size > 1:
            return True
        return super()._allocate(request, tokens)

    def _begin(self, request: BlockRequest, found: Found, known: int) -> None:
        self.loaded_tokens += found.external
        if found.asked and request.is_fresh:
            self.local_tokens += len(found.hits) * self.config.block_size
            self.external_tokens += found.external
        super()._begin(request, found, known)

    def _advance(self, turn: Turn) -> None:
        """Run the step; then what was scheduled counts as computed."""
        now = self._run_step(turn)
        steady = [r for r in timed(self.running) if r.lacks_one]
        self._told = set(steady) if all(r in turn.tokens for r in steady) else set()
        if self._told:
            self._emit(Decode, 1, now)
        for request, tokens in turn.tokens.items():
            request.computed += tokens
            if request not in self._told:
                self._emit(ev.Compute, request.id, request.computed)
            if request.computed >= request.length:
                turn.sampling.append(request)
            self._note_blocks(clocked(request))

    def _append(self, request: BlockRequest, token: int) -> None:
        clocked(request).count(1)
        if request not in self._told:
            self._emit(Output, request.id, token)

    def _preempt(self, victim: BlockRequest, turn: Turn) -> None:
        super()._preempt(victim, turn)
        clocked(victim).num_placed = 0

    def _note_blocks(self, request: TimedBlockRequest) -> None:
        """Note the first token of each block that the request got since the last."""
        table, first = self.manager.tables[request.id], request.num_placed
        if first < len(table):
            size = self.config.block_size
            starts = request.life[first * size : len(table) * size : size]
            self.first_token[table[first:]] = starts
            request.num_placed = len(table)

    # --- many steps

    @property
    def is_steady(self) -> bool:
        """Do all running requests lack one token? Then a step is a decode step."""
        return all(request.lacks_one for request in timed(self.running))

    def run_on(self, most: int) -> int:
        """Make up to `most` decode steps while free blocks do; return how many.

        The caller knows that nobody is admitted, preempted or finished by them. With a
        connector it stops before a block is filled or begun, since copies may follow.
        Changes: the pool, all lengths. Cost: O(running) for each step in which a block
        is filled or begun.
        """
        running, size, done = timed(self.running), self.config.block_size, 0
        while done < most:
            edge = [r for r in running if (r.computed + 1) % size < 2]
            if not edge:
                ahead = min(size - 1 - r.computed % size for r in running)
                step = min(ahead, most - done)
            else:
                begun = sum(r.computed % size == 0 for r in edge)
                if self.connector or begun > self.manager.pool.num_free:
                    break
                step = 1
                for request in edge:
                    self._allocate(request, 1)
                    self._note_blocks(request)
            for request in running:
                request.computed += step
                request.count(step)
            done += step
        return done


def clocked(request: BlockRequest) -> TimedBlockRequest:
    """Return the request as what it is here."""
    assert isinstance(request, TimedBlockRequest), "an untimed request on a clock"
    return request


def timed(requests: Sequence[BlockRequest]) -> list[TimedBlockRequest]:
    """Return the requests as what they are here."""
    return [clocked(request) for request in requests]
