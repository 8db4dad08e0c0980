"""How does a moment of a run become a file?

`render` draws one view of one step and writes it in the format that the path's ending
names: SVG and PNG pictures, DOT for the tree, plain text for everything. A run whose
rules no release had is labelled so.
Left out: the command line, and pages that play (page.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

import resvg_py

from ..errors import InputError
from ..files import replace_file
from ..record.trace import Trace
from . import draw, theme
from .account import account_svg
from .cards import why_text
from .contents import contents_of
from .film import film, still, still_text
from .frame import frame_at
from .markup import Markup
from .pool_map import contents_map, pool_map
from .rule_table import mixed_note
from .text import account_text, contents_text, pools_text, timeline_text, tree_text
from .theme import Lang
from .timeline_svg import timeline_svg
from .tree_graph import tree_graph, tree_svg

What = Literal["step", "tree", "pool", "contents", "timeline", "account", "card"]
ENDINGS = (".svg", ".png", ".dot", ".txt")
ZOOM = 2
"""PNG pixels for one of SVG: sharp on a projector."""


def render(
    trace: Trace, step: int, what: What, path: str | Path, lang: Lang = "en"
) -> None:
    """Draw `what` after the first `step` events into the file, whole or not at all.

    Changes: the file, replaced in one move.
    Raises: InputError on an unknown view or ending, DOT of anything but the tree, a
    card as a picture, or a file that cannot be written; TraceError if the run has no
    such step; NoDot.
    """
    target = Path(path)
    ending = ending_of(target, what, TEXTS)
    if what not in PICTURES and ending != ".txt":
        raise InputError(str(path), "a card is drawn as text alone", "name it .txt")
    views = PICTURES if ending in (".svg", ".png") else TEXTS
    if ending == ".dot":
        drawn = tree_graph(frame_at(trace, step), lang).source
    else:
        drawn = views[what](trace, step, lang)
    for note in mixed_note(trace.header.rules):
        drawn = _labelled(drawn, note.to(lang), ending, what)
    save(target, drawn)


def render_film(
    trace: Trace, steps: Sequence[int], path: str | Path, lang: Lang = "en"
) -> None:
    """Draw the moments after so many events into one picture, one below the other.

    Changes: the file, replaced in one move.
    Raises: InputError on an ending other than .svg and .png, or a file that cannot be
    written; TraceError if the run has no such steps, or they are too many.
    """
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in (".svg", ".png"):
        raise InputError(str(path), "a film is a picture", "use .svg or .png")
    drawn: str = film(trace, steps, lang)
    for note in mixed_note(trace.header.rules):
        drawn = _above(drawn, note.to(lang))
    save(target, drawn)


def save(target: Path, drawn: str) -> None:
    """Write what was drawn, as PNG where the path ends so.

    Changes: the file, in one move. Raises: InputError if it cannot be written.
    """
    is_png = target.suffix.lower() == ".png"
    replace_file(target, png(drawn) if is_png else f"{drawn}\n".encode())


def ending_of(path: Path, what: str, views: Iterable[str]) -> str:
    """Return the format that the path's ending names.

    Raises: InputError unless `what` is one of the views and can be written so.
    """
    ending = path.suffix.lower()
    if what not in views:
        raise InputError(f"view {what!r}", "is not known", f"use {_or(*views)}")
    if ending not in ENDINGS:
        raise InputError(
            str(path), f"ending {ending!r} is not known", f"use {_or(*ENDINGS)}"
        )
    if ending == ".dot" and what != "tree":
        raise InputError(
            str(path), f"only the tree is a graph, not {what}", "use .svg, .png or .txt"
        )
    return ending


def _or(*names: str) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"


View = Callable[[Trace, int, Lang], str]

PICTURES: dict[str, View] = {
    "step": still,
    "tree": lambda trace, step, lang: tree_svg(frame_at(trace, step), lang),
    "pool": lambda trace, step, lang: pool_map(frame_at(trace, step), lang, True),
    "contents": lambda trace, step, lang: contents_map(
        frame_at(trace, step), contents_of(trace, step), lang, True
    ),
    "timeline": timeline_svg,
    "account": lambda trace, step, lang: account_svg(frame_at(trace, step), lang),
}

TEXTS: dict[str, View] = {
    "step": still_text,
    "tree": lambda trace, step, lang: tree_text(frame_at(trace, step), lang),
    "pool": lambda trace, step, lang: pools_text(frame_at(trace, step), lang),
    "contents": lambda trace, step, lang: contents_text(
        frame_at(trace, step), contents_of(trace, step), lang
    ),
    "timeline": timeline_text,
    "account": lambda trace, step, lang: account_text(frame_at(trace, step), lang),
    "card": why_text,
}


def _labelled(drawn: str, text: str, ending: str, what: What) -> str:
    """Return the picture with a line above it; a tree's graph has its own."""
    if ending == ".txt":
        return f"{text}\n{drawn}"
    return drawn if what == "tree" else _above(drawn, text)


def _above(drawn: str, text: str) -> str:
    size = _SIZE.search(drawn)
    assert size is not None, "a picture without a viewBox"
    width, height = (float(number) for number in size.groups())
    wide = max(width, theme.width(text, 11) + 16)
    drawn = _BEFORE_SVG.sub("", drawn, 1)
    inner = Markup(drawn.replace("<svg ", f'<svg x="0" y="{_LABEL_HEIGHT}" ', 1))
    line = draw.words(8, 16, text, fill=theme.ALERT)
    body = [draw.page(), line, inner]
    return draw.document(body, wide, height + _LABEL_HEIGHT, text)


_LABEL_HEIGHT = 24
_SIZE = re.compile(r'viewBox="0(?:\.0+)? 0(?:\.0+)? ([\d.]+) ([\d.]+)"')
_BEFORE_SVG = re.compile(r"^.*?(?=<svg )", re.DOTALL)


def png(svg: str) -> bytes:
    """Return the picture as PNG, drawn without a browser, patterns and all."""
    return resvg_py.svg_to_bytes(
        svg_string=svg, zoom=ZOOM, dpi=96,
        sans_serif_family="Liberation Sans", monospace_family="Liberation Mono",
    )  # fmt: skip
