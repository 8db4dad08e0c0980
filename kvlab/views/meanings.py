"""What does a change mean, to who meets it for the first time?

One sentence a kind: what it is good for or what follows from it. What it did in numbers
says phrases.py; why it was done, the card of the decision behind it.
Left out: decisions, whose rules say it (why_cache.py, why_schedule.py).
"""

from __future__ import annotations

from .theme import Words

# fmt: off
MEANINGS: dict[str, Words] = {
    "alloc": Words(
        "Slots leave the free list. Until the tree or a request owns them, they count "
        "as held.",
        "槽位从空闲列表取出；在归树或归请求所有之前，计为树外持有。"),
    "free": Words(
        "Slots nobody needs go back to the free list.",
        "没有人再需要的槽位回到空闲列表。"),
    "free insert": Words(
        "The tree had these tokens already, so the second copy goes back.",
        "树里已有这些 token，多余的一份退回空闲列表。"),
    "free victim": Words(
        "The victim's slots can be given to somebody else now.",
        "被逐出者的槽位现在可以给别人。"),
    "free pickretract": Words(
        "What the tree does not own of it goes back; the rest stays cached.",
        "不归树所有的部分退回空闲列表；其余仍在缓存。"),
    "free gone": Words(
        "The engine keeps no note of what it freed. Slots that are free, or somebody "
        "else's by now, go on the free list again.",
        "引擎不记录已释放过什么：已空闲的、已归别人的槽位又进了空闲列表。"),
    "sortfree": Words(
        "Free slots in ascending order make later allocations contiguous.",
        "空闲列表按升序排好，之后的分配更连续。"),
    "touch": Words(
        "The access time decides who is coldest. It counts walks; it is no clock.",
        "访问时间决定谁最冷；它是计数，不是时钟。"),
    "add": Words(
        "Tokens the tree did not have become a new leaf, which owns their slots.",
        "树里没有的 token 成为新叶子，由它持有这些槽位。"),
    "split": Words(
        "What was looked up ends or parts inside the node, so the node is cut there. "
        "Both parts keep lock and hits; no byte moves.",
        "查找的内容在节点中间结束或分岔，于是在此切开。两段都保留锁和命中；数据不动。"),
    "hit": Words(
        "Inserts count hits, matches do not. Enough hits make a node worth a copy on "
        "L2.",
        "插入计命中，匹配不计。命中够多的节点才值得在 L2 留副本。"),
    "raise": Words(
        "A higher priority is evicted later.", "优先级越高，越晚被逐出。"),
    "lock": Words(
        "lock_ref counts on every node up to the root. Above 0, nothing of the path "
        "can be evicted.",
        "lock_ref 沿路径一直加到根；大于 0 时整条路径都不可逐出。"),
    "lock candidate": Words(
        "While a request is tried, its path must stay: its admission locks it. What L2 "
        "has of it is locked by the admission and by the load, each for itself, so the "
        "same lock comes twice; it counts before L1 has the node.",
        "尝试请求期间，它的路径必须留下：准入锁住它。L2 上的部分由准入和取回各锁一次，"
        "所以同样的锁出现两次；节点还不在 L1 时也计数。"),
    "lock loadback": Words(
        "The load locks the path until it has arrived; a request it is for locks it "
        "once more, until it is done.",
        "取回锁住路径，直到到达；若是为某个请求而取，请求再锁一次，直到完成。"),
    "unlock": Words(
        "What has come down to lock_ref 0 stays cached, and may be evicted.",
        "lock_ref 回到 0 的部分仍在缓存中，但可以逐出。"),
    "hostlock": Words(
        "While it is read, the copy on L2 must not be dropped.",
        "读取期间，L2 的副本不能删除。"),
    "hostlock candidate": Words(
        "The load will read this copy, so it must not be dropped while room is made on "
        "L1. The request's admission and the load lock it, each for itself.",
        "取回要读这份副本，L1 腾位期间不能删除。请求的准入和取回各锁一次。"),
    "hostunlock": Words(
        "The copy on L2 has been read; it may be dropped again.",
        "L2 的副本已读完，又可以删除。"),
    "delete": Words(
        "No copy is left anywhere: the next request with this prefix computes it "
        "again.",
        "哪里都没有副本了：下一个有此前缀的请求要重新计算。"),
    "demote": Words(
        "L2 has the bytes already, so L1 gives up its slots at once.",
        "L2 早有这些数据，L1 立刻让出槽位。"),
    "demote gone": Words(
        "The engine believes that L2 has the bytes, and copies nothing. L2 has not: "
        "the node left the tree before.",
        "引擎以为 L2 还有这些数据，不再拷贝；其实没有：节点早已离开树。"),
    "restore": Words(
        "A request computed what only L2 had; the tree takes its slots instead of a "
        "copy.",
        "某个请求重算了仅在 L2 的部分；树接手它的槽位，不用拷贝。"),
    "backup": Words(
        "The copy L1 → L2 takes until its acknowledgement; until then the node is "
        "locked.",
        "L1 → L2 的拷贝要到确认才算完成；在此之前节点被锁住。"),
    "backup evict": Words(
        "write_back copies a victim while L1 is evicted, and waits for the copy. It "
        "takes no lock: L1 counts the node as evictable until it leaves.",
        "write_back 在逐出时拷贝，并等拷贝完成。它不加锁：节点离开之前仍计为可逐出。"),
    "backupdone": Words(
        "From now on the node can leave L1 without being lost.",
        "从现在起，节点离开 L1 也不会丢失。"),
    "load": Words(
        "The copy L2 → L1 takes until its acknowledgement. A chain loads root first: a "
        "prefix is of no use without what stands before it.",
        "L2 → L1 的拷贝要到确认才算完成。一条链自根开始取：缺了前面，后面无用。"),
    "load gone": Words(
        "The engine does not look again after it has made room: it reads the slots it "
        "had in mind, whoever has them by now.",
        "引擎腾位之后不再查看：它读原先记下的槽位，不论现在归谁。"),
    "loaddone": Words(
        "The whole chain is on L1 and can be used as if it had never left.",
        "整条链都在 L1，可以像从未离开一样使用。"),
    "loaddone gone": Words(
        "It takes up L1 and serves nobody, until it is evicted from there.",
        "它占着 L1，却没人能用，直到从那里被逐出。"),
    "evicthost": Words(
        "It was the last copy: the next request with this prefix computes it again.",
        "这是最后的副本：下一个有此前缀的请求要重新计算。"),
    "evicthost gone": Words(
        "Its copy was lost before. Only now does the engine stop counting on it.",
        "副本早已丢失；引擎到现在才不再计入它。"),
    "reclaim": Words(
        "L1 still has it, so nothing is lost with this copy.",
        "L1 还有一份，让出这份副本不丢任何内容。"),
    "arrive": Words("It waits until the scheduler admits it.", "等待调度器准入。"),
    "row": Words(
        "The request's row says which slot holds each of its tokens.",
        "请求的行记下每个 token 在哪个槽位。"),
    "cached": Words(
        "What the tree owns is shared and stays after the request; it is locked while "
        "the request runs.",
        "归树所有的部分可共享，请求结束后仍在；请求运行期间被锁住。"),
    "start": Words(
        "Prefill computes the KV of the tokens that no cache has.",
        "预填充只计算缓存里没有的 token 的 KV。"),
    "output": Words("One token out; its KV is written by the next step.",
                    "输出一个 token；它的 KV 由下一步写入。"),
    "grow": Words("Each decode step needs one more slot for each request.",
                  "每步解码，每个请求多占一个槽位。"),
    "batch": Words("Retraction sorted the batch; it stays in that order.",
                   "撤回时给批次排了序，之后保持这一次序。"),
    "queue": Words("The first in the queue is tried first.", "队首先尝试准入。"),
    "retract": Words(
        "Its slots are free for the others. What the tree cached of it may be hit when "
        "it comes back.",
        "槽位让给其他请求；树里缓存的部分，回来时还可能命中。"),
    "finish": Words(
        "What it held goes to the tree or back to the free list; its path is unlocked.",
        "它持有的归树或回到空闲列表；路径解锁。"),
    "drop": Words(
        "It was refused on arrival or aborted; it is not tried again.",
        "到达时被拒绝，或被中止；不再尝试。"),
    "sent": Words("When the client sent it.", "客户端发出它的时刻。"),
    "clock": Words("No request is there to run.", "没有可运行的请求。"),
    "forward": Words("The time follows from a cost model, not from a measurement.",
                     "时间来自代价模型，不是实测。"),
    "decode": Words("The time follows from a cost model, not from a measurement.",
                    "时间来自代价模型，不是实测。"),
}
# fmt: on
"""By kind of change, as phrases.py names them; of some, by the kind of decision that
led to them, or of the one that caused it, too; phrases.GONE ends those of a node whose
copy on L2 is gone."""
