"""Which runs does notebook 12, Policies on real traces, play?

A story of three users small enough to watch, and a made-up trace in Mooncake's format
that is large enough for a curve.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from ...config import EngineConfig, WritePolicy
from ...record.request_trace import BLOCK, TracedRequest
from ...record.trace import Trace
from ...rule import DEFAULT
from ...rules import Rules
from ...run.replay_trace import replay_trace
from ...run.workbench import Workbench

USERS = (range(100, 103), range(200, 203), range(300, 303))
ROUNDS = 4


class Served(NamedTuple):
    """A recorded run, and the figures of its replay in blocks."""

    trace: Trace
    hits: int
    written: int


def in_turn(rules: str = DEFAULT, **knobs: Any) -> Served:
    """Three users ask in turn, four times each, always the same: a block a token.

    Each prompt has three blocks. `knobs` change the engine's; without `host_tokens`
    there is no L2.

    Source: SGLang 0.5.23, mem_cache/unified_radix_cache.py.
    """
    tree = "hiradix" if "host_tokens" in knobs else "radix"
    config = EngineConfig.of({"pool_tokens": 8, "tree": tree} | knobs)
    asks = [
        TracedRequest(0, BLOCK * len(prompt), 1, prompt)
        for _ in range(ROUNDS)
        for prompt in USERS
    ]
    figures, trace = replay_trace(
        asks, config, Rules.named(rules), unit=True, record=True, name="in turn"
    )
    assert trace is not None, "it was recorded"
    return Served(trace, figures["device_hit_tokens"], figures["backed_up_tokens"])


# --- a made-up trace


def made_up(
    seed: int = 0, *, talks: int = 160, at_once: int = 40, strangers: int = 2
) -> list[TracedRequest]:
    """Return requests like those of a chat service, a block 512 tokens.

    A talk begins with a system prompt of six blocks (one of four), has one to eight
    turns and grows by one to four blocks at each; `at_once` run at a time. After each
    turn come so many strangers, whose long prompts nobody asks again.
    """
    random = Random(f"made up {seed}")
    fresh = iter(range(24, 1 << 30))
    heads = [tuple(range(6 * head, 6 * head + 6)) for head in range(4)]
    waiting = [[random.choice(heads), random.randint(1, 8)] for _ in range(talks)]
    running: list[list[Any]] = []
    made: list[TracedRequest] = []
    while waiting or running:
        while waiting and len(running) < at_once:
            running.append(waiting.pop())
        talk = random.choice(running)
        talk[0] += tuple(next(fresh) for _ in range(random.randint(1, 4)))
        talk[1] -= 1
        if not talk[1]:
            running.remove(talk)
        asked = [talk[0]]
        for _ in range(strangers):
            size = random.randint(4, 16)
            asked.append(tuple(next(fresh) for _ in range(size)))
        made += [_request(ids, len(made) + at, random) for at, ids in enumerate(asked)]
    return made


def _request(ids: tuple[int, ...], number: int, random: Random) -> TracedRequest:
    length = BLOCK * len(ids) - random.randrange(BLOCK)
    return TracedRequest(500.0 * number, length, random.randint(50, 500), ids)


def write_mooncake(requests: Sequence[TracedRequest], path: str | Path) -> Path:
    """Write requests as a trace in Mooncake's format; return where.

    Changes: the file.
    """
    rows = (
        {
            "timestamp": int(request.timestamp),
            "input_length": request.input_length,
            "output_length": request.output_length,
            "hash_ids": list(request.hash_ids),
        }
        for request in requests
    )
    target = Path(path)
    target.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return target


# --- what is written to L2


class Written(NamedTuple):
    """What a replay did, in blocks."""

    computed: int
    written: int
    loaded: int

    @property
    def ratio(self) -> float:
        """Blocks written to L2 for each that was computed."""
        return self.written / self.computed


def written(
    requests: Sequence[TracedRequest], pool: int, policy: WritePolicy,
    rules: str = DEFAULT,
) -> Written:  # fmt: skip
    """Replay the requests one by one, a block a token, with four times as much L2."""
    config = EngineConfig(pool_tokens=pool, host_tokens=4 * pool, write_policy=policy)
    figures, _ = replay_trace(requests, config, Rules.named(rules), unit=True)
    names = ("computed_tokens", "backed_up_tokens", "loaded_back_tokens")
    return Written(*(figures[name] for name in names))


SCENARIOS: dict[str, Callable[..., Workbench]] = {}
