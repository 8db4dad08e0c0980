"""Did one step take far longer than its like, and did the engine go on?

A pool with room, no queue, and still a first token that took a minute: kernels were
compiled, or something held the GPU. The reports around it look healthy.
Left out: an engine that does not go on (rules_end.py).
"""

from __future__ import annotations

from itertools import groupby, pairwise
from statistics import median

from .finding import Finding, climb_text, quote, yes
from .said import say
from .samples import Sample
from .signs import PIN, Signs

_LONG_S = 20.0
"""Seconds from which a step is long for any model."""
_TIMES = 10.0
"""Times the usual from which it is long for this one."""
_QUIET = 4
"""Reports without a token, 30 s or more, from which vLLM stood."""
_QUIET_S = 30.0
_SLOW_TPS = 2.0
"""Tokens a second for each running request below which decoding is slow anywhere."""
_SHOWN = ("running", "queue", "usage", "new_tokens", "prompt_tps", "gen_tps")


def slow_step(signs: Signs) -> Finding | None:
    """Was there a stretch in which requests ran and hardly a token was made?"""
    if signs.kind != "log" or signs.usage_max >= PIN or signs.reports_each > 1:
        return None
    paused = _after_prefill if signs.engine == "sglang" else _without_token
    return paused(signs) or _slow_decode(signs)


def _after_prefill(signs: Signs) -> Finding | None:
    """SGLang reports every so many steps: a prefill, then nothing for a long time, then
    that request runs."""
    pairs = [*pairwise(signs.track.samples)]
    usual = [gap for a, b in pairs if a.kind == b.kind == "decode"
             and (gap := _gap(a, b)) is not None]  # fmt: skip
    slow = [
        (gap, a, b)
        for a, b in pairs
        if (a.kind, b.kind) == ("prefill", "decode")
        and b.values.get("running")
        and (gap := _gap(a, b)) is not None
    ]
    if not slow or len(usual) < 3:
        return None
    longest, before, after = max(slow, key=lambda one: one[0])
    if longest < max(_LONG_S, _TIMES * median(usual)):
        return None
    return yes(
        "step_took_long",
        say(
            "{} s pass between a prefill and the next report of what runs; {} s are "
            "usual between two such reports",
            longest,
            median(usual),
        ),
        say("usage is at most {}", signs.usage_max),
        quotes=[quote(sample, *_SHOWN) for sample in (before, after)],
    )


def _slow_decode(signs: Signs) -> Finding | None:
    """Running requests make hardly a token a second each, and no prompt is computed
    beside them."""
    samples = [s for s in signs.track.samples if s.values.get("running")]
    each = [s.values.get("gen_tps", 0.0) / s.values["running"] for s in samples]
    prompts = any(s.kind == "prefill" or s.values.get("prompt_tps") for s in samples)
    if len(samples) < 4 or prompts or not 0 < median(each) < _SLOW_TPS:
        return None
    return yes(
        "step_took_long",
        say(
            "each running request makes {} tokens a second (median of {} reports), and "
            "no prompt is computed beside them",
            median(each),
            len(samples),
        ),
        say("usage is at most {}", signs.usage_max),
        *climb_text(signs),
        quotes=[quote(sample, *_SHOWN) for sample in (samples[0], samples[-1])],
        next=_NEXT_SLOW,
    )


_NEXT_SLOW = (
    "look at what a step waits for: weights or KV offloaded to the CPU, tensor "
    "parallel over PCIe or a network, eager mode, clocks (nvidia-smi -q -d CLOCK)",
    "profile one step; more L1 or L2 does not make it faster",
)


def _gap(before: Sample, after: Sample) -> float | None:
    if before.time is None or after.time is None:
        return None
    return after.time - before.time


def _without_token(signs: Signs) -> Finding | None:
    """vLLM reports every ten seconds, whatever happens: several without a token."""
    runs = [[*rows] for quiet, rows in groupby(signs.track.samples, _is_quiet) if quiet]
    stood = max(runs, key=len, default=[])
    if len(stood) < _QUIET or stood[-1] is signs.track.samples[-1]:
        return None
    seconds = _gap(stood[0], stood[-1])
    if seconds is not None and seconds < _QUIET_S:
        return None
    during = "" if seconds is None else say(", over {} s", seconds)
    return yes(
        "step_took_long",
        say(
            "in {} reports{}, {} requests run and not one token is made; then the "
            "engine goes on",
            len(stood),
            during,
            stood[-1].values["running"],
        ),
        say("usage is at most {}", signs.usage_max),
        quotes=[quote(sample, *_SHOWN) for sample in (stood[0], stood[-1])],
    )


def _is_quiet(sample: Sample) -> bool:
    values = sample.values
    made = [values.get("prompt_tps"), values.get("gen_tps")]
    return bool(values.get("running")) and made == [0.0, 0.0]
