"""How does one quantity grow with another that spans decades?

Curves over a logarithmic axis. Each carries its name at its end, in its own mark and
dash as well as its own colour; a bracket may name the distance between two of them.
Left out: where the points come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log10
from typing import Literal

from msgspec import Struct

from . import theme
from .draw import document, page, stroke, words
from .markup import Markup, esc, tag
from .theme import Lang, Words

WIDTH, HEIGHT = 860.0, 440.0
LEFT, RIGHT, TOP, FOOT = 66.0, 192.0, 62.0, 78.0
TALL, WIDE = HEIGHT - TOP - FOOT, WIDTH - LEFT - RIGHT
APART = 17.0

Mark = Literal["circle", "square", "triangle", "ring", "none"]


class Curve(Struct, frozen=True, kw_only=True):
    """One curve. `points` are (x, y), x above 0; `dash` is an SVG dash pattern, "" a
    solid line, None no line at all: marks only."""

    name: Words
    points: Sequence[tuple[float, float]]
    colour: str
    mark: Mark = "circle"
    dash: str | None = ""


class Bracket(Struct, frozen=True):
    """The distance between `low` and `high` at `x`, with its words
    on the left."""

    x: float
    low: float
    high: float
    says: Words


class Frame(Struct, frozen=True, kw_only=True):
    """What stands around the curves. Units: `ticks` are values of x, `rows` of y, from
    0 up; `unit` stands behind each value of y."""

    title: Words
    about: Words
    across: Words
    up: Words
    ticks: Sequence[float]
    rows: Sequence[float]
    unit: str = ""
    note: Words = Words("", "")


def chart(
    curves: Sequence[Curve], frame: Frame, bracket: Bracket | None = None,
    lang: Lang = "en",
) -> str:  # fmt: skip
    """Return the curves as SVG."""
    scale = _Scale(frame.ticks, frame.rows[-1])
    body = [page(), *_frame(frame, scale, lang)]
    for curve in curves:
        body += _curve(curve, scale)
    body += _names(curves, scale, lang)
    if bracket is not None:
        body += _bracket(bracket, scale, lang)
    return str(document(body, WIDTH, HEIGHT, frame.title.to(lang), lang))


def chart_text(curves: Sequence[Curve], lang: Lang = "en") -> str:
    """Return the same in words: each curve's points.

    >>> print(chart_text([Curve(name=Words("hits", "命中"), points=[(1000, 4.5)],
    ...     colour="#000000")]))
    hits: 1,000 → 4.5
    """
    return "\n".join(
        f"{curve.name.to(lang)}: "
        + ", ".join(f"{theme.num(int(x))} → {y:g}" for x, y in curve.points)
        for curve in curves
    )


class _Scale:
    def __init__(self, ticks: Sequence[float], top: float) -> None:
        self._low, self._high = log10(ticks[0]), log10(ticks[-1])
        self._top = top

    def x(self, value: float) -> float:
        share = (log10(value) - self._low) / (self._high - self._low)
        return round(LEFT + WIDE * share, 1)

    def y(self, value: float) -> float:
        return round(TOP + TALL * (1 - value / self._top), 1)


def _frame(frame: Frame, scale: _Scale, lang: Lang) -> Iterator[Markup]:
    yield words(16, 24, frame.title.to(lang), font_size=16, font_weight=600)
    yield words(16, 43, frame.about.to(lang), font_size=12, fill=theme.INK2)
    for row in frame.rows:
        y = scale.y(row)
        yield stroke(f"M{LEFT:g} {y:g}h{WIDE:g}", theme.LINE if row else theme.INK, 1)
        text = f"{row:g}{frame.unit}"
        yield words(LEFT - 8, y + 4, text, text_anchor="end", font_size=12)
    for tick in frame.ticks:
        x = scale.x(tick)
        yield stroke(f"M{x:g} {TOP + TALL:g}v5", theme.INK, 1)
        yield words(x, TOP + TALL + 20, short(tick, lang), text_anchor="middle",
                    font_size=12)  # fmt: skip
    middle = LEFT + WIDE / 2
    yield words(middle, HEIGHT - 36, frame.across.to(lang), text_anchor="middle",
                font_size=12)  # fmt: skip
    yield tag(
        "text", esc(frame.up.to(lang)), text_anchor="middle", font_size=12,
        transform=f"translate(18 {TOP + TALL / 2:g}) rotate(-90)",
    )  # fmt: skip
    yield words(16, HEIGHT - 12, frame.note.to(lang), font_size=11, fill=theme.INK2)


def short(value: float, lang: Lang = "en") -> str:
    """Return a whole number as an axis says it.

    >>> short(500), short(2000), short(3e6), short(3e6, "zh"), short(1e8, "zh")
    ('500', '2k', '3M', '300 万', '1 亿')
    """
    if lang == "zh":
        if value >= 1e8:
            return f"{value / 1e8:g} 亿"
        return f"{value / 1e4:g} 万" if value >= 1e4 else f"{value:g}"
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def _curve(curve: Curve, scale: _Scale) -> Iterator[Markup]:
    places = [(scale.x(x), scale.y(y)) for x, y in curve.points]
    if curve.dash is not None:
        path = "L".join(f"{x:g} {y:g}" for x, y in places)
        yield stroke(f"M{path}", curve.colour, 2.2, stroke_dasharray=curve.dash or None,
                     stroke_linejoin="round")  # fmt: skip
    for x, y in places:
        yield from _mark(x, y, curve)


def _mark(x: float, y: float, curve: Curve) -> Iterator[Markup]:
    style = {"fill": curve.colour, "stroke": theme.BG, "stroke_width": 1}
    match curve.mark:
        case "circle":
            yield tag("circle", cx=x, cy=y, r=4.2, **style)
        case "ring":
            yield tag("circle", cx=x, cy=y, r=4.2, fill=theme.BG, stroke=curve.colour,
                      stroke_width=2)  # fmt: skip
        case "square":
            yield tag("rect", x=x - 3.8, y=y - 3.8, width=7.6, height=7.6, **style)
        case "triangle":
            yield tag("path", d=f"M{x:g} {y - 5.2:g}l5 8.6h-10z", **style)
        case "none":
            return


def _names(curves: Sequence[Curve], scale: _Scale, lang: Lang) -> Iterator[Markup]:
    """Yield each curve's name beside its end, none on another."""
    ends = sorted(
        ((scale.y(c.points[-1][1]), scale.x(c.points[-1][0]), c) for c in curves),
        key=lambda end: end[0],
    )
    at = spread([y for y, _, _ in ends], APART)
    for y, (end, x, curve) in zip(at, ends, strict=True):
        begin = LEFT + WIDE + 14
        yield stroke(f"M{x + 6:g} {end:g}L{begin:g} {y:g}h12", curve.colour, 1,
                     stroke_dasharray=curve.dash or None)  # fmt: skip
        yield from _mark(begin + 10, y, curve)
        yield words(begin + 20, y + 4, curve.name.to(lang), font_size=12)


def spread(places: Sequence[float], apart: float) -> list[float]:
    """Return sorted places moved so far that none is closer than `apart`.

    >>> spread([0, 1, 40], 10)
    [-4.5, 5.5, 40]
    """
    moved = list(places)
    for _ in range(60):
        for at, (one, other) in enumerate(pairwise(moved)):
            lack = apart - (other - one)
            if lack > 1e-6:
                moved[at], moved[at + 1] = one - lack / 2, other + lack / 2
    return moved


def _bracket(bracket: Bracket, scale: _Scale, lang: Lang) -> Iterator[Markup]:
    x, low, high = scale.x(bracket.x), scale.y(bracket.low), scale.y(bracket.high)
    yield stroke(f"M{x - 5:g} {high:g}h10M{x:g} {high:g}V{low:g}M{x - 5:g} {low:g}h10",
                 theme.INK, 1.4)  # fmt: skip
    text, middle = bracket.says.to(lang), (low + high) / 2
    wide = theme.width(text, 12) + 8
    yield tag("rect", x=round(x - 8 - wide, 1), y=middle - 10, width=round(wide, 1),
              height=19, rx=2, fill=theme.BG)  # fmt: skip
    yield words(x - 12, middle + 4, text, text_anchor="end", font_size=12,
                font_weight=600)  # fmt: skip
