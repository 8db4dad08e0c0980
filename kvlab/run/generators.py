"""What do made-up users ask?

Four kinds of prompts, whose sharing is a dial, and four kinds of arrivals. All is drawn
from one seed: the same seed gives the same requests. Prompt tokens are numbered ranges,
so equal tokens mean equal prefixes and nothing else.

        unique          nothing shared
        shared_system   `share` of every prompt is one of `groups` system prompts
        chat            each turn repeats the talk so far, answers included
        agents          chat with long tool outputs and hardly any thinking between

Left out: text; lengths from a corpus (record/request_trace.py reads those).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, count
from random import Random

import numpy as np

from ..config import MAX_TOKENS
from ..errors import ConfigError
from ..record.events import Tokens
from .workload import Ask

SECOND = 10**9
_SHARED_AT = 1 << 29
"""Shared prompts are numbered from here on, unique tokens below."""


# --- arrivals, in nanoseconds


def poisson(rate: float, seed: int = 0) -> Iterator[int]:
    """Yield arrivals of a Poisson process of `rate` requests a second, for ever.

    Raises: ConfigError for numbers out of range.
    """
    _check("rate", rate, 1e-6, 1e6)
    random = Random(f"poisson {seed}")
    gaps = (random.expovariate(rate) for _ in count())
    return (round(at * SECOND) for at in accumulate(gaps))


def burst(size: int, every: float) -> Iterator[int]:
    """Yield `size` arrivals at once, again every so many seconds.

    Raises: ConfigError for numbers out of range.
    """
    _check("size", size, 1, 10**6)
    _check("every", every, 0, 1e6)
    return (round(number * every * SECOND) for number in count() for _ in range(size))


def ramp(first: float, last: float, over: float, seed: int = 0) -> Iterator[int]:
    """Yield a Poisson process whose rate goes from `first` to `last` requests a second
    within `over` seconds, and stays there.

    Raises: ConfigError for numbers out of range.
    """
    for name, rate in (("first", first), ("last", last)):
        _check(name, rate, 1e-6, 1e6)
    _check("over", over, 1e-3, 1e6)
    random = Random(f"ramp {seed}")
    at, top = 0.0, max(first, last)
    while True:
        at += random.expovariate(top)
        rate = first + (last - first) * min(1.0, at / over)
        if random.random() * top < rate:
            yield round(at * SECOND)


# --- prompts


def unique(
    number: int, arrivals: Iterator[int], *, length: int, outputs: int,
    spread: float = 0.0, seed: int = 0,
) -> Iterator[Ask]:  # fmt: skip
    """Yield requests that share nothing. `spread` varies both lengths, 0 to 1.

    Raises: ConfigError for numbers out of range.
    """
    return shared_system(
        number, arrivals, length=length, outputs=outputs, share=0.0, spread=spread,
        seed=seed,
    )  # fmt: skip


def shared_system(
    number: int, arrivals: Iterator[int], *, length: int, outputs: int,
    share: float, groups: int = 1, spread: float = 0.0, seed: int = 0,
) -> Iterator[Ask]:  # fmt: skip
    """Yield requests of which `share` (0 to 1) is one of `groups` system prompts.

    `spread` s draws both lengths evenly from (1 - s) to (1 + s) times their mean.
    Raises: ConfigError for numbers out of range.
    """
    _check("number", number, 1, 10**7)
    _check("length", length, 1, 10**7)
    _check("outputs", outputs, 1, 10**6)
    _check("share", share, 0, 1)
    _check("groups", groups, 1, 10**5)
    _check("spread", spread, 0, 1)
    random = Random(f"prompts {seed}")
    head = round(length * share)
    own = 0
    for index, at in zip(range(number), arrivals, strict=False):
        size = max(1, _vary(random, length, spread), head + 1 if share else 1)
        system = _range(_SHARED_AT + random.randrange(groups) * head, head)
        rest = _range(own % (_SHARED_AT - size), size - head)
        own += size - head
        tokens = np.concatenate((system, rest)) if head else rest
        tokens.flags.writeable = False
        wanted = max(1, _vary(random, outputs, spread))
        yield Ask(f"r{index}", at, tokens, wanted, MAX_TOKENS - index)


def chat(
    users: int, *, turns: int, first: int, question: int, outputs: int,
    think: float, system: int = 0, stagger: float = 0.0, seed: int = 0,
) -> list[Iterator[tuple[int, Ask]]]:  # fmt: skip
    """Return the sessions of a closed loop: every turn is the talk so far, answers
    included, and `question` tokens more.

    Units: `first`, `question`, `outputs`, `system` in tokens (`system` is shared by
    all); `think` mean seconds between an answer and the next question, exponential;
    `stagger` seconds between the sessions' starts.
    Raises: ConfigError for numbers out of range.
    """
    for name, value in (("users", users), ("turns", turns), ("first", first)):
        _check(name, value, 1, 10**6)
    _check("question", question, 1, 10**6)
    _check("outputs", outputs, 1, 10**6)
    _check("think", think, 0, 1e6)
    _check("system", system, 0, 10**6)
    return [
        _session(user, turns, first, question, outputs, think, system, stagger, seed)
        for user in range(users)
    ]


def _session(
    user: int, turns: int, first: int, question: int, outputs: int, think: float,
    system: int, stagger: float, seed: int,
) -> Iterator[tuple[int, Ask]]:  # fmt: skip
    random = Random(f"chat {seed} {user}")
    talk = _range(_SHARED_AT, system)
    for turn in range(turns):
        number = user * turns + turn
        talk = np.concatenate((talk, _range(number, question if turn else first)))
        talk.flags.writeable = False
        pause = random.expovariate(1 / think) if think else 0.0
        wait = pause if turn else user * stagger
        filler = MAX_TOKENS - number
        yield round(wait * SECOND), Ask(f"u{user}t{turn}", 0, talk, outputs, filler)
        talk = np.concatenate((talk, np.full(outputs, filler, np.int32)))


def _vary(random: Random, mean: int, spread: float) -> int:
    return round(mean * random.uniform(1 - spread, 1 + spread)) if spread else mean


def _range(first: int, size: int) -> Tokens:
    tokens = np.arange(first, first + size, dtype=np.int32)
    tokens.flags.writeable = False
    return tokens


def _check(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise ConfigError(f"{name} is {value}; use {least:g} to {most:g}")
