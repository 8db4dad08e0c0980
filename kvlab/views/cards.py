"""How does a decision look when it is asked why?

The card of a decision, in fixed order: verdict, rule, both sides as bars on one scale,
each check with every name above its number, what is not in the formula, what was not
taken, the causes, the source. As HTML and as text.
Left out: the numbers (reasons.py); the same card in the player (player/).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..record.events import Decision, Event
from ..record.trace import Trace
from . import draw, theme
from .bars import bars_svg
from .frame import Frame, frame_at
from .markup import NOTHING, Markup, esc, join, tag
from .reason import Check, Equation, Reason, Sign, Term
from .reasons import reason_of
from .sentences import verdict
from .style import SHEET
from .theme import Lang, Words

NOT_IN_FORMULA = Words("not in this formula", "不在此公式中")
NOT_TAKEN, CAUSE = Words("not taken", "未选择"), Words("cause", "起因")
HOLDS = {
    True: Words("✓ true", "✓ 成立"),
    False: Words("✗ false", "✗ 不成立"),
    None: Words("not tested", "未检查"),
}
ANSWERS = {True: Words("✓ yes", "✓ 是"), False: Words("✗ no", "✗ 否")}
"""What a check says that has a question and no numbers."""


class Link(NamedTuple):
    """One event of a chain of causes; `step` is where the player shows it."""

    step: int
    kind: str


class Card(NamedTuple):
    """All that the card of one decision says; plain text, not yet escaped."""

    title: str
    reason: Reason
    chain: tuple[Link, ...]
    lang: Lang


def card(trace: Trace, frame: Frame, lang: Lang = "en") -> Card:
    """Return the card of the frame's event, which must be a decision."""
    chain = tuple(links(trace, frame.index))
    return Card(verdict(frame, lang), reason_of(frame), chain, lang)


def card_at(trace: Trace, step: int, lang: Lang = "en") -> Card:
    """Return the card of the decision that is event number `step`.

    Raises: TraceError if the run has no such step. Cost: O(step).
    """
    return card(trace, frame_at(trace, step), lang)


def links(trace: Trace, index: int) -> list[Link]:
    """Return the event's chain of causes, first cause first, itself last."""
    return [Link(i + 1, kind_of(trace.events[i])) for i in trace.chain(index)]


def decision_behind(trace: Trace, index: int) -> int | None:
    """Return the decision that an event carries out: itself, the last one of the same
    cause before it, or that cause; None if nothing was decided."""
    events = trace.events
    while index >= 0:
        cause = events[index].cause
        for at in range(index, cause, -1):
            if isinstance(events[at], Decision) and events[at].cause == cause:
                return at
        index = cause
    return None


def kind_of(event: Event) -> str:
    """Return an event's kind as the engine would spell it.

    >>> from kvlab.record.events import LoadBack
    >>> kind_of(LoadBack(-1, 1, 1, 1, None, 0, 0, "load"))
    'load_back'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(event).__name__).lower()


# --- as text


def card_text(card: Card) -> str:
    """Return the card as lines of text."""
    why, lang = card.reason, card.lang
    lines = [card.title, why.rule.to(lang)]
    for check in why.checks:
        lines += _check_lines(check, lang)
    if why.outside is not None:
        outside = f"{why.outside.name} = {why.outside.number}"
        lines.append(f"[{outside}]  {NOT_IN_FORMULA.to(lang)}")
    if why.not_taken is not None:
        lines.append(f"{NOT_TAKEN.to(lang)}: {why.not_taken.to(lang)}")
    chain = " -> ".join(f"{link.step} {link.kind}" for link in card.chain)
    lines.append(f"{CAUSE.to(lang)}: {chain}")
    return "\n".join([*lines, why.source] if why.source else lines)


def _check_lines(check: Check, lang: Lang) -> list[str]:
    lines = [check.asks.to(lang)] if check.asks else []
    for equation in check.equations:
        terms = [t if isinstance(t, str) else f"{t.name} {t.number}" for t in equation]
        lines.append("  " + " ".join(terms))
    if check.test or check.holds is not None:
        lines.append(f"  {check.test}  {_result(check).to(lang)}".rstrip())
    return lines


def _result(check: Check) -> Words:
    if check.holds is None or check.test:
        return HOLDS[check.holds]
    return ANSWERS[check.holds]


# --- as HTML


def card_html(card: Card) -> Markup:
    """Return the card as a page fragment that brings its style and patterns."""
    return join([sheet(), card_body(card)])


def sheet() -> Markup:
    """Return what cards need once on a page: their style and all patterns."""
    hidden = "position:absolute"
    patterns = tag("svg", theme.patterns(), width=0, height=0, style=hidden)
    return join([tag("style", SHEET), patterns])


def card_body(card: Card) -> Markup:
    """Return the card alone, for a page that has the `sheet`."""
    columns = [
        tag("div", join(parts), class_="kv-col")
        for parts in (_first(card), _second(card), _third(card))
    ]
    return tag("div", join(columns), class_="kv-card", lang=tongue(card.lang))


def _first(card: Card) -> list[Markup]:
    """Return the verdict and the bars."""
    bars = card.reason.bars
    return [_head(card), *([_section(bars_svg(bars, card.lang))] if bars else [])]


def _second(card: Card) -> list[Markup]:
    """Return the checks, and what is not in them."""
    why, lang = card.reason, card.lang
    parts = [_section(_check(check, lang)) for check in why.checks]
    if why.outside is not None:
        parts.append(_section(_outside(why.outside, lang)))
    return parts


def _third(card: Card) -> list[Markup]:
    """Return what was not taken, the causes and the source."""
    why, lang = card.reason, card.lang
    parts = []
    if why.not_taken is not None:
        text = tag("div", esc(why.not_taken.to(lang)))
        parts.append(_section(_label(NOT_TAKEN.to(lang)), text))
    parts.append(_section(_label(CAUSE.to(lang)), _chain(card.chain)))
    if why.source:
        parts.append(tag("div", esc(why.source), class_="kv-source"))
    return parts


def tongue(lang: Lang) -> str:
    """Return the language as HTML names it."""
    return "zh-Hans" if lang == "zh" else "en"


def _section(*parts: Markup) -> Markup:
    return tag("div", join(parts), class_="kv-sec")


def _label(text: str) -> Markup:
    return tag("div", esc(text), class_="kv-lab")


def _head(card: Card) -> Markup:
    title = tag("div", esc(card.title), class_="kv-verdict")
    rule = tag("div", esc(card.reason.rule.to(card.lang)), class_="kv-rule")
    text = tag("div", join([title, rule]))
    return tag("div", join([sign(card.reason.sign), text]), class_="kv-cardhead")


def sign(kind: Sign) -> Markup:
    """Return the sign of a verdict, 20 px square."""
    drawn = {
        "yes": draw.ticked(),
        "no": draw.octagon(0, 0, 20),
        "out": draw.signed("evictable", up=False),
        "copy": draw.signed("in_flight", up=True),
        "note": draw.dot(),
    }[kind]
    return tag("svg", drawn, width=20, height=20, class_="kv-sign")


def _check(check: Check, lang: Lang) -> Markup:
    parts = [_label(check.asks.to(lang))] if check.asks else []
    parts += [_equation(equation) for equation in check.equations]
    if check.test or check.holds is not None:
        parts.append(_test(check, lang))
    return join(parts)


def _test(check: Check, lang: Lang) -> Markup:
    said = {True: "kv-ok", False: "kv-bad", None: "kv-off"}[check.holds]
    result = tag("span", esc(_result(check).to(lang)), class_=said)
    return tag("div", join([esc(check.test), Markup(" "), result]), class_="kv-test")


def _equation(equation: Equation) -> Markup:
    return tag("div", join(map(_term, equation)), class_="kv-eq")


def _term(term: Term | str) -> Markup:
    if isinstance(term, str):
        return tag("span", esc(term), class_="kv-op")
    name = [esc(term.name)]
    if term.state is not None:
        name.insert(0, _swatch(term))
    names = tag("span", join(name), class_="kv-name")
    return tag(
        "span",
        join([names, tag("span", esc(term.number), class_="kv-num")]),
        class_="kv-term",
    )


def _swatch(term: Term) -> Markup:
    assert term.state is not None, "only a state has a swatch"
    return tag("svg", draw.swatch(0, 0, term.state), width=12, height=12)


def _outside(term: Term, lang: Lang) -> Markup:
    struck = tag("s", esc(f"{term.name} = {term.number}"))
    parts = [_swatch(term)] if term.state else [NOTHING]
    parts += [struck, tag("span", esc(NOT_IN_FORMULA.to(lang)))]
    return tag("div", join(parts), class_="kv-outside")


def _chain(chain: tuple[Link, ...]) -> Markup:
    said = [tag("span", esc(f"{link.step} {link.kind}")) for link in chain[:-1]]
    last = chain[-1]
    said.append(tag("b", esc(f"{last.step} {last.kind}")))
    return tag("div", join(said, " → "), class_="kv-chain")
