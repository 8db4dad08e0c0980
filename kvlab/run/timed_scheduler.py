"""What does a scheduler keep, so that a round need not look at everybody?

The rules are RadixScheduler's. What this adds: running requests sit in a `DecodeBatch`,
whose sums replace scans; a ratio that decays; `full`, by which SGLang stops trying to
prefill; a bound on who runs; rows of pages; and, by 0.5.23's rules, that the queue's
prefixes are kept in use.

`full` is a flag of the running batch, and goes when the batch shrinks. It goes as well
when a prefill's batch takes an empty one's place, and with every chunk: the chunked
request is taken out of the batch that ran.
Source: SGLang 0.5.14, managers/scheduler.py, get_new_batch_prefill, batch_is_full;
0.5.23, managers/schedule_policy.py, _touch_waiting_prefixes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..cache.radix import RadixCache
from ..config import EngineConfig
from ..memory.page_rows import PageRows
from ..record import events as ev
from ..record.trace import QUIET, Emitter
from ..schedule.admission import Answer, PrefillAdder
from ..schedule.policy import LPM_MOST, REFRESH_EVERY, Policy, active_policy
from ..schedule.radix_scheduler import RadixScheduler
from ..schedule.request import Request
from ..schedule.token_ratio import NewTokenRatio
from .decode_batch import DecodeBatch
from .timed_request import TimedRequest


class TimedScheduler(RadixScheduler):
    """A scheduler whose every request is a `TimedRequest`.

    `full`: nobody waiting is tried. `max_running` bounds the running requests (SGLang:
    max_running_requests), None for no bound. `num_leaving` requests are finished and
    not yet out of the batch (rule `finished_leave_late`).
    """

    def __init__(
        self,
        cache: RadixCache,
        config: EngineConfig,
        emit: Emitter = QUIET,
        *,
        policy: Policy = "fcfs",
        max_running: int | None = None,
        conservativeness: float = 1.0,
    ) -> None:
        self.decaying = NewTokenRatio(conservativeness)
        super().__init__(cache, config, emit=emit, policy=policy)
        self.decaying.reset()
        self.rows = self._page_rows = PageRows(config.page_size)
        self.batch = DecodeBatch(config.page_size, config.clip_max_new)
        self.max_running = max_running
        self.full = False
        self.num_leaving = 0
        self._continues = False
        self._queued_rounds = 0

    @property
    def ratio(self) -> float:
        """new_token_ratio: it decays, and is set by a retraction."""
        return self.decaying.value

    @ratio.setter
    def ratio(self, value: float) -> None:
        self.decaying.restart(value)

    # --- prefill

    @property
    def may_prefill(self) -> bool:
        """Would a prefill round look at anybody?"""
        return self.chunked is not None or (bool(self.waiting) and not self.full)

    def adder(self) -> PrefillAdder:
        """Return the budgets of a new round; running requests are not visited."""
        adder = PrefillAdder(self.cache, self.config, (), self.ratio, self._emit)
        adder.promised += self.batch.still * self.ratio
        return adder

    def form_batch(self) -> list[TimedRequest]:
        """Decide a prefill and begin its loads; return who is in it, maybe nobody.

        Changes: the queue, `full`, locks; the tree, as matches and loads do.
        """
        self.stash_chunk()
        self._continues = self.chunked is not None
        if self._continues:
            self.full = False
        elif not self._has_seat(0):
            self.full = True
            return []
        self.sort_waiting()
        self._refresh_waiting()
        adder = self.adder()
        queued = -int(self._continues)
        answers: list[Answer | None] = [None]
        self._fill_round(adder, lambda _, answer, __: answers.append(answer))
        queued += len(adder.can_run)
        del self.waiting[:queued]
        self.chunked = adder.chunked or self.chunked
        if answers[-1] is Answer.NO_TOKEN:
            self.full = bool(adder.can_run or self.running)
        self.start_loading()
        return timed(adder.can_run)

    def _refresh_waiting(self) -> None:
        """Let what the queue waits for count as used, now and then, the head's last
        (rule `refreshes_waiting`).

        Changes: the requests' prefixes and the tree, as matches do."""
        lru = self.cache.config.eviction_policy == "lru"
        fcfs = active_policy(self.policy, len(self.waiting)) == "fcfs"
        if not (self.cache.rules.refreshes_waiting and lru and fcfs):
            return
        if self.waiting and self._queued_rounds % REFRESH_EVERY == 0:
            for request in reversed(self.waiting[:LPM_MOST]):
                self._match(request, request.length)
        self._queued_rounds += bool(self.waiting)

    def _budget_spent(self, adder: PrefillAdder, request: Request) -> bool:
        """As always, and a round without a seat is over."""
        if super()._budget_spent(adder, request):
            return True
        if self._has_seat(len(adder.can_run)):
            return False
        self.full = True
        return True

    def _has_seat(self, taken: int) -> bool:
        """Is there a seat, if so many are taken in this round? (rule
        `chunk_takes_two_seats`: the row of a chunked request counts beside it.)"""
        if self.max_running is None:
            return True
        twice = self._continues and self.cache.rules.chunk_takes_two_seats
        beside = max(self.num_leaving, int(twice))
        return len(self.running) + beside + taken < self.max_running

    # --- who runs

    def keep_running(self, request: Request) -> None:
        """As always, and the request takes a seat in the batch."""
        if not self.running and not self.num_leaving:
            self.full = False
        super().keep_running(request)
        assert isinstance(request, TimedRequest), "an untimed request on a clock"
        self.batch.join(request)

    def finish(self, request: Request, *, insert: bool = True) -> None:
        """As always; the batch has shrunk, so others may be tried again: now, or when
        the next decode step begins."""
        ran = self._unseat(request)
        super().finish(request, insert=insert)
        if ran and self.cache.rules.finished_leave_late:
            self.num_leaving += 1
        else:
            self.full = False

    def let_leave(self) -> bool:
        """Take those that are finished out of the batch, as a decode step begins by;
        return whether there were any. Changes: `num_leaving`, `full`."""
        left, self.num_leaving = self.num_leaving, 0
        self.full = self.full and not left
        return left > 0

    def _release(self, request: Request, survivors: int) -> None:
        self._unseat(request)
        super()._release(request, survivors)
        self.full = False

    def _unseat(self, request: Request) -> bool:
        """Free the request's seat; False if it had none."""
        assert isinstance(request, TimedRequest), "an untimed request on a clock"
        if request.seat is None:
            return False
        self.batch.leave(request)
        return True

    def decode_need(self, batch: Sequence[Request]) -> int:
        """Return the tokens that the next decode of the batch takes from the pool."""
        if batch is self.running:
            return self._page * self.batch.num_beginning()
        return super().decode_need(batch)

    def begin_pages(self, begun: list[TimedRequest]) -> None:
        """Give every request named the page that its next token needs; the lengths
        have moved on already. A request may be named more than once.

        Changes: the free list, the rows.
        """
        pages = self.cache.allocator.alloc(len(begun))
        assert pages is not None, f"{len(begun)} pages were free before the jump"
        for number, request in enumerate(begun):
            assert request.row is not None, f"request {request.id} has no row"
            start = self._page_rows.append(request.row, pages[number : number + 1])
            self._emit(ev.Row, request.id, start, pages[number : number + 1])


def timed(requests: Sequence[Request]) -> list[TimedRequest]:
    """Return the requests as what they are here."""
    timed = [r for r in requests if isinstance(r, TimedRequest)]
    assert len(timed) == len(requests), "an untimed request on a clock"
    return timed
