"""What must a reader know before the first event?

How to read the three panes, what each pattern and each mark means, and four keys: shown
where the card of the first event will be; patterns and marks also beside all keys.
Left out: every other word of the page (player_words.py).
"""

from __future__ import annotations

from typing import NamedTuple

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
    "held": Words("outside the tree: taken for it, or just given up by it",
                  "不在树中：为它取出，或刚由它让出"),
    "evictable": Words("cached, needed by nobody: may go", "已缓存，没人需要：可逐出"),
    "available": Words("holds nothing", "空着"),
    "host_only": Words("only L2 has it", "只有 L2 有"),
    "promised": Words("given away: a load will fill it; in a sum: what requests may "
                      "still take",
                      "已许出：由取回填入；算式中：请求还可能占用的"),
    "in_flight": Words("on its way between L1 and L2", "在 L1 与 L2 之间途中"),
    "copy": Words("L1 has it too", "L1 也有"),
    "left": Words("given up in this event, the other copy stays",
                  "本事件刚让出，另一份还在"),
    "lost": Words("gone in this event, with no copy left", "本事件丢失，再无副本"),
    "refused": Words("asked for, and not to be had", "要了，但给不出"),
}


class Mark(NamedTuple):
    """A mark that lies on patterns: its name, and what it says."""

    name: Words
    says: Words


MARKS: dict[str, Mark] = {
    "ring": Mark(Words("in this event", "本事件"),
                 Words("what the event on show is about", "当前事件涉及的部分")),
    "chosen": Mark(Words("chosen", "选中"),
                   Words("dashed: pointed at", "虚线：指针所指")),
    "over": Mark(Words("beyond need", "多腾出"),
                 Words("freed beyond what was asked: leaves go whole",
                       "超出所要而腾出：叶子整个逐出")),
    "twin": Mark(Words("twin", "另一份"),
                 Words("edge towards the other pool: a copy lies there too",
                       "朝向另一池的边：那边也有副本")),
    "lock": Mark(Words("lock_ref", "lock_ref"),
                 Words("above a node: so many hold it, requests and copies; a load "
                       "does before L1 has the node",
                       "节点上方：有几个使用者（请求、拷贝）；取回先锁住它，再到 L1")),
    "host_lock": Mark(Words("host_lock_ref", "host_lock_ref"),
                      Words("on L2, or on a lower deck: a load reads this copy, so L2 "
                            "keeps it (0.5.23)",
                            "在 L2 或下条上：取回在读这份副本，L2 必须保留（0.5.23）")),
    "order": Mark(Words("turn", "次序"),
                  Words("of a node in a chain; dashed: next to be evicted",
                        "节点在链中的次序；虚线：接下来会被逐出")),
}

BLOCK_PANES: tuple[Words, ...] = (
    Words("L1 is GPU memory, L2 the connector's pool on the CPU. A block holds the KV "
          "of block_size tokens. Blocks count from 1: block 0 is the null block, which "
          "no request gets.",
          "L1 是显存，L2 是连接器在 CPU 上的池。一个块存 block_size 个 token 的 KV。"
          "块从 1 数起：0 是 null block，不给任何请求。"),
    Words("Left: requests, with computed / known tokens and their block tables.",
          "左：请求，已计算 / 已知 token，和它们的块表。"),
    Words("Middle: every block in its place; 3×2: block 3 has two owners. Then the "
          "free queue: the block at its left end is taken next. Under its number the "
          "first digits of its hash.",
          "中：每个块在其位置；3×2：块 3 有两个持有者。接着是空闲队列：最左的块下一个被"
          "取走。块号下面是哈希的头几位。"),
    Words("Here: at every decision, the rule with its numbers.",
          "此处：每个决策的规则和数字。"),
)

BLOCK_STATES: dict[State, Words] = {
    "used": Words("ref_cnt above 0: a request has it, or a store or a load reads or "
                  "fills it; on L2 too it is not evicted then",
                  "ref_cnt 大于 0：请求持有，或存储、取回正在读写；在 L2 也不会被逐出"),
    "evictable": Words("in the free queue, and a hit can still find it",
                       "在空闲队列里，仍可命中"),
    "available": Words("in the free queue, and nothing can find it",
                       "在空闲队列里，无法命中"),
    "promised": Words("in a sum: what the watermark keeps, or loads reserve",
                      "算式中：水位线保留的，或为取回预留的"),
    "host_only": STATES["host_only"],
    "in_flight": STATES["in_flight"],
    "refused": STATES["refused"],
}

BLOCK_MARKS: dict[str, Mark] = {
    "ring": MARKS["ring"],
    "named": Mark(Words("underlined", "下划线"),
                  Words("in a block table: it has a hash, so others can hit it",
                        "块表中：它有哈希，别的请求可以命中")),
}

KEYS: tuple[tuple[str, Words], ...] = (
    ("→", Words("next event", "下一个事件")),
    ("Ctrl →", Words("next decision or loss", "下一个决策或丢失")),
    ("P", Words("predict before you see", "先预测再看")),
    ("?", Words("all keys", "全部按键")),
)
# fmt: on
