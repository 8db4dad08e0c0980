"""Article 1, section 5: what happens, in order, when L1 is full?

Left out: what helps (s1_remedies.py), the metrics by name (s1_metrics.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import accumulate, repeat

from ...record import block_events as be
from ...record import events as ev
from ...run.block_script import RequestSpec
from ...run.engine_log import log_lines
from ...run.generators import poisson, shared_system, unique
from ...run.script import DecodeStepOp
from ...run.tallies import Tallies
from ...run.timed_request import Part
from ...schedule.token_ratio import NewTokenRatio
from ..stages import Blocks
from .ledger import Case, Ledger, case
from .s1_metrics import retracting_run
from .scenes import (
    NEW,
    SECOND,
        bench,
    collapse,
    crowd,
    mean,
    new,
    p99,
    prefill,
    seen,
    serve,
)  # fmt: skip

LEDGER = Ledger()
claim = LEDGER.claim


# --- admission tightens


@claim(
    "S1-5.2-1", "05",
    ("When remaining_total is short the answer is NO_TOKEN and the request waits.",
     "remaining_total 不足时返回 NO_TOKEN，新请求堆进 waiting。"),
    ("As it says.", "如其所言。"),
)  # fmt: skip
def no_token() -> Iterator[Case]:
    """A request of 30 + 20 into 64 slots of which 20 are left."""
    desk = bench(NEW)
    desk.insert(range(500, 544))
    desk.ack_write()
    desk.lock("reader", range(500, 544))
    prefill(desk, new("a", range(30), 20))
    asked = seen(desk, ev.Admit)[-1]
    yield case("30 + 20 into 20", asked.verdict == "NO_TOKEN" and not asked.added
               and desk.state.waiting == ["a"], verdict=asked.verdict,
               waiting=len(desk.state.waiting))  # fmt: skip


@claim(
    "S1-5.2-2", "05",
    ("As the ratio decays the budget becomes more and more conservative.",
     "new_token_ratio 一路衰减，预算越算越保守。"),
    ("The opposite: a smaller ratio promises less to those who run, and admits more.",
     "恰好相反：ratio 越小，为在跑请求预留得越少，准入越松。"),
)  # fmt: skip
def decays() -> Iterator[Case]:
    """What is promised to one running request of max_new 1,000, early and late."""
    promised = []
    for rounds in (0, 600):
        now = NewTokenRatio()
        now.decay(rounds)
        desk = bench(NEW, pool_tokens=4000, host_tokens=4001, new_token_ratio=now.value)
        prefill(desk, new("a", range(50), 1000))
        prefill(desk, new("b", range(100, 150), 1))
        asked = next(e for e in seen(desk, ev.Admit) if e.request == "b")
        promised.append(asked.promised)
    yield case("after 600 decode rounds", promised[1] > promised[0],
               promised_at_first=promised[0], promised_later=promised[1])  # fmt: skip


@claim(
    "S1-5.2-3", "05",
    ("vLLM tries allocate_slots for its waiting requests in every step.",
     "vLLM 的 waiting 请求每轮都试探 allocate_slots。"),
    ("Only for the head of the queue: who does not fit stops all behind it, even those "
     "that would.",
     "只试队首：队首放不下，后面放得下的也一起等。"),
)  # fmt: skip
def every_step() -> Iterator[Case]:
    """Who is asked while a large request waits before a small one that would fit."""
    engine = Blocks(
        RequestSpec("running", list(range(40)), out=8),
        RequestSpec("large", list(range(100, 140)), out=1, arrival=1),
        RequestSpec("small", list(range(200, 204)), out=1, arrival=1),
    )
    for _ in range(4):
        engine.step()
    for id in ("large", "small"):
        tried = sum(slots.request == id for slots in engine.seen(be.Slots))
        yield case(id, tried >= 3, tries_in_three_steps=tried)


# --- decode does not fit


@claim(
    "S1-5.3-1", "10",
    ("A decode step that does not fit first evicts cache, and retracts only then.",
     "decode 装不下时先逐缓存，逐完还不够才 retract。"),
    ("As it says.", "如其所言。"),
)  # fmt: skip
def evicts_first() -> Iterator[Case]:
    """The same crowd, with the rest of L1 evictable, and with the rest locked."""
    for name, unlocked, retractions in (
        ("cache left", True, 0),
        ("none left", False, 1),
    ):
        desk = crowd()
        if unlocked:
            desk.unlock("others")
        desk.do(DecodeStepOp(token=950))
        found = len(seen(desk, ev.Retract))
        kinds = [type(event) for event in desk.trace.events]
        if found:
            kinds = kinds[: kinds.index(ev.Retract)]
        tried = ev.Evict in kinds
        yield case(name, found == retractions and tried, retractions=found,
                   tried_to_evict_before=str(tried))  # fmt: skip


@claim(
    "S1-5.3-2", "10",
    ("Retraction frees all KV of the request.", "retract 释放该请求的全部 KV。"),
    ("Only what the tree does not own: its prompt stays on the tree, evictable, and is "
     "hit again; its outputs are kept as tokens. Unless the pool is so tight that the "
     "room for 20 steps of each survivor takes the prompt too.",
     "只释放树不拥有的部分：prompt 留在树上变为 evictable，下次照样命中；"
     "输出作为 token 保留。除非池子太紧：要为每个幸存者腾出 20 步的空间，"
     "prompt 也被逐出。"),
)  # fmt: skip
def frees_all() -> Iterator[Case]:
    """What of a retracted request of 12 + outputs can be hit afterwards."""
    desk = crowd(steps=22)
    before = desk.account()
    desk.do(DecodeStepOp(token=950))
    (victim,) = seen(desk, ev.Retract)
    assert victim.request == "b", "b has written less"
    hit = desk.match(range(200, 212))["device_hit"]
    yield case("its prompt of 12", hit == 0, still_on_l1=hit)
    freed = desk.account().available - before.available
    yield case("its 22 outputs", freed >= 21, freed=freed)


@claim(
    "S1-5.3-3", "10",
    ("The retracted request waits in the queue again.", "被回退的请求回 waiting "
     "重新排队。"),
    ("At the tail in SGLang, at the head in vLLM.", "SGLang 排队尾，vLLM 排队首。"),
)  # fmt: skip
def waits_again() -> Iterator[Case]:
    """The queue after a retraction, with somebody waiting already."""
    desk = crowd()
    prefill(desk, new("late", range(7000, 7040), 40))
    desk.do(DecodeStepOp(token=950))
    (victim,) = seen(desk, ev.Retract)
    queue = desk.state.waiting
    yield case("SGLang", queue == ["late", victim.request], queue=", ".join(queue))


@claim(
    "S1-5.3-4", "10",
    ("The log says: KV cache pool is full. Retract requests.",
     "日志打出 KV cache pool is full. Retract requests.。"),
    ("With the ratio before and after.", "并带上前后的 ratio。"),
)  # fmt: skip
def log_line() -> Iterator[Case]:
    """The line, as often as retractions happen in one step."""
    trace = retracting_run()
    lines = [line for line in log_lines(trace) if "Retract requests" in line]
    steps = sum(isinstance(event, ev.Ratio) for event in trace.events)
    full = all("KV cache pool is full. Retract requests." in line for line in lines)
    yield case("one run", full and len(lines) == steps > 0, lines=len(lines),
               steps_with_retractions=steps)  # fmt: skip


def _three() -> list[RequestSpec]:
    return [
        RequestSpec(name, list(range(at, at + 12)), out=14)
        for name, at in (("a", 0), ("b", 100), ("c", 200))
    ]


@claim(
    "S1-5.3-5", "10",
    ("vLLM's preemption frees the blocks, sets num_computed_tokens to 0 and puts the "
     "request at the head of the queue.",
     "vLLM 抢占：释放 block、num_computed_tokens 清零、插回 waiting 队首。"),
    ("As it says.", "如其所言。"),
)  # fmt: skip
def preempts() -> Iterator[Case]:
    """The state right after a preemption with somebody waiting already."""
    late = RequestSpec("late", list(range(300, 304)), out=3, arrival=1)
    engine = Blocks(*_three(), late, num_gpu_blocks=11)
    while not (record := engine.step())["preempted"]:
        pass
    (victim,) = record["preempted"]
    request = engine.state.requests[victim]
    waiting = record["after_schedule"]["waiting"]
    yield case("last one in", not request.blocks and request.computed == 0
               and waiting[0] == victim, victim=victim, blocks=len(request.blocks),
               computed=request.computed, queue=", ".join(waiting))  # fmt: skip


@claim(
    "S1-5.3-6", "10",
    ("A preempted request prefills again from token 0.",
     "被抢占的请求从 token 0 重新 prefill。"),
    ("Its counter is 0, but its freed blocks keep their hash: what nobody took in the "
     "meantime is hit again. True only without prefix caching.",
     "计数器确实是 0，但释放的块哈希还在：没被别人拿走的会再次命中。"
     "关掉前缀缓存才成立。"),
)  # fmt: skip
def from_zero() -> Iterator[Case]:
    """What the first preempted request finds when it is admitted again."""
    for name, caching in (("prefix caching", True), ("no caching", False)):
        engine = Blocks(*_three(), num_gpu_blocks=11, enable_caching=caching)
        engine.run()
        first = engine.seen(be.Preempt)[0]
        after = engine.trace.events[engine.trace.events.index(first) :]
        lookups = [e for e in after if isinstance(e, be.Lookup)]
        found = [e.local for e in lookups if e.request == first.request]
        hit = found[0] if found else 0
        yield case(name, hit == 0, hit_tokens=hit, computed_before=12)


# --- what it does to TTFT


@claim(
    "S1-5.4-1", "10",
    ("Recomputation after a retraction flows into TTFT.",
     "retract 之后的重算延迟落进 TTFT。"),
    ("In SGLang never into the victim's: it retracts only who has begun to answer, "
     "so it "
     "shows between two tokens. vLLM may preempt in the midst of a prefill.",
     "SGLang 不会进受害者自己的 TTFT：只回退已开始回答的请求，重算表现为 token 间延迟。"
     "vLLM 则可能在 prefill 半途抢占。"),
)  # fmt: skip
def into_ttft() -> Iterator[Case]:
    """Recompute time of a run's victims; a preemption before the first token."""
    tallies = crowded()
    victims = [r for r in tallies.done if r.retracted]
    again = sum(r.part(Part.RECOMPUTE) for r in victims)
    before = (Part.QUEUE, Part.LOAD, Part.PREFILL)
    into = sum((r.ttft or 0) != sum(map(r.part, before)) for r in victims)
    yield case("SGLang's victims", into > 0, victims=len(victims),
               recompute_s=again / SECOND, ttft_with_recompute=into)  # fmt: skip
    engine = Blocks(
        RequestSpec("old", list(range(20)), out=30),
        RequestSpec("young", list(range(100, 134)), out=3, arrival=1),
        max_num_batched_tokens=20, long_prefill_token_threshold=4,
    )  # fmt: skip
    records = engine.run()
    lost = next(r for r in records if r["preempted"] == ["young"])
    first = next(r["step"] for r in records if "young" in r["sampled"])
    yield case("vLLM, in the midst of a prefill", lost["step"] < first,
               preempted_at_step=lost["step"], first_token_at_step=first,
               computed_before=lost["preempted_computed"][0])  # fmt: skip


@cache
def crowded() -> Tallies:
    """Return a run on a clock with retractions and a queue."""
    asks = unique(60, poisson(6.0), length=300, outputs=400)
    return serve(asks, pool_tokens=4000, chunked_prefill_size=1024)


@claim(
    "S1-5.4-2", "09",
    ("The mean is protected, P99 is dragged away by queue and retraction.",
     "均值被缓存命中保护着，P99 被排队与回退拖着。"),
    ("Where most prompts hit. Where nothing is shared the mean collapses with it.",
     "多数请求命中时如此；没有共享时均值一起崩。"),
)  # fmt: skip
def mean_protected() -> Iterator[Case]:
    """Mean against P99 of TTFT: nothing shared, and most requests in a lull."""
    for name, tallies in (
        ("nothing shared", crowded()),
        ("a burst in a lull", _burst()),
    ):
        yield case(name, p99(tallies) > 10 * mean(tallies), mean_s=mean(tallies),
                   p99_s=p99(tallies))  # fmt: skip


def _burst() -> Tallies:
    """Return a calm run of cached prompts with one burst of twenty in its middle."""
    gaps = [*repeat(SECOND, 200), *repeat(0, 20), *repeat(SECOND, 200)]
    asks = shared_system(
        400, iter(accumulate(gaps)), length=400, outputs=60, share=0.95,
    )  # fmt: skip
    return serve(asks, pool_tokens=700)


@claim(
    "S1-5.5-1", "09",
    ("L2 is empty all along.", "全程 L2 空着。"),
    ("It depends on the write policy: write_through has filled half of it when P99 "
     "collapses, and all of it later.",
     "取决于写策略：write_through 在 P99 崩溃时已写满约一半，之后更多。"),
)  # fmt: skip
def empty_throughout() -> Iterator[Case]:
    """L2's fill at the collapse under each policy."""
    for name in ("write_back", "write_through", "selective"):
        fill = collapse(name).l2_fill
        yield case(name, fill < 0.25, l2_fill=fill)
