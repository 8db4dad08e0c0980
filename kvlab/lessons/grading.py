"""Is this answer right, and if not, where does the belief behind it break?

`grade` compares an answer with the case's, which a run of the engine gave. A wrong
answer that a known belief leads to is told why that belief breaks, any other which of
its parts are wrong; both name the moment of the run to look at.
Left out: showing it (form.py).
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from random import Random
from types import FunctionType
from typing import Any, NamedTuple

from ..errors import KvlabError
from ..record.trace import AnyTrace
from ..views.theme import Lang, Words
from ..views.widget import Player, play
from .budget import OutOfTime, endless, limited, line_of, stopped
from .kinds import (
    UNSAID,
    Belief,
    Case,
    Choice,
    Exercise,
    Fill,
    Function,
    Order,
    Sentence,
)

MOST_LINES = 15
OPEN: tuple[Any, ...] = (None, ...)
"""Answers that are none yet; so are "", "?" and a function that does nothing."""

RIGHT = Words("Right.", "正确。")
NONE_YET = Words("No answer yet.", "还没有作答。")
NOT_YET = Words("Not yet.", "还不对。")


class Verdict(NamedTuple):
    """What an answer came to. `right` is None where none was given.

    `marks` says it of each part; `step` is the moment of `trace` to look at; `lang` is
    the language in which it is printed; `model` is one way to say a sentence.
    """

    right: bool | None
    why: Words
    marks: Mapping[str, bool] = {}
    trace: AnyTrace | None = None
    step: int | None = None
    lang: Lang = "en"
    model: Words | None = None

    def __bool__(self) -> bool:
        return self.right is True

    def told(self, lang: Lang = "en") -> str:
        """Return it in words, with the event to look at, and the model below."""
        text = self.why.to(lang)
        if not self.right and self.step is not None:
            look = Words(" Look at event {at}.", "看事件 {at}。").to(lang)
            text += look.format(at=self.step)
        if self.model is not None:
            says = Words("\nOne way to say it: ", "\n一种说法：").to(lang)
            text += says + self.model.to(lang)
        return text

    def show(self) -> Player:
        """Return a player of the run, at the moment to look at.

        Raises: KvlabError if the verdict is about no run.
        """
        if self.trace is None:
            raise KvlabError("no run to show: this verdict is about none")
        return play(self.trace, self.step or 0, self.lang)

    def __repr__(self) -> str:
        text = self.told(self.lang)
        if self.trace is None or self.step is None or self.right:
            return text
        opens = Words(" (.show() opens it)", "（.show() 打开那一刻）").to(self.lang)
        return f"{text}{opens}"


def is_open(answer: Any) -> bool:
    """Return whether nothing was answered yet, or not in every part."""
    if isinstance(answer, Mapping):
        return not answer or any(is_open(part) for part in answer.values())
    if isinstance(answer, list | tuple):
        return not answer
    if isinstance(answer, FunctionType):
        return answer.__code__.co_code == _empty.__code__.co_code
    if isinstance(answer, str):
        return answer.strip() in ("", "?")
    return any(answer is none for none in OPEN)


def _empty() -> None: ...


def is_prediction(exercise: Exercise) -> bool:
    """Return whether it is answered once, before the run is shown."""
    return exercise.id[3] == "P"


def grade(exercise: Exercise, answer: Any, random: Random) -> Verdict:
    """Return the verdict on an answer to the exercise with these random numbers.

    The same seed draws the same numbers. Raises: nothing for any answer.
    """
    if is_open(answer) and not isinstance(exercise, Sentence):
        return Verdict(None, NONE_YET)
    match exercise:
        case Function():
            return _function(exercise, answer, random)
        case Sentence():
            return _sentence(exercise, answer, exercise.case(random))
        case Fill():
            return _fill(exercise, answer, exercise.case(random))
        case Order():
            return _order(exercise, answer, exercise.case(random))
        case Choice():
            return _choice(answer, exercise.case(random))
    raise AssertionError(f"{exercise.id}: no way to grade {type(exercise).__name__}")


def _choice(answer: Any, case: Case) -> Verdict:
    if _same(str(answer), case.answer, 0.0):
        return Verdict(True, RIGHT)
    belief = _held(case.beliefs, lambda said: _same(str(answer), said, 0.0))
    return _broken(belief, case, NOT_YET, case.step)


def _fill(exercise: Fill, answer: Any, case: Case) -> Verdict:
    if not isinstance(answer, Mapping):
        answer = dict.fromkeys(list(exercise.parts)[:1], answer)
    wanted = case.answer
    if not isinstance(wanted, Mapping):
        wanted = dict.fromkeys(exercise.parts, wanted)

    def same(given: Any, value: Any) -> bool:
        return _same(given, value, exercise.tolerance)

    marks = {part: same(answer.get(part), wanted[part]) for part in exercise.parts}
    if all(marks.values()):
        return Verdict(True, RIGHT, marks)
    wrong = [part for part, right in marks.items() if not right]

    def fits(said: Any) -> bool:
        said = said if isinstance(said, Mapping) else dict.fromkeys(wrong, said)
        near = exercise.tolerance / 4  # a right answer rounded too far is no belief
        return not said.keys().isdisjoint(wrong) and all(
            _same(answer.get(part), value, near) for part, value in said.items()
        )

    belief = _held(case.beliefs, fits)
    step = case.steps.get(wrong[0], case.step)
    why = _names(exercise.parts, wrong, final=is_prediction(exercise))
    return _broken(belief, case, why, step, marks)


def _same(given: Any, value: Any, tolerance: float) -> bool:
    """Return whether a part is right; a number may come as its digits, with a unit."""
    if isinstance(value, str):
        return isinstance(given, str) and given.strip().lower() == value.lower()
    if isinstance(given, str):
        number = re.match(_NUMBER, re.sub("[,，]", "", given))
        if number is None:
            return False
        given = float(number[1])
    if isinstance(given, bool) or not isinstance(given, Real):
        return False
    try:
        return math.isclose(given, value, rel_tol=tolerance, abs_tol=0.0)
    except OverflowError:  # hundreds of digits
        return False


_NUMBER = r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[^\d.]*$"
"""A number, and behind it no other: "12", "1.5e3", "30 %", "12 个"."""


def _order(exercise: Order, answer: Any, case: Case) -> Verdict:
    one = isinstance(answer, str) or not isinstance(answer, Iterable)
    given = [str(step) for step in ([answer] if one else answer)]
    wanted = list(case.answer)
    if given == wanted:
        return Verdict(True, RIGHT)
    belief = _held(case.beliefs, lambda said: list(said) == given)
    extra = [step for step in given if step not in wanted and step in exercise.steps]
    lacking = [step for step in wanted if step not in given]
    if extra or lacking:
        odd = (extra or lacking)[0]
        text = _THIS_NEVER if extra else _THIS_LACKS
        why = _about(text, a=exercise.steps[odd])
        return _broken(belief, case, why, case.steps.get(odd, case.step))
    at = next(
        (i for i, (a, b) in enumerate(zip(given, wanted, strict=False)) if a != b),
        len(wanted),
    )
    if at == len(wanted) or given[at] not in exercise.steps:
        return _broken(belief, case, NOT_YET, case.step)
    early, due = given[at], wanted[at]
    why = _about(_THIS_FIRST, a=exercise.steps[due], b=exercise.steps[early])
    return _broken(belief, case, why, case.steps.get(due, case.step))


_THIS_NEVER = Words("This does not happen here: {a}.", "这里不会发生：{a}。")
_THIS_LACKS = Words("One step is missing: {a}.", "少了一步：{a}。")
_THIS_FIRST = Words("“{a}” comes before “{b}”.", "“{a}”先于“{b}”。")


def _about(text: Words, **named: Words) -> Words:
    return Words(
        text.en.format(**{name: words.en for name, words in named.items()}),
        text.zh.format(**{name: words.zh for name, words in named.items()}),
    )


def _names(
    parts: Mapping[str, Words], wrong: Iterable[str], *, final: bool = False
) -> Words:
    """Name the parts that are wrong; a `final` answer cannot be mended any more."""
    wrong = list(wrong)
    return Words(
        f"Not {'so' if final else 'yet'}: {'; '.join(parts[p].en for p in wrong)}.",
        f"{'不' if final else '还不'}对：{'；'.join(parts[p].zh for p in wrong)}。",
    )


def _held(beliefs: Iterable[Belief], fits: Callable[[Any], bool]) -> Belief | None:
    return next((belief for belief in beliefs if fits(belief.said)), None)


def _broken(
    belief: Belief | None,
    case: Case,
    why: Words,
    step: int | None,
    marks: Mapping[str, bool] = {},
) -> Verdict:
    if belief is not None:
        why, step = belief.why, step if belief.step is None else belief.step
    return Verdict(False, why, marks, case.trace, step)


def _function(exercise: Function, function: Any, random: Random) -> Verdict:
    if not callable(function):
        return Verdict(
            False,
            Words(
                "Give the function itself, not its result.",
                "请给函数本身，不是它的结果。",
            ),
        )
    try:
        with limited():
            flaw = exercise.judge(function, random)
    except OutOfTime as problem:
        return Verdict(False, endless(line_of(function, problem)))
    except Exception as problem:
        return Verdict(False, stopped(problem, line_of(function, problem)))
    if flaw is not None:
        return Verdict(False, flaw.why, {}, flaw.trace, flaw.step)
    lines = _lines(function)
    if lines > MOST_LINES:
        return Verdict(False, Words(
            f"It works, in {lines} lines; {MOST_LINES} are enough.",
            f"结果正确，但用了 {lines} 行；{MOST_LINES} 行就够。",
        ))  # fmt: skip
    return Verdict(True, RIGHT)


def _lines(function: Any) -> int:
    """Return how many lines of code it has; 0 where its source cannot be had."""
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        return 0
    code = [line.strip() for line in source.splitlines()]
    return sum(1 for line in code if line and not line.startswith("#"))


def _sentence(exercise: Sentence, answer: Any, case: Case) -> Verdict:
    """Judge what the writer says that the sentence claims; the sentence is not read."""
    given = answer if isinstance(answer, Mapping) else {TEXT: answer}
    if not isinstance(given.get(TEXT), str) or is_open(given[TEXT]):
        return Verdict(None, NONE_YET)
    if any(is_open(given.get(part)) for part in exercise.points):
        return Verdict(None, _to_sort(exercise))
    marks = {part: given[part] == case.answer[part] for part in exercise.points}
    if all(marks.values()):
        return Verdict(True, RIGHT, marks, model=exercise.model)
    wrong = [part for part, right in marks.items() if not right]
    belief = _held(
        case.beliefs, lambda said: all(given.get(part) == said[part] for part in said)
    )
    part = wrong[0] if belief is None else next(iter(belief.said))
    step, run = case.steps.get(part, case.step), case.runs.get(part, case.trace)
    found = _broken(belief, case, _claimed(exercise, part, given[part]), step, marks)
    return found._replace(trace=run, model=exercise.model)


def _claimed(exercise: Sentence, part: str, said: Any) -> Words:
    """Say what a sentence claims wrongly or leaves unsaid, as the card words it."""
    asks, says = exercise.points[part]
    claim = says.get(str(said))
    if claim is None or said == UNSAID:
        return Words(f"Not said yet: “{asks.en} …”", f"还没有说到：“{asks.zh}……”")
    return Words(f"Not so: “{asks.en} {claim.en}”.", f"不对：“{asks.zh}：{claim.zh}”。")


TEXT = "text"
"""The part of an answer that is the sentence itself."""


def _to_sort(exercise: Sentence) -> Words:
    """Say how a sentence is sorted in Python; a form asks for it by itself."""
    parts = ", ".join(
        f"{part!r}: {' | '.join(map(repr, about.says))}"
        for part, about in exercise.points.items()
    )
    call = f"kvlab.check({exercise.id!r}, {{{TEXT!r}: ..., {parts}}})"
    return Words(
        f"Noted. Now say what your sentence claims: {call}",
        f"已记下。现在说明你的句子主张了什么：{call}",
    )
