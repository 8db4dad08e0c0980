"""Is prefill at its ceiling, or the main work?

A ceiling shows in whole chunks one after the other, in a throughput that is level, or
in counters that grow by the same; mostly prompts each time.
Left out: what follows beside a queue (rules_queue.py).
"""

from __future__ import annotations

from statistics import fmean

from .said import Text, say
from .signs import Signs
from .spells import Row

_SMALLEST_CHUNK = 2048.0
"""Tokens of a chunk that SGLang takes by default on its smallest GPUs."""
_FLAT = 0.3
"""Standard deviation over mean below which a throughput is at its ceiling."""
_MANY = 5.0
"""Prompt tokens for each generated one from which prefill is the main work."""


def busy_with_prefill(signs: Signs) -> Text | None:
    """Return how it shows that prefill is at its ceiling; None if it does not."""
    return _full_chunks(signs) or _flat_log(signs) or _flat_counters(signs)


def _full_chunks(signs: Signs) -> Text | None:
    """SGLang's log: prefill after prefill takes a whole chunk."""
    sizes = [s.values["new_tokens"] for s in signs.track.samples if s.kind == "prefill"]
    chunk = signs.track.known("chunk_tokens") or max(sizes, default=0.0)
    if len(sizes) < 3 or chunk < 512:
        return None
    full = sum(size >= 0.9 * chunk for size in sizes) / len(sizes)
    if full < 0.6 or signs.track.count["decode"] > 4 * signs.track.count["prefill"]:
        return None
    return say(
        "{} of the prefill batches take a whole chunk of {}", f"{full:.0%}", chunk
    )


def _flat_log(signs: Signs) -> Text | None:
    """A throughput in the log that is level, and mostly prompts."""
    spread = signs.steadiness("prompt_tps")
    if spread is None or spread > _FLAT or signs.engine != "vllm":
        return None
    rows = [r.sample.values for r in signs.waits]
    prompt = fmean(values.get("prompt_tps", 0.0) for values in rows)
    made = fmean(values.get("gen_tps", 0.0) for values in rows)
    if prompt < _MANY * made:
        return None
    return say(
        "prompt throughput is level at {} tokens/s, generation at {}", prompt, made
    )


def _flat_counters(signs: Signs) -> Text | None:
    """Counters that grow by the same from scrape to scrape, mostly prompts."""
    for prompts, outputs in (
        ("computed_total", "decoded_total"), ("prompt_total", "generated_total")
    ):  # fmt: skip
        steps = [step for step in signs.steps(prompts) if step > 0]
        if prompts == "prompt_total" and steps:
            steps = _computed(signs, steps)
        if not steps:
            continue
        made = signs.track.growth(outputs) or 0.0
        level = len(steps) > 1 and max(steps) <= (1 + _FLAT) * min(steps)
        if sum(steps) >= _MANY * made and level:
            per = "level " if level else ""
            return say(
                "prompt tokens grow by a {}{} a scrape, generated ones by {}",
                per,
                fmean(steps),
                made / len(steps),
            )
    return None


def _computed(signs: Signs, steps: list[float]) -> list[float]:
    """Return the steps without what the cache gave: `prompt_tokens` counts it too."""
    cached = signs.steps("cached_any_total") or signs.steps("hits_total")
    if len(cached) != len(steps):
        rate = signs.hit_rate or 0.0
        return [step * (1 - rate) for step in steps]
    return [
        step - hits for step, hits in zip(steps, cached, strict=True) if step > hits
    ]


def chunk_share(signs: Signs) -> float | None:
    """Return how much of a chunk SGLang's prefills take on average; None if unsaid."""
    queued = [
        row.sample.values["new_tokens"]
        for row in signs.waits
        if row.sample.kind == "prefill"
    ]
    return fmean(queued) / chunk_tokens(signs) if queued else None


def chunk_tokens(signs: Signs) -> float:
    """Return the tokens of a chunk: as configured, or of the largest prefill seen, but
    no less than SGLang's smallest default."""
    sizes = [s.values["new_tokens"] for s in signs.track.samples if s.kind == "prefill"]
    return signs.track.known("chunk_tokens") or max([_SMALLEST_CHUNK, *sizes])


def computes_prompts(signs: Signs) -> bool:
    """True when prompts are computed in most reports with a queue, or were at all by
    the counter."""
    flowing = [r for r in signs.waits if r.sample.values.get("prompt_tps", 0.0) > 0]
    often = len(flowing) >= 0.5 * len(signs.waits)
    return often or grown(signs.waits, "prompt_total") > 0


def grown(rows: list[Row], counter: str) -> float:
    """Return how far a lifetime counter moved within the rows."""
    read = [r.sample.values[counter] for r in rows if counter in r.sample.values]
    return read[-1] - read[0] if read else 0.0
