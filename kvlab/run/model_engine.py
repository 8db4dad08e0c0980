"""How does an engine serve a model, and what must come out?

`ModelRun` is the forward pass that an engine is given: it computes K and V into the
slots that the engine chose, and remembers what each request says next. `serve` lets
conversations run against the engine's queue, pools and copies; what they say must be
what the model says by itself, without any cache (`Model.speak`).
Left out: time; what a step costs is cost.py's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from ..errors import OutOfPool
from ..memory.kv_tensors import KVTensors
from ..memory.pool import Slots
from ..memory.transfer import HandTransfer
from ..record.events import Tokens
from ..schedule.request import Request
from .engine import Engine
from .model import Model, greedy


class ModelRun:
    """A model that computes for an engine.

    `logits` are those of the last token computed for each request, (256,); `computed`
    counts the tokens of all passes.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.logits: dict[str, torch.Tensor] = {}
        self.computed = 0

    def __call__(
        self,
        kv: KVTensors,
        link: HandTransfer,
        request: str,
        tokens: Tokens,
        slots: Slots,
        start: int,
    ) -> None:
        """Compute the tokens from `start` on. Changes: K and V in their slots, the
        request's logits. A pass that reads a past waits for the loads, layer by layer.
        """
        logits = self.model.forward(tokens, slots, start, kv, link.wait_layer)
        self.logits[request] = logits[-1]
        self.computed += len(tokens) - start

    def token(self, request: Request) -> int:
        """Return what the request says next."""
        return greedy(self.logits[request.id])


@dataclass
class Conversation:
    """Turns of a user, each after the answer to the one before. `said` are the answers.

    Units: `max_new` tokens of each answer.
    """

    name: str
    turns: list[Tokens]
    max_new: int = 8
    said: list[list[int]] = field(default_factory=list)
    past: Tokens = field(default_factory=lambda: np.empty(0, np.int32))

    def next_request(self) -> Request | None:
        """Return the next turn, behind all that was said; None after the last."""
        number = len(self.said)
        if number == len(self.turns):
            return None
        self.past = np.concatenate((self.past, self.turns[number]))
        return Request(f"{self.name}.{number + 1}", self.past, self.max_new)

    def answered(self, request: Request) -> None:
        """Take the request's answer into the past. Changes: `said`, `past`."""
        self.said.append(list(request.outputs))
        self.past = request.tokens(request.length)


def serve(
    engine: Engine,
    run: ModelRun,
    conversations: Sequence[Conversation],
    after_step: Callable[[], object] = lambda: None,
) -> None:
    """Serve all turns of all conversations, as many at once as the engine admits.

    `after_step` is called after every round, prefill and decode.
    Changes: the engine; every conversation's answers.
    Raises: OutOfPool where a request could never run.
    """
    scheduler = engine.scheduler
    waiting: dict[str, Conversation] = {}

    def send(conversation: Conversation) -> None:
        request = conversation.next_request()
        if request is not None:
            waiting[request.id] = conversation
            scheduler.arrive(request)

    for conversation in conversations:
        send(conversation)
    while waiting:
        scheduler.check_events()
        ran, done = scheduler.prefill_round(run.token)
        done += _decode(engine, run)
        scheduler.end_step()
        after_step()
        if not ran and not done and not scheduler.running:
            _wait(engine)
        for request in done:
            conversation = waiting.pop(request.id)
            conversation.answered(request)
            send(conversation)


def _wait(engine: Engine) -> None:
    """Nobody can run: wait for the oldest copy, whose lock may be all that is in the
    way. Raises: OutOfPool if none is under way."""
    if engine.link.complete("write", 1) or engine.link.complete("load", 1):
        return
    raise OutOfPool(
        f"{len(engine.scheduler.waiting)} requests wait and none can run in "
        f"{engine.cache.allocator.total} tokens; raise pool_tokens"
    )


def _decode(engine: Engine, run: ModelRun) -> list[Request]:
    """Give every running request its next token; return those that are done."""
    scheduler = engine.scheduler
    if not scheduler.running:
        return []
    report = scheduler.prepare_decode()
    if report.aborted:
        raise OutOfPool(
            f"request {report.aborted[0].id} was aborted: alone, and no room to decode "
            f"in {engine.cache.allocator.total} tokens, "
            f"{engine.cache.protected_size} of them locked; raise pool_tokens"
        )
    done = []
    for request in list(scheduler.running):
        grown = scheduler.grow(request)
        assert grown, f"no room to decode {request.id} after the check"
        scheduler.output(request, run.token(request))
        if len(request.outputs) >= request.max_new:
            scheduler.finish(request)
            done.append(request)
    return done
