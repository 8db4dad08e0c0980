"""How do requests move through SGLang: waiting, prefill, decode, retracted, done?

One prefill round takes what the budgets admit; whoever has its first token joins the
running batch.
Left out: the decode steps of that batch (decode_queue.py); time, and when to do which
(run/); overlap scheduling.
Source: SGLang 0.5.14, managers/scheduler.py and schedule_batch.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..cache.hiradix import HiRadixCache
from ..errors import EngineFault
from ..geometry import ceil_page, floor_page
from ..pages import Pages, join
from ..record import events as ev
from .admission import Answer, PrefillAdder
from .checkpoint import cache_unfinished
from .decode_queue import DecodeQueue
from .policy import active_policy, by_branch, by_prefix
from .request import Request

Watch = Callable[[Request | None, Answer | None, PrefillAdder], None]
"""Sees a round: first nobody, then every candidate after its try; the answer is None
for the chunked request, which cannot be refused."""


class RadixScheduler(DecodeQueue):
    """The queues of one SGLang engine, and the steps that move requests."""

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
        self._match(request, request.length - 1)

    def _match(self, request: Request, most: int) -> None:
        # what an earlier try found is still a prefix, unless it has left the tree
        match = self.cache.match_prefix(request.tokens(most), known=request.best_match)
        request.prefix_len = request.owned_len = match.device_len
        request.device_hit, request.host_hit = match.device_len, match.host_len
        request.last_node, request.best_match = match.last_device, match.best
        request.fill_len = request.length

    def sort_waiting(self) -> None:
        """Put the queue in the policy's order; by any but fcfs, everybody is matched,
        the last token included, which a try leaves out.

        Changes: `waiting`; the requests' prefixes and the tree, as matches do.
        """
        policy = active_policy(self.policy, len(self.waiting))
        if policy == "fcfs":
            return
        for request in self.waiting:
            self._match(request, request.length)
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
        if page > 1:
            self.cache.allocator.expect(need // page + 1)  # the engine's upper bound
        pages = self.cache.allocator.alloc(sum(counts))
        if pages is None:
            raise EngineFault(
                f"prefill needs {sum(counts)} pages, "
                f"{self.cache.allocator.available // page} are free; raise pool_tokens "
                "or lower chunked_prefill_size"
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
            self._write_row(request, 0, self.cache.prefix_pages(request.node), start)
            self._emit(ev.Cached, request.id, request.node.id, request.owned_len)
        whole = floor_page(start, self._page)
        pages = new
        if whole < start:
            pages = join([self.rows.pages(request.row, whole, start), new])
        self._write_row(request, whole, pages, request.fill_len)
        self._fill(request, start, request.fill_len)
        request.kv_len = request.fill_len
        unfinished = request.fill_len < request.length
        self._emit(ev.Start, request.id, request.kv_len, unfinished)

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
        Raises: EngineFault as `place`.
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
