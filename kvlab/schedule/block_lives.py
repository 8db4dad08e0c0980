"""How does a request come, get its outputs and go?

All of a request's life but the turns in which it is scheduled (block_scheduler.py).
Source: vLLM 0.33.0, v1/core/sched/scheduler.py, update_from_output.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from ..block_config import BlockConfig
from ..blocks.connector import Computed, Connector
from ..blocks.hashing import Hasher
from ..blocks.kv_cache_manager import KVCacheManager
from ..record import block_events as ev
from ..record.events import Arrive, Drop, Finish, Output
from ..record.trace import QUIET, Emitter
from .block_queue import BlockQueue
from .block_request import BlockRequest, Status
from .prefix_stats import PrefixStats
from .turn import Turn


class BlockLives:
    """The requests of one vLLM engine, in the queues where they stand.

    `deferred` is asked before `waiting`: requests that hold blocks and wait for their
    content. `retrying` wait for an answer of the connector's, or did and were not
    admitted since. `num_steps` counts those that computed anything.
    """

    def __init__(
        self,
        manager: KVCacheManager,
        config: BlockConfig,
        emit: Emitter = QUIET,
        connector: Connector | None = None,
    ) -> None:
        self.manager = manager
        self.config = config
        self.connector = connector
        self.hasher = Hasher(config.hash_algo, config.block_size)
        self.running: list[BlockRequest] = []
        self.waiting = BlockQueue(config.policy)
        self.deferred = BlockQueue(config.policy)
        self.loaded: set[str] = set()
        self.retrying: set[str] = set()
        self.num_steps = 0
        self.prefix = PrefixStats()
        self.external = PrefixStats()
        self._leaving: set[str] = set()
        self._late: deque[tuple[int, str]] = deque()
        self._num_done = 0
        self._emit = emit

    def arrive(self, request: BlockRequest) -> None:
        """Name the request's blocks and let it wait. Changes: `waiting`."""
        self._name_blocks(request)
        self.waiting.append(request)
        self._emit(
            Arrive, request.id, request.prompt_len, request.max_new, request.priority
        )

    def update(self, turn: Turn, outputs: dict[str, int]) -> list[BlockRequest]:
        """Take a turn's outputs; return the requests that are finished by them.

        Changes: outputs, names; finished requests give their blocks back.
        """
        finished = []
        self._num_done += bool(turn.tokens)
        while self._late and self._late[0][0] <= self._num_done:
            self.manager.free(self._late.popleft()[1])
        for request in turn.tokens:
            request.steps_in_flight -= self.config.async_scheduling
        for request in turn.sampling:
            if request.status is Status.FINISHED:
                continue
            request.in_flight -= self.config.async_scheduling
            self._append(request, outputs[request.id])
            if self.config.async_scheduling and request.status is Status.RUNNING:
                known = request.computed - request.in_flight
                self.manager.register(request.id, request.names, known)
            if self._is_done(request):
                self._finish(request)
                finished.append(request)
        return finished

    def copied(self, loads: Iterable[str], stores: Iterable[int]) -> None:
        """Take note of copies that the worker has done. Changes: the pools."""
        assert self.connector is not None, "there is no connector"
        loaded = list(loads)
        for id in loaded:
            self.connector.loaded(id)
        for job in stores:
            self.connector.stored(job)
        for id in loaded:
            if id in self._leaving:
                self._leaving.remove(id)
                self.manager.free(id)
            else:
                self.loaded.add(id)

    def load_failed(self, id: str, valid: int) -> None:
        """Take note that of a load, soon to be told as done, `valid` blocks are good.

        The policy `fail` gives the request up; `recompute` keeps the good blocks.
        Changes: the queues, `computed`.
        """
        request = next(r for r in self.deferred if r.id == id)
        if self.config.kv_load_failure_policy == "fail":
            self.abort(request)
            return
        request.computed = valid * self.config.block_size
        self._emit(ev.Compute, id, request.computed)

    def abort(self, request: BlockRequest) -> None:
        """Let the request go before it is done: its client has left, or it failed.

        Changes: the queues; the pools, as when it is finished.
        """
        self._leave(request, request.computed)
        self._emit(Drop, request.id)

    def _append(self, request: BlockRequest, token: int) -> None:
        request.tokens.append(token)
        self._emit(Output, request.id, token)
        self._name_blocks(request)

    def _name_blocks(self, request: BlockRequest) -> None:
        if self.config.enable_caching:
            named = self.hasher.extend(request.names, request.tokens, request.extras)
            request.names.extend(named)

    def _is_done(self, request: BlockRequest) -> bool:
        if request.stop and request.tokens[-1] in request.stop:
            return True
        full = request.length >= self.config.max_model_len
        return full or request.num_outputs >= request.max_new

    def _finish(self, request: BlockRequest) -> None:
        self._leave(request, max(request.prompt_len, request.length - 1))
        self._emit(Finish, request.id)

    def _leave(self, request: BlockRequest, computed: int) -> None:
        """Take the request, with so many good tokens, out of its queue; it gives its
        blocks back as soon as no load and, where a connector may fill them, no step
        under way writes there."""
        if request.status is Status.RUNNING:
            self.running.remove(request)
        else:
            queue = self.deferred if request in self.deferred else self.waiting
            queue.remove(request)
        if self.connector:
            self.connector.finished(self._computed(request, computed))
        if request.status is Status.LOADING and request.id not in self.loaded:
            self._leaving.add(request.id)
        elif self.connector and request.steps_in_flight:
            self._late.append((self.num_steps, request.id))
        else:
            self.manager.free(request.id)
        self.loaded.discard(request.id)
        self.retrying.discard(request.id)
        request.status = Status.FINISHED

    def _computed(
        self, request: BlockRequest, computed: int, turn: int = 2
    ) -> Computed:
        """Tell the connector how far the request's KV goes: to `computed` tokens."""
        return Computed(
            request.id, self.manager.tables.get(request.id, []),
            request.computed - request.in_flight, computed, request.prompt_len,
            request.names, turn,
        )  # fmt: skip
