"""What does the player's card say of each decision of a block engine?

The same `Why` as for the tree: rule, terms, test, what was not taken, where it stands.
Three of them are the article's: admission by `allocate_slots`, preemption, and eviction
at the moment of allocation.
Source: vLLM 0.33.0.
"""

from __future__ import annotations

from .theme import State, Words
from .why import BarOf, Instead, Own, Test, Why

BLOCK_SWATCHES: dict[str, State] = {
    "watermark": "promised", "reserved": "promised",
    "local": "used", "remote": "host_only", "blocks": "evictable",
    "missing": "available",
}  # fmt: skip
BLOCK_LABELS = {"host_free": "L2 free", "need": "need", "local": "L1", "remote": "L2"}

_VLLM = "vLLM 0.33.0 · v1/core/"
_NEED, _ROOM = Words("need", "需求"), Words("free", "空闲")

# fmt: off
_SLOTS = Why(
    "yes",
    Words("The blocks fit if need + watermark ≤ free − reserved. A hit that nobody "
          "owns counts as needed: it leaves the free queue too. Free includes those "
          "with a hash. The watermark is kept only behind running requests.",
          "需求 + 水位线 ≤ 空闲 − 已预留 才给块。无人持有的命中块也算需求：它同样离开"
          "空闲队列。空闲含有哈希的块。只有已有请求在运行时才保留水位线。"),
    (Test(told="line"),
     Test(("need + watermark = asked", "free − reserved = room"), "asked <= room")),
    (BarOf(_NEED, ("need", "watermark")), BarOf(_ROOM, ("free",), "reserved")),
    "host_free",
    own=Own("blocks", "_answer", "need + kept <= free - reserved"))

BY_PRIORITY = Own("schedule", "_pick_victim", "max(self.running")
"""Where kvlab picks a victim under the priority policy."""

BLOCK_LINES: dict[str, Words] = {
    "full_sequence": Words(
        "Refused by the gate scheduler_reserve_full_isl: a waiting request must fit "
        "with all the tokens it has, though this step may compute fewer. What loads "
        "reserve does not count here: reserved is 0.",
        "被 scheduler_reserve_full_isl 拒绝：等待的请求须以全部已有 token 放得下，哪怕"
        "本步只算一部分。这里不计取回的预留：reserved 为 0。"),
    "this_step": Words(
        "Asked for the tokens of this step.", "按本步要算的 token 检查。"),
}
"""Which test of `allocate_slots` decided, by its name in the event."""

BLOCK_WHYS: dict[str, Why] = {
    "step": Why(
        "note",
        Words("One turn of the scheduler: running requests first, then waiting ones.",
              "调度器的一轮：先服务运行中的请求，再看等待的。"),
        (Test(("number",)),)),
    "lookup": Why(
        "note",
        Words("Block by block from the first, up to the first hash that is not found. "
              "The last token is never asked for: its logits must be computed. A "
              "lookup moves nothing in the free queue.",
              "从第一块起逐块查哈希，到第一个未命中为止。最后一个 token 从不查："
              "它的 logits 必须计算。查找不改变空闲队列的次序。"),
        (Test(("asked − local = missing",)),),
        (BarOf(Words("prompt", "prompt"), ("local", "missing")),),
        own=Own("blocks", "lookup", "find_prefix")),
    "slots": _SLOTS,
    "slots none": _SLOTS._replace(
        sign="no",
        instead=(
            Instead(Words("use L2; evict what is held", "借用 L2；逐出被持有的块")),)),
    "forget evicted": Why(
        "lost",
        Words("vLLM evicts at no other moment: a block that is taken from the head "
              "and still has a hash loses it now. The head holds what was freed "
              "longest ago; blocks without a hash stand before it.",
              "vLLM 只在此刻逐出：从队首取走的块若还有哈希，现在失去。队首是最早释放的"
              "块；没有哈希的块排在它之前。"),
        (Test(("blocks", "tier")),), outside="host_free",
        instead=(Instead(Words("evict at a watermark", "到水位线就逐出")),),
        own=Own("blocks", "take", "self.forget(hashed)")),
    "schedule": Why(
        "yes",
        Words("Each request gets what it lacks, out of max_num_batched_tokens.",
              "每个请求从 max_num_batched_tokens 中分得所缺的 token。"),
        (Test(("tokens", "left")),),
        own=Own("schedule", "_give", "turn.give(request, tokens)")),
    "stop": Why(
        "note",
        Words("First come, first served: the first that does not fit ends the turn, "
              "even if others behind it would fit.",
              "先来先服务：第一个放不下的请求结束本轮，哪怕后面的放得下。"),
        outside="host_free",
        instead=(Instead(Words("let a smaller one pass", "让更小的请求先行")),),
        own=Own("schedule", "_stop", "ev.Stop")),
    "stop no_chunk": Why(
        "no",
        Words("With chunked prefill off a prompt runs in one piece. The first that is "
              "longer than what is left of max_num_batched_tokens ends the turn.",
              "分块预填充已关时，prompt 须一次算完。第一个超出 max_num_batched_tokens "
              "余量的请求结束本轮。"),
        outside="host_free",
        instead=(Instead(Words("let a smaller one pass", "让更小的请求先行")),),
        own=Own("schedule", "_stop", "ev.Stop")),
    "stop in_flight": Why(
        "note",
        Words("A step under way still writes the blocks of those it computes, and the "
              "connector may load into blocks as soon as they are free. So a victim in "
              "that step is not preempted: the running requests stop here.",
              "进行中的一步仍在写它所算请求的块，而块一空闲，connector 就可能"
              "向其中取回。因此不抢占仍在那一步里的请求：running 到此为止。"),
        outside="host_free",
        instead=(Instead(Words("preempt it all the same", "照样抢占")),),
        own=Own("schedule", "_serve", "victim.steps_in_flight")),
    "pickvictim": Why(
        "lost",
        Words("FCFS: the last admitted gives up all its blocks; priority: the largest "
              "(priority, arrival). Its full blocks keep their hash: until they are "
              "taken, it will find them again.",
              "FCFS：最晚准入的交出全部块；priority：(priority, arrival) 最大的。满块"
              "保留哈希：在被取走之前，它回来时还能命中。"),
        (Test(("computed",)),), outside="host_free",
        instead=(Instead(Words("swap it to L2", "换出到 L2")),),
        own=Own("schedule", "_pick_victim", "self.running[-1]")),
    "offer": Why(
        "copy",
        Words("The chunks that a step has computed are offered once.",
              "一步算出的分块各提供一次。"),
        (Test(("chunks", "free")),)),
    "toolarge": Why(
        "lost",
        Words("A prompt must leave room for one output within max_model_len.",
              "prompt 之外还须在 max_model_len 内留出一个输出。"),
        (Test(("need", "total"), "need <= total"),)),
}
BLOCK_WHYS["lookup remote"] = BLOCK_WHYS["lookup"]._replace(
    tests=(Test(("asked − local − remote = missing",)),),
    bars=(BarOf(Words("prompt", "prompt"), ("local", "remote", "missing")),))
BLOCK_WHYS["lookup skipped"] = BLOCK_WHYS["lookup"]._replace(tests=(), bars=())
BLOCK_WHYS["pickvictim itself"] = BLOCK_WHYS["pickvictim"]
BLOCK_WHYS["offer refused"] = BLOCK_WHYS["offer"]._replace(sign="short")
BLOCK_WHYS["forget evicted kept"] = BLOCK_WHYS["forget evicted"]._replace(sign="out")
# fmt: on

SOURCES = {
    "lookup": "kv_cache_manager.py · get_computed_blocks",
    "slots": "kv_cache_manager.py · allocate_slots",
    "forget evicted": "block_pool.py · get_new_blocks",
    "forget evicted kept": "block_pool.py · get_new_blocks",
    "schedule": "sched/scheduler.py · schedule",
    "stop": "sched/scheduler.py · schedule",
    "pickvictim": "sched/scheduler.py · _preempt_request",
}


def block_source(entry: str) -> str:
    """Return where the rule stands in vLLM, "" if nowhere.

    >>> block_source("slots none")
    'vLLM 0.33.0 · v1/core/kv_cache_manager.py · allocate_slots'
    """
    place = SOURCES.get(entry) or SOURCES.get(entry.split(" ", maxsplit=1)[0])
    return _VLLM + place if place else ""
