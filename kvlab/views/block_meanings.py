"""What does a change of a block engine mean, to who knows vLLM and meets it here?

One or two sentences a kind, in vLLM's own words and with the name of what did it there.
Left out: decisions, whose rules say it (block_whys.py).
Source: vLLM 0.33.0, v1/core.
"""

from __future__ import annotations

from .meanings import MEANINGS
from .theme import Words

# fmt: off
BLOCK_MEANINGS: dict[str, Words] = {
    "take": Words(
        "get_new_blocks pops the head of the free queue. Whatever still had a hash "
        "lost it first: that is vLLM's only eviction.",
        "get_new_blocks 从空闲队列队首弹出块。还有哈希的先失去哈希：vLLM "
        "只在此时逐出。"),
    "forget": Words(
        "Only the hash goes: the block stays where it stands in the free queue.",
        "只去掉哈希：块在空闲队列里的位置不变。"),
    "register": Words(
        "On L1 this happens inside allocate_slots, before the step computes the KV: a "
        "like prompt admitted later in the same step already hits. On L2 it waits "
        "until the store is done.",
        "在 L1，它发生在 allocate_slots 之内，早于本步计算 KV：同一步里稍后准入的相同 "
        "prompt 已能命中。在 L2 则等存储完成。"),
    "share": Words(
        "touch: a free block leaves the queue from wherever it stands, and no hit can "
        "be evicted. On L1 a store or a load holds its blocks in the same way.",
        "touch：空闲块从队列中间离开，被命中的块不会被逐出。L1 上的存储和取回也这样"
        "持有它们的块。"),
    "release": Words(
        "free_blocks gets a block table last block first, so the end of a prompt is "
        "evicted before its beginning. Hashed blocks can still be hit.",
        "free_blocks 从块表末尾开始归还，所以 prompt 的结尾先于开头被逐出。有哈希的块"
        "仍可命中。"),
    "vacate": Words(
        "The blocks are released next; those with a hash can be hit until they are "
        "taken.",
        "随后归还这些块；有哈希的在被取走之前仍可命中。"),
    "hold": Words(
        "The block table maps the request's tokens to blocks, in order; hits come "
        "first.",
        "块表按次序把请求的 token 映射到块；命中的块在前。"),
    "compute": Words(
        "num_computed_tokens grows as soon as a step is scheduled. A token is sampled "
        "when it reaches all the tokens that the request has.",
        "一步排定后 num_computed_tokens 立即增加；等于请求已有的全部 token 时采样。"),
    "preempt": Words(
        "Its outputs are kept, and it heads the waiting queue (under priority, its "
        "place by rank). It looks the cache up again. A step that preempts admits "
        "nobody.",
        "已有输出保留，排到等待队列之首（priority 下按名次）。恢复时重新查缓存。发生抢"
        "占的一步不再准入。"),
    "defer loading": Words(
        "WAITING_FOR_REMOTE_KVS: its blocks are held on L1 without a hash. It does not "
        "run, so it cannot be preempted, and max_num_seqs does not count it.",
        "WAITING_FOR_REMOTE_KVS：块在 L1 上被持有，尚无哈希。它不在运行，因此不会被"
        "抢占，也不计入 max_num_seqs。"),
    "defer": Words(
        "Skipped in this step and asked again before the waiting queue.",
        "本步跳过，下次先于等待队列再问。"),
    "loaded": Words(
        "Its blocks have their hashes now, and it is asked before the waiting queue.",
        "它的块已登记哈希；它先于等待队列被尝试准入。"),
    "pin": Words(
        "What was found on L2 must not be evicted there before it is loaded.",
        "L2 上命中的块在取回之前不得逐出。"),
    "copyout": Words(
        "Until the store is done the blocks keep one owner more: L1's free count stays "
        "lower, even if the request is done.",
        "存储完成前这些块多一个持有者：即使请求已完成，L1 的空闲数也更少。"),
    "copiedout": Words(
        "Now L2's blocks get their hashes and L1's lose the owner that the store was.",
        "此刻 L2 的块登记哈希，L1 的块少掉存储这个持有者。"),
    "copyin": Words(
        "The L1 blocks are held already, and of no use until their content has come.",
        "L1 的块已被持有，内容到来之前无法使用。"),
    "copiedin": Words(
        "The content is on L1. The load held blocks of both tiers, and lets go of them "
        "next.",
        "内容已在 L1。取回曾持有两层的块，接着放开它们。"),
    "arrive": Words(
        "It waits behind all others; under priority, at its place by rank.",
        "排在等待队列末尾；priority 下按名次。"),
    "run": Words(
        "Each step schedules those that run first; who waits gets what is left.",
        "每一步先排运行中的请求，剩下的才给等待的。"),
    "output": Words(
        "A step computed all the tokens that it had, and sampled the next one.",
        "有一步算完它已有的全部 token，并采样出下一个。"),
    "finish": Words(
        "Its blocks went back before: those with a hash can be hit until they are "
        "taken.",
        "它的块先已归还：有哈希的在被取走之前仍可命中。"),
    "chunkhold": Words(
        "A chunk that is read, or whose store is pending, cannot be evicted.",
        "正在被读、或存储未完成的分块不能被逐出。"),
    "chunkmove": Words(
        "The order says which chunk goes first. b1 and b2 hold keys of chunks that "
        "went.",
        "次序决定先逐出哪个分块。b1、b2 是已逐出分块的键。"),
    "chunkaim": Words(
        "A key asked for again in b1 makes t1's share larger, one in b2 smaller.",
        "b1 中的键再被问到，t1 的份额变大；b2 中的，则变小。"),
    **{kind: MEANINGS[kind] for kind in ("drop", "sent", "clock", "forward", "decode")},
}
# fmt: on
