"""How do requests move through SGLang: waiting, prefill, decode, retracted, done?

One prefill round takes what the budgets admit; one decode step gives every running
request a token, after retracting some if the pool has no room for all.
Left out: time, and when to do which (run/); overlap scheduling.
Source: SGLang 0.5.14, managers/scheduler.py and schedule_batch.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..cache.hiradix import HiRadixCache
from ..cache.radix import RadixCache
from ..config import EngineConfig
from ..errors import EngineFault
from ..geometry import ceil_page, floor_page
from ..memory.pool import Compute, KVPool, fingerprints
from ..memory.req_to_token import ReqToTokenPool
from ..pages import Pages, join
from ..record import events as ev
from ..record.trace import QUIET, Emitter
from . import token_ratio
from .admission import Answer, PrefillAdder
from .checkpoint import cache_finished, cache_unfinished
from .policy import Policy, active_policy, by_branch, by_prefix
from .request import Request

Watch = Callable[[Request | None, Answer | None, PrefillAdder], None]
"""Sees a round: first nobody, then every candidate after its try; the answer is None
for the chunked request, which cannot be refused."""


@dataclass
class DecodeReport:
    """What a decode step did. `need` tokens were wanted for the whole batch."""

    need: int
    fits: bool = True
    retracted: list[Request] = field(default_factory=list)
    aborted: list[Request] = field(default_factory=list)
    gained: int = 0


class RadixScheduler:
    """The queues of one SGLang engine, and the steps that move requests.

    `waiting` is served from its head; `running` is the decode batch, in order;
    `chunked` is the one request whose prefill is cut; `policy` orders `waiting`.
    """

    def __init__(
        self,
        cache: RadixCache,
        config: EngineConfig,
        pool: KVPool | None = None,
        emit: Emitter = QUIET,
        compute: Compute | None = None,
        *,
        policy: Policy = "fcfs",
    ) -> None:
        self.cache = cache
        self.config = config
        self.policy = policy
        self.compute = compute
        self.rows = ReqToTokenPool(config.page_size)
        self.pool = pool or KVPool(0, config.page_size, "ledger")
        self.waiting: list[Request] = []
        self.running: list[Request] = []
        self.chunked: Request | None = None
        self.ratio = config.new_token_ratio
        self._page = config.page_size
        self._emit = emit

    # --- prefill

    def arrive(self, request: Request) -> None:
        """Let a request join the tail of the queue. Changes: `waiting`."""
        self.waiting.append(request)
        self._emit(
            ev.Arrive, request.id, len(request.prompt), request.max_new,
            request.priority,
        )  # fmt: skip

    def adder(self) -> PrefillAdder:
        """Return the budgets of a new round."""
        return PrefillAdder(
            self.cache, self.config, self.running, self.ratio, self._emit
        )

    def match(self, request: Request) -> None:
        """Find the request's prefix, all but its last token at most.

        Changes: the request's prefix; the tree, as a match does.
        """
        tokens = request.tokens(request.length - 1)
        # what an earlier try found is still a prefix, unless it has left the tree
        match = self.cache.match_prefix(tokens, known=request.best_match)
        request.prefix_pages = match.pages
        request.prefix_len = request.owned_len = match.device_len
        request.device_hit, request.host_hit = match.device_len, match.host_len
        request.last_node, request.best_match = match.last_device, match.best
        request.fill_len = request.length

    def sort_waiting(self) -> None:
        """Put the queue in the policy's order; by any but fcfs, everybody is matched.

        Changes: `waiting`; the requests' prefixes and the tree, as matches do.
        """
        policy = active_policy(self.policy, len(self.waiting))
        if policy == "fcfs":
            return
        for request in self.waiting:
            self.match(request)
        sort = by_prefix if policy == "lpm" else by_branch
        before, self.waiting = self.waiting, sort(self.waiting)
        if self.waiting != before:
            self._emit(ev.Queue, tuple(request.id for request in self.waiting))

    def stash_chunk(self) -> None:
        """Give the tree what the chunked request computed in the last round."""
        if self.chunked is not None:
            cache_unfinished(
                self.cache, self.rows, self.chunked, self._emit, chunked=True
            )

    def place(self, batch: Sequence[Request]) -> None:
        """Allocate, in one call, the pages that the batch's prefill fills, and write
        rows and contents.

        Changes: the pool, rows, the requests' kv_len; evicts to make room.
        Raises: EngineFault if the admission promised more than there is.
        """
        page = self._page
        need = sum(r.extend_len for r in batch) + (page > 1) * len(batch) * page
        self.cache.make_room(need)
        counts = [
            (ceil_page(r.fill_len, page) - ceil_page(r.prefix_len, page)) // page
            for r in batch
        ]
        pages = self.cache.allocator.alloc(sum(counts))
        if pages is None:
            raise EngineFault(
                f"prefill needs {sum(counts)} pages, "
                f"{self.cache.allocator.available // page} are free"
            )
        for request, count in zip(batch, counts, strict=True):
            self._place_one(request, pages[:count])
            pages = pages[count:]

    def _place_one(self, request: Request, new: Pages) -> None:
        start = request.prefix_len
        self._emit(
            ev.Prefill, request.id, request.device_hit, request.host_hit,
            start - request.device_hit, request.extend_len,
        )  # fmt: skip
        if request.row is None:
            request.row = self.rows.alloc()
            self._write_row(request, 0, request.prefix_pages, start)
            self._emit(ev.Cached, request.id, request.node.id, request.owned_len)
        whole = floor_page(start, self._page)
        partial = self.rows.pages(request.row, whole, start)
        pages = join([partial, new]) if len(partial) else new
        self._write_row(request, whole, pages, request.fill_len)
        self._fill(request, start, request.fill_len)
        request.kv_len = request.fill_len
        unfinished = request.fill_len < request.length
        self._emit(ev.Start, request.id, request.kv_len, unfinished)

    def _write_row(self, request: Request, start: int, pages: Pages, end: int) -> None:
        assert request.row is not None, f"request {request.id} has no row"
        self.rows.write(request.row, start, pages, end)
        if len(pages):
            self._emit(ev.Row, request.id, start // self._page, pages)

    def _fill(self, request: Request, start: int, end: int) -> None:
        """Write the fingerprints of the new tokens, as a forward pass writes their KV,
        and let the model compute it, if there is one."""
        if self.pool.mode == "ledger":
            return
        assert request.row is not None, f"request {request.id} has no row"
        whole = floor_page(start, self._page)
        pages = self.rows.pages(request.row, whole, end)
        tokens = request.tokens(end)
        self.pool.write(pages, fingerprints(tokens)[start:], start - whole)
        if self.compute is not None:
            slots = self.rows.table[request.row, :end].numpy().astype(np.int64)
            self.compute(request.id, tokens, slots, start)

    def first_token(self, request: Request, token: int) -> bool:
        """The whole prompt has KV: take the first output, then keep running, or finish
        if that was all. Return whether it goes on.

        Changes: the tree (checkpoint), `running`.
        """
        self.output(request, token)
        if request.num_outputs >= request.max_new:
            self.finish(request)
            return False
        self.keep_running(request)
        return True

    def keep_running(self, request: Request) -> None:
        """Let the tree share the prompt and put the request into the decode batch."""
        cache_unfinished(self.cache, self.rows, request, self._emit)
        self.running.append(request)

    def finish(self, request: Request, *, insert: bool = True) -> None:
        """End a request: its KV goes to the tree, or is given up without `insert`."""
        cache_finished(self.cache, self.rows, request, insert=insert)
        self._emit(ev.Finish if insert else ev.Drop, request.id)
        if request in self.running:
            self.running.remove(request)

    # --- decode

    def decode(self, request: Request, token: int) -> bool:
        """Write the KV of the request's last token and append the next one; False, and
        no token, if the pool has no room. Changes: as `grow`, and the outputs.
        """
        if not self.grow(request):
            return False
        self.output(request, token)
        return True

    def grow(self, request: Request) -> bool:
        """Write the KV of the request's last token; False if the pool has no room.

        The engine makes room for a page at every step, whether or not the step begins
        one. Changes: the pool, the row; evicts to make room.
        """
        at = request.kv_len
        new_page = at % self._page == 0
        room = self.cache.make_room(self._page)
        if new_page and not room:
            return False
        if new_page:
            self._write_row(request, at, self._take_page(), at + 1)
        else:
            self._lengthen_row(request, at)
        self._fill(request, at, at + 1)
        request.kv_len = at + 1
        self._emit(ev.Grow, request.id)
        return True

    def _take_page(self) -> Pages:
        page = self.cache.allocator.alloc(1)
        assert page is not None, "room was made, yet no page is free"
        return page

    def _lengthen_row(self, request: Request, at: int) -> None:
        assert request.row is not None, f"request {request.id} has no row"
        whole = floor_page(at, self._page)
        page = self.rows.pages(request.row, whole, at)
        self.rows.write(request.row, whole, page, at + 1)

    def output(self, request: Request, token: int) -> None:
        """Append the request's next token. Changes: its outputs."""
        request.outputs.append(token)
        self._emit(ev.Output, request.id, token)

    def decode_need(self, batch: Sequence[Request]) -> int:
        """Return the tokens that the next decode of the batch takes from the pool."""
        return self._page * sum(r.kv_len % self._page == 0 for r in batch)

    def check_decode_mem(self, batch: Sequence[Request]) -> bool:
        """Evict, if need be, so that the batch can decode; return whether it can."""
        need = self.decode_need(batch)
        fits = self.cache.make_room(need)
        self._emit(
            ev.DecodeRoom, len(batch), need, self.cache.allocator.available, fits
        )
        return fits

    def prepare_decode(self) -> DecodeReport:
        """Make sure that the running batch fits, retracting requests until it does.

        Retracted ones keep their outputs and join the tail of `waiting`.
        Changes: everything, in the worst case.
        """
        report = DecodeReport(self.decode_need(self.running))
        before = self.cache.allocator.available
        report.fits = self.check_decode_mem(self.running)
        if not report.fits:
            self._retract_until_fit(report)
            report.gained = self.cache.allocator.available - before
            old, self.ratio = self.ratio, self._estimate()
            self._emit(ev.Ratio, old, self.ratio)
        return report

    def _retract_until_fit(self, report: DecodeReport) -> None:
        """Retract at least one, keep at least one; abort that one if it cannot fit."""
        order = sorted(
            self.running, key=lambda r: (r.num_outputs, -len(r.prompt)), reverse=True
        )
        while len(order) > 1:
            victim = order.pop()
            self._retract(victim, len(order))
            report.retracted.append(victim)
            if self.check_decode_mem(order):
                break
        if len(order) == 1 and not self.check_decode_mem(order):
            report.aborted.append(order.pop())
            self._emit(ev.Drop, report.aborted[0].id)
            self._release(report.aborted[0], 0)
        self.running = order
        self._emit(ev.Batch, tuple(r.id for r in order))
        self.waiting.extend(report.retracted)

    def _retract(self, request: Request, survivors: int) -> None:
        self._emit(
            ev.PickRetract, request.id, request.num_outputs, len(request.prompt),
            survivors,
        )  # fmt: skip
        self._emit(ev.Retract, request.id)
        self._release(request, survivors)

    def _release(self, request: Request, survivors: int) -> None:
        cache_finished(self.cache, self.rows, request, insert=False)
        self.cache.make_room(survivors * token_ratio.RETRACT_DECODE_STEPS)

    def _estimate(self) -> float:
        return token_ratio.estimate((r.num_outputs, r.max_new) for r in self.running)

    # --- the host tier

    def check_events(self) -> None:
        """Take note of copies that are done, if there is a host tier."""
        if isinstance(self.cache, HiRadixCache):
            self.cache.check_events()

    def start_loading(self) -> None:
        """Submit queued loads, if there is a host tier."""
        if isinstance(self.cache, HiRadixCache):
            self.cache.start_loading()

    def end_step(self) -> None:
        """A step's outputs are processed: submit the writes that it asked for as one
        transfer, where the release merges them."""
        if isinstance(self.cache, HiRadixCache):
            self.cache.flush_writes()

    # --- a whole round

    def prefill_round(
        self,
        first_token: Callable[[Request], int],
        watch: Watch = lambda *_: None,
    ) -> tuple[list[Request], list[Request]]:
        """Put one prefill together and run it; return who ran, and who finished.

        `first_token` is what the model says. Changes: all that a prefill changes.
        """
        self.stash_chunk()
        self.sort_waiting()
        adder = self.adder()
        watch(None, None, adder)
        self._fill_round(adder, watch)
        batch = adder.can_run
        self.waiting = [r for r in self.waiting if r not in batch]
        self.chunked = adder.chunked or self.chunked
        self.start_loading()
        finished: list[Request] = []
        if batch:
            self.place(batch)
            for request in batch:
                done = request is not self.chunked
                if done and not self.first_token(request, first_token(request)):
                    finished.append(request)
        return batch, finished

    def _fill_round(self, adder: PrefillAdder, watch: Watch) -> None:
        """The chunked request goes first, then the queue until somebody must wait."""
        if self.chunked is not None:
            request = self.chunked
            request.fill_len = request.length
            self.chunked = adder.add_chunked(request)
            watch(request, None, adder)
        for request in self.waiting:
            if self._budget_spent(adder, request):
                break
            self.match(request)
            answer = adder.add_one(request)
            watch(request, answer, adder)
            if answer is not Answer.CONTINUE:
                break

    def _budget_spent(self, adder: PrefillAdder, request: Request) -> bool:
        """Is the round over before the request is matched, since input or chunk budget
        are spent? Where memory is spent as well, that is said first (NO_TOKEN), and
        the request is tried, as in the engine."""
        if self.cache.rules.spent_budget_still_tries:
            return False
        if adder.budget_state() is not Answer.OTHER:
            return False
        self._emit(ev.CloseRound, request.id, adder.rem_input, adder.rem_chunk)
        return True
