"""What does the player ask before it shows a decision?

One question a kind of decision, and one answer a verdict it can have. Which answer is
right is never written down: it is the verdict of the run's own event.
Left out: the second question, what was seen, whose answer is a counter's (player/).
"""

from __future__ import annotations

from typing import NamedTuple

from .theme import Words


class Question(NamedTuple):
    """A question, with terms of the event and of the state before it in braces, and
    an answer for each verdict (an entry of phrases.py)."""

    asks: Words
    answers: dict[str, Words]


# fmt: off
QUESTIONS: dict[str, Question] = {
    "admit": Question(
        Words("{request} brings {extend} new tokens and may answer with {max_new}. "
              "L1 has {available} available and {evictable} evictable, {promised} are "
              "promised. L2 has {host_free} free. What happens?",
              "{request} 带来 {extend} 个新 token，最多再输出 {max_new} 个。L1 空闲 "
              "{available}、可逐出 {evictable}，已承诺 {promised}；L2 空闲 "
              "{host_free}。接下来？"),
        {"admit": Words("It is admitted", "获准入"),
         "admit no_token": Words("It waits: L1 cannot promise enough",
                                 "等待：L1 承诺不了这么多"),
         "admit other": Words("It waits: this prefill takes no more",
                              "等待：这次预填充装不下了"),
         "admit chunk_spent": Words("It waits: not a page of the chunk is left",
                                    "等待：分块预算不足一页")}),
    "loadback": Question(
        Words("{tokens} tokens of the prefix are on L2 only. A load is worth it from "
              "{threshold} on. L1 has {available} free. What happens?",
              "前缀中有 {tokens} 个 token 只在 L2。至少 {threshold} 个才值得取回；"
              "L1 空闲 {available}。接下来？"),
        {"loadback load": Words("All of them come back", "全部取回"),
         "loadback make_room": Words("Leaves are evicted first, then all come back",
                                     "先逐出叶子，再全部取回"),
         "loadback below_threshold": Words("None: too few to be worth it",
                                           "不取：太少，不值得"),
         "loadback over_quota": Words("None: more than the quota", "不取：超过配额"),
         "loadback no_device_memory": Words("None: L1 finds no room",
                                            "不取：L1 腾不出空间")}),
    "victim": Question(
        Words("{n} is the coldest leaf: {tokens} tokens. What becomes of it?",
              "{n} 是最冷的叶子，{tokens} 个 token。它会怎样？"),
        {"victim demote": Words("Its L1 slots go, its copy on L2 stays",
                                "让出 L1 槽位，L2 的副本留下"),
         "victim delete": Words("It is deleted: no copy is left",
                                "删除：不留副本"),
         "victim backup": Words("It is copied to L2 first, then leaves L1",
                                "先拷到 L2，再离开 L1"),
         "victim stays": Words("It stays on L1", "留在 L1"),
         "victim evict_host": Words("It is dropped from L2 for good",
                                    "从 L2 永久删除"),
         "victim drop": Words("It leaves L1 without a copy, with all below it",
                              "不留副本，连同其下的一切离开 L1"),
         "victim reclaim": Words("Its copy on L2 goes, L1 keeps it",
                                 "让出 L2 的副本，L1 留下")}),
    "trybackup": Question(
        Words("{n} has {tokens} tokens on L1 and no copy. L2 has {host_available} "
              "free. Is it written to L2?",
              "{n} 在 L1 有 {tokens} 个 token，没有副本；L2 空闲 {host_available}。"
              "会写往 L2 吗？"),
        {"trybackup write": Words("Yes, at once", "会，立刻写"),
         "trybackup make_room": Words("L2 has to drop something first",
                                      "L2 要先丢掉一些"),
         "trybackup parent_not_backed_up": Words("No: its parent is not on L2",
                                                 "不会：父节点不在 L2"),
         "trybackup ancestors_first": Words(
             "Yes, and ancestors without a copy go first", "会，没有副本的祖先先写"),
         "trybackup host_full": Words("No: L2 stays full", "不会：L2 仍然满着")}),
    "decoderoom": Question(
        Words("The next decode step of {batch} requests needs {need} tokens. Does it "
              "fit once what can be evicted has been?",
              "{batch} 个请求的下一步解码要 {need} 个 token。"
              "逐出能逐出的之后放得下吗？"),
        {"decoderoom": Words("It fits", "放得下"),
         "decoderoom short": Words("It does not: someone has to give way",
                                   "放不下：有人要让位")}),
    "evicted": Question(
        Words("{ask} tokens were asked for. Leaves go whole. How many were freed?",
              "要 {ask} 个 token，叶子整个逐出。腾出了多少？"),
        {"evicted": Words("exactly as many", "正好这么多"),
         "evicted more": Words("more", "更多"),
         "evicted less": Words("fewer: no leaf was left", "更少：没有叶子了")}),
}
# fmt: on

CONFIDENCE: tuple[Words, ...] = (
    Words("guess", "猜"),
    Words("unsure", "不太确定"),
    Words("fairly", "比较确定"),
    Words("certain", "确定"),
)
