"""How does the card of a decision look beside a still?

The lines of its text, with both sides of the test as bars under the rule.
Left out: the words (cards.py), the bars (why_bars.py), the player's card (player/).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..record.events import Decision, Step
from ..record.trace import Trace
from . import draw, theme
from .cards import card, card_text, decision_behind
from .frame import Frame, frame_at
from .markup import Markup
from .mistaken import amiss
from .player_words import UI_WORDS
from .reason import Term
from .reasons import rule_of
from .terms import terms_of
from .theme import Lang
from .why import with_sums
from .why_bars import bars

WIDE, LINE = 324.0, 16


def decided(trace: Trace, frame: Frame) -> Frame:
    """Return the frame of the decision that a change carries out; else the frame."""
    at = decision_behind(trace, frame.index)
    if at is None or at == frame.index or isinstance(trace.events[at], Step):
        return frame
    return frame_at(trace, at + 1)


def led_by(trace: Trace, frame: Frame, shown: Frame, lang: Lang) -> list[str]:
    """Return the lines that lead to the card of a decision where another step is shown,
    what that one gets wrong first; none above the decision's own step."""
    if frame.step == shown.step:
        return []
    led = UI_WORDS["led"].to(lang).format(n=theme.num(frame.step))
    return [*amiss(trace, shown, lang), led]


def card_svg(
    trace: Trace, frame: Frame, lang: Lang, shown: Frame | None = None
) -> tuple[list[Markup], float]:
    """Return the card within `WIDE` pixels and how high it is; [], 0 for a change.
    `shown` is the moment beside which it stands, where that is another."""
    if not isinstance(frame.event, Decision):
        return [], 0.0
    led = led_by(trace, frame, shown or frame, lang)
    told = card(trace, frame, lang)
    outside = told.reason.outside
    plain = told._replace(reason=told.reason._replace(outside=None))
    title, rule, *rest = [*card_text(plain).splitlines(), *amiss(trace, frame, lang)]
    why = rule_of(frame)
    terms = with_sums(why, terms_of(frame.event, frame.before))
    drawn, tall = bars(why, terms, WIDE, lang)
    above = [part for line in led for part in _fitted(line)]
    head = [*above, *_fitted(title, 14), *_fitted(rule)]
    foot = [part for line in rest for part in _fitted(line)]
    y = LINE * len(head) + 8.0
    parts = list(_written(head, len(_fitted(title, 14)), len(above)))
    if drawn:
        parts.append(draw.move(0, y, drawn))
        y += tall + 8
    if outside is not None:
        parts.append(draw.move(0, y, _outside(outside, lang)))
        y += 22
    parts.append(draw.move(0, y, _written(foot)))
    return parts, y + LINE * len(foot)


def _outside(term: Term, lang: Lang) -> Iterator[Markup]:
    """Yield what the formula leaves out, struck."""
    name = f"{term.name} = {term.number}"
    yield draw.swatch(0, 1, "available")
    style = {"font_size": 12, "text_decoration": "line-through", "fill": theme.INK2}
    yield draw.words(18, 11, name, **style)
    at = 18 + theme.width(name, 12) + 8
    said = UI_WORDS["not_in_formula"].to(lang)
    yield draw.words(at, 11, said, font_size=12, font_weight=600, fill=theme.ALERT)


def _fitted(line: str, size: float = 12) -> list[str]:
    """Return a line in pieces that the card holds, each with the line's indent."""
    indent = line[: len(line) - len(line.lstrip())]
    pieces = [""]
    for word in line.split():
        longer = f"{pieces[-1]} {word}" if pieces[-1] else indent + word
        if pieces[-1] and theme.width(longer, size) > WIDE:
            pieces.append(indent + word)
        else:
            pieces[-1] = longer
    return pieces


def _written(lines: list[str], titles: int = 0, above: int = 0) -> Iterator[Markup]:
    """Yield the lines, `titles` of them strong after those `above`; formulas are
    indented."""
    for number, line in enumerate(lines):
        indent = 8 * (len(line) - len(line.lstrip()))
        strong = above <= number < above + titles
        ink = theme.INK if indent or strong else theme.INK2
        style: dict[str, object] = {"font_size": 12, "fill": ink}
        if strong:
            style |= {"font_weight": 600, "font_size": 14}
        yield draw.words(indent / 2, LINE * number + 12, line.strip(), **style)
