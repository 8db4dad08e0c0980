"""What is each kind of event called in plain words?

Beside the name that the engine gives it, for whoever looks for one without knowing that
name: the filter of the player finds a kind by either.
Left out: what a kind means (meanings.py), what one event did (phrases.py).
"""

from __future__ import annotations

from .theme import Words

# fmt: off
_SHARED: dict[str, Words] = {
    "arrive": Words("a request arrives", "请求到达"),
    "output": Words("a token out", "输出一个 token"),
    "finish": Words("a request is done", "请求完成"),
    "drop": Words("a request leaves undone", "请求未完成即离开"),
    "sent": Words("a request was sent", "请求发出"),
    "clock": Words("nothing to run", "无事可做"),
    "forward": Words("a step that prefills", "含预填充的一步"),
    "decode": Words("decode steps", "解码若干步"),
    "step": Words("an operation begins", "一个操作开始"),
    "toolarge": Words("too large for the pool", "超过整个池"),
}

KIND_WORDS: dict[str, Words] = {
    **_SHARED,
    "alloc": Words("slots are taken", "取走槽位"),
    "free": Words("slots come back", "槽位归还"),
    "sortfree": Words("the free list is sorted", "空闲列表排序"),
    "touch": Words("access times are set", "更新访问时间"),
    "add": Words("a node joins the tree", "节点挂到树上"),
    "split": Words("a node splits", "节点分裂"),
    "hit": Words("a hit is counted", "计一次命中"),
    "raise": Words("a priority rises", "优先级升高"),
    "lock": Words("a path is locked", "锁住路径"),
    "unlock": Words("a path is unlocked", "路径解锁"),
    "hostlock": Words("a copy on L2 is locked", "锁住 L2 副本"),
    "hostunlock": Words("a copy on L2 is unlocked", "L2 副本解锁"),
    "delete": Words("a node is lost: no copy", "节点丢失：没有副本"),
    "demote": Words("a node leaves L1, its copy stays", "降级：离开 L1，副本留下"),
    "restore": Words("a node gets computed slots", "节点接手算好的槽位"),
    "backup": Words("a copy to L2 sets off", "写往 L2 开始"),
    "backupdone": Words("a copy to L2 has arrived", "写往 L2 完成"),
    "load": Words("a load to L1 sets off", "取回 L1 开始"),
    "loaddone": Words("a load to L1 has arrived", "取回 L1 完成"),
    "evicthost": Words("a node leaves L2: lost", "离开 L2：永久丢失"),
    "reclaim": Words("a copy on L2 is given up", "让出 L2 副本"),
    "row": Words("a request gets slots", "请求记下槽位"),
    "cached": Words("the tree owns a request's tokens", "请求的 token 归树"),
    "start": Words("a prefill starts", "预填充开始"),
    "grow": Words("one token more is written", "多写一个 token"),
    "batch": Words("the batch is reordered", "批次重排"),
    "queue": Words("the queue is reordered", "队列重排"),
    "retract": Words("a request gives up its KV", "撤回请求"),
    "match": Words("a prefix is looked up", "查找前缀"),
    "insert": Words("tokens go into the tree", "向树插入"),
    "cutprompt": Words("a prompt is set apart", "单独划出 prompt"),
    "makeroom": Words("room must be made", "需要腾位"),
    "evict": Words("an eviction begins", "开始逐出"),
    "victim": Words("who is evicted, and how", "轮到谁、怎样逐出"),
    "evicted": Words("what an eviction freed", "逐出腾出多少"),
    "trybackup": Words("is it backed up?", "备份吗？"),
    "sendwrites": Words("writes become one copy", "合成一次拷贝"),
    "loadback": Words("does it come back from L2?", "从 L2 取回吗？"),
    "candidate": Words("who is tried next", "轮到谁尝试"),
    "admit": Words("is it admitted?", "准入吗？"),
    "closeround": Words("the round is over", "本轮结束"),
    "prefill": Words("what is computed", "计算多少"),
    "chunk": Words("a chunk goes on", "继续一块"),
    "decoderoom": Words("does the next step fit?", "下一步放得下吗？"),
    "pickretract": Words("who has to give way", "谁让位"),
    "ratio": Words("the promised share changes", "预留比例改变"),
    "compared": Words("contents are compared", "核对内容"),
    "wrong": Words("a content is wrong", "内容有误"),
}

BLOCK_KIND_WORDS: dict[str, Words] = {
    **_SHARED,
    "take": Words("blocks are taken", "取走块"),
    "forget": Words("a hash is lost", "失去哈希"),
    "register": Words("a hash is registered", "登记哈希"),
    "share": Words("one owner more", "多一个持有者"),
    "release": Words("one owner less", "少一个持有者"),
    "hold": Words("a block table grows", "块表变长"),
    "vacate": Words("a block table is given up", "交出块表"),
    "compute": Words("tokens are computed", "计算 token"),
    "run": Words("a request runs", "请求开始运行"),
    "preempt": Words("a request is preempted", "请求被抢占"),
    "defer": Words("a request is put aside", "请求暂缓"),
    "loaded": Words("what was waited for has come", "等待的内容已到"),
    "pin": Words("blocks of L2 are held", "留住 L2 的块"),
    "copyout": Words("a store to L2 sets off", "存储到 L2 开始"),
    "copiedout": Words("a store to L2 is done", "存储到 L2 完成"),
    "copyin": Words("a load from L2 sets off", "从 L2 取回开始"),
    "copiedin": Words("a load from L2 is done", "从 L2 取回完成"),
    "chunkhold": Words("readers of chunks", "分块的读者"),
    "chunkmove": Words("chunks change places", "分块换位"),
    "chunkaim": Words("the CPU pool's aim", "CPU 池的目标"),
    "lookup": Words("a prefix is looked up", "查找前缀"),
    "slots": Words("does it get its blocks?", "得到块吗？"),
    "offer": Words("is it stored on L2?", "存入 L2 吗？"),
    "schedule": Words("its share of the step", "分得多少 token"),
    "stop": Words("nobody behind it is tried", "不再尝试后面的"),
    "pickvictim": Words("who has to give way", "谁让位"),
}
# fmt: on
"""By kind, as the player names them."""
