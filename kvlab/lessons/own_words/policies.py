"""What should a learner's one sentence say, in notebooks 12 and 14?

What write_back saves, and why a load must hold what it reads. Which statement holds is
read off the notebook's own runs. Left out: how a sentence is sorted (grading.py).
"""

from __future__ import annotations

from random import Random

from ...record import events as ev
from ...rule import NEW, OLD
from ...views.theme import Words
from ..kinds import Belief, Case, Sentence, point
from ..questions import first
from ..scenarios.nb12 import in_turn
from ..scenarios.nb14 import coming_home


def _writes_less(random: Random) -> Case:
    through, tight, roomy = (
        in_turn(pool_tokens=pool, host_tokens=24, write_policy=policy)
        for policy, pool in (
            ("write_through", 8), ("write_back", 8), ("write_back", 9),
        )
    )  # fmt: skip
    trace = tight.trace
    at, done = first(trace, ev.Backup), first(trace, ev.BackupDone)
    freed = first(trace, ev.Evicted)
    less = roomy.written < through.written, tight.written < through.written
    when = {(True, False): "stays", (True, True): "always", (False, False): "never"}
    return Case(
        {"when": when[less], "cost": "wait" if done < freed else "nothing"}, {}, trace,
        at, {"when": at, "cost": done},
        beliefs=(
            Belief({"when": "always"}, Words(
                "Under pressure nearly all is evicted in the end, and written: "
                f"{tight.written} blocks here, as many as under write_through.",
                "压力大时几乎全部最终被逐出，也就全部写出："
                f"这里写了 {tight.written} 块，和 write_through 一样多。"), at),
            Belief({"when": "hits"}, Words(
                "write_through writes a node once, however often it is hit.",
                "write_through 每个节点只写一次，无论命中多少次。"), at),
            Belief({"cost": "nothing"}, Words(
                "The eviction waits for the copy, and the request for the eviction.",
                "逐出要等拷贝完成，请求要等逐出。"), done),
        ),
    )  # fmt: skip


WRITES_LESS = Sentence(
    id="12.E2",
    asks=Words(
        "In one sentence: when does write_back write less than write_through, and what "
        "does it cost?",
        "一句话：write_back 何时比 write_through 写得少？代价是什么？"),
    points={
        "when": point("write_back writes less", "write_back 何时写得少",
            always=("always", "总是"),
            hits=("when prefixes are hit often", "前缀常被命中时"),
            stays=("when much is never evicted", "很多内容不会被逐出时")),
        "cost": point("It costs", "代价是",
            nothing=("nothing", "没有"),
            wait=("a wait: an allocation waits for the copy",
                  "等待：分配要等拷贝完成"),
            more=("more room on L2", "L2 要更大")),
    },
    case=_writes_less,
    model=Words(
        "When much of it is never evicted; the price is that allocations wait for the "
        "copy.",
        "很多内容不会被逐出时写得少；代价是分配要等拷贝完成。"),
)  # fmt: skip


def _held(random: Random) -> Case:
    trace, safe = coming_home(OLD).trace, coming_home(NEW).trace
    dropped, loaded = first(trace, ev.EvictHost), first(trace, ev.Load)
    lost = trace.events[dropped - 1]
    read = trace.events[loaded - 1]
    assert isinstance(lost, ev.EvictHost), "a moment is the event's"
    assert isinstance(read, ev.Load), "a moment is the event's"
    given_away = lost.node == read.node and dropped < loaded
    kept = not any(
        isinstance(e, ev.EvictHost) and e.node == read.node for e in safe.events
    )
    return Case(
        {"danger": "drop" if given_away and kept else "late",
         "then": "wrong" if given_away else "slow"},
        {}, trace, dropped, {"danger": dropped, "then": loaded},
        beliefs=(
            Belief({"danger": "late"}, Words(
                "It went before it was read: the room for it was made on L2.",
                "它在读取之前就没了：为它腾位的动作动到了 L2。"), dropped),
            Belief({"then": "slow"}, Words(
                "It is not for speed: without the lock the KV is wrong.",
                "不是为了快：没有锁，KV 就是错的。"), loaded),
        ),
    )  # fmt: skip


HELD = Sentence(
    id="14.E3",
    asks=Words("In one sentence: why must a load_back lock what it is loading?",
               "一句话：load_back 为什么必须锁住它要取回的节点？"),
    points={
        "danger": point("Without the lock", "没有锁的话",
            busy=("the link would be busy longer", "链路会占用更久"),
            late=("L1 might evict it again after the load",
                  "取回之后 L1 可能又把它逐出"),
            drop=("the eviction that makes room may drop its copy from L2",
                  "为它腾位的逐出可能丢掉它在 L2 的副本")),
        "then": point("What comes of it", "后果是",
            slow=("it is computed again, slower", "要重算，慢一些"),
            wrong=("L1 holds KV that is not the prefix's",
                   "L1 里的 KV 不是这个前缀的")),
    },
    case=_held,
    model=Words(
        "The eviction that makes room may drop its copy from L2 before it is read, and "
        "what is read then is not its KV.",
        "为它腾位的逐出可能先丢掉它在 L2 的副本，之后读到的就不是它的 KV。"),
)  # fmt: skip
