"""What is the course's first half minute?

`tour()` needs no arguments and no other cell: five requests fill L1 while L2 stays
empty, the run stops by itself before the sixth, and asks. Once that is answered, two
buttons give L2 ten times as much, or L1 four slots: one changes nothing, the other
everything.
Left out: why (notebooks 02 and 05).
"""

from __future__ import annotations

from typing import Any

from ..record import events as ev
from ..views.compare import Difference
from ..views.theme import Lang, Words
from ..views.widget import Player, play
from .checks import language
from .form import Card
from .questions import moment
from .scenarios import fork_of
from .scenarios.nb00 import thirty_seconds
from .sheet import Sheet

STARTS_AT = 51
"""Three requests are in by then; the fourth and the fifth are watched."""

PAGE = Words(
    "You are on call. L2 is empty. Watch two requests enter, then predict the sixth.",
    "你在值班，L2 是空的。先看两个请求进来，再预测第六个。",
)
GAUGES: tuple[tuple[Words, str, bool], ...] = (
    (Words("P99 TTFT", "P99 TTFT"), "2 s → 40 s", True),
    (Words("L2 used", "L2 已用"), "0 / 48", False),
    (Words("hit rate", "命中率"), "OK", False),
    (Words("GPU", "GPU"), "OK", False),
)
"""The alarm that the first article begins with: name, value, whether it is red."""

THEN = Words(
    "Which would have let r6 in? Try both on the same run.",
    "怎样才能让 r6 进来？在同一次运行上两个都试试。",
)
ACTS: dict[str, tuple[Words, dict[str, int]]] = {
    "l2": (Words("Give L2 10× (48 → 480)", "L2 给 10 倍（48 → 480）"),
           {"host_tokens": 480}),
    "l1": (Words("Give L1 4 slots (24 → 28)", "L1 给 4 个槽位（24 → 28）"),
           {"pool_tokens": 28}),
}  # fmt: skip
SAME = Words(
    "{knob}: no difference in {n} events. L2 is in no term of the test.",
    "{knob}：{n} 个事件没有任何差别。判据里没有一项是 L2。",
)
PARTS = Words(
    "{knob}: they part at event {n}, where r6 is admitted.",
    "{knob}：在事件 {n} 分岔，r6 获准入。",
)


class Tour(Sheet):
    """The tour as a widget. `player` is its player; `difference` what the last button
    led to, None before any."""

    def __init__(self, lang: Lang | None = None) -> None:
        trace = thirty_seconds().trace
        self.question = moment(trace, lambda e: isinstance(e, ev.Admit) and not e.added)
        self.difference: Difference | None = None
        self.player: Player = play(
            trace, STARTS_AT, lang, predict=True, ask=[self.question], autoplay=True,
            fork=fork_of(thirty_seconds),
        )  # fmt: skip
        gauges = [[list(words), value, red] for words, value, red in GAUGES]
        self.page = Card(
            lang=lang,
            asked={"id": "00", "kind": "note", "asks": list(PAGE), "gauges": gauges},
        )
        acts = [[name, list(words)] for name, (words, _) in ACTS.items()]
        self.acts = Card(
            lang=lang,
            asked={"id": "00", "kind": "acts", "asks": list(THEN), "acts": acts},
        )
        self.acts.on_msg(self._heard)
        self.player.observe(self._answered, "answers")
        super().__init__([self.page, self.player])

    def give(self, name: str) -> Difference:
        """Run it again with more of L2 ("l2") or of L1 ("l1"); show both runs."""
        words, knobs = ACTS[name]
        self.difference = found = self.player.fork(**knobs)
        said = SAME if found.at is None else PARTS
        at = found.events if found.at is None else found.at + 1
        why = [said.to(lang).format(knob=words.to(lang), n=at) for lang in ("en", "zh")]
        self.acts.verdict = {"right": None, "why": why, "marks": {}, "show": False}
        return found

    def _answered(self, change: Any) -> None:
        self.children = [self.page, self.player, self.acts]

    def _heard(self, widget: Any, content: Any, buffers: Any) -> None:
        match content:
            case {"act": name} if name in ACTS:
                self.give(name)


def tour(lang: Lang | None = None) -> Tour:
    """Return the tour, ready to be shown; `lang` is the folder's, or the browser's."""
    return Tour(lang or language())
