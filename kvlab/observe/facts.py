"""Which numbers does the input support?

The facts of the contract, None where the input cannot say. Extremes are over all
schedulers, sums over their sums, a hit rate is that of the scheduler the verdict is
about. Growth inside the input only: a lifetime counter is never a fact of the window.
Left out: the verdict (verdict.py), request traces (trace_facts.py).
"""

from __future__ import annotations

from itertools import pairwise
from math import isinf
from typing import Any

from .samples import Recording, Sample, Track
from .signs import Signs
from .verdict import Judgement, Opinion

Facts = dict[str, Any]


def facts(recording: Recording, found: Judgement) -> Facts:
    """Return everything that the recording can say in numbers."""
    tracks = [opinion.track for opinion in found.opinions]
    about = found.about
    told: Facts = {"engine": recording.engine}
    told |= _pool(about)
    told |= _peaks(tracks, found.opinions)
    told |= _thrown_out(recording, found.opinions)
    told |= _cache(about, tracks)
    told |= _growth(recording, tracks)
    told |= _ranks(recording, found)
    told |= _window(recording, tracks)
    told |= _leak(about.track) | _ttft(about.track) | _notes(recording, about)
    return told


def _pool(about: Opinion) -> Facts:
    signs, track = about.signs, about.track
    assumed = (
        track.known("pool_blocks") is not None
        and track.known("pool_tokens") is None
        and track.known("block_size") is None
    )
    told: Facts = {
        "pool_tokens": _whole(signs.pool_tokens),
        "pool_blocks": _whole(track.known("pool_blocks")),
        "binding_pool": signs.binding_pool,
        "max_running_requests": _whole(signs.cap),
    }
    if assumed:
        told["block_size_assumed"] = 16
    if (logged := track.known("max_concurrency_logged")) is not None:
        told["max_concurrency_logged"] = logged
    return told


_PEAKS = {
    "max_token_usage": "usage", "max_queue": "queue", "max_running": "running",
    "max_prealloc_queue": "prealloc", "max_transfer_queue": "transfer",
    "max_retracted_queue": "retracted_queue", "max_swapped": "swapped",
    "max_deferred": "deferred", "max_cpu_usage": "usage_cpu",
    "l2_used_fraction_max": "l2_fraction",
}  # fmt: skip
_SHARES = {"usage", "usage_cpu", "l2_fraction"}


def _peaks(tracks: list[Track], opinions: list[Opinion]) -> Facts:
    told: Facts = {}
    for name, ours in _PEAKS.items():
        value = max(
            (v for t in tracks if (v := t.high(ours)) is not None), default=None
        )
        told[name] = _share(value) if ours in _SHARES else _whole(value)
    if told["max_cpu_usage"] is None:
        del told["max_cpu_usage"]
    lows = [v for t in tracks if (v := t.low("queue")) is not None]
    lasts = [v for t in tracks if (v := t.last("queue")) is not None]
    speeds = [v for t in tracks if (v := t.low("gen_tps")) is not None]
    told["min_queue"] = _whole(min(lows, default=None))
    told["last_queue"] = _whole(sum(lasts)) if lasts else None
    told["min_gen_throughput"] = min(speeds, default=None)
    if told["max_prealloc_queue"] is not None:
        told["effective_max_queue"] = _whole(max(o.signs.queue_max for o in opinions))
    return told


def _thrown_out(recording: Recording, opinions: list[Opinion]) -> Facts:
    counted = [o.signs.thrown_out for o in opinions if o.track.num_samples]
    known = [value for value in counted if value is not None]
    total = _whole(sum(known)) if known and len(known) == len(counted) else None
    told: Facts = {"retracted_total": None, "preemptions_total": None}
    tracks = [o.track for o in opinions]
    if recording.engine == "vllm":
        told["preemptions_total"] = total
        lasts = [t.last("preemptions_total") for t in tracks]
        lasts += [t.last("preemptions_lifetime") for t in tracks]
        if read := [value for value in lasts if value is not None]:
            told["preemption_counter_last"] = _whole(sum(read))
        if "v0" in recording.marks:
            told["preemptions_total_at_least"] = total
        return told
    told["retracted_total"] = total
    if recording.kind != "metrics":
        told["retract_events"] = sum(t.count["retract"] for t in tracks)
        if recording.kind == "log":
            told["retract_lines"] = sum(t.count["retract_lines"] for t in tracks)
    elif read := [v for t in tracks if (v := t.last("retracted_total")) is not None]:
        told["retracted_lifetime"] = _whole(sum(read))
    return told


def _cache(about: Opinion, tracks: list[Track]) -> Facts:
    signs, track = about.signs, about.track
    cached = sum(t.sums["cached_tokens"] for t in tracks)
    asked = cached + sum(t.sums["new_tokens"] for t in tracks)
    told: Facts = {
        "hit_rate": _rate(cached / asked if asked else signs.hit_rate),
        "external_hit_rate": _rate(signs.external_hit_rate),
    }
    for name, ours in (
        ("hit_rate_logged", "hit_rate_logged"),
        ("external_hit_rate_logged", "external_hit_rate_logged"),
    ):
        if (value := track.last(ours)) is not None:
            told[name] = told[f"{name}_last"] = value
    if (queries := track.last("queries_total")) and track.num_samples == 1:
        told["hit_rate_lifetime"] = _rate((track.last("hits_total") or 0.0) / queries)
    if track.known("hits_in_blocks"):
        told["hit_unit"] = "blocks"
    if track.count["lookup"]:
        told["requests"] = track.count["lookup"]
        told["lookup_tokens_total"] = _whole(track.sums["lookup_tokens"])
        told["lmcache_hit_tokens"] = _whole(track.sums["lookup_hits"])
        told["stored_tokens_total"] = _whole(track.sums["stored_tokens"])
    return told


def _growth(recording: Recording, tracks: list[Track]) -> Facts:
    told: Facts = {}
    for name in ("backup", "load_back", "evicted", "dropped"):
        grown = [v for t in tracks if (v := t.growth(f"{name}_total")) is not None]
        told[f"{name}_tokens_growth"] = _whole(sum(grown)) if grown else None
    if told["load_back_tokens_growth"] is None and told["backup_tokens_growth"]:
        told["load_back_tokens_growth"] = 0  # labelled: absent until the first load
    if recording.kind == "metrics":
        steps = _nine(Signs(tracks[0], recording).steps("prompt_total"))
        for number, step in enumerate(steps, 1):
            told[f"prompt_tokens_window_{number}"] = _whole(step)
    return told


def _ranks(recording: Recording, found: Judgement) -> Facts:
    per_rank = {}
    for opinion in found.opinions:
        track, signs = opinion.track, opinion.signs
        per_rank[recording.label(track)] = {
            "verdict_cause": opinion.best.cause,
            "max_token_usage": track.high("usage"),
            "max_queue": _whole(track.high("queue")),
            "max_running": _whole(track.high("running")),
            "evicted_requests": _whole(signs.thrown_out),
            "n_samples": track.num_samples,
        }
    tags = [tag for o in found.opinions for tag in o.track.tags if tag]
    several = len(found.opinions) > 1
    return {
        "per_rank": per_rank if several else None,
        "binding_rank": recording.label(found.about.track) if several else None,
        "ranks": tags or None,
    }


def _window(recording: Recording, tracks: list[Track]) -> Facts:
    spans = [
        t.last_time - t.first_time
        for t in tracks
        if t.first_time is not None and t.last_time is not None
    ]
    longest = max(spans, default=None)
    samples = sum(t.num_samples for t in tracks)
    told: Facts = {
        "window_s": None if longest is None or longest < 0 else round(longest, 3),
        "n_samples": samples,
        "n_lines_damaged": recording.damaged,
    }
    if recording.damaged:
        told["n_samples_intact"] = samples
    return told


def _leak(track: Track) -> Facts:
    """The account that does not add up, or else the last one printed."""
    dumps: list[tuple[str, Sample]] = [
        (kind.removeprefix("account:"), sample)
        for kind, kept in track.events.items()
        if kind.startswith("account:")
        for sample in kept
    ]
    if not dumps:
        return {}
    pool, sample = next((d for d in dumps if d[1].values["account_delta"]), dumps[-1])
    terms = {k.removeprefix("account_"): int(v) for k, v in sample.values.items()}
    delta, said = terms["delta"], terms["said_leak"]
    return {
        "leak_pool": pool,
        "leak_available": terms["available"],
        "leak_evictable": terms["evictable"],
        "leak_protected": terms["protected"],
        "leak_delta": delta,
        "leak_sign": "over" if delta > 0 else "under" if delta and said else None,
    }


def _ttft(track: Track) -> Facts:
    """The bucket in which the 99th percentile lies, from scrape to scrape; in a long
    series in each of nine equal parts."""
    scrapes = [
        s for s in track.samples if any(k.startswith("ttft_le_") for k in s.values)
    ]
    told: Facts = {}
    for number, (before, after) in enumerate(pairwise(_ten(scrapes)), 1):
        found = p99_bucket(before, after)
        if found is not None:
            low, high = found
            told[f"ttft_p99_window_{number}_gt"] = low
            told[f"ttft_p99_window_{number}_le"] = None if isinf(high) else high
    return told


def p99_bucket(before: Sample, after: Sample) -> tuple[float, float] | None:
    """Return the bounds of the bucket that holds the 99th percentile of the time to
    first token between two scrapes; None if nothing was answered in between."""
    bounds = sorted(
        float(name.removeprefix("ttft_le_").removesuffix("_total"))
        for name in after.values
        if name.startswith("ttft_le_")
    )
    grown = [
        after.values[_bucket(b)] - before.values.get(_bucket(b), 0.0) for b in bounds
    ]
    if not grown or grown[-1] <= 0:
        return None
    at = next(i for i, value in enumerate(grown) if value >= 0.99 * grown[-1])
    return (bounds[at - 1] if at else 0.0), bounds[at]


def _bucket(bound: float) -> str:
    return f"ttft_le_{bound:g}_total"


def _notes(recording: Recording, about: Opinion) -> Facts:
    told: Facts = {}
    gap = about.track.peaks.get("account_gap")
    if gap is not None:
        told["kv_identity_ok"] = (
            about.track.low("account_gap") == 0 == gap.values["account_gap"]
        )
    if recording.jumps:
        told["clock_jumps_back"] = recording.jumps
    return told


def _whole(value: float | None) -> int | float | None:
    """Return a count as an integer; None stays None."""
    return value if value is None or value != int(value) else int(value)


def _share(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _rate(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _nine(steps: list[float]) -> list[float]:
    """Return the steps, more than nine of them summed into nine equal parts."""
    if len(steps) <= 9:
        return steps
    edges = [round(part * len(steps) / 9) for part in range(10)]
    return [sum(steps[start:stop]) for start, stop in pairwise(edges)]


def _ten(scrapes: list[Sample]) -> list[Sample]:
    """Return the scrapes, of more than ten those at the edges of nine equal parts."""
    if len(scrapes) <= 10:
        return scrapes
    return [scrapes[round(part * (len(scrapes) - 1) / 9)] for part in range(10)]
