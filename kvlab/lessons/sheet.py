"""What does a form leave on a page where no widget runs?

The question, with all that may be answered and no answer: in a notebook that was turned
into HTML, on paper, in a terminal.
Left out: asking and judging (form.py), the twin of a player (views/page.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from ..views.markup import Markup, esc, join, tag
from ..views.theme import Lang, Words
from ..views.widget import beside

BLANK = "______"
"""Where a number is to be written."""


class Sheet(widgets.VBox):  # type: ignore[misc]
    """Widgets one below the other, and in an output's HTML their twins."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.children))

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        twins = [_html(child._repr_mimebundle_(**kwargs)) for child in self.children]
        return beside(super()._repr_mimebundle_(**kwargs), "\n".join(twins))


def _html(bundle: Any) -> str:
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    return str(data["text/html"])


def question(asked: Mapping[str, Any], lang: Lang) -> str:
    """Return what a card asks, on one line."""
    return f"{asked['id']}: {' '.join(_said(asked['asks'], lang).split())}"


def printed(asked: Mapping[str, Any], lang: Lang) -> Markup:
    """Return a card as HTML without a script: what it asks and what may be answered."""
    parts = [tag("p", esc(question(asked, lang)))]
    if start := asked.get("start"):
        parts.append(tag("pre", join(map(esc, start.split("\n")), "\n")))
    if lines := _lines(asked, lang):
        parts.append(tag("ul", join(tag("li", esc(line)) for line in lines)))
    return tag("div", join(parts))


def _lines(asked: Mapping[str, Any], lang: Lang) -> list[str]:
    """Return what stands under a question: a line a choice, a part, a step."""

    def named(key: str) -> list[str]:
        return [_said(words, lang) for _, words in asked.get(key, ())]

    options, typed = named("options"), asked.get("typed", ())
    pick = " / ".join(options) or BLANK
    parts = [
        f"{_said(words, lang)}: {BLANK if part in typed else pick}"
        for part, words in asked.get("parts", ())
    ]
    return [
        *(f"{_said(name, lang)}: {n}" for name, n, _ in asked.get("gauges", ())),
        *(
            f"{_said(about, lang)}: {' / '.join(_said(says, lang) for _, says in all_)}"
            for _, about, all_ in asked.get("points", ())
        ),
        *named("steps"),
        *named("acts"),
        *(parts or options),
    ]


def _said(words: Sequence[str], lang: Lang) -> str:
    return Words(*words).to(lang)
