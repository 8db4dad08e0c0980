"""Which rules differ between the versions of SGLang?

Each difference is one named field; the code asks the field, never the version.
`Rules.v0_5_14()` is the release that the article on the L1-L2 data flow reads;
`Rules.v0_5_23()` is the newer one and the default: it answers every question the other
way. Beside each field stands its `Rule`: what it is about, its effect, its sources, and
the recorded golden that shows it; `kvlab rules` prints these and nothing else.
Left out: what both releases share (the code itself), names of rule books and which
rules rest on others (rule.py), the Rust tree core, L3.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Self, get_type_hints

from msgspec import Struct, convert
from msgspec.structs import force_setattr

from .rule import NEW, OLD, RELEASES, Rule, check_needs, name_of, nearest, read_name

_HIRADIX = "mem_cache/hiradix_cache.py"
_UNIFIED = "mem_cache/unified_radix_cache.py"
_CORE = "mem_cache/unified_cache/unified_tree_core.py"


# fmt: off
class Rules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule book: a release's answers, or a combination of them, one field a rule.

    `name` follows from the fields, whatever is given: a release, or the nearer one and
    the fields that are set (+) or taken away (-).
    Raises: ConfigError for answers of which one needs another that is not given.

    >>> book = Rules.v0_5_23()
    >>> book.name, book.evict_whole_need, book.checkpoint_cuts_prompt
    ('0.5.23', False, True)
    >>> mixed = Rules.named("0.5.14-evict_whole_need")
    >>> mixed.name, mixed.is_release, mixed.evict_whole_need
    ('0.5.14-evict_whole_need', False, False)
    """

    name: str = ""

    # --- how much is asked of an eviction

    evict_whole_need: Annotated[bool, Rule(
        old=True,
        about="An allocation that finds too little room asks eviction for its whole "
        "need, not for what is missing: insert, prefill, decode, and a retraction for "
        "its survivors.",
        effect="A request that lacks 2 of 20 tokens costs the cache 20, not 2: more of "
        "what others could reuse goes.",
        effect_zh="一个请求需要 20 个 token、只缺 2 个时，缓存被逐出 20 而不是 2："
        "别人本可复用的前缀白白丢掉。",
        sources=("mem_cache/common.py, evict_from_tree_cache",
                 "mem_cache/allocator/base.py, evict_to_free_tokens"),
        golden="s03#3",
    )]
    load_evicts_whole_need: Annotated[bool, Rule(
        old=True,
        about="The same for the device pages of a load_back: all tokens to load, not "
        "the shortfall.",
        effect="A load of 20 into 2 free slots pushes 20 tokens off the device, not "
        "18.",
        effect_zh="取回 20 个 token、空闲 2 个时，逐出 20 而不是 18。",
        sources=(f"{_HIRADIX}, load_back", f"{_UNIFIED}, _load_back_transfers"),
        golden="x03#10",
    )]
    host_evicts_whole_need: Annotated[bool, Rule(
        old=True,
        about="The same for the host pages of a backup: the whole node, not the "
        "shortfall. Either way what was freed in vain stays freed.",
        effect="A backup that is a little short drops whole prefixes from the host "
        "that could have stayed.",
        effect_zh="备份只差一点空间，主机上却有整段本可保留的前缀被丢弃。",
        sources=(f"{_HIRADIX}, write_backup", f"{_UNIFIED}, _execute_kv_backup"),
        golden="x04#12",
    )]

    # --- what an insert does

    request_counts_once: Annotated[bool, Rule(
        old=False,
        about="A request counts a hit on a node once: its inserts count only nodes "
        "that end beyond what it inserted before (Request.inserted_len; a retraction "
        "forgets it), chunks included. Else every insert counts every node that it "
        "passes on the device, but that of a middle chunk counts none.",
        effect="One request alone no longer looks like two: write_through_selective, "
        "lfu and slru wait for a second request.",
        effect_zh="一个请求不再算作两次：write_through_selective、lfu、slru "
        "要等到第二个请求才生效。",
        sources=(f"{_HIRADIX}, _inc_hit_count", f"{_CORE}, _finish_insert_walk_node"),
        golden="s36#2",
        note="s29#1 shows a chunk's count",
    )]
    checkpoint_cuts_prompt: Annotated[bool, Rule(
        old=False,
        about="A checkpoint that goes beyond the prompt cuts the tree at the prompt's "
        "end and raises the prompt's path to the request's priority + 1.",
        effect="Outputs can be evicted without the prompt that they follow; under "
        "policy priority they go first.",
        effect_zh="输出可以单独逐出，prompt 留下；priority 策略下输出先走。",
        sources=(f"{_UNIFIED}, checkpoint_into_tree",),
        golden="s33#10",
        note="s33#19 shows the cut, s33#10 the priority",
    )]
    restore_counts_hit: Annotated[bool, Rule(
        old=False,
        about="An insert over a host-only node, which takes its fresh pages, counts a "
        "hit there and has the node in its prefix_len.",
        effect="A prefix that was computed again counts as popular as it is.",
        effect_zh="被重新计算的前缀也计一次命中，热度不再被低估。",
        sources=(f"{_HIRADIX}, insert", f"{_CORE}, _insert_walk_step"),
        golden="s22#3",
    )]
    split_raises_both: Annotated[bool, Rule(
        old=True,
        about="An insert that splits a node raises the priority of both halves, in a "
        "tree with a host; else only of the upper, which the insert passes.",
        effect="Under policy priority a tail that nobody asked for no longer rises "
        "with its head.",
        effect_zh="priority 策略下，没人请求的尾部不再跟着头部一起升级。",
        sources=(f"{_HIRADIX}, insert", f"{_CORE}, _insert_walk_step"),
        golden="x06#1",
    )]
    split_keeps_creation: Annotated[bool, Rule(
        old=False,
        about="The upper half of a split inherits the creation time, the key of fifo "
        "and filo.",
        effect="A lookup that splits a node no longer makes its head look new to fifo.",
        effect_zh="一次查询把节点拆开，不再让上半段在 fifo 看来像新建的。",
        sources=(f"{_HIRADIX}, _split_node", f"{_CORE}, _split_node"),
        golden="x05#4",
    )]

    # --- copies to the host

    backup_needs_parent: Annotated[bool, Rule(
        old=True,
        about="A node whose parent has no host copy is not backed up. Else such "
        "ancestors are written first, top down, each as a write of its own, up to the "
        "first that finds no room.",
        effect="A prompt that found the host full is written later with what follows "
        "it; it is not a gap for good.",
        effect_zh="当时主机已满而没备份的 prompt，之后随后续部分一起补写，"
        "不再留下缺口。",
        sources=(f"{_HIRADIX}, write_backup", f"{_CORE}, _build_backup_kv_action"),
        golden="x01#7",
        note="alone it changes no state: an insert that counts every node (not "
        "request_counts_once) tries the ancestor itself just before",
    )]
    writes_share_ack: Annotated[bool, Rule(
        old=False,
        about="The writes of one step travel as one transfer, submitted at the end of "
        "the step, and are acknowledged together.",
        effect="Fewer, larger copies; the locks of a step's writes go all at once.",
        effect_zh="拷贝更少更大；同一步写入的锁一起释放。",
        sources=("managers/cache_controller.py, write",
                 f"{_UNIFIED}, flush_pending_backups"),
        golden="x07#3",
    )]
    written_back_waits: Annotated[bool, Rule(
        old=True,
        about="write_back: victims written in an evict call keep their slots until "
        "its end. Else each is written, awaited and freed before the next is chosen, "
        "and may at once be dropped from the host.",
        effect="With a small host one eviction can free more than the host holds, "
        "because the first victims make room there for the next.",
        effect_zh="主机很小时，一次逐出能腾出比主机容量更多的 token："
        "先写下去的可以立刻让位给后来的。",
        sources=(f"{_HIRADIX}, evict", f"{_UNIFIED}, _evict_components"),
        golden="x02#2",
    )]
    unwritable_victim_stays: Annotated[bool, Rule(
        old=True,
        about="write_back: a victim for which the host has no room stays on the "
        "device, and the next is tried. Else it is dropped with its host-only subtree, "
        "unless a lock or a copy in flight holds one of them.",
        effect="With a full host eviction frees nothing and the next allocation fails; "
        "now KV is lost and service goes on.",
        effect_zh="主机已满时，旧规则一个 token 也腾不出，下一次分配失败；"
        "新规则丢掉这段 KV，服务继续。",
        sources=(f"{_HIRADIX}, evict", f"{_CORE}, drop_subtree_no_host"),
        golden="s24#9",
    )]
    reclaims_duplicates: Annotated[bool, Rule(
        old=False,
        about="write_back: host eviction first gives up host copies of nodes that are "
        "on the device too, in the order in which they became such "
        "(cache/duplicates.py); else host-only leaves alone.",
        effect="Under host pressure the second copy of a prefix goes before the only "
        "copy of another.",
        effect_zh="主机吃紧时，先丢某段前缀的第二份副本，再丢别人唯一的副本。",
        sources=(f"{_HIRADIX}, evict_host", f"{_CORE}, _reclaim_full_host_duplicates"),
        golden="x08#8",
    )]

    # --- copies from the host

    load_protects_source: Annotated[bool, Rule(
        old=False,
        about="While a load_back makes room, the host-only nodes that it wants are "
        "locked, and the last is host-locked until the load is acknowledged; else only "
        "the device ancestor is.",
        effect="Without the lock the eviction that makes room can drop the very nodes "
        "being loaded: wrong KV is served, and later an assertion fails.",
        effect_zh="为 load_back 腾位时，0.5.23 锁住要取回的节点（主机锁留到取回完成）；"
        "没有这把锁，腾位的逐出可能丢掉正要取回的节点：返回错误的 KV，随后断言失败。",
        sources=(f"{_HIRADIX}, load_back", f"{_UNIFIED}, load_back"),
        golden="s25#4",
        note="s10#6 shows the host lock",
    )]

    # --- admission

    spent_budget_still_tries: Annotated[bool, Rule(
        old=True,
        about="A waiting request is matched and tried although the round's input or "
        "chunk budget is spent; else the round ends before it.",
        effect="A request that cannot join may be loaded back for nothing, and takes "
        "room on the device.",
        effect_zh="进不了本轮的请求也会被尝试，甚至白白取回来，占掉显存。",
        sources=("managers/scheduler.py, get_new_batch_prefill",),
        golden="x11#4",
    )]
    tests_before_lock: Annotated[bool, Rule(
        old=True,
        about="Admission tests room and input once more before the request's own "
        "prefix is locked, and loads before it tests input and chunk. Else it locks, "
        "tests all with the host hit counted as loaded, loads, and tests again only "
        "if nothing came.",
        effect="The same refusal has another name: NO_TOKEN ends the round as full, "
        "where OTHER would only end it.",
        effect_zh="同样是拒绝，名字不同：NO_TOKEN 把本轮标为已满，OTHER 只是结束本轮。",
        sources=("managers/schedule_policy.py, add_one_req",),
        golden="x09#1",
    )]
    ignore_eos_reserves_all: Annotated[bool, Rule(
        old=False,
        about="A running request that ignores eos reserves all tokens that it may "
        "still write, not new_token_ratio of them.",
        effect="Benchmarks with ignore_eos admit fewer requests at once, and retract "
        "fewer.",
        effect_zh="用 ignore_eos 压测时，同时准入的请求变少，撤回也变少。",
        sources=("managers/schedule_policy.py, "
                 "_get_running_request_total_token_offset",),
        golden="x10#1",
    )]

    # --- what is only told

    best_match_is_backed_up: Annotated[bool, Rule(
        old=True,
        about="A match's best node is the deepest with a host copy, not the deepest. "
        "Where something can be loaded they are the same node.",
        effect="Only what a match reports changes.",
        effect_zh="只改变 match 报告的内容。",
        sources=(f"{_HIRADIX}, match_prefix", f"{_CORE}, _match_prefix_helper"),
        golden="s06#1",
    )]
    evict_host_returns_none: Annotated[bool, Rule(
        old=True,
        about="evict_host tells its caller nothing, else the tokens freed (kvlab's own "
        "method always counts).",
        effect="Only what the call returns changes.",
        effect_zh="只改变这个调用的返回值。",
        sources=(f"{_HIRADIX}, evict_host", f"{_UNIFIED}, evict_host"),
        golden="x01#4",
    )]
    lock_tells_evictable: Annotated[bool, Rule(
        old=True,
        about="A lock tells what evictable gained (0 or less) and so does an unlock; "
        "else a lock tells what protected gained, an unlock nothing.",
        effect="Only the sign of what the call returns changes.",
        effect_zh="只改变返回值的符号。",
        sources=(f"{_HIRADIX}, inc_lock_ref",
                 "mem_cache/unified_cache/components/full.py, acquire_component_lock"),
        note="s02#1 records it; run/conform.py does not compare it",
    )]

    # --- outside what the recordings compare

    refreshes_waiting: Annotated[bool, Rule(
        old=False,
        about="Under fcfs and lru, in every 32nd round that finds somebody waiting, "
        "the first 128 in the queue are matched, the last of them first, so that what "
        "they will hit counts as used; else a request is matched when it is tried.",
        effect="Where a deep queue meets full caches, the prefixes that it waits for "
        "outlive others, on the host above all, and more is hit.",
        effect_zh="队列很深、缓存又满时，排队请求要用的前缀比别的留得更久"
        "（主机上尤其明显），命中更多。",
        sources=("managers/schedule_policy.py, _touch_waiting_prefixes",),
        note="compared with the released SchedulePolicy over 9,000 rounds of random "
        "play; a script's rounds leave it out, as the recordings do",
    )] = False  # what a run that does not tell was recorded under
    finished_leave_late: Annotated[bool, Rule(
        old=True,
        about="A request that a decode step finished stays in the running batch until "
        "the next one begins: in the round between it takes a seat of "
        "max_running_requests, and a batch that was full is full. Else it leaves "
        "before the round.",
        effect="Where requests wait for room or a seat, every finish costs them one "
        "more decode step.",
        effect_zh="有请求在等空间或等席位时，每当一个请求完成，它们都要多等"
        "一个解码步。",
        sources=("managers/scheduler.py, update_running_batch",
                 "managers/scheduler.py, get_next_batch_to_run"),
        note="compared with the released Scheduler on a clock; a script has no such "
        "loop",
    )] = False
    chunk_takes_two_seats: Annotated[bool, Rule(
        old=True,
        about="While a prompt goes on in chunks it takes two seats of "
        "max_running_requests, one for its row and one in the round; else one.",
        effect="Beside a chunk one request fewer may run: with a bound of 2, nobody "
        "joins it.",
        effect_zh="prompt 分块预填充期间，能同时运行的请求少一个：上限为 2 时，"
        "谁也加不进来。",
        sources=("managers/scheduler.py, get_num_allocatable_reqs",),
        note="compared with the released Scheduler on a clock; a script has no bound",
    )] = False
    freed_pages_sorted: Annotated[bool, Rule(
        old=True,
        about="A device pool of pages larger than a token sorts the pages of a free "
        "call, and takes an insert's duplicates as one call; else pages return in the "
        "row's order, duplicates node by node.",
        effect="Only page numbers change.",
        effect_zh="只改变页号。",
        sources=("mem_cache/allocator/paged.py, free",
                 "mem_cache/allocator/paged.py, free_segment"),
        note="read in the source; no recording tells the two apart",
    )]
    host_must_exceed_device: Annotated[bool, Rule(
        old=True,
        about="Start-up refuses a host pool that is not larger than the device's; else "
        "it warns.",
        effect="A small host starts now; 0.5.14 refuses it.",
        effect_zh="较小的主机池现在可以启动，0.5.14 会拒绝。",
        sources=("mem_cache/pool_host/base.py",),
        note="read in the source; scripts are taken as they are",
    )]
    # fmt: on

    def __post_init__(self) -> None:
        check_needs(self.answers)
        force_setattr(self, "name", name_of(self.answers, facts()))

    @property
    def answers(self) -> dict[str, bool]:
        """Every rule's answer by its name."""
        return {name: getattr(self, name) for name in facts()}

    @property
    def is_release(self) -> bool:
        """True if a release had exactly these answers."""
        return self.name in RELEASES

    @property
    def nearest(self) -> str:
        """The release that shares more of these answers."""
        return nearest(self.answers, facts())

    @classmethod
    def named(cls, text: str) -> Self:
        """Return the rules of a release, or of one with rules set or taken away.

        Raises: ConfigError for a release without a rule book, a rule that is none, a
        change that changes nothing, or a combination that contradicts itself.

        >>> Rules.named("0.5.14+load_protects_source").load_protects_source
        True
        """
        return convert(read_name(text, facts()), cls)

    @classmethod
    def v0_5_14(cls) -> Self:
        """Return the rules of SGLang 0.5.14."""
        return cls.named(OLD)

    @classmethod
    def v0_5_23(cls) -> Self:
        """Return the rules of SGLang 0.5.23: each answer is 0.5.14's turned round."""
        return cls.named(NEW)


@cache
def facts() -> dict[str, Rule]:
    """Return every rule by its field's name, in the fields' order."""
    hints = get_type_hints(Rules, include_extras=True)
    return {n: hints[n].__metadata__[0] for n in Rules.__struct_fields__ if n != "name"}
