"""Which words tell each event of a block run?

As phrases.py for the tree: one entry a kind, or a kind and its verdict, in both
languages. vLLM's own names stay English. Numbers are fields of the event.
"""

from __future__ import annotations

import re
from collections.abc import Sized

from ..record import block_events as be
from ..record.events import Event
from .markup import plain
from .sentences import times_of
from .theme import Words, num

_ONE = re.compile(r"(?<![\d.,])1 (token|slot|node|request|block|chunk|step)s\b")

# fmt: off
BLOCK_PHRASES: dict[str, Words] = {
    "": Words(
        "Nothing has happened yet: {total} blocks of L1 are free",
        "还没有事件：L1 的 {total} 个块全部空闲"),
    # --- the pools
    "take": Words(
        "{tier} hands out {blocks} blocks from the head of its free queue: ref_cnt 1",
        "{tier} 从空闲队列队首取出 {blocks} 个块：ref_cnt 为 1"),
    "forget": Words(
        "{tier} forgets the hash of {blocks} blocks; contents lost for good: {lost}",
        "{tier} 的 {blocks} 个块失去哈希：其中 {lost} 份内容再无副本"),
    "forget kept": Words(
        "{tier} forgets the hash of {blocks} blocks; another copy of the content stays",
        "{tier} 的 {blocks} 个块失去哈希：内容另有副本"),
    "forget evicted": Words(
        "{tier} evicts {blocks} blocks for new use; contents lost for good: {lost}",
        "{tier} 逐出 {blocks} 个块以便重新分配：其中 {lost} 份内容再无副本"),
    "forget evicted kept": Words(
        "{tier} evicts {blocks} blocks for new use; another copy of the content stays",
        "{tier} 逐出 {blocks} 个块以便重新分配：内容另有副本"),
    "register": Words(
        "{tier} registers the hash of {blocks} blocks: a lookup finds them from now on",
        "{tier} 的 {blocks} 个满块登记哈希：从此可以命中"),
    "share": Words(
        "One owner more for {blocks} blocks of {tier}: ref_cnt + 1",
        "{tier} 的 {blocks} 个块多一个持有者：ref_cnt + 1"),
    "release": Words(
        "One owner less for {blocks} blocks of {tier}; at ref_cnt 0 a block joins the "
        "free queue: at its head without a hash, at its tail with one",
        "{tier} 的 {blocks} 个块少一个持有者：ref_cnt 归零的，无哈希排到空闲队列队首，"
        "有哈希排队尾"),
    # --- requests
    "arrive": Words(
        "{request} arrives: {prompt_len} tokens in, up to {max_new} out",
        "{request} 到达：输入 {prompt_len} 个 token，最多输出 {max_new} 个"),
    "hold": Words(
        "The block table of {request} grows by {blocks} blocks",
        "{request} 的块表加入 {blocks} 个块"),
    "vacate": Words(
        "{request} gives up its block table", "{request} 交出整张块表"),
    "compute": Words(
        "{request} has {length} computed tokens",
        "{request} 已计算 {length} 个 token"),
    "run": Words("{request} runs", "{request} 开始运行"),
    "preempt": Words(
        "{request} is preempted: back to waiting with 0 computed tokens",
        "{request} 被抢占：回到等待队列，已计算归零"),
    "defer": Words(
        "{request} is put aside: the connector cannot tell yet what L2 has",
        "{request} 暂缓：连接器还说不出 L2 有什么"),
    "defer loading": Words(
        "{request} holds its blocks and waits until their content has come from L2",
        "{request} 持有块，等待内容从 L2 取回"),
    "loaded": Words(
        "What {request} waited for has come", "{request} 等待的内容已到"),
    "output": Words("{request} gets a token", "{request} 得到一个 token"),
    "finish": Words("{request} is done", "{request} 完成"),
    "drop": Words(
        "{request} leaves without being done", "{request} 未完成即离开"),
    # --- copies
    "pin": Words(
        "L2 holds {blocks} blocks for {request}",
        "为 {request} 留住 L2 的 {blocks} 个块"),
    "pin none": Words(
        "L2 holds nothing for {request} any more", "不再为 {request} 留住 L2 的块"),
    "copyout": Words(
        "Store {job} copies {l1} blocks to L2, held until it is done",
        "存储 {job}：{l1} 个块拷往 L2，完成前不放"),
    "copiedout": Words(
        "Store {job} is done: L2 has its blocks too", "存储 {job} 完成：L2 也有它的块"),
    "copyin": Words(
        "A load for {request} begins: {l1} blocks from L2",
        "为 {request} 取回：{l1} 个块来自 L2"),
    "copiedin": Words(
        "The load for {request} is done: L1 has its blocks",
        "{request} 的取回完成：L1 已有它的块"),
    "chunkhold": Words(
        "The CPU pool counts {ref} readers of {keys} chunks",
        "CPU 池：{keys} 个分块各有 {ref} 个读者"),
    "chunkhold pending": Words(
        "The CPU pool sets {keys} chunks aside: their store is pending",
        "CPU 池为 {keys} 个分块留位：存储未完成"),
    "chunkhold gone": Words(
        "The CPU pool no longer has {keys} chunks", "CPU 池不再有这 {keys} 个分块"),
    "chunkmove": Words(
        "{keys} chunks change their place in the CPU pool's order: {place}",
        "CPU 池次序变动：{keys} 个分块到 {place}"),
    "chunkaim": Words(
        "The CPU pool aims at {target_t1} chunks in t1",
        "CPU 池 t1 的目标为 {target_t1} 个分块"),
    # --- time
    "sent": Words("{request} was sent at {at}", "{request} 发出于 {at}"),
    "clock": Words(
        "Nothing to run: the clock goes to {now}", "无事可做：时钟走到 {now}"),
    "forward": Words(
        "A step that prefills: from {begin} on, {compute} of work",
        "含预填充的一步：从 {begin} 开始，计算 {compute}"),
    "decode": Words(
        "All who lack one token decode {steps} steps; the clock reads {now}",
        "所有只差一个 token 的请求解码 {steps} 步；时钟读数 {now}"),
    # --- decisions
    "step": Words("Step {number}", "第 {number} 步"),
    "lookup": Words(
        "{request} finds {local} of its {asked} tokens on L1",
        "{request} 的 {asked} 个 token 中，L1 命中 {local} 个"),
    "lookup remote": Words(
        "{request} finds {local} of its {asked} tokens on L1, and {remote} more on L2",
        "{request} 的 {asked} 个 token 中，L1 命中 {local} 个，L2 另有 {remote} 个"),
    "lookup skipped": Words(
        "{request} reads no cache: nothing is looked up", "{request} 不读缓存：不查找"),
    "slots": Words(
        "{request} gets the {need} blocks it needs, of {free} free",
        "{request} 得到所需的 {need} 个块，空闲 {free} 个"),
    "slots none": Words(
        "{request} gets nothing: it needs {need} blocks; free {free}, kept by the "
        "watermark {watermark}, reserved for loads {reserved}",
        "{request} 未得到块：需要 {need} 个；空闲 {free} 个，水位线保留 {watermark} "
        "个，取回已预留 {reserved} 个"),
    "offer": Words(
        "{chunks} chunks of {request} go to the CPU pool",
        "{request} 的 {chunks} 个分块交给 CPU 池"),
    "offer refused": Words(
        "The CPU pool refuses {chunks} chunks of {request}: {free} places are free",
        "CPU 池拒收 {request} 的 {chunks} 个分块：只有 {free} 个空位"),
    "schedule": Words(
        "{request} gets {tokens} tokens of this step, {left} are left",
        "{request} 分得本步的 {tokens} 个 token，还剩 {left}"),
    "stop": Words(
        "{request} got no blocks, so nobody behind it is tried in this step",
        "{request} 没有得到块：本步不再尝试它之后的请求"),
    "stop no_chunk": Words(
        "{request} is longer than the token budget that is left, and chunked prefill "
        "is off: nobody behind it is tried in this step",
        "{request} 超出剩余 token 预算，而分块预填充已关：本步不再尝试它之后的请求"),
    "stop in_flight": Words(
        "{request} waits: whoever would be preempted is in the step under way, so "
        "nobody behind it goes on in this step",
        "{request} 等待：该被抢占者还在进行中的一步里，本步它之后的请求也不继续"),
    "pickvictim": Words(
        "{victim} is to be preempted so that {request} can go on; it has {computed} "
        "computed tokens",
        "为让 {request} 继续，抢占 {victim}；它已计算 {computed} 个 token"),
    "pickvictim itself": Words(
        "{victim} preempts itself: nobody was admitted after it",
        "{victim} 抢占自己：没有比它更晚准入的请求"),
    "toolarge": Words(
        "{request} is refused: it needs {need} tokens, {total} is the most",
        "{request} 被拒绝：需要 {need} 个 token，上限 {total}"),
}

BLOCK_VERDICTS: dict[str, Words] = {
    "step": Words("Step {number}", "第 {number} 步"),
    "lookup": Words("{local} tokens found", "命中 {local} 个 token"),
    "lookup skipped": Words("Nothing is looked up", "不查找"),
    "lookup remote": Words(
        "{local} tokens on L1, {remote} on L2", "L1 命中 {local}，L2 命中 {remote}"),
    "slots": Words("{request} gets {need} blocks", "{request} 得到 {need} 个块"),
    "slots none": Words("None: {request} gets no block", "None：{request} 得不到块"),
    "forget evicted": Words(
        "Evicted from {tier}: {blocks} blocks", "从 {tier} 逐出 {blocks} 个块"),
    "forget evicted kept": Words(
        "Evicted from {tier}: {blocks} blocks", "从 {tier} 逐出 {blocks} 个块"),
    "schedule": Words("{tokens} tokens", "{tokens} 个 token"),
    "stop": Words("Nobody overtakes {request}", "没有人越过 {request}"),
    "stop no_chunk": Words("Nobody overtakes {request}", "没有人越过 {request}"),
    "stop in_flight": Words("Nobody is preempted", "不抢占任何请求"),
    "pickvictim": Words("{victim} is preempted", "抢占 {victim}"),
    "pickvictim itself": Words("{victim} preempts itself", "{victim} 抢占自己"),
    "offer": Words("Stored: {chunks} chunks", "存入 {chunks} 个分块"),
    "offer refused": Words("Nothing is stored", "没有存入"),
    "toolarge": Words("{request} can never run", "{request} 永远无法运行"),
}
# fmt: on


def block_entry(event: Event, after: Event | None = None, lost: int = 0) -> str:
    """Return which entry tells the event; `after` is the one that follows it, `lost`
    how many contents it leaves without a copy (grades.py).

    A hash that is lost because its block is about to be taken is an eviction.
    """
    kind = type(event).__name__.lower()
    variant = ""
    match event:
        case be.Forget():
            taken = isinstance(after, be.Take) and after.tier == event.tier
            variant = " evicted" * taken + " kept" * (not lost)
        case be.Defer(why="loading"):
            variant = " loading"
        case be.Lookup(asked=0):
            variant = " skipped"
        case be.Lookup() if event.remote:
            variant = " remote"
        case be.Slots(fits=False):
            variant = " none"
        case be.Stop(why="no_chunk"):
            variant = " no_chunk"
        case be.Stop(why="in_flight"):
            variant = " in_flight"
        case be.Pin() if not len(event.blocks):
            variant = " none"
        case be.ChunkHold(ref=None):
            variant = " gone"
        case be.ChunkHold(ref=-1):
            variant = " pending"
        case be.Offer(took=False):
            variant = " refused"
        case be.PickVictim() if event.victim == event.request:
            variant = " itself"
    return kind + variant


def block_sentence(
    event: Event, lang: str = "en", after: Event | None = None, lost: int = 0
) -> str:
    """Return the event as one sentence; `after` and `lost` as in `block_entry`.

    >>> block_sentence(be.Preempt(-1, "b"))
    'b is preempted: back to waiting with 0 computed tokens'
    """
    words = BLOCK_PHRASES[block_entry(event, after, lost)]
    values = {
        name: _told(getattr(event, name))
        for name in event.__struct_fields__
        if name != "cause"
    }
    values |= times_of(event)
    values["lost"] = num(lost)
    if lang == "zh":
        return words.zh.format_map(values)
    return _ONE.sub(r"1 \1", words.en.format_map(values))


def _told(value: object) -> object:
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, int):
        return num(int(value))
    return num(len(value)) if isinstance(value, Sized) else value
