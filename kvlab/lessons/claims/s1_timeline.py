"""Article 1, section 5: what happens, in order, when L1 is full?

Left out: what it does to TTFT (s1_latency.py), what helps (s1_remedies.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...record import block_events as be
from ...record import events as ev
from ...run.block_script import RequestSpec
from ...run.engine_log import log_lines
from ...run.script import DecodeStepOp
from ...schedule.token_ratio import NewTokenRatio
from ..stages import Blocks
from .ledger import Case, Ledger, case
from .s1_metrics import retracting_run
from .scenes import (
    NEW,
    bench,
    crowd,
    new,
    prefill,
    seen,
)  # fmt: skip

LEDGER = Ledger()
claim = LEDGER.claim


# --- L1 fills


@claim(
    "S1-5.1-1", "09",
    ("L2 is empty as L1 fills: few demotions yet, or hicache_ratio left L1 roomy.",
     "L1 爬向满时 L2 依然空着：demote 还没几次，或 hicache_ratio 给的 L1 宽裕。"),
    ("Under write_back. write_through fills L2 without one demotion. And the ratio "
     "sizes L2 after L1, never L1.",
     "write_back 下如此；write_through 不用降级就填 L2。"
     "ratio 只按 L1 定 L2 的大小，不改 L1。"),
)  # fmt: skip
def while_l1_fills() -> Iterator[Case]:
    """L1 of 64 filled to 48 by inserts; then L1's size by the ratio."""
    for policy in ("write_back", "write_through"):
        desk = bench(NEW, write_policy=policy)
        for start in (100, 200, 300):
            desk.insert(range(start, start + 16))
            desk.ack_write()
        account = desk.host_account()
        yield case(policy, account.available == account.total,
                   tokens_on_l2=account.total - account.available,
                   demotions=len(seen(desk, ev.Demote)))  # fmt: skip
    desks = [bench(NEW, host_tokens=None, hicache_ratio=ratio) for ratio in (2.0, 8.0)]
    small, large = (desk.account().total for desk in desks)
    hosts = [desk.host_account().total for desk in desks]
    yield case("ratio 2 and 8", small < large, l1=f"{small}, {large}",
               l2=f"{hosts[0]}, {hosts[1]}")  # fmt: skip


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
     "解码装不下时先逐缓存，逐完还不够才 retract。"),
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
                   tried_to_evict_before=tried)  # fmt: skip


@claim(
    "S1-5.3-2", "10",
    ("Retraction frees all KV of the request.", "retract 释放该请求的全部 KV。"),
    ("Only what the tree does not own: its prompt stays on the tree, evictable, and is "
     "hit again; its outputs are kept as tokens. Unless the pool is so tight that the "
     "room for 20 steps of each survivor takes the prompt too.",
     "只释放树不拥有的部分：prompt 留在树上变为 evictable，下次照样命中；"
     "输出作为 token 保留。除非池子太紧：要为每个留下的请求腾出 20 步的空间，"
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
    ("The retracted request waits in the queue again.", "被撤回的请求回 waiting "
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
     "日志打出“KV cache pool is full. Retract requests.”。"),
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
     "被抢占的请求从 token 0 重新预填充。"),
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
