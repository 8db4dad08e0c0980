"""Why does a request run, wait, or give way?

One function a decision of the scheduler. L2 is in none of these formulas, and each card
that a reader might look for it in says so.
Left out: what the cache decides (cache_reasons.py).
"""

from __future__ import annotations

from ..geometry import ceil_page
from ..record import events as ev
from . import theme
from .frame import Frame
from .reason import (
    NEED,
    ROOM,
    Bar,
    Check,
    Equation,
    Part,
    Reason,
    Term,
    compare,
    count,
    host_free,
    two_bars,
)
from .theme import Words


def candidate(frame: Frame, e: ev.Candidate) -> Reason:
    """What would the request bring?"""
    terms: Equation = (
        count("extend", e.extend, "available"),
        count("host_hit", e.host_hit, "host_only"),
    )  # fmt: skip
    return Reason(
        "yes",
        Words(
            "First come, first tried. What L2 has is charged to L1 as new tokens.",
            "先来先试。L2 上的部分按新 token 计入 L1。",
        ),
        (Check((terms,)),),
        source="SGLang managers/schedule_policy.py · PrefillAdder.add_one_req",
    )


def admit(frame: Frame, e: ev.Admit) -> Reason:
    """May the request join this prefill?"""
    if e.line in ("input_budget", "chunk_budget"):
        return _over_budget(frame, e)
    need = e.extend + e.max_new + e.page
    room = e.available + e.evictable - e.promised
    demand: Equation = (
        count("extend", e.extend), "+", count("max_new", e.max_new), "+",
        count("page", e.page), "=", count("need", need),
    )  # fmt: skip
    supply: Equation = (
        count("available", e.available, "available"), "+",
        count("evictable", e.evictable, "evictable"), "−",
        count("promised", e.promised, "promised"), "=", count("room", room),
    )  # fmt: skip
    test = f"{theme.num(need)} < {theme.num(room)}"
    parts = (Part(e.extend, None), Part(e.max_new, None), Part(e.page, None))
    have = (Part(e.available, "available"), Part(e.evictable, "evictable"))
    rule = Words(
        "Admit only if need < room. Equal is refused too.",
        "仅当 需要 < 余量 时准入；相等也拒绝。",
    )
    return Reason(
        "yes" if e.added else "no",
        rule,
        (Check((demand, supply), test, need < room),),
        (Bar(NEED, parts), Bar(ROOM, have, e.promised)),
        host_free(frame),
        _instead(frame, e),
        "SGLang managers/schedule_policy.py · PrefillAdder.add_one_req",
    )


def _instead(frame: Frame, e: ev.Admit) -> Words:
    if e.added:
        return Words("wait for the next round", "等下一轮")
    if frame.state.pools["L2"].num_pages == 0:
        return Words("evict what is locked", "逐出被锁住的部分")
    return Words("lend it L2; evict what is locked", "借用 L2；逐出被锁住的部分")


def _over_budget(frame: Frame, e: ev.Admit) -> Reason:
    page = frame.header.config.page_size
    budget, name = e.rem_input, "rem_input"
    asked = ceil_page(max(e.extend - e.host_hit, 0), page)
    if asked < budget:
        asked = ceil_page(e.extend, page)
    if e.line == "chunk_budget":
        budget, name, asked = e.rem_chunk or 0, "rem_chunk", page
    left = count(name, budget, "promised")
    sign = "≤" if e.line == "chunk_budget" else "<"
    holds = asked <= budget if sign == "≤" else asked < budget
    return Reason(
        "no",
        Words(
            "What one prefill may compute is spent; the queue waits for the next.",
            "一次预填充能算的量已用完；队列等下一次。",
        ),
        (compare(count("input", asked), sign, left, holds),),
        two_bars(asked, max(budget, 0), "promised"),
        host_free(frame),
        Words("compute it in this round", "在本轮计算"),
        "SGLang managers/schedule_policy.py · PrefillAdder.add_one_req",
    )


def too_large(frame: Frame, e: ev.TooLarge) -> Reason:
    """Why is the request not even queued?"""
    need, total = count("need", e.need), count("total", e.total)
    return Reason(
        "no",
        Words(
            "Nothing could ever be freed for it: it needs more than the whole pool.",
            "无论释放什么都不够：它需要的比整个池还多。",
        ),
        (compare(need, "<", total, e.need < e.total),),
        two_bars(e.need, e.total, "available"),
        host_free(frame),
        Words("let it wait for ever", "让它永远等待"),
        "SGLang managers/schedule_policy.py · PrefillAdder.add_one_req",
    )


def close_round(frame: Frame, e: ev.CloseRound) -> Reason:
    """Why is nobody else tried in this round?"""
    terms: list[Term | str] = [count("rem_input", e.rem_input, "promised")]
    if e.rem_chunk is not None:
        terms.append(count("rem_chunk", e.rem_chunk, "promised"))
    return Reason(
        "no",
        Words(
            "A spent budget ends the round before the next request is matched.",
            "预算用完，就在匹配下一个请求之前结束本轮。",
        ),
        (Check((tuple(terms),)),),
        not_taken=Words(
            "match it all the same, and refuse it then", "照样匹配，然后再拒绝"
        ),
        source="SGLang managers/scheduler.py · get_new_batch_prefill",
    )


def prefill(frame: Frame, e: ev.Prefill) -> Reason:
    """What is computed, what is not?"""
    behind = e.device_hit + e.loaded
    total = behind + e.extend
    terms: Equation = (
        count("device_hit", e.device_hit, "used"), "+",
        count("loaded", e.loaded, "in_flight"), "+",
        count("extend", e.extend), "=", count("kv", total),
    )  # fmt: skip
    parts = (
        Part(e.device_hit, "used"), Part(e.loaded, "in_flight"), Part(e.extend, None),
    )  # fmt: skip
    left, all_of_it = theme.num(e.host_hit - e.loaded), theme.num(total)
    again = Words(
        f"the {left} tokens that stay on L2 are computed again",
        f"留在 L2 的 {left} 个 token 要重算",
    )
    whole = Words(f"compute all {all_of_it}", f"全部 {all_of_it} 个重算")
    return Reason(
        "yes",
        Words("Only what no cache had is computed.", "只计算缓存里没有的部分。"),
        (Check((terms,)),),
        (Bar(Words("prompt", "prompt"), parts),),
        not_taken=again if e.host_hit > e.loaded else whole if behind else None,
        source="SGLang managers/schedule_batch.py · prepare_for_extend",
    )


def chunk(frame: Frame, e: ev.Chunk) -> Reason:
    """How far does a prefill in pieces get?"""
    terms: list[Term | str] = [count("extend", e.extend)]
    if e.rem_chunk is not None:
        terms.append(count("rem_chunk", e.rem_chunk, "promised"))
    return Reason(
        "yes",
        Words(
            "A prefill that has begun goes first in every round.",
            "已经开始的预填充在每一轮都排在最前。",
        ),
        (Check((tuple(terms),)),),
        source="SGLang managers/schedule_policy.py · PrefillAdder.add_chunked_req",
    )


def decode_room(frame: Frame, e: ev.DecodeRoom) -> Reason:
    """Does the next decode step fit?"""
    need, have = count("need", e.need), count("available", e.available, "available")
    return Reason(
        "yes" if e.fits else "no",
        Words(
            "A step may write one page more for every request that is at a page's end.",
            "写到页尾的请求，下一步各要一个新页。",
        ),
        (compare(need, "≤", have, e.need <= e.available),),
        two_bars(e.need, e.available, "available"),
        host_free(frame),
        Words("retract a request", "撤回一个请求") if e.fits else None,
        "SGLang managers/schedule_batch.py · check_decode_mem",
    )


def pick_retract(frame: Frame, e: ev.PickRetract) -> Reason:
    """Who gives way?"""
    terms: Equation = (
        count("outputs", e.outputs), count("prompt", e.prompt_len),
        count("survivors", e.survivors),
    )  # fmt: skip
    return Reason(
        "no",
        Words(
            "Fewest outputs first, then the longest prompt, then the latest.",
            "先撤输出最少的，再看 prompt 最长的，再看最晚的。",
        ),
        (Check((terms,)),),
        outside=host_free(frame),
        not_taken=Words("retract another request", "撤回别的请求"),
        source="SGLang managers/schedule_batch.py · retract_decode",
    )


def ratio(frame: Frame, e: ev.Ratio) -> Reason:
    """How much is promised from now on?"""
    terms: Equation = (
        Term("before", f"{e.before:.3f}"), "→", Term("after", f"{e.after:.3f}"),
    )  # fmt: skip
    return Reason(
        "note",
        Words(
            "What share of max_new a running request is promised, from the survivors.",
            "给运行者承诺 max_new 的几成，由留下的请求重新估计。",
        ),
        (Check((terms,)),),
        source="SGLang managers/new_token_ratio_tracker.py",
    )
