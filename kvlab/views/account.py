"""Where is every token of a pool, in one sum?

used + held + evictable + available = slots, and for the host: host only + copies of L1
+ free = slots. The bar shows the terms on the pool's own scale, the equation under it
gives each name above its number, and beside it what this event moved.
Left out: which slots they are (pool_map.py).
"""

from __future__ import annotations

from typing import NamedTuple

from ..glossary import GLOSSARY
from ..record.snapshot import State as Engine
from . import draw, theme
from .frame import Frame
from .markup import Markup, esc, join, tag
from .player_words import UI_WORDS
from .theme import FREE, LOOKS, Lang, State, Words

SLOTS = Words("slots", "槽位")
OUTSIDE = Words("outside", "树外")


class Term(NamedTuple):
    """One addend: so many tokens in a state, `moved` more than before the event;
    `coming` of them are still on their way from L2."""

    state: State
    name: Words
    tokens: int
    moved: int
    coming: int = 0


class Sum(NamedTuple):
    """The terms of one pool and what they must come to. Units: tokens."""

    terms: tuple[Term, ...]
    total: int

    @property
    def coming(self) -> int:
        """How many of all are still on their way."""
        return sum(term.coming for term in self.terms)

    @property
    def holds(self) -> bool:
        """Whether the terms come to the total, none of them below zero."""
        tokens = [term.tokens for term in self.terms]
        return sum(tokens) == self.total and min(tokens) >= 0


def device_sum(frame: Frame) -> Sum:
    """Return the device account as used + held + evictable + available."""
    now, then = frame.state.account(), frame.before.account()
    names: list[tuple[State, str]] = [
        ("used", "protected"),
        ("held", "held"),
        ("evictable", "evictable"),
        ("available", "available"),
    ]
    coming = _coming(frame)
    return Sum(
        tuple(
            Term(
                state, LOOKS[state].name, getattr(now, at),
                getattr(now, at) - getattr(then, at), coming.get(state, 0),
            )
            for state, at in names
        ),
        now.total,
    )  # fmt: skip


def _coming(frame: Frame) -> dict[State, int]:
    """Return the tokens that L1 waits for, by the term that counts them: what no node
    has yet counts as held."""
    state, page = frame.state, frame.header.config.page_size
    held = len(frame.promised) * page
    sums: dict[State, int] = {"used": 0, "held": held, "evictable": 0}
    for node in (*state.nodes.values(), *state.orphans.values()):
        if node.loading is not None:
            sums["used" if node.lock_ref else "evictable"] += len(node.tokens)
    return sums


def host_sum(frame: Frame) -> Sum:
    """Return the host account as host only + copies of L1 + outside the tree + free.

    Pages lie outside the tree between the events of one change alone: taken and not
    yet a node's, or given up and not yet free. Cost: O(nodes).
    """
    now, then = _host(frame.state), _host(frame.before)
    names: list[tuple[State, Words]] = [
        ("host_only", LOOKS["host_only"].name),
        ("copy", LOOKS["copy"].name),
        ("held", OUTSIDE),
        ("available", FREE),
    ]
    terms = zip(names, now, then, strict=True)
    return Sum(
        tuple(Term(*name, tokens, tokens - before) for name, tokens, before in terms),
        sum(now),
    )


def _host(state: Engine) -> tuple[int, int, int, int]:
    """Return host only, copies, outside, free; what L1 waits for, L2 alone has."""
    account = state.host_account()
    copies = coming = 0
    for node in state.nodes.values():
        if node.pages is not None and node.host_pages is not None:
            copies += len(node.tokens) if node.loading is None else 0
            coming += len(node.tokens) if node.loading is not None else 0
    outside = account.copies - copies - coming
    return account.host_only + coming, copies, outside, account.available


def bar(account: Sum, width: float, height: float) -> Markup:
    """Return the terms as one stacked bar; what is still to come is promised."""
    parts, x = [], 0.0
    for term in account.terms:
        wide = term.tokens / account.total * width if account.total else 0.0
        late = wide * term.coming / term.tokens if term.coming else 0.0
        if wide > late:
            parts.append(draw.box(x, 0, wide - late, height, term.state))
        x += wide
        if late:
            parts.append(draw.box(x - late, 0, late, height, "promised"))
    return join(parts)


def equation(account: Sum, lang: Lang, wide: float, unit: Words = SLOTS) -> Markup:
    """Return the sum, names in one line and numbers in the next, 36 px high; behind it,
    how much of it is promised.

    The places depend on the total alone, so nothing moves from event to event; but
    what has no room for a promise is drawn smaller.
    """
    total = theme.num(account.total)
    room = theme.width(total, 16) + 4 + theme.width("+" + total, 11)
    parts: list[Markup] = []
    x = 0.0
    for place, term in enumerate(account.terms):
        if place:
            parts.append(_operator(x, "+"))
        x += OPERATOR if place else 0
        parts.append(_term(x, term, lang))
        x += max(16 + theme.width(term.name.to(lang), 11), room)
    parts.append(_operator(x, "="))
    x += OPERATOR
    parts += [
        draw.words(x, 12, unit.to(lang), fill=theme.INK2),
        draw.words(x, 31, total, font_size=15, font_weight=600),
    ]
    after = x + theme.width(unit.to(lang), 11) + 12
    x += theme.width(total, 16) + 6
    parts.append(draw.tick(x, 20) if account.holds else draw.loss(x, 19, 14))
    end = x + 14
    if account.coming:
        said = promised(account.coming, lang)
        parts.append(draw.swatch(after, 2, "promised"))
        parts.append(draw.words(after + 16, 12, said, fill=theme.INK2))
        end = max(end, after + 16 + theme.width(said, 11))
    scale = min(1.0, wide / end)
    return tag("g", join(parts), transform=f"scale({scale:.3f})")


def promised(tokens: int, lang: Lang) -> str:
    """Return how many tokens are promised, as the player says it."""
    return UI_WORDS["promised_of"].to(lang).format(n=theme.num(tokens))


OPERATOR = 22
EQUATION_HEIGHT = 36


def _operator(x: float, sign: str) -> Markup:
    return draw.words(
        x + OPERATOR / 2, 31, sign, text_anchor="middle", font_size=14, fill=theme.INK3
    )


def _term(x: float, term: Term, lang: Lang) -> Markup:
    """Return name and number; vLLM's word for it shows under the pointer."""
    number, moved = theme.num(term.tokens), theme.delta(term.moved)
    weight, colour = (600, theme.INK) if term.tokens else (400, theme.INK3)
    parts = [
        draw.swatch(x, 2, term.state),
        draw.words(x + 16, 12, term.name.to(lang), fill=theme.INK2),
        draw.words(x, 31, number, font_size=15, font_weight=weight, fill=colour),
    ]
    if moved:
        after = x + theme.width(number, 15) + 4
        style = {"font_weight": 600, "fill": theme.INK2}
        parts.append(draw.words(after, 31, moved, **style))
    known = GLOSSARY.get(term.state)
    other = known.other("sglang") if known and term.name is not FREE else ""
    title = [tag("title", esc(f"vLLM: {other}"))] if other else []
    return tag("g", join([*title, *parts]))


def account_svg(frame: Frame, lang: Lang = "en") -> Markup:
    """Return both pools' sums as a picture of its own."""
    wide, gutter = 448, 60
    parts = [draw.page()]
    y = 16.0
    for tier, place, account in _tiers(frame):
        parts.append(draw.words(16, y + 12, tier, font_size=13, font_weight=600))
        parts.append(draw.words(16, y + 26, place.to(lang), fill=theme.INK3))
        body = [
            bar(account, wide, 14),
            draw.move(0, 20, [equation(account, lang, wide)]),
        ]
        parts.append(draw.move(16 + gutter, y, body))
        y += 20 + EQUATION_HEIGHT + 16
    title = Words("Account of the pools", "内存池账目").to(lang)
    return draw.document(parts, wide + gutter + 32, y, title, lang)


PLACES = {"L1": Words("GPU", "GPU"), "L2": Words("host", "主机")}


def _tiers(frame: Frame) -> list[tuple[str, Words, Sum]]:
    """Return the pools that exist, with their names and sums."""
    tiers = [("L1", PLACES["L1"], device_sum(frame))]
    if frame.state.pools["L2"].num_pages:
        tiers.append(("L2", PLACES["L2"], host_sum(frame)))
    return tiers
