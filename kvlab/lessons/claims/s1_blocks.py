"""Article 1, sections 2.2 and 2.3: when is a block of vLLM free, and what is in it?

Left out: SGLang alone (s1_states.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...block_config import BlockConfig
from ...record import block_events as be
from ...run.block_script import RequestSpec
from ...run.script import DecodeOp, RequestFinishOp, RequestStartOp
from ..scenarios.nb03 import crowd
from ..stages import Blocks
from .ledger import Case, Ledger, case
from .scenes import NEW, bench

LEDGER = Ledger()
claim = LEDGER.claim

A, B, C = range(100, 112), range(200, 212), range(300, 316)


# --- 2.2 vLLM


def _finished() -> Blocks:
    engine = Blocks(RequestSpec("a", list(range(10)), out=2))
    engine.run()
    return engine


@claim(
    "S1-2.2-1", "03",
    ("A vLLM block is evictable when ref_cnt is 0 and it has a hash: in the free "
     "queue, and still found.",
     "ref_cnt == 0 且 block_hash 非空就是 evictable：在 free 队列里，仍可命中。"),
    ("So 'free' counts it.", "所以 free 里包含它。"),
)  # fmt: skip
def evictable_block() -> Iterator[Case]:
    """After a request of ten tokens: what is free, what is named; then a second one."""
    engine = _finished()
    tier = engine.state.tiers["L1"]
    named = [block for block in tier.free if block in tier.names]
    yield case(
        "after the request", len(named) == 2 and not tier.ref_cnt.get(named[0]),
        free=len(tier.free), named=len(named), total=tier.num_blocks - 1,
    )  # fmt: skip
    twice = Blocks(
        RequestSpec("a", list(range(10)), out=2),
        RequestSpec("b", list(range(10)), out=2, arrival=5),
    )
    twice.run()
    hit = twice.seen(be.Lookup)[-1].local
    yield case("asked again", hit == 8, hit_tokens=hit)


@claim(
    "S1-2.2-2", "03",
    ("A block is named when it is full, while its request still holds it; freeing it "
     "does nothing more.",
     "块在被持有期间满块时就注册哈希，释放时零操作就变成 evictable。"),
    ("Even before it is computed: at the step that schedules it.",
     "甚至在算出来之前：在调度它的那一步就注册了。"),
)  # fmt: skip
def named_while_held() -> Iterator[Case]:
    """The order of Register, Release and Forget in a request's life."""
    kinds = [type(event) for event in _finished().trace.events]
    first, freed = kinds.index(be.Register), kinds.index(be.Release)
    yield case(
        "one request", first < freed and be.Register not in kinds[freed:],
        named_at_event=first, freed_at_event=freed,
    )  # fmt: skip


@claim(
    "S1-2.2-3", "03",
    ("One free queue with two ends: blocks with a hash go to the tail, those without "
     "to the head.",
     "free 队列一个队列两种排序：有哈希的排队尾，无哈希的插队头。"),
    ("Within a request the last block first, so that a prefix outlives its end.",
     "同一请求内尾块先入队，前缀因此比结尾活得久。"),
)  # fmt: skip
def two_ends() -> Iterator[Case]:
    """The free queue after a request of two full blocks and a part."""
    engine = _finished()
    free, names = list(engine.state.tiers["L1"].free), engine.state.tiers["L1"].names
    held = [block for event in engine.seen(be.Hold) for block in event.blocks.tolist()]
    first, second, part = held
    yield case("the part, no hash", free[0] == part, block=part, at_the_head=free[0])
    yield case(
        "two full blocks", free[-2:] == [second, first] and {first, second} == {*names},
        blocks=f"{first}, {second}", at_the_tail=f"{free[-2]}, {free[-1]}",
    )  # fmt: skip


@claim(
    "S1-2.2-4", "03",
    ("The watermark holds blocks back at admission; it evicts nothing.",
     "watermark 是准入预留，不是逐出水位线。"),
    ("And it binds neither decode nor the first request of an idle engine.",
     "它不约束解码，也不约束空闲引擎的第一个请求。"),
)  # fmt: skip
def watermark() -> Iterator[Case]:
    """Two requests of 7 blocks in 16, with and without a quarter held back."""
    requests = [
        RequestSpec(name, list(range(at, at + 28)), out=2)
        for name, at in (("a", 0), ("b", 1000))
    ]
    taken = {}
    for share in (0.0, 0.25):
        engine = Blocks(*requests, watermark=share)
        taken[share] = len(engine.step()["admitted"])
        forgotten = len(engine.seen(be.Forget))
        yield case(
            f"watermark {share}", taken[share] == (1 if share else 2) and not forgotten,
            admitted=taken[share], blocks_forgotten=forgotten,
        )  # fmt: skip
    engine = Blocks(RequestSpec("a", list(range(60)), out=2), watermark=0.25)
    alone = len(engine.step()["admitted"])
    yield case("an idle engine fills up", alone == 1, beside=True, admitted=alone)


@claim(
    "S1-2.2-5", "03",
    ("The watermark is 0.0 unless told.", "watermark 默认 0.0。"),
    ("As the recorded 0.33.0 states have it.", "与录制的 0.33.0 状态一致。"),
)  # fmt: skip
def watermark_default() -> Iterator[Case]:
    """The default of the block engine, which its recorded states confirm."""
    found = BlockConfig().watermark
    yield case("0.33.0", found == 0.0, watermark=found)


LEDGER.unmodelled(
    "S1-2.2-6", "03",
    ("Older vLLM v1 releases had 0.01.", "旧版 v1 默认 0.01。"),
    ("No state of such a release was recorded.", "没有录制过那些旧版本的状态。"),
)  # fmt: skip


@claim(
    "S1-2.2-7", "03",
    ("It keeps requests from being let in and preempted in turn.",
     "watermark 避免刚放进来就抢占、抢占完又放进的抖动。"),
    ("If it is large enough: a decode may still take what it held back. Fewer run at "
     "a time for it.",
     "前提是够大：留下的块仍可能被解码拿走。代价是同时运行的变少。"),
)  # fmt: skip
def less_thrash() -> Iterator[Case]:
    """Preemptions among four requests for ten blocks, by the share held back."""
    before = len(crowd().seen(be.Preempt))
    for share in (0.1, 0.2):
        preempted = len(crowd(watermark=share).seen(be.Preempt))
        yield case(f"watermark {share}", not preempted, preempted_without=before,
                   preempted=preempted)  # fmt: skip


@claim(
    "S1-2.2-8", "03",
    ("First in, first out in the free queue comes close to LRU.",
     "free 队列按 FIFO 实现近似 LRU 逐出。"),
    ("By the last release: a hit takes a block out and its release puts it at the "
     "tail. A lookup alone moves nothing.",
     "以最后一次释放为准：命中把块取出，释放时排到队尾；只查不取则不动。"),
)  # fmt: skip
def nearly_lru() -> Iterator[Case]:
    """a, b, a once more, then one that needs room: whose blocks lose their hash?"""
    specs = [
        RequestSpec(name, list(prompt), out=1, arrival=at)
        for at, (name, prompt) in enumerate(
            (("a", range(9)), ("b", range(100, 109)), ("a2", range(9)),
             ("c", range(200, 215))))
    ]  # fmt: skip
    engine = Blocks(*specs, num_gpu_blocks=7)
    engine.run()
    (_, first), (_, second), *_ = (
        (held.request, held.blocks.tolist()) for held in engine.seen(be.Hold)
    )
    forgotten = [n for gone in engine.seen(be.Forget) for n in gone.blocks.tolist()]
    yield case("a, b, a again, then room for c", set(forgotten) <= set(second),
               blocks_of_a=str(first[:2]), blocks_of_b=str(second[:2]),
               lost=str(forgotten))  # fmt: skip


# --- 2.3 side by side


@claim(
    "S1-2.3-1", "03",
    ("vLLM's free includes what is evictable; SGLang counts the two apart.",
     "vLLM 的 free 包含 evictable，SGLang 分开计。"),
    ("So vLLM's usage of 0 % says nothing about how much is cached.",
     "所以 vLLM 的 usage 0 % 并不说明缓存了多少。"),
)  # fmt: skip
def free_includes() -> Iterator[Case]:
    """Twelve tokens cached and nobody running, in both engines."""
    engine = Blocks(RequestSpec("a", list(range(13)), out=1))
    engine.run()
    tier = engine.state.tiers["L1"]
    named = sum(block in tier.names for block in tier.free)
    yield case("vLLM", len(tier.free) == 16 and named == 3, free=len(tier.free),
               of_them_cached=named)  # fmt: skip
    desk = bench(NEW)
    desk.insert(A)
    desk.ack_write()
    now = desk.account()
    yield case("SGLang", (now.available, now.evictable) == (52, 12),
               available=now.available, evictable=now.evictable)  # fmt: skip


@claim(
    "S1-2.3-2", "02",
    ("SGLang moves a request's slots into the account only when it lets go.",
     "SGLang 是释放时才在两套计数间迁移。"),
    ("The prompt enters the tree after its prefill, protected; the answer only at the "
     "end.",
     "prompt 在预填充之后就入树（protected），回答部分才是结束时入树。"),
)  # fmt: skip
def when_it_moves() -> Iterator[Case]:
    """Tree-owned tokens of a running request, and after it has finished."""
    desk = bench(NEW)
    desk.do(RequestStartOp("a", list(A), max_new=4, first_out=900))
    running = desk.account()
    desk.do(DecodeOp("a", 901))
    desk.do(RequestFinishOp("a"))
    desk.ack_write()
    done = desk.account()
    yield case(
        "prompt", running.protected == 0, protected_while_running=running.protected
    )
    yield case("answer", done.evictable == 13, evictable_when_done=done.evictable)
