"""Why does a prefix stay, move, or go?

One function a decision of the tree and of its two pools.
Left out: what the scheduler decides (request_reasons.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..record import events as ev
from . import theme
from .frame import Frame, node_of
from .markup import plain
from .reason import (
    Bar,
    Check,
    Equation,
    Part,
    Reason,
    Term,
    compare,
    count,
    two_bars,
)
from .theme import Words


def step(frame: Frame, e: ev.Step) -> Reason:
    """What was the driver asked for?"""
    return Reason(
        "note",
        Words(
            "The driver asked for it; what follows is its doing.",
            "由驱动程序发起；以下事件都由它引起。",
        ),
        (Check(((count("number", e.number), Term("op", plain(e.op))),)),),
    )


def match(frame: Frame, e: ev.Match) -> Reason:
    """How much of a prompt is known?"""
    miss = e.asked - e.device - e.host
    terms: Equation = (
        count("device_hit", e.device, "used"), "+",
        count("host_hit", e.host, "host_only"), "+",
        count("miss", miss, "available"), "=", count("asked", e.asked),
    )  # fmt: skip
    parts = (
        Part(e.device, "used"), Part(e.host, "host_only"), Part(miss, "available"),
    )  # fmt: skip
    return Reason(
        "note",
        Words(
            "The longest known prefix, in whole pages. A match counts no hit.",
            "最长的已知前缀，按整页取。匹配不计命中。",
        ),
        (Check((terms,)),),
        (Bar(Words("prompt", "prompt"), parts),),
        source="SGLang mem_cache/radix_cache.py · match_prefix",
    )


def insert(frame: Frame, e: ev.Insert) -> Reason:
    """What is the tree given?"""
    terms: Equation = (count("tokens", e.tokens), count("priority", e.priority))
    return Reason(
        "note",
        Words(
            "What the tree has is not stored twice; the rest becomes a new leaf.",
            "树里已有的不再存一份；其余成为新叶子。",
        ),
        (Check((terms,)),),
        source="SGLang mem_cache/radix_cache.py · insert",
    )


def cut_prompt(frame: Frame, e: ev.CutPrompt) -> Reason:
    """Why is a prompt set apart from what follows it?"""
    terms: Equation = (count("tokens", e.tokens), count("priority", e.priority))
    return Reason(
        "note",
        Words(
            "Outputs are seldom asked for again, prompts are: the tree is cut between "
            "them, and the prompt ranks one higher.",
            "输出很少再被用到，prompt 常会：树在两者之间切开，prompt 的优先级高一级。",
        ),
        (Check((terms,)),),
        not_taken=Words("keep both in one leaf", "两者同在一个叶子"),
        source="SGLang mem_cache/unified_radix_cache.py · checkpoint_into_tree",
    )


# --- eviction


def make_room(frame: Frame, e: ev.MakeRoom) -> Reason:
    """Why is something evicted now?"""
    missing = e.need - e.available
    have = count("available", e.available, "available")
    check = compare(count("need", e.need), "≤", have, e.need <= e.available)
    terms: Equation = (count("missing", missing), count("ask", e.ask))
    less = Words(
        f"ask only for the {theme.num(missing)} that are missing",
        f"只要差的 {theme.num(missing)} 个",
    )
    whole = Words(f"ask for all {theme.num(e.need)}", f"要全部 {theme.num(e.need)} 个")
    return Reason(
        "out",
        Words("Too little is free: leaves have to go first.", "空闲不够：先逐出叶子。"),
        (check, Check((terms,))),
        two_bars(e.need, e.available, "available"),
        not_taken=less if e.ask > missing else whole,
        source="SGLang mem_cache/common.py · evict_from_tree_cache",
    )


def evict(frame: Frame, e: ev.Evict) -> Reason:
    """How is a tier asked for room?"""
    return Reason(
        "out",
        Words(
            f"Leaves go whole, in {plain(e.policy)} order, until enough is free.",
            f"按 {plain(e.policy)} 次序整个逐出叶子，直到够用。",
        ),
        (Check(((count("ask", e.ask), Term("policy", plain(e.policy))),)),),
        source="SGLang mem_cache/hiradix_cache.py · evict"
        + ("_host" if e.tier == "L2" else ""),
    )


INSTEAD: dict[str, Words] = {
    "demote": Words("copy it again: L2 has it", "再拷贝一次：L2 已经有了"),
    "backup": Words(
        "delete it, as write_through does", "直接删除（write_through 的做法）"
    ),
    "delete": Words(
        "back it up first, as write_back does", "先备份（write_back 的做法）"
    ),
    "stays": Words("drop it without a copy", "没有副本也丢掉"),
    "evict_host": Words("bring it back to L1", "取回 L1"),
    "drop": Words("keep it on L1 until L2 has room", "留在 L1，等 L2 有空位"),
    "reclaim": Words("drop a leaf that only L2 has", "删除只在 L2 的叶子"),
}
"""What does not become of a victim, by what does."""


def victim(frame: Frame, e: ev.Victim) -> Reason:
    """Why this node, and what becomes of it?"""
    key = ", ".join(theme.num(int(part)) for part in e.key)
    terms: Equation = (count("tokens", e.tokens), Term("key", f"({key})"))
    node = node_of(frame.state, e.node)
    copied = node is not None and node.host_pages is not None
    asks = Words("has it a copy on L2?", "L2 有副本吗？")
    on_host = e.fate == "evict_host"
    return Reason(
        "no" if e.fate == "stays" else "out",
        HOST_VICTIM if on_host else DEVICE_VICTIM,
        (Check((terms,)),)
        if on_host
        else (Check((terms,)), Check((), "", copied, asks)),
        not_taken=INSTEAD.get(e.fate),
        source="SGLang mem_cache/hiradix_cache.py · evict"
        + ("_host" if on_host else ""),
    )


DEVICE_VICTIM = Words(
    "Smallest key first. With a copy on L2: demote. Else under write_back: back up, "
    "demote. Else: delete.",
    "键最小的先走。L2 有副本则降级；否则 write_back 先备份再降级；再否则删除。",
)
HOST_VICTIM = Words(
    "Smallest key first, of the leaves that only L2 has. It leaves the tree, and its "
    "tokens must be computed again.",
    "在只有 L2 副本的叶子中，键最小的先走。它离开树，其 token 需要重新计算。",
)


def evicted(frame: Frame, e: ev.Evicted) -> Reason:
    """What did the eviction come to?"""
    over = e.freed - e.ask
    terms: Equation = (
        count("freed", e.freed), "−", count("ask", e.ask), "=", count("over", over),
    )  # fmt: skip
    test = f"{theme.num(e.freed)} ≥ {theme.num(e.ask)}"
    return Reason(
        "out" if e.freed >= e.ask else "no",
        Words(
            "Stop as soon as enough is free, or no leaf is left.",
            "够用即停，或再没有叶子。",
        ),
        (Check((terms,), test, e.freed >= e.ask),),
        (
            Bar(Words("asked", "要"), (Part(e.ask, None),)),
            Bar(Words("freed", "腾出"), (Part(e.freed, "left"),)),
        ),
        not_taken=Words("cut the last leaf", "切开最后一个叶子") if over > 0 else None,
        source="SGLang mem_cache/hiradix_cache.py · evict",
    )


# --- copies


def try_backup(frame: Frame, e: ev.TryBackup) -> Reason:
    """Is the node written to the host?"""
    written = e.verdict in ("write", "make_room", "ancestors_first")
    keep, write = Words("keep it on L1 only", "只留在 L1"), Words("write it", "写往 L2")
    return Reason(
        "copy" if written else "no",
        Words(
            "The host copy is what lets a node survive its eviction.",
            "有了主机副本，节点被逐出后才能保住。",
        ),
        tuple(_backup_checks(frame, e)),
        two_bars(e.tokens, e.host_available, "available"),
        not_taken=keep if written else write,
        source="SGLang mem_cache/hiradix_cache.py · write_backup",
    )


def _backup_checks(frame: Frame, e: ev.TryBackup) -> Iterator[Check]:
    """Yield the tests that the write policy asks for, in order."""
    if frame.header.config.write_policy != "write_back":
        often = Words("used often enough?", "用得够多吗？")
        hits, least = count("hits", e.hits), count("threshold", e.threshold)
        yield compare(hits, "≥", least, e.hits >= e.threshold)._replace(asks=often)
    if e.verdict in ("parent_not_backed_up", "ancestors_first"):
        yield Check((), "", False, Words("its parent on L2?", "父节点在 L2 吗？"))
    free = count("L2 free", e.host_available, "available")
    fits = e.tokens <= e.host_available
    asks = Words("is there room on L2?", "L2 放得下吗？")
    yield compare(count("tokens", e.tokens), "≤", free, fits)._replace(asks=asks)


def send_writes(frame: Frame, e: ev.SendWrites) -> Reason:
    """Why do several writes travel together?"""
    known = [node for id in e.nodes if (node := node_of(frame.state, id))]
    tokens = sum(len(node.tokens) for node in known)
    terms: Equation = (count("writes", len(e.nodes)), count("tokens", tokens))
    return Reason(
        "copy",
        Words(
            "All that a step writes to L2 is one copy; no node is free to go before "
            "all of it has arrived.",
            "一步里写往 L2 的内容合成一次拷贝；全部到达之前，哪个节点都不能走。",
        ),
        (Check((terms,)),),
        not_taken=Words("one copy for each node", "每个节点一次拷贝"),
        source="SGLang mem_cache/unified_radix_cache.py · flush_pending_backups",
    )


def load_back(frame: Frame, e: ev.LoadBack) -> Reason:
    """Does a host-only chain come back?"""
    loads = e.verdict in ("load", "make_room")
    again = Words(
        f"compute {theme.num(e.tokens)} tokens again",
        f"重算 {theme.num(e.tokens)} 个 token",
    )
    return Reason(
        "copy" if loads else "no",
        Words(
            "Three tests, in this order. One failure and nothing loads.",
            "三个条件按此顺序检查；一个不成立就一个都不取。",
        ),
        (_worth(e), _quota(e), _room(e)),
        two_bars(e.tokens, e.available, "available"),
        not_taken=again if loads else Words("bring a part", "只取一部分"),
        source="SGLang mem_cache/hiradix_cache.py · load_back",
    )


def _worth(e: ev.LoadBack) -> Check:
    hit = count("host_hit", e.tokens, "host_only")
    least = count("threshold", e.threshold)
    asks = Words("worth a copy?", "值得拷贝吗？")
    return compare(hit, "≥", least, e.tokens >= e.threshold)._replace(asks=asks)


def _room(e: ev.LoadBack) -> Check:
    free = count("available", e.available, "available")
    asks = Words("is there room in L1?", "L1 放得下吗？")
    fits = e.tokens <= e.available
    return compare(count("n", e.tokens), "≤", free, fits)._replace(asks=asks)


def _quota(e: ev.LoadBack) -> Check:
    asks = Words("under the quota?", "在配额之内吗？")
    if e.quota is None:
        untested = Words(
            "under the quota? (not tested: no caller sets one)",
            "在配额之内吗？（未检查：没有调用者设置配额）",
        )
        return Check((), "n ≤ mem_quota + delta", None, untested)
    terms: Equation = (
        count("n", e.tokens), "≤", count("mem_quota", e.quota), "+",
        count("delta", e.delta),
    )  # fmt: skip
    allowed = e.quota + e.delta
    test = f"{theme.num(e.tokens)} ≤ {theme.num(allowed)}"
    return Check((terms,), test, e.tokens <= allowed, asks)
