"""Which words head the card of a decision?

One entry a kind, or a kind and its verdict, as in phrases.py, and shorter.
"""

from __future__ import annotations

from .theme import Words

# fmt: off
VERDICTS: dict[str, Words] = {
    "step": Words("{op}", "{op}"),
    "match": Words(
        "{device} on L1, {host} on L2 alone", "L1 上 {device}，仅在 L2 的 {host}"),
    "insert": Words("Insert {tokens} tokens", "插入 {tokens} 个 token"),
    "cutprompt": Words(
        "The prompt is set apart: {tokens} tokens",
        "单独划出 prompt：{tokens} 个 token"),
    "makeroom": Words("Make room: evict {ask}", "腾位：逐出 {ask}"),
    "evict": Words("Evict {ask} from {tier}", "从 {tier} 逐出 {ask}"),
    "victim": Words("{n}: {fate}", "{n}：{fate}"),
    "victim demote": Words("{n} is demoted: L2 keeps it", "{n} 降级：L2 留有副本"),
    "victim demote gone": Words(
        "{n} is demoted: no copy is left", "{n} 降级：再无副本"),
    "victim evict_host gone": Words(
        "{n} leaves L2, which no longer has it", "{n} 离开 L2：早已不在"),
    "victim delete": Words("{n} is deleted: no copy is left", "删除 {n}：再无副本"),
    "victim backup": Words("{n} is to be backed up first", "{n} 先试着备份"),
    "victim stays": Words("{n} stays on L1", "{n} 留在 L1"),
    "victim evict_host": Words("{n} leaves L2 for good", "{n} 离开 L2，再无副本"),
    "victim drop": Words("{n} leaves {level} for good", "{n} 离开 {level}，再无副本"),
    "victim reclaim": Words("{n} leaves L2, L1 keeps it", "{n} 离开 L2，L1 留有副本"),
    "evicted": Words("{tier} freed {freed}, asked for {ask}",
                     "向 {tier} 要 {ask} 个，腾出 {freed} 个"),
    "trybackup": Words("No backup: {verdict}", "不备份：{verdict}"),
    "trybackup parent_not_backed_up": Words(
        "No backup: its parent is not on L2", "不备份：父节点不在 L2"),
    "trybackup host_full": Words("No backup: L2 has no room", "不备份：L2 放不下"),
    "trybackup write": Words("Back up {n}", "备份 {n}"),
    "trybackup make_room": Words("Make room on L2 for {n}", "在 L2 为 {n} 腾位"),
    "trybackup ancestors_first": Words(
        "Back up the ancestors, then {n}", "先备份祖先，再备份 {n}"),
    "sendwrites": Words("{number} writes in one copy", "{number} 份内容合成一次拷贝"),
    "loadback": Words("Load nothing: {verdict}", "不取回：{verdict}"),
    "loadback below_threshold": Words(
        "Load nothing: too few to be worth it", "不取回：太少，不值得"),
    "loadback over_quota": Words(
        "Load nothing: more than the quota", "不取回：超过配额"),
    "loadback no_device_memory": Words(
        "Load nothing: L1 has no room", "不取回：L1 放不下"),
    "loadback load": Words("Load all {tokens}", "全部取回 {tokens} 个"),
    "loadback make_room": Words(
        "Make room, then load {tokens}", "腾位后取回 {tokens} 个"),
    "candidate": Words("May {request} join?", "{request} 能加入吗？"),
    "admit": Words("{request} is admitted", "{request} 获准入"),
    "admit no_token": Words(
        "NO_TOKEN: {request} is not admitted", "NO_TOKEN：{request} 未获准入"),
    "admit other": Words(
        "OTHER: {request} is not admitted", "OTHER：{request} 未获准入"),
    "admit chunk_spent": Words(
        "OTHER: {request} is not admitted", "OTHER：{request} 未获准入"),
    "toolarge": Words("{request} can never run", "{request} 永远无法运行"),
    "closeround": Words("The round is over", "本轮结束"),
    "prefill": Words("Compute {extend} tokens", "计算 {extend} 个 token"),
    "chunk": Words("The last {extend} tokens", "最后 {extend} 个 token"),
    "chunk unfinished": Words("A chunk of {extend} tokens", "一块 {extend} 个 token"),
    "decoderoom": Words("The step fits", "放得下"),
    "decoderoom short": Words("The step does not fit", "放不下"),
    "pickretract": Words("{request} is retracted", "撤回 {request}"),
    "ratio": Words("{before} → {after}", "{before} → {after}"),
    "compared": Words("{slots} slots are right", "{slots} 个槽位正确"),
    "compared wrong": Words(
        "{wrong} of {slots} slots are wrong", "{slots} 个槽位中 {wrong} 个有误"),
    "wrong": Words("{tier} slot {slot} is wrong", "{tier} 槽位 {slot} 有误"),
}
# fmt: on
