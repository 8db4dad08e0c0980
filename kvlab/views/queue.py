"""Who waits, who runs, who is done?

Three lanes of chips, first come first. The request of the current event is ringed; a
refusal says how many tokens it is short of, or how many it may not bring.
Left out: why (cards.py).
"""

from __future__ import annotations

from ..record import events as ev
from ..record.snapshot import RequestState
from . import theme
from .frame import Frame, focus
from .markup import Markup, esc, join, plain, tag
from .theme import Lang, Words

TITLE = Words("Queue", "队列")
NOTE = Words("first come, first served", "先到先服务")
LANES = (
    ("waiting", Words("waiting", "等待")),
    ("running", Words("running", "运行")),
    ("finished", Words("done", "完成")),
)
MOST = 3
"""Chips a lane; the rest is a number, so that the lanes keep their height."""


def queue_html(frame: Frame, lang: Lang = "en") -> Markup:
    """Return the queue as a page fragment; its style is that of the player."""
    lanes = [_lane(frame, stage, name.to(lang), lang) for stage, name in LANES]
    note = tag("small", esc(NOTE.to(lang)))
    title = tag("h3", join([esc(TITLE.to(lang)), note]))
    return tag("div", join([title, *lanes]), class_="kv-queue")


def _lane(frame: Frame, stage: str, name: str, lang: Lang) -> Markup:
    found = lane(frame, stage)
    said = tag("span", esc(name), class_="kv-lane")
    if stage == "finished":
        count = tag("b", esc(theme.num(len(found))))
        return tag("div", join([said, count]), class_="kv-chips")
    shown = found[:MOST] if stage == "waiting" else found[-MOST:]
    chips = [_chip(frame, request, lang) for request in shown]
    if len(found) > len(shown):
        chips.append(esc(f"+ {theme.num(len(found) - len(shown))}"))
    return tag("div", join([said, *(chips or [esc("–")])]), class_="kv-chips")


def lane(frame: Frame, stage: str) -> list[RequestState]:
    """Return the requests of a lane, in the order of the engine's own lists."""
    state = frame.state
    if stage == "waiting":
        return [state.requests[id] for id in state.waiting]
    others = state.requests.values()
    if stage == "running":
        chunked = [request for request in others if request.stage == "chunked"]
        return [*chunked, *(state.requests[id] for id in state.running)]
    return [request for request in others if request.stage in ("finished", "dropped")]


def _chip(frame: Frame, request: RequestState, lang: Lang) -> Markup:
    touched = focus(frame).request == request.id
    name = tag("b", esc(plain(request.id, 14)))
    said = tag("small", esc(_said(frame, request, lang)))
    ringed = "kv-chip kv-here" if touched else "kv-chip"
    return tag("span", join([name, said]), class_=ringed)


def _said(frame: Frame, request: RequestState, lang: Lang) -> str:
    event = frame.event
    if isinstance(event, ev.Admit) and event.request == request.id and not event.added:
        need = event.extend + event.max_new + event.page
        short = need - (event.available + event.evictable - event.promised)
        if short >= 0:
            count = theme.num(short)
            return Words(f"{count} short", f"差 {count}").to(lang)
    if request.stage == "waiting":
        count = theme.num(request.prompt_len)
        again = Words(", retracted", "，被撤回").to(lang) if request.retracted else ""
        return Words(f"{count} in", f"输入 {count}").to(lang) + again
    out, most = theme.num(request.outputs), theme.num(request.max_new)
    return Words(f"{out} of {most} out", f"已出 {out}/{most}").to(lang)
