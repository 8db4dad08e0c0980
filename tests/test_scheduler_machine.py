"""Does any mix of requests leave the engine sound?

A machine lets requests arrive, prefill, decode, give way and finish, under a pool that
is too small for all of them, with copies that wait for a hand. After each operation the
trace folds to the live state, the laws hold, and every running request finds its own
tokens where its row says.
"""

from __future__ import annotations

from itertools import count
from typing import ClassVar

import pytest
from bench import Bench
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from kvlab.errors import EngineFault
from kvlab.memory.pool import fingerprints
from kvlab.rules import Rules
from kvlab.run import script as sc
from kvlab.run.runner import ScriptRunner
from kvlab.schedule.request import Request

POOL = 64
PROMPTS = st.builds(
    lambda words, cut: [w + 10 * i for w in words for i in range(4)][: -cut or None],
    st.lists(st.integers(0, 2), min_size=1, max_size=6),
    st.integers(0, 3),
)
"""Up to six words of four tokens out of three words, the last perhaps cut."""


class EngineMachine(RuleBasedStateMachine):
    """An engine that carries out a script that nobody wrote."""

    book: ClassVar[Rules]
    knobs: ClassVar[dict[str, object]]

    @initialize(
        page=st.sampled_from([1, 4]),
        chunk=st.sampled_from([None, 8]),
        ratio=st.sampled_from([0.0, 0.5]),
    )
    def start(self, page: int, chunk: int | None, ratio: float) -> None:
        self.bench = Bench(
            rules=self.book, pool_tokens=POOL, page_size=page, new_token_ratio=ratio,
            chunked_prefill_size=chunk, load_back_threshold=4, **self.knobs,
        )  # fmt: skip
        script = sc.Script(
            name="", about="", config=self.bench.config, rules=self.book, ops=[],
            manual_dma=True,
        )  # fmt: skip
        self.runner = ScriptRunner(script, self.bench.trace)
        self.bench.engine = self.engine = self.runner.engine
        self.bench.cache = self.engine.cache
        self.numbers, self.names, self.broken = count(), count(), False

    def do(self, op: sc.AnyOp) -> None:
        """Carry the op out. A prefill that was promised too much is the engine's own
        fault: a chunk must go on even where there is no room."""
        try:
            self.runner.step(next(self.numbers), op)
        except EngineFault:
            self.broken = True

    # --- operations

    @precondition(lambda self: not self.broken)
    @rule(prompts=st.lists(PROMPTS, max_size=3), max_new=st.integers(1, 12))
    def round(self, prompts: list[list[int]], max_new: int) -> None:
        new = [
            sc.NewRequest(f"r{next(self.names)}", prompt, max_new) for prompt in prompts
        ]
        self.do(sc.RoundOp(new))

    @precondition(lambda self: not self.broken)
    @rule(steps=st.integers(1, 4), token=st.integers(0, 2))
    def decode(self, steps: int, token: int) -> None:
        for _ in range(steps):
            self.do(sc.DecodeStepOp(token))

    @precondition(lambda self: not self.broken)
    @rule(prompt=PROMPTS, outputs=st.integers(1, 3))
    def request(self, prompt: list[int], outputs: int) -> None:
        self.do(sc.RequestOp(prompt, [7] * outputs))

    @precondition(lambda self: not self.broken)
    @rule(
        op=st.builds(sc.InsertOp, PROMPTS)
        | st.builds(sc.MatchOp, PROMPTS)
        | st.builds(sc.LoadBackOp, PROMPTS)
        | st.builds(sc.EvictOp, st.integers(0, 20))
        | st.builds(sc.EvictHostOp, st.integers(0, 20))
        | st.builds(sc.AckWriteOp, st.none() | st.integers(1, 2))
        | st.builds(sc.AckLoadOp, st.none() | st.integers(1, 2))
    )
    def other(self, op: sc.AnyOp) -> None:
        self.do(op)

    # --- what must hold after each

    @invariant()
    def all_is_sound(self) -> None:
        if not self.broken:
            assert self.bench.unsound() == []

    @invariant()
    def every_request_finds_its_tokens(self) -> None:
        running = [] if self.broken else self.engine.scheduler.running
        for request in running:
            if not waits_for_a_load(request):
                rows, size = self.engine.scheduler.rows, request.kv_len
                pages = rows.pages(request.row, 0, size)
                found = self.engine.device_pool.read(pages)[:size].tolist()
                assert found == fingerprints(request.tokens(size)).tolist()


def waits_for_a_load(request: Request) -> bool:
    """Its prefill would wait, layer by layer, for bytes that a hand has not moved."""
    node = request.node
    while node.parent is not None:
        if node.loading is not None:
            return True
        node = node.parent
    return False


LARGE_HOST = 4096
"""Never full: under write_back a full host is 0.5.14's fault (golden s25)."""

CASES = [
    ("0.5.14", {"tree": "radix"}),
    ("0.5.14", {"host_tokens": 72, "write_policy": "write_through"}),
    ("0.5.14", {"host_tokens": LARGE_HOST, "write_policy": "write_back"}),
    ("0.5.23", {"tree": "radix"}),
    ("0.5.23", {"host_tokens": 72, "write_policy": "write_through_selective"}),
    ("0.5.23", {"host_tokens": 72, "write_policy": "write_back"}),
]


@pytest.mark.parametrize(("release", "knobs"), CASES)
def test_any_mix_of_requests_leaves_the_engine_sound(release, knobs):
    facts = {"book": Rules.named(release), "knobs": knobs}
    machine = type("Machine", (EngineMachine,), facts)
    bounds = settings(max_examples=20, stateful_step_count=30)
    run_state_machine_as_test(machine, settings=bounds)
