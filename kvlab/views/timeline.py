"""How did the pools fill and empty, and when was something decided?

A plotly figure for a notebook: L1's account stacked over the events, L2's below it, the
decisions as marks above, the step as a cursor. Hover says what happened.
Left out: stills (timeline_svg.py), since plotly needs a browser to make one.
"""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..record.folding import check_step
from ..record.replay import Replay
from ..record.trace import Trace
from . import theme
from .frame import frame_of
from .markup import esc
from .sentences import describe
from .series import L1_TERMS, L2_TERMS, Counts, Series, series, thinned
from .theme import LOOKS, Lang, State, Words

MOST_POINTS = 2000
"""More steps than this are thinned; a screen has fewer pixels."""
MOST_MARKS = 500
TITLES = {
    "L1": Words("L1 tokens", "L1 token 数"),
    "L2": Words("L2 tokens", "L2 token 数"),
    "step": Words("event", "事件"),
    "decide": Words("decisions", "决策"),
    "refuse": Words("refused", "拒绝"),
    "loss": Words("losses", "丢失"),
}


def timeline(trace: Trace, step: int | None = None, lang: Lang = "en") -> go.Figure:
    """Return the account over time; `step` draws the cursor.

    Raises: TraceError if the run has no such step.
    """
    if step is not None:
        check_step(step, len(trace))
    told = series(trace)
    figure = make_subplots(
        rows=3, cols=1, shared_xaxes=True, row_heights=[0.12, 0.5, 0.38],
        vertical_spacing=0.04,
    )  # fmt: skip
    steps = thinned(len(told.l1), MOST_POINTS)
    _stack(figure, told.l1, L1_TERMS, steps, 2, lang)
    _stack(figure, told.l2, L2_TERMS, steps, 3, lang)
    _marks(figure, trace, told, lang)
    _layout(figure, len(trace), lang)
    if step is not None:
        line = {"color": theme.INK, "width": 1.5}
        figure.add_vline(x=step, line=line, row="all", col=1)
    return figure


def _stack(
    figure: go.Figure,
    counts: Counts,
    terms: tuple[State, ...],
    steps: list[int],
    row: int,
    lang: Lang,
) -> None:
    for place, state in enumerate(terms):
        look = LOOKS[state]
        edge = {"shape": "hv", "width": 1, "color": look.edge}
        shape = {"shape": look.plotly, "fgcolor": look.ink, "bgcolor": look.ground}
        area = go.Scatter(
            x=steps, y=counts[steps, place].tolist(), name=look.name.to(lang),
            stackgroup=f"row {row}", line=edge,
            fillcolor=look.ink, fillpattern={**shape, "size": 6, "solidity": 0.4},
            legendgroup=state, showlegend=row == 2 or state != "available",
            hovertemplate=f"%{{y:,}} {look.name.to(lang)}<extra></extra>",
        )  # fmt: skip
        figure.add_trace(area, row=row, col=1)


def _marks(figure: go.Figure, trace: Trace, told: Series, lang: Lang) -> None:
    """Draw decisions as diamonds, refusals as triangles, losses as crosses."""
    graded = {*told.refusals, *told.losses}
    plain = [step for step in told.decisions if step not in graded]
    alert = LOOKS["refused"].ink
    groups: list[tuple[list[int], str, str, str]] = [
        (plain, "decide", "diamond-open", theme.INK),
        (told.refusals, "refuse", "triangle-down", alert),
        (told.losses, "loss", "x", alert),
    ]
    replay = Replay(trace)
    for steps, key, symbol, colour in groups:
        shown = [steps[at] for at in thinned(len(steps), MOST_MARKS)]
        said = [esc(describe(frame_of(replay, step), lang)) for step in shown]
        marks = go.Scatter(
            x=shown, y=[0] * len(shown), mode="markers", name=TITLES[key].to(lang),
            marker={"symbol": symbol, "size": 10, "color": colour}, text=said,
            hovertemplate="%{x}: %{text}<extra></extra>",
        )  # fmt: skip
        figure.add_trace(marks, row=1, col=1)


def _layout(figure: go.Figure, last: int, lang: Lang) -> None:
    font: dict[str, Any] = {"family": theme.UI, "size": 12, "color": theme.INK}
    figure.update_layout(
        template="none", font=font, height=420, hovermode="x", paper_bgcolor=theme.BG,
        plot_bgcolor=theme.BG, margin={"l": 64, "r": 16, "t": 24, "b": 48},
        legend={"orientation": "h", "y": -0.16, "traceorder": "normal"},
    )  # fmt: skip
    figure.update_yaxes(visible=False, row=1, col=1)
    figure.update_yaxes(title=TITLES["L1"].to(lang), rangemode="tozero", row=2, col=1)
    figure.update_yaxes(title=TITLES["L2"].to(lang), rangemode="tozero", row=3, col=1)
    figure.update_xaxes(showgrid=False, range=[0, last])
    figure.update_xaxes(title=TITLES["step"].to(lang), row=3, col=1)
