"""How far apart are the two sides of a test?

Both sides as bars on one scale, each part in its state's pattern, its number on it. A
demand that is larger than the room shows the gap in red; an eviction that freed more
than was asked shows the overshoot, dashed.
Left out: what is compared (reason.py).
"""

from __future__ import annotations

from . import draw, theme
from .markup import NOTHING, Markup, join, tag
from .reason import Bar
from .theme import LOOKS, Lang, Words

WIDTH = 324
NAME, NUMBER = 44, 48
"""Pixels left of the bars for their names, and right of them for their sums."""
SHORT, OVER = Words("short", "差"), Words("overshoot", "多出")


def bars_svg(bars: tuple[Bar, ...], lang: Lang = "en") -> Markup:
    """Return the bars as a picture, 26 px a bar and 16 for what lies between."""
    largest = max(bar.size + bar.minus for bar in bars)
    scale = (WIDTH - NAME - NUMBER) / max(largest, 1)
    parts = [_bar(bar, 26.0 * place, scale, lang) for place, bar in enumerate(bars)]
    height = 26 * len(bars)
    if len(bars) == 2 and (between := _between(bars[0], bars[1], scale, lang)):
        parts.append(between)
        height += 16
    return draw.document(parts, WIDTH, height, "comparison", lang)


def _bar(bar: Bar, y: float, scale: float, lang: Lang) -> Markup:
    parts = [draw.words(0, y + 14, bar.name.to(lang), font_size=12, fill=theme.INK2)]
    x = float(NAME)
    for part in bar.parts:
        wide = part.tokens * scale
        if wide > 0 and part.state is None:
            parts.append(_plain(x, y + 1, wide))
        elif wide > 0 and part.state is not None:
            parts.append(draw.box(x, y + 1, wide, 18, part.state))
        label = theme.num(part.tokens)
        if wide > theme.width(label, 11, mono=True) + 9:
            parts.append(draw.plate(x + wide / 2, y + 10, label))
        x += wide
    if bar.minus > 0:
        wide = min(bar.minus * scale, x - NAME)
        parts.append(draw.box(x - wide, y + 1, wide, 18, "promised"))
    size = theme.num(bar.size)
    parts.append(draw.words(x + 7, y + 15, size, font_size=14, font_weight=700))
    return join(parts)


def _plain(x: float, y: float, wide: float) -> Markup:
    return tag(
        "rect", x=x + 0.7, y=y + 0.7, width=max(wide - 1.4, 0.5), height=16.6, rx=1.5,
        fill=theme.BG, stroke=theme.INK, stroke_width=1.4,
    )  # fmt: skip


def _between(first: Bar, second: Bar, scale: float, lang: Lang) -> Markup:
    """Return the gap of a demand that does not fit, or the overshoot of what did."""
    gap = first.size - second.size
    if gap > 0:
        x, y, words, colour = NAME + second.size * scale, 0, SHORT, theme.ALERT
    elif second.parts[0].state == "left":
        x, y, words, colour = NAME + first.size * scale, 26, OVER, theme.ALERT
    else:
        return NOTHING
    if gap == 0:
        return NOTHING
    wide = abs(gap) * scale
    text = f"{theme.num(abs(gap))} {words.to(lang)}"
    if lang == "zh":
        text = f"{words.to(lang)} {theme.num(abs(gap))}"
    inked = LOOKS["refused"].ink
    fill = LOOKS["refused"].ground if gap > 0 else "none"
    dashed = None if gap > 0 else "5 3"
    return join(
        [
            tag(
                "rect", x=x, y=y + 0.5, width=wide, height=19, fill=fill,
                fill_opacity=0.85, stroke=inked, stroke_width=2,
                stroke_dasharray=dashed,
            ),
            draw.stroke(f"M{x:g} 0V56", inked if gap > 0 else theme.INK, 2),
            draw.words(x + 6, 64, text, font_size=12, font_weight=600, fill=colour),
        ]
    )  # fmt: skip
