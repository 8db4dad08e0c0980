"""How much was needed, and how much was there?

The two sides of a decision as bars on one scale, each state in its pattern; what
is needed beyond the room is outlined. What is set aside follows as a low strip, so that
the bar before it is as long as what is left. The player draws the same
(player/formula.js).
Left out: the numbers (reasons.py), the words of the card (cards.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from . import draw, theme
from .markup import Markup, tag
from .player_words import UI_WORDS
from .theme import LOOKS, Lang
from .why import SWATCHES, BarOf, Value, Why, holds

NAMES, TALL, STEP = 46, 18.0, 24.0

Terms = Mapping[str, Value]


def bars(why: Why, terms: Terms, wide: float, lang: Lang) -> tuple[list[Markup], float]:
    """Return the bars within `wide` pixels and how high they are; [], 0 if the rule
    compares nothing. `terms` are with_sums'."""
    shown = [b for b in why.bars if not b.unless or terms[b.unless] is not None]
    most = max((_size_of(bar, terms) for bar in shown), default=0)
    if most <= 0:
        return [], 0.0
    unit = (wide - NAMES - 40) / most
    parts = [
        part
        for row, bar in enumerate(shown)
        for part in _bar(bar, terms, row, unit, lang)
    ]
    height = STEP * len(shown)
    failed = [t.test for t in why.tests if t.test and holds(t, terms) is False]
    if len(shown) == 2 and failed:
        parts += _beyond(shown, terms, unit, beyond_of(failed[0]), lang)
        height += 15
    return parts, height


def _size(name: str, terms: Terms) -> float:
    value = terms[name] if name else 0
    return max(0.0, value) if isinstance(value, int | float) else 0.0


def _size_of(bar: BarOf, terms: Terms) -> float:
    return sum(_size(part, terms) for part in bar.parts)


def _net(bar: BarOf, terms: Terms) -> float:
    """The sum that is tested: what went below 0 counts as it is."""
    aside = _number(bar.minus, terms) if bar.minus else 0
    return sum(_number(part, terms) for part in bar.parts) - aside


def _number(name: str, terms: Terms) -> float:
    value = terms[name]
    return value if isinstance(value, int | float) else 0


def _bar(
    bar: BarOf, terms: Terms, row: int, unit: float, lang: Lang
) -> Iterator[Markup]:
    """Yield the name, a segment for each part with its number, what is set aside, and
    the sum; a part that is the sum has no number of its own. A part of which some is
    set aside is drawn as long as the rest of it."""
    x, y = float(NAMES), STEP * row
    yield draw.words(0, y + 13, bar.name.to(lang), fill=theme.INK2, font_size=12)
    left = max(0.0, _net(bar, terms))
    less = _size_of(bar, terms) - left
    for part in bar.parts:
        size = min(_size(part, terms), left)
        if size == 0:
            continue
        left -= size
        state = SWATCHES.get(part)
        if state:
            yield draw.box(x, y, size * unit, TALL, state)
        else:
            style = {"fill": theme.BG, "stroke": theme.INK, "stroke_width": 1.4}
            width = max(1.0, size * unit - 1.6)
            yield tag(
                "rect",
                x=x + 0.7,
                y=y + 0.7,
                width=width,
                height=TALL - 1.4,
                rx=1.5,
                **style,
            )
        if size == _size(part, terms) and size != _net(bar, terms):
            yield from _plate(x, y, size * unit, theme.num(size))
        x += size * unit
    if less > 0:
        yield draw.box(x, y + 3, less * unit, TALL - 6, "promised")
        aside = _size(bar.minus, terms)
        yield from _plate(x, y, less * unit, f"−{theme.num(aside)}")
        x += less * unit
    told = theme.num(_net(bar, terms))
    yield draw.words(x + 5, y + 14, told, font_size=13, font_weight=700)


def _plate(x: float, y: float, wide: float, told: str) -> Iterator[Markup]:
    """Yield a number in the middle of its segment, where it fits."""
    if wide > theme.width(told, 11, mono=True) + 10:
        yield draw.plate(x + wide / 2, y + TALL / 2, told)


def beyond_of(test: str) -> str:
    """Return the word for what is beyond the room: so much more would do, if equal
    sides do.

    >>> beyond_of("tokens <= available"), beyond_of("need < room")
    ('short_of', 'exceeds')
    """
    return "short_of" if "=" in test else "exceeds"


def _beyond(
    shown: Sequence[BarOf], terms: Terms, unit: float, word: str, lang: Lang
) -> Iterator[Markup]:
    """Yield the outline of what the first bar asks beyond the second."""
    need, room = (_net(bar, terms) for bar in shown)
    if need <= room:
        return
    x = NAMES + max(0.0, room) * unit
    look = LOOKS["refused"]
    style = {
        "fill": look.ground,
        "fill_opacity": 0.6,
        "stroke": look.ink,
        "stroke_width": 2,
    }
    wide = max(2.0, (need - max(0.0, room)) * unit)
    yield tag("rect", x=x, y=-1, width=wide, height=TALL + 2, **style)
    yield draw.stroke(f"M{x:g} -3V{2 * STEP + 2:g}", look.ink, 2)
    said = UI_WORDS[word].to(lang).format(n=theme.num(need - room))
    at = max(x - 5, NAMES + 60)
    style = {"font_size": 12, "font_weight": 600, "fill": theme.ALERT}
    yield draw.words(at, 2 * STEP + 11, said, text_anchor="end", **style)
