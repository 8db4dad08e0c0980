"""What has just happened, in one sentence?

The headline of the player and of every card, and what a screen reader says.
Left out: the words themselves (phrases.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..record import events as ev
from ..record.events import Event
from ..record.moment import ROOT
from ..record.snapshot import State
from . import theme
from .frame import Frame, focus, node_of
from .markup import plain
from .phrases import CUT, GONE, MOVING, PHRASES
from .terms import whole_of
from .theme import Lang, Words
from .verdicts import VERDICTS


def describe(frame: Frame, lang: Lang = "en") -> str:
    """Return the sentence of the frame's event; plain text, not yet escaped."""
    return _say(PHRASES[told_by(frame, PHRASES)], frame, lang)


def verdict(frame: Frame, lang: Lang = "en") -> str:
    """Return what a decision came to, in a few words; plain text."""
    return _say(VERDICTS[told_by(frame, VERDICTS)], frame, lang)


def told_by(frame: Frame, table: Mapping[str, object]) -> str:
    """Return which entry of a table tells the frame's event: that of what is so then,
    if there is one, such as that a copy on L2 is gone on which the engine counts."""
    entry = entry_of(frame.event, PHRASES)
    special = f"{entry} {_how(frame)}"
    if special in table:
        return special
    return entry if entry in table else entry.split(" ")[0]


def _how(frame: Frame) -> str:
    event, before = frame.event, frame.before
    if isinstance(event, ev.Admit):
        return CUT if whole_of(event, before) is not None else ""
    orphan = getattr(event, "node", None) in frame.state.orphans
    if orphan or is_freed_twice(event, before):
        return GONE
    if isinstance(event, ev.Split):
        node = before.nodes[event.node]
        return "" if node.writing is node.loading is None else MOVING
    return ""


def is_freed_twice(event: Event | None, before: State) -> bool:
    """Whether L2 gets back what a node lost when it was dropped before its load."""
    if not isinstance(event, ev.Free) or event.tier != "L2":
        return False
    held = [node.host_pages for node in before.orphans.values()]
    return any(
        np.array_equal(event.pages, pages) for pages in held if pages is not None
    )


def _say(words: Words, frame: Frame, lang: Lang) -> str:
    text = words.to(lang).format_map(_values(frame, lang)).rstrip()
    return re.sub(" ?根 ?", "根", text) if lang == "zh" else _ONE.sub(r"1 \1", text)


_ONE = re.compile(r"(?<![\d.,])1 (token|slot|node|request|step)s\b")
"""One of something is not many."""


def entry_of(event: Event | None, phrases: dict[str, Words]) -> str:
    """Return which entry tells the event: its kind with its verdict, or its kind."""
    if event is None:
        return ""
    kind = type(event).__name__.lower()
    variant = f"{kind} {_variant(event)}"
    return variant if variant in phrases else kind


def _variant(event: Event) -> str:
    match event:
        case ev.Start(chunked=True) | ev.Insert(chunked=True):
            variant = "chunked"
        case ev.Cached(owned_len=0, node=0):
            variant = "none"
        case ev.Touch() if event.step:
            variant = "each"
        case ev.Step() if event.text:
            variant = event.op
        case (
            ev.Victim(fate=said)
            | ev.TryBackup(verdict=said)
            | ev.LoadBack(verdict=said)
        ):
            variant = said
        case ev.Evicted() if event.freed != event.ask:
            variant = "more" if event.freed > event.ask else "less"
        case ev.Admit(added=False) | ev.CloseRound():
            variant = _spent(event)
        case ev.Chunk(unfinished=True):
            variant = "unfinished"
        case ev.DecodeRoom(fits=False):
            variant = "short"
        case ev.Compared() if event.wrong:
            variant = "wrong"
        case ev.Wrong(found=""):
            variant = "unwritten"
        case _:
            variant = ""
    return variant


def _spent(event: ev.Admit | ev.CloseRound) -> str:
    """Return which budget was spent; a round's own is the input budget."""
    if isinstance(event, ev.CloseRound):
        left = event.rem_chunk
        return "chunk" if left is not None and left <= 0 else ""
    if event.line == "chunk_budget":
        return "chunk_spent"
    return "no_token" if event.verdict == "NO_TOKEN" else "other"


class _Values(dict[str, str]):
    """What a phrase may name; a dash for what this run does not know."""

    def __missing__(self, key: str) -> str:
        return "–"


def _values(frame: Frame, lang: Lang) -> _Values:
    event = frame.event
    values = _Values(total=theme.num(frame.state.account().total))
    if event is None:
        return values
    for name in event.__struct_fields__:
        values[name] = _said(getattr(event, name))
    values |= times_of(event)
    page = frame.header.config.page_size
    pages = getattr(event, "pages", None)
    if pages is not None:
        values["slots"] = theme.num(len(pages) * page)
    tier = getattr(event, "tier", None)
    if tier is not None:
        values["free"] = theme.num(len(frame.state.pools[tier].free) * page)
    values |= _of_node(frame, event, lang)
    values |= _of_request(frame, event)
    values |= _of_decision(event)
    if isinstance(event, ev.Admit):
        values["whole"] = _said(whole_of(event, frame.before) or 0)
    if isinstance(event, ev.Row):
        values["start"] = theme.num(event.start * page)
    if isinstance(event, ev.Step) and lang == "zh":
        values["text"] = _chinese_operands(values["text"])
    if isinstance(event, ev.Batch):
        values["number"] = theme.num(len(event.requests))
    if isinstance(event, ev.SendWrites):
        values["number"] = theme.num(len(event.nodes))
    return values


def _chinese_operands(text: str) -> str:
    """Return the runner's few English words on an operation in Chinese."""
    if text == "all":
        return "全部"
    return re.sub(r" ?\((\d+) tokens?\)$", r"（\1 个 token）", text)


TIMES = {
    "sent": ("at",), "clock": ("now",), "forward": ("begin", "load", "compute"),
    "decode": ("now",),
}  # fmt: skip
"""Which fields are nanoseconds, by the kind of their event."""


def times_of(event: Event) -> dict[str, str]:
    """Return the times that the event tells, by field, in seconds."""
    fields = TIMES.get(type(event).__name__.lower(), ())
    return {name: theme.seconds(getattr(event, name)) for name in fields}


def _said(value: Any) -> str:
    """A field of an event is a count, a ratio, a name, or a list that is counted."""
    if isinstance(value, np.ndarray):
        return theme.num(len(value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return plain(value)
    return theme.num(value) if isinstance(value, int) else f"{value:.3g}"


def name_of(node: int, lang: Lang = "en") -> str:
    """Return how a node is called: n7, or the root."""
    return f"n{node}" if node != ROOT else Words("the root", "根").to(lang)


def _of_node(frame: Frame, event: Event, lang: Lang) -> dict[str, str]:
    id = getattr(event, "node", None)
    if id is None:
        return {}
    values = {"n": name_of(id, lang)}
    for name in ("parent", "upper"):
        if hasattr(event, name):
            values[name] = name_of(getattr(event, name), lang)
    now, then = node_of(frame.state, id), node_of(frame.before, id)
    node = now or then
    if node is None:
        return values
    touched = focus(frame).nodes
    values["level"] = "L2" if (then or node).pages is None else "L1"
    values["hits"] = theme.num(node.hit_count)
    values["depth"] = theme.num(len(touched))
    values["moved"] = theme.num(abs(frame.state.evictable - frame.before.evictable))
    values["copied"] = theme.num(_tokens(frame.state, touched))
    if not hasattr(event, "tokens"):
        values["tokens"] = theme.num(len((then or node).tokens))
    return values


def _tokens(state: State, nodes: frozenset[int]) -> int:
    found = [node_of(state, id) for id in nodes]
    return sum(len(node.tokens) for node in found if node is not None)


def _of_request(frame: Frame, event: Event) -> dict[str, str]:
    id = getattr(event, "request", None)
    if id is None:
        return {}
    now, then = frame.state.requests.get(id), frame.before.requests.get(id)
    if now is None:
        return {}
    kv = then.kv_len if then and isinstance(event, ev.Retract) else now.kv_len
    values = {"kv": theme.num(kv), "prompt": theme.num(now.prompt_len)}
    if not hasattr(event, "outputs"):
        values["outputs"] = theme.num(now.outputs)
    return values


def _of_decision(event: Event) -> dict[str, str]:
    match event:
        case ev.Match():
            return {"miss": theme.num(event.asked - event.device - event.host)}
        case ev.LoadBack():
            return {"allowed": theme.num(max((event.quota or 0) + event.delta, 0))}
        case ev.Admit():
            need = event.extend + event.max_new + event.page
            room = event.available + event.evictable - event.promised
            chunk = event.rem_input if event.rem_chunk is None else event.rem_chunk
            return {
                "need": theme.num(need),
                "room": theme.num(room),
                "budget": theme.num(max(min(event.rem_input, chunk), 0)),
            }
        case ev.Prefill():
            return {"cached": theme.num(event.device_hit + event.loaded)}
    return {}
