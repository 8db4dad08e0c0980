"""What do the pictures say to somebody who cannot see them?

The plain-text twin of each view, in the same words and numbers: for a terminal, a
screen reader, a diff. The character before a state's name looks like its pattern.
Left out: the sentence of an event (sentences.py) and the text of a card (cards.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..pages import Pages, to_runs
from ..record.events import Decision, Tier
from ..record.folding import check_step
from ..record.moment import ROOT, NodeState
from ..record.replay import states
from ..record.snapshot import State as Engine
from ..record.trace import Trace
from . import theme
from .account import SLOTS, Sum, device_sum, host_sum, promised
from .contents import Contents, by_contents, contents_lines
from .frame import Frame, focus, frame_at
from .markup import plain
from .sentences import describe
from .slots import Run, l1_state, l2_state, runs
from .theme import LOOKS, Lang, Words

NO_TREE = Words("the tree is empty", "树为空")
HERE = Words("<- this event", "<- 本事件")


def tree_text(frame: Frame, lang: Lang = "en") -> str:
    """Return the tree, one node a line, children indented under their parent.

    Token ranges a:b count from 0 along the path, without b; slots are the node's own,
    in key order.
    """
    children = frame.state.children()
    touched = focus(frame).nodes
    lines: list[str] = []
    stack = [(node, 0, 0) for node in reversed(children[ROOT])]
    while stack:
        node, depth, first = stack.pop()
        mark = f"  {HERE.to(lang)}" if node.id in touched else ""
        lines.append("  " * depth + _node_line(frame.state, node, first, lang) + mark)
        end = first + len(node.tokens)
        below = reversed(children.get(node.id, []))
        stack += [(child, depth + 1, end) for child in below]
    return "\n".join(lines or [NO_TREE.to(lang)])


def _node_line(state: Engine, node: NodeState, first: int, lang: Lang) -> str:
    page = state.config.page_size
    span = theme.token_range(first, len(node.tokens))
    parts = [f"n{node.id}", span, f"lock_ref {node.lock_ref}", *host_lock(node)]
    parts.append(f"{Words('hits', '命中').to(lang)} {node.hit_count}")
    if node.space:
        parts.append(f"[{plain(node.space)}]")
    on_l1, on_l2 = l1_state(node), l2_state(node)
    parts.append(_residency("L1", on_l1, node.pages, page, lang))
    parts.append(_residency("L2", on_l2, node.host_pages, page, lang))
    return "  ".join(parts)


def host_lock(node: NodeState) -> list[str]:
    """Return what is said of a lock on the host copy; nothing where there is none."""
    return [f"host_lock_ref {node.host_lock_ref}"] if node.host_lock_ref else []


def _residency(
    tier: Tier, state: theme.State | None, pages: Pages | None, page: int, lang: Lang
) -> str:
    if state is None or pages is None:
        return f"{tier} –"
    look = LOOKS[state]
    return f"{tier} {look.char} {look.name.to(lang)} {slot_ranges(pages, page)}"


def slot_ranges(pages: Pages, page_size: int) -> str:
    """Return the slots of the pages as ranges, in key order.

    >>> from kvlab.pages import as_pages
    >>> slot_ranges(as_pages([3, 4, 1]), 2)
    '6-9, 2-3'
    """
    pairs = [(run, 1) if isinstance(run, int) else run for run in to_runs(pages)]
    return ", ".join(_range(first, length, page_size) for first, length in pairs)


def _range(first: int, length: int, page_size: int) -> str:
    start, end = first * page_size, (first + length) * page_size - 1
    return f"{start}" if start == end else f"{start}-{end}"


def pools_text(frame: Frame, lang: Lang = "en") -> str:
    """Return both pools, one run of slots a line, each pool with its account."""
    return "\n".join(_pool_lines(frame, lang, None))


def contents_text(frame: Frame, contents: Contents | None, lang: Lang = "en") -> str:
    """Return the same, by what the slots hold, and the wrong ones in words."""
    lines = [*_pool_lines(frame, lang, contents), *contents_lines(contents, lang)]
    return "\n".join(lines)


def _pool_lines(frame: Frame, lang: Lang, contents: Contents | None) -> Iterator[str]:
    page = frame.header.config.page_size
    for tier, account in accounts(frame):
        yield f"{tier}  {account_line(account, lang)}"
        for run in by_contents(runs(frame, tier), tier, contents, page):
            yield f"  {_run_line(frame, run, lang)}"


def _run_line(frame: Frame, run: Run, lang: Lang) -> str:
    page = frame.header.config.page_size
    look = LOOKS[run.state]
    slots = _range(run.first, run.length, page)
    parts = [f"{slots:>9}  {run.length * page:>6}  {look.char} {look.name.to(lang)}"]
    if run.label:
        parts.append(run.label)
    if run.locks:
        parts.append(f"host_lock_ref {run.locks}")
    if run.hot:
        parts.append(HERE.to(lang))
    return "  ".join(parts)


def account_text(frame: Frame, lang: Lang = "en") -> str:
    """Return the sum of each pool, one a line."""
    lines = [f"{tier}  {account_line(sum_, lang)}" for tier, sum_ in accounts(frame)]
    return "\n".join(lines)


def accounts(frame: Frame) -> Iterator[tuple[Tier, Sum]]:
    """Yield the pools that exist, with their sums."""
    yield "L1", device_sum(frame)
    if frame.state.pools["L2"].num_pages:
        yield "L2", host_sum(frame)


def account_line(account: Sum, lang: Lang = "en") -> str:
    """Return the sum: used 0 + held 1 (+1) + ... = 24 slots."""
    terms = []
    for term in account.terms:
        moved = f" ({theme.delta(term.moved)})" if term.moved else ""
        due = f" [{promised(term.coming, lang)}]" if term.coming else ""
        terms.append(f"{term.name.to(lang)} {theme.num(term.tokens)}{moved}{due}")
    sign = "=" if account.holds else "≠"
    return f"{' + '.join(terms)} {sign} {theme.num(account.total)} {SLOTS.to(lang)}"


def timeline_text(trace: Trace, step: int, lang: Lang = "en") -> str:
    """Return every decision with its sentence and L1's account, `step` marked.

    Raises: TraceError if the run has no such step. Cost: O(events).
    """
    check_step(step, len(trace))
    names = " ".join(f"{LOOKS[state].char:>6}" for state in COLUMNS)
    lines = [f"{'':>8} {names}"]
    for index, event, state in states(trace):
        if isinstance(event, Decision) or index + 1 == step:
            frame = Frame(trace.header, index + 1, event, state, state)
            if not isinstance(event, Decision):
                frame = frame_at(trace, step)
            mark = ">" if index + 1 == step else " "
            counts = " ".join(f"{t.tokens:>6}" for t in device_sum(frame).terms)
            lines.append(f"{mark}{index + 1:>7} {counts}  {describe(frame, lang)}")
    return "\n".join(lines)


COLUMNS: tuple[theme.State, ...] = ("used", "held", "evictable", "available")
