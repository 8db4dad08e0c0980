"""How do the same states and pages look on a dark ground?

Only what differs from theme.py: the ink of a solid state may stay, its edge and its
ground must not. Every edge stands out 3:1 from the page.
Left out: patterns and names, which are the same by day and by night.
"""

from __future__ import annotations

from . import theme
from .theme import LOOKS, State

DARK_LOOKS: dict[State, tuple[str, str, str]] = {
    "used": ("#0072b2", "#0072b2", "#4ba6dc"),
    "held": ("#2f8fc9", "#1b1d20", "#4ba6dc"),
    "evictable": ("#e69f00", "#3a2d10", "#f0b43c"),
    "available": ("#1b1d20", "#1b1d20", "#6c7580"),
    "host_only": ("#56b4e9", "#13303f", "#7cc7f2"),
    "copy": ("#31566b", "#1d2730", "#7cc7f2"),
    "promised": ("#009e73", "#0e352a", "#35c79c"),
    "in_flight": ("#e6a3ca", "#3b2333", "#e6a3ca"),
    "refused": ("#d55e00", "#3a2415", "#ff9a4d"),
    "lost": ("#8c8c8c", "#1b1d20", "#8c8c8c"),
    "left": ("#8a6a1e", "#1b1d20", "#6c7580"),
    "right": ("#35c79c", "#12291f", "#35c79c"),
    "wrong": ("#ffffff", "#c45500", "#ff9a4d"),
}
"""Ink, ground and edge of each state."""

DEEP_HATCH = "#b87700"
"""The hatch of `evictable` on white: at 3.2:1 it no longer leans on its edge."""

PAGES: dict[str, tuple[str, str]] = {
    "bg": (theme.BG, "#1b1d20"), "well": (theme.WELL, "#23262a"),
    "ink": (theme.INK, "#e7eaee"), "ink2": (theme.INK2, "#adb5bf"),
    "ink3": (theme.INK3, "#8f99a4"), "line": (theme.LINE, "#32363c"),
    "line2": (theme.LINE2, "#565d66"), "link": (theme.LINK, "#64b5f6"),
    "ok": (theme.OK, "#35c79c"), "alert": (theme.ALERT, "#ff9a4d"),
    "ribbon": (theme.RIBBON, "#cc79a7"),
}  # fmt: skip
"""Every colour of the page by name: by day, by night."""


def colours() -> list[dict[str, str]]:
    """Return all colours by name, by day and by night: `used`, `used-ground`, ..."""
    day = {name: light for name, (light, _) in PAGES.items()}
    night = {name: dark for name, (_, dark) in PAGES.items()}
    for state, look in LOOKS.items():
        ink = DEEP_HATCH if state == "evictable" else look.ink
        for table, three in (
            (day, (ink, look.ground, look.edge)),
            (night, DARK_LOOKS[state]),
        ):
            for part, colour in zip(("", "-ground", "-edge"), three, strict=True):
                table[state + part] = colour
    return [day, night]
