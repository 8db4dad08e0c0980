"""What are the reasons of the rules in Chinese?

Keyed by the sentence in English, as it stands where it is said; `{0}` is what fills
its first gap.
Left out: causes (zh_causes.py), single words (zh.py).
"""

from __future__ import annotations

RULES_ZH: dict[str, str] = {
    "the {} alone say {}": "只看 {0}，结论是 {1}",
    "{}: no line of an engine in {} lines": "{0}：{1} 行里没有引擎的行",
    "{}: no metric of an engine": "{}：没有引擎的指标",
    "usage is at most {} while they wait": "排队期间占用率最高 {}",
    "{}, but for one report in twenty (at most {})": (
        "{0}，二十份报告中有一份例外（最高 {1}）"
    ),
    "{}: places count its moments, not lines": "{}：位置数的是时刻，不是行",
    "{} answers of Prometheus are one series: places {}:N count its moments, not "
    "lines": "{0} 份 Prometheus 应答合为一个序列：位置 {1}:N 数的是时刻，不是行",
    "left out: {}": "未用：{}",
    ", {} reports": "，{} 份报告",
    " over {} s": "，历时 {} 秒",
    "and {} more": "另有 {} 个",
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
    "{} of the prompt tokens are hits": "{} 的 prompt token 命中",
    "{}s blur the hit rate": "{}使命中率失真",
    "{} tokens evicted, hit rate {} at last": "逐出 {0} 个 token，最后命中率 {1}",
    "hits fall as evictions grow": "命中随逐出增多而下降",
    "L1 may have evicted what was shared": "共享部分可能已被 L1 逐出",
    "L2 keeps it and gives nothing back": "L2 留着它，却什么也不还回来",
    " in {} lines, of its ranks or again": "，共 {} 行，来自各 rank 或再次出现",
    "its last report before shows usage {}, {} running, {} waiting": (
        "此前最后一份报告：占用率 {0}，运行 {1}，排队 {2}"
    ),
    "the engine says so: {}{}": "引擎自己说：{0}{1}",
    "{} requests run, and the last {} reports{} show not one token made, of "
    "prompts or answers": (
        "{0} 个请求在运行，而最后 {1} 份报告{2}里没有产出一个 token，"
        "prompt 和回答都没有"
    ),
    "{} at {}, but {} reports come after it: it was started again": (
        "{0}在 {1}，但之后还有 {2} 份报告：它已重新启动"
    ),
    "only {} reports without a token": "没有产出 token 的报告只有 {} 份",
    "; {} wait": "；{} 个在排队",
    "{} to {}": "{0} 到 {1}",
    "{} requests are computed and wait for their transfer: they hold this prefill "
    "worker's pool until the decode side takes them": (
        "{} 个请求已算完、在等传输：解码侧接走之前，它们一直占着这个预填充节点的池"
    ),
    "look at the decode workers (token usage, #prealloc-req, #transfer-req) and at the "
    "link to them: this side computes faster than they take over": (
        "看解码节点（token usage、#prealloc-req、#transfer-req）和通往它们的链路：这边"
        "算得比它们接得快"
    ),
    "more prefill workers or L1 here only lengthen that line; limit what comes in "
    "until the decode side keeps up": (
        "在这边加预填充节点或 L1 只会让队伍更长；解码侧跟上之前，限制进来的量"
    ),
    "{} s pass between a prefill and the next report of what runs; {} s are usual "
    "between two such reports": (
        "一次预填充到下一份运行报告之间过了 {0} 秒；两份运行报告之间通常是 {1} 秒"
    ),
    "in {} reports{}, {} requests run and not one token is made; then the engine goes "
    "on": (
        "有 {0} 份报告{1}里，{2} 个请求在运行却一个 token 也没有产出；之后引擎又继续"
    ),
    ", over {} s": "，历时 {} 秒",
    "{} running requests went back to the queue: it grows by as many as run less, step "
    "for step, though no line says so": (
        "{} 个运行中的请求回到了队列：运行少几个，排队就多几个，步步如此，虽然没有一行"
        "这么说"
    ),
    "V0 prints every 50th preemption only, and none of these is here": (
        "V0 每 50 次抢占才打一行，这里没有"
    ),
    "the engine reports a leak, and each account that is whole here adds up to its "
    "pool: the one that does not is cut": (
        "引擎报告了泄漏，而这里完整的账目都与池相符：不符的那份被截断了"
    ),
    "bring the whole message, all its lines: a hybrid model has an account for each "
    "pool (full, swa, mamba)": (
        "给整条消息的所有行：混合模型的每个池（full、swa、mamba）各有一份账目"
    ),
    "each running request makes {} tokens a second (median of {} reports), and no "
    "prompt is computed beside them": (
        "每个运行中的请求每秒产出 {0} 个 token（{1} 份报告的中位数），旁边也没有计算 "
        "prompt"
    ),
    "{} requests run, the most that the engine's {} state slots allow ({} each), and "
    "{} wait": (
        "{0} 个请求在运行，引擎的 {1} 个状态槽位最多允许这么多（每个请求 {2} 个），"
        "{3} 个在排队"
    ),
    "look at what a step waits for: weights or KV offloaded to the CPU, tensor "
    "parallel over PCIe or a network, eager mode, clocks (nvidia-smi -q -d CLOCK)": (
        "看一步在等什么：权重或 KV 卸载到 CPU、跨 PCIe 或网络的张量并行、eager 模式、"
        "GPU 时钟（nvidia-smi -q -d CLOCK）"
    ),
    "profile one step; more L1 or L2 does not make it faster": (
        "剖析一步；加 L1 或 L2 不会让它变快"
    ),
    "{} requests are in the transfer queue while {} run and usage is at most {}: this "
    "worker has room, and its queue reads {}": (
        "{0} 个请求在传输队列里，{1} 个在运行，占用率最高 {2}：这个节点有空间，它的排队"
        "数是 {3}"
    ),
    "that queue counts those whose prompt is not computed yet as well: it does not say "
    "whether prefill or the link is late": (
        "这个队列也算进了 prompt 还没算完的请求：看不出慢的是预填充还是链路"
    ),
    "look at the prefill workers: requests in their queue mean that prefill is late, "
    "many in flight beside a short queue mean the link": (
        "看预填充节点：它们有排队，慢的是预填充；排队短而在途多，慢的是链路"
    ),
    "if the number stands still for minutes, transfers never end: look for "
    "KVTransferError and time-outs on both sides; update, restart": (
        "若这个数几分钟不动，就是传输不会结束：两侧都查 KVTransferError 和超时；升级、"
        "重启"
    ),
    "usage climbs from {} to {} in {} s to the very end: at that pace the pool is "
    "full in {} s, unless requests end first": (
        "占用率在 {2} 秒里从 {0} 一路升到 {1}，直到末尾：照此速度再过 {3} 秒池就满，除"
        "非有请求先结束"
    ),
    "add prefill compute (replicas, TP) or a larger chunk, for as long as the pool has "
    "room": "增加预填充算力（副本、TP）或加大 chunk，池有空间时有用",
    "L1 is next: bring the minutes that follow; once the pool is full, faster prefill "
    "lets nobody in": (
        "接下来是 L1：再给随后几分钟的日志；池一满，预填充再快也放不进人"
    ),
    "bring a longer stretch of the log: reports over a minute or more": (
        "给更长一段日志：一分钟以上的报告"
    ),
    "bring the whole log of these minutes, not the lines of one word: usage and queue "
    "decide between an accident and L1 as the limit": (
        "给这几分钟的整份日志，不要只给搜出的几行：是偶然还是瓶颈在 L1，要看占用率和"
        "排队"
    ),
    "bring SGLang's batch lines under load (--log-level info), or two scrapes of "
    "/metrics (--enable-metrics)": (
        "给有负载时 SGLang 的批次行（--log-level info），或两次 /metrics"
        "（--enable-metrics）"
    ),
    "{} requests were retracted, in {} lines": "撤回了 {0} 个请求，见于 {1} 行",
    "the engine counts {} preemptions in all": "引擎累计 {} 次抢占",
    "no report of usage and queue stands beside them": "旁边没有占用率与排队的报告",
    "nothing to fix yet: bring the minutes that follow; what waits or is thrown out "
    "once the pool is full decides": (
        "目前没有要修的：再给随后几分钟的日志；池满以后谁在排队、谁被赶出才能定"
    ),
    ", about {} tokens each": "，每个约 {} 个 token",
    "{} running requests hold the whole pool{}: see whether they are meant to be that "
    "long (max_new_tokens, a loop in the answer)": (
        "{0} 个运行中的请求占住整个池{1}：看它们是否本该这么长（max_new_tokens、回答陷"
        "入循环）"
    ),
    "usage stays at {}: ": "占用率停在 {}：",
    "no report of its state comes before": "此前没有状态报告",
    "one request of full length needs {} GiB of KV": "一个满长请求需要 {} GiB 的 KV",
    "{} GiB are left for KV": "留给 KV 的有 {} GiB",
    "the longest request may have {} tokens": "最长的请求可有 {} 个 token",
    "{} tokens would fit": "放得下 {} 个 token",
    "{} GiB were asked for": "申请了 {} GiB",
    "{} GiB were free": "空闲 {} GiB",
    "compiling kernels at the start, or a very long prefill, looks the same and ends "
    "by itself": "启动时编译内核，或很长的预填充，看起来一样，会自己结束",
    "by its own count {} tokens are left for KV": (
        "按它自己的账，留给 KV 的是 {} 个 token"
    ),
    "{} tokens were asked for": "要了 {} 个 token",
    "{} tokens were free or evictable": "空闲或可逐出的有 {} 个 token",
    "{} GB of host memory were asked for": "要了 {} GB 主机内存",
    "{} GB of it were free": "其中空闲 {} GB",
    "no step ended for {} s": "{} 秒内没有一步结束",
    "a full pool still makes tokens": "池满也仍会产出 token",
    "the pool has room": "池有空间",
    "{} lines are cut or damaged and were not trusted; {} whole reports are left": (
        "{0} 行被截断或损坏，不予采信；剩下 {1} 份完整的报告"
    ),
    "{} {} in all is a lifetime total": "累计 {0} 次 {1} 是自启动以来的总数",
    "{} shows a state and no growth": "{}只显示状态，不显示增长",
    "{} tokens {}": "{1} {0} 个 token",
    "{} wait, but the line averages the usage of several engines: one full engine "
    "cannot be seen in it": (
        "{} 个在排队，但这一行是多个引擎占用率的平均：其中一个满了也看不出"
    ),
    "the queue rises to {} and drains to {}": "队列涨到 {0}，又降到 {1}",
    "{} wait at usage {}{}, and no rule explains why": (
        "{0} 个在排队，占用率 {1}{2}，没有规则能解释"
    ),
    "usage is at most {}": "占用率最高 {}",
    "at most {} wait, and never for long": "最多 {} 个排队，且从不久等",
    "{} whole reports are enough": "{} 份完整的报告够用",
    "what it does: {}": "它做的事：{}",
    "{} wait at the end": "最后还有 {} 个在排队",
    "{} of {} reports have a queue, at most {}, and it drains": (
        "{1} 份报告中 {0} 份有排队，最多 {2} 个，且会排空"
    ),
    "{} lines are cut or damaged and only {} whole: what these show of health is "
    "not the whole of it": (
        "{0} 行被截断或损坏，只有 {1} 行完整：它们显示的健康并不是全貌"
    ),
    "{} requests wait": "{} 个请求在排队",
    "{} {}s, and no queue stands: an isolated one is normal": (
        "{1} {0} 次，且没有持续的排队：偶尔一次是正常的"
    ),
    "no {} inside the input": "输入期间没有{}",
    "; L2 is at most {} full": "；L2 最多填到 {}",
    "{} {}s fell into it": "其间{1} {0} 次",
    "what is left shows no growth that could be trusted": "剩下的看不出可信的增长",
    "one scrape": "一次指标",
    "one report": "一份报告",
    "the input names an engine and holds no report of its state; a missing line is "
    "not a zero": "输入里有引擎的名字，却没有它的状态报告；没有行不等于零",
    "this run drives the cache by hand: no request waits or runs in it, so it says "
    "nothing of what limits an engine": (
        "这次运行是手动驱动缓存：没有请求排队或运行，所以说不出引擎受什么限制"
    ),
    "bring the metrics of each engine": "给每个引擎各自的指标",
    ", which is not full": "（未满）",
    "damaged line": "损坏的行",
    "backed up to L2": "备份到 L2",
    "loaded back": "取回",
    "evicted from L1": "从 L1 逐出",
    "step through it: kvlab play RUN -o out.html": "逐步看：kvlab play RUN -o out.html",
    "for a verdict record a run with requests: kvlab replay TRACE --timing model "
    "--concurrency open --output-tokens trace --record RUN": (
        "要得到结论，录一次有请求的运行：kvlab replay TRACE --timing model "
        "--concurrency open --output-tokens trace --record RUN"
    ),
    "the input ends before it shows if they drain": "输入在看出是否排空之前就结束了",
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
    ", while {} were stored": "，而写入了 {}",
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
    "{} tokens": "{} 个 token",
    "{} of {} slots hold another prefix than their node or request has there, and "
    "whoever matches it reads them": (
        "{1} 个槽位中有 {0} 个存的前缀与其节点或请求在该处的不同，谁匹配到就会读到它"
        "们"
    ),
    "the parts of the account are {} {} than the pool: {}": (
        "账目各项之和比池{1} {0}：{2}"
    ),
    "the parts of the account are {} {} than the {} slots of {}: {}": (
        "账目各项之和比{3}的 {2} 个槽位{1} {0}：{4}"
    ),
    "the state pool (mamba)": "状态池（mamba）",
    "the request pool": "请求池",
    "request slots": "请求槽位",
    "the account lacks {} tokens, and was not printed by the check for leaks: what "
    "requests hold outside the tree stands nowhere in it": (
        "账目少 {} 个 token，但它不是泄漏检查打印的：请求在树外占用的不在账目里"
    ),
    "requests were given up after {} s": "等了 {} 秒后放弃了请求",
    "LMCache gave {} of the {} tokens that it had found, in {} lines, of its ranks or "
    "again": (
        "LMCache 查到 {1} 个 token，只给出 {0} 个，共 {2} 行，来自各 rank 或再次出现"
    ),
    "at most {} wait, in {} of the reports": "最多 {0} 个在排队，占报告的 {1}",
    "a scheduler that is stuck looks the same": "调度器卡住时看起来也一样",
    "compare the request that waits longest (input + max_new_tokens) with the pool: if "
    "it is larger, lower context_len / max_model_len or the client's max tokens, or "
    "raise the pool": (
        "把等得最久的请求（输入 + max_new_tokens）与池比较：若比池大，就调低 "
        "context_len / max_model_len 或客户端的最大 token 数，或加大池"
    ),
    "if it would fit, the scheduler is stuck: take a stack dump of it (py-spy dump "
    "--pid PID), restart, and report the release; with a host tier or a KV connector, "
    "try without it": (
        "若放得下，就是调度器卡住了：抓它的栈（py-spy dump --pid PID），重启，并上报版"
        "本；若有主机层或 KV connector，去掉再试"
    ),
    "the queue is seen for {} s only": "看到排队只有 {} 秒",
    "sessions hold {} of the pool and nothing runs": (
        "会话占住池的 {}，而没有请求在运行"
    ),
    "usage stays at {} or more in {} reports with nothing running and nothing "
    "waiting": "在 {1} 份既无运行也无排队的报告里，占用率仍在 {0} 以上",
    "usage climbs from {} to {} in {} reports and never falls, though at most {} "
    "run at a time and {} began: at least {} ended and gave nothing back": (
        "占用率在 {2} 份报告里从 {0} 升到 {1}，从不下降，而同时运行的最多 {3} 个，开"
        "始过 {4} 个：至少有 {5} 个结束了却没有还回来"
    ),
    "{} of the pool could be evicted, requests wait, and not one token was evicted": (
        "池的 {} 可以逐出，请求在排队，却一个 token 也没有逐出"
    ),
    "{} tokens are protected while the check for leaks runs, which is when nothing "
    "runs: a lock was never given back": (
        "泄漏检查时（即没有请求运行时）仍有 {} 个 token 被锁定：有锁没有还"
    ),
    "sessions hold {} of {} tokens": "会话占住 {1} 个 token 中的 {0} 个",
    "{} of {} tokens could be evicted, almost none is free, and the engine stands "
    "still": "{1} 个 token 中 {0} 个可逐出，几乎没有空闲，引擎停住不动",
    "{} of {} tokens are protected and nothing runs": (
        "{1} 个 token 中 {0} 个被锁定，而没有请求在运行"
    ),
    "that is {} pages of {}": "即 {0} 个大小为 {1} 的页",
    "sessions hold {} of the pool": "会话占住池的 {}",
    "{} tokens are neither free nor evictable nor used while nothing runs: "
    "protected by locks that were not given back": (
        "没有请求运行时，{} 个 token 既不空闲、不可逐出，也没有被使用：被没有还的锁锁"
        "着"
    ),
    "usage falls to {} when nothing runs": "没有请求运行时占用率降到 {}",
    "at most {} of the pool is evictable": "池中最多 {} 可逐出",
    "{} comparisons found some": "{} 次比对都有发现",
    ", {} tokens were evicted while requests waited": "，排队期间逐出了 {} 个 token",
    "L1 slot": "L1 槽位",
    "L2 slot": "L2 槽位",
    "written by event": "写入事件",
    "the engine's account adds up to the pool": "引擎的账目与池相符",
    "wrong slots": "内容不符的槽位",
    "wrong slot": "内容不符的槽位",
    "counted or freed twice": "数了或释放了两遍",
    "lost": "丢了",
    "more": "多",
    "less": "少",
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
    "usage is {} half the time in which requests wait, and each {} is a step that "
    "found the pool full": (
        "排队期间有一半时间占用率在 {0} 以上，而每次{1}都是某一步发现池满"
    ),
    "only {} {}s in {} reports with a queue": "{2} 份有排队的报告里只{1} {0} 次",
    "requests pile up: {} at first, {} at most, {} at last{}": (
        "请求堆积：起初 {0}，最多 {1}，最后 {2}{3}"
    ),
    "{} {}s inside the input": "输入期间{1} {0} 次",
    "the pool is full: usage {} while requests wait": "池满：排队时占用率 {}",
    "the pool is full (usage {}) and {} requests wait": (
        "池满（占用率 {0}），{1} 个请求在排队"
    ),
    "the gauge num_retracted_reqs is above 0 in {} of {} scrapes, so some were "
    "retracted; it is reset all the time and does not say how many": (
        "{1} 次指标中有 {0} 次 num_retracted_reqs 大于 0，说明有请求被撤回；这个量一"
        "直在清零，说不出多少次"
    ),
    "the queue reads {}, but {} wait for pre-allocation, {} for their transfer and "
    "{} were retracted": (
        "队列读数是 {0}，但 {1} 个在等预分配，{2} 个在等传输，{3} 个被撤回"
    ),
    "usage reaches {}": "占用率达到 {}",
    "{} wait, {} run and hold about {} of the pool each, and less than that is "
    "free (usage {}): another of their size does not fit, so L1 is near its limit "
    "though it is not full": (
        "{0} 个在排队，{1} 个在运行、各占池的约 {2}，而剩余比这更少（占用率 {3}）：再"
        "来一个同样大小的放不下，所以 L1 虽未满也接近极限"
    ),
    "state slots are full ({}) while only {} of the KV tokens are in use, and {} "
    "requests wait": "状态槽位已满（{0}），KV token 只用了 {1}，{2} 个请求在排队",
    "; they waited for {} minutes": "；排队持续 {} 分钟",
    "{}s cannot be read from this input": "从这份输入读不出{}",
    "{}s cannot be read here: this release does not export a counter": (
        "这里读不出{}：这个版本不导出计数器"
    ),
    "this release's log does not print {}s": "这个版本的日志不打印{}",
    "one running request alone fills the pool (usage {} or more in {} reports) and "
    "is thrown out {} times": (
        "单独一个运行中的请求就占满了池（{1} 份报告里占用率在 {0} 以上），并被挤出 "
        "{2} 次"
    ),
    "nothing runs, the pool is empty, and {} wait in {} reports: the next request "
    "is never let in": (
        "没有请求在运行，池是空的，而 {1} 份报告里有 {0} 个在排队：下一个请求始终进不"
        "来"
    ),
    "at most {} wait before the decode pool, usage at most {}": (
        "解码池前最多等 {0} 个，占用率最高 {1}"
    ),
    "state slots at {}, tokens at {}": "状态槽位 {0}，token {1}",
    "L2 is at most {} full, which does not matter: admission never reads it": (
        "L2 最多填到 {}，这无关紧要：准入从不看它"
    ),
    "{} of the prompt tokens are hits: the cache is not at fault": (
        "{} 的 prompt token 命中：不是缓存的错"
    ),
    "usage peaks at {}, not pinned": "占用率最高 {}，没有顶住",
    "no queue stands (at most {})": "没有持续的排队（最多 {}）",
    "look for 'Retract requests' in the engine's log of these minutes and give the "
    "log as well: a few such lines make it L1; a newer release counts them in "
    "num_retracted_requests_total": (
        "在这几分钟的引擎日志里找 'Retract requests'，把日志也给来：有几行就是 L1；较"
        "新的版本用 num_retracted_requests_total 计数"
    ),
    "if there is none, see whether prefill keeps up: prompt tokens that arrive in "
    "a second against those computed": (
        "若没有，看预填充是否跟得上：每秒到达的 prompt token 与计算的相比"
    ),
    "what eases it either way: limit what comes in (max_running_requests, a rate "
    "limit at the gateway); do not enlarge L2 for it, admission never reads it": (
        "无论哪种都能缓解：限制进来的量（max_running_requests、网关限流）；不要为此加"
        "大 L2，准入从不看它"
    ),
    "nothing was thrown out: admission keeps newcomers out in time, so look "
    "whether running requests fill the pool; if so more L1 or smaller tokens let "
    "more in": (
        "没有请求被挤出：准入及时挡住了新来的；看池是不是被运行中的请求占满，若是，加"
        " L1 或让 token 更小就能放进更多"
    ),
    "bring a longer window, or one from the worst hour: a retraction or preemption "
    "in it decides": "给更长的窗口，或最坏那一小时的：其中有撤回或抢占就能定论",
    "compare the prompt tokens that arrive a second with those computed: if "
    "prefill does not keep up either, more L1 alone does not end the queue": (
        "比较每秒到达与计算的 prompt token：若预填充也跟不上，只加 L1 消不掉队列"
    ),
    "two of the three signs point at L1; the third decides": (
        "三个征兆中有两个指向 L1；由第三个定论"
    ),
    "a cap on running requests of just that number would look the same": (
        "若运行请求数的上限恰为这个数，看起来也一样"
    ),
    "the engine says that a request is longer than the pool": (
        "引擎说有一个请求比池还长"
    ),
    "several requests run side by side": "有多个请求同时运行",
    "compare the prompts that wait with what is free: if they are no shorter, more "
    "L1 or smaller tokens (fp8 KV, tp) let more in": (
        "把排队的 prompt 与空闲空间比较：若不更短，加 L1 或让 token 更小（fp8 KV、tp）"
        "就能放进更多"
    ),
    "bring the engine's start lines: pool and max_num_seqs / max_running_requests "
    "decide between the two": (
        "给引擎的启动行：池与 max_num_seqs / max_running_requests 能在两者间定论"
    ),
    "refused: longer than the pool": "被拒：比池还长",
    "{}s are rare ({})": "{0}很少（{1} 次）",
    "{} of the prefill batches take a whole chunk of {}": (
        "{0} 的预填充批次用满了 {1} 的 chunk"
    ),
    "prompt throughput is level at {} tokens/s, generation at {}": (
        "prompt 吞吐稳定在 {0} tokens/s，生成为 {1}"
    ),
    "the configured maximum {}": "正是配置的上限 {}",
    "{} requests run, {}, in {} of the reports in which others wait": (
        "有人排队的报告中，{2} 都是 {0} 个请求在运行（{1}）"
    ),
    "{}: L1 has room": "{}：L1 有空间",
    "{} runs while {} wait in all {} reports, and no prompt is computed": (
        "{2} 份报告里都是 {0} 个在运行、{1} 个在排队，而没有计算任何 prompt"
    ),
    "{}; either only so many may run, or the next request needs more than the free "
    "{}": "{0}；要么只允许运行这么多，要么下一个请求需要的多于空闲的 {1}",
    "{} wait; {}, and {}": "{0} 个在排队；{1}，{2}",
    "{} wait; while they do, usage is below {} half the time and full (at most {}) "
    "for moments only, {}s: {}": (
        "{0} 个在排队；其间有一半时间占用率低于 {1}，只偶尔满（最高 {2}），{3} {4} 次"
    ),
    "{} wait; {}; {}, running is below its cap and prefill is not busy: each "
    "request reserves more room than it uses": (
        "{0} 个在排队；{1}；{2}，运行数低于上限，预填充也不忙：每个请求预留的空间多于"
        "它用的"
    ),
    "usage reaches {}, {} reports have a queue": "占用率达到 {0}，{1} 份报告有排队",
    "all {} allowed run": "允许的 {} 个都在运行",
    "a prefill takes {} of a chunk on average: prompts are computed": (
        "一次预填充平均用掉 chunk 的 {}：prompt 在计算"
    ),
    "at most {} of {} allowed run": "允许 {1} 个，最多运行 {0} 个",
    "{} {}s": "{1} {0} 次",
    "prompt tokens grow by a {}{} a scrape, generated ones by {}": (
        "每次抓取之间，prompt token {0}增加 {1}，生成的增加 {2}"
    ),
    "level ": "稳定地",
    "new_token_ratio is {}": "new_token_ratio 为 {}",
    "{} run beside the queue": "排队的同时有 {} 个在运行",
    "one and the same number": "始终是同一个数",
    "nothing was thrown out": "没有请求被挤出",
    "hardly anything runs": "几乎没有请求在运行",
    "the number of running requests moves freely": "运行请求数自由变动",
    "no queue stands": "没有持续的排队",
    "somebody waits in most reports": "大多数报告里都有请求在排队",
    "prefill is not at a ceiling": "预填充没有到顶",
    "prompts are computed all the time, and nothing else explains the queue": (
        "prompt 一直在计算，没有别的能解释排队"
    ),
    "requests were retracted, or may be": "有请求被撤回，或可能被撤回",
    "add prefill compute (replicas, TP), or limit what comes in: prompts arrive "
    "faster than they are computed": (
        "增加预填充算力（副本、TP），或限制进来的量：prompt 到得比算得快"
    ),
    "or raise the hit rate, if prompts share anything: kvlab diagnose on a request "
    "trace says how much": (
        "若 prompt 有共同部分，提高命中率：对请求 trace 跑 kvlab diagnose 能知道有多少"
    ),
    "watch usage as you do: it nears the pool at times, so L1 may be next": (
        "同时盯着占用率：它有时接近池满，下一个瓶颈可能是 L1"
    ),
    ", and prompts are being computed": "，而且正在计算 prompt",
    "more than {} schedulers: the rest is one": "调度器超过 {} 个：其余合为一个",
    "{} holds damaged lines; it may be cut short": "{} 有损坏的行；可能被截断",
    "{} servers are in this input, the verdict is on {}: {}": (
        "输入里有 {0} 台服务器，结论说的是 {1}：{2}"
    ),
    "{} damaged lines were counted and not trusted, the first at {}": (
        "{0} 行损坏，计了数但不采信，第一处在 {1}"
    ),
    "the clock goes back {} times: if lines of several servers are mixed here, "
    "give each server's log alone": (
        "时钟倒退了 {} 次：若这里混有多台服务器的行，请分别给出每台的日志"
    ),
    "also seen: {}": "也符合：{}",
    "the newest line comes first: read from the end": "最新的行在最前：从末尾读起",
    "this run has no clock: reports are counted, not timed": (
        "这次运行没有时钟：报告按次序计数"
    ),
    "an endless cache could give {} of the prompt tokens": (
        "无限大的缓存可给出 {} 的 prompt token"
    ),
    "a trace alone says what the load could reuse, not what an engine did": (
        "trace 本身只能说负载可复用多少，说不出引擎做了什么"
    ),
    "its rows have no prefix identity, so no hit rate can be derived": (
        "它的行没有前缀标识，推不出命中率"
    ),
    "{} is full while {} of {} ranks stay at usage {} or below; an average over "
    "ranks hides it": (
        "{0} 满了，而 {2} 个 rank 中有 {1} 个的占用率一直不超过 {3}；对 rank 取平均会"
        "把它藏起来"
    ),
    "no rule explains what this input shows": "没有规则能解释这份输入所示",
}  # fmt: skip
