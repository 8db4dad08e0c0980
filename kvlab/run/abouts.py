"""What is each recorded script of SGLang about, in Chinese?

The recordings say it in English, and stay as they are.
Left out: what a script of one's own is about (`about_zh` in its file), and random
ones, which are about nothing.
"""

from __future__ import annotations

_POLICIES = ("fifo", "filo", "lfu", "lru", "mru", "priority", "slru")

# fmt: off
ABOUT_ZH: dict[str, str] = {
    "s01_split": "匹配停在节点中间会使它分裂，插入共享前缀也一样；重复的槽位被释放",
    "s02_lock_moves_evictable_to_protected":
        "lock_ref 0→1 使整条路径的 token 从可逐出变为被锁定；第二次加锁不再变动",
    "s03_eviction_amount":
        "0.5.14 向 evict() 要全部需要量而不是缺口；叶子整个逐出，所以会超出",
    "s05_write_through_backs_up_on_creation":
        "write_through（阈值 1）：节点首次插入就写往主机；确认之前一直锁住",
    "s06_write_through_selective_second_insert":
        "write_through_selective（阈值 2）：第二次插入经过才写；匹配从不计数",
    "s07_chunked_insert_does_not_count":
        "chunked=True 不增加 hit_count，所以什么都不写",
    "s08_parent_not_backed_up_guard":
        "父节点太大，主机放不下，没有备份；子节点虽放得下，也被拒绝",
    "s09_write_back_demote":
        "write_back：逐出之前什么都不写；逐出时先写，等完成，再释放设备副本；节点留下",
    "s10_chain_load_back": "三段被逐出的 KV 一次取回：祖先在前，一次分配",
    "s11_load_back_below_threshold":
        "主机上的 token 少于 load_back_threshold=10：拒绝取回，请求重算",
    "s12_load_back_over_quota":
        "给定的 mem_quota 拒绝取回；先锁祖先，会使配额减去新锁住的 token（delta）",
    "s14_inflight_write_protects":
        "写往主机的途中，节点 lock_ref>0：逐出跳过它；确认按次序到达",
    "s15_page16_rounding": "page_size 16：键截成整页；子节点的键是它的第一页",
    "s17_whole_prompt_cached_leaves_one_token": "请求最多匹配 len-1 个 token",
    "s18_admission_no_token":
        "PrefillAdder：extend + max_new + page_size 须小于余量；运行中的请求按 "
        "max_new*ratio 预留",
    "s19_admission_after_lock":
        "请求自己的前缀一旦锁住就不再算可逐出：_lock_node 内的第二次检查拒绝它",
    "s21_split_during_write":
        "写的途中节点分裂：两半都保留待确认的 id，一次确认放开两半",
    "s22_recompute_of_evicted_node":
        "插入经过仅在主机的节点：重新接上设备槽位，不计命中，也不再写",
    "s24_write_back_host_full":
        "write_back 逐出，而小的主机池已满：evict_host 删除较旧的主机叶子腾位",
    "s25_write_back_load_back_host_full":
        "write_back、主机已满、取回又需要逐出：逐出引起的写可能删掉正要取回的节点",
    **{f"s26_strategy_{policy}": f"同一脚本，eviction_policy={policy}"
       for policy in _POLICIES},
    "s27_batch_same_prompt_duplicates":
        "同一预填充批次里两个相同的 prompt：都要算，第二个的槽位在缓存时释放",
    "s28_batch_budget":
        "整批共用一个 adder：每准入一个，扣除 ceil(extend)+max_new+page_size；遇 "
        "NO_TOKEN 即停；最后一个可以用完预算",
    "s29_chunked_prefill":
        "chunked_prefill_size=16：第一块不预留 max_new；之后的块以 chunked=True "
        "缓存（不计命中）",
    "s31_chunked_page16": "page_size 16，块 40：块截成整页",
    "s32_load_back_inside_request": "请求的前缀仅在主机：准入后取回，只算其余部分",
    "s33_retract_order":
        "retract_decode：先撤回输出最少的，相同时撤回 prompt 最长的；至少撤回一个，直到"
        "其余放得下；比率由留下的重新估计；被撤回的排到队尾，从 prompt+outputs 重新预"
        "填充",
    "s35_retract_last_one_aborts":
        "唯一运行的请求得不到下一个 token：中止，而不是撤回；此前树已清空（准入截短 "
        "max_new 才会如此：clip=6，max_new=50）",
    "s36_one_request_counts_twice":
        "0.5.14：有 2 个以上输出的请求把 prompt 插入两次（未完成、完成），hit_count=2，"
        "write_through_selective 在第一个请求时就备份",
    "s38_retract_keeps_tree_prefix":
        "撤回只释放树不拥有的部分，解锁前缀，再逐出（留下的请求数 x 20）个 token；重新"
        "预填充包括 prompt+outputs",
    "x01_chain_backup":
        "prompt 写不下（主机已满）；之后写它的输出叶子时，prompt 一起写（23）；14 因再"
        "次计数而重写 prompt",
    "x02_wb_demote_now":
        "write_back，主机只放得下一个节点：同一次逐出中，第一个可离开主机给第二个让位"
        "（23）；14 最后才释放，所以第二次写失败",
    "x03_load_shortfall":
        "取回 30，空闲 28：逐出一个 5 token 的叶子（23），或按 30 个 token 逐出（14）",
    "x04_host_shortfall":
        "写 12，主机空闲 8：evict_host(4)（23）或 evict_host(12)（14）",
    "x05_split_creation_fifo":
        "fifo：分裂出的上半保留旧的创建时间（23），或算作全新（14）",
    "x06_split_priority":
        "优先级 3 的插入使节点分裂：只升上半（23，以及 14 的 radix）或两半都升（14 的 "
        "hiradix）；决定 priority 策略先逐出谁",
    "x06r_split_priority_radix": "同上，没有 HiCache：两个版本都只升上半",
    "x07_merged_ack":
        "一次插入中两个节点到达阈值：一次传输一次确认（23），或各两次（14）",
    "x08_wb_reclaim_duplicates":
        "write_back，主机已满：先让出设备上也有的主机副本，其中不是可逐出叶子的更先"
        "（23）；14 只能删除仅在主机的叶子",
    "x09_test_order":
        "第二个候选既不过加锁后的内存检查，又超过输入上限：NO_TOKEN（23）或 "
        "OTHER（14）",
    "x10_ignore_eos_reserve":
        "运行中的 ignore_eos 请求预留全部剩余 token（23），或 ratio x 剩余（14）",
    "x11_spent_chunk_budget_loads":
        "继续的块用完分块预算：不看下一个候选（23），或匹配甚至取回之后再拒绝（14）",
    "x12_chunk_counts_and_selective":
        "write_through_selective 与分块：分块插入每个请求计一次（23），或最后一块之前都"
        "不计（14）",
    "x13_retracted_prompt_split":
        "被撤回的请求一次预填充 prompt+outputs：叶子在 prompt 处切开，prompt 的优先级 "
        "+1（23）",
    "x14_same_tokens_other_namespace":
        "extra_key：另一命名空间里相同的 token 从不匹配（两版相同）",
    "x15_host_size_rule":
        "host_tokens 为空：int(pool*ratio)//page+1 页（两版相同）",
    "x16_load_back_locked_duplicate":
        "write_back 取回在途：确认之前，它的主机副本不能回收（23：lpend + 主机锁）",
    "x17_small_host_chain_blocked":
        "父节点太大，主机放不下，子节点永远备份不了（两版相同：链在首个失败处停下）",
}
# fmt: on
