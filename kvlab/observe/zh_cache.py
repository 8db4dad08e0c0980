"""What do the rules of hits and of L2 say in Chinese?

Keyed as zh_pool.py is.
"""

from __future__ import annotations

CACHE_ZH: dict[str, str] = {
    ", {} tokens evicted": "，逐出 {} 个 token",
    "the hit rate falls from {} to {} while L1 has room (usage at most {}{}): the "
    "prompts have changed, not the cache": (
        "命中率从 {0} 降到 {1}，而 L1 有空间（占用率最高 {2}{3}）：变的是 prompt，不是"
        "缓存"
    ),
    "only {} of {} prompt tokens are hits, with room to keep them: prompts part "
    "early, as with a timestamp, an id or a salt near the beginning, or they have "
    "nothing in common": (
        "{1} 个 prompt token 中只有 {0} 命中，而空间足够保留：prompt 很早就分岔，"
        "如开头附近有时间戳、id 或盐值，或者本来就没有共同部分"
    ),
    ", {} times the pool": "，是池的 {} 倍",
    "{} tokens were evicted{}, and the hit rate is {} after {}: what comes back "
    "has been given up before": (
        "逐出了 {0} 个 token{1}，命中率从 {3} 变为 {2}：再次到来的内容此前已被放弃"
    ),
    "{} of the last are hits": "最后一段的命中率为 {}",
    "{}s blur the hit rate": "{}使命中率失真",
    "{} tokens evicted, hit rate {} at last": "逐出 {0} 个 token，最后命中率 {1}",
    "hits fall as evictions grow": "命中随逐出增多而下降",
    "L1 may have evicted what was shared": "共享部分可能已被 L1 逐出",
    "L2 keeps it and gives nothing back": "L2 留着它，却什么也不还回来",
    "the pool is full and {} wait, yet in {} of {} such reports at most {} run, of "
    "{} at other times: running requests do not fill it": (
        "池满且 {0} 个在排队，但这样的 {2} 份报告中有 {1} 份最多只有 {3} 个在运行，而"
        "别的时候有 {4} 个：占满它的不是运行中的请求"
    ),
    "prefills stood {} s for L2 loads and computed {} s": (
        "预填充等 L2 取回用了 {0} 秒，计算用了 {1} 秒"
    ),
    "{} by the host tier": "主机层：{}",
    "{} wait, {}, and a prefill computes {} tokens on average, of a chunk of {}: "
    "neither room nor compute is short": (
        "{0} 个在排队，{1}，一次预填充平均计算 {2} 个 token，chunk 为 {3}：空间和算力"
        "都不缺"
    ),
    "L2 is on and {} of the prompt tokens are hits: loads over a slow link fit "
    "this; the log does not print them, so it is not proved": (
        "L2 开着，{} 的 prompt token 命中：慢链路上的取回符合这种情形；日志不打印取回，"
        "所以没有证实"
    ),
    "of {} waiting, up to {} wait for L2 loads in {} reports; {}": (
        "{0} 个排队者中，{2} 份报告里最多有 {1} 个在等 L2 取回；{3}"
    ),
    "{} tokens were dropped": "丢弃了 {} 个 token",
    "{} allocations were refused": "拒绝了 {} 次分配",
    "{} tokens were asked of L2 and none was found": (
        "向 L2 查了 {} 个 token，一个也没找到"
    ),
    ", while {} {} were stored": "，而写入了 {} {}",
    "{}{}: the keys never match, or nothing ever comes back": (
        "{0}{1}：键从不匹配，或者内容从不再来"
    ),
    "{} {} were backed up to L2 and next to none loaded back": (
        "{0} {1} 备份到 L2，几乎没有取回"
    ),
    "copies in flight hold up to {} of it": "在途拷贝最多占住其中的 {}",
    "at most {} deferred, usage at most {}": "最多 {0} 个被推迟，占用率最高 {1}",
    "L2 gives {}": "L2 给出 {}",
    "only {} lookups": "只有 {} 次查询",
    "{} of what was written came back from L2": "写入的内容有 {} 从 L2 回来",
    "L2 is {} full": "L2 填到 {}",
    "{} tokens were evicted from L1": "从 L1 逐出 {} 个 token",
    "the hit rate is {}": "命中率为 {}",
    "the link between L1 and L2 does not keep up; more L1 would fill as well": (
        "L1 与 L2 之间的链路跟不上；加 L1 也照样会被占满"
    ),
    "so something else holds it: copies to a host tier that lag, locks that were "
    "not given back, or one very long prompt; this input has no line on them": (
        "所以是别的占住了它：滞后的主机层拷贝、没有还的锁，或一条很长的 prompt；这份输"
        "入里没有它们的行"
    ),
    "the host tier dropped nothing": "主机层没有丢弃",
    "the external hit rate is 0 throughout": "外部命中率始终为 0",
    "copies in flight do not fill the pool": "在途拷贝没有占满池",
    "L2 is on: pages that wait to be written, or were taken to be loaded, are "
    "locked": "L2 开着：等待写出的页、为取回而占的页都被锁定",
    "L1 still holds what is asked for, so nothing needs to come back": (
        "要的内容都还在 L1，用不着取回"
    ),
    "bring two scrapes of /metrics while it lasts: hicache_* counters show a host "
    "tier and its copies, kv_used_tokens what is locked": (
        "趁它还在持续，抓两次 /metrics：hicache_* 计数显示主机层及其拷贝，"
        "kv_used_tokens 显示锁定了多少"
    ),
    "if a host tier is on (--enable-hierarchical-cache), measure its link or "
    "switch it off once and compare": (
        "若开着主机层（--enable-hierarchical-cache），测它的链路，或关掉一次作对比"
    ),
    "take two /metrics scrapes: growth of load_back_tokens_total times the bytes "
    "of a token, over the seconds between, is what the link carries (kvlab "
    "capacity MODEL says the bytes)": (
        "抓两次 /metrics：load_back_tokens_total 的增长乘以每 token 字节数，除以相隔"
        "秒数，就是链路的速率（字节数见 kvlab capacity MODEL）"
    ),
    "measure the link (PCIe width, NUMA, pinned memory, hicache_io_backend, "
    "hicache_mem_layout), or run once without the host tier and compare TTFT": (
        "测链路（PCIe 宽度、NUMA、锁页内存、hicache_io_backend、hicache_mem_layout）"
        "，或不开主机层跑一次对比 TTFT"
    ),
    "if hardly anything is loaded back, reservations are the other explanation: "
    "lower schedule_conservativeness or send a true max_new_tokens": (
        "若几乎没有取回，另一个解释是预留：调低 schedule_conservativeness，或传真实"
        "的 max_new_tokens"
    ),
    "LMCache gave {} of the {} tokens that it had found, in {} lines, of its ranks or "
    "again": (
        "LMCache 查到 {1} 个 token，只给出 {0} 个，共 {2} 行，来自各 rank 或再次出现"
    ),
    "{} loads from L2 took {} s each": "{0} 次 L2 取回每次用 {1} 秒",
    ", of {} s to a first token": "，到首 token 共 {} 秒",
    "{}, while {} wait and usage is at most {}: L1 has room, and what the loads "
    "bring is cached already": (
        "{0}，而 {1} 个在排队，占用率最高 {2}：L1 有空间，取回来的本就在缓存里"
    ),
    "a load brings {} tokens: {} tokens a second while it runs; times the bytes of "
    "a token (kvlab capacity MODEL) that is what the link carries": (
        "一次取回带来 {0} 个 token：取回期间每秒 {1} 个；乘以每 token 字节数（kvlab "
        "capacity MODEL）就是链路的速率"
    ),
    "while a load runs the link carries {} GB/s": "取回期间链路为 {} GB/s",
}  # fmt: skip
