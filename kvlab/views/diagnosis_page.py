"""How does a diagnosis look as one page that needs nothing else?

The verdict, the reasons with the lines they rest on, a timeline on which the evidence
is marked, what was considered, what to do next, the numbers. Light or dark as the
reader's browser is set. No script, no network, and a policy in the page that forbids
both; text from logs is escaped.
Left out: how the verdict was found (observe/), the terminal's text (observe/report.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..record.diagnosis import Diagnosis, Lane
from . import draw, theme
from .markup import NOTHING, Markup, esc, join, plain, tag
from .theme import Lang, Words
from .theme_dark import DARK_LOOKS, PAGES
from .time_axis import round_times

WIDE, GUTTER, TALL, GAP = 900, 170, 54, 14
FULL = 0.95
"""A pool at or above this is full, as for the rules."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"
_STYLE = (
    f"body{{font:15px/1.5 {theme.UI};color:{theme.INK};background:{theme.BG};"
    "max-width:70rem;margin:2rem auto;padding:0 1rem}"
    f"h1{{font-size:1.5rem;margin:0}}h2{{font-size:1.05rem;margin:1.6rem 0 .4rem}}"
    f"code,td{{font-family:{theme.MONO};font-size:13px}}"
    f"table{{border-collapse:collapse}}td{{padding:.15rem 1rem .15rem 0;"
    f"border-bottom:1px solid {theme.LINE};vertical-align:top}}"
    f".quiet{{color:{theme.INK2}}}figure{{margin:0;overflow-x:auto}}"
    f".good{{color:{theme.OK}}}.bad{{color:{theme.ALERT}}}"
    "summary{cursor:pointer}summary h2{display:inline}details{margin:1.2rem 0}"
)
_GOOD = {"healthy"}
_WORDS = {
    "certain": Words("certain", "确定"),
    "likely": Words("likely", "很可能"),
    "possible": Words("possible", "有可能"),
    "ok": Words("ok", "正常"),
    "partial": Words("partial", "部分可用"),
    "error": Words("error", "出错"),
    "more": Words("and {} more", "另有 {} 个"),
    "why": Words("Why", "为什么"),
    "where": Words("Where", "证据"),
    "timeline": Words("Timeline of the evidence", "证据的时间线"),
    "next": Words("Next", "下一步"),
    "considered": Words("Considered, and why not", "考虑过，为什么不是"),
    "input": Words("About the input", "关于输入"),
    "numbers": Words("Numbers", "数字"),
    "full": Words("full", "满"),
    "report": Words("report {}", "第 {} 份报告"),
}


def page(told: Diagnosis) -> str:
    """Return the page as HTML, whole and self-contained."""
    head = join(
        [
            tag("meta", charset="utf-8"),
            Markup(
                f'<meta http-equiv="Content-Security-Policy" content="{esc(_POLICY)}"/>'
            ),
            tag("title", esc(f"{told.verdict}: {told.cause}")),
            tag("meta", name="color-scheme", content="light dark"),
            tag("style", Markup(_STYLE + _night())),
        ]
    )
    lang: Lang = "zh" if told.lang == "zh" else "en"
    body = join([_verdict(told, lang), *_sections(told, lang)])
    whole = tag("html", join([tag("head", head), tag("body", body)]), lang=lang)
    return f"<!doctype html>\n{whole}\n"


def _night() -> str:
    """Return the rules for a dark ground: each colour of the page gives way to its
    own, in the text and in the timeline."""
    ink, body = PAGES["ink"][1], PAGES["bg"][1]
    rules = [
        f"body{{color:{ink};background:{body}}}td{{border-color:{PAGES['line'][1]}}}",
        f".quiet{{color:{PAGES['ink2'][1]}}}.good{{color:{PAGES['ok'][1]}}}",
        f".bad{{color:{PAGES['alert'][1]}}}",
    ]
    pairs = [*PAGES.values(), (theme.LOOKS["used"].ink, DARK_LOOKS["used"][2])]
    rules += [
        f'[{part}="{day}"]{{{part}:{night}}}'
        for day, night in pairs
        for part in ("fill", "stroke")
    ]
    return f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}"


def _verdict(told: Diagnosis, lang: Lang) -> Markup:
    look, sign = ("good", "✓") if told.verdict in _GOOD else ("bad", "!")
    says = told.says or told.cause
    name = tag("span", esc(f"{sign} "), class_=look)
    title = tag("h1", join([name, esc(says[:1].upper() + says[1:])]))
    code = tag("p", tag("code", esc(f"{told.verdict}: {told.cause}"), class_=look))
    sure = _WORDS[told.confidence].to(lang)
    what = f"{told.engine} {told.kind}, {sure}, {_WORDS[told.status].to(lang)}: "
    more = len(told.inputs) - 6
    names = [plain(i) for i in told.inputs[:6]] + [
        _WORDS["more"].to(lang).format(f"{more:,}")
    ] * (more > 0)
    named = _quiet(what + ", ".join(names))
    return join([title, code, named])


def _sections(told: Diagnosis, lang: Lang) -> list[Markup]:
    def heading(name: str) -> Markup:
        return tag("h2", esc(_WORDS[name].to(lang)))

    parts = [heading("why"), _points(told.reasons)]
    parts += [heading("next"), _points(told.next)]
    if told.lanes:
        parts += [heading("timeline"), tag("figure", timeline_svg(told))]
    if told.evidence:
        rows = [(q.place, q.text) for q in told.evidence]
        parts += [heading("where"), _table(rows, numbered=True)]
    if told.notes:
        parts += [heading("input"), _points(told.notes)]
    if told.considered:
        rows = [(c.cause, c.why) for c in told.considered]
        parts.append(_folded(heading("considered"), _table(rows)))
    return [*parts, _folded(heading("numbers"), _table(_rows(told.facts)))]


def _folded(head: Markup, body: Markup) -> Markup:
    """Return a part that opens on a click: not what one reads first."""
    return tag("details", join([tag("summary", head), body]))


def _quiet(text: str) -> Markup:
    return tag("div", esc(text), class_="quiet")


def _points(texts: Iterable[str]) -> Markup:
    return tag("ul", join(tag("li", esc(plain(text, 600))) for text in texts))


def _table(rows: Iterable[tuple[str, str]], numbered: bool = False) -> Markup:
    made = []
    for at, (left, right) in enumerate(rows, 1):
        cells = [tag("td", esc(plain(left, 80))), tag("td", esc(plain(right, 600)))]
        if numbered:
            cells.insert(0, tag("td", esc(at)))
        made.append(tag("tr", join(cells)))
    return tag("table", join(made))


def _rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, _shown(value)) for name, value in facts.items() if value is not None]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(str(one) for one in value)
    if isinstance(value, float) and value == int(value):
        return f"{int(value):,}"
    return f"{value:,}" if isinstance(value, int | float) else str(value)


# --- the timeline


def timeline_svg(told: Diagnosis) -> Markup:
    """Return the curves, one strip each, with the evidence as numbered lines."""
    lang: Lang = "zh" if told.lang == "zh" else "en"
    ends = [x for lane in told.lanes for x in lane.xs] + [x for x, _ in told.marks]
    last = max(ends, default=0.0) or 1.0
    parts = [draw.page()]
    full = _WORDS["full"].to(lang)
    y = 26.0
    for lane in told.lanes:
        parts.append(draw.move(0, y, [_strip(lane, last, full)]))
        y += TALL + GAP
    parts.append(_axis(last, y, told.timed, lang))
    parts += _marks(told, last, y)
    return draw.document(parts, WIDE, y + 34, _WORDS["timeline"].to(lang), lang)


def _x(x: float, last: float) -> float:
    return GUTTER + (WIDE - GUTTER - 14) * x / last


def _strip(lane: Lane, last: float, full: str) -> Markup:
    """Return one curve in its frame, thick where a pool is full, with the word."""
    points = [
        f"{_x(x, last):.1f} {TALL - TALL * min(value / lane.top, 1.0):.1f}"
        for x, value in zip(lane.xs, lane.values, strict=True)
    ]
    frame = tag(
        "rect", x=GUTTER, y=0, width=WIDE - GUTTER - 14, height=TALL, fill=theme.WELL,
        stroke=theme.LINE2,
    )  # fmt: skip
    ink = theme.LOOKS["used"].ink
    curve = draw.stroke("M" + "L".join(points), ink, 1.8)
    if len(points) == 1:
        x, _, y = points[0].partition(" ")
        curve = tag("circle", cx=x, cy=y, r=3, fill=ink)
    top = f"{lane.top:,.0f}" if lane.top >= 100 else f"{lane.top:g}"
    top = top if lane.top != 1 else "100%"
    return join(
        [
            frame,
            curve,
            _full(lane, points, full) if lane.pool else NOTHING,
            draw.words(0, 16, lane.label, font_weight=600),
            draw.words(0, 31, plain(lane.track, 24), fill=theme.INK3),
            draw.words(GUTTER - 6, 11, top, text_anchor="end", fill=theme.INK3),
        ]
    )


def _full(lane: Lane, points: list[str], full: str) -> Markup:
    """Return the stretches in which the pool is full, and a word on them."""
    marks, begun, word = [], "", NOTHING
    for point, value in zip(points, lane.values, strict=True):
        if value < FULL:
            begun = ""
            continue
        marks.append(f"L{point}" if begun else f"M{point}h2")
        if not begun and word == NOTHING:
            x = min(float(point.split()[0]), WIDE - 60)
            word = draw.words(x + 4, 20, full, fill=theme.ALERT, font_weight=600)
        begun = point
    if not marks:
        return NOTHING
    return join([draw.stroke("".join(marks), theme.ALERT, 4), word])


def _axis(last: float, y: float, timed: bool, lang: Lang) -> Markup:
    """Return round times, or, where the input has none, the numbers of its reports."""
    if timed:
        places = round_times(last, 8, lang)
    else:
        steps = 4 if last >= 4 else max(1, int(last))
        ats = [last * part / steps for part in range(steps + 1)]
        report = _WORDS["report"].to(lang)
        places = [(at, report.format(f"{round(at) + 1:,.0f}")) for at in ats]
    parts = []
    for at, text in places:
        anchor = "start" if at == 0 else "end" if at == last else "middle"
        style = {"text_anchor": anchor, "fill": theme.INK3}
        parts.append(draw.words(_x(at, last), y + 8, text, **style))
    return join(parts)


def _marks(told: Diagnosis, last: float, bottom: float) -> list[Markup]:
    """Number the evidence as the table does: one line for all quotes of one moment."""
    numbers = {f"{q.place}: {q.text}": at for at, q in enumerate(told.evidence, 1)}
    moments: dict[float, list[str]] = {}
    for x, text in told.marks:
        if text in numbers and 0 <= x <= last:
            moments.setdefault(round(_x(x, last), 0), []).append(text)
    marks = []
    for at, texts in moments.items():
        line = draw.stroke(
            f"M{at:g} 24V{bottom - GAP:g}", theme.ALERT, 1.2, stroke_dasharray="3 2"
        )
        named = ", ".join(str(n) for n in sorted({numbers[text] for text in texts}))
        label = draw.words(at, 20, named, text_anchor="middle", fill=theme.ALERT)
        said = tag("title", esc(plain("; ".join(texts), 300)))
        marks.append(tag("g", join([said, line, label])))
    return marks or [NOTHING]
