"""What is said of an event that does not fit, in both languages?

The English is the error's own (record/folding.py, record/fit.py, painting.py). The
Chinese puts the same numbers into the same sentence; a text that is not kvlab's own is
quoted as it is.
Left out: which events fit (record/fit.py).
"""

from __future__ import annotations

import re

from ..record.folding import FoldError
from .theme import Words

FRAME = (
    "事件 {index}（{kind}）与之前的状态不符：{problem}；"
    "可显示到第 {index} 步，请重新录制"
)

MISFITS: dict[str, str] = {
    "node {a} exists already": "节点 {a} 已存在",
    "node {a} has no tokens": "节点 {a} 没有 token",
    "node {a} has {b} tokens and gets {c} pages of {d}":
        "节点 {a} 有 {b} 个 token，却得到 {c} 个 {d} token 的页",
    "node {a} of {b} tokens cannot be split at {c} (pages of {d})":
        "节点 {a} 有 {b} 个 token，不能在 {c} 处分裂（每页 {d} 个）",
    "node {a} is not locked": "节点 {a} 没有被锁",
    "node {a} is locked": "节点 {a} 被锁着",
    "node {a} has no host copy to lock": "节点 {a} 在 L2 没有可锁的副本",
    "node {a} is not host-locked": "节点 {a} 的 L2 副本没有被锁",
    "node {a} is host-locked": "节点 {a} 的 L2 副本被锁着",
    "a host lock of {a} tokens does not begin at a node's edge":
        "{a} 个 token 的 L2 锁没有从节点边界开始",
    "node {a} is not on the device": "节点 {a} 不在 L1",
    "node {a} is on the device already": "节点 {a} 已在 L1",
    "node {a} is on the device": "节点 {a} 还在 L1",
    "node {a} has a host copy already": "节点 {a} 在 L2 已有副本",
    "node {a} has no second copy to give up": "节点 {a} 没有第二份副本可让出",
    "request {a} is {b} already": "请求 {a} 已处于 {b} 状态",
    "the row of {a} has {b} pages, none at {c}": "{a} 的行有 {b} 页，{c} 处没有页",
    "it names {a}, which is not there": "它提到的 {a} 并不存在",
    "it takes {a} pages of {b}, {c} first, that do not head the free list":
        "它从 {b} 取 {a} 页（前几页为 {c}），但这些页不在空闲列表的开头",
    "it takes block {a}, block {b} heads the queue":
        "它取块 {a}，而空闲队列队首是块 {b}",
    "it releases block {a}, which nobody owns": "它释放块 {a}，而该块无人持有",
    "it names a block twice": "它两次提到同一个块",
    "it names a content by {a}, no hash": "它用 {a} 指称内容，这不是哈希",
    "it names {a} {b}, which the pool does not have": "它提到 {a} {b}，池中没有",
    "it names {a} {b}, which was never handed out": "它提到 {a} {b}，从未分配过",
    "{a} is more than the player counts ({b})": "{a} 超出播放器的计数上限（{b}）",
    "node {a} is new, in {b} events": "节点 {a} 是新的，而全程只有 {b} 个事件",
}  # fmt: skip
"""What kvlab says, and the same in Chinese."""


def fault_words(fault: FoldError) -> Words:
    """Return what the error says, in both languages."""
    kind = type(fault.event).__name__
    told = FRAME.format(index=fault.index, kind=kind, problem=_zh(fault.problem))
    return Words(str(fault), told)


def _zh(problem: str) -> str:
    for template, words in MISFITS.items():
        found = re.fullmatch(_pattern(template), problem, re.DOTALL)
        if found is not None:
            return words.format_map(found.groupdict())
    return problem


def _pattern(template: str) -> str:
    return re.sub(r"\\\{(\w)\\\}", r"(?P<\1>.+?)", re.escape(template))
