"""How does a run play in a notebook?

As an anywidget: the log goes to the browser once, and every step after that is the
browser's own. Where no widgets run, the output's HTML twin plays the same run.
Left out: the page (page.py), the drawing (player/), forking (the caller's engine).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

import anywidget
import traitlets

from ..errors import ConfigError, KvlabError
from ..record.folding import check_step
from ..record.trace import AnyTrace, check_run
from .compare import Difference, comparison, first_difference
from .notes import checked, event_of, marks_of
from .page import TWIN_EVENTS, checked_how, log_of, page_of, to_html, twin
from .player_script import script
from .rule_table import the_one_rule
from .theme import LANGS, Lang, Words

Fork = Callable[..., AnyTrace]
"""Run the same again with some settings changed: `fork(host_tokens=...) -> Trace`."""

Explain = Callable[[Any, Any], Sequence[Words]]
"""Say why two runs of the same engine differ (lessons/what_changed.py)."""


class Player(anywidget.AnyWidget):
    """A run in a notebook. `step`, `mode` (predict, watch), `lang` ("" is the
    browser's), `answers`, `ask_all`, `bookmarks` and `notes` can be read and set at any
    time: all its views follow. Events are counted from 1.

    `notes` holds the line to each bookmark that has one, by its event; an event with a
    note becomes a bookmark. `answers = []` asks everything anew.

    `ask_all` is the step from which on every decision is asked about; None where a sort
    that was answered rightly three times in a row is shown.

    `answers` holds one record a prediction: `event` and its `kind`, what was `said`
    and what `happened` (entries of phrases.py), whether that is `right`, `confidence`
    from 1 to 4. Of the second question: the counter it is `about` ("L1 available", "L2
    free", "L1 evictable" ...: the one that changes most), the event it is watched
    `until`, what one `saw` (rises, falls, stays), whether one `saw_right`: both None
    until it is answered; then also the counter `before` and `after`. It is not asked
    where no change comes before the next question: all of these are None.
    `difference` is where the last fork parts, `other` its run; None before.
    """

    _esm = traitlets.Unicode(script()).tag(sync=True)
    log = traitlets.Bytes().tag(sync=True)
    log_b = traitlets.Bytes(b"").tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    lang = traitlets.Enum(["", *LANGS]).tag(sync=True)
    mode = traitlets.Enum(["watch", "predict"]).tag(sync=True)
    can_fork = traitlets.Bool(False).tag(sync=True)
    ask_all = traitlets.Int(None, allow_none=True).tag(sync=True)
    answers: traitlets.List[dict[str, Any]] = traitlets.List().tag(sync=True)
    bookmarks: traitlets.List[int] = traitlets.List().tag(sync=True)
    notes: traitlets.Dict[Any, Any] = traitlets.Dict().tag(
        sync=True,
        from_json=lambda held, _: {int(event): text for event, text in held.items()},
    )

    def __init__(
        self,
        trace: AnyTrace,
        fork: Fork | None = None,
        explain: Explain | None = None,
        notes: Mapping[int, str] | None = None,
        **how: Any,
    ) -> None:
        self.trace = _as_it_is(trace)
        lines = checked(notes, trace)
        how = checked_how(how, trace)
        self.other: AnyTrace | None = None
        self.difference: Difference | None = None
        self._fork = fork
        self._explain = explain
        self._how = how
        super().__init__(
            log=log_of(self.trace, extra=how),
            step=how.get("start", 0),
            lang=how.get("lang", ""),
            mode=how.get("mode", "watch"),
            can_fork=fork is not None,
            notes=lines,
        )
        self.on_msg(self._asked)

    def __repr__(self) -> str:
        return f"Player({self.trace.header.name!r}, {len(self.trace)} events)"

    def fork(self, **knobs: Any) -> Difference:
        """Run it again with these settings changed, show both, return where they part.

        Raises: KvlabError if there is nothing to run, or not with these settings.
        """
        if self._fork is None:
            raise KvlabError("this player has no engine: give play(..., fork=...)")
        return self.compare(self._fork(**knobs))

    def compare(self, other: AnyTrace) -> Difference:
        """Show another run beside this one; return where they part."""
        self.other = other
        self.difference = first_difference(self.trace, other)
        explain = self._explain or the_one_rule
        because = explain(self.trace, other)
        told = self.difference.told(self.trace, other, because)
        self.log_b = log_of(other, extra={**self._how, "difference": told})
        self.mode = "watch"
        if self.difference.at is not None:
            self.step = self.difference.at + 1
        return self.difference

    def report(self, lang: Lang = "en") -> str:
        """Return the comparison with the last fork in words.

        Raises: KvlabError before the first.
        """
        if self.other is None:
            raise KvlabError("nothing to compare with: call fork() first")
        return comparison(self.trace, self.other, lang)

    def to_html(self) -> str:
        """Return the run as a page of its own, beside the last fork if there is one,
        with the bookmarks and notes of now."""
        title = self.trace.header.name or "kvlab"
        marks = marks_of(self.bookmarks, self.notes)
        return page_of(self.log, self.log_b or None, title, marks)

    @traitlets.validate("step", "ask_all")
    def _a_step(self, proposal: dict[str, Any]) -> int | None:
        step = proposal["value"]
        if step is not None:
            check_step(step, len(self.trace))
        return None if step is None else int(step)

    @traitlets.validate("bookmarks")
    def _marked_events(self, proposal: dict[str, Any]) -> list[int]:
        return [event_of("bookmark", e, self.trace) for e in proposal["value"]]

    @traitlets.validate("notes")
    def _short_lines(self, proposal: dict[str, Any]) -> dict[int, str]:
        return checked(proposal["value"], self.trace)

    @traitlets.observe("notes")
    def _noted(self, change: dict[str, Any]) -> None:
        if not change["new"].keys() <= {*self.bookmarks}:
            self.bookmarks = sorted({*self.bookmarks, *change["new"]})

    def _asked(self, widget: Any, content: Any, buffers: Any) -> None:
        if content.get("page"):
            self.send({"page": self.to_html()})
        knobs = content.get("fork")
        if not isinstance(knobs, dict):
            return
        try:
            self.fork(**knobs)
        except (KvlabError, TypeError) as problem:
            self.send({"failed": str(problem)})

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the widget, and beside it a page for where no widget runs."""
        page = to_html(self.trace, length=TWIN_EVENTS, notes=self.notes, **self._how)
        return beside(super()._repr_mimebundle_(**kwargs), twin(page))


def beside(bundle: Any, html: str) -> Any:
    """Return the forms of an output with its twin in HTML among them."""
    data, *rest = bundle if isinstance(bundle, tuple) else (bundle,)
    data = {**(data or {}), "text/html": html}
    return (data, *rest) if rest else data


def _as_it_is(trace: AnyTrace) -> AnyTrace:
    """Return the run as far as it has come; it may go on without this one."""
    kept = copy(trace)
    kept.events = trace.events[:]
    return kept


def play(
    trace: AnyTrace,
    start: int = 0,
    lang: Lang | None = None,
    *,
    predict: bool | None = None,
    ask: Sequence[int] | None = None,
    autoplay: bool = False,
    fork: Fork | None = None,
    explain: Explain | None = None,
    notes: Mapping[int, str] | None = None,
) -> Player:
    """Return a player of the run as it is now, at the moment after `start` events.

    `lang` is the browser's, if None. With `predict`, it stops before each decision and
    asks; `ask` names the events, counted from 1, that it asks about (None: all it can,
    but a sort that was answered rightly three times in a row is shown, not asked, until
    one comes out in a new way).
    `predict` is on where `ask` is given, unless it is False.
    With `autoplay` it begins by itself, unless motion is unwanted. `fork` runs the same
    again with some settings changed; `explain` says why that makes a difference.
    `notes` are bookmarks with a line to each: `{137: "30 are missing"}`.
    Raises: TraceError if the run has no such step or event, or a note is too long;
    ConfigError for what is no run, or another language.
    """
    check_run(trace, "play")
    if lang is not None and lang not in LANGS:
        raise ConfigError(f"lang is {lang!r}; use one of {', '.join(LANGS)}")
    asks = ask is not None if predict is None else predict
    how: dict[str, Any] = {"start": start, "mode": "predict" if asks else "watch"}
    if lang is not None:
        how["lang"] = lang
    if ask is not None:
        how["ask"] = ask
    if autoplay:
        how["autoplay"] = True
    return Player(trace, fork, explain, notes, **how)
