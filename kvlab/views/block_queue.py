"""Who runs on a vLLM engine, who waits, and which blocks does each hold?

One line a request: computed of known tokens, and its block table.
Left out: what a request would need (the cards).
"""

from __future__ import annotations

from ..record.block_snapshot import BlockRequestState
from . import draw, theme
from .block_frame import BlockFrame
from .markup import Markup, plain
from .theme import Lang, Words

EMPTY = Words("nobody", "无")
QUEUE = Words("Requests and their blocks", "请求与各自的块")
LANES = (
    ("running", Words("running", "运行")),
    ("waiting", Words("waiting", "等待")),
    ("deferred", Words("deferred", "推迟")),
)


def block_queue_svg(frame: BlockFrame, lang: Lang = "en") -> Markup:
    """Return the requests in their lanes, a line each, with their block tables."""
    parts, y = list[Markup](), 22.0
    for name, words in LANES:
        ids = getattr(frame.state, name)
        parts.append(draw.words(16, y, words.to(lang), font_weight=600))
        if not ids:
            parts.append(draw.words(110, y, EMPTY.to(lang), fill=theme.INK3))
            y += 20
        for id in ids:
            request = frame.state.requests[id]
            parts.append(draw.code(110, y, plain(id, 16)))
            parts.append(draw.words(230, y, _told(request), fill=theme.INK2))
            parts.append(draw.code(360, y, _table(request), font_weight=400))
            y += 20
        y += 6
    return draw.document([draw.page(), *parts], 720, y + 6, QUEUE.to(lang), lang)


def block_queue_text(frame: BlockFrame, lang: Lang = "en") -> str:
    """Return the same as text."""
    lines = []
    for name, words in LANES:
        ids = getattr(frame.state, name)
        lines.append(f"{words.to(lang)}: {'' if ids else EMPTY.to(lang)}".rstrip())
        for id in ids:
            request = frame.state.requests[id]
            lines.append(f"  {plain(id)}  {_told(request)}  {_table(request)}")
    return "\n".join(lines)


def _told(request: BlockRequestState) -> str:
    length = request.prompt_len + request.outputs
    back = f"  preempted {request.preemptions}×" if request.preemptions else ""
    return f"{request.computed} / {length}{back}"


def _table(request: BlockRequestState) -> str:
    shown = " ".join(map(str, request.blocks[:16]))
    return f"[{shown}{' …' if len(request.blocks) > 16 else ''}]"
