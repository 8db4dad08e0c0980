"""How does a run become one HTML page that needs nothing else?

The player's script and the run's log lie in the page itself; a strict
Content-Security-Policy lets it run that one script and reach nothing. The same page in
an iframe is what a notebook shows where no widgets run.
Left out: the log (log.py), the script (player_script.py), the widget (widget.py).
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import TraceError
from ..record.folding import check_step
from ..record.trace import AnyTrace, BlockTrace
from .block_log import block_log
from .compare import first_difference
from .log import player_log
from .markup import esc, plain
from .notes import checked, event_of, marks_of
from .player_script import script
from .theme import Words

_START = '\nstartPage(document.getElementById("kvlab"));\n'
TWIN_EVENTS = 2000
"""How many events the twin in a notebook's output holds; shorter runs are whole."""


_CUT_OUT = Words(
    "A run that plays: this site shows no frames. Run the notebook to see it.",
    "这里有一段可播放的运行，但此网站不显示内嵌框架。请运行笔记本查看。",
)


def safe(source: str) -> str:
    r"""Return a script that cannot end its own element, nor break at U+2028.

    >>> safe("a = '</script>'")
    "a = '<\\/script>'"
    """
    source = source.replace("</", "<\\/").replace("<!--", "<\\!--")
    return source.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def log_of(
    trace: AnyTrace, length: int | None = None, extra: dict[str, Any] | None = None
) -> bytes:
    """Return the log of a run of either engine: `player_log` or `block_log`."""
    if isinstance(trace, BlockTrace):
        return block_log(trace, length, extra)
    return player_log(trace, length, extra)


def to_html(
    trace: AnyTrace,
    other: AnyTrace | None = None,
    *,
    length: int | None = None,
    because: Sequence[Words] = (),
    notes: Mapping[int, str] | None = None,
    **how: Any,
) -> str:
    """Return a standalone page that plays the run; with `other`, beside it, and
    `because` says why they differ.

    `notes` are bookmarks with a line to each, by their events, counted from 1.
    `how` may set `start`, `lang` (en, zh), `mode` (predict, watch), `dark`. `length`
    cuts the run; the page says so.
    Raises: TraceError if the run has not the start, nor an event that a note or a
    question is to, or a note is too long.
    Cost: O(events).
    """
    lines = checked(notes, trace)
    how = checked_how(how, trace)
    log_b = None
    if other is not None:
        difference = first_difference(trace, other)
        told = difference.told(trace, other, because)
        log_b = log_of(other, length, {"difference": told})
    title = trace.header.name or "kvlab"
    log = log_of(trace, length, how)
    return page_of(log, log_b, title, marks_of(lines, lines))


def checked_how(how: Mapping[str, Any], trace: AnyTrace) -> dict[str, Any]:
    """Return the same with its `start` and its `ask` as numbers of the run's events.

    Raises: TraceError for those that the run does not have.
    """
    found = dict(how)
    if "start" in how:
        check_step(how["start"], len(trace))
        found["start"] = int(how["start"])
    if "ask" in how:
        if not isinstance(how["ask"], Iterable):
            raise TraceError("ask", "names no events", "give a list, like [12, 30]")
        found["ask"] = [event_of("question", event, trace) for event in how["ask"]]
    return found


def page_of(
    log: bytes, log_b: bytes | None = None, title: str = "kvlab", marks: bytes = b""
) -> str:
    """Return the page of a log that `log_of` wrote, with the marks of `marks_of`."""
    code = safe(script()) + _START
    seal = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{seal}'; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    logs = [_embedded("kvlab-log", log)]
    if log_b is not None:
        logs.append(_embedded("kvlab-log-b", log_b))
    if marks:
        logs.append(_embedded("kvlab-marks", marks))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{esc(plain(title, 80))}</title>\n"
        "<style>body{margin:8px;background:Canvas;color-scheme:light dark}</style>"
        '</head><body>\n<div id="kvlab"></div>\n'
        + "\n".join(logs)
        + f'\n<script type="module">{code}</script>\n</body></html>\n'
    )


def _embedded(name: str, log: bytes) -> str:
    data = base64.b64encode(log).decode()
    return f'<script type="application/octet-stream" id="{name}">{data}</script>'


def twin(page: str, height: int = 760) -> str:
    """Return an iframe that holds the page: what an output without widgets shows. Who
    takes the frame out, as sites that show notebooks do, leaves words in its place."""
    words = " / ".join(_CUT_OUT)
    return (
        f"<p hidden>{html.escape(words)}</p>"
        f'<iframe sandbox="allow-scripts allow-downloads" title="kvlab" width="100%" '
        f'height="{height}" style="border:0" srcdoc="{html.escape(page)}"></iframe>'
    )
