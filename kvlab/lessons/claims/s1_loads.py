"""Article 1, section 4.2: what does an L2 hit cost L1?

Left out: each step of a load (s2_load.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...record import block_events as be
from ...record import events as ev
from ...run.block_script import RequestSpec
from ...run.script import DecodeStepOp
from ..stages import Blocks
from .ledger import Case, Ledger, case
from .scenes import NEW, bench, crowd, seen

LEDGER = Ledger()
claim = LEDGER.claim

A, B = range(100, 112), range(200, 212)


# --- 4.2 the way back


@claim(
    "S1-4.2-1", "08",
    ("SGLang's promised host hit is loaded whole or not at all.",
     "承诺的 L2 命中长度必须全部提交或全部不认。"),
    ("In both releases.", "两个版本都如此。"),
)  # fmt: skip
def all_or_nothing() -> Iterator[Case]:
    """What a load_back of 24 brings, with room, and with room for 23."""
    for name, locked in (("room for 24", 0), ("room for 23", 17)):
        desk = bench(NEW, pool_tokens=40, host_tokens=100)
        desk.insert(range(100, 124))
        desk.ack_write()
        desk.evict(24)
        if locked:
            desk.insert(range(400, 400 + locked))
            desk.ack_write()
            desk.lock("reader", range(400, 400 + locked))
        loaded = desk.load_back(range(100, 124))["loaded"]
        yield case(name, loaded in (0, 24) and bool(loaded) != bool(locked),
                   loaded=loaded, of=24)  # fmt: skip


@claim(
    "S1-4.2-2", "08",
    ("A load looks at L1's available first, evicts if it must, and else gives up: the "
     "request computes.",
     "取回前先看 L1 的 available，不够就先腾位，还腾不出就放弃、宁可重算。"),
    ("So in 0.5.23. In 0.5.14 making room may drop the very nodes that are being "
     "loaded.",
     "0.5.23 如此。0.5.14 腾位时可能把正要取回的节点自己丢掉。"),
)  # fmt: skip
def evict_for_load() -> Iterator[Case]:
    """A load into a full L1: with something to evict, and with everything locked."""
    for name, locked, verdicts in (
        ("the rest is evictable", False, ["make_room"]),
        ("the rest is locked", True, ["make_room", "no_device_memory"]),
    ):  # fmt: skip
        desk = bench(NEW, pool_tokens=24, host_tokens=100)
        desk.insert(A)
        desk.ack_write()
        desk.evict(12)
        desk.insert(range(300, 324))
        desk.ack_write()
        if locked:
            desk.lock("reader", range(300, 324))
        loaded = desk.load_back(A)["loaded"]
        told = [e.verdict for e in seen(desk, ev.LoadBack)]
        yield case(name, told == verdicts and loaded == (0 if locked else 12),
                   loaded=loaded, verdicts=", ".join(told))  # fmt: skip


LEDGER.unmodelled(
    "S1-4.2-3", "08",
    ("The copy to the device is complete before the prefill begins, by an explicit "
     "sync.",
     "H→D 拷贝在预填充前完成，有显式同步点。"),
    ("The copies are queued before the prefill and waited for layer by layer inside "
     "it; no recorded state shows the order on the device.",
     "拷贝在预填充之前排队，预填充内逐层等待；录制的状态看不到设备上的先后。"),
)  # fmt: skip


def _comes_back() -> Blocks:
    """A request whose blocks have left L1 for L2 comes again; another waits behind."""
    return Blocks(
        RequestSpec("a", list(range(16)), out=2),
        RequestSpec("evictor", list(range(500, 536)), out=2, arrival=4),
        RequestSpec("again", [*range(16), 90, 91, 92, 93], out=3, arrival=9),
        RequestSpec("other", list(range(700, 712)), out=2, arrival=10),
        num_gpu_blocks=11,
        l2={"num_cpu_blocks": 41, "load_latency": 3, "store_latency": 1},
    )


@claim(
    "S1-4.2-4", "08",
    ("vLLM allocates and holds the GPU blocks before the transfer begins.",
     "vLLM 的 GPU 块在传输开始前就分配并持有。"),
    ("The request is not even running yet.", "此时请求甚至还没开始运行。"),
)  # fmt: skip
def held_before() -> Iterator[Case]:
    """The step in which the load starts: blocks held, requests running."""
    for record in (engine := _comes_back()).run():
        if record["l2_load"]["reqs"]:
            told = record["after_schedule"]
            used, running = told["used"], len(told["running"])
            kinds = [type(event) for event in engine.trace.events]
            hold = max(i for i, k in enumerate(kinds[: kinds.index(be.CopyIn)])
                       if k in (be.Take, be.Hold))  # fmt: skip
            yield case("at the start of the load", used == 4 and running == 0,
                       used_blocks=used, running=running,
                       taken_before_copied=kinds.index(be.CopyIn) - hold)  # fmt: skip


@claim(
    "S1-4.2-5", "08",
    ("It reserves blocks for what a load in flight will still need.",
     "还为在飞的预填充追加 reserved_blocks 保护。"),
    ("For the next requests that load: they may take only what is left over.",
     "约束的是后面同样要取回的请求：只能用剩下的块。"),
)  # fmt: skip
def reserved_blocks() -> Iterator[Case]:
    """The largest reserve that any admission was asked to respect."""
    same = [*range(16)]
    engine = Blocks(
        RequestSpec("a", same, out=2),
        RequestSpec("evictor", list(range(500, 560)), out=4, arrival=4),
        RequestSpec("again", [*same, *range(90, 102)], out=3, arrival=12),
        RequestSpec("too", [*same, *range(110, 122)], out=3, arrival=13),
        l2={"num_cpu_blocks": 41, "load_latency": 6, "store_latency": 1},
    )
    engine.run()
    most = max(slots.reserved for slots in engine.seen(be.Slots))
    yield case("two loads at once", most > 0, reserved_blocks=most)


@claim(
    "S1-4.2-6", "08",
    ("An L2 hit takes L1 capacity; it does not add any.",
     "L2 命中消耗 L1 容量，而不是扩容。"),
    ("Token for token.", "一个 token 对一个 token。"),
)  # fmt: skip
def costs_l1() -> Iterator[Case]:
    """L1's account before and after a load_back of twelve."""
    desk = bench(NEW)
    desk.insert(A)
    desk.ack_write()
    desk.evict(12)
    before = desk.account()
    desk.load_back(A)
    now = desk.account()
    taken = before.available - now.available
    yield case("load_back of 12", taken == 12 == now.protected, available=-taken,
               protected=now.protected)  # fmt: skip


@claim(
    "S1-4.2-7", "10",
    ("Neither engine swaps a running request's KV out to make room and back in.",
     "没有把运行中请求的 KV 换出再换回、变相扩容准入的机制。"),
    ("Who gives way gives up its slots; no copy is made for it then.",
     "让位的请求直接交出槽位，此刻不会为它做拷贝。"),
)  # fmt: skip
def no_swap() -> Iterator[Case]:
    """Copies to L2 that the retraction, or the preemption, itself makes."""
    desk = crowd()
    copies = len(seen(desk, ev.Backup))
    desk.do(DecodeStepOp(token=950))
    made = len(seen(desk, ev.Backup)) - copies
    retracted = len(seen(desk, ev.Retract))
    yield case("SGLang, retract", retracted and not made, retracted=retracted,
               copies=made)  # fmt: skip
    engine = Blocks(
        *(RequestSpec(n, list(range(at, at + 12)), out=14)
          for n, at in (("a", 0), ("b", 100), ("c", 200))),
        num_gpu_blocks=11, l2={"num_cpu_blocks": 41},
    )  # fmt: skip
    engine.run()
    preempted = len(engine.seen(be.Preempt))
    made = _copied_of_victims(engine)
    yield case("vLLM, preempt", preempted and not made, preempted=preempted,
               copies=made)  # fmt: skip


def _copied_of_victims(engine: Blocks) -> int:
    """Count blocks that a step copies to L2 and that its victim alone had held."""
    held: dict[str, set[int]] = {}
    left: dict[int, set[int]] = {}
    made = 0
    for event in engine.trace.events:
        match event:
            case be.Hold():
                held.setdefault(event.request, set()).update(event.blocks.tolist())
            case be.Vacate():
                left.setdefault(event.cause, set()).update(held.pop(event.request, ()))
            case be.CopyOut():
                alone = left.get(event.cause, set()).difference(*held.values())
                made += len(alone & {*event.l1.tolist()})
    return made


LEDGER.unmodelled(
    "S1-4.2-8", "10",
    ("SGLang's retraction can offload the request's KV to the host.",
     "SGLang retract 时可以把被撤回请求的 KV offload 到 host。"),
    ("Only a decode server of a split deployment does; kvlab models a whole one. There "
     "the prompt stays in the tree, backed up as any other prefix.",
     "只有 PD 分离的解码端才会；kvlab 模型是合一部署，prompt 留在树上，"
     "和其他前缀一样备份。"),
)  # fmt: skip
