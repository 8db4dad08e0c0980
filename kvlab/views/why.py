"""What does the player's WHY card say of each decision?

As data, sent to the browser once: the rule in words, rows of terms ("need" is the sum
"extend + max_new + page"), the test those terms are put to, both sides as bars, what is
in no formula, what was not taken, the rule's source in the engine and kvlab's own line.
A term is a field of the event, a sum of another row, or one of `FACTS`; `evaluate`
computes it, here for the test and in the browser for the reader.
Left out: drawing (player/); the same cards for still pictures (reasons.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .cache_reasons import INSTEAD
from .reason import NEED, ROOM, Sign
from .theme import State, Words


class Test(NamedTuple):
    """What is compared. `rows` are equations, `test` is "left sign right", holding or
    not; `fact` is asked instead where no numbers are compared; `unless` names the term
    that, where it is None, leaves the test out, and `untested` says so."""

    rows: tuple[str, ...] = ()
    test: str = ""
    asks: Words | None = None
    fact: str = ""
    unless: str = ""
    untested: Words | None = None


class BarOf(NamedTuple):
    """One side of a test: the terms it is made of, and what is taken off its end."""

    name: Words
    parts: tuple[str, ...]
    minus: str = ""


class Own(NamedTuple):
    """Where kvlab does it: the folder, the function, and words of the line meant."""

    folder: str
    function: str
    anchor: str


class Why(NamedTuple):
    """One card."""

    sign: Sign
    rule: Words
    tests: tuple[Test, ...] = ()
    bars: tuple[BarOf, ...] = ()
    outside: str = ""
    not_taken: Words | None = None
    source: str = ""
    own: Own | None = None


SWATCHES: dict[str, State] = {
    "available": "available", "evictable": "evictable", "promised": "promised",
    "device": "used", "host": "host_only", "device_hit": "used", "miss": "available",
    "host_hit": "host_only", "loaded": "in_flight", "host_available": "available",
    "freed": "left", "rem_input": "promised", "rem_chunk": "promised",
    "chunk_left": "promised",
}  # fmt: skip
"""Which terms are a state, and are drawn with its pattern."""

LABELS = {"host_available": "L2 free", "host_free": "L2 free", "tokens": "tokens"}
"""Terms whose name in the engine would not be understood."""

FACTS = ("host_free", "copied", "parent_copied", "counted", "page_size")
"""Terms that no event carries: they are taken from the state before it, or from the
settings (`counted`: None where the write policy counts no hits)."""

_TREE = "cache"
_QUEUE = "schedule"
_CACHE = "SGLang 0.5.14 · mem_cache/"
_MANAGERS = "SGLang 0.5.14 · managers/"

# fmt: off
_ROOM_TEST = Test(("need", "available"), "need <= available")
_VICTIM = Words(
    "Smallest key first. With a copy on L2: demote. Else under write_back: back up, "
    "demote. Else: delete.",
    "键最小的先走。L2 有副本则降级；否则 write_back 先备份再降级；再否则删除。")
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
_WORTH = Test(("tokens", "threshold"), "tokens >= threshold",
              Words("worth a copy?", "值得拷贝吗？"))
_QUOTA = Test(
    ("quota + delta = allowed",), "tokens <= allowed",
    Words("under the quota?", "在配额之内吗？"), unless="quota",
    untested=Words("n ≤ mem_quota + delta: not tested, no caller sets a quota",
                   "n ≤ mem_quota + delta：未检查，没有调用者设置配额"))
_FITS = Test(("tokens", "available"), "tokens <= available",
             Words("is there room in L1?", "L1 放得下吗？"))
_ADMIT = Why(
    "yes",
    Words("Admit only if need < room. Equal is refused too.",
          "仅当 需要 < 余量 时准入；相等也拒绝。"),
    (Test(("extend + max_new + page = need",
           "available + evictable − promised = room"), "need < room"),),
    (BarOf(NEED, ("extend", "max_new", "page")),
     BarOf(ROOM, ("available", "evictable"), "promised")),
    "host_free",
    Words("wait for the next round", "等下一轮"),
    _MANAGERS + "schedule_policy.py · PrefillAdder.add_one_req",
    Own(_QUEUE, "_lacks_room", "need < self.rem_total"))
_BACKUP = Why(
    "copy",
    Words("The host copy is what lets a node survive its eviction.",
          "有了主机副本，节点被逐出后才能保住。"),
    (_HITS, _HOST_ROOM),
    (BarOf(NEED, ("tokens",)), BarOf(ROOM, ("host_available",))), "",
    Words("keep it on L1 only", "只留在 L1"),
    _CACHE + "hiradix_cache.py · write_backup",
    Own(_TREE, "_write", "free >= len(node.key)"))
_LOAD = Why(
    "copy",
    Words("Three tests, in this order. One failure and nothing loads.",
          "三个条件按此顺序检查；一个不成立就一个都不取。"),
    (_WORTH, _QUOTA, _FITS),
    (BarOf(NEED, ("tokens",)), BarOf(ROOM, ("available",))), "",
    Words("compute {tokens} tokens again", "重算 {tokens} 个 token"),
    _CACHE + "hiradix_cache.py · load_back",
    Own(_TREE, "_load_pages", "available < tokens"))
_NOT_LOADED = _LOAD._replace(sign="no", not_taken=Words("bring a part", "只取一部分"))
_EVICTED = Why(
    "out",
    Words("Stop as soon as enough is free, or no leaf is left.",
          "够用即停，或再没有叶子。"),
    (Test(("freed − ask = over",), "freed >= ask"),),
    (BarOf(Words("asked", "要"), ("ask",)), BarOf(Words("freed", "腾出"), ("freed",))),
    source=_CACHE + "hiradix_cache.py · evict",
    own=Own(_TREE, "evict", "while freed < num_tokens"))


def _victim(fate: str, copied: str, own: Own) -> Why:
    has = Test(fact=copied, asks=Words("has it a copy on L2?", "L2 有副本吗？"))
    return Why(
        "no" if fate == "stays" else "out", _VICTIM,
        (Test(("tokens", "key")), has), not_taken=INSTEAD[fate],
        source=_CACHE + "hiradix_cache.py · evict", own=own)


WHYS: dict[str, Why] = {
    "step": Why(
        "note",
        Words("The driver asked for it; what follows is its doing.",
              "由驱动程序发起；以下事件都由它引起。"),
        (Test(("number", "op")),)),
    "match": Why(
        "note",
        Words("The longest known prefix, in whole pages. A match counts no hit.",
              "最长的已知前缀，按整页取。匹配不计命中。"),
        (Test(("asked − device − host = miss",)),),
        (BarOf(Words("prompt", "prompt"), ("device", "host", "miss")),),
        source=_CACHE + "radix_cache.py · match_prefix",
        own=Own(_TREE, "match_prefix", "self.tree.walk")),
    "insert": Why(
        "note",
        Words("What the tree has is not stored twice; the rest becomes a new leaf.",
              "树里已有的不再存一份；其余成为新叶子。"),
        (Test(("tokens", "priority")),),
        source=_CACHE + "radix_cache.py · insert",
        own=Own(_TREE, "insert", "walk.length < len(key)")),
    "makeroom": Why(
        "out",
        Words("Too little is free: leaves have to go first.", "空闲不够：先逐出叶子。"),
        (_ROOM_TEST, Test(("need − available = missing", "ask"))),
        (BarOf(NEED, ("need",)), BarOf(ROOM, ("available",))),
        not_taken=Words("let the caller fail", "让调用者失败"),
        source=_CACHE + "common.py · evict_from_tree_cache",
        own=Own(_TREE, "make_room", "available < num_tokens")),
    "evict": Why(
        "out",
        Words("Leaves go whole, smallest key first, until enough is free.",
              "整个逐出叶子，键最小的先走，直到够用。"),
        (Test(("ask", "policy")),),
        source=_CACHE + "hiradix_cache.py · evict",
        own=Own(_TREE, "evict", "while freed < num_tokens")),
    "victim demote": _victim("demote", "copied", Own(_TREE, "evict", "node.backed_up")),
    "victim delete": _victim("delete", "copied", Own(_TREE, "evict", "_write_back")),
    "victim backup": _victim("backup", "copied", Own(_TREE, "evict", "_write_victim")),
    "victim stays": _victim("stays", "copied", Own(_TREE, "evict", "_write_victim")),
    "victim evict_host": _victim(
        "evict_host", "copied", Own(_TREE, "evict_host", "while freed < num_tokens")),
    "victim reclaim": _victim(
        "reclaim", "copied", Own(_TREE, "_reclaim_one", "def _reclaim_one")),
    "evicted": _EVICTED,
    "evicted more": _EVICTED._replace(
        not_taken=Words("cut the last leaf", "切开最后一个叶子")),
    "evicted less": _EVICTED._replace(sign="no"),
    "trybackup write": _BACKUP,
    "trybackup make_room": _BACKUP,
    "trybackup parent_not_backed_up": _BACKUP._replace(
        sign="no", tests=(_HITS, _PARENT), bars=(),
        not_taken=Words("write it", "写往 L2"),
        own=Own(_TREE, "write_backup", "backup_needs_parent")),
    "trybackup host_full": _BACKUP._replace(
        sign="no", not_taken=Words("write it", "写往 L2"),
        own=Own(_TREE, "_write", "pages is None")),
    "loadback load": _LOAD,
    "loadback make_room": _LOAD,
    "loadback below_threshold": _NOT_LOADED._replace(
        own=Own(_TREE, "_load_pages", "load_threshold")),
    "loadback over_quota": _NOT_LOADED._replace(
        own=Own(_TREE, "_load_pages", "quota + delta")),
    "loadback no_device_memory": _NOT_LOADED._replace(
        own=Own(_TREE, "_load_pages", "pages is None")),
    "candidate": Why(
        "yes",
        Words("First come, first tried. What L2 has is charged to L1 as new tokens.",
              "先来先试。L2 上的部分按新 token 计入 L1。"),
        (Test(("extend", "host_hit")),),
        source=_MANAGERS + "schedule_policy.py · PrefillAdder.add_one_req",
        own=Own(_QUEUE, "add_one", "ev.Candidate")),
    "admit": _ADMIT,
    "admit no_token": _ADMIT._replace(
        sign="no", not_taken=Words("lend it L2; evict what is locked",
                                   "借用 L2；逐出被锁住的部分")),
    "admit other": Why(
        "no",
        Words("What one prefill may compute is spent; the queue waits for the next.",
              "一次预填充能算的量已用完；队列等下一次。"),
        (Test(("input", "rem_input"), "input < rem_input", unless="input"),
         Test(("page_size", "chunk_left"), "page_size <= chunk_left",
              unless="chunk_left")),
        (), "host_free",
        Words("compute it in this round", "在本轮计算"),
        _MANAGERS + "schedule_policy.py · PrefillAdder.add_one_req",
        Own(_QUEUE, "_over_input", "self.rem_input")),
    "prefill": Why(
        "yes",
        Words("Only what no cache had is computed.", "只计算缓存里没有的部分。"),
        (Test(("device_hit + loaded + extend = kv",)),),
        (BarOf(Words("prompt", "prompt"), ("device_hit", "loaded", "extend")),),
        not_taken=Words("compute all {kv}", "全部 {kv} 个重算"),
        source=_MANAGERS + "schedule_batch.py · prepare_for_extend",
        own=Own(_QUEUE, "_place_one", "ev.Prefill")),
    "chunk": Why(
        "yes",
        Words("A prefill that has begun goes first in every round.",
              "已经开始的预填充在每一轮都排在最前。"),
        (Test(("extend", "rem_chunk")),),
        source=_MANAGERS + "schedule_policy.py · PrefillAdder.add_chunked_req",
        own=Own(_QUEUE, "add_chunked", "unfinished =")),
    "decoderoom": Why(
        "yes",
        Words("A step writes one page more for every request at a page's end.",
              "写到页尾的请求，下一步各要一个新页。"),
        (_ROOM_TEST,),
        (BarOf(NEED, ("need",)), BarOf(ROOM, ("available",))), "host_free",
        Words("retract a request", "撤回一个请求"),
        _MANAGERS + "schedule_batch.py · check_decode_mem",
        Own(_QUEUE, "check_decode_mem", "make_room(need)")),
    "pickretract": Why(
        "no",
        Words("Fewest outputs first, then the longest prompt, then the latest.",
              "先撤输出最少的，再看 prompt 最长的，再看最晚的。"),
        (Test(("outputs", "prompt_len", "survivors")),), (), "host_free",
        Words("retract another request", "撤回别的请求"),
        _MANAGERS + "schedule_batch.py · retract_decode",
        Own(_QUEUE, "_retract_until_fit", "order.pop()")),
    "ratio": Why(
        "note",
        Words("What share of max_new a running request is promised, from the "
              "survivors.", "给运行者承诺 max_new 的几成，由留下的请求重新估计。"),
        (Test(("before → after",)),),
        source=_MANAGERS + "new_token_ratio_tracker.py",
        own=Own(_QUEUE, "prepare_decode", "self._estimate()")),
}
WHYS["decoderoom short"] = WHYS["decoderoom"]._replace(sign="no", not_taken=None)
WHYS["evict L2"] = WHYS["evict"]._replace(
    source=_CACHE + "hiradix_cache.py · evict_host",
    own=Own(_TREE, "evict_host", "while freed < num_tokens"))
WHYS["trybackup"], WHYS["victim"], WHYS["loadback"] = (
    _BACKUP, WHYS["victim demote"]._replace(not_taken=None), _LOAD)
WHYS["trybackup ancestors_first"] = _BACKUP._replace(
    tests=(_HITS, _PARENT), bars=(), not_taken=Words("refuse it", "拒绝"),
    own=Own(_TREE, "write_backup", "ancestors_first"))
WHYS["cutprompt"] = Why(
    "note",
    Words("Outputs are seldom asked for again, prompts are: the tree is cut between "
          "them, and the prompt ranks one higher.",
          "输出很少再被用到，prompt 常会：树在两者之间切开，prompt 的优先级高一级。"),
    (Test(("tokens", "priority")),),
    not_taken=Words("keep both in one leaf", "两者同在一个叶子"),
    source="SGLang 0.5.23 · mem_cache/unified_radix_cache.py · checkpoint_into_tree",
    own=Own(_TREE, "cut_prompt", "ev.CutPrompt"))
WHYS["sendwrites"] = Why(
    "copy",
    Words("All that a step writes to L2 is one copy; no node is free to go before all "
          "of it has arrived.",
          "一步里写往 L2 的内容合成一次拷贝；全部到达之前，哪个节点都不能走。"),
    (Test(("nodes",)),),
    not_taken=Words("one copy for each node", "每个节点一次拷贝"),
    source="SGLang 0.5.23 · mem_cache/unified_radix_cache.py · flush_pending_backups",
    own=Own(_TREE, "flush_writes", "start_writing"))
WHYS["closeround"] = Why(
    "no",
    Words("A spent budget ends the round before the next request is matched.",
          "预算用完，就在匹配下一个请求之前结束本轮。"),
    (Test(("rem_input", "rem_chunk")),), (), "host_free",
    Words("match it all the same, and refuse it then", "照样匹配，然后再拒绝"),
    "SGLang 0.5.23 · managers/scheduler.py · get_new_batch_prefill",
    Own(_QUEUE, "_budget_spent", "ev.CloseRound"))
WHYS["insert chunked"] = WHYS["insert"]
WHYS["chunk unfinished"] = WHYS["chunk"]
# fmt: on

Value = float | str | None


def evaluate(sum_: str, terms: Mapping[str, Value]) -> Value:
    """Return what a sum of terms comes to, left to right; None if a term is None.

    >>> evaluate("extend + page − 1", {"extend": 16, "page": 1})
    16
    """
    total: Value = None
    sign = 1
    for word in sum_.split():
        if word in "+−→":
            sign = -1 if word == "−" else 1
            continue
        value = terms[word] if word in terms else int(word)
        if value is None or isinstance(value, str):
            return value
        total = sign * value + (total if isinstance(total, int | float) else 0)
    return total


def with_sums(why: Why, terms: Mapping[str, Value]) -> dict[str, Value]:
    """Return the terms and, by name, the sum of every row that names one."""
    known = dict(terms)
    for test in why.tests:
        for row in test.rows:
            left, equals, name = row.partition(" = ")
            if equals:
                value = evaluate(left, known)
                known.setdefault(name, value)
    return known


def holds(test: Test, terms: Mapping[str, Value]) -> bool | None:
    """Return whether the test holds; None where it compares nothing or is left out."""
    if test.unless and terms.get(test.unless) is None:
        return None
    if test.fact:
        return bool(terms[test.fact])
    if not test.test:
        return None
    left, sign, right = test.test.split()
    a, b = terms[left], terms[right]
    assert isinstance(a, int | float) and isinstance(b, int | float), test
    return {"<": a < b, "<=": a <= b, ">=": a >= b}[sign]
