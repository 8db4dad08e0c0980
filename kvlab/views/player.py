"""How does a run play in a notebook?

Tree and pools side by side, the sentence of the event above them, the events as lanes
below, and for every decision the card that says why. One slider holds the step; buttons
and the player move the slider, and everything else follows it.
Left out: playing without a kernel, more than some thousand events, comparing two runs.
"""

from __future__ import annotations

from typing import Any, Literal

import ipywidgets as widgets

from ..record.replay import Replay
from ..record.trace import Trace
from .cards import card, card_body, decision_behind, sheet
from .frame import check_step, frame_of
from .headline import headline_html, title_html
from .lanes import WIDTH, lanes_svg, x_of
from .markup import Markup, esc, join, tag
from .pool_map import pool_map
from .queue import queue_html
from .style import PLAYER_SHEET
from .theme import LANGS, Lang, Words
from .tree_layout import tree_layout
from .tree_strip import tree_strip

Move = Literal["previous decision", "previous", "next", "next decision", "cause"]

BUTTONS: dict[Move, tuple[Words, Words]] = {
    "previous decision": (
        Words("◀ decision", "◀ 决策"),
        Words("go to the previous decision", "到上一个决策"),
    ),
    "previous": (
        Words("◀ event", "◀ 事件"),
        Words("go back one event", "后退一个事件"),
    ),
    "next": (
        Words("event ▶", "事件 ▶"),
        Words("go forward one event", "前进一个事件"),
    ),
    "next decision": (
        Words("decision ▶", "决策 ▶"),
        Words("go to the next decision", "到下一个决策"),
    ),
    "cause": (
        Words("↖ cause", "↖ 起因"),
        Words("go to the event that led to this one", "到引起本事件的事件"),
    ),
}
"""What each button says, and what it does."""

NO_CARD = Words(
    "When something is decided, its formula and numbers appear here.",
    "每当做出一个决策，公式与数字会出现在这里。",
)
SPEEDS = {"½×": 1200, "1×": 600, "2×": 300, "4×": 150}
"""Milliseconds an event."""


def play(trace: Trace, start: int = 0, lang: Lang = "en") -> widgets.Widget:
    """Return a player of the run as it is now, after its first `start` events.

    Raises: TraceError if the run has no such step, or does not fold.
    Cost: O(events) to make; a step about 10 ms for some hundred nodes.
    """
    check_step(trace, start)
    return _Player(Trace(trace.header, trace.events.copy()), start, lang).root


class _Player:
    """The widgets, and what it takes to fill them: a replay and the tree's layout."""

    def __init__(self, trace: Trace, start: int, lang: Lang) -> None:
        self.trace = trace
        self.lang = lang
        self.replay = Replay(trace)
        if self.replay.fault is not None:
            raise self.replay.fault
        self.layout = tree_layout(trace)
        self.panes = {name: _pane(name) for name in PANES}
        self.buttons = {move: self._button(move) for move in BUTTONS}
        self.slider = widgets.IntSlider(
            start,
            0,
            len(trace),
            readout=False,
            layout={"flex": "1 1 0", "width": "auto"},
        )
        self.root = self._assemble()
        self.slider.observe(self._show, "value")
        self._translate()

    # --- moving

    def target(self, move: Move) -> int | None:
        """Return the step that a button leads to, None if there is none."""
        step = self.slider.value
        index = step - 1
        match move:
            case "previous":
                found = index if step > 0 else None
            case "next":
                found = step + 1 if step < len(self.trace) else None
            case "previous decision":
                found = _after(self.replay.previous_decision(index))
            case "next decision":
                found = _after(self.replay.next_decision(index))
            case "cause":
                cause = self.trace.events[index].cause if step else -1
                found = cause + 1 if cause >= 0 else None
        return found

    def _button(self, move: Move) -> widgets.Button:
        button = widgets.Button(layout={"width": "auto"})
        button.on_click(lambda _: self._go(move))
        return button

    def _go(self, move: Move) -> None:
        step = self.target(move)
        if step is not None:
            self.slider.value = step

    # --- showing

    def _show(self, _: Any = None) -> None:
        """Draw the slider's step. Changes: the panes, and which buttons work."""
        frame, lang = frame_of(self.replay, self.slider.value), self.lang
        self.panes["head"].value = headline_html(frame, len(self.trace), lang)
        self.panes["tree"].value = tree_strip(frame, self.layout, lang)
        self.panes["pool"].value = pool_map(frame, lang)
        self.panes["wait"].value = queue_html(frame, lang)
        self.panes["why"].value = self._why(frame.index)
        self.panes["cursor"].value = self._cursor(frame.step)
        for move, button in self.buttons.items():
            button.disabled = self.target(move) is None

    def _why(self, index: int) -> Markup:
        """Return the card of the event, or of the last decision that led to it."""
        at = decision_behind(self.trace, index)
        if at is not None:
            frame = frame_of(self.replay, at + 1)
            return card_body(card(self.trace, frame, self.lang))
        return tag("div", esc(NO_CARD.to(self.lang)), class_="kv-empty")

    def _cursor(self, step: int) -> Markup:
        """Return the line of the step, which lies over the lanes."""
        left = 100 * x_of(step, len(self.trace)) / WIDTH
        line = tag("div", class_="kv-line", style=f"left:{left:.2f}%")
        return tag("div", line, class_="kv-over")

    def _translate(self, _: Any = None) -> None:
        """Say everything in the language. Changes: all panes and buttons."""
        self.panes["time"].value = lanes_svg(self.trace, self.lang)
        self.panes["bar"].value = title_html(self.trace.header, self.lang)
        for move, (name, help_) in BUTTONS.items():
            self.buttons[move].description = name.to(self.lang)
            self.buttons[move].tooltip = help_.to(self.lang)
        self._show()

    # --- the widgets

    def _assemble(self) -> widgets.Widget:
        styled = widgets.HTML(join([sheet(), tag("style", PLAYER_SHEET)]))
        bar = widgets.HBox([self.panes["bar"], self._language()])
        controls = widgets.HBox([*self.buttons.values(), *self._play(), self.slider])
        bar.add_class("kv-bar")
        controls.add_class("kv-ctl")
        panes = [pane for name, pane in self.panes.items() if name != "bar"]
        grid = widgets.Box([bar, *panes, controls])
        grid.add_class("kv-grid")
        root = widgets.VBox([styled, grid])
        root.add_class("kv-root")
        return root

    def _language(self) -> widgets.Widget:
        names = {"zh": "中文", "en": "EN"}
        choice = widgets.ToggleButtons(
            options=[(names[lang], lang) for lang in reversed(LANGS)],
            value=self.lang, style={"button_width": "auto"},
        )  # fmt: skip

        def choose(change: Any) -> None:
            self.lang = change["new"]
            self._translate()

        choice.observe(choose, "value")
        return choice

    def _play(self) -> list[widgets.Widget]:
        player = widgets.Play(
            self.slider.value, 0, len(self.trace), interval=SPEEDS["1×"],
            show_repeat=False, tooltip="play", layout={"width": "96px"},
        )  # fmt: skip
        widgets.jslink((player, "value"), (self.slider, "value"))
        speed = widgets.Dropdown(
            options=list(SPEEDS.items()), value=SPEEDS["1×"], tooltip="speed",
            layout={"width": "64px"},
        )  # fmt: skip
        speed.observe(
            lambda change: player.set_trait("interval", change["new"]), "value"
        )
        return [player, speed]


PANES = ("bar", "head", "tree", "pool", "wait", "time", "cursor", "why")


def _pane(name: str) -> widgets.HTML:
    pane = widgets.HTML()
    if name != "bar":
        pane.add_class(f"kv-{name}")
    return pane


def _after(index: int | None) -> int | None:
    return None if index is None else index + 1
