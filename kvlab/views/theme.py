"""How does each state look, in every view?

The only place of colours, patterns, marks, fonts and number formats. A pattern means
one thing everywhere: tree deck, slot, account, timeline, card. Colour never speaks
alone: every state has a colour, a pattern, a character for plain text, and a name in
English and Chinese. The edge of a state stands out 3:1 from the page, its pattern
carries the meaning.
Left out: drawing (draw.py), a dark page (theme_dark.py).
"""

from __future__ import annotations

import unicodedata
from math import floor, log10
from typing import Literal, NamedTuple

from .markup import Markup, join, tag

Lang = Literal["en", "zh"]
LANGS: tuple[Lang, ...] = ("en", "zh")


class Words(NamedTuple):
    """The same words in both languages. Engine names stay English."""

    en: str
    zh: str

    def to(self, lang: Lang) -> str:
        """Return them in one language."""
        return self.zh if lang == "zh" else self.en


BG, WELL = "#ffffff", "#f6f7f9"
INK, INK2, INK3 = "#1c2127", "#525b66", "#656e78"
LINE, LINE2 = "#e4e7eb", "#b9c0c8"
LINK, OK, ALERT = "#1565c0", "#00694c", "#b04c00"
RIBBON = "#cc79a7"

UI = (
    "-apple-system, 'Segoe UI', Roboto, Helvetica, Arial, 'Liberation Sans', "
    "'PingFang SC', 'Hiragino Sans GB', 'Microsoft YaHei', 'Noto Sans CJK SC', "
    "sans-serif"
)
UI_ZH = "'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', " + UI
MONO = (
    "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', "
    "'DejaVu Sans Mono', 'Noto Sans Mono CJK SC', monospace"
)

State = Literal[
    "used", "held", "evictable", "available", "host_only", "copy",
    "promised", "in_flight", "refused", "lost", "left", "right", "wrong",
]  # fmt: skip


class Look(NamedTuple):
    """One state: `ink` on `ground` in a pattern, within an edge; `char` stands for it
    in plain text and looks like the pattern; `plotly` is that library's name of it."""

    ink: str
    ground: str
    edge: str
    pattern: str
    char: str
    name: Words
    dash: str | None = None
    plotly: str = ""


LOOKS: dict[State, Look] = {
    "used": Look(
        "#0072b2", "#0072b2", "#005587", "solid", "#", Words("used", "占用")
    ),
    "held": Look(
        "#0072b2", "#ffffff", "#005587", "stripes", "|",
        Words("held", "树外持有"), plotly="|",
    ),
    "evictable": Look(
        "#e69f00", "#fdf0d3", "#8f6200", "hatch", "/",
        Words("evictable", "可逐出"), plotly="/",
    ),
    "available": Look(
        "#ffffff", "#ffffff", "#838c96", "empty", ".",
        Words("available", "空闲"), dash="1.5 2.5",
    ),
    "host_only": Look(
        "#56b4e9", "#e3f2fb", "#1f6f9f", "bars", "=",
        Words("host only", "仅在主机"), plotly="-",
    ),
    "copy": Look(
        "#b5d9ee", "#f3f8fb", "#1f6f9f", "thin bars", "-",
        Words("copy of L1", "L1 的副本"), plotly="-",
    ),
    "promised": Look(
        "#009e73", "#d9f0e8", "#00694c", "cross-hatch", "%",
        Words("promised", "已承诺"), plotly="x",
    ),
    "in_flight": Look(
        "#8f3f70", "#f7e6ef", "#8f3f70", "chevrons", ">",
        Words("in flight", "拷贝中"), plotly=".",
    ),
    "refused": Look(
        "#d55e00", "#fdeee3", "#d55e00", "octagon", "!", Words("refused", "拒绝")
    ),
    "lost": Look(
        "#4d4d4d", "#ffffff", "#4d4d4d", "cross", "x",
        Words("lost", "丢失"), dash="3 2",
    ),
    "left": Look(
        "#f3cf80", "#ffffff", "#838c96", "thin hatch", ":",
        Words("given up", "刚让出"), dash="1.5 2.5",
    ),
    "right": Look(
        "#009e73", "#e7f5f0", "#00694c", "ticks", "+", Words("right", "内容正确")
    ),
    "wrong": Look(
        "#ffffff", "#d55e00", "#a34700", "marks", "*", Words("wrong", "内容有误")
    ),
}  # fmt: skip

CONTENTS: tuple[State, ...] = ("right", "wrong")
"""What a slot is when its contents were compared; the others say what it is good for.
"""

FREE = Words("free", "空闲")
"""What `available` is called in L2, where nothing is ever promised."""


def legend(lang: Lang = "en") -> list[tuple[State, str, str]]:
    """Return every state with its character and its name, the common ones first."""
    return [(state, look.char, look.name.to(lang)) for state, look in LOOKS.items()]


class Pattern(NamedTuple):
    """A tile of `width` x `height`, turned by `turn` degrees; `drawn` is inked."""

    width: int
    height: int
    turn: int
    drawn: str
    stroke: float | None = None


PATTERNS: dict[str, Pattern | None] = {
    "solid": None,
    "empty": None,
    "octagon": None,
    "cross": None,
    "stripes": Pattern(5, 5, 0, "M0 0H3V5H0Z"),
    "hatch": Pattern(6, 6, 45, "M0 0H2.6V6H0Z"),
    "thin hatch": Pattern(6, 6, 45, "M0 0H1V6H0Z"),
    "bars": Pattern(6, 4, 0, "M0 0H6V2H0Z"),
    "thin bars": Pattern(6, 4, 0, "M0 0H6V1H0Z"),
    "cross-hatch": Pattern(6, 6, 45, "M0 0H6M0 0V6", 2.2),
    "chevrons": Pattern(8, 8, 0, "M1 7L4 3L7 7", 1.4),
    "ticks": Pattern(9, 8, 0, "M1.5 4L3.5 6.5L7 1.5", 1.3),
    "marks": Pattern(7, 11, 0, "M2.6 1.5H4.4L4.1 6.5H2.9ZM2.7 7.6H4.3V9.4H2.7Z"),
}
"""Every pattern by name; None is one that needs no tile."""


DOWN = "in_flight-down"
"""The chevrons of a copy from L1 down to L2."""


def fill(state: State, down: bool = False) -> str:
    """Return what an SVG fill of this state says; `patterns` must be in the file.

    `down` turns the chevrons of what is in flight.

    >>> fill("used"), fill("evictable")
    ('#0072b2', 'url(#kv-evictable)')
    """
    look = LOOKS[state]
    if down and state == "in_flight":
        return f"url(#kv-{DOWN})"
    return f"url(#kv-{state})" if PATTERNS[look.pattern] else look.ground


def patterns() -> Markup:
    """Return the <defs> that every `fill` refers to."""
    tiles = [
        _tile(state, look, pattern)
        for state, look in LOOKS.items()
        if (pattern := PATTERNS[look.pattern])
    ]
    look = LOOKS["in_flight"]
    chevrons = PATTERNS[look.pattern]
    assert chevrons is not None, "what is in flight has a pattern"
    tiles.append(_tile(DOWN, look, chevrons._replace(turn=180)))
    return tag("defs", join(tiles))


def _tile(name: str, look: Look, pattern: Pattern) -> Markup:
    ink = {"fill": look.ink}
    if pattern.stroke is not None:
        ink = {"fill": "none", "stroke": look.ink, "stroke_width": f"{pattern.stroke}"}
    size = {"width": pattern.width, "height": pattern.height}
    ground = tag("rect", **size, fill=look.ground)
    return tag(
        "pattern",
        join([ground, tag("path", d=pattern.drawn, **ink)]),
        id=f"kv-{name}",
        **size,
        patternUnits="userSpaceOnUse",
        patternTransform=f"rotate({pattern.turn})" if pattern.turn else None,
    )


# --- numbers and widths


def num(value: float, digits: int = 1) -> str:
    """Return a count with separators; what is not whole with so many digits.

    >>> num(10000), num(18.04), num(18.0), num(0.5, 3)
    ('10,000', '18.0', '18', '0.500')
    """
    whole = float(value).is_integer()
    return f"{value:,.{0 if whole else digits}f}".replace("-", "−")


def seconds(ns: int) -> str:
    """Return a time in seconds; what is under a millisecond, in milliseconds.

    >>> seconds(48_000_000_000), seconds(1_234_567_890), seconds(102_400), seconds(0)
    ('48 s', '1.235 s', '0.102 ms', '0 s')
    """
    if 0 < ns < 1_000_000:
        return f"{num((ns + 500) // 1_000 / 1_000, 3)} ms"
    return f"{num((ns + 500_000) // 1_000_000 / 1_000, 3)} s"


def token_range(first: int, size: int) -> str:
    """Return a range of token positions as a slice: from 0, without its end.

    >>> token_range(1000, 24)
    '1,000:1,024'
    """
    return f"{num(first)}:{num(first + size)}"


def delta(value: int) -> str:
    """Return a change with its sign, nothing for none.

    >>> delta(22), delta(-3), delta(0)
    ('+22', '−3', '')
    """
    return f"{'+' if value > 0 else '−'}{abs(value):,}" if value else ""


def round_up(value: float) -> float:
    """Return the least of 1, 2 and 5 times a power of ten that is not below the value.

    >>> round_up(0.3), round_up(20), round_up(21)
    (0.5, 20.0, 50.0)
    """
    size = 10.0 ** floor(log10(value))
    return next(size * by for by in (1, 2, 5, 10) if size * by >= value)


def width(text: str, size: float, mono: bool = False) -> float:
    """Return about how wide the text is drawn. Units: pixels, as `size`.

    A guess, since no font can be asked: right within a tenth for the fonts named here.
    """
    return size * sum(_em(char, mono) for char in text)


def _em(char: str, mono: bool) -> float:
    if unicodedata.east_asian_width(char) in "WF":
        return 1.0
    if mono:
        return 0.602
    if char in "iljtfr.,:;|!'()[] ":
        return 0.31
    return 0.72 if char.isupper() or char in "mw+=<>−" else 0.556
