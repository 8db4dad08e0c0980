"""What is a sentence, or a word, in Chinese?

One table; terms as in the glossary, names of options and metrics as the engines print
them.
Left out: the sentences in English, which stand where they are said.
"""

from __future__ import annotations

from .zh_cache import CACHE_ZH
from .zh_causes import CAUSES_ZH
from .zh_input import INPUT_ZH
from .zh_pool import POOL_ZH

WORDS_ZH: dict[str, str] = {
    "retraction": "撤回",
    "preemption": "抢占",
    "metrics": "指标",
    "log": "日志",
    "tokens": "个 token",
    "bytes": "字节",
    "retractions so far": "累计撤回",
    "preemptions so far": "累计抢占",
    "why": "为什么",
    "where": "证据",
    "next": "下一步",
    "considered, and why not": "考虑过，为什么不是",
    "about the input": "关于输入",
    "numbers": "数字",
    "certain": "确定",
    "likely": "很可能",
    "possible": "有可能",
    "ok": "正常",
    "partial": "部分可用",
    "error": "出错",
    "usage": "占用率",
    "queue": "排队",
    "running": "运行",
    "deferred": "推迟",
    "pre-allocation queue": "预分配队列",
    "L2 fill": "L2 填充",
    "hit rate": "命中率",
    "TTFT p99 at most (s)": "TTFT p99 上界（秒）",
    "retracted": "撤回",
    "preemptions": "抢占",
    "prealloc": "预分配",
    "transfer": "传输",
    "ratio_before": "预留比例原为", "ratio_after": "改为",
    "retracted_queue": "撤回队列",
    "swapped": "换出",
    "new_tokens": "新 token",
    "cached_tokens": "命中 token",
    "prompt_tps": "prompt token/s",
    "gen_tps": "生成 token/s",
    "l2_fraction": "L2 填充",
    "copying": "拷贝中",
    "account_available": "空闲",
    "account_evictable": "可逐出",
    "account_protected": "被锁定",
    "account_session_held": "会话占用",
    "account": "总数",
    "account_delta": "差额",
    "given_tokens": "给出的 token",
    "promised_tokens": "查到的 token",
    "no room for the pool at the start": "启动时没有给池的空间",
    "no room for the host tier at the start": "启动时没有给主机层的空间",
    "the pool refused an allocation": "池拒绝了一次分配",
    "out of device memory": "显存耗尽",
    "watchdog timeout": "看门狗超时",
    "a worker does not answer": "有 worker 没有应答",
    "engine died": "引擎退出",
    "a KV transfer failed": "KV 传输失败",
}  # fmt: skip
ZH = WORDS_ZH | CAUSES_ZH | POOL_ZH | CACHE_ZH | INPUT_ZH
