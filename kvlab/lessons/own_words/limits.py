"""What should a learner's one sentence say, in notebooks 05, 10 and 11?

Admission, retraction, on call. Which statement holds is read off the notebook's own
runs. Left out: how a sentence is sorted (grading.py).
"""

from __future__ import annotations

from random import Random

from ...record import block_events as be
from ...record import events as ev
from ...views.theme import Words
from ..kinds import Belief, Case, Sentence, point
from ..questions import first, moment, state_at
from ..scenarios.nb05 import who_said_no
from ..scenarios.nb10 import preempt, retract
from ..scenarios.nb11 import readings


def _not_in_it(random: Random) -> Case:
    plain, large = who_said_no(), who_said_no(host_tokens=1280)
    trace = plain.trace
    at = moment(trace, lambda e: isinstance(e, ev.Admit) and not e.added)
    refused = trace.events[at - 1]
    assert isinstance(refused, ev.Admit), "a moment is the event's"
    host = state_at(trace, at).host_account()
    same = [*map(str, trace.events)] == [*map(str, large.trace.events)]
    reads = "l1" if same and refused.line == "room" else "both"
    l2 = "unread" if same and host.available else "full"
    return Case(
        {"reads": reads, "l2": l2}, {}, trace, at,
        beliefs=(
            Belief({"l2": "full"}, Words(
                "L2 was empty all along.", "L2 一直是空的。"), at),
            Belief({"reads": "gpu"}, Words(
                "The prefill had room for 16,376 tokens more.",
                "这次预填充还容得下 16,376 个 token。"), at),
        ),
    )  # fmt: skip


NOT_IN_IT = Sentence(
    id="05.E4",
    asks=Words(
        "In one sentence: why does ten times the L2 admit not one more request here?",
        "一句话：L2 给十倍，这里为什么一个请求也多放不进来？"),
    points={
        "reads": point("The admission test that said no reads",
                       "拦下它的那条准入判据读的是",
            gpu=("how busy the GPU is", "GPU 有多忙"),
            l1=("counters of L1", "L1 的计数器"),
            both=("counters of L1 and L2", "L1 和 L2 的计数器")),
        "l2": point("L2", "L2",
            full=("was full", "满了"),
            slow=("was too slow", "太慢"),
            unread=("is in no term of the test", "不在判据的任何一项里")),
    },
    case=_not_in_it,
    model=Words(
        "The admission test reads L1's counters only; L2 is in none of its terms.",
        "准入判据只读 L1 的计数器，L2 不在任何一项里。"),
)  # fmt: skip


def _gives_way(random: Random) -> Case:
    old, new = retract().trace, preempt().trace
    here, there = first(old, ev.Retract), first(new, be.Preempt)
    picked, victim = old.events[here - 1], new.events[there - 1]
    assert isinstance(picked, ev.Retract), "a moment is the event's"
    assert isinstance(victim, be.Preempt), "a moment is the event's"
    called = {"a": "oldest", "b": "fewest", "c": "last"}
    again = moment(
        new, lambda e: isinstance(e, be.Lookup) and e.request == victim.request, there
    )
    found = new.events[again - 1]
    assert isinstance(found, be.Lookup), "a moment is the event's"
    return Case(
        {"sglang": called[picked.request], "vllm": called[victim.request],
         "kept": "cached" if found.local else "nothing"},
        {}, new, there, {"sglang": here, "kept": again}, runs={"sglang": old},
        beliefs=(
            Belief({"sglang": "oldest"}, OLDEST), Belief({"vllm": "oldest"}, OLDEST),
            Belief({"kept": "nothing"}, Words(
                "num_computed_tokens is 0, but the freed blocks keep their hash: what "
                "nobody took in the meantime is found again.",
                "num_computed_tokens 归零，但释放的块哈希还在：期间没被取走的会再次"
                "命中。"), again),
            Belief({"kept": "swapped"}, Words(
                "Neither engine swaps a running request out.",
                "两个引擎都不会把运行中的请求换出。"), again),
        ),
    )  # fmt: skip


OLDEST = Words(
    "Neither engine looks for the oldest: SGLang counts outputs, then prompt tokens; "
    "vLLM takes the last in the running list.",
    "两个引擎都不看谁最老：SGLang 比输出数，再比 prompt 长度；vLLM 取运行列表的最后"
    "一个。",
)
VICTIMS = {
    "oldest": ("the oldest", "最老的"),
    "fewest": ("who has the fewest outputs; of equals, the longest prompt",
               "输出最少的；相同时 prompt 最长的"),
    "last": ("who was admitted last", "最后准入的"),
}  # fmt: skip
GIVES_WAY = Sentence(
    id="10.E4",
    asks=Words(
        "In one sentence: who gives way in SGLang, who in vLLM, and what of its KV "
        "survives?",
        "一句话：SGLang 里谁让位，vLLM 里谁让位，它的 KV 还剩什么？"),
    points={
        "sglang": point("In SGLang gives way", "SGLang 里让位的是", **VICTIMS),
        "vllm": point("In vLLM (fcfs) gives way", "vLLM（fcfs）里让位的是", **VICTIMS),
        "kept": point("Of its KV", "它的 KV",
            nothing=("nothing is left: it prefills from token 0",
                     "什么也不剩：从 token 0 重新预填充"),
            swapped=("all is swapped out to the CPU", "全部换出到 CPU"),
            cached=("what is cached can be hit until somebody takes it",
                    "缓存的部分在被取走前仍能命中")),
    },
    case=_gives_way,
    model=Words(
        "In SGLang the one with the fewest outputs, in vLLM the last admitted; what is "
        "cached of it is found again until somebody takes it.",
        "SGLang 撤回输出最少的，vLLM 抢占最后准入的；缓存的部分在被取走前仍能命中。"),
)  # fmt: skip


def _hit_rate(random: Random) -> Case:
    queued = [now for now in readings("link") if now.queue >= 40]
    rates = [now.hit_rate for now in queued if now.hit_rate is not None]
    high = min(rates) > 0.5
    return Case(
        {"tells": "saved" if high else "room", "silent": "room" if high else "saved"},
        beliefs=(
            Belief({"tells": "well"}, Words(
                f"Over 50 % hit, and {max(now.queue for now in queued):.0f} wait: see "
                "the slow link.",
                f"命中超过 50 %，却有 {max(now.queue for now in queued):.0f} 个在排队："
                "看慢链路那次。")),
        ),
    )  # fmt: skip


HIT_RATE = Sentence(
    id="11.E4",
    asks=Words(
        "In one sentence: what does a high hit rate tell, and what does it not?",
        "一句话：命中率高说明了什么，没有说明什么？"),
    points={
        "tells": point("It tells", "它说明了",
            well=("that all is well", "一切正常"),
            room=("that the pool has room", "池子还装得下"),
            saved=("how much prefill was saved", "省下了多少预填充")),
        "silent": point("It does not tell", "它没有说明",
            saved=("how much prefill was saved", "省下了多少预填充"),
            room=("whether the pool has room, or who waits",
                  "池子装不装得下、有没有人排队")),
    },
    case=_hit_rate,
    model=Words(
        "It tells how much prefill was saved, not whether the pool has room or who "
        "waits for it.",
        "命中率只说明省了多少预填充，不说明池子装不装得下、有没有人在等。"),
)  # fmt: skip
