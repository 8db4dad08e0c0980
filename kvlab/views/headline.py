"""What stands above everything: the event in one sentence, with its sign.

The sentence is also what a screen reader says after a step.
Left out: the words (phrases.py).
"""

from __future__ import annotations

from ..record import events as ev
from ..record.events import Decision, Event
from ..record.trace import Header
from . import theme
from .cards import kind_of, sign, tongue
from .frame import Frame
from .markup import Markup, esc, join, plain, tag
from .reason import Sign
from .reasons import reason_of
from .sentences import describe
from .theme import Lang, Words

START = Words("before the first event", "第一个事件之前")


def headline_html(frame: Frame, steps: int, lang: Lang = "en") -> Markup:
    """Return the sentence of the frame's event, one of `steps`, as a page fragment."""
    name = Words("event", "事件").to(lang)
    place = f"{name} {theme.num(frame.step)} / {theme.num(steps)}"
    kind = f"{place} · {kind_of(frame.event) if frame.event else START.to(lang)}"
    spoken = {"role": "status", "aria_live": "polite", "lang": tongue(lang)}
    sentence = tag("div", esc(describe(frame, lang)), class_="kv-say", **spoken)
    text = tag("div", join([tag("div", esc(kind), class_="kv-kind"), sentence]))
    return tag("div", join([sign(_sign(frame)), text]), class_="kv-headline")


def _sign(frame: Frame) -> Sign:
    if isinstance(frame.event, Decision):
        return reason_of(frame).sign
    return sign_of_change(frame.event)


def sign_of_change(event: Event | None) -> Sign:
    """Return the sign of a change: what leaves, what is copied, who gives way."""
    match event:
        case ev.Demote() | ev.Delete() | ev.EvictHost() | ev.Reclaim():
            return "out"
        case ev.Load() | ev.Backup():
            return "copy"
        case ev.LoadDone() | ev.BackupDone() | ev.Finish():
            return "yes"
        case ev.Retract() | ev.Drop():
            return "no"
    return "note"


def title_html(header: Header, lang: Lang = "en") -> Markup:
    """Return which run this is: its name, engine, rules and policies."""
    config = header.config
    facts = [f"{header.engine} {header.rules.name}", config.tree]
    if config.tree == "hiradix":
        facts.append(config.write_policy)
    facts.append(config.eviction_policy)
    if header.seed:
        facts.append(f"seed {header.seed}")
    name = tag(
        "span", esc(plain(header.name or Words("a run", "一次运行").to(lang), 60))
    )
    rules = tag("span", esc(" · ".join(map(plain, facts))), class_="kv-code")
    return tag("div", join([tag("b", esc("kvlab")), name, rules]), class_="kv-title")
