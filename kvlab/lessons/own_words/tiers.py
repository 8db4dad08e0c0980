"""What should a learner's one sentence say, in notebooks 06 to 09?

The copy to L2, loss, the way back, what L2 does for P99. Which statement holds is read
off the notebook's own runs. Left out: how a sentence is sorted (grading.py).
"""

from __future__ import annotations

from random import Random

from ...record import events as ev
from ...views.theme import Words
from ..kinds import Belief, Case, Sentence, point
from ..questions import DELETED, LOST, fates, first, moment, state_at
from ..scenarios.nb06 import first_byte
from ..scenarios.nb07 import A, B, C, three_fates
from ..scenarios.nb08 import half_a_chain, loaded_at_first
from ..scenarios.nb09 import Guests, Served, serve


def _first_copy(random: Random) -> Case:
    trace = first_byte().trace
    written, locked = first(trace, ev.Backup), first(trace, ev.Lock)
    ops = [e.op for e in trace.events[:written] if isinstance(e, ev.Step)]
    called = {("insert",): "first", ("insert", "ack_write", "insert"): "second"}
    before, under_way = (state_at(trace, at).account() for at in (written, locked))
    pays = "lock" if under_way.protected > before.protected else "nothing"
    return Case(
        {"when": called[tuple(ops)], "pays": pays}, {}, trace, written,
        {"when": written, "pays": locked},
        beliefs=(
            Belief({"when": "second"}, Words(
                "The insert itself is hit 1, and write_through's threshold is 1. The "
                "second hit is selective's.",
                "插入本身就是第 1 次命中，write_through 的阈值是 1；第 2 次是 "
                "selective 的规则。"), written),
            Belief({"when": "match"}, Words(
                "A match counts nothing; the insert does.",
                "match 不计数，insert 才计。"), written),
            Belief({"pays": "nothing"}, Words(
                "The copy under way locks the path: evictable became protected.",
                "在途拷贝锁住路径：evictable 变成了 protected。"), locked),
        ),
    )  # fmt: skip


FIRST_COPY = Sentence(
    id="06.E4",
    asks=Words(
        "In one sentence: when does write_through copy a prefix to L2, and what does "
        "L1 pay until the copy is done?",
        "一句话：write_through 何时把前缀拷到 L2？拷贝完成前 L1 付出什么？"),
    points={
        "when": point("write_through copies", "write_through 何时拷贝",
            match=("when a match finds the prefix", "match 命中这个前缀时"),
            second=("at the second access", "第二次访问时"),
            first=("at the first insert", "首次插入时")),
        "pays": point("Until the copy is done L1 pays", "拷贝完成前 L1 付出",
            nothing=("nothing: its ledger is not touched", "什么也不付：账本不动"),
            slots=("slots of its own for the copy", "拷贝要另占槽位"),
            lock=("a lock: the path cannot be evicted", "一把锁：路径不能被逐出")),
    },
    case=_first_copy,
    model=Words(
        "At the first insert; and the path stays locked until the copy is "
        "acknowledged.",
        "首次插入就拷贝；在 ack 之前，路径一直锁着。"),
)  # fmt: skip


def _for_good(random: Random) -> Case:
    trace = three_fates().trace
    found = fates(trace, {"A": A, "B": B, "C": C})
    gone = {fate for fate in found.values() if fate in (DELETED, LOST)}
    left = [
        n.id
        for n in state_at(trace, len(trace)).nodes.values()
        if n.host_pages is not None
    ]
    deleted, dropped = first(trace, ev.Delete), first(trace, ev.EvictHost)
    ways = {(DELETED,): "never", (LOST,): "dropped", (DELETED, LOST): "both"}
    return Case(
        {"when": "copy" if len(gone) < len(found) and 1 in left else "every",
         "how": ways[tuple(sorted(gone))]},
        {}, trace, deleted, {"when": first(trace, ev.Demote), "how": dropped},
        beliefs=(
            Belief({"when": "every"}, Words(
                "Not every one: A left L1 and could be had again.",
                "并非每次：A 离开 L1 后仍能取回。"), first(trace, ev.Demote)),
            Belief({"when": "second"}, Words(
                "write_through backs up at the first insert: threshold 1 is hit 1.",
                "write_through 在第一次插入就备份：阈值 1 即第 1 次命中。"),
                first(trace, ev.Backup)),
            Belief({"how": "never"}, Words(
                "C had a copy, and L2 dropped it for D.",
                "C 有过副本，L2 为了 D 把它丢了。"), dropped),
            Belief({"how": "dropped"}, Words(
                "B never had a copy: a middle chunk counts no hit.",
                "B 从未有过副本：中间 chunk 不计命中。"), deleted),
        ),
    )  # fmt: skip


FOR_GOOD = Sentence(
    id="07.E4",
    asks=Words("In one sentence: when is an evicted prefix lost for good?",
               "一句话：被逐出的前缀什么时候才永久丢失？"),
    points={
        "when": point("It is lost", "什么时候丢失",
            every=("at every eviction from L1", "每次从 L1 逐出时"),
            second=("if it was not accessed a second time", "没有被第二次访问过时"),
            copy=("if no copy of it is left on L2", "L2 上没有副本时")),
        "how": point("There is no copy because", "为什么没有副本",
            never=("it was never backed up, no other way", "只可能是从未备份"),
            dropped=("L2 dropped it, no other way", "只可能是被 L2 丢弃"),
            both=("it was never backed up, or L2 dropped it",
                  "从未备份，或被 L2 丢弃")),
    },
    case=_for_good,
    model=Words(
        "When no copy of it is left on L2: it was never backed up, or L2 dropped it.",
        "L2 上没有副本时：要么从未备份，要么被 L2 丢弃。"),
)  # fmt: skip


def _not_free(random: Random) -> Case:
    trace = half_a_chain().trace
    asked = first(trace, ev.LoadBack)
    loaded = first(trace, ev.Load, asked)
    read = trace.events[loaded - 1]
    assert isinstance(read, ev.Load), "a moment is the event's"
    at_first = loaded_at_first(trace)
    return Case(
        {"takes": "slots" if len(read.pages) else "nothing",
         "else": "part" if at_first else "none"},
        {}, trace, asked, {"takes": loaded, "else": asked},
        beliefs=(
            Belief({"takes": "nothing"}, Words(
                "It takes as many slots of L1 as it has tokens, like a prefill.",
                "它有多少 token 就占多少 L1 槽位，和预填充一样。"), loaded),
            Belief({"else": "part"}, Words(
                "All or nothing: one allocation for the whole chain. L1 had room for "
                "P2, and not even P2 was loaded.",
                "全有或全无：整条链只做一次分配。L1 放得下 P2，但 P2 也没有取回。"),
                asked),
        ),
    )  # fmt: skip


NOT_FREE = Sentence(
    id="08.E4",
    asks=Words(
        "In one sentence: what does an L2 hit take from L1, and what happens if L1 "
        "cannot give it?",
        "一句话：L2 命中要占用 L1 的什么？L1 给不出时会怎样？"),
    points={
        "takes": point("An L2 hit takes of L1", "L2 命中占用 L1 的",
            nothing=("nothing: L2 extends L1", "什么也不占：L2 扩展了 L1"),
            slots=("a slot for each token of the chain", "链上每个 token 一个槽位")),
        "else": point("If L1 cannot give it", "L1 给不出时",
            part=("as much as fits is loaded", "能放多少取回多少"),
            waits=("the request waits until it can", "请求一直等到放得下"),
            none=("nothing is loaded, and it is computed", "一点也不取回，改为重算")),
    },
    case=_not_free,
    model=Words(
        "A slot for every token of the chain; if L1 cannot give all of them, nothing "
        "is loaded and the request computes it.",
        "整条链每个 token 要一个槽位；L1 给不全就一点也不取回，由请求重算。"),
)  # fmt: skip


def _sooner(random: Random) -> Case:
    shared, plain = serve(Guests()), serve(Guests(host_tokens=0))
    alone, alone_plain = (
        serve(Guests(share=0.0, host_tokens=host)) for host in (Guests().host_tokens, 0)
    )
    slow = serve(Guests(link_gbps=1.0))
    at = moment(shared.trace, lambda e: isinstance(e, ev.Load))
    gains = shared.p99 < plain.p99, alone.p99 < alone_plain.p99
    who = {(True, False): "shared", (True, True): "all", (False, False): "nobody"}
    more = _peak(shared) > _peak(plain) or _peak(alone) > _peak(alone_plain)
    return Case(
        {"seats": "more" if more else "same", "who": who[gains],
         "link": "keeps" if slow.p99 > plain.p99 else "any"},
        {}, shared.trace, at,
        beliefs=(
            Belief({"seats": "more"}, Words(
                "Admission counts L1's slots. Who hits leaves sooner, so the queue is "
                "shorter.",
                "准入只数 L1 的槽位。命中的请求走得更快，队列才变短。"), at),
            Belief({"who": "nobody"}, Words(
                f"With a shared prefix P99 fell from {plain.p99:.1f} to "
                f"{shared.p99:.1f} s.",
                f"有共享前缀时，P99 从 {plain.p99:.1f} 降到 {shared.p99:.1f} s。"),
                at),
            Belief({"link": "any"}, Words(
                f"Over 1 GB/s P99 is {slow.p99:.1f} s, without L2 {plain.p99:.1f} s.",
                f"链路只有 1 GB/s 时 P99 为 {slow.p99:.1f} s，没有 L2 时是 "
                f"{plain.p99:.1f} s。"), at),
        ),
    )  # fmt: skip


def _peak(run: Served) -> int:
    return run.tallies.peak_running


SOONER = Sentence(
    id="09.E4",
    asks=Words(
        "In one sentence: what does L2 do for concurrency and for P99, and on which "
        "two conditions?",
        "一句话：L2 对并发和 P99 有什么作用，前提是哪两条？"),
    points={
        "seats": point("With L2 run at once", "有了 L2，同时运行的请求",
            more=("more requests", "更多"), same=("no more requests", "不会更多")),
        "who": point("P99 can fall for", "P99 能降下来的是",
            nobody=("nobody: L2 mends the hit rate only", "谁也不行：L2 只解决命中率"),
            all=("all requests", "所有请求"),
            shared=("requests with a shared prefix", "有共享前缀的请求")),
        "link": point("That asks of the link", "对链路的要求",
            any=("nothing", "没有要求"),
            keeps=("that it keeps up", "要跟得上")),
    },
    case=_sooner,
    model=Words(
        "L2 adds no seats; it makes guests with a shared prefix leave sooner, if the "
        "link keeps up.",
        "L2 不增加席位；它只让有共享前缀的请求走得更快，前提是链路跟得上。"),
)  # fmt: skip
