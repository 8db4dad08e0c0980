"""What is said in Chinese of an input and of the server that left it?

Of a damaged or short input, of a server that stops or stands; and what several rules
say alike. Keyed as zh_pool.py is.
"""

from __future__ import annotations

INPUT_ZH: dict[str, str] = {
    " over {} s": "，历时 {} 秒",
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
    "{} s pass between a prefill and the next report of what runs; {} s are usual "
    "between two such reports": (
        "一次预填充到下一份运行报告之间过了 {0} 秒；两份运行报告之间通常是 {1} 秒"
    ),
    "in {} reports{}, {} requests run and not one token is made; then the engine goes "
    "on": (
        "有 {0} 份报告{1}里，{2} 个请求在运行却一个 token 也没有产出；之后引擎又继续"
    ),
    ", over {} s": "，历时 {} 秒",
    "each running request makes {} tokens a second (median of {} reports), and no "
    "prompt is computed beside them": (
        "每个运行中的请求每秒产出 {0} 个 token（{1} 份报告的中位数），旁边也没有计算 "
        "prompt"
    ),
    "look at what a step waits for: weights or KV offloaded to the CPU, tensor "
    "parallel over PCIe or a network, eager mode, clocks (nvidia-smi -q -d CLOCK)": (
        "看一步在等什么：权重或 KV 卸载到 CPU、跨 PCIe 或网络的张量并行、eager 模式、"
        "GPU 时钟（nvidia-smi -q -d CLOCK）"
    ),
    "profile one step; more L1 or L2 does not make it faster": (
        "剖析一步；加 L1 或 L2 不会让它变快"
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
    "requests were given up after {} s": "等了 {} 秒后放弃了请求",
    "at most {} wait, in {} of the reports": "最多 {0} 个在排队，占报告的 {1}",
    "somebody waits in most reports": "大多数报告里都有请求在排队",
    "{} of the prompt tokens are hits": "{} 的 prompt token 命中",
    "no {} inside the input": "输入期间没有{}",
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
    "and {} more": "另有 {} 个",
    "{} to {}": "{0} 到 {1}",
    "usage climbs from {} to {} in {} s to the very end: at that pace the pool is "
    "full in {} s, unless requests end first": (
        "占用率在 {2} 秒里从 {0} 一路升到 {1}，直到末尾：照此速度再过 {3} 秒池就满，除"
        "非有请求先结束"
    ),
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
    "counters fall {} times: the engine started anew, or the scrapes are out of order "
    "or of several servers; give each server a folder": (
        "计数器回落了 {} 次：引擎重启过，或抓取的次序不对，或混有多台服务器；"
        "请给每台一个文件夹"
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
    "{} ran full while {} of {} ranks stayed at usage {} or below; an average over "
    "ranks hides it": (
        "{0} 满了，而 {2} 个 rank 中有 {1} 个的占用率一直不超过 {3}；对 rank 取平均会"
        "把它藏起来"
    ),
    "no rule explains what this input shows": "没有规则能解释这份输入所示",
}  # fmt: skip
