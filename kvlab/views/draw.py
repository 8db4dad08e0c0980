"""Which shapes do all the pictures share?

Boxes, labels, marks and the legend, in the looks of theme.py, as SVG.
Left out: what is drawn where (pool_map.py, tree_strip.py, account.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from . import theme
from .markup import Markup, esc, join, tag
from .primer import MARKS
from .theme import LOOKS, Lang, State


def document(
    body: Iterable[Markup], width: float, height: float, title: str, lang: Lang = "en"
) -> Markup:
    """Return a whole SVG that needs no other file; `title` is read aloud."""
    return tag(
        "svg",
        join([tag("title", esc(title)), theme.patterns(), *body]),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
        font_family=theme.UI_ZH if lang == "zh" else theme.UI,
        font_size=11,
        fill=theme.INK,
    )


def page() -> Markup:
    """Return a white ground, for a picture that leaves the notebook."""
    return tag("rect", width="100%", height="100%", fill=theme.BG)


def move(x: float, y: float, body: Iterable[Markup]) -> Markup:
    """Return the body with its origin at x, y."""
    return tag("g", join(body), transform=f"translate({x:g},{y:g})")


def words(x: float, y: float, text: object, **attributes: object) -> Markup:
    """Return a line of text that stands on y."""
    return tag("text", esc(text), x=x, y=y, **attributes)


def code(x: float, y: float, text: object, **attributes: object) -> Markup:
    """Return the same in the code font, bold: the names of nodes and requests."""
    style = {"font_family": theme.MONO, "font_weight": 600} | attributes
    return words(x, y, text, **style)


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    state: State,
    down: bool = False,
    **attributes: object,
) -> Markup:
    """Return a rectangle in a state's pattern and edge, inside the given bounds.

    `down`: what is in flight goes down, from L1 to L2.
    """
    look = LOOKS[state]
    style = {"fill": theme.fill(state, down), "stroke": look.edge} | attributes
    rect = tag(
        "rect", x=x + 0.5, y=y + 0.5, width=max(0.5, width - 1), height=height - 1,
        rx=1.5, stroke_dasharray=look.dash, **style,
    )  # fmt: skip
    if state != "lost" or width < 6:
        return rect
    return join([rect, cross(x + 2, y + 2, width - 4, height - 4)])


def cross(x: float, y: float, width: float, height: float) -> Markup:
    """Return the x of what is lost for good."""
    return stroke(
        f"M{x:g} {y:g}l{width:g} {height:g}m0 {-height:g}l{-width:g} {height:g}",
        LOOKS["lost"].ink, 1.6,
    )  # fmt: skip


def stroke(path: str, colour: str, width: float, **attributes: object) -> Markup:
    """Return a line along the path."""
    style = {"fill": "none", "stroke": colour, "stroke_width": width} | attributes
    return tag("path", d=path, **style)


def ring(x: float, y: float, width: float, height: float) -> Markup:
    """Return the black ring of what the current event touches."""
    return tag(
        "rect", x=x - 1, y=y - 1, width=width + 2, height=height + 2, rx=3,
        fill="none", stroke=theme.INK, stroke_width=2,
    )  # fmt: skip


def overshoot(x: float, y: float, width: float, height: float) -> Markup:
    """Return the thick dashed outline of what was freed beyond what was asked."""
    return tag(
        "rect", x=x, y=y, width=max(2.0, width), height=height, fill="none",
        stroke=theme.INK, stroke_width=3, stroke_dasharray="6 4",
    )  # fmt: skip


def plate(x: float, y: float, text: str, size: float = 11) -> Markup:
    """Return a label on a plate, centred on x, y: text never lies on a pattern."""
    wide = theme.width(text, size, mono=True) + 7
    return join(
        [
            tag(
                "rect", x=x - wide / 2, y=y - size / 2 - 2, width=wide, height=size + 4,
                rx=2, fill=theme.BG,
            ),
            code(x, y + size * 0.36, text, text_anchor="middle", font_size=size),
        ]
    )  # fmt: skip


def locked_plate(x: float, y: float, text: str, locks: int, size: float) -> Markup:
    """Return a label with a lock and its count, all on one plate, centred on x, y."""
    count = f"{locks}"
    wide = locked_width(text, locks, size)
    left = x - wide / 2
    ground = tag(
        "rect", x=left, y=y - size / 2 - 2, width=wide, height=size + 4, rx=2,
        fill=theme.BG,
    )  # fmt: skip
    told = theme.width(text, size, mono=True)
    at = left + 4 + (told + 3 if text else 0)
    parts = [ground, lock(at, y - 5), words(at + 10, y + 4, count, font_weight=600)]
    if text:
        parts.append(code(left + 4, y + size * 0.36, text, font_size=size))
    return join(parts)


def locked_width(text: str, locks: int, size: float) -> float:
    """Return how wide such a plate is."""
    told = theme.width(text, size, mono=True)
    return told + (3 if text else 0) + 10 + theme.width(f"{locks}", 11) + 7


def swatch(x: float, y: float, state: State) -> Markup:
    """Return a small sample of the state, 12 px square."""
    if state == "refused":
        return octagon(x - 1, y - 1, 14)
    return box(x, y, 12, 12, state)


# --- marks


def lock(x: float, y: float, scale: float = 1) -> Markup:
    """Return the padlock of lock_ref > 0, 8 x 9 px."""
    body = [
        stroke("M2 4.5V3a2 2 0 0 1 4 0v1.5", theme.INK, 1.3),
        tag("rect", x=1, y=4.5, width=6, height=4.5, rx=0.8, fill=theme.INK),
    ]
    if scale == 1:
        return move(x, y, body)
    place = f"translate({x:g},{y:g}) scale({scale:g})"
    return tag("g", join(body), transform=place)


def tick(x: float, y: float) -> Markup:
    """Return the tick of a sum that holds, 12 px wide."""
    return stroke(f"M{x:g} {y + 5:g}l3.2 3.2l6.3 -7.7", theme.OK, 2)


OCTAGON = "M6 1h8l5 5v8l-5 5H6l-5-5V6z"


def octagon(x: float, y: float, size: float) -> Markup:
    """Return the sign of a refusal: an open octagon with a stroke and a dot."""
    ink = LOOKS["refused"].ink
    body = [
        tag("path", d=OCTAGON, fill=theme.BG, stroke=ink, stroke_width=1.6),
        stroke("M10 4.5v7M10 13.5v2", ink, 2.4),
    ]
    return _sign(x, y, size, body)


def loss(x: float, y: float, size: float) -> Markup:
    """Return the sign of a loss: a full octagon with a cross."""
    body = [
        tag("path", d=OCTAGON, fill=LOOKS["refused"].ink),
        stroke("M6 6l8 8M14 6l-8 8", theme.BG, 2.6),
    ]
    return _sign(x, y, size, body)


def _sign(x: float, y: float, size: float, body: list[Markup]) -> Markup:
    place = f"translate({x:g},{y:g}) scale({size / 20:g})"
    return tag("g", join(body), transform=place)


def arrow(x: float, y: float, up: bool, colour: str) -> Markup:
    """Return a small arrow centred on x, y."""
    tip = -4 if up else 4
    head = f"M{x - 3.5:g} {y + tip / 4:g}L{x:g} {y + tip:g}L{x + 3.5:g} {y + tip / 4:g}"
    return stroke(f"{head}M{x:g} {y + tip:g}V{y - tip:g}", colour, 1.6)


# --- the legend


def legend(
    lang: Lang = "en",
    wide: float = 640,
    contents: bool = False,
    marks: Iterable[str] = (),
) -> tuple[Markup, float]:
    """Return every state with its name, and these marks of primer.py, in rows of at
    most `wide`, and the height; the states of compared contents only where `contents`
    are drawn."""
    entries = [
        (swatch(0, 0, state), name)
        for state, _, name in theme.legend(lang)
        if contents or state not in theme.CONTENTS
    ]
    entries += [(mark(name), MARKS[name].name.to(lang)) for name in marks]
    parts: list[Markup] = []
    x, y = 0.0, 0.0
    for sample, name in entries:
        step = 12 + 5 + theme.width(name, 11) + 16
        if x + step > wide and x:
            x, y = 0.0, y + 18
        parts.append(move(x, y, [sample]))
        parts.append(words(x + 17, y + 10, name, fill=theme.INK2))
        x += step
    return join(parts), y + 14


def mark(name: str) -> Markup:
    """Return a small sample of a mark of the pools, 12 px square."""
    match name:
        case "ring":
            return ring(2, 2, 8, 8)
        case "over":
            return overshoot(1.5, 1.5, 9, 9)
        case "twin":
            edge = tag("rect", x=1, y=8.5, width=10, height=3, fill=_TWIN.ink)
            return join([box(0, 0, 12, 12, "used"), edge])
    assert name == "host_lock", f"{name} is no mark of the pools"
    return lock(2, 1.5)


_TWIN = LOOKS["host_only"]
