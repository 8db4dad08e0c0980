"""Where is every token of the pool, in SGLang and in vLLM, over one workload?

One panel an engine on one time axis, the three states stacked in the patterns that they
have everywhere, each under the engine's own word with the other's beside it. Below, who
runs and who waits. vLLM reports one number, free, for two of the bands: a bracket holds
them together.
Left out: how the readings come out of a trace (readings.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..glossary import GLOSSARY, EngineName
from . import draw, theme
from .markup import Markup, join, plain, tag
from .readings import Reading, Readings
from .theme import LOOKS, Lang, State, Words

WIDTH, LEFT, RIGHT = 860.0, 16.0, 262.0
TALL, LINES, HEAD, FOOT, GAP = 128.0, 64.0, 44.0, 40.0, 52.0
BANDS: tuple[State, ...] = ("used", "held", "evictable", "available")
NAMES: dict[EngineName, str] = {"sglang": "SGLang", "vllm": "vLLM"}

TITLE = Words("One workload, two accounts", "同一负载，两本账")
SECONDS, OPERATIONS = Words("s", "秒"), Words("requests", "个请求")
ALSO = Words("{a} calls it {b}", "{a} 称之为 {b}")
TOKENS = Words("{n} tokens", "{n} 个 token")
FREE = Words("free: one number, both states", "free：一个数字包含两种状态")
HELD = Words("in vLLM a part of used", "在 vLLM 中算作 used")
RUNNING, WAITING = Words("running", "运行"), Words("waiting", "等待")
GIVEN: dict[EngineName, Words] = {
    "sglang": Words("retracted", "被撤回"), "vllm": Words("preempted", "被抢占"),
}  # fmt: skip
FORMULAS: dict[EngineName, str] = {
    "sglang": "token_usage = 1 − (available + evictable) / total",
    "vllm": "kv_cache_usage_perc = 1 − free / (num_gpu_blocks − 1)",
}


class _Plot(NamedTuple):
    """Where moments lie: x for a time, `end` being the right edge."""

    end: float

    def x(self, at: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * at / self.end

    @property
    def right(self) -> float:
        return WIDTH - RIGHT


def both_accounts(runs: Sequence[Readings], lang: Lang = "en") -> Markup:
    """Return the figure: a panel a run, one time axis.

    Raises: ValueError without a run.
    """
    if not runs:
        raise ValueError("no run to draw")
    last = max(run.moments[-1].at if run.moments else 0.0 for run in runs)
    plot = _Plot(max(last, 1e-9))
    body = [draw.page(), _title(lang)]
    y = HEAD
    for run, title in zip(runs, _titles(runs), strict=True):
        body.append(draw.move(0, y, _panel(run, title, plot, lang)))
        y += TALL + LINES + GAP
    body.append(_axis(plot, y - 14, runs[0].clocked, lang))
    return draw.document(body, WIDTH, y + FOOT - 14, TITLE.to(lang), lang)


def _title(lang: Lang) -> Markup:
    return draw.words(LEFT, 22, TITLE.to(lang), font_size=15, font_weight=600)


def _titles(runs: Sequence[Readings]) -> list[str]:
    """Return each run's engine, and where one engine is there twice, the run's name."""
    engines = [f"{NAMES[run.engine]} {run.version}" for run in runs]
    return [
        f"{engine} · {plain(run.name)}" if engines.count(engine) > 1 else engine
        for engine, run in zip(engines, runs, strict=True)
    ]


def _panel(run: Readings, title: str, plot: _Plot, lang: Lang) -> list[Markup]:
    size = TOKENS.to(lang).format(n=theme.num(run.total))
    parts = [
        draw.words(LEFT, 10, title, font_size=13, font_weight=600),
        draw.words(plot.right, 10, size, text_anchor="end", fill=theme.INK3),
        draw.move(0, 18, _bands(run, plot)),
        draw.move(plot.right + 14, 18, _names(run, lang)),
        draw.move(0, 24 + TALL, _lines(run, plot, lang)),
        draw.words(LEFT, 26 + TALL + LINES, FORMULAS[run.engine], font_size=10,
                   font_family=theme.MONO, fill=theme.INK2),
    ]  # fmt: skip
    return parts


# --- the bands


def _bands(run: Readings, plot: _Plot) -> list[Markup]:
    """Return the states stacked, used at the bottom."""
    low = [0.0] * len(run.moments)
    parts = []
    for state in BANDS[:3]:
        high = [a + getattr(m, state) for a, m in zip(low, run.moments, strict=True)]
        if high != low:
            look = LOOKS[state]
            path = _area(run, plot, low, high)
            parts.append(
                tag("path", d=path, fill=theme.fill(state), stroke=look.edge,
                    stroke_width=0.8)
            )  # fmt: skip
        low = high
    edge = LOOKS["available"]
    parts.append(
        tag("rect", x=LEFT, y=0, width=plot.right - LEFT, height=TALL, fill="none",
            stroke=edge.edge, stroke_dasharray=edge.dash)
    )  # fmt: skip
    return parts


def _area(
    run: Readings, plot: _Plot, low: Sequence[float], high: Sequence[float]
) -> str:
    def stairs(values: Sequence[float]) -> list[str]:
        points, before = [], None
        for moment, value in zip(run.moments, values, strict=True):
            x, y = plot.x(moment.at), TALL * (1 - value / max(run.total, 1))
            if before is not None and before != y:
                points.append(f"{x:.1f} {before:.1f}")
            points.append(f"{x:.1f} {y:.1f}")
            before = y
        return points

    return "M" + "L".join(stairs(high) + stairs(low)[::-1]) + "Z"


# --- their names


def _names(run: Readings, lang: Lang) -> list[Markup]:
    """Return the legend: the engine's own words, and the other engine's."""
    parts, y = list[Markup](), 2.0
    for state in reversed(BANDS):
        if state == "held" and run.engine == "vllm":
            continue
        term = GLOSSARY[state]
        told = _also(run.engine, term.other(run.engine), lang)
        parts += [
            draw.swatch(10, y, state),
            draw.words(28, y + 10, term.word(run.engine), font_weight=600),
            draw.words(28, y + 23, told, fill=theme.INK3, font_size=10),
        ]
        y += 30
    if run.engine == "vllm":
        parts += [
            draw.stroke("M4 0H0V56H4", theme.INK2, 1.2),
            draw.stroke("M0 56V102H6", theme.INK2, 1.2, stroke_dasharray="2 2"),
            draw.words(10, 106, FREE.to(lang), fill=theme.INK2, font_size=10),
        ]
    return parts


def _also(engine: EngineName, other: str, lang: Lang) -> str:
    if not other:
        return HELD.to(lang)
    name = NAMES["vllm" if engine == "sglang" else "sglang"]
    return ALSO.to(lang).format(a=name, b=other)


# --- who runs, who waits


def _lines(run: Readings, plot: _Plot, lang: Lang) -> list[Markup]:
    """Return the requests that run and that wait, and each time some gave way."""
    top = max((max(m.running, m.waiting) for m in run.moments), default=0) or 1
    tall = LINES - 14
    parts = [
        draw.stroke(f"M{LEFT:g} 0V{tall:g}H{plot.right:g}", theme.LINE2, 1),
        draw.words(plot.right + 4, 8, theme.num(top), fill=theme.INK3, font_size=9),
    ]
    styles: list[tuple[str, Words, str, str | None]] = [
        ("running", RUNNING, LOOKS["used"].edge, None),
        ("waiting", WAITING, theme.ALERT, "4 2"),
    ]
    for place, (name, words, colour, dash) in enumerate(styles):
        points = "L".join(
            f"{plot.x(m.at):.1f} {tall * (1 - getattr(m, name) / top):.1f}"
            for m in run.moments
        )
        parts.append(draw.stroke(f"M{points}", colour, 1.5, stroke_dasharray=dash))
        y = 16 + 14 * place
        parts.append(
            draw.stroke(f"M{plot.right + 24:g} {y - 4:g}h16", colour, 1.5,
                        stroke_dasharray=dash)
        )  # fmt: skip
        parts.append(draw.words(plot.right + 46, y, words.to(lang)))
    parts += _given_up(run, plot, tall, lang)
    return parts


def _given_up(run: Readings, plot: _Plot, tall: float, lang: Lang) -> list[Markup]:
    """Return a mark for every reading at which more had given way, and their sum."""
    parts, before = list[Markup](), 0
    for moment in run.moments:
        if moment.given_up > before:
            parts.append(draw.loss(plot.x(moment.at) - 4, tall - 4, 8))
        before = moment.given_up
    y = 44.0
    parts.append(draw.loss(plot.right + 27, y - 10, 11))
    told = f"{GIVEN[run.engine].to(lang)} {theme.num(before)}"
    parts.append(draw.words(plot.right + 46, y, told))
    return parts


def _axis(plot: _Plot, y: float, clocked: bool, lang: Lang) -> Markup:
    unit = (SECONDS if clocked else OPERATIONS).to(lang)
    step = theme.round_up(plot.end / 8)
    parts = [draw.stroke(f"M{LEFT:g} {y:g}H{plot.right:g}", theme.LINE2, 1)]
    at = 0.0
    while at <= plot.end * 1.0001:
        x = plot.x(at)
        parts.append(draw.stroke(f"M{x:.1f} {y:g}v4", theme.LINE2, 1))
        style = {"text_anchor": "middle", "fill": theme.INK3, "font_size": 10}
        parts.append(draw.words(x, y + 16, f"{at:g}", **style))
        at += step
    parts.append(draw.words(plot.right + 14, y + 16, unit, fill=theme.INK3))
    return join(parts)


# --- the text


def both_accounts_text(
    runs: Sequence[Readings], lang: Lang = "en", rows: int = 12
) -> str:
    """Return the same as text: for each run `rows` moments, one a line."""
    parts = []
    for run, title in zip(runs, _titles(runs), strict=True):
        unit = (SECONDS if run.clocked else OPERATIONS).to(lang)
        words = [GLOSSARY[state].word(run.engine) for state in BANDS]
        head = [unit, *words, "usage", RUNNING.to(lang), WAITING.to(lang),
                GIVEN[run.engine].to(lang)]  # fmt: skip
        if run.engine == "vllm":
            del head[2]
        lines = [head, *(_row(run, moment) for moment in _some(run.moments, rows))]
        wide = [max(len(line[at]) for line in lines) for at in range(len(head))]
        size = TOKENS.to(lang).format(n=theme.num(run.total))
        parts.append(f"{title}, {size}")
        parts.append(FORMULAS[run.engine])
        parts += [
            "  ".join(f"{cell:>{w}}" for cell, w in zip(line, wide, strict=True))
            for line in lines
        ]
        parts.append("")
    return "\n".join(parts[:-1])


def _row(run: Readings, moment: Reading) -> list[str]:
    sizes = [theme.num(getattr(moment, state)) for state in BANDS]
    if run.engine == "vllm":
        del sizes[1]
    at = f"{moment.at:,.1f}" if run.clocked else f"{moment.at:g}"
    counts = (moment.running, moment.waiting, moment.given_up)
    return [at, *sizes, f"{moment.usage:.3f}", *map(theme.num, counts)]


def _some(moments: list[Reading], rows: int) -> list[Reading]:
    if len(moments) <= rows:
        return moments
    last = len(moments) - 1
    return [moments[round(at * last / (rows - 1))] for at in range(rows)]
