"""What are the causes and their next steps in Chinese?

Keyed by the sentence in English (causes.py).
Left out: what the rules say (zh_pool.py, zh_cache.py, zh_input.py).
"""

from __future__ import annotations

CAUSES_ZH: dict[str, str] = {
    "add L1: more or larger GPUs, a higher mem_fraction_static or "
    "gpu_memory_utilization, TP/DP over more cards": (
        "加 L1：更多或更大的 GPU，调高 mem_fraction_static 或 gpu_memory_utilization"
        "，把 TP/DP 铺到更多卡上"
    ),
    "or make each token smaller (fp8 KV), or limit what comes in "
    "(max_running_requests, max_num_seqs, a rate limit at the gateway)": (
        "或者让每个 token 更小（fp8 KV），或者限制进来的量（max_running_requests、"
        "max_num_seqs、网关限流）"
    ),
    "do not enlarge L2 for this: admission never reads it": (
        "不要为此加大 L2：准入从不看它"
    ),
    "L1 is the limit: the pool is full, requests wait, running ones are retracted": (
        "瓶颈是 L1：池满，请求排队，运行中的请求被撤回"
    ),
    "L1 is the limit: the pool is full, requests wait, running ones are preempted": (
        "瓶颈是 L1：池满，请求排队，运行中的请求被抢占"
    ),
    "one request is larger than the pool can ever hold": (
        "有一个请求比整个池还大，永远放不下"
    ),
    "one rank is full while others have room": "一个 rank 满了，其他 rank 还有空间",
    "the decode side's pool is full and its backlog stands before it": (
        "解码侧的池满了，积压停在它前面"
    ),
    "prefill compute is the limit; L1 has room": "瓶颈是预填充的算力；L1 有空间",
    "prompts that should share their beginning do not": (
        "本该共享开头的 prompt 没有共享"
    ),
    "L2 is asked and never hits": "查了 L2，从不命中",
    "what returns has been evicted before it does": (
        "再次到来的内容，在它回来之前已被逐出"
    ),
    "L2 is written and never read": "L2 只写不读",
    "requests wait behind L2 loads while L1 has room": (
        "L1 有空间，请求却排在 L2 取回之后"
    ),
    "copies between L1 and L2 hold the pool: the link is too slow for them": (
        "L1 与 L2 之间的拷贝占住了池：链路跟不上"
    ),
    "the host tier drops or refuses what it is given": "主机层丢弃或拒收交给它的内容",
    "L2 gives back less than it had found": "L2 还回来的比它查到的少",
    "switch L2 off until this is mended: where the engine does not compute again what "
    "failed to load, answers rest on KV that is not there": (
        "修好之前关掉 L2：如果引擎不重算没取回的部分，回答就建立在不存在的 KV 上"
    ),
    "what was found was gone before it was read: enlarge L2, or look at the disk or "
    "remote store behind it": (
        "查到的内容在读取之前就没了：加大 L2，或看它背后的磁盘或远端存储"
    ),
    "update the engine and LMCache together, and report the lines upstream": (
        "把引擎和 LMCache 一起升级，并把这些行上报"
    ),
    "the account counts tokens twice": "账目把 token 数了两遍",
    "the account has lost tokens": "账目丢了 token",
    "tokens stay locked with nothing running": "没有请求在跑，token 仍被锁定",
    "the pool stays in use with nothing running or waiting": (
        "既没有运行也没有排队，池却仍被占用"
    ),
    "requests end and the pool does not get their tokens back": (
        "请求结束了，池却没有收回它们的 token"
    ),
    "the engine did not start: too little memory is left for KV": (
        "引擎没有启动：留给 KV 的显存太少"
    ),
    "the engine did not start: the host has less memory free than L2 asks for": (
        "引擎没有启动：主机空闲内存少于 L2 所要"
    ),
    "the pool refused tokens that the scheduler had counted on, and the engine ended": (
        "调度器以为有的 token，池却拒绝分配，引擎因此退出"
    ),
    "lower hicache_size or hicache_ratio: each rank of the node takes a pool of that "
    "size, and a container may have less than the host": (
        "调低 hicache_size 或 hicache_ratio：该节点每个 rank 各占一个这么大的池，而容"
        "器可用的可能比主机少"
    ),
    "memory set aside as huge pages counts as taken; see what else fills it": (
        "预留为大页的内存算作已占用；再看还有什么占着"
    ),
    "admission and allocator disagree: with pages of more than one token each request "
    "takes whole pages (requests times page_size), and running ones may have to be "
    "retracted first; update, report these numbers": (
        "准入与分配器的账不一致：页大于一个 token 时，每个请求要占整页（请求数乘 "
        "page_size），而且可能得先撤回运行中的请求；升级，并上报这些数字"
    ),
    "until then lower max_running_requests, or page_size": (
        "在此之前调低 max_running_requests 或 page_size"
    ),
    "this is the KV pool and no CUDA out of memory: a lower mem_fraction_static makes "
    "it worse": (
        "这是 KV 池，不是 CUDA 显存耗尽：调低 mem_fraction_static 只会更糟"
    ),
    "the engine ran out of device memory outside the KV pool": (
        "引擎在 KV 池之外耗尽了显存"
    ),
    "requests run and no token is made: the engine stands": (
        "有请求在运行，却一个 token 也没有产出：引擎停住了"
    ),
    "a step took, or steps take, far longer than they should; it is no lack of KV": (
        "有一步或每一步都比应有的慢得多；不是缺 KV"
    ),
    "the first request of a shape compiles kernels or captures graphs: send one of "
    "each length before traffic, or compile ahead": (
        "某种形状的第一个请求会触发内核编译或图捕获：接流量前每种长度先发一个，或预先编"
        "译"
    ),
    "if it comes again, take a stack dump within it (py-spy dump --pid PID) and look "
    "at what else uses the GPU and the host": (
        "若再出现，就在那期间抓栈（py-spy dump --pid PID），并看还有什么在用 GPU 和主"
        "机"
    ),
    "requests were lost between prefill and decode: their KV did not come over": (
        "请求在预填充与解码之间丢失：它们的 KV 没有传过来"
    ),
    "read the other side's log of the same minute: the reason stands behind "
    "KVTransferError, or that worker died or was started again": (
        "看另一侧同一分钟的日志：原因在 KVTransferError 之后，或者那个 worker 退出或重"
        "启过"
    ),
    "time-outs beside a long prefill queue mean that prefill is late and not the link: "
    "add prefill workers, or raise SGLANG_DISAGGREGATION_WAITING_TIMEOUT if a late "
    "first token will do": (
        "超时而预填充队列很长，说明是预填充来不及，不是链路：加预填充 worker；若首 "
        "token 晚些也行，就调大 SGLANG_DISAGGREGATION_WAITING_TIMEOUT"
    ),
    "else look at the link: --disaggregation-ib-device, RDMA inside the container, the "
    "same release and page_size on both sides": (
        "否则看链路：--disaggregation-ib-device、容器里的 RDMA、两侧的版本与 page_size "
        "是否相同"
    ),
    "the engine ended with an error of its own": "引擎因自身的错误退出",
    "slots hold other contents than their prefix: answers are wrong": (
        "槽位里的内容与其前缀不符：回答是错的"
    ),
    "recurrent-state slots are the limit, not KV tokens": (
        "瓶颈是循环状态的槽位，不是 KV token"
    ),
    "the cap on running requests is the limit; L1 has room": (
        "瓶颈是运行请求数的上限；L1 有空间"
    ),
    "reservations are too large: requests wait beside free room": (
        "预留太大：旁边有空间，请求却在排队"
    ),
    "the cache could be evicted and is not": "缓存可以逐出，却没有逐出",
    "idle sessions hold the pool": "空闲会话占住了池",
    "one runner or one refused request blocks those behind it": (
        "一个运行中的请求，或一个被拒的请求，挡住了后面的"
    ),
    "a burst came and drained; it shows no lasting fault": (
        "来过一次突发，已排空；看不出持续的故障"
    ),
    "requests wait, and this input does not show why": (
        "请求在排队，而这份输入看不出原因"
    ),
    "one reading shows no growth": "只有一次读数，看不出增长",
    "a request trace says nothing about an engine": "请求 trace 说不出引擎的情况",
    "too much of the input is cut or damaged": "输入被截断或损坏的太多",
    "the pool is full and requests wait; the third sign is missing": (
        "池满，请求在排队；缺第三个征兆"
    ),
    "no report of the engine's state is in the input": "输入里没有引擎状态的报告",
    "nothing to fix": "没有要修的",
    "nothing to fix: an isolated retraction is normal": (
        "没有要修的：偶尔一次撤回是正常的"
    ),
    "find the largest request (input + max_new_tokens) and compare it with the pool": (
        "找出最大的请求（输入 + max_new_tokens），与池比较"
    ),
    "lower context_len / max_model_len or the client's max tokens below the pool, "
    "or raise the pool above the request": (
        "把 context_len / max_model_len 或客户端的最大 token 数降到池以下，或把池加到"
        "请求以上"
    ),
    "look at how requests are routed to data-parallel ranks; balance by tokens, "
    "not round robin or session affinity alone": (
        "看请求怎样路由到各数据并行 rank；按 token 均衡，不要只用轮询或会话亲和"
    ),
    "more L1 does not cure this: the other ranks have room": (
        "加 L1 治不了：其他 rank 还有空间"
    ),
    "add decode workers or L1 on them; the prefill side is not the limit": (
        "增加解码节点或其 L1；预填充侧不是瓶颈"
    ),
    "watch #prealloc-req, #transfer-req and #retracted-req on decode workers, not "
    "#queue-req": (
        "在解码节点上看 #prealloc-req、#transfer-req 和 #retracted-req，不要看 "
        "#queue-req"
    ),
    "add prefill compute (replicas, TP) or a larger chunk; L1 has room": (
        "增加预填充算力（副本、TP）或加大 chunk；L1 有空间"
    ),
    "or raise the hit rate so that fewer prompt tokens are computed": (
        "或提高命中率，让要计算的 prompt token 更少"
    ),
    "compare two prompts that should share: look for timestamps, ids, salts or a "
    "changed template near the beginning": (
        "对比两条本该共享的 prompt：看开头附近有没有时间戳、id、盐值或改过的模板"
    ),
    "kvlab diagnose on a request trace says how much could be shared at best": (
        "对请求 trace 跑 kvlab diagnose，能知道最多可共享多少"
    ),
    "check that all processes hash alike (PYTHONHASHSEED), share chunk size, model "
    "name and TP layout, and that L2 is asked under the keys it was stored with": (
        "确认各进程哈希一致（PYTHONHASHSEED），chunk 大小、模型名、TP 布局相同，并且"
        "查 L2 用的键就是写入时的键"
    ),
    "until then switch L2 off: storing costs time and gives nothing": (
        "在此之前先关掉 L2：写入耗时而无收益"
    ),
    "give the cache more room (L2, a larger host pool) or route users to the "
    "replica that holds their prefix": (
        "给缓存更多空间（L2、更大的主机池），或把用户路由到持有其前缀的副本"
    ),
    "kvlab replay on a request trace shows the hit rate for any L1 and L2 size": (
        "对请求 trace 跑 kvlab replay，可看任意 L1、L2 大小下的命中率"
    ),
    "check the load-back threshold and that the prefixes which return are the ones "
    "backed up (hybrid models may not support loading back)": (
        "检查取回的阈值，以及再次到来的前缀是不是备份过的那些（混合模型可能不支持取"
        "回）"
    ),
    "compare with a run without the host tier: its copies cost bandwidth": (
        "与不开主机层的运行对比：拷贝要占带宽"
    ),
    "raise the concurrency or bandwidth of L2 loads (connector threads, link, NUMA)": (
        "提高 L2 取回的并发或带宽（connector 线程、链路、NUMA）"
    ),
    "or load less: a threshold below which recomputing is faster": (
        "或少取回：设一个阈值，低于它时重算更快"
    ),
    "measure the link (host pinning, NUMA, PCIe width); more L1 fills as well": (
        "测链路（主机锁页、NUMA、PCIe 宽度）；加 L1 也照样会被占满"
    ),
    "write less: write_through_selective or write_back instead of write_through, "
    "or no L2 until the link keeps up": (
        "少写：用 write_through_selective 或 write_back 代替 write_through，链路跟上"
        "之前也可不开 L2"
    ),
    "compare with a run without the host tier": "与不开主机层的运行对比",
    "enlarge the host pool (hicache_ratio, hicache_size, the offload's CPU bytes) "
    "or write more selectively (write_through_selective)": (
        "加大主机池（hicache_ratio、hicache_size、offload 的 CPU 字节数），或更有选择"
        "地写（write_through_selective）"
    ),
    "pages were freed twice: look at abort and retraction paths of this release; "
    "update, and report the numbers upstream": (
        "页被释放了两次：查这个版本的中止与撤回路径；升级，并把数字报给上游"
    ),
    "tokens were lost: look at aborted requests and chunked prefill of this "
    "release; update, and report the numbers upstream": (
        "token 丢了：查这个版本的中止请求与分块预填充；升级，并把数字报给上游"
    ),
    "a lock was taken and not given back: look for aborted requests or copies in "
    "flight that never ended; update, restart, report": (
        "加了锁没有还：查被中止的请求，或从未结束的在途拷贝；升级、重启、上报"
    ),
    "take two scrapes of the idle server a minute apart; if usage stays, restart "
    "and report the release": (
        "在服务器空闲时隔一分钟抓两次指标；若占用率不降，重启并上报版本"
    ),
    "let the server go idle and look at the usage: tokens that stay are lost": (
        "让服务器空下来再看占用率：还在的 token 就是丢了的"
    ),
    "look at aborted requests (clients that time out); restart to get the pool "
    "back, update, and report the release": (
        "看被中止的请求（客户端超时）；重启以收回池，升级，并上报版本"
    ),
    "shorten the context (context_length / max_model_len), spread over more GPUs "
    "(tp), or quantize the weights": (
        "缩短上下文（context_length / max_model_len），铺到更多 GPU（tp），或量化权重"
    ),
    "or give the pool a larger share (mem_fraction_static, "
    "gpu_memory_utilization), if other processes do not use the GPU": (
        "若没有别的进程用这块 GPU，给池更大的份额（mem_fraction_static、"
        "gpu_memory_utilization）"
    ),
    "kvlab capacity MODEL --accelerator NAME --tp N says what fits": (
        "kvlab capacity MODEL --accelerator NAME --tp N 会说放得下多少"
    ),
    "the pool is allocated once and is not what grew: lower mem_fraction_static / "
    "gpu_memory_utilization, or the chunk (chunked_prefill_size, "
    "max_num_batched_tokens), to leave room for activations": (
        "池只分配一次，涨的不是它：调低 mem_fraction_static / gpu_memory_utilization"
        "，或减小 chunk（chunked_prefill_size、max_num_batched_tokens），给激活留空间"
    ),
    "look for another process on that GPU": "看那块 GPU 上有没有别的进程",
    "this is no lack of KV: take a stack dump of the scheduler and the workers "
    "(py-spy dump --pid PID) before the restart": (
        "不是缺 KV：重启之前先抓调度器和各 worker 的栈（py-spy dump --pid PID）"
    ),
    "look at the GPUs (nvidia-smi, Xid in dmesg) and at collectives between ranks "
    "that never end": (
        "看 GPU（nvidia-smi、dmesg 里的 Xid），以及 rank 间从未结束的集合通信"
    ),
    "read the traceback above that line; what the reports show before it need not "
    "be the reason": "读那一行上面的 traceback；之前报告所示未必是原因",
    "step to the event that wrote the slot last: kvlab play RUN -o out.html "
    "colours the pools by contents": (
        "走到最后写该槽位的事件：kvlab play RUN -o out.html 会按内容给池上色"
    ),
    "record the same run without the fault and kvlab compare both: the first event "
    "that differs is where they part": (
        "录一份没有故障的同样运行，再用 kvlab compare 对比：第一个不同的事件就是分岔"
        "处"
    ),
    "raise the number of state slots (max_mamba_cache_size or the state's share of "
    "memory); KV tokens have room": (
        "增加状态槽位数（max_mamba_cache_size 或状态所占的显存份额）；KV token 还有空"
        "间"
    ),
    "raise max_running_requests / max_num_seqs if latency allows; L1 has room": (
        "若时延允许，调高 max_running_requests / max_num_seqs；L1 有空间"
    ),
    "lower schedule_conservativeness, or send a true max_new_tokens: each request "
    "reserves room for all it might write": (
        "调低 schedule_conservativeness，或传真实的 max_new_tokens：每个请求都为可能"
        "写出的全部内容预留空间"
    ),
    "the cache could be given up and is not: take a stack dump of the scheduler, "
    "check L2 writes that never end, update, restart": (
        "缓存可以让出却没有让出：抓调度器的栈，查从未结束的 L2 写入，升级、重启"
    ),
    "close idle streaming sessions or give them a timeout; more memory only delays "
    "this": "关闭空闲的流式会话，或给它们设超时；加内存只是推迟",
    "look at max_num_seqs / max_running_requests and at the size of the request "
    "that is next: one of the two keeps the rest out": (
        "看 max_num_seqs / max_running_requests，以及下一个请求的大小：是两者之一把其"
        "余的挡在外面"
    ),
    "take a log over a longer time, or one from the next burst: a queue that "
    "drains by itself needs no cure unless its latency hurts": (
        "取更长时间的日志，或下一次突发的日志：自己会排空的队列不用治，除非时延不可接"
        "受"
    ),
    "bring more: two scrapes 30-60 s apart while requests wait, and the engine's "
    "start lines (pool, limits)": (
        "再给一些：排队时隔 30–60 秒的两次指标，以及引擎的启动行（池、上限）"
    ),
    "take a second scrape 30-60 s later and pass both": (
        "30–60 秒后再抓一次指标，两次一起给"
    ),
    "bring a log or two scrapes of the engine to learn what it did": (
        "要知道引擎做了什么，给日志或两次指标"
    ),
    "kvlab replay on this trace shows what a cache of any size would make of it": (
        "对这份 trace 跑 kvlab replay，可看任意大小的缓存会怎样"
    ),
    "take the log again without a terminal in between (docker logs > file, kubectl "
    "logs > file)": (
        "重新取日志，中间不要经过终端（docker logs > file、kubectl logs > file）"
    ),
    "bring the third sign: the engine's log with its retract lines (SGLang), or "
    "two /metrics scrapes with num_preemptions_total (vLLM)": (
        "补上第三个征兆：带撤回行的引擎日志（SGLang），或含 num_preemptions_total 的"
        "两次 /metrics（vLLM）"
    ),
    "an idle vLLM prints no stats line at INFO: bring a log under load, or two "
    "scrapes of /metrics": (
        "空闲的 vLLM 在 INFO 级别不打统计行：给有负载时的日志，或两次 /metrics"
    ),
    "nothing to fix; keep this as a baseline": "没有要修的；留作基线",
    "nothing to fix: a retraction now and then is how the engine uses its pool": (
        "没有要修的：偶尔撤回正是引擎用足池的方式"
    ),
}  # fmt: skip
