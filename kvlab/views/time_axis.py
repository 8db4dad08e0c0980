"""What happened when, in several quantities at once?

Panels one below the other share one time axis; a shaded span marks the stretch that
the text speaks of. A panel is a line of readings, or a dot for each request.
Left out: where the readings come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from . import theme
from .draw import document, page, stroke, words
from .markup import Markup, join, tag
from .theme import LOOKS, Lang, State, Words

WIDTH, LEFT, RIGHT = 760.0, 168.0, 20.0
TALL, GAP, TOP, FOOT = 64.0, 22.0, 44.0, 30.0


class Panel(Struct, frozen=True, kw_only=True):
    """One quantity over time.

    Units: `points` are (seconds, value); `top` is the value at the panel's upper edge,
    `unit` stands behind it. `dots`: one mark a point, where a line would lie; `state`:
    the look of what lies under the line. `told` stands below the name, `reading` beside
    the curve at the moment of the figure.
    """

    name: Words
    points: Sequence[tuple[float, float]]
    top: float
    unit: str = ""
    dots: bool = False
    state: State | None = None
    told: str = ""
    reading: str = ""


def time_axis(
    panels: Sequence[Panel],
    title: Words,
    *,
    end: float,
    span: tuple[float, float] | None = None,
    note: str = "",
    lang: Lang = "en",
) -> str:
    """Return the figure as SVG, from 0 to `end` seconds, with `span` shaded and a note
    below the axis. The end of the span is the moment that the panels' readings tell."""
    height = TOP + len(panels) * (TALL + GAP) + FOOT
    scale = (WIDTH - LEFT - RIGHT) / end
    heading = words(10, 21, title.to(lang), font_weight=600, font_size=14)
    body: list[Markup] = [page(), heading]
    if span is not None:
        body.append(_shade(span, scale, height - TOP - FOOT))
    for number, panel in enumerate(panels):
        y = TOP + number * (TALL + GAP)
        body += _panel(panel, y, scale, lang)
        if span is not None and panel.reading:
            body += _reading(panel, y, span[1], scale)
    body += _ticks(end, scale, height - FOOT - 6, lang)
    if note:
        body.append(words(10, height + 6, note, font_size=10, fill=theme.INK2))
        height += 18
    return str(document(body, WIDTH, height, title.to(lang), lang))


def time_axis_text(panels: Sequence[Panel], lang: Lang = "en") -> str:
    """Return the same in words: each panel's highest reading and when it came."""
    lines = []
    for panel in panels:
        at, value = max(panel.points, key=lambda point: point[1], default=(0.0, 0.0))
        name = panel.name.to(lang)
        lines.append(f"{name}: {theme.num(round(value, 2))}{panel.unit}, {at:.0f} s")
    return "\n".join(lines)


def _panel(panel: Panel, y: float, scale: float, lang: Lang) -> Iterable[Markup]:
    """Yield the name, the frame and the readings of a panel whose top is at y."""
    name_y = y + TALL / 2 + (-2 if panel.told else 4)
    yield words(10, name_y, panel.name.to(lang), font_weight=600)
    if panel.told:
        yield words(10, name_y + 15, panel.told, font_size=10, fill=theme.INK2)
    highest = f"{theme.num(panel.top)}{panel.unit}"
    edge = {"text_anchor": "end", "font_size": 9, "fill": theme.INK3}
    yield words(LEFT - 6, y + 7, highest, **edge)
    yield words(LEFT - 6, y + TALL, "0", **edge)
    wide = WIDTH - LEFT - RIGHT
    yield stroke(f"M{LEFT:g} {y:g}h{wide:g}", theme.LINE, 1)
    places = [_place(panel, y, at, value, scale) for at, value in panel.points]
    ink = LOOKS[panel.state].edge if panel.state else theme.LINK
    if panel.dots:
        for x, height in places:
            yield tag("circle", cx=round(x, 1), cy=round(height, 1), r=1.8, fill=ink)
    elif places:
        line = "L".join(f"{x:.1f} {height:.1f}" for x, height in places)
        foot = f"L{places[-1][0]:.1f} {y + TALL:g}L{places[0][0]:.1f} {y + TALL:g}Z"
        fill = theme.fill(panel.state) if panel.state else ink
        solid = None if panel.state else 0.1
        yield tag("path", d=f"M{line}{foot}", fill=fill, fill_opacity=solid)
        yield stroke(f"M{line}", ink, 1.4)
    yield stroke(f"M{LEFT:g} {y + TALL:g}h{wide:g}", theme.INK3, 1)


def _place(
    panel: Panel, y: float, at: float, value: float, scale: float
) -> tuple[float, float]:
    return LEFT + at * scale, y + TALL * (1 - min(value / panel.top, 1.0))


def _shade(span: tuple[float, float], scale: float, height: float) -> Markup:
    """Return the stretch that the text speaks of, its end ruled."""
    x, end = LEFT + span[0] * scale, LEFT + span[1] * scale
    rect = tag(
        "rect", x=round(x, 1), y=TOP - 8, width=round(end - x, 1), height=height,
        fill=theme.INK, fill_opacity=0.07,
    )  # fmt: skip
    rule = stroke(f"M{end:.1f} {TOP - 8:g}v{height:g}", theme.ALERT, 1.2)
    return join([rect, rule])


def _reading(panel: Panel, y: float, at: float, scale: float) -> Iterable[Markup]:
    """Yield a ring on the curve at the moment, and what it reads: on a plate where a
    pattern lies under it."""
    value = next((v for t, v in reversed(panel.points) if t <= at), 0.0)
    x, height = _place(panel, y, at, value, scale)
    if not panel.dots:
        style = {"fill": theme.BG, "stroke": theme.ALERT, "stroke_width": 2}
        yield tag("circle", cx=round(x, 1), cy=round(height, 1), r=3.5, **style)
    text_y = y + (27 if height < y + TALL / 2 else 17)
    if panel.state:
        wide = round(theme.width(panel.reading, 15) + 8, 1)
        plate = {"x": round(x + 6, 1), "y": text_y - 14, "width": wide, "height": 18}
        yield tag("rect", **plate, rx=2, fill=theme.BG)
    style = {"font_weight": 700, "font_size": 15, "fill": theme.ALERT}
    yield words(round(x + 9, 1), text_y, panel.reading, **style)


UNITS = (
    (7200.0, 3600, Words("h", "小时")), (300.0, 60, Words("min", "分")),
    (0.0, 1, Words("s", "秒")),
)  # fmt: skip
STEPS = (0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 500, 1000, 5000)


def round_times(end: float, most: int, lang: Lang) -> list[tuple[float, str]]:
    """Return at most so many round times after 0, in seconds, with 0; as text in the
    unit that suits the whole length, which the first one names.

    >>> round_times(45, 5, "en")
    [(0, '0 s'), (10, '10'), (20, '20'), (30, '30'), (40, '40')]
    """
    unit, name = next((size, name) for least, size, name in UNITS if end > least)
    whole = end / unit
    step = next((step for step in STEPS if whole / step <= most), whole / most)
    times = [step * number for number in range(int(whole / step) + 1)]
    first = f"0 {name.to(lang)}"
    return [(time * unit, f"{time:g}" if time else first) for time in times]


def _ticks(end: float, scale: float, y: float, lang: Lang) -> Iterable[Markup]:
    for at, text in round_times(end, 12, lang):
        style = {"text_anchor": "middle", "font_size": 9, "fill": theme.INK2}
        yield words(LEFT + at * scale, y + 14, text, **style)
