"""Article 1, section 2: in which states is a slot of L1, and who counts them?

Left out: L2 (s1_tiers.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...block_config import BlockConfig
from ...record import block_events as be
from ...record import events as ev
from ...run.block_script import RequestSpec
from ...run.script import DecodeOp, RequestFinishOp, RequestStartOp
from ...run.workbench import Workbench
from ..stages import Blocks
from .ledger import Case, Ledger, case
from .scenes import NEW, OLD, bench, seen

LEDGER = Ledger()
claim = LEDGER.claim

A, B, C = range(100, 112), range(200, 212), range(300, 316)


@claim(
    "S1-2.1-1", "02",
    ("A lock moves its path from evictable to protected at once.",
     "加锁瞬间，路径上的节点从 evictable 迁到 protected。"),
    ("Each node's whole length, root excluded.", "按节点全长计，root 除外。"),
)  # fmt: skip
def lock_moves() -> Iterator[Case]:
    """The account before and after a lock and its unlock."""
    desk = bench(NEW)
    desk.insert(A)
    desk.ack_write()
    before = desk.account()
    desk.lock("reader", A)
    locked = desk.account()
    desk.unlock("reader")
    after = desk.account()
    moved = (before.evictable - locked.evictable, locked.protected - before.protected)
    yield case("lock", moved == (12, 12), evictable=-moved[0], protected=moved[1])
    yield case("unlock", after == before, evictable=after.evictable)


def _decode_three(desk: Workbench, id: str) -> None:
    desk.do(RequestStartOp(id, list(B), max_new=8, first_out=900))
    desk.ack_write()
    for token in (901, 902, 903):
        desk.do(DecodeOp(id, token))


@claim(
    "S1-2.1-2", "02",
    ("total = protected + evictable + available.",
     "total = protected + evictable + available。"),
    ("Only while no request runs. What a request holds outside the tree (decoded "
     "tokens, "
     "a part of a page, a running chunk) is a term of its own.",
     "仅当没有请求在跑。请求在树外持有的槽位（decode 出的 token、不满一页、进行中的 "
     "chunk）"
     "另成一项。"),
)  # fmt: skip
def three_terms() -> Iterator[Case]:
    """The three terms against the total: at rest, and three decode steps in."""
    desk = bench(NEW)
    desk.insert(A)
    desk.ack_write()
    for name in ("nobody runs", "three decode steps in"):
        now = desk.account()
        three = now.protected + now.evictable + now.available
        yield case(name, three == now.total, three=three, held=now.held,
                   total=now.total)  # fmt: skip
        _decode_three(desk, name)


@claim(
    "S1-2.1-3", "02",
    ("protected_size is the `used` of the three states.",
     "protected_size 就是三态里的 used。"),
    ("used is protected and held: what decode has written is used, and nobody's lock.",
     "used = protected + held：decode 写下的槽位算 used，却不受任何锁保护。"),
)  # fmt: skip
def protected_is_used() -> Iterator[Case]:
    """num_used against protected, at rest and after three decode steps."""
    desk = bench(NEW)
    for name in ("nobody runs", "three decode steps in"):
        now = desk.account()
        used = now.total - now.available - now.evictable
        yield case(name, used == now.protected, used=used, protected=now.protected)
        _decode_three(desk, name)


@claim(
    "S1-2.1-4", "02",
    ("token_usage = (total - available - evictable) / total.",
     "token_usage = (total − available − evictable) / total。"),
    ("So a pool full of cache reads 0: usage counts what cannot be cleared.",
     "因此塞满缓存的池子读数为 0：usage 只计清不掉的部分。"),
)  # fmt: skip
def token_usage() -> Iterator[Case]:
    """A pool full of cache, and the same with a reader on a part of it."""
    desk = bench(NEW, pool_tokens=40, host_tokens=64)
    for leaf in (A, B, C):
        desk.insert(leaf)
    desk.ack_write()
    for name, said in (("full of cache", 0.0), ("16 of 40 locked", 0.4)):
        now = desk.account()
        usage = (now.total - now.available - now.evictable) / now.total
        yield case(name, usage == said, usage=usage, available=now.available)
        desk.lock("reader", C)


@claim(
    "S1-2.1-5", "04",
    ("Eviction frees exactly the shortfall: need minus available.",
     "正好逐出 shortfall = 需求 − available。"),
    ("0.5.23 asks for the shortfall, 0.5.14 for the whole need; both take whole "
     "leaves, "
     "so it is exact only by luck.",
     "0.5.23 按缺口要，0.5.14 按全部需求要；两者都整叶逐出，恰好相等只是碰巧。"),
)  # fmt: skip
def exactly_the_shortfall() -> Iterator[Case]:
    """Room for 14 with 4 available: leaves of 12 tokens, then leaves of 10."""
    for name, rules, size in (
        ("leaves of 10", NEW, 10), ("leaves of 12", NEW, 12), ("0.5.14", OLD, 12),
    ):  # fmt: skip
        desk = bench(rules, pool_tokens=3 * size + 4, host_tokens=128)
        for start in (100, 200, 300):
            desk.insert(range(start, start + size))
        desk.ack_write()
        desk.insert(range(400, 414))
        freed = sum(e.freed for e in seen(desk, ev.Evicted) if e.tier == "L1")
        beside = rules is OLD
        yield case(name, freed == 10, beside=beside, shortfall=10, freed=freed)


@claim(
    "S1-2.1-6", "04",
    ("There is no watermark: nothing is evicted before something is missing.",
     "没有水线：缺多少才逐多少。"),
    ("The pool may stand at 100 %.", "池子可以停在 100 %。"),
)  # fmt: skip
def no_watermark() -> Iterator[Case]:
    """Evictions while the pool fills to the last slot, and at one token more."""
    for name, size, evictions in (("to the last slot", 16, 0), ("one more", 17, 1)):
        desk = bench(NEW, pool_tokens=40, host_tokens=64)
        for leaf in (A, B, range(300, 300 + size)):
            desk.insert(leaf)
            desk.ack_write()
        found = len(seen(desk, ev.MakeRoom)) and len(seen(desk, ev.Evict))
        yield case(name, found == evictions, evictions=found,
                   available=desk.account().available)  # fmt: skip


# --- 2.2 vLLM


def _finished() -> Blocks:
    engine = Blocks(RequestSpec("a", list(range(10)), out=2))
    engine.run()
    return engine


@claim(
    "S1-2.2-1", "03",
    ("A vLLM block is evictable when ref_cnt is 0 and it has a hash: in the free "
     "queue, "
     "and still found.",
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
     "to "
     "the head.",
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
     "watermark 是准入预留，不是逐出水线。"),
    ("And it binds neither decode nor the first request of an idle engine.",
     "它不约束 decode，也不约束空闲引擎的第一个请求。"),
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
     "prompt 在 prefill 之后就入树（protected），回答部分才是结束时入树。"),
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
