"""Why does a prefix stay, move, or go? The rules of the tree and of its two pools.

One entry a kind of decision, or a kind with its verdict (phrases.py), or either of them
with a tier behind it.
Left out: what the scheduler decides (why_schedule.py), how rules are read (why.py).
"""

from __future__ import annotations

from .reason import NEED, ROOM
from .theme import Words
from .why import BarOf, Instead, Own, Test, Why

_TREE = "cache"
_TREE_CORE = "mem_cache/unified_cache/unified_tree_core.py · "
_UNIFIED = "mem_cache/unified_radix_cache.py · "
_HIRADIX = "mem_cache/hiradix_cache.py · "

# fmt: off
ROOM_TEST = Test(("need", "available"), "need <= available")
TWO_BARS = (BarOf(NEED, ("need",)), BarOf(ROOM, ("available",)))

_HITS = Test(
    ("hits", "threshold"), "hits >= threshold",
    Words("used often enough?", "用得够多吗？"), unless="counted",
    untested=Words("used often enough? (not asked under write_back)",
                   "用得够多吗？（write_back 不问）"))
_PARENT = Test(
    fact="parent_copied", asks=Words("its parent on L2?", "父节点在 L2 吗？"))
_HOST_ROOM = Test(
    ("tokens", "host_available"), "tokens <= host_available",
    Words("is there room on L2?", "L2 放得下吗？"))
_COPIED = Test(fact="copied", asks=Words("has it a copy on L2?", "L2 有副本吗？"))
_BELIEVED = _COPIED._replace(asks=Words(
    "does the engine count on a copy on L2?", "引擎认为 L2 有副本吗？"))
_WRITE_BACK = Test(
    fact="write_back",
    asks=Words("is the policy write_back?", "策略是 write_back 吗？"),
    unless="uncopied",
    untested=Words("is the policy write_back? (not asked: L2 has a copy)",
                   "策略是 write_back 吗？（L2 有副本，不必问）"))
_KEY = Test(("tokens", "key"))
_KEY_SAYS = Test(told="key_says")
_WORTH = Test(("tokens", "threshold"), "tokens >= threshold",
              Words("worth a copy?", "值得拷贝吗？"))
_QUOTA = Test(
    ("quota + delta = allowed",), "tokens <= allowed",
    Words("under the quota?", "在配额之内吗？"), unless="quota",
    untested=Words("tokens ≤ quota + delta: not tested, no caller sets a quota",
                   "tokens ≤ quota + delta：未检查，没有调用者设置配额"))
_FITS = Test(("tokens", "available"), "tokens <= available",
             Words("is there room in L1?", "L1 放得下吗？"))

_EVICT_SOURCES = ("mem_cache/{tree}_cache.py · evict", _UNIFIED + "_evict_components")
_EVICT_OWN = Own(_TREE, "evict", "while freed < num_tokens")
_HOST_SOURCES = (_HIRADIX + "evict_host", _UNIFIED + "evict_host")
_HOST_OWN = Own(_TREE, "evict_host", "while freed < num_tokens")

_DEVICE_VICTIM = Words(
    "Leaves only, smallest key first. With a copy on L2: demote. Else under "
    "write_back: back up, demote. Else: delete.",
    "只取叶子，键最小的先走。L2 有副本则降级；否则 write_back 先备份再降级；"
    "再否则删除。")
_VICTIM = Why(
    "out", _DEVICE_VICTIM, (_KEY, _KEY_SAYS, _COPIED, _WRITE_BACK),
    sources=_EVICT_SOURCES, own=Own(_TREE, "evict", "node.backed_up"))
_EVICTED = Why(
    "out",
    Words("Stop as soon as enough is free, or no evictable leaf is left.",
          "够用即停，或再没有可逐出的叶子。"),
    (Test(("freed − ask = over",), "freed >= ask"),),
    (BarOf(Words("asked", "要"), ("ask",)), BarOf(Words("freed", "腾出"), ("freed",))),
    instead=(Instead(Words("cut the last leaf", "切开最后一个叶子"), "over > 0"),),
    sources=_EVICT_SOURCES, own=_EVICT_OWN)
_TOO_LITTLE = _EVICTED._replace(
    sign="short", tests=(Test(("ask − freed = missing",), "freed >= ask"),), instead=())
_BACKUP = Why(
    "down",
    Words("The host copy is what lets a node survive its eviction.",
          "有了主机副本，节点被逐出后才能保住。"),
    (_HITS, _HOST_ROOM),
    (BarOf(NEED, ("tokens",)), BarOf(ROOM, ("host_available",))),
    instead=(Instead(Words("keep it on L1 only", "只留在 L1")),),
    sources=(_HIRADIX + "write_backup", _UNIFIED + "_execute_kv_backup"),
    own=Own(_TREE, "_write", "free >= size"), ordered=True)
_WRITE_IT = (Instead(Words("write it", "写往 L2")),)
_LOAD = Why(
    "copy",
    Words("Up to three tests, in this order. The first that fails ends it, and "
          "nothing loads.",
          "最多三个条件，按此顺序检查；第一个不成立就到此为止，一个都不取。"),
    (_WORTH, _QUOTA, _FITS),
    (BarOf(NEED, ("tokens",)), BarOf(ROOM, ("available",))),
    instead=(Instead(Words("compute {tokens} tokens again",
                           "重算 {tokens} 个 token")),),
    sources=(_HIRADIX + "load_back", _UNIFIED + "load_back"),
    own=Own(_TREE, "_load_pages", "available < tokens"), ordered=True)
_NOT_LOADED = _LOAD._replace(
    sign="no", instead=(Instead(Words("bring a part", "只取一部分")),))

KEYS: dict[str, Words] = {
    "key lru": Words(
        "key = (last access): the longest unused goes first",
        "键 =（最后访问）：最久未用的先走"),
    "key lfu": Words(
        "key = (hit_count, last access): the fewest hits first, then the longest "
        "unused",
        "键 =（hit_count，最后访问）：先走命中最少的，再看最久未用"),
    "key fifo": Words(
        "key = (creation): the oldest goes first", "键 =（创建时间）：最早的先走"),
    "key mru": Words(
        "key = (−last access): the latest used goes first",
        "键 =（−最后访问）：最近用过的先走"),
    "key filo": Words(
        "key = (−creation): the newest goes first", "键 =（−创建时间）：最新的先走"),
    "key priority": Words(
        "key = (priority, last access): the lowest priority first, then the longest "
        "unused",
        "键 =（priority，最后访问）：先走优先级最低的，再看最久未用"),
    "key slru": Words(
        "key = (1 if hit twice, else 0; last access): what was used once goes first",
        "键 =（命中两次及以上为 1，否则 0；最后访问）：只用过一次的先走"),
    "key pass": Words(
        "key = (pass): 0 spares the leaves of L1, 1 takes them too",
        "键 =（轮次）：0 放过 L1 的叶子，1 连它们也取"),
}
"""What the numbers of a victim's key are, by eviction policy. Times count accesses."""


def _instead(en: str, zh: str) -> tuple[Instead]:
    return (Instead(Words(en, zh)),)


CACHE_WHYS: dict[str, Why] = {
    "step": Why(
        "note",
        Words("A command of the script or of a request: the next events carry it out.",
              "脚本或请求的一条命令：后面的事件是它的执行过程。"),
        (Test(("number", "op")),)),
    "match": Why(
        "note",
        Words("The longest known prefix, in whole pages. A match counts no hit. A "
              "request that waits asks for all its tokens but the last, whose logits "
              "must be computed.",
              "最长的已知前缀，按整页取。匹配不计命中。等待的请求不查它的最后一个 "
              "token：其 logits 必须计算。"),
        (Test(("asked − device − host = miss",)),),
        (BarOf(Words("prompt", "prompt"), ("device", "host", "miss")),),
        sources=("mem_cache/{tree}_cache.py · match_prefix",
                 _TREE_CORE + "_match_prefix_helper"),
        own=Own(_TREE, "match_prefix", "self.tree.walk")),
    "insert": Why(
        "note",
        Words("What the tree has is not stored twice; the rest becomes a new leaf.",
              "树里已有的不再存一份；其余成为新叶子。"),
        (Test(("tokens", "priority")),),
        sources=("mem_cache/{tree}_cache.py · insert",
                 _TREE_CORE + "_insert_walk_step"),
        own=Own(_TREE, "insert", "walk.length < len(key)")),
    "cutprompt": Why(
        "note",
        Words("Outputs are seldom asked for again, prompts are: the tree is cut "
              "between them, and the prompt ranks one higher.",
              "输出很少再被用到，prompt 常会：树在两者之间切开，"
              "prompt 的优先级高一级。"),
        (Test(("tokens", "priority")),),
        instead=_instead("keep both in one leaf", "两者同在一个叶子"),
        sources=("", _UNIFIED + "checkpoint_into_tree"),
        own=Own(_TREE, "cut_prompt", "ev.CutPrompt")),

    # --- eviction
    "makeroom": Why(
        "out",
        Words("Too little is free: leaves have to go first.", "空闲不够：先逐出叶子。"),
        (ROOM_TEST, Test(("need − available = missing", "ask"))), TWO_BARS,
        instead=(
            Instead(Words("ask only for the {missing} that are missing",
                          "只要差的 {missing} 个"), "ask > missing"),
            Instead(Words("ask for all {need}", "要全部 {need} 个"), "ask < need")),
        sources=("mem_cache/common.py · evict_from_tree_cache",
                 "mem_cache/allocator/base.py · evict_to_free_tokens"),
        own=Own(_TREE, "make_room", "available < num_tokens")),
    "evict": Why(
        "out",
        Words("Leaves go whole, smallest key first, until enough is free.",
              "整个逐出叶子，键最小的先走，直到够用。"),
        (Test(("ask", "policy")),), sources=_EVICT_SOURCES, own=_EVICT_OWN),
    "evict L2": Why(
        "out",
        Words("Leaves that only L2 has go whole, smallest key first, until enough is "
              "free.", "整个逐出只在 L2 的叶子，键最小的先走，直到够用。"),
        (Test(("ask", "policy")),), sources=_HOST_SOURCES, own=_HOST_OWN),
    "victim": _VICTIM,
    "victim demote": _VICTIM._replace(
        instead=_instead("copy it again: L2 has it", "再拷贝一次：L2 已经有了")),
    "victim demote gone": _VICTIM._replace(
        sign="lost",
        rule=Words("The engine counts on a copy on L2 that is gone: it demotes, and "
                   "nothing is left.",
                   "引擎以为 L2 有副本，其实已不在：按降级处理，什么都没留下。"),
        tests=(_KEY, _KEY_SAYS, _BELIEVED),
        instead=_instead("back it up first: the engine believes L2 has it",
                         "先备份：引擎以为 L2 已经有了")),
    "victim delete": _VICTIM._replace(
        sign="lost", instead=_instead("back it up first, as write_back does",
                         "先备份（write_back 的做法）"),
        own=Own(_TREE, "evict", "_write_back")),
    "victim backup": _VICTIM._replace(
        instead=_instead("delete it, as write_through does",
                         "直接删除（write_through 的做法）"),
        own=Own(_TREE, "evict", "_write_victim")),
    "victim stays": _VICTIM._replace(
        sign="short", instead=_instead("drop it without a copy", "没有副本也丢掉"),
        own=Own(_TREE, "evict", "_write_victim")),
    "victim drop": _VICTIM._replace(
        sign="lost",
        rule=Words("What L2 has no room for leaves L1 all the same, with all below it.",
                   "L2 放不下的照样离开 L1，连同其下的一切。"),
        instead=_instead("keep it on L1 until L2 has room", "留在 L1，等 L2 有空位"),
        sources=("", _TREE_CORE + "drop_subtree_no_host"),
        own=Own(_TREE, "evict", "_write_victim")),
    "victim evict_host": Why(
        "lost",
        Words("Smallest key first, of the leaves that only L2 has. It leaves the tree, "
              "and its tokens must be computed again.",
              "在只有 L2 副本的叶子中，键最小的先走。"
              "它离开树，其 token 需要重新计算。"),
        (_KEY, _KEY_SAYS, _COPIED),
        instead=_instead("bring it back to L1", "取回 L1"),
        sources=_HOST_SOURCES, own=_HOST_OWN),
    "victim evict_host gone": Why(
        "lost",
        Words("The engine still counts this copy, though the node left L2 and the tree "
              "before: its slots are freed a second time.",
              "节点早已离开 L2 和树，引擎仍计入这份副本：它的槽位被再次释放。"),
        (_KEY, _KEY_SAYS, _BELIEVED),
        sources=_HOST_SOURCES, own=Own(_TREE, "_drop", "node.attached")),
    "victim reclaim": Why(
        "out",
        Words("First goes a copy of what L1 has too: nothing is lost with it.",
              "先让出 L1 也有的副本：不会丢失任何内容。"),
        (_KEY, Test(told="pass_says"), _COPIED),
        instead=_instead("drop a leaf that only L2 has", "删除只在 L2 的叶子"),
        sources=("", _TREE_CORE + "_reclaim_full_host_duplicates"),
        own=Own(_TREE, "_reclaim_one", "def _reclaim_one")),
    "evicted": _EVICTED,
    "evicted L2": _EVICTED._replace(sources=_HOST_SOURCES, own=_HOST_OWN),
    "evicted less": _TOO_LITTLE,
    "evicted less L2": _TOO_LITTLE._replace(sources=_HOST_SOURCES, own=_HOST_OWN),

    # --- copies
    "trybackup": _BACKUP,
    "trybackup make_room": _BACKUP._replace(
        rule=Words("L2 evicts the whole need (0.5.23: the shortfall); then the copy is "
                   "tried again.",
                   "L2 按全部需求逐出（0.5.23：按缺口），再尝试拷贝。"),
        own=Own(_TREE, "_write", "evict_host")),
    "trybackup parent_not_backed_up": _BACKUP._replace(
        sign="short", tests=(_HITS, _PARENT), bars=(), instead=_WRITE_IT,
        own=Own(_TREE, "write_backup", "if self.rules.backup_needs_parent")),
    "trybackup ancestors_first": _BACKUP._replace(
        tests=(_HITS, _PARENT), bars=(), instead=_instead("refuse it", "拒绝"),
        sources=("", _TREE_CORE + "_build_backup_kv_action"),
        own=Own(_TREE, "write_backup", "ancestors_first")),
    "trybackup host_full": _BACKUP._replace(
        sign="short", instead=_WRITE_IT, own=Own(_TREE, "_write", "pages is None")),
    "sendwrites": Why(
        "down",
        Words("All that a step writes to L2 is one copy; no node is free to go before "
              "all of it has arrived.",
              "一步里写往 L2 的内容合成一次拷贝；全部到达之前，哪个节点都不能走。"),
        (Test(("nodes",)),),
        instead=_instead("one copy for each node", "每个节点一次拷贝"),
        sources=("", _UNIFIED + "flush_pending_backups"),
        own=Own(_TREE, "flush_writes", "start_writing")),
    "loadback": _LOAD,
    "loadback make_room": _LOAD._replace(
        rule=Words("Three tests at most. If only the last fails, L1 evicts the whole "
                   "need (0.5.23: the shortfall), and tries again.",
                   "最多三个条件，依次检查；若只有最后一个不成立，L1 按全部需求"
                   "逐出（0.5.23：按缺口），再试一次。")),
    "loadback below_threshold": _NOT_LOADED._replace(
        sign="short", own=Own(_TREE, "_load_pages", "load_threshold")),
    "loadback over_quota": _NOT_LOADED._replace(
        own=Own(_TREE, "_load_pages", "quota + delta")),
    "loadback no_device_memory": _NOT_LOADED._replace(
        own=Own(_TREE, "_load_pages", "pages is None")),
}
"""Every card of the tree."""
# fmt: on
