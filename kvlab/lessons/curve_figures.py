"""How do the curves of a real trace look?

Three pictures from plain numbers: hits by capacity beside what FAST'25 published, LRU
under what anybody could reach, and what each write policy writes to L2.
Left out: the numbers (curves.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..views.chart import Bracket, Curve, Frame, Mark, chart
from ..views.theme import LANGS, LOOKS, Lang, Words

Points = Sequence[tuple[float, float]]
"""(size, ratio) pairs."""

PUBLISHED: dict[str, Points] = {
    "conversation": (
        (1e5, 0.073), (1e6, 0.087), (2e6, 0.120), (4e6, 0.215), (5e6, 0.247),
        (8e6, 0.300), (1e7, 0.326), (5e7, 0.398), (1e8, 0.401),
    ),
    "synthetic": (
        (1e5, 0.012), (1e6, 0.146), (2e6, 0.235), (4e6, 0.381), (5e6, 0.435),
        (8e6, 0.545), (1e7, 0.589), (5e7, 0.658), (1e8, 0.658),
    ),
}  # fmt: skip
"""Mooncake's hit ratios by tokens of cache.

Source: Qin et al., FAST'25, figure 9, read off its vector coordinates to 0.001.
"""

BLUE, GREEN = LOOKS["used"].ink, LOOKS["right"].ink
RED, GREY = LOOKS["refused"].ink, LOOKS["lost"].ink
COLOURS = (BLUE, RED, GREEN, GREY)


class Look(NamedTuple):
    """How a policy's curve looks. See Curve."""

    name: Words
    colour: str
    mark: Mark
    dash: str


POLICIES = {
    "write_through": Look(Words("write_through", "write_through"), BLUE, "circle", ""),
    "selective": Look(Words("selective", "selective"), GREEN, "triangle", "2 3"),
    "write_back 0.5.14": Look(
        Words("write_back, 0.5.14", "write_back，0.5.14"), GREY, "square", "7 4"),
    "write_back 0.5.23": Look(
        Words("write_back, 0.5.23", "write_back，0.5.23"), RED, "square", "7 4"),
}  # fmt: skip


def hit_curves(ours: Mapping[str, Points], lang: Lang = "en") -> str:
    """Return the picture of hit ratios by tokens of cache, with published ones."""
    curves = []
    for (name, points), colour in zip(ours.items(), COLOURS, strict=False):
        curves.append(
            Curve(name=Words(f"{name}, here", f"{name}，本工具"),
                  points=_percent(points), colour=colour)
        )  # fmt: skip
        if name in PUBLISHED:
            curves.append(
                Curve(name=Words(f"{name}, FAST'25", f"{name}，FAST'25"),
                      points=_percent(PUBLISHED[name]), colour=colour, mark="ring",
                      dash=None)
            )  # fmt: skip
    frame = Frame(
        title=Words("More cache helps, up to the knee", "缓存越大越好？到拐点为止"),
        about=Words(
            "Share of prompt tokens found in one global LRU cache, whole trace.",
            "全局一个 LRU 缓存中命中的 prompt token 占比，整条 trace。"),
        across=Words("tokens of cache", "缓存大小（token）"),
        up=Words("tokens hit", "命中的 token"),
        ticks=(1e5, 1e6, 1e7, 1e8), rows=(0, 20, 40, 60, 80), unit=" %",
        note=Words(
            "Blocks of 512 tokens. Rings: Qin et al., FAST'25, figure 9. The paper "
            "seems to match finer than a block, so it lies higher.",
            "块大小 512 token。空心圆：Qin 等，FAST'25，图 9；"
            "论文的匹配粒度似乎细于一个块，所以略高。"),
    )  # fmt: skip
    return chart(curves, frame, lang=lang)


def ceiling_curves(
    name: str, lru: Points, best: Points, lang: Lang = "en", at: float = 10_000
) -> str:
    """Return the picture of LRU under Belady, with the distance at `at` blocks."""
    low, high = dict(lru)[at], dict(best)[at]
    gap = 100 * (high - low)
    curves = (
        Curve(name=Words("Belady: knows the future", "Belady：预知未来"),
              points=_percent(best), colour=GREEN, mark="triangle", dash="7 4"),
        Curve(name=Words("LRU", "LRU"), points=_percent(lru), colour=BLUE),
    )  # fmt: skip
    frame = Frame(
        title=Words(f"What LRU leaves on the table: {name}", f"LRU 还差多少：{name}"),
        about=Words(
            "Share of blocks hit, whole trace. Nobody can lie above Belady.",
            "块命中率，整条 trace。任何策略都不可能高于 Belady。"),
        across=Words("blocks of cache (512 tokens each)",
                     "缓存大小（块，每块 512 token）"),
        up=Words("blocks hit", "命中的块"),
        ticks=[x for x, _ in lru],
        rows=_rows(max(y for _, y in best)), unit=" %",
        note=Words(
            "Belady evicts the block that is needed last. One global cache, no time.",
            "Belady 逐出最晚才会再用到的块。全局一个缓存，不计时间。"),
    )  # fmt: skip
    says = Words(f"{gap:.1f} points", f"差 {gap:.1f} 个百分点")
    bracket = Bracket(at, 100 * low, 100 * high, says)
    return chart(curves, frame, bracket, lang)


def write_curves(name: str, written: Mapping[str, Points], lang: Lang = "en") -> str:
    """Return the picture of what is written to L2 per 100 blocks computed, by L1 and
    policy; `written` is named by POLICIES."""
    curves = [
        Curve(name=POLICIES[policy].name, points=_percent(points),
              colour=POLICIES[policy].colour, mark=POLICIES[policy].mark,
              dash=POLICIES[policy].dash)
        for policy, points in written.items()
    ]  # fmt: skip
    frame = Frame(
        title=Words(f"Does write_back save writes? {name}",
                    f"write_back 真的写得少吗？{name}"),
        about=Words(
            "Blocks written to L2 for 100 that were computed; L2 is four times L1.",
            "每算 100 个块，写到 L2 的块数；L2 是 L1 的四倍。"),
        across=Words("blocks of L1 (512 tokens each)", "L1 大小（块，每块 512 token）"),
        up=Words("written per 100 computed", "每算 100 块写出"),
        ticks=(1e3, 2e3, 5e3, 1e4, 2e4, 5e4), rows=(0, 25, 50, 75, 100, 125),
        note=Words(
            "When L2 is short, 0.5.23 first frees copies of blocks that are back on "
            "L1; their next eviction writes them again.",
            "L2 不够时，0.5.23 先放弃已回到 L1 的块的副本，下次逐出时再写一遍。"),
    )  # fmt: skip
    return chart(curves, frame, lang=lang)


def _percent(points: Points) -> Points:
    return [(x, round(100 * y, 2)) for x, y in points]


def _rows(top: float) -> list[float]:
    step = 10 if top <= 0.5 else 20
    return [float(row) for row in range(0, int(100 * top) + step + 1, step)]


def save(name: str, draw: Callable[[Lang], str], folder: Path) -> list[Path]:
    """Write a picture in both languages; return both. Changes: the files."""
    files = [folder / f"{name}.svg", folder / f"{name}.zh.svg"]
    for lang, file in zip(LANGS, files, strict=True):
        file.write_text(draw(lang), "utf-8")
    return files
