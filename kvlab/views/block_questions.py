"""What does the player ask before it shows a decision of vLLM's?

As questions.py does for the tree. A victim can only be one of two, but what a reader
may expect of another engine stands beside them: such an answer is never the run's.
Left out: Lookup, Schedule and Stop, which follow from what is on the page.
"""

from __future__ import annotations

from .questions import Question
from .theme import Words

# fmt: off
BLOCK_QUESTIONS: dict[str, Question] = {
    "slots": Question(
        Words("{request} needs {need} blocks. {free} are free, those with a hash "
              "included; {reserved} of them are reserved for loads, the watermark "
              "keeps {watermark}. What happens?",
              "{request} 需要 {need} 个块。空闲 {free}（含有哈希的），其中 {reserved} "
              "个已为取回预留，水位线保留 {watermark}。接下来？"),
        {"slots": Words("It *gets* them", "*得到*这些块"),
         "slots none": Words("*None*: it waits, or somebody has to give way",
                             "*得不到*：等待，或有人让位")}),
    "pickvictim": Question(
        Words("{request} cannot get its next block. Who gives way?",
              "{request} 得不到下一个块。谁让位？"),
        {"pickvictim": Words("Another: the *last* admitted, or least urgent",
                             "别人：*最晚*准入的，或优先级最低的"),
         "pickvictim first": Words("Another: the *first* admitted",
                                   "别人：*最早*准入的"),
         "pickvictim most": Words("Another: who holds *most blocks*",
                                  "别人：*占块最多*的"),
         "pickvictim itself": Words("*Itself*: nobody is behind it",
                                    "*它自己*：没有排在它后面的")}),
    "offer": Question(
        Words("{chunks} chunks of {request} are offered to the CPU pool, where {free} "
              "places are free. Are they stored?",
              "{request} 的 {chunks} 个分块交给 CPU 池，那里有 {free} 个空位。"
              "会存入吗？"),
        {"offer": Words("*Yes*", "*会*"),
         "offer refused": Words("*No*: it cannot drop enough",
                                "*不会*：腾不出足够空位")}),
}
# fmt: on
