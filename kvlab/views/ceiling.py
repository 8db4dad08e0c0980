"""How many sequences fit, against how long they are?

The ceiling of a deployment as one curve, both axes logarithmic: twice the context, half
the sequences, until a window bends it. Left out: the numbers (capacity.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from . import draw, theme
from .markup import Markup, join
from .theme import Lang, Words

WIDE, TALL, LEFT, TOP = 640, 300, 60, 56
Point = tuple[int, float]


AXES = Words(
    "across: tokens of a sequence; up: sequences that fit (both logarithmic)",
    "横轴：序列的 token 数；纵轴：能放几条（均为对数）",
)
NONE_FITS = Words("not one sequence fits", "一条序列也放不下")


def ceiling_svg(points: Sequence[Point], title: str, lang: Lang = "en") -> Markup:
    """Return the curve of (context tokens, sequences); points of 0 are left out."""
    shown = [(context, fits) for context, fits in points if fits > 0]
    body = [draw.page(), draw.words(LEFT, 20, title, font_size=13, font_weight=600)]
    if shown:
        body.append(draw.move(LEFT, TOP, _curve(shown, lang)))
    else:
        body.append(draw.words(LEFT, TOP + 40, NONE_FITS.to(lang)))
    return draw.document(body, WIDE, TALL + TOP + 40, title)


def _curve(points: list[Point], lang: Lang) -> list[Markup]:
    across, up = WIDE - LEFT - 30, TALL - 10
    low, high = log2(points[0][0]), log2(points[-1][0])
    floor = min(log2(fits) for _, fits in points)
    roof = max(log2(fits) for _, fits in points)
    parts, path = [], []
    for context, fits in points:
        x = across * (log2(context) - low) / max(high - low, 1e-9)
        y = up - up * (log2(fits) - floor) / max(roof - floor, 1e-9)
        path.append(f"{x:.1f} {y:.1f}")
        parts.append(draw.stroke(f"M{x:.1f} 0V{up}", theme.LINE, 1))
        number = theme.num(int(fits)) if fits >= 1 else f"{fits:.2f}"
        parts.append(draw.words(x + 4, y - 5, number))
        style = {"text_anchor": "middle", "fill": theme.INK3}
        parts.append(draw.words(x, up + 18, _short(context), **style))
    curve = draw.stroke("M" + "L".join(path), theme.LOOKS["used"].ink, 2)
    name = draw.words(0, up + 36, AXES.to(lang), fill=theme.INK3)
    return [join(parts), curve, name]


def _short(tokens: int) -> str:
    return f"{tokens >> 10}K" if tokens >= 1024 else str(tokens)
