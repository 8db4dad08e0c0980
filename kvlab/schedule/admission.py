"""May this request join the prefill that is being put together?

One `PrefillAdder` lives for one round and carries its budgets:

        rem_total = available + evictable - promised        (for whole lives)
        cur_rem   = available + evictable - charged now     (for this prefill)
        a request needs   extend + max_new + page  <  rem_total

L2 is not in these formulas: host hits count as tokens still to be placed on L1. They
do count in the test of the input budget: a promised hit need not be computed.
Left out: the path for ignore_eos with the tree disabled, and mixed chunks.
Source: SGLang 0.5.14, managers/schedule_policy.py, PrefillAdder; 0.5.23 also
mem_cache/prefill_budget.py, PrefillBudget.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from ..cache.hiradix import HiRadixCache
from ..cache.radix import RadixCache
from ..config import EngineConfig
from ..geometry import ceil_page, floor_page
from ..record import events as ev
from ..record.trace import Emitter
from .request import Request


class Answer(Enum):
    """What the adder says after a candidate: about the next one, not about it."""

    CONTINUE = "CONTINUE"
    NO_TOKEN = "NO_TOKEN"
    OTHER = "OTHER"


class PrefillAdder:
    """The budgets of one prefill round, and who is in it so far.

    `promised` is what running and admitted requests may still take, `charged` what
    this prefill takes now. Units: tokens; `promised` is a float, as in the engine.
    """

    def __init__(
        self,
        cache: RadixCache,
        config: EngineConfig,
        running: Sequence[Request],
        ratio: float,
        emit: Emitter,
    ) -> None:
        self.cache = cache
        self.can_run: list[Request] = []
        self.chunked: Request | None = None
        self.charged = 0
        self.rem_input = config.max_prefill_tokens
        self.rem_chunk = config.chunked_prefill_size
        self._page = config.page_size
        self._clip = config.clip_max_new
        self._rules = cache.rules
        self._emit = emit
        self.promised: float = sum(self._reserved(r, ratio) for r in running)

    @property
    def rem_total(self) -> float:
        """Tokens that can still be promised to whole lives."""
        return self._free_soon - self.promised

    @property
    def cur_rem(self) -> int:
        """Tokens that this prefill can still take."""
        return self._free_soon - self.charged

    @property
    def _free_soon(self) -> int:
        return self.cache.allocator.available + self.cache.evictable_size

    # --- a new candidate

    def add_one(self, request: Request) -> Answer:
        """Try to admit a matched request; return whether the next may be tried.

        The last one admitted may return an answer other than CONTINUE.
        Changes: the budgets; on admission the locks, and possibly a load_back.
        """
        terms = (request.id, request.extend_len, request.host_hit)
        with self._emit.of(ev.Candidate, *terms):
            return self._try(request)

    def _try(self, request: Request) -> Answer:
        if self._rules.tests_before_lock:
            if self._lacks_room(request, "room"):
                return Answer.NO_TOKEN
            if self._over_input(request, request.extend_len - request.host_hit):
                return Answer.OTHER
        node = request.node
        self.cache.inc_lock_ref(node)
        answer = self._add_locked(request)
        self.cache.dec_lock_ref(node)
        return answer

    def _add_locked(self, request: Request) -> Answer:
        """Its own prefix is locked now, so no longer evictable: test (again), load what
        the host has, and cut to the chunk; the load may come before or after the cut
        (rule `tests_before_lock`). A load that fails moves tokens from evictable to
        available at most: their sum, and so the room, is as it was."""
        if self._lacks_room(request, "room_after_lock"):
            return Answer.NO_TOKEN
        counts_promise = not self._rules.tests_before_lock
        if counts_promise and self._input(request, request.host_hit) is None:
            return Answer.OTHER
        self._load_back(request)
        tokens = self._input(request, 0)
        if tokens is None:
            return Answer.OTHER
        whole = tokens == request.extend_len
        request.fill_len = request.prefix_len + tokens
        if not whole:
            self.chunked = request
        return self._admit(request, request.max_new if whole else 0)

    def _input(self, request: Request, promised: int) -> int | None:
        """Return how many tokens this prefill computes of the request, if `promised`
        tokens come from the host: all, or whole pages of the chunk; None if refused."""
        extend = request.extend_len - promised
        if self._over_input(request, extend):
            return None
        if self.rem_chunk is None or ceil_page(extend, self._page) <= self.rem_chunk:
            return extend
        cut = floor_page(self.rem_chunk, self._page)
        if cut <= 0:
            self._refuse(request, "chunk_budget", Answer.OTHER)
            return None
        return cut

    def _admit(self, request: Request, max_new: int) -> Answer:
        self.cache.inc_lock_ref(request.node)
        self.can_run.append(request)
        terms = self._terms(request)
        answer = self._charge(request.extend_len, max_new)
        self._emit(ev.Admit, request.id, "admitted", *terms, answer.value, True)
        return answer

    def _lacks_room(self, request: Request, line: str) -> bool:
        need = request.extend_len + self._still_to_come(request) + self._page
        if need < self.rem_total:
            return False
        self._refuse(request, line, Answer.NO_TOKEN)
        return True

    def _over_input(self, request: Request, extend: int) -> bool:
        """The input budget binds all but the first; not where prefill is chunked."""
        if self.rem_chunk is not None or not self.can_run:
            return False
        asked = ceil_page(extend, self._page)
        if asked < self.rem_input:
            return False
        self._refuse(request, "input_budget", Answer.OTHER, asked)
        return True

    def _load_back(self, request: Request) -> None:
        """Bring the host part of the prefix home, all or none, if the cache agrees."""
        if request.host_hit == 0 or not isinstance(self.cache, HiRadixCache):
            return
        best = request.best_match
        assert best is not None, f"request {request.id}: no match"
        covered = self.cache.hold(best)
        pages = self.cache.init_load_back(best)
        self.cache.let_go(best, covered)
        if len(pages):
            request.prefix_len += len(pages) * self._page
            request.owned_len = request.prefix_len
            request.last_node = best

    # --- the chunked request of earlier rounds

    def add_chunked(self, request: Request) -> Request | None:
        """Continue a prefill; return the request if more of it remains.

        It must make progress, so a spent budget gives way; and it is not cut to pages,
        so rem_chunk may go below 0. Changes: the budgets, the request's fill_len.
        """
        assert self.rem_chunk is not None, "a chunked request without a chunk budget"
        room = min(self.rem_chunk, int(self.rem_total))
        if room <= 0:
            room = self.rem_chunk
        unfinished = request.extend_len > room
        request.fill_len = request.prefix_len + min(request.extend_len, room)
        self.can_run.append(request)
        self._charge(request.extend_len, 0 if unfinished else request.max_new)
        self._emit(ev.Chunk, request.id, request.extend_len, unfinished, self.rem_chunk)
        return request if unfinished else None

    # --- the budgets

    def _charge(self, extend: int, max_new: int) -> Answer:
        tokens = ceil_page(extend, self._page)
        self.promised += tokens + min(max_new, self._clip) + self._page
        self.charged += tokens + self._page
        self.rem_input -= tokens
        if self.rem_chunk is not None:
            self.rem_chunk -= tokens
        return self.budget_state()

    def budget_state(self) -> Answer:
        """Say whether the next candidate may be tried."""
        if self.rem_total <= 0 or self.cur_rem <= 0:
            return Answer.NO_TOKEN
        if self.rem_input <= 0 or (self.rem_chunk is not None and self.rem_chunk <= 0):
            return Answer.OTHER
        return Answer.CONTINUE

    def _reserved(self, request: Request, ratio: float) -> float:
        """What a running request may still write, or the share of it that is set
        aside (rule `ignore_eos_reserves_all`)."""
        if request.ignore_eos and self._rules.ignore_eos_reserves_all:
            ratio = 1.0
        return min(request.max_new - request.num_outputs, self._clip) * ratio

    def _still_to_come(self, request: Request) -> int:
        return min(max(request.max_new - request.num_outputs, 0), self._clip)

    def _refuse(
        self, request: Request, line: str, answer: Answer, asked: int | None = None
    ) -> None:
        terms = self._terms(request)
        self._emit(ev.Admit, request.id, line, *terms, answer.value, False, asked)

    def _terms(self, request: Request) -> tuple[float | None, ...]:
        """Return the numbers of the inequality, in the order of the Admit event."""
        return (
            request.extend_len, self._still_to_come(request), self._page,
            self.cache.allocator.available, self.cache.evictable_size, self.promised,
            self.rem_input, self.rem_chunk, request.device_hit, request.host_hit,
        )  # fmt: skip
