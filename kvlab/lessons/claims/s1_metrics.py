"""Article 1, section 3: what do the engines' own numbers say?

Left out: reading real logs and scrapes (`kvlab diagnose`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

from ...config import EngineConfig
from ...record.block_metrics import BlockMeter, meter
from ...record.block_report import exposition as vllm_exposition
from ...record.trace import Header, Trace
from ...run.block_script import RequestSpec
from ...run.engine_log import log_lines
from ...run.generators import burst, unique
from ...run.meter import Meter
from ...run.scrapes import exposition
from ...run.timed_engine import TimedEngine
from ...run.workload import Ask, OpenLoop
from ..stages import Blocks
from .ledger import Case, Ledger, case
from .scenes import NEW, collapse, p99, reference_cost, tiers

LEDGER = Ledger()
claim = LEDGER.claim


@cache
def retracting_run() -> Trace:
    """Return a run on a clock in which requests are retracted."""
    config = EngineConfig(pool_tokens=2600, tree="radix", chunked_prefill_size=512)
    trace = Trace(Header(config=config, rules=NEW))
    TimedEngine(config, NEW, reference_cost(), emit=trace, conservativeness=0.1).run(
        OpenLoop(unique(12, burst(12, 1.0), length=200, outputs=150))
    )
    return trace


def _meters(trace: Trace) -> Iterator[Meter]:
    """Yield the meter after every event of a run. It is one object that moves on."""
    now = Meter(trace.header)
    for event in trace.events:
        now.take(event)
        yield now


SGLANG_NAMES = (
    ("token_usage", "token_usage"),
    ("num_running_reqs", "num_running_reqs"),
    ("num_queue_reqs", "num_queue_reqs"),
    ("cache_hit_rate", "cache_hit_rate"),
    ("num_retracted_reqs_total", "num_retracted_requests_total"),
)
VLLM_NAMES = (
    "kv_cache_usage_perc", "num_requests_running", "num_requests_waiting",
    "num_preemptions", "prefix_cache_queries", "prefix_cache_hits",
    "external_prefix_cache_queries", "external_prefix_cache_hits",
)  # fmt: skip


@claim(
    "S1-3.1-1", "11",
    ("SGLang exports token_usage, num_running_reqs, num_queue_reqs, cache_hit_rate and "
     "num_retracted_reqs_total.",
     "SGLang 导出 token_usage、num_running_reqs、num_queue_reqs、cache_hit_rate、"
     "num_retracted_reqs_total。"),
    ("The last is num_retracted_requests_total on the wire; an alert on the other name "
     "never fires.",
     "最后一个导出时叫 num_retracted_requests_total；按前者写的告警永远不会响。"),
)  # fmt: skip
def sglang_names() -> Iterator[Case]:
    """Each name in an exposition of 0.5.23, and the name that is there."""
    text = exposition(next(_meters(retracting_run())))
    for said, found in SGLANG_NAMES:
        there = f"sglang:{said}{{" in text
        yield case(said, there, exported=f"sglang:{found}")


STATES = (
    ("available", "kv_available_tokens"), ("evictable", "kv_evictable_tokens"),
    ("protected", "kv_used_tokens"),
)  # fmt: skip


@claim(
    "S1-2.1-7", "11",
    ("Each of the three states has a counter of its own that can be read.",
     "三项各有一个计数器，直接可查。"),
    ("In the code, yes. Of what is exported the third is used: protected and held "
     "together.",
     "代码里是。导出的第三项却是 used：protected 与 held 之和。"),
)  # fmt: skip
def three_counters() -> Iterator[Case]:
    """The gauge that is exported for each state, in an exposition of 0.5.23."""
    text = exposition(next(_meters(retracting_run())))
    for state, name in STATES:
        assert f"sglang:{name}{{" in text, name
        yield case(state, state in name, exported=f"sglang:{name}")


@claim(
    "S1-3.1-2", "11",
    ("Its log prints a decode line every 40 decode steps.",
     "日志默认每 40 个解码步打一条。"),
    ("As it says.", "如其所言。"),
)  # fmt: skip
def every_40() -> Iterator[Case]:
    """Decode lines against decode steps of a run."""
    trace = retracting_run()
    lines = sum("Decode batch" in line for line in log_lines(trace))
    steps = sum(getattr(event, "steps", 0) for event in trace.events)
    yield case("one run", lines == steps // 40, decode_lines=lines, decode_steps=steps)


@claim(
    "S1-3.1-3", "11",
    ("cache_hit_rate is hit tokens over hit and newly computed ones.",
     "cache_hit_rate = 命中 token /（命中 + 新算）。"),
    ("Of the last prefill batch, not of the server's life; and 0.5.14 sets it to 0 at "
     "every decode line.",
     "只统计最近一个预填充批次，不是服务期累计；0.5.14 每打一条解码"
     "日志还会清零。"),
)  # fmt: skip
def hit_rate() -> Iterator[Case]:
    """The gauge when everything hits now and nothing did before: batch or life?"""
    rates = [now.hit_rate for now in _meters(_twice_the_same())]
    life = 300 / 600
    yield case("second of two equal prompts", abs(max(rates) - life) < 0.01,
               of_the_batch=max(rates), of_the_life=life)  # fmt: skip
    yield case("no batch since", rates[-1] > 0, gauge=rates[-1])


def _twice_the_same() -> Trace:
    config = EngineConfig(pool_tokens=2000, tree="radix")
    trace = Trace(Header(config=config, rules=NEW))
    first, second = islice(unique(2, burst(1, 30.0), length=300, outputs=60), 2)
    again = Ask(second.id, second.at, first.tokens, second.max_new)
    TimedEngine(config, NEW, reference_cost(), emit=trace).run(OpenLoop([first, again]))
    return trace


@claim(
    "S1-3.1-4", "10",
    ("The retraction counter only grows.", "retract 计数是累计数。"),
    ("A gauge of the same stem, num_retracted_reqs, counts since the last report.",
     "另有同名词干的 gauge num_retracted_reqs，只计上次上报以来。"),
)  # fmt: skip
def cumulative() -> Iterator[Case]:
    """The counter after every event of a run with retractions."""
    counts = [now.counts["retracted"] for now in _meters(retracting_run())]
    yield case("one run", counts == sorted(counts) and counts[-1] > 0,
               at_the_end=counts[-1])  # fmt: skip


# --- vLLM


def _vllm(**knobs: Any) -> BlockMeter:
    """Return the meter after a prefix has left L1 and was asked for again."""
    engine = Blocks(
        RequestSpec("a", list(range(16)), out=2),
        RequestSpec("evictor", list(range(500, 536)), out=2, arrival=4),
        RequestSpec("again", [*range(16), 90, 91, 92, 93], out=3, arrival=9),
        **({"num_gpu_blocks": 11} | knobs),
    )
    engine.run()
    return meter(engine.trace)


@claim(
    "S1-3.2-1", "11",
    ("vLLM exports kv_cache_usage_perc, running, waiting, preemptions, and two pairs "
     "of prefix counters.",
     "vLLM 导出 kv_cache_usage_perc、running/waiting、preemptions 与两组 prefix "
     "计数。"),
    ("Counters end in _total on the wire, as Prometheus asks.",
     "按 Prometheus 约定，计数器导出时以 _total 结尾。"),
)  # fmt: skip
def vllm_names() -> Iterator[Case]:
    """Each name in an exposition of 0.33.0, bare or with _total."""
    end = _vllm()
    text = vllm_exposition(end.counters, end.gauges())
    for name in VLLM_NAMES:
        there = f"vllm:{name}{{" in text or f"vllm:{name}_total{{" in text
        yield case(name, there, as_counter=f"vllm:{name}_total{{" in text)


@claim(
    "S1-3.2-2", "03",
    ("Its usage is 1 - free / (num_gpu_blocks - 1): the null block does not count.",
     "usage = 1 − free/(num_gpu_blocks − 1)，分母减掉 null block。"),
    ("So a pool of cache and no request reads 0.", "所以塞满缓存、没有请求时读数为 "
     "0。"),
)  # fmt: skip
def usage() -> Iterator[Case]:
    """Four blocks of ten in use, and none with four cached."""
    engine = Blocks(RequestSpec("a", list(range(16)), out=2), num_gpu_blocks=11)
    told = engine.step()["after_schedule"]
    formula = 1 - told["free"] / 10
    yield case("running", abs(told["usage"] - formula) < 1e-9 and told["usage"] > 0,
               usage=told["usage"], free=told["free"])  # fmt: skip
    told = engine.run()[-1]["after_update"]
    yield case("finished", told["usage"] == 0, usage=told["usage"],
               cached_blocks=told["evictable"])  # fmt: skip


@claim(
    "S1-3.2-3", "11",
    ("external_prefix_cache_hits tells how much L2 hit.",
     "external_prefix_cache_hits 告诉你 L2 命中了多少。"),
    ("In tokens, of any connector.", "以 token 计，且包含任何 connector。"),
)  # fmt: skip
def external() -> Iterator[Case]:
    """The counter with and without an L2, for a prefix that has left L1."""
    for name, l2, said in (("L2", {"num_cpu_blocks": 41}, 16), ("no L2", None, 0)):
        found = _vllm(l2=l2).counters.external_hits
        yield case(name, found == said, hits=found)


# --- two groups


@claim(
    "S1-3.3-1", "11",
    ("Usage near 1, a growing queue and growing retractions together mean L1.",
     "usage 贴 1、waiting 堆积、retract 增长，三条同时出现就是 L1 瓶颈。"),
    ("Unless a slow link holds L1: copies under way lock it, and the same three signs "
     "appear.",
     "除非是慢链路占住了 L1：在途拷贝锁住槽位，会出现同样的三条信号。"),
)  # fmt: skip
def three_signs() -> Iterator[Case]:
    """Where the signs stand together: does twice the L1 mend P99 tenfold?"""
    full, roomy = collapse("write_back"), collapse("twice the L1")
    assert full.peak_waiting > 50 and full.retractions > 0, "all three signs"
    yield case("unique prompts", roomy.p99 < full.p99 / 10, p99_s=full.p99,
               with_twice_l1_s=roomy.p99, retractions=full.retractions)  # fmt: skip
    slow = tiers(0.9, 655_360, link=0.5e9, pool=131_072)
    assert slow.peak_waiting > 50 and slow.retractions > 0, "all three signs"
    more = tiers(0.9, 655_360, link=0.5e9, pool=262_144)
    faster = tiers(0.9, 655_360, link=50e9, pool=131_072)
    yield case("a link of 0.5 GB/s", p99(more) < p99(slow) / 10, p99_s=p99(slow),
               with_twice_l1_s=p99(more), with_50_gbps_s=p99(faster),
               retractions=slow.retractions)  # fmt: skip


@claim(
    "S1-3.3-2", "11",
    ("The hit rate says how much prefill was saved, and nothing of whether the pool "
     "holds what wants to run.",
     "命中率只回答预填充省了多少，不回答 Pool 装不装得下。"),
    ("The same hit rate, with and without a queue.", "命中率相同，"
     "有无排队却截然不同。"),
)  # fmt: skip
def hit_rate_is_silent() -> Iterator[Case]:
    """Two pools, one workload that shares nothing: hit rate 0 both times."""
    small, large = collapse("write_back"), collapse("twice the L1")
    yield case("hit rate 0 in both", small.p99 > 50 * large.p99, small_p99_s=small.p99,
               large_p99_s=large.p99)  # fmt: skip
