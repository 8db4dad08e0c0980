"""Which runs does notebook 13, Present, play?

None of its own: four runs of other notebooks, each with an outcome that a tour may
explain, and a tour of the first that is told well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import ConfigError
from ...record import events as ev
from ...record.events import Event
from ...record.trace import Trace
from ...views.theme import Lang, Words
from ..questions import moment
from .nb00 import thirty_seconds
from .nb07 import three_fates
from .nb10 import retract
from .nb14 import coming_home

SCENARIOS: dict[str, Callable[..., Any]] = {}
PICTURES = (("13-before.svg", "three_fates", "insert", "tree", 4),)


def _lost(node: int) -> Callable[[Event], bool]:
    return lambda e: isinstance(e, ev.Delete | ev.EvictHost) and e.node == node


RUNS: dict[str, tuple[Callable[[], Any], Callable[[Event], bool]]] = {
    "lost": (three_fates, _lost(3)),
    "wrong": (coming_home, _lost(1)),
    "refused": (thirty_seconds,
                lambda e: isinstance(e, ev.Admit) and e.request == "r6"),
    "victim": (retract, _lost(2)),
}  # fmt: skip
"""Each run with its outcome: C is lost for good (07), X is dropped while it is being
loaded (14), r6 has to wait (00), the victim's prompt goes too (10)."""


def scene(name: str) -> tuple[Trace, int]:
    """Return a run and the event that a tour of it explains.

    Raises: ConfigError for a run that is none of `RUNS`.
    """
    if name not in RUNS:
        raise ConfigError(f"no run {name!r}; there are {', '.join(RUNS)}")
    story, is_outcome = RUNS[name]
    trace = story().trace
    return trace, moment(trace, is_outcome)


TOUR: tuple[tuple[int, Words], ...] = (
    (37, Words(
        "C leaves L1. Its 16 tokens are on L2, which has 13 slots free: A's 12 lie "
        "there too.",
        "C 离开 L1。它的 16 个 token 在 L2 上；A 的 12 个也在那里。L2 空闲 13。")),
    (42, Words(
        "Somebody asks for A's 12 tokens, which makes C the coldest on L2. That saves "
        "A; it does not cost C its place.",
        "有人请求 A 的 12 个 token，L2 上最冷的成了 C。这救了 A，但 C 不是因此才走。")),
    (45, Words(
        "The cause: D, 16 tokens, is given to the tree.",
        "起因：D 的 16 个 token 交给树。")),
    (48, Words(
        "One hit is enough, 1 ≥ 1. But D needs 16 slots on L2 and 13 are free: 16 ≤ 13 "
        "is false. With 16 free nobody would have to go.",
        "命中一次就够，1 ≥ 1。但 D 要 L2 的 16 个槽位，只有 13 个空闲：16 ≤ 13 不成立。"
        "若空闲 16，谁都不用走。")),
    (50, Words(
        "L2 drops whole leaves, coldest first: n3, that is C, all 16 tokens. No copy "
        "is left.",
        "L2 整叶丢弃，最冷的先走：n3，也就是 C，16 个 token 全部。再没有副本。")),
    (54, Words(
        "D has its 16 slots and 13 are free again. Whoever asks for C now computes it "
        "anew.",
        "D 得到 16 个槽位，又空闲 13。再有人请求 C，只能重算。")),
)  # fmt: skip
"""A tour of the first run, by events."""


def tour(lang: Lang = "en") -> dict[int, str]:
    """Return the notes of the tour that is told well."""
    return {event: words.to(lang) for event, words in TOUR}
