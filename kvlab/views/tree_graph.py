"""How does the tree look as boxes and edges?

As DOT, through the `graphviz` package: one table a node, an L1 deck above an L2 deck in
the state's colour with its character and name, the legend always below. The SVG gets
the patterns of all other views; the DOT text alone is of use where no `dot` is.
Left out: lengths to scale and playing (tree_strip.py).
"""

from __future__ import annotations

import re
import shutil
import sysconfig
from pathlib import Path
from unicodedata import east_asian_width

import graphviz
from graphviz.backend import dot_command

from ..errors import KvlabError
from ..pages import Pages
from ..record.moment import ROOT, NodeState
from . import theme
from .frame import Focus, Frame, focus, given_up
from .markup import NOTHING, Markup, esc, join, plain, tag
from .primer import MARKS
from .rule_table import mixed_note
from .sentences import describe
from .slots import l1_state, l2_state
from .text import host_lock, slot_ranges
from .theme import LOOKS, Lang, State, Words

FONT = "Arial"
NO_COPY = Words("no copy", "无副本")
GROUNDS: dict[State, str] = {
    state: f"#fffff{place:x}" if look.ground == theme.BG else look.ground
    for place, (state, look) in enumerate(LOOKS.items())
}
"""The band of each state: its ground, no two alike, so that patterns find their own."""


class NoDot(KvlabError):
    """No `dot` was found, neither the system's nor the wheel's."""

    def __init__(self) -> None:
        super().__init__(
            "no `dot` was found: run `pip install graphviz-pure` in this environment, "
            "install Graphviz, or write a .dot or .txt file instead"
        )


def tree_graph(frame: Frame, lang: Lang = "en") -> graphviz.Digraph:
    """Return the tree as a graph, which a notebook shows as it is.

    Changes: where the graphviz package looks for `dot`, if the system has none.
    """
    _point_to_dot()
    graph = graphviz.Digraph("kvlab")
    graph.attr(
        rankdir="LR", nodesep="0.2", ranksep="0.35", pad="0.3", labelloc="b",
        fontname=FONT, fontsize="11", label=_html(_below(frame, lang)),
    )  # fmt: skip
    graph.attr("node", shape="none", margin="0.05", fontname=FONT, fontsize="11")
    graph.attr("edge", arrowhead="none", color=theme.INK2)
    root = Words("root", "根").to(lang)
    graph.node("n0", root, shape="box", style="rounded", color=theme.INK2)
    touched, starts = focus(frame), {ROOT: 0}
    for node in _top_down(frame, touched):
        first = starts[node.parent]
        starts[node.id] = first + len(node.tokens)
        graph.node(f"n{node.id}", _html(_table(frame, node, first, touched, lang)))
        graph.edge(f"n{node.parent}", f"n{node.id}")
    return graph


def _top_down(frame: Frame, touched: Focus) -> list[NodeState]:
    """Return the nodes, parents first, and the one that this event took away."""
    children = frame.state.children()
    if touched.gone is not None:
        children.setdefault(touched.gone.parent, []).append(touched.gone)
    order: list[NodeState] = []
    stack = children[ROOT][::-1]
    while stack:
        order.append(stack.pop())
        stack += children.get(order[-1].id, [])[::-1]
    return order


def _html(markup: Markup) -> str:
    """The package takes `<...>` for an HTML label and quotes everything else."""
    return f"<{markup}>"


# --- one node


def _table(
    frame: Frame, node: NodeState, first: int, touched: Focus, lang: Lang
) -> Markup:
    gone = node is touched.gone
    l1, l2 = l1_state(node), l2_state(node)
    if gone:
        l1, l2 = l1 and "lost", l2 and "lost"
    given = given_up(frame.event)
    if given is not None and given[1] == node.id:
        l1, l2 = ("left", l2) if given[0] == "L1" else (l1, "left")
    rows = [
        _row(_cell(_head(node, first, lang), BORDER=0, COLSPAN=2)),
        _row(_deck(frame, "L1", l1, node.pages, lang)),
        _row(_deck(frame, "L2", l2, node.host_pages, lang)),
    ]
    ringed = gone or node.id in touched.nodes
    return tag(
        "TABLE", join(rows), BORDER=2 if ringed else 0, COLOR=theme.INK,
        CELLBORDER=1, CELLSPACING=0, CELLPADDING=3, STYLE="ROUNDED",
    )  # fmt: skip


def _row(*cells: Markup) -> Markup:
    return tag("TR", join(cells))


def _cell(content: Markup, **attributes: object) -> Markup:
    return tag("TD", content, **attributes)


def _head(node: NodeState, first: int, lang: Lang) -> Markup:
    facts = [theme.token_range(first, len(node.tokens))]
    if node.lock_ref:
        facts.append(f"lock_ref {node.lock_ref}")
    facts += host_lock(node)
    facts.append(f"{Words('hits', '命中').to(lang)} {node.hit_count}")
    if node.space:
        facts.append(f"[{plain(node.space, 16)}]")
    return join([tag("B", esc(f"n{node.id}")), esc(_roomy("  " + " · ".join(facts)))])


def _deck(
    frame: Frame, tier: str, state: State | None, pages: Pages | None, lang: Lang
) -> Markup:
    """Return a deck: a band in the state's pattern, and beside it what it is."""
    if state is None:
        return _banded("available", f"{tier} {NO_COPY.to(lang)}")
    look = LOOKS[state]
    text = f"{tier} {look.char} {look.name.to(lang)}"
    if pages is not None and state not in ("lost", "left"):
        slots = slot_ranges(pages, frame.header.config.page_size)
        text = f"{text} {plain(slots, 24)}"
    return _banded(state, text)


def _banded(state: State, text: str) -> Markup:
    look = LOOKS[state]
    edge = {"COLOR": look.edge, "STYLE": "DASHED" if look.dash else "SOLID"}
    drawn = esc(look.char) if look.pattern in ("cross", "octagon") else NOTHING
    band = _cell(drawn, BGCOLOR=GROUNDS[state], WIDTH=40, SIDES="LTB", **edge)
    return join([band, _cell(esc(_roomy(text)), SIDES="TRB", ALIGN="LEFT", **edge)])


def _roomy(text: str) -> str:
    """`dot` takes Chinese for narrower than it is: leave room behind it."""
    wide = sum(east_asian_width(char) in "WF" for char in text)
    return text + "\N{NO-BREAK SPACE}" * (wide + 2 if wide else 0)


# --- below the tree


def _below(frame: Frame, lang: Lang) -> Markup:
    """Return the sentence of the event, a note if no release had the rules, and the
    legend."""
    legend = theme.legend(lang)
    lines = [tag("B", esc(describe(frame, lang)))]
    lines += [esc(note.to(lang)) for note in mixed_note(frame.header.rules)]
    rows = [_row(_cell(line, COLSPAN=8, BORDER=0, CELLPADDING=8)) for line in lines]
    rows += [_legend_row(legend[at : at + 4]) for at in range(0, len(legend), 4)]
    ringed = esc(_roomy(MARKS["ring"].name.to(lang)))
    rows.append(_row(_cell(ringed, COLSPAN=2, BORDER=2, COLOR=theme.INK)))
    return tag(
        "TABLE", join(rows), BORDER=0, CELLBORDER=1, CELLSPACING=0, CELLPADDING=3
    )


def _legend_row(states: list[tuple[State, str, str]]) -> Markup:
    return _row(*(_banded(state, f"{char} {name}") for state, char, name in states))


# --- rendering


def tree_svg(frame: Frame, lang: Lang = "en") -> Markup:
    """Return the graph as SVG, in the patterns of all other views.

    Raises: NoDot.
    """
    svg = render(tree_graph(frame, lang), "svg")
    for state, ground in GROUNDS.items():
        svg = svg.replace(f'fill="{ground}"', f'fill="{theme.fill(state)}"')
    family = esc(theme.UI_ZH if lang == "zh" else theme.UI)
    svg = svg.replace(f'font-family="{FONT}"', f'font-family="{family}"')
    return Markup(_SVG.sub(lambda found: found.group() + theme.patterns(), svg, 1))


_SVG = re.compile(r"<svg[^>]*>")


def render(graph: graphviz.Digraph, kind: str) -> str:
    """Return what `dot` makes of the graph. Raises: NoDot."""
    _point_to_dot()
    try:
        text: str = graph.pipe(format=kind, encoding="utf-8", quiet=True)
    except graphviz.ExecutableNotFound:
        raise NoDot from None
    return text


def find_dot() -> Path | None:
    """Return the system's `dot`, else that of the graphviz-pure wheel, else None."""
    if system := shutil.which("dot"):
        return Path(system)
    scripts = Path(sysconfig.get_path("scripts"))
    names = [scripts / name for name in ("graphviz-pure", "graphviz-pure.exe")]
    return next((name for name in names if name.exists()), None)


def _point_to_dot() -> None:
    found = find_dot()
    if found is not None:
        dot_command.DOT_BINARY = found
