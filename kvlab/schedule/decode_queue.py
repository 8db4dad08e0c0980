"""How does a running batch decode, and who is sent back when the pool is full?

A decode step gives every running request a token. Before it, room for the pages that it
begins is made: by eviction, then by *retraction* of the requests with the fewest
outputs, which go back to the queue and compute their tokens again.
Left out: how requests come to run (radix_scheduler.py), and time (run/).
Source: SGLang 0.5.14, managers/scheduler.py and schedule_batch.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from ..cache.radix import RadixCache
from ..config import EngineConfig
from ..geometry import floor_page
from ..memory.pool import Compute, KVPool, fingerprints
from ..memory.req_to_token import ReqToTokenPool
from ..pages import Pages
from ..record import events as ev
from ..record.trace import QUIET, Emitter
from . import token_ratio
from .checkpoint import cache_finished
from .policy import Policy
from .request import Request


@dataclass
class DecodeReport:
    """What a decode step did. `need` tokens were wanted for the whole batch."""

    need: int
    fits: bool = True
    retracted: list[Request] = field(default_factory=list)
    aborted: list[Request] = field(default_factory=list)
    gained: int = 0


class DecodeQueue:
    """The requests of one SGLang engine, and the steps of those that run.

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

    # --- a token for one request

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
        if self._page > 1:
            self.cache.allocator.expect(1)
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

    def output(self, request: Request, token: int) -> None:
        """Append the request's next token. Changes: its outputs."""
        request.append(token)
        self._emit(ev.Output, request.id, token)

    def finish(self, request: Request, *, insert: bool = True) -> None:
        """End a request: its KV goes to the tree, or is given up without `insert`."""
        cache_finished(self.cache, self.rows, request, insert=insert)
        self._emit(ev.Finish if insert else ev.Drop, request.id)
        with suppress(ValueError):  # whoever finishes at its prefill never ran
            self.running.remove(request)

    # --- room for all

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
        """Retract until the rest fit, but keep one; abort that one if it cannot fit."""
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
