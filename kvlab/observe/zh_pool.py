"""What do the rules of the pool, its queue and its leaks say in Chinese?

Keyed by the sentence in English, as it stands where it is said; `{0}` is what fills
its first gap.
Left out: hits and L2 (zh_cache.py), the input and the server (zh_input.py), causes
(zh_causes.py), single words (zh.py).
"""

from __future__ import annotations

POOL_ZH: dict[str, str] = {
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
    "{} requests run, the most that the engine's {} state slots allow ({} each), and "
    "{} wait": (
        "{0} 个请求在运行，引擎的 {1} 个状态槽位最多允许这么多（每个请求 {2} 个），"
        "{3} 个在排队"
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
    "add prefill compute (replicas, TP) or a larger chunk, for as long as the pool has "
    "room": "增加预填充算力（副本、TP）或加大 chunk，池有空间时有用",
    "L1 is next: bring the minutes that follow; once the pool is full, faster prefill "
    "lets nobody in": (
        "接下来是 L1：再给随后几分钟的日志；池一满，预填充再快也放不进人"
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
}  # fmt: skip
