"""Why does a request run, wait, or give way? The rules of the scheduler.

L2 is in none of these formulas, and each card that a reader might look for it in says
so. Entries as in why_cache.py.
Left out: what the cache decides (why_cache.py), how rules are read (why.py).
"""

from __future__ import annotations

from .reason import NEED, ROOM
from .theme import Words
from .why import BarOf, Instead, Own, Test, Why
from .why_cache import CACHE_WHYS, KEYS, ROOM_TEST, TWO_BARS
from .why_contents import CONTENT_WHYS

_QUEUE = "schedule"
_ADDER = "managers/schedule_policy.py · PrefillAdder."
_BATCH = "managers/schedule_batch.py · "
_ADD_ONE = (_ADDER + "add_one_req", _ADDER + "add_one_req")
_RATIO = (
    "managers/scheduler_components/new_token_ratio_tracker.py · "
    "estimate_new_token_ratio_after_retract"
)

# fmt: off
_ADMIT = Why(
    "yes",
    Words("Admit only if need < room. Equal is refused too.",
          "仅当“需求 < 余量”时准入；相等也拒绝。"),
    (Test(("extend + max_new + page = need",
           "available + evictable − promised = room"), "need < room"),
     Test(("whole", "extend"), unless="whole", asks=Words(
         "Cut to a chunk. Room was tested before the load, with all that was not on "
         "L1; above stand this chunk and the room after the load. max_new is set "
         "aside with the last chunk.",
         "已切成一块。检查在取回之前，按不在 L1 的全部来算；上面是这一块和取回之后的"
         "余量。max_new 到最后一块才预留。"))),
    (BarOf(NEED, ("extend", "max_new", "page")),
     BarOf(ROOM, ("available", "evictable"), "promised")),
    "host_free",
    (Instead(Words("wait for the next round", "等下一轮")),),
    _ADD_ONE, Own(_QUEUE, "_lacks_room", "need < self.rem_total"))
LINES: dict[str, Words] = {
    "room": Words("Tested before its own prefix is locked.",
                  "检查时还没有锁住它自己的前缀。"),
    "room_after_lock": Words(
        "Tested again once its own prefix is locked: what it will use itself is no "
        "longer evictable.",
        "锁住它自己的前缀后再查一次：它自己要用的部分不再可逐出。"),
    "input_budget": Words(
        "The input budget of this prefill refused it; it binds all but the first "
        "request.",
        "被本次预填充的输入预算拒绝；首个请求不受它限制。"),
    "chunk_budget": Words(
        "Less than one page of the chunk budget is left.", "分块预算已不足一页。"),
    **KEYS,
}
"""What a term says that is told in words: which test refused a request, by the `line`
of its event; what a victim's key is made of."""

_DECIDED = Test(told="line")
_DECODE = Why(
    "yes",
    Words("A step writes one page more for every request at a page's end.",
          "写到页尾的请求，下一步各要一个新页。"),
    (ROOM_TEST,), TWO_BARS, "host_free",
    (Instead(Words("retract a request", "撤回一个请求")),),
    (_BATCH + "check_decode_mem", _BATCH + "check_decode_mem"),
    Own(_QUEUE, "check_decode_mem", "make_room(need)"))
_SPENT = Why(
    "no",
    Words("What one prefill may compute is spent; the queue waits for the next.",
          "一次预填充能算的量已用完；队列等下一次。"),
    outside="host_free",
    instead=(Instead(Words("compute it in this round", "在本轮计算")),),
    sources=_ADD_ONE, own=Own(_QUEUE, "_over_input", "self.rem_input"))

SCHEDULE_WHYS: dict[str, Why] = {
    "candidate": Why(
        "yes",
        Words("First come, first tried. What L2 has is charged to L1 as new tokens.",
              "先来先试。L2 上的部分按新 token 计入 L1。"),
        (Test(("extend", "host_hit")),),
        sources=_ADD_ONE, own=Own(_QUEUE, "add_one", "ev.Candidate")),
    "admit": _ADMIT,
    "admit no_token": _ADMIT._replace(
        sign="no", tests=(*_ADMIT.tests, _DECIDED), instead=(
            Instead(Words("lend it L2; evict what is locked",
                          "借用 L2；逐出被锁住的部分"), "host_total > 0"),
            Instead(Words("evict what is locked", "逐出被锁住的部分")))),
    "admit other": _SPENT._replace(
        tests=(Test(("asked", "rem_input"), "asked < rem_input"), _DECIDED),
        bars=(BarOf(NEED, ("asked",)), BarOf(ROOM, ("rem_input",)))),
    "admit chunk_spent": _SPENT._replace(
        tests=(Test(("page_size", "chunk_left"), "page_size <= chunk_left"), _DECIDED),
        bars=(BarOf(NEED, ("page_size",)), BarOf(ROOM, ("chunk_left",))),
        own=Own(_QUEUE, "_input", "cut <= 0")),
    "toolarge": Why(
        "lost",
        Words("Nothing could ever be freed for it: it needs all of the pool or more.",
              "无论释放什么都不够：它需要整个池或更多。"),
        (Test(("need", "total"), "need < total"),),
        (BarOf(NEED, ("need",)), BarOf(ROOM, ("total",))), "host_free",
        (Instead(Words("let it wait for ever", "让它永远等待")),),
        _ADD_ONE, Own("run", "_arrive", "need >= total")),
    "closeround": Why(
        "note",
        Words("A spent budget ends the round before the next request is matched; "
              "free slots do not count.",
              "预算用完，就在匹配下一个请求之前结束本轮；与空闲槽位无关。"),
        (Test(("rem_input",), "rem_input > 0"),
         Test(("rem_chunk",), "rem_chunk > 0", unless="rem_chunk")), (), "host_free",
        (Instead(Words("match it all the same, and refuse it then",
                       "照样匹配，然后再拒绝")),),
        ("", "managers/scheduler.py · _get_new_batch_prefill_raw"),
        Own(_QUEUE, "_budget_spent", "ev.CloseRound")),
    "prefill": Why(
        "yes",
        Words("Only what no cache had is computed.", "只计算缓存里没有的部分。"),
        (Test(("device_hit + loaded + extend = kv",), unless="device_hit"),
         Test(("done + loaded + extend = kv_len",), unless="done"),
         Test(("later",), unless="later", asks=Words(
             "Tokens left to later chunks", "留给后面各块的 token"))),
        (BarOf(Words("KV", "KV"), ("device_hit", "loaded", "extend"),
               unless="device_hit"),
         BarOf(Words("KV", "KV"), ("done", "loaded", "extend"),
               unless="done")),
        instead=(
            Instead(Words("load all {host_hit} tokens that L2 has",
                          "把 L2 上的 {host_hit} 个 token 全部取回"),
                    "loaded < host_hit"),
            Instead(Words("compute all of the first {kv}", "前 {kv} 个全部重算"),
                    "extend < kv")),
        sources=(_BATCH + "prepare_for_extend", _BATCH + "prepare_for_extend"),
        own=Own(_QUEUE, "_place_one", "ev.Prefill")),
    "chunk": Why(
        "yes",
        Words("A prefill that has begun goes first in every round.",
              "已经开始的预填充在每一轮都排在最前。"),
        (Test(("extend", "rem_chunk")),),
        sources=(_ADDER + "add_chunked_req", _ADDER + "add_chunked_req"),
        own=Own(_QUEUE, "add_chunked", "unfinished =")),
    "decoderoom": _DECODE,
    "decoderoom short": _DECODE._replace(sign="no", instead=()),
    "pickretract": Why(
        "lost",
        Words("Fewest outputs first, then the longest prompt, then the latest.",
              "先撤输出最少的，再看 prompt 最长的，再看最晚的。"),
        (Test(("outputs", "prompt_len", "survivors")),), (), "host_free",
        (Instead(Words("retract another request", "撤回别的请求")),),
        (_BATCH + "retract_decode", _BATCH + "retract_decode"),
        Own(_QUEUE, "_retract_until_fit", "order.pop()")),
    "ratio": Why(
        "note",
        Words("What share of max_new a running request is promised, from the "
              "survivors.",
              "为运行中的请求预留 max_new 的几成，由留下的请求重新估计。"),
        (Test(("before → after",)),),
        sources=(_RATIO, _RATIO),
        own=Own(_QUEUE, "prepare_decode", "self._estimate()")),
}
# fmt: on

WHYS: dict[str, Why] = {**CACHE_WHYS, **SCHEDULE_WHYS, **CONTENT_WHYS}
"""Every card, of the tree, of the scheduler and of contents."""


def why_of(entry: str, tier: str | None = None) -> Why:
    """Return the card of an entry of phrases.py, and of a tier where one is named.

    >>> why_of("evicted more", "L2") is WHYS["evicted L2"]
    True
    """
    kind = entry.split(maxsplit=1)[0]
    names = (f"{entry} {tier}", entry, f"{kind} {tier}", kind)
    return next(WHYS[name] for name in names if name in WHYS)
