"""How does text that came from a file get into HTML and SVG without becoming markup?

`Markup` is a type of its own: a string that is already safe to put into a page. Only
`esc` and `tag` make it, so a request named `<script>` that is put into a page unescaped
is a type error. The same strings are valid XML (SVG files) and HTML.
Left out: what things look like (theme.py).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import NewType

Markup = NewType("Markup", str)

NOTHING = Markup("")

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")
_NO_CHARACTER = re.compile("[\ud800-\udfff\ufffe\uffff]")


def plain(text: object, limit: int = 40) -> str:
    r"""Return the text on one line, control characters written out, cut to `limit`.

    >>> plain("a\nb")
    'a\\nb'
    """
    line = _CONTROL.sub(lambda match: repr(match.group())[1:-1], str(text))
    line = _NO_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", line)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def esc(text: object) -> Markup:
    """Return the text with every character that could end or begin markup escaped.

    >>> esc("a < b & ']]>'")
    'a &lt; b &amp; &#x27;]]&gt;&#x27;'
    """
    line = _NO_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", str(text))
    return Markup(html.escape(_CONTROL.sub(" ", line)))


def join(parts: Iterable[Markup], between: str = "") -> Markup:
    """Return the parts as one; `between` is our own text, never a file's."""
    return Markup(between.join(parts))


def tag(name: str, content: Markup = NOTHING, /, **attributes: object) -> Markup:
    """Return an element; None leaves an attribute out, `_` in a name becomes `-`.

    >>> tag("rect", x=1.50, stroke_width=2, fill=None)
    '<rect x="1.5" stroke-width="2"/>'
    """
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{esc(_short(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if content or name in _NEVER_EMPTY:
        return Markup(f"<{name}{said}>{content}</{name}>")
    return Markup(f"<{name}{said}/>")


_NEVER_EMPTY = {"div", "span", "svg", "g", "h2", "text", "TD"}


def _short(value: object) -> object:
    """Coordinates to a hundredth of a pixel: more cannot be seen."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
