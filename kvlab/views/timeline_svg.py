"""The same account over time, as a still: SVG without a browser.

The lanes of the events above, L1's account and L2's below, each term in its own
pattern, the step as a cursor, the legend under it.
Left out: hover and zoom (timeline.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..record.folding import check_step
from ..record.trace import Trace
from . import draw, theme
from .lanes import GUTTER, WIDTH, lanes, x_of
from .markup import Markup, join, tag
from .player_words import UI_WORDS
from .series import L1_TERMS, L2_TERMS, Counts, series, thinned
from .theme import LOOKS, Lang, State, Words

L1_TALL, L2_TALL = 120, 80


def timeline_svg(trace: Trace, step: int | None = None, lang: Lang = "en") -> Markup:
    """Return the run as a picture; `step` draws the cursor.

    Raises: TraceError if the run has no such step, or does not fold. Cost: O(events).
    """
    if step is not None:
        check_step(step, len(trace))
    told, steps = series(trace), len(trace)
    body = [
        draw.move(0, 8, [lanes(trace, lang)]),
        draw.move(0, 78, [_account("L1", told.l1, L1_TERMS, L1_TALL)]),
    ]
    bottom = 78.0 + L1_TALL
    if told.l2[0].sum():
        body.append(
            draw.move(0, bottom + 12, [_account("L2", told.l2, L2_TERMS, L2_TALL)])
        )
        bottom += 12 + L2_TALL
    body.append(_axis(steps, bottom, lang))
    if step is not None:
        body.append(_cursor(x_of(step, steps), step, bottom))
    legend, tall = draw.legend(lang, WIDTH - GUTTER)
    body.append(draw.move(GUTTER, bottom + 44, [legend, *_grades(tall + 6, lang)]))
    tall += 44
    parts = [draw.page(), draw.move(16, 12, body)]
    title = Words("Account over time", "账目随时间的变化").to(lang)
    return draw.document(parts, WIDTH + 32, bottom + 64 + tall, title, lang)


def _account(
    tier: str, counts: Counts, terms: tuple[State, ...], tall: float
) -> Markup:
    """Return the terms stacked, the first at the bottom."""
    total = max(int(counts[0].sum()), 1)
    steps, low = len(counts) - 1, [0] * len(counts)
    shown = thinned(len(counts), 2 * WIDTH)
    parts = []
    for place, state in enumerate(terms):
        high = [
            below + int(own) for below, own in zip(low, counts[:, place], strict=True)
        ]
        if state != "available":
            points = _stairs(high, shown, steps, total, tall)
            back = _stairs(low, shown, steps, total, tall)[::-1]
            path = "M" + "L".join(points + back) + "Z"
            look = LOOKS[state]
            style = {"stroke": look.edge, "stroke_width": 0.8}
            parts.append(tag("path", d=path, fill=theme.fill(state), **style))
        low = high
    wide = WIDTH - GUTTER - 8
    frame = {"fill": "none", "stroke": LOOKS["available"].edge}
    dashed = {"stroke_dasharray": LOOKS["available"].dash}
    parts += [
        tag("rect", x=GUTTER, y=0, width=wide, height=tall, **frame, **dashed),
        draw.words(0, 14, tier, font_size=13, font_weight=600),
        draw.words(0, 28, theme.num(total), fill=theme.INK3),
    ]
    return join(parts)


def _stairs(
    values: list[int], shown: list[int], steps: int, total: int, tall: float
) -> list[str]:
    """Return the points of a curve that keeps each value until the next step."""
    points, last = [], None
    for at in shown:
        x, y = x_of(at, steps), tall - tall * values[at] / total
        if last is not None and y != last:
            points.append(f"{x:.1f} {last:.1f}")
        if y != last or at in (shown[0], shown[-1]):
            points.append(f"{x:.1f} {y:.1f}")
        last = y
    return points


def _grades(y: float, lang: Lang) -> Iterator[Markup]:
    """Yield what the marks of losses and of refusals mean, 38 pixels high."""
    for sign, key in ((draw.loss, "grade_lost"), (draw.octagon, "grade_no")):
        yield sign(0, y, 12)
        yield draw.words(17, y + 10, UI_WORDS[key].to(lang), fill=theme.INK2)
        y += 18


def _axis(steps: int, y: float, lang: Lang) -> Markup:
    style = {"text_anchor": "middle", "fill": theme.INK3}
    parts = []
    each = int(theme.round_up(max(steps / 10, 1)))
    for at in [*range(0, steps - each // 2, each), steps]:
        x = x_of(at, steps)
        parts.append(draw.stroke(f"M{x:.1f} {y:g}v4", theme.LINE2, 1))
        parts.append(draw.words(x, y + 16, theme.num(at), **style))
    name = Words("event", "事件").to(lang)
    return join([draw.words(0, y + 16, name, fill=theme.INK3), *parts])


def _cursor(x: float, step: int, bottom: float) -> Markup:
    label = theme.num(step)
    return join(
        [
            draw.stroke(f"M{x:.1f} 4V{bottom + 4:g}", theme.INK, 1.5),
            tag("path", d=f"M{x - 5:.1f} {bottom + 10:g}h10l-5 -6z", fill=theme.INK),
            draw.plate(x, bottom + 22, label),
        ]
    )
