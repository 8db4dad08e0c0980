"""What does a notebook show where a figure stands alone?

A picture with its words: the notebook draws the one, a terminal and a screen reader get
the other. Left out: how it is drawn.
"""

from __future__ import annotations

from typing import NamedTuple


class Drawn(NamedTuple):
    """A picture that a notebook shows, with its words."""

    svg: str
    text: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return self.text
