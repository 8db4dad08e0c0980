"""What can an exercise ask, and what does it need to know of the answer?

Five kinds: `Choice` (one of several), `Fill` (numbers or words, part by part), `Order`
(put steps in order), `Function` (fifteen lines that an engine runs), `Sentence` (one
sentence in one's own words, which its writer then sorts). A `Case` is one exercise with
its numbers drawn: its answer is read off a run of the engine, never typed in.
Left out: what counts as right (grading.py), the exercises themselves (exercises).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from ..record.trace import AnyTrace
from ..views.theme import Words


class Belief(NamedTuple):
    """A wrong answer that somebody who believes something gives, and why it breaks.

    `said` is the answer, or some parts of it; `step` is the moment of the case's run,
    after so many events, that contradicts it.
    """

    said: Any
    why: Words
    step: int | None = None


class Case(NamedTuple):
    """An exercise with its numbers: `terms` fill the braces of the question, `Words`
    in the language of the reader.

    `steps` says for each part (or step) of the answer which moment of `trace` shows
    it; `step` is the moment for the answer as a whole. `runs` names the parts whose
    moment lies in a run of their own. `fork` lets the player try
    other settings. `beside` is a second run to show next to it, one knob apart, and
    `explain` says why the two differ.
    """

    answer: Any
    terms: Mapping[str, Any] = {}
    trace: AnyTrace | None = None
    step: int | None = None
    steps: Mapping[str, int] = {}
    beliefs: tuple[Belief, ...] = ()
    fork: Callable[..., AnyTrace] | None = None
    beside: AnyTrace | None = None
    explain: Callable[[Any, Any], Sequence[Words]] | None = None
    runs: Mapping[str, AnyTrace] = {}


class Flaw(NamedTuple):
    """What is wrong with a learner's function, and where its run shows it."""

    why: Words
    trace: AnyTrace | None = None
    step: int | None = None


class Point(NamedTuple):
    """What a sentence should say something on, and what may have been said, by key."""

    asks: Words
    says: Mapping[str, Words]


UNSAID = "unsaid"
"""What a learner says of a point that the sentence does not touch."""


def point(en: str, zh: str, **says: tuple[str, str]) -> Point:
    """Return a point from English and Chinese; it may also be left unsaid."""
    told = {key: Words(*words) for key, words in says.items()}
    return Point(Words(en, zh), told | {UNSAID: _NOT_A_WORD})


_NOT_A_WORD = Words("my sentence does not say", "我的句子没有说到")


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One question. `id` is the notebook's number and a name: 07.E1.

    `P` is its prediction, `S` what was seen, `E1` to `E4` the exercises.
    """

    id: str
    asks: Words


@dataclass(frozen=True, kw_only=True)
class Choice(Exercise):
    """Pick one option by its key."""

    options: Mapping[str, Words]
    case: Callable[[Random], Case]


@dataclass(frozen=True, kw_only=True)
class Fill(Exercise):
    """Give each part a number, or one of `options`, if there are; `typed` parts take a
    number all the same.

    `tolerance` is relative: 0.01 takes what is within one percent.
    """

    parts: Mapping[str, Words]
    case: Callable[[Random], Case]
    options: Mapping[str, Words] = field(default_factory=dict)
    typed: tuple[str, ...] = ()
    tolerance: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Order(Exercise):
    """Put the steps in order; those that the case's answer lacks are left out."""

    steps: Mapping[str, Words]
    case: Callable[[Random], Case]


@dataclass(frozen=True, kw_only=True)
class Function(Exercise):
    """Write a function of at most fifteen lines; `judge` runs it in an engine.

    `start` is what stands in the notebook: a signature and a body to replace.
    """

    start: str
    judge: Callable[[Callable[..., Any], Random], Flaw | None]


@dataclass(frozen=True, kw_only=True)
class Sentence(Exercise):
    """Say it in one sentence, in English or Chinese; then sort what it says.

    No machine reads the sentence. Its writer says, point by point, what it claims;
    that is compared with the case's answer, and a `model` is shown.
    """

    points: Mapping[str, Point]
    case: Callable[[Random], Case]
    model: Words
