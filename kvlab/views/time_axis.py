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
from .markup import Markup, tag
from .theme import Lang, Words

WIDTH, LEFT, RIGHT = 760.0, 168.0, 20.0
TALL, GAP, TOP, FOOT = 74.0, 20.0, 34.0, 34.0


class Panel(Struct, frozen=True, kw_only=True):
    """One quantity over time.

    Units: `points` are (seconds, value); `top` is the value at the panel's upper edge,
    `unit` stands behind it. `dots`: one mark a point, where a line would lie. `told` is
    a reading in words, below the name.
    """

    name: Words
    points: Sequence[tuple[float, float]]
    top: float
    unit: str = ""
    dots: bool = False
    told: str = ""


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
    below the axis."""
    height = TOP + len(panels) * (TALL + GAP) + FOOT
    scale = (WIDTH - LEFT - RIGHT) / end
    body: list[Markup] = [page(), words(10, 20, title.to(lang), font_weight=600)]
    if span is not None:
        begin, width = LEFT + span[0] * scale, (span[1] - span[0]) * scale
        body.append(
            tag(
                "rect", x=round(begin, 1), y=TOP - 4, width=round(width, 1),
                height=height - TOP - FOOT, fill=theme.WELL, stroke=theme.LINE2,
            )
        )  # fmt: skip
    for number, panel in enumerate(panels):
        body += _panel(panel, TOP + number * (TALL + GAP), scale, lang)
    body += _ticks(end, scale, height - FOOT)
    if note:
        body.append(words(10, height + 8, note, font_size=10))
        height += 20
    return str(document(body, WIDTH, height, title.to(lang), lang))


def time_axis_text(panels: Sequence[Panel], lang: Lang = "en") -> str:
    """Return the same in words: each panel's highest reading and when it came."""
    lines = []
    for panel in panels:
        at, value = max(panel.points, key=lambda point: point[1], default=(0.0, 0.0))
        name = panel.name.to(lang)
        lines.append(
            f"{name}: {theme.num(_whole(round(value, 2)))}{panel.unit}, {at:.0f} s"
        )
    return "\n".join(lines)


def _panel(panel: Panel, y: float, scale: float, lang: Lang) -> Iterable[Markup]:
    """Yield the name, the frame and the readings of a panel whose top is at y."""
    yield words(10, y + TALL / 2 + (-3 if panel.told else 4), panel.name.to(lang))
    if panel.told:
        yield words(10, y + TALL / 2 + 13, panel.told, font_size=10)
    highest = f"{theme.num(_whole(panel.top))}{panel.unit}"
    yield words(LEFT - 6, y + 9, highest, text_anchor="end", font_size=9)
    yield words(LEFT - 6, y + TALL, "0", text_anchor="end", font_size=9)
    yield stroke(
        f"M{LEFT:g} {y:g}v{TALL:g}h{WIDTH - LEFT - RIGHT:g}", theme.INK, 0.8
    )  # fmt: skip
    places = [
        (LEFT + at * scale, y + TALL * (1 - min(value / panel.top, 1.0)))
        for at, value in panel.points
    ]
    colour = theme.LINK
    if panel.dots:
        for x, height in places:
            yield tag("circle", cx=round(x, 1), cy=round(height, 1), r=1.8, fill=colour)
    elif places:
        path = "L".join(f"{x:.1f} {height:.1f}" for x, height in places)
        yield stroke(f"M{path}", colour, 1.4)


def _ticks(end: float, scale: float, y: float) -> Iterable[Markup]:
    step = next(
        s for s in (1, 5, 10, 30, 60, 120, 300, 600, 3600, end) if end / s <= 12
    )
    for number in range(int(end / step) + 1):
        x = LEFT + number * step * scale
        text = f"{number * step:g} s"
        yield words(x, y + 14, text, text_anchor="middle", font_size=9)


def _whole(value: float) -> float:
    """Return a whole number as such, so that it is told without decimals."""
    return int(value) if value == int(value) else value
