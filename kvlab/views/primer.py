"""What must a reader know before the first event?

How to read the three panes, what each pattern means, and four keys: shown where the
card of the first event will be.
Left out: every other word of the page (player_words.py).
"""

from __future__ import annotations

from .theme import State, Words

# fmt: off
PANES: tuple[Words, ...] = (
    Words("L1 is GPU memory, L2 is host memory. A slot holds the KV of one token; "
          "those of L1 count from 1 (0 is spare), those of L2 from 0.",
          "L1 是显存，L2 是主机内存。一个槽位存一个 token 的 KV；"
          "L1 从 1 数起（0 备用），L2 从 0 数起。"),
    Words("Left: cached prefixes as a tree. A strip is a node, as long as its tokens; "
          "its upper deck is the copy on L1, its lower deck the copy on L2. ×2: two "
          "inserts hit it; a lock with 1: one needs it.",
          "左：缓存的前缀组成的树。一条是一个节点，长度即 token 数；上条是 L1 的副本，"
          "下条是 L2 的副本。×2：插入命中两次；锁和 1：有一个使用者。"),
    Words("Middle: both pools, and accounts that must add up. Point at anything: it "
          "lights up in every pane.",
          "中：两个池和必须配平的账目。指向任何一处，各面板同时高亮。"),
    Words("Here: at every decision, the rule with its numbers.",
          "此处：每个决策的规则和数字。"),
)

STATES: dict[State, Words] = {
    "used": Words("needed: a request runs on it, or a copy is under way",
                  "有人需要：请求在用，或拷贝未完成"),
    "held": Words("taken from the pool, not in the tree yet",
                  "已取出，还不在树中（由请求或插入拿着）"),
    "evictable": Words("cached, needed by nobody: may go", "已缓存，没人需要：可逐出"),
    "available": Words("holds nothing", "空着"),
    "host_only": Words("only L2 has it", "只有 L2 有"),
    "promised": Words("given away: a load, or a request, will fill it",
                      "已许出：由取回或请求填入"),
    "in_flight": Words("on its way between L1 and L2", "在 L1 与 L2 之间途中"),
}

KEYS: tuple[tuple[str, Words], ...] = (
    ("→", Words("next event", "下一个事件")),
    ("Ctrl →", Words("next decision or loss", "下一个决策或丢失")),
    ("P", Words("predict before you see", "先预测再看")),
    ("?", Words("all keys", "全部按键")),
)
# fmt: on
