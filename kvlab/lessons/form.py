"""How is an exercise asked, answered and judged in a notebook?

A `Form` is a card with inputs and, once it is asked for, a player at the moment that
contradicts a wrong answer. A `Prediction` is a card whose answer must be committed
before the run is there at all; beneath the run it asks what was seen, and only then
says how the prediction fared. Answers can be read in Python at any time.
Left out: the drawing and the keys (form.js).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import anywidget
import traitlets

from ..record import events as ev
from ..views.questions import CONFIDENCE
from ..views.theme import LANGS, Lang, Words
from ..views.widget import beside, play
from .grading import Verdict, grade, is_open
from .kinds import (
    UNSAID,
    Case,
    Choice,
    Exercise,
    Fill,
    Function,
    Order,
    Point,
    Sentence,
)
from .sheet import Sheet, printed, question

WATCHED = 40
"""So many events at most lie between the opening of a run and what was predicted."""

_SCRIPT = Path(__file__).with_name("form.js")

WORDS: dict[str, Words] = {
    "check": Words("Check", "检查"),
    "commit": Words("Commit", "提交预测"),
    "again": Words("Other numbers", "换一组数"),
    "show": Words("Show the moment", "看那一刻"),
    "sure": Words("How sure are you?", "有多大把握？"),
    "P": Words("Prediction", "预测"),
    "S": Words("What did you see?", "你看到了什么？"),
    "E": Words("Exercise", "练习"),
    "up": Words("earlier", "上移"),
    "down": Words("later", "下移"),
    "out": Words("not at all", "不发生"),
    "pick": Words("pick", "请选择"),
    "committed": Words("Committed.", "已提交。"),
    "runs": Words("Committed. Watch the run below.", "已提交。请看下面的运行。"),
    "opens": Words(
        f"Committed. The run below opens at event {{at}}; within {WATCHED} events from "
        "there it is decided. Home goes to its start.",
        f"已提交。下面的运行从事件 {{at}} 打开，其后 {WATCHED} 个事件之内见分晓；"
        "按 Home 键回到开头。",
    ),
    "said": Words("That is my sentence", "就这么说"),
    "rewrite": Words("Write it again", "重写一句"),
    "sort": Words(
        "No machine reads your sentence. Say yourself what it claims:",
        "没有程序会读你的句子。请自己说明它主张了什么：",
    ),
    "gone": Words(
        "The kernel that made this card is gone: run its cell again.",
        "创建此卡片的内核已不在：请重新运行该单元。",
    ),
    "code": Words(
        "Write the function in the cell below and check it there.",
        "在下面的单元里写出函数并检查。",
    ),
}


CLOSE = Words("Up to {off} off is right.", "误差 {off} 以内算对。")


class Card(anywidget.AnyWidget):
    """What the browser shows of one exercise. `answer`, `confidence` are the learner's;
    `verdict` is empty until it is judged."""

    _esm = traitlets.Unicode(_SCRIPT.read_text("utf-8")).tag(sync=True)
    asked: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)
    words = traitlets.Dict({k: list(w) for k, w in WORDS.items()}).tag(sync=True)
    answer = traitlets.Any(None, allow_none=True).tag(sync=True)
    confidence = traitlets.Int(2).tag(sync=True)
    locked = traitlets.Bool(False).tag(sync=True)
    verdict: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)
    lang = traitlets.Unicode(None, allow_none=True).tag(sync=True)

    def __repr__(self) -> str:
        return question(self.asked, _lang(self.lang) or "en")

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        on_paper = printed(self.asked, _lang(self.lang) or "en")
        return beside(super()._repr_mimebundle_(**kwargs), on_paper)


class Form(Sheet):
    """An exercise to answer. `answer`, `seed` and `verdict` can be read."""

    def __init__(
        self,
        exercise: Exercise,
        draw: Callable[[int], Random],
        seed: int,
        lang: Lang | None,
    ) -> None:
        self.exercise, self.seed, self.verdict = (
            exercise,
            seed,
            Verdict(None, Words("", "")),
        )
        self._draw = draw
        self.card = Card(lang=lang, asked=asked(exercise, draw(seed)))
        self.card.on_msg(self._heard)
        super().__init__([self.card])

    @property
    def answer(self) -> Any:
        """What has been put in so far; None if nothing."""
        return self.card.answer

    def check(self, answer: Any = None) -> Verdict:
        """Judge what was put in, or `answer`. Changes: the card shows the verdict."""
        if answer is not None:
            self.card.answer = answer
        self.verdict = grade(self.exercise, self.card.answer, self._draw(self.seed))
        self.card.verdict = told(self.verdict)
        return self.verdict

    def _heard(self, widget: Any, content: Any, buffers: Any) -> None:
        match content:
            case {"check": answer}:
                self.card.answer = answer
                self.check()
            case {"again": _}:
                self.seed += 1
                self.card.set_trait("answer", None)
                self.card.set_trait("verdict", {})
                self.card.asked = asked(self.exercise, self._draw(self.seed))
                self.children = [self.card]
            case {"show": _} if self.verdict.trace is not None:
                step, lang = self.verdict.step or 0, _lang(self.card.lang)
                shown: list[Any] = [self.card, play(self.verdict.trace, step, lang)]
                self.children = shown


class Prediction(Sheet):
    """A question before a run. `answer`, `confidence`, `seen`, `player` can be read.

    `player` is None until the prediction is committed.
    """

    def __init__(
        self,
        exercise: Choice | Fill,
        seen: Exercise | None,
        draw: Callable[[str, int], Random],
        seed: int,
        lang: Lang | None,
    ) -> None:
        random = draw(exercise.id, seed)
        self.exercise, self.case = exercise, exercise.case(random)
        self.player: Any = None
        self.card = Card(lang=lang, asked=asked(exercise, draw(exercise.id, seed)))
        self.card.on_msg(self._heard)
        self.seen: Form | None = None
        if seen is not None:
            self.seen = Form(seen, lambda seed: draw(seen.id, seed), seed, lang)
            self.seen.card.asked = {**self.seen.card.asked, "again": False}
            self.seen.card.observe(self._reveal, "verdict")
        self._random: Callable[[], Random] = lambda: draw(exercise.id, seed)
        super().__init__([self.card])

    @property
    def answer(self) -> Any:
        """What was predicted, None before it is committed."""
        return self.card.answer if self.card.locked else None

    @property
    def confidence(self) -> int:
        """How sure the learner was: 1 (a guess) to 4 (certain)."""
        return int(self.card.confidence)

    def commit(self, answer: Any, confidence: int = 2) -> None:
        """Fix the prediction and show the run. An open answer commits nothing."""
        if is_open(answer) or self.card.locked:
            return
        self.card.answer, self.card.confidence = answer, confidence
        self.card.locked = True
        case, lang = self.case, _lang(self.card.lang)
        if case.trace is not None:
            self.player = play(
                case.trace, opens_at(case), lang, fork=case.fork, explain=case.explain
            )
            if case.beside is not None:
                self.player.compare(case.beside)
        shown = [self.card, self.player, self.seen]
        self.children = [widget for widget in shown if widget is not None]
        if self.seen is None:
            self._reveal()

    def _heard(self, widget: Any, content: Any, buffers: Any) -> None:
        match content:
            case {"commit": answer, "confidence": int(sure)}:
                self.commit(answer, min(max(sure, 1), len(CONFIDENCE)))
            case {"show": _} if self.player is not None:
                self.player.step = self.judge().step or 0

    def judge(self) -> Verdict:
        """Return how the prediction fared."""
        return grade(self.exercise, self.answer, self._random())

    def _reveal(self, _: Any = None) -> None:
        """Say how the prediction fared, once what was seen has been told."""
        if self.seen is None or self.seen.verdict.right is not None:
            self.card.verdict = told(self.judge())


def asked(exercise: Exercise, random: Random) -> dict[str, Any]:
    """Return what the browser needs to ask it: words in both languages, no answer."""
    what: dict[str, Any] = {
        "id": exercise.id,
        "kind": type(exercise).__name__.lower(),
        "confidence": [list(words) for words in CONFIDENCE],
        "again": False,
        "opens": None,
    }
    terms: Mapping[str, Any] = {}
    answer: Any = None
    match exercise:
        case Choice() | Fill() | Order() | Sentence():
            case = exercise.case(random)
            answer, terms, what["again"] = case.answer, case.terms, bool(case.terms)
            if case.trace is not None and case.beside is None:
                what["opens"] = opens_at(case)
            elif case.trace is not None:
                what["opens"] = 0
    match exercise:
        case Choice(options=options):
            what["options"] = _pairs(options)
        case Fill(parts=parts, options=options, typed=typed):
            what |= {"parts": _pairs(parts), "options": _pairs(options)}
            what["typed"] = list(typed)
        case Order(steps=steps):
            keys = sorted(steps)
            random.shuffle(keys)
            if keys == list(answer):
                keys.reverse()
            what["steps"] = _pairs({key: steps[key] for key in keys})
        case Function(start=start):
            what["start"] = start
        case Sentence(points=points):
            what["points"] = _points(points, random)
    asks = [_filled(exercise.asks, terms, lang) for lang in LANGS]
    if isinstance(exercise, Fill) and exercise.tolerance:
        off = f"{100 * exercise.tolerance:g} %"
        asks = [f"{ask}\n{CLOSE.to(at).format(off=off)}"
                for ask, at in zip(asks, LANGS, strict=True)]  # fmt: skip
    return {**what, "asks": asks}


def _filled(text: Words, terms: Mapping[str, Any], lang: Lang) -> str:
    """Return a question in one language, its braces filled."""
    said = {
        name: t.to(lang) if isinstance(t, Words) else t for name, t in terms.items()
    }
    return text.to(lang).format(**said)


def opens_at(case: Case) -> int:
    """Return the moment at which a prediction's run opens: its start, or where an op
    begins at most `WATCHED` events before the first moment that answers."""
    assert case.trace is not None, "a case without a run opens nowhere"
    moments = [*case.steps.values(), *([] if case.step is None else [case.step])]
    first = min(moments, default=0)
    if first <= WATCHED:
        return 0
    near = range(first - WATCHED, first)
    ops = (at for at in near if isinstance(case.trace.events[at], ev.Step))
    return next(ops, near.start)


def told(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as the browser shows it."""
    return {
        "right": verdict.right,
        "why": [verdict.told("en"), verdict.told("zh")],
        "marks": dict(verdict.marks),
        "show": verdict.trace is not None and verdict.right is False,
    }


def _pairs(words: Mapping[str, Words]) -> list[list[Any]]:
    return [[key, list(text)] for key, text in words.items()]


def _points(points: Mapping[str, Point], random: Random) -> list[list[Any]]:
    """Return what to ask of a sentence; what may be said comes in any order, and last
    that nothing is."""
    asked = []
    for part, about in points.items():
        keys = [key for key in about.says if key != UNSAID]
        random.shuffle(keys)
        says = {key: about.says[key] for key in (*keys, UNSAID)}
        asked.append([part, list(about.asks), _pairs(says)])
    return asked


def _lang(name: str | None) -> Lang | None:
    return "zh" if name == "zh" else "en" if name == "en" else None
