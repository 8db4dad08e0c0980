"""How is a sentence said in two languages, when only its numbers are known late?

A sentence is written once, in English, where it is meant; `{}` stands for what is
filled in. The other language is looked up by it when the reader's is known.
Left out: the Chinese sentences (zh.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from .zh import ZH

Lang = Literal["en", "zh"]


class Said(Struct, frozen=True):
    """A sentence and what fills it: text, or sentences of their own."""

    text: str
    values: tuple[str | Said, ...] = ()

    def to(self, lang: Lang) -> str:
        """Return the sentence in one language; English where the other lacks it.

        >>> say("{} requests wait", 1200.0).to("zh")
        '1,200 个请求在排队'
        """
        text = self.text
        if lang == "zh":
            text = ZH.get(text) or text.replace("; ", "；").replace(" and ", "，")
        return text.format(*(to(value, lang) for value in self.values))

    def __str__(self) -> str:
        return self.to("en")

    def __add__(self, more: Text) -> Said:
        return joined("", [self, more])


Text = str | Said
"""A sentence; one without anything to fill in is its text."""


def say(text: str, *values: object) -> Said:
    """Return the sentence with these values, in their order in English; numbers are
    written as `number` does."""
    return Said(text, tuple(map(_filling, values)))


def _filling(value: object) -> Text:
    if isinstance(value, int | float):
        return number(value)
    return value if isinstance(value, Said) else str(value)


def to(text: Text, lang: Lang) -> str:
    """Return a text in one language."""
    if isinstance(text, Said):
        return text.to(lang)
    return ZH.get(text, text) if lang == "zh" else text


def span(least: float, most: float) -> Said:
    """Return both numbers, or one where they are the same.

    >>> str(span(2, 7)), str(span(14, 14))
    ('2 to 7', '14')
    """
    return say("{}", least) if least == most else say("{} to {}", least, most)


def joined(mark: str, texts: Iterable[Text]) -> Said:
    """Return the texts as one, `mark` between them.

    >>> str(joined("; ", ["a", say("{} b", 2)]))
    'a; 2 b'
    """
    given = tuple(texts)
    return Said(mark.join(["{}"] * len(given)), given)


def number(value: float) -> str:
    """Return a value as a reader writes it.

    >>> number(1310720.0), number(0.997), number(0.9999), number(24.3)
    ('1,310,720', '0.997', '1', '24.3')
    """
    if not math.isfinite(value):
        return str(value)
    if value == int(value):
        return f"{int(value):,}"
    if abs(value) >= 100:
        return f"{value:,.1f}"
    return f"{value:,.3f}".rstrip("0").rstrip(".")
