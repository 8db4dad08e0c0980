"""Which runs does notebook 11, On call, seal?

Five of the title's mirror images (mirrors.py), read as a scraper would, every ten
seconds, and drawn without their names.
Left out: the leak, which needs a log; the rules that judge (observe).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from ...observe.diagnose import diagnose_run
from ...observe.run_samples import record_run
from ...observe.samples import Sample
from ...record.diagnosis import Diagnosis
from ...record.trace import Trace
from ...run.generators import ramp, shared_system
from ...run.workbench import Workbench
from ...run.workload import OpenLoop, Workload
from ...views.theme import Lang, Words
from ...views.time_axis import Panel, time_axis, time_axis_text
from ..drawn import Drawn
from ..mirrors import MIRRORS, Load, Mirror, play

KINDS = {
    "ceiling": Words("the ceiling", "L1 到顶"), "cap": Words("a cap", "运行数上限"),
    "link": Words("a slow link", "慢链路"),
    "prefix": Words("a broken prefix", "断了的前缀"),
    "healthy": Words("healthy", "健康"),
}  # fmt: skip
LETTERS = "ABCDE"
EVERY = 10.0


class Reading(NamedTuple):
    """What a scrape shows. Units: shares 0 to 1, requests; `retracted` and `hit_rate`
    are of the last minute, the rate None where no prompt came."""

    time: float
    usage: float
    queue: float
    running: float
    retracted: float
    hit_rate: float | None
    l2: float


def mirror(kind: str) -> Mirror:
    """Return the sickness behind a short name."""
    (found,) = (m for m in MIRRORS if m.name == KINDS[kind].en)
    return found


@cache
def run(kind: str, seed: int = 0) -> Trace:
    """Return the recorded run. Cost: half a second, once."""
    return play(mirror(kind), seed)


@cache
def mended(what: str, seed: int = 0) -> tuple[Reading, ...]:
    """Return the slow link's readings with one thing doubled, or the link mended."""
    sick = mirror("link")
    better = {
        "l1": replace(sick, pool_tokens=2 * sick.pool_tokens),
        "l2": replace(sick, host_tokens=2 * sick.host_tokens),
        "link": replace(sick, link=50e9),
    }
    return _readings(play(better[what], seed))


@cache
def ceiling_that_hits(seed: int = 0) -> tuple[Reading, ...]:
    """Return the readings of the ceiling, when 60 % of each prompt is one that all
    share: L1 is the limit, and the hit rate is high."""
    return _readings(play(replace(mirror("ceiling"), workload=_shared), seed))


def _shared(seed: int, load: Load) -> Workload:
    arrivals = ramp(load.rate / 3, 2.5 * load.rate, 60, seed)
    return OpenLoop(shared_system(
        160, arrivals, length=load.length // 4, outputs=round(12.5 * load.outputs),
        share=load.share, spread=0.2, seed=seed,
    ))  # fmt: skip


@cache
def readings(kind: str, seed: int = 0) -> tuple[Reading, ...]:
    """Return what a scraper sees of the run, every ten seconds."""
    return _readings(run(kind, seed))


def _readings(trace: Trace) -> tuple[Reading, ...]:
    recording = record_run(trace, trace.header.name)
    recording.settle()
    (track,) = recording.tracks.values()
    prompts = track.with_field("new_tokens", "cached_tokens")
    retracted = list(track.events.get("retract", ()))
    found, at = [], 0
    last = track.samples[0]
    for number in range(1, int((track.last_time or 0.0) / EVERY) + 2):
        now = number * EVERY
        while at < len(track.samples) and (track.samples[at].time or 0.0) <= now:
            last, at = track.samples[at], at + 1
        recent = _last_minute(prompts, now), len(_last_minute(retracted, now))
        found.append(_reading(last, now, *recent))
    return tuple(found)


def _last_minute(samples: Sequence[Sample], now: float) -> Sequence[Sample]:
    """Return those of the last 60 seconds; samples lie in the order of time."""
    begin, end = (
        bisect_right(samples, at, key=lambda sample: sample.time or 0.0)
        for at in (now - 60, now)
    )
    return samples[begin:end]


def _reading(
    last: Sample, now: float, prompts: Sequence[Sample], retracted: int
) -> Reading:
    cached = sum(s.values["cached_tokens"] for s in prompts)
    total = cached + sum(s.values["new_tokens"] for s in prompts)
    values = last.values
    return Reading(
        now, values["usage"], values["queue"], values["running"],
        float(retracted), cached / total if total else None,
        values.get("l2_fraction", 0.0),
    )  # fmt: skip


# --- sealed


def seed_of(number: int) -> int:
    """Return the seed of a set's runs: two are played, in many orders."""
    return number % 2


def sealed(number: int) -> dict[str, str]:
    """Return which kind of run lies behind each letter of a set."""
    kinds = list(KINDS)
    Random(f"sealed {number}").shuffle(kinds)
    return dict(zip(LETTERS, kinds, strict=True))


def diagnoses(number: int, lang: Lang = "en") -> dict[str, Diagnosis]:
    """Return what `kvlab diagnose` says of each run of a set."""
    return {
        letter: diagnose_run(run(kind, seed_of(number)), letter, lang)
        for letter, kind in sealed(number).items()
    }


def graphs(number: int, letter: str, lang: Lang = "en") -> Drawn:
    """Return the six graphs of a sealed run, over one time axis."""
    title = Words(f"set {number}, run {letter}", f"第 {number} 组，运行 {letter}")
    return _graphs(readings(sealed(number)[letter], seed_of(number)), title, lang)


def dashboard(lang: Lang = "en") -> str:
    """Return the graphs of the night that the prediction is about, as SVG."""
    title = Words("03:10, somebody's pager", "凌晨 3:10，有人的告警响了")
    return _graphs(readings("link")[:100], title, lang).svg


def _graphs(found: Sequence[Reading], title: Words, lang: Lang) -> Drawn:
    shown = panels(found)
    end = max(at for at, _ in shown[0].points)
    return Drawn(
        time_axis(shown, title, end=end, note=NOTE.to(lang), lang=lang),
        time_axis_text(shown, lang),
    )


NAMES: dict[str, tuple[str, str]] = {
    "usage": ("token_usage", "kv_cache_usage_perc"),
    "queue": ("num_queue_reqs", "num_requests_waiting"),
    "running": ("num_running_reqs", "num_requests_running"),
    "retracted": ("num_retracted_requests", "num_preemptions"),
    "hit_rate": ("cache_hit_rate", "prefix_cache_hits"),
    "l2": ("hicache_host_used_tokens", ""),
}
"""Each graph's metric, as SGLang and as vLLM call it; vLLM has none for L2's fill."""
NOTE = Words(
    "One reading in ten seconds; retractions and hit rate are the last minute's. "
    "Names are SGLang's, below them vLLM's.",
    "每十秒一个读数；撤回数与命中率取最近一分钟。指标名上行是 SGLang，下行是 vLLM。",
)


def panels(found: Sequence[Reading]) -> list[Panel]:
    """Return one panel a graph: SGLang's name, and below it vLLM's."""
    made = []
    for field, (sglang, vllm) in NAMES.items():
        points = [
            (each.time, value)
            for each in found
            if (value := getattr(each, field)) is not None
        ]
        share = field in ("usage", "hit_rate", "l2")
        scale = 100.0 if share else 1.0
        values = [(at, scale * value) for at, value in points]
        top = 100.0 if share else max(5.0, *(value for _, value in values))
        made.append(
            Panel(name=Words(sglang, sglang), points=values, top=top,
                  unit=" %" if share else "", told=vllm)
        )  # fmt: skip
    return made


SCENARIOS: dict[str, Callable[..., Workbench]] = {}
