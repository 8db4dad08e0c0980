"""What does the player ask before it shows a decision?

One question a kind of decision, or a kind and a tier, and one answer a verdict it can
have. Which answer is right is never written down: it is the verdict of the run's own
event. Left out: the second question, what was seen, whose answer is a counter's
(player/seen.js).
"""

from __future__ import annotations

from typing import NamedTuple

from .theme import Words


class Question(NamedTuple):
    """A question, with terms of the event and of the state before it in braces, and
    an answer for each verdict (an entry of phrases.py). What tells an answer from its
    neighbours stands between asterisks."""

    asks: Words
    answers: dict[str, Words]


# fmt: off
QUESTIONS: dict[str, Question] = {
    "admit": Question(
        Words("{request} brings {extend} new tokens and may answer with {max_new}. "
              "L1 has {available} available and {evictable} evictable, {promised} are "
              "promised; this prefill may compute {budget} more. L2 has {host_free} "
              "free. What happens?",
              "{request} 带来 {extend} 个新 token，最多再输出 {max_new} 个。L1 空闲 "
              "{available}、可逐出 {evictable}，已承诺 {promised}；本次预填充还能算 "
              "{budget} 个。L2 空闲 {host_free}。接下来？"),
        {"admit": Words("It is *admitted*", "*准入*"),
         "admit no_token": Words("It waits: *L1* cannot promise enough",
                                 "等待：*L1* 承诺不了这么多"),
         "admit other": Words("It waits: this *prefill* takes no more",
                              "等待：这次*预填充*装不下了"),
         "admit chunk_spent": Words("It waits: not a page of the *chunk* is left",
                                    "等待：*分块*预算不足一页")}),
    "loadback": Question(
        Words("{tokens} tokens of the prefix are on L2 only. A load is worth it from "
              "{threshold} on. L1 has {available} free. What happens?",
              "前缀中有 {tokens} 个 token 只在 L2。至少 {threshold} 个才值得取回；"
              "L1 空闲 {available}。接下来？"),
        {"loadback load": Words("*All* come back, at once", "立刻*全部*取回"),
         "loadback make_room": Words("Leaves are *evicted first*, then it is tried "
                                     "again",
                                     "*先逐出*叶子，再试一次"),
         "loadback below_threshold": Words("None: *too few* to be worth it",
                                           "不取：*太少*，不值得"),
         "loadback over_quota": Words("None: more than the *quota*",
                                      "不取：超过*配额*"),
         "loadback no_device_memory": Words("None: L1 finds *no room*",
                                            "不取：L1 *腾不出*空间")}),
    "victim": Question(
        Words("L1 evicts, and {n} is next in line: {tokens} tokens. What becomes of "
              "it?",
              "L1 正在逐出，轮到 {n}：{tokens} 个 token。它会怎样？"),
        {"victim demote": Words("It leaves L1; *its copy* on L2 stays",
                                "离开 L1；L2 的*副本留下*"),
         "victim delete": Words("It leaves L1; *no copy* is left anywhere",
                                "离开 L1；哪里都*没有副本*"),
         "victim backup": Words("It is *copied to L2 first*, then leaves L1",
                                "*先拷到 L2*，再离开 L1"),
         "victim drop": Words("It leaves L1 without a copy, *with all below it*",
                              "不留副本，*连同其下的一切*离开 L1"),
         "victim stays": Words("It *stays* on L1", "*留在* L1")}),
    "victim L2": Question(
        Words("L2 evicts, and {n} is next in line: {tokens} tokens. What becomes of "
              "it?",
              "L2 正在逐出，轮到 {n}：{tokens} 个 token。它会怎样？"),
        {"victim evict_host": Words("It is *lost for good*: only L2 has it",
                                    "*永久丢失*：只有 L2 有它"),
         "victim reclaim": Words("Its copy on L2 goes, *L1 keeps it*",
                                 "让出 L2 的副本，*L1 留下*")}),
    "trybackup": Question(
        Words("{n} has {tokens} tokens on L1 and no copy. L2 has {host_available} "
              "free. Is it written to L2?",
              "{n} 在 L1 有 {tokens} 个 token，没有副本；L2 空闲 {host_available}。"
              "会写往 L2 吗？"),
        {"trybackup write": Words("Yes, *at once*", "会，*立刻*写"),
         "trybackup ancestors_first": Words(
             "Yes, *after ancestors* that have no copy", "会，没有副本的*祖先先写*"),
         "trybackup make_room": Words("L2 has to *drop something first*",
                                      "L2 要*先丢掉*一些"),
         "trybackup parent_not_backed_up": Words("No: its *parent* is not on L2",
                                                 "不会：*父节点*不在 L2"),
         "trybackup host_full": Words("No: L2 *stays full*", "不会：L2 *仍然满着*")}),
    "decoderoom": Question(
        Words("The next decode step of {batch} requests needs {need} tokens. Does it "
              "fit once what can be evicted has been?",
              "{batch} 个请求的下一步解码要 {need} 个 token。"
              "逐出能逐出的之后放得下吗？"),
        {"decoderoom": Words("It *fits*", "*放得下*"),
         "decoderoom short": Words("It does *not*: someone has to give way",
                                   "*放不下*：有人要让位")}),
    "evicted": Question(
        Words("{ask} tokens were asked for. Leaves go whole. How many were freed?",
              "要 {ask} 个 token，叶子整个逐出。腾出了多少？"),
        {"evicted": Words("*exactly* as many", "*正好*这么多"),
         "evicted more": Words("*more*", "*更多*"),
         "evicted less": Words("*fewer*: no evictable leaf was left",
                               "*更少*：再没有可逐出的叶子")}),
}
# fmt: on

CONFIDENCE: tuple[Words, ...] = (
    Words("guess", "猜"),
    Words("unsure", "不太确定"),
    Words("fairly", "比较确定"),
    Words("certain", "确定"),
)
