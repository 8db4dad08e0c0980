"""Which words tell each event?

One entry a kind, or a kind and its verdict: subject, verb, numbers, in both languages.
No praise, no exclamation mark; the engine's own names stay English.
Left out: where the numbers come from (sentences.py), the short words that head a card
(verdicts.py).
"""

from __future__ import annotations

from .theme import Words

MOVING, CUT = "moving", "cut"
"""End the entries of a node whose copy is on its way, and of a request of which this
prefill takes a chunk."""
GONE = "gone"
"""Ends the entries of a node whose copy on L2 is gone, though the engine counts on it.
"""

# fmt: off
PHRASES: dict[str, Words] = {
    "": Words(
        "Nothing has happened yet: {total} slots of L1 are free",
        "还没有事件：L1 的 {total} 个槽位全部空闲"),
    # --- the pools
    "alloc": Words(
        "{tier} hands out {slots} slots and has {free} left",
        "从 {tier} 取走 {slots} 个槽位，还剩 {free} 个空闲"),
    "free": Words(
        "{tier} gets {slots} slots back and has {free} free",
        "{tier} 的 {slots} 个槽位重新空闲，共 {free} 个"),
    "free gone": Words(
        "{tier} gets {slots} slots back that it had got back before, and counts {free} "
        "free",
        "{tier} 再次收回已收回过的 {slots} 个槽位，计为空闲 {free} 个"),
    "sortfree": Words(
        "The free list of {tier} is put in ascending order: {free} slots",
        "{tier} 的空闲列表按升序重排：{free} 个槽位"),
    # --- the tree
    "touch": Words(
        "A walk reaches {n}: access time {time} for its path of {depth} nodes",
        "走到 {n}：路径上 {depth} 个节点的访问时间记为 {time}"),
    "touch each": Words(
        "A walk of {depth} nodes reaches {n}: it gets access time {time}, each node "
        "above it an earlier one",
        "走过 {depth} 个节点到 {n}：它的访问时间记为 {time}，往上每个节点依次更早"),
    "add": Words(
        "{n} joins the tree under {parent}: {tokens} tokens",
        "{n} 挂到 {parent} 之下：{tokens} 个 token"),
    "split": Words(
        "{n} splits: {upper} takes its first {at} tokens and becomes its parent",
        "{n} 分裂：{upper} 拿走前 {at} 个 token，成为它的父节点"),
    "split moving": Words(
        "{n} splits while a copy of it is on its way, which will arrive for both: "
        "{upper} takes its first {at} tokens and becomes its parent",
        "{n} 在拷贝途中分裂，拷贝到达时两者都算完成：{upper} 拿走前 {at} 个 token，"
        "成为它的父节点"),
    "hit": Words(
        "An insert counts as a hit of {n}: hit_count is {hits}",
        "一次插入计为 {n} 的一次命中：hit_count 为 {hits}"),
    "raise": Words(
        "{n} rises to priority {priority}", "{n} 的优先级升到 {priority}"),
    "lock": Words(
        "The path to {n} is locked, which takes {moved} tokens from evictable",
        "锁住通往 {n} 的路径：{moved} 个 token 不再可逐出"),
    "unlock": Words(
        "The path to {n} is unlocked, which gives {moved} tokens to evictable",
        "解除通往 {n} 的路径的锁：{moved} 个 token 变为可逐出"),
    "hostlock": Words(
        "The copy of {n} on L2 has to stay: {tokens} tokens",
        "{n} 在 L2 的副本必须留下：{tokens} 个 token"),
    "hostunlock": Words(
        "The copy of {n} on L2 may go again: {tokens} tokens are unlocked there",
        "{n} 在 L2 的副本又可以让出：{tokens} 个 token 解锁"),
    "delete": Words(
        "{n} leaves L1 and the tree, and no copy is left: {tokens} tokens lost for "
        "good",
        "{n} 离开 L1 和树，没有副本：{tokens} 个 token 永久丢失"),
    "demote": Words(
        "{n} gives up {tokens} slots of L1; its earlier copy on L2 stays",
        "{n} 让出 {tokens} 个 L1 槽位；先前写到 L2 的副本留下"),
    "demote gone": Words(
        "{n} gives up {tokens} slots of L1; its copy on L2 is gone too: no copy is "
        "left",
        "{n} 让出 {tokens} 个 L1 槽位；L2 的副本也已不在，再无副本"),
    "restore": Words(
        "{n} is on L1 again: it takes {slots} freshly computed slots",
        "{n} 重新回到 L1：接手 {slots} 个刚算好的槽位"),
    "backup": Words(
        "A copy of {n} is on its way to L2: {slots} tokens",
        "{n} 的副本正在写往 L2：{slots} 个 token"),
    "backupdone": Words(
        "The copy of {n} has arrived: L2 has its {copied} tokens too",
        "{n} 的拷贝已到达：L2 也有这 {copied} 个 token"),
    "load": Words(
        "A copy of {n} is on its way back to L1: {slots} tokens",
        "{n} 的副本正在取回 L1：{slots} 个 token"),
    "load gone": Words(
        "{n} has left the tree, and its load begins all the same: what its {slots} "
        "slots of L2 hold by now is copied to L1",
        "{n} 已离开树，取回照样开始：它在 L2 的 {slots} 个槽位此时的内容被拷到 L1"),
    "loaddone": Words(
        "The load down to {n} has arrived: L1 has its {copied} tokens again",
        "到 {n} 为止的取回已完成：{copied} 个 token 回到 L1"),
    "loaddone gone": Words(
        "The load down to {n} has arrived, but {n} has left the tree: no match finds "
        "its {copied} tokens",
        "到 {n} 为止的取回已完成，但 {n} 已不在树中：匹配找不到这 {copied} 个 token"),
    "evicthost": Words(
        "{n} leaves L2 and the tree, and no copy is left: {tokens} tokens lost for "
        "good",
        "{n} 离开 L2 和树，没有副本：{tokens} 个 token 永久丢失"),
    "evicthost gone": Words(
        "{n} leaves L2 a second time: its {tokens} tokens were lost before",
        "{n} 再次离开 L2：它的 {tokens} 个 token 早已丢失"),
    "reclaim": Words(
        "{n} gives up {tokens} slots of L2; its copy on L1 stays",
        "{n} 让出 {tokens} 个 L2 槽位；L1 的副本留下"),
    # --- requests
    "arrive": Words(
        "{request} arrives: {prompt_len} tokens in, up to {max_new} out",
        "{request} 到达：输入 {prompt_len} 个 token，最多输出 {max_new} 个"),
    "row": Words(
        "The row of {request} gets {slots} slots, from token {start} on",
        "{request} 的行从第 {start} 个 token 起记下 {slots} 个槽位"),
    "cached": Words(
        "The tree owns the first {owned_len} tokens of {request}, which locks {n}",
        "{request} 的前 {owned_len} 个 token 归树所有，它锁住 {n}"),
    "cached none": Words(
        "The tree owns no token of {request}, which locks no node",
        "{request} 还没有 token 归树所有，也没有锁住任何节点"),
    "start": Words(
        "{request} prefills all that it still lacks: {kv_len} tokens will have KV",
        "{request} 预填充所缺的全部：之后 {kv_len} 个 token 有 KV"),
    "start chunked": Words(
        "{request} prefills a chunk: {kv_len} of {prompt} tokens will have KV",
        "{request} 预填充一块：之后 {prompt} 个 token 中有 {kv_len} 个有 KV"),
    "output": Words(
        "{request} gets its output token number {outputs}",
        "{request} 得到第 {outputs} 个输出 token"),
    "grow": Words(
        "A decode step writes the KV of token {kv} of {request}",
        "解码一步：写入 {request} 第 {kv} 个 token 的 KV"),
    "batch": Words(
        "The decode batch is put in a new order: {number} requests",
        "解码批次重新排序：{number} 个请求"),
    "queue": Words(
        "The waiting queue is put in the order of the schedule policy",
        "等待队列按调度策略重新排序"),
    "retract": Words(
        "{request} is retracted: it gives up the KV of {kv} tokens and waits at the "
        "tail",
        "{request} 被撤回：放弃 {kv} 个 token 的 KV，回到队尾等待"),
    "finish": Words(
        "{request} is done: {outputs} tokens out",
        "{request} 完成：输出 {outputs} 个 token"),
    "drop": Words(
        "{request} leaves without being done: {outputs} tokens out",
        "{request} 未完成即离开：输出 {outputs} 个 token"),
    # --- time
    "sent": Words(
        "{request} was sent at {at}",
        "{request} 发出于 {at}"),
    "clock": Words(
        "Nothing to run: the clock goes to {now}",
        "无事可做：时钟走到 {now}"),
    "forward": Words(
        "A prefill from {begin} on: {load} waiting for KV, {compute} of work",
        "预填充从 {begin} 开始：等 KV {load}，计算 {compute}"),
    "decode": Words(
        "The batch decodes {steps} steps; the clock reads {now}",
        "批次解码 {steps} 步；时钟读数 {now}"),
    # --- decisions
    "step": Words(
        "Operation {number}: {op} {text}", "操作 {number}：{op} {text}"),
    "step ack_write": Words(
        "Operation {number}: copies to L2 have arrived, the oldest first: {text}",
        "操作 {number}：写往 L2 的拷贝到达，先写的先确认：{text}"),
    "step ack_load": Words(
        "Operation {number}: loads to L1 have arrived, the oldest first: {text}",
        "操作 {number}：取回 L1 的拷贝到达，先取的先确认：{text}"),
    "match": Words(
        "Of {asked} tokens L1 has {device}, L2 alone {host}; in no cache: {miss}",
        "共 {asked} 个 token：L1 上 {device} 个，仅在 L2 的 {host} 个，"
        "不在缓存的 {miss} 个"),
    "insert": Words(
        "The tree is given {tokens} tokens", "向树插入 {tokens} 个 token"),
    "insert chunked": Words(
        "The tree is given {tokens} tokens, the middle of a prompt",
        "向树插入 {tokens} 个 token：prompt 的中间一段"),
    "cutprompt": Words(
        "The first {tokens} tokens are a prompt: its path rises to priority "
        "{priority}, so that outputs go before it",
        "前 {tokens} 个 token 是 prompt：路径优先级升到 {priority}，输出先于它逐出"),
    "makeroom": Words(
        "{tier} should give {need} tokens and has {available} free: evict {ask}",
        "{tier} 要给出 {need} 个 token，只有 {available} 个空闲：逐出 {ask} 个"),
    "evict": Words(
        "{tier} is asked for {ask} tokens: whole leaves, in {policy} order",
        "向 {tier} 要 {ask} 个 token：按 {policy} 次序，叶子整个逐出"),
    "victim": Words(
        "{n} is next: {fate}, {tokens} tokens", "轮到 {n}：{fate}，{tokens} 个 token"),
    "victim demote": Words(
        "{n} is next to leave L1, and is demoted: the copy of its {tokens} tokens on "
        "L2 stays",
        "轮到 {n} 离开 L1：降级，{tokens} 个 token 在 L2 的副本留下"),
    "victim demote gone": Words(
        "{n} is next to leave L1, and is demoted, though its copy on L2 is gone: no "
        "copy of its {tokens} tokens is left",
        "轮到 {n} 离开 L1：按降级处理，但 L2 的副本已不在，{tokens} 个 token 再无副本"),
    "victim delete": Words(
        "{n} is next to leave L1, and is deleted: no copy of its {tokens} tokens is "
        "left",
        "轮到 {n} 离开 L1：被删除，{tokens} 个 token 再无副本"),
    "victim backup": Words(
        "{n} is next to leave L1: L2 has no copy of its {tokens} tokens, so a backup "
        "is tried first",
        "轮到 {n} 离开 L1：L2 没有副本，{tokens} 个 token 先试着备份"),
    "victim stays": Words(
        "{n} stays on L1: L2 has no room for its {tokens} tokens",
        "{n} 留在 L1：L2 放不下它的 {tokens} 个 token"),
    "victim evict_host": Words(
        "{n} is next to leave L2, which alone has its {tokens} tokens: no copy is left",
        "轮到 {n} 离开 L2：{tokens} 个 token 只在 L2，再无副本"),
    "victim evict_host gone": Words(
        "{n} is next to leave L2, which no longer has its {tokens} tokens",
        "轮到 {n} 离开 L2：但它的 {tokens} 个 token 已不在 L2"),
    "victim drop": Words(
        "{n} leaves {level} without a copy: L2 has no room for what is to leave L1 "
        "({tokens} tokens)",
        "{n} 离开 {level}，不留副本：L2 放不下要离开 L1 的部分（{tokens} 个 token）"),
    "victim reclaim": Words(
        "{n} is next to leave L2: the copy of its {tokens} tokens on L1 stays",
        "轮到 {n} 离开 L2：{tokens} 个 token 在 L1 的副本留下"),
    "evicted": Words(
        "{tier} was asked for {ask} tokens and freed {freed}",
        "向 {tier} 要 {ask} 个 token，正好腾出 {freed} 个"),
    "evicted more": Words(
        "{tier} was asked for {ask} tokens and freed {freed}: leaves go whole",
        "向 {tier} 要 {ask} 个 token，腾出 {freed} 个：叶子整个逐出"),
    "evicted less": Words(
        "{tier} was asked for {ask} tokens and freed only {freed}: no evictable leaf "
        "is left there",
        "向 {tier} 要 {ask} 个 token，只腾出 {freed} 个：那里再没有可逐出的叶子"),
    "trybackup": Words(
        "Backup of {n}: {verdict}, {tokens} tokens",
        "备份 {n}：{verdict}，{tokens} 个 token"),
    "trybackup write": Words(
        "{n} is backed up: it needs {tokens} tokens, L2 has {host_available} free",
        "备份 {n}：需要 {tokens} 个 token，L2 有 {host_available} 个空闲"),
    "trybackup make_room": Words(
        "{n} needs {tokens} tokens on L2, which has {host_available} free: make room",
        "{n} 在 L2 需要 {tokens} 个 token，只有 {host_available} 个空闲：先腾位"),
    "trybackup parent_not_backed_up": Words(
        "{n} stays on L1 only: its parent has no copy on L2 ({tokens} tokens)",
        "{n} 只留在 L1：父节点在 L2 没有副本（{tokens} 个 token）"),
    "trybackup ancestors_first": Words(
        "{n} is to be backed up, and ancestors without a copy go first "
        "({tokens} tokens)",
        "要备份 {n}：没有副本的祖先先写（{tokens} 个 token）"),
    "trybackup host_full": Words(
        "{n} gets no copy: it needs {tokens} tokens, L2 has {host_available} free",
        "{n} 得不到副本：在 L2 需要 {tokens} 个 token，只有 {host_available} 个空闲"),
    "sendwrites": Words(
        "{number} writes to L2 go as one copy, and will arrive as one",
        "{number} 份写往 L2 的内容合成一次拷贝，一起到达"),
    "loadback": Words(
        "Load back down to {n}: {verdict}, {tokens} tokens",
        "取回到 {n}：{verdict}，{tokens} 个 token"),
    "loadback load": Words(
        "{tokens} tokens come back from L2, root first, all or nothing",
        "从 L2 取回 {tokens} 个 token：自根向叶，要么全取，要么不取"),
    "loadback make_room": Words(
        "{tokens} tokens should come back from L2, L1 has {available} free: make room",
        "要从 L2 取回 {tokens} 个 token，L1 只有 {available} 个空闲：先腾位"),
    "loadback below_threshold": Words(
        "{tokens} tokens stay on L2: fewer than {threshold} are not worth a copy",
        "{tokens} 个 token 留在 L2：不足 {threshold} 个，不值得拷贝"),
    "loadback over_quota": Words(
        "{tokens} tokens stay on L2: the quota allows {allowed}",
        "{tokens} 个 token 留在 L2：配额只允许 {allowed} 个"),
    "loadback no_device_memory": Words(
        "{tokens} tokens stay on L2: L1 has only {available} free",
        "{tokens} 个 token 留在 L2：L1 只有 {available} 个空闲"),
    "candidate": Words(
        "{request} is next: {extend} tokens are not on L1, {host_hit} of them on L2",
        "轮到 {request}：{extend} 个 token 不在 L1，其中 {host_hit} 个在 L2"),
    "admit": Words(
        "{request} is admitted: it needs {need} tokens, {room} can be promised",
        "{request} 获准入：需要 {need} 个 token，可承诺 {room} 个"),
    "admit cut": Words(
        "{request} is admitted with a chunk of {extend} tokens, of {whole} that were "
        "not on L1",
        "{request} 获准入，先算一块：不在 L1 的 {whole} 个 token 中的 {extend} 个"),
    "admit no_token": Words(
        "{request} waits: it needs {need} tokens, only {room} can be promised",
        "{request} 继续等待：需要 {need} 个 token，只能承诺 {room} 个"),
    "admit other": Words(
        "{request} waits: it brings {extend} tokens, this prefill takes {budget} more",
        "{request} 继续等待：本次预填充还能收 {budget} 个 token，它带来 {extend} 个"),
    "admit chunk_spent": Words(
        "{request} waits: {budget} tokens are left of the chunk budget, less than a "
        "page",
        "{request} 继续等待：分块预算只剩 {budget} 个 token，不足一页"),
    "toolarge": Words(
        "{request} is refused: it needs {need} tokens of a pool of {total}",
        "{request} 被拒绝：需要 {need} 个 token，池共 {total} 个"),
    "closeround": Words(
        "{request} is not tried: the input budget of this prefill is spent, "
        "{rem_input} tokens are left of it",
        "不再尝试 {request}：本次预填充的输入预算已用完，剩 {rem_input} 个 token"),
    "closeround chunk": Words(
        "{request} is not tried: the chunk budget of this prefill is spent, "
        "{rem_chunk} tokens are left of it",
        "不再尝试 {request}：本次预填充的分块预算已用完，剩 {rem_chunk} 个 token"),
    "prefill": Words(
        "{request} computes {extend} tokens behind {cached} cached ones",
        "{request} 计算 {extend} 个 token，前面 {cached} 个取自缓存"),
    "chunk": Words(
        "{request} goes on with its last {extend} tokens",
        "{request} 继续：最后 {extend} 个 token"),
    "chunk unfinished": Words(
        "{request} goes on with a chunk of {extend} tokens, more remain",
        "{request} 继续：一块 {extend} 个 token，还有剩余"),
    "decoderoom": Words(
        "The next decode step of {batch} requests fits: it needs {need} tokens, "
        "L1 has {available} free",
        "下一步解码放得下：{batch} 个请求要 {need} 个 token，空闲 {available} 个"),
    "decoderoom short": Words(
        "The next decode step of {batch} requests does not fit: it needs {need} "
        "tokens, L1 has {available} free",
        "下一步解码放不下：{batch} 个请求要 {need} 个 token，空闲 {available} 个"),
    "pickretract": Words(
        "{request} has to give way, {outputs} tokens out; {survivors} requests stay",
        "{request} 要让位：已输出 {outputs} 个 token，留下 {survivors} 个请求"),
    "ratio": Words(
        "new_token_ratio goes from {before} to {after}",
        "new_token_ratio 从 {before} 变为 {after}"),
    "compared": Words(
        "{slots} slots are compared with the prefix each should end: all are right",
        "逐一核对 {slots} 个槽位的内容：全部正确"),
    "compared wrong": Words(
        "{slots} slots are compared with the prefix each should end: {wrong} wrong",
        "逐一核对 {slots} 个槽位的内容：{wrong} 个有误"),
    "wrong": Words(
        "Slot {slot} of {tier} is wrong: {holder} has the prefix {expected} there, the "
        "slot holds {found}; event {by} wrote it last",
        "{tier} 槽位 {slot} 有误：{holder} 在此应为前缀 {expected}，"
        "实际是 {found}；最后写它的是事件 {by}"),
    "wrong unwritten": Words(
        "Slot {slot} of {tier} is wrong: {holder} has the prefix {expected} there, "
        "nothing was ever written; event {by} handed it out",
        "{tier} 槽位 {slot} 有误：{holder} 在此应为前缀 {expected}，"
        "却从未写入；事件 {by} 分配了它"),
}
# fmt: on
