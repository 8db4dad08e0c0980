"""What does each engine call it?

One table of words: SGLang's, vLLM's, the Chinese, and what it is. Views and figures use
the engine's own word and can show the other's; the README prints this table.
Left out: sentences (views/phrases.py, views/block_phrases.py).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

EngineName = Literal["sglang", "vllm"]


class Term(NamedTuple):
    """One thing and its names; an empty name: the engine has no such thing. Backquotes
    mark what stands so in the source."""

    sglang: str
    vllm: str
    zh: str
    what: str

    def word(self, engine: EngineName) -> str:
        """Return the engine's own word, without marks; the other's where it has none.

        >>> GLOSSARY["lock_ref"].word("vllm")
        'ref_cnt'
        """
        own, other = (self.sglang, self.vllm)
        if engine == "vllm":
            own, other = other, own
        return (own or other).replace("`", "")

    def other(self, engine: EngineName) -> str:
        """Return what the other engine calls it, without marks; empty if nothing.

        >>> GLOSSARY["retract"].other("sglang"), GLOSSARY["held"].other("sglang")
        ('preempt', '')
        """
        return (self.vllm if engine == "sglang" else self.sglang).replace("`", "")


GLOSSARY: dict[str, Term] = {
    "slot": Term("slot", "", "槽位", "the place of one token's KV"),
    "page": Term(
        "page", "block", "页 / 块", "`page_size` slots, the unit of allocation"
    ),
    "device": Term("L1, device", "GPU", "显存", "the pool that requests run in"),
    "host": Term("L2, host", "CPU offload", "主机内存", "the pool that keeps copies"),
    "lock_ref": Term(
        "`lock_ref`", "`ref_cnt`", "引用计数",
        "how many need it; counts along the path in SGLang",
    ),
    "used": Term(
        "protected / used", "used", "被锁定", "`lock_ref > 0`, or held by a request"
    ),
    "evictable": Term(
        "evictable", "free, with a hash", "可逐出", "cached, needed by nobody"
    ),
    "available": Term("available", "free, without a hash", "空闲", "holds nothing"),
    "room": Term(
        "available + evictable", "free", "可腾出", "what a request can be given"
    ),
    "held": Term("held", "", "树外持有", "a request's slots outside the tree"),
    "usage": Term(
        "`token_usage`", "`kv_cache_usage_perc`", "占用率",
        "used of total; the null block of vLLM does not count",
    ),
    "extend": Term(
        "extend", "prefill", "预填充", "compute KV of the tokens that no cache has"
    ),
    "device_hit": Term(
        "device hit", "local hit", "L1 命中", "prefix tokens found in L1"
    ),
    "host_hit": Term(
        "host hit", "external hit", "L2 命中", "prefix tokens found beyond L1"
    ),
    "demote": Term("demote", "", "降级", "the L1 copy goes, the L2 copy stays"),
    "write": Term(
        "`write_through`, `write_back`", "store", "写穿 / 写回",
        "copy to L2 at an insert, or at the eviction",
    ),
    "load": Term(
        "`load_back`", "load", "取回", "copy a chain of nodes home to L1"
    ),
    "retract": Term(
        "retract", "preempt", "撤回 / 抢占", "a running request gives up its KV"
    ),
    "ratio": Term(
        "`new_token_ratio`", "", "新 token 预留比例",
        "share of future tokens that is set aside",
    ),
    "watermark": Term(
        "", "watermark", "水位线", "blocks that admission leaves free"
    ),
}  # fmt: skip


VLLM_CHINESE = {
    "used": "占用",
    "evictable": "空闲，有哈希",
    "available": "空闲，无哈希",
}
"""States by vLLM's own counts: what SGLang calls evictable is free there."""


def markdown() -> str:
    """Return the table as the README prints it."""
    head = "| here and in SGLang | vLLM | 中文 | what it is |\n|---|---|---|---|\n"
    rows = (
        f"| {t.sglang or '–'} | {t.vllm or '–'} | {t.zh} | {t.what} |"
        for t in GLOSSARY.values()
    )
    return head + "\n".join(rows) + "\n"
