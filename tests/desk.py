"""A bench with a scheduler at work, for the tests of who runs next."""

from __future__ import annotations

from collections.abc import Iterable

from bench import Bench

from kvlab.cache.key import as_tokens
from kvlab.memory.pool import fingerprints
from kvlab.record import events as ev
from kvlab.schedule.admission import Answer, PrefillAdder
from kvlab.schedule.request import Request


class Desk(Bench):
    """A bench whose requests come, run and finish; the model always says 7."""

    def __init__(self, **knobs: object) -> None:
        super().__init__(**{"tree": "radix", **knobs})
        self.scheduler = self.engine.scheduler

    def arrive(
        self, id: str, tokens: Iterable[int], max_new: int = 4, **facts: object
    ) -> Request:
        request = Request(id, as_tokens(tokens), max_new, **facts)
        self.scheduler.arrive(request)
        return request

    def round(self) -> list[str]:
        """Run one prefill round; return who ran."""
        ran, _ = self.scheduler.prefill_round(lambda request: 7)
        return [request.id for request in ran]

    def run(self, id: str, tokens: Iterable[int], max_new: int = 4) -> Request:
        """Let a request arrive and run its prefill."""
        request = self.arrive(id, tokens, max_new)
        assert id in self.round(), "the test's pool is too small"
        return request

    def decode(self, request: Request, steps: int = 1) -> None:
        for _ in range(steps):
            assert self.scheduler.decode(request, 7), "the test's pool is too small"

    def matched(
        self, tokens: Iterable[int], max_new: int = 4, **facts: object
    ) -> Request:
        """Return a request that knows its prefix and is about to be tried."""
        request = Request("r", as_tokens(tokens), max_new, **facts)
        self.scheduler.match(request)
        return request

    def adder(self, ratio: float = 0.0) -> PrefillAdder:
        self.scheduler.ratio = ratio
        return self.scheduler.adder()

    def tried(self, adder: PrefillAdder, request: Request) -> tuple[Answer, str, bool]:
        """Try the request; return the answer, the line that decided, and whether it
        was taken."""
        answer = adder.add_one(request)
        told = self.events(ev.Admit)[-1]
        assert told.verdict == answer.value
        assert told.added == (request in adder.can_run)
        return answer, told.line, told.added

    def row(self, request: Request) -> list[int]:
        """Return the pages of the request's row."""
        pages = self.scheduler.rows.pages(request.row, 0, request.kv_len)
        return pages.tolist()

    def holds_its_tokens(self, request: Request) -> bool:
        """Is every token of the request that has KV where its row says?"""
        rows, size = self.scheduler.rows, request.kv_len
        found = self.engine.device_pool.read(rows.pages(request.row, 0, size))[:size]
        return found.tolist() == fingerprints(request.tokens(size)).tolist()
