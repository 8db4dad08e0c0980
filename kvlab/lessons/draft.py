"""How does a learner make a tour of a run, and how does a neighbour mark it?

A `Draft` is a player to write notes in, and beneath it a card: what the run says of the
tour so far, and a page of it for somebody else. A `Rubric` is the neighbour's card: it
asks what no machine can see, and turns the marks into words to hand back.
Left out: what the run says of a tour (presenting.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import ConfigError, KvlabError, TraceError
from ..files import replacing
from ..record.folding import is_among
from ..record.trace import Trace
from ..views.page import to_html
from ..views.theme import Lang, Words
from ..views.widget import play
from .checks import language
from .form import Card
from .grading import NOT_YET
from .presenting import Point, review
from .sheet import Sheet

PAGE = "my_tour.html"

ASKS = Words(
    "Write five to seven notes to this run (key N) that tell somebody who has not seen "
    "it why event {at} happened. Then let the run look at them.",
    "给这次运行写五到七条批注（按 N），讲给没看过它的人听：事件 {at} 为什么发生。"
    "然后让运行来检查。",
)
ACTS = {
    "review": Words("Check my tour", "检查我的导览"),
    "save": Words(f"Save it as {PAGE}", f"存为 {PAGE}"),
}
READY = Words("The run finds nothing to mend.", "运行没有查出要改的。")
NOTHING = Words("No note yet: nothing to save.", "还没有批注，没有可存的。")
SAVED = Words(
    "{n} notes are in {where}. It opens in any browser, without a server or network.",
    "{n} 条批注已存入 {where}。任何浏览器都能打开，不要服务器，也不联网。",
)


class Draft(Sheet):
    """A tour in the making: `player` holds its notes, `points` what the run said of
    them last, by criterion."""

    def __init__(
        self, trace: Trace, outcome: int, notes: Mapping[int, str], lang: Lang | None
    ) -> None:
        self.trace, self.outcome = trace, outcome
        self.points: dict[str, Point] = {}
        self._lang = lang
        self.player = play(trace, max(min(notes, default=1) - 1, 0), lang, notes=notes)
        asks = [ASKS.to(each).format(at=outcome) for each in ("en", "zh")]
        acts = [[name, list(words)] for name, words in ACTS.items()]
        self.card = Card(
            lang=lang, asked={"id": "13", "kind": "acts", "asks": asks, "acts": acts}
        )
        self.card.on_msg(self._heard)
        self.player.observe(self._written, ["notes", "bookmarks"])
        super().__init__([self.player, self.card])

    @property
    def notes(self) -> dict[int, str]:
        """The notes of now, by their events; a note whose bookmark went is none."""
        held = self.player.notes
        return {e: held[e] for e in sorted(held) if e in self.player.bookmarks}

    def review(self) -> bool:
        """Say whether the run finds nothing to mend. Changes: the card tells it, from
        now on after every note too, and the player goes to the first event that lacks
        something."""
        right = self._look()
        lacking = (p.step for p in self.points.values() if not p.holds and p.step)
        self.player.step = next(lacking, self.player.step)
        return right

    def _written(self, _: Any) -> None:
        if self.points:
            self._look()

    def _look(self) -> bool:
        self.points = review(self.trace, self.outcome, self.notes)
        right = all(point.holds for point in self.points.values())
        lines = [_line(point) for point in self.points.values()]
        self._tell([READY if right else NOT_YET, *lines], right)
        return right

    def save(self, path: str | Path = PAGE) -> bool:
        """Write the tour as a page that opens right before its first note; say whether
        there was one. Changes: the file. Raises: InputError if it cannot be written."""
        if not self.notes:
            self._tell([NOTHING])
            return False
        how: dict[str, Any] = {"lang": self._lang} if self._lang else {}
        page = to_html(self.trace, notes=self.notes, start=min(self.notes) - 1, **how)
        with replacing(Path(path)) as file:
            file.write(page.encode())
        told = {"n": len(self.notes), "where": Path(path).resolve()}
        self._tell([Words(SAVED.en.format(**told), SAVED.zh.format(**told))])
        return True

    def _tell(self, lines: list[Words], right: bool | None = None) -> None:
        why = ["\n".join(line.to(lang) for line in lines) for lang in ("en", "zh")]
        self.card.verdict = {"right": right, "why": why, "marks": {}, "show": False}

    def _heard(self, widget: Any, content: Any, buffers: Any) -> None:
        match content:
            case {"act": "review"}:
                self.review()
            case {"act": "save"}:
                try:
                    self.save()
                except KvlabError as problem:
                    self._tell([Words(str(problem), str(problem))])


def _line(point: Point) -> Words:
    mark = "✓" if point.holds else "✗"
    return Words(f"{mark} {point.why.en}", f"{mark} {point.why.zh}")


def present(
    trace: Trace,
    outcome: int,
    notes: Mapping[int, str] | None = None,
    lang: Lang | None = None,
) -> Draft:
    """Return a tour to write of why event number `outcome` happened; `notes` are there
    already. `lang` is the folder's, or the browser's.

    Raises: ConfigError for what is no run of SGLang; TraceError if it has no such
    event, or not the event of a note.
    """
    if not isinstance(trace, Trace):
        raise ConfigError("a tour is made of a run of SGLang: give its trace")
    if not is_among(outcome, 1, len(trace)):
        raise TraceError(
            f"outcome {outcome!r:.40}", "is no event of the run",
            f"use 1 to {len(trace)}",
        )  # fmt: skip
    return Draft(trace, int(outcome), notes or {}, lang or language())


# --- the neighbour's card

MARK = Words(
    "Open your neighbour's page, play it (Space), and mark what you found. The run has "
    "checked its numbers; judge what it cannot see.",
    "打开邻座的网页，播放一遍（空格），再按你看到的打分。数已由运行查过，"
    "请判断它看不到的。",
)
RUBRIC = {
    "decides": Words("The event that decides: I found it without asking.",
                     "决定性的事件：我不用问就找到了。"),
    "rule": Words("Its note says the rule and both sides of its test.",
                  "它的批注说出了规则，以及判据两边各是多少。"),
    "why": Words("Each 'because' stands on the chain of causes.",
                 "每个“因为”都在因果链上。"),
    "otherwise": Words("It says what would have had to be different, and by how much.",
                       "说了什么要不一样、差多少，结果才会不同。"),
    "after": Words("It says who pays for what happened.", "说了后果由谁承担。"),
    "heard": Words("No note repeats the headline above it.",
                   "没有一条批注只是重复上方的标题。"),
}  # fmt: skip
GIVEN = {"2": Words("yes", "做到"), "1": Words("in part", "部分"),
         "0": Words("no", "没有")}  # fmt: skip
TOTAL = Words("{n} of {most}.", "{most} 分得 {n} 分。")
BEST = Words("Nothing to mend.", "没有要改的。")
LEFT = Words("– {} ({})", "– {}（{}）")
HAND_BACK = Words(" Hand back:", "交还给作者：")


class Rubric(Sheet):
    """A neighbour's marks of a tour: `marks`, which is None before they are given."""

    def __init__(self, lang: Lang | None) -> None:
        self.marks: dict[str, int] | None = None
        self.card = Card(
            lang=lang,
            asked={
                "id": "13", "kind": "fill", "asks": list(MARK),
                "parts": [[key, list(words)] for key, words in RUBRIC.items()],
                "options": [[key, list(words)] for key, words in GIVEN.items()],
            },
        )  # fmt: skip
        self.card.on_msg(self._heard)
        super().__init__([self.card])

    def give(self, marks: Mapping[str, Any]) -> str:
        """Take the marks, 0 to 2 a criterion, and return what to hand back. Changes:
        the card tells it. Raises: ConfigError if one is missing or is no mark."""
        lacking = [key for key in RUBRIC if str(marks.get(key, "")) not in GIVEN]
        if lacking:
            raise ConfigError(f"no mark for {', '.join(lacking)}; give 0, 1 or 2")
        self.marks = {key: int(marks[key]) for key in RUBRIC}
        told = [self._told(lang) for lang in ("en", "zh")]
        self.card.answer = {key: str(mark) for key, mark in self.marks.items()}
        self.card.verdict = {"right": None, "why": told, "marks": {}, "show": False}
        return told[self.card.lang == "zh"]

    def _told(self, lang: Lang) -> str:
        assert self.marks is not None, "marks were given"
        total = sum(self.marks.values())
        short = [
            LEFT.to(lang).format(RUBRIC[key].to(lang), GIVEN[str(mark)].to(lang))
            for key, mark in self.marks.items()
            if mark < 2
        ]
        head = TOTAL.to(lang).format(n=total, most=2 * len(RUBRIC))
        if not short:
            return f"{head} {BEST.to(lang)}"
        return "\n".join([head + HAND_BACK.to(lang), *short])

    def _heard(self, widget: Any, content: Any, buffers: Any) -> None:
        match content:
            case {"check": dict(marks)}:
                self.give(marks)


def rubric(lang: Lang | None = None) -> Rubric:
    """Return the card by which a tour is marked; `lang` is the folder's, or the
    browser's."""
    return Rubric(lang or language())
