"""Where do a vLLM engine's blocks lie, and which is taken next?

Every block in its place, and under it the free queue as a train: the next to be taken
on the left, unhashed cars before hashed ones. A block's hash is shown by its first
digits; of a long train both ends are.
Left out: moving through a run (player/blocks.js).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..glossary import VLLM_CHINESE
from ..record.block_tier import BlockTier
from . import draw, theme
from .block_frame import BlockFrame
from .grid import Grid, grids
from .markup import Markup
from .theme import Lang, State, Words

BLOCKS = Words("blocks", "块")
TRAIN = Words("free queue, head first", "空闲队列，队首在前")
EMPTY = Words("empty", "空")
MORE = Words("… {n} more …", "… 还有 {n} 个 …")
POOL = Words("Blocks", "块")
CAR, CAR_TALL, ENDS = 46, 34, 24
"""Size of a car in pixels; how many are shown at each end of a long train."""


def block_state(tier: BlockTier, block: int) -> State:
    """Return the state of a block: used, evictable or available."""
    if tier.ref_cnt.get(block):
        return "used"
    return "evictable" if block in tier.names else "available"


def short_hash(name: int | None) -> str:
    """Return the first digits of a name, or of a content's number; – for none.

    >>> short_hash(0x58d0879dff38), short_hash(17), short_hash(None)
    ('58d0', '#17', '–')
    """
    if name is None:
        return "–"
    digits = shown_digits(name)
    return f"#{name}" if digits == name else f"{-digits:04x}"


def shown_digits(name: int) -> int:
    """Return what is shown of a name: a content's number, or below zero the first
    digits of a hash."""
    return -(name >> 32) or name


def cars(tier: BlockTier) -> list[int | None]:
    """Return the free blocks, head first; None stands for those left out between."""
    free = list(tier.free)
    if len(free) <= 2 * ENDS:
        return list(free)
    return [*free[:ENDS], None, *free[-ENDS:]]


def block_pool_svg(frame: BlockFrame, lang: Lang = "en") -> Markup:
    """Return the map of L1's blocks and its free queue."""
    total = frame.state.tiers["L1"].num_blocks - 1
    grid = grids(total, 0)[0]
    body = [draw.page(), _heading(16, f"L1 · {theme.num(total)} {BLOCKS.to(lang)}")]
    body.append(draw.move(16, 34, list(_map(frame, grid))))
    y = 34 + grid.height + 34
    body.append(_heading(y, TRAIN.to(lang)))
    train, tall = _train(frame, lang)
    body.append(draw.move(16, y + 12, train))
    return draw.document(body, 480, y + 24 + tall, POOL.to(lang), lang)


def _heading(y: float, text: str) -> Markup:
    return draw.words(16, y + 6, text, font_size=13, font_weight=600)


def _map(frame: BlockFrame, grid: Grid) -> Iterator[Markup]:
    tier, touched = frame.state.tiers["L1"], frame.touched
    for block in range(1, tier.num_blocks):
        (piece,) = grid.pieces(block, 1)
        state = block_state(tier, block)
        yield draw.box(piece.x, piece.y, piece.width, grid.row, state)
        label = f"{block}" + (f"×{ref}" if (ref := tier.ref_cnt.get(block, 0)) > 1
                              else "")  # fmt: skip
        if piece.width > theme.width(label, 10, mono=True) + 9:
            x, y = piece.x + piece.width / 2, piece.y + grid.row / 2
            yield draw.plate(x, y, label, 10)
        if block in touched:
            yield draw.ring(piece.x, piece.y, piece.width, grid.row)


def _train(frame: BlockFrame, lang: Lang) -> tuple[list[Markup], float]:
    """Return the cars in rows, and how tall they are."""
    tier, parts = frame.state.tiers["L1"], list[Markup]()
    per = 448 // CAR
    shown = cars(tier)
    for place, block in enumerate(shown):
        x, y = place % per * CAR, place // per * (CAR_TALL + 8)
        if block is None:
            left = MORE.to(lang).format(n=len(tier.free) - 2 * ENDS)
            size = min(9.0, 9.0 * (CAR - 4) / theme.width(left, 9))
            parts.append(draw.words(x + 2, y + 20, left, font_size=size))
            continue
        parts.append(draw.box(x, y, CAR - 6, CAR_TALL, block_state(tier, block)))
        parts.append(draw.plate(x + (CAR - 6) / 2, y + 10, f"{block}", 10))
        name = short_hash(tier.names.get(block))
        parts.append(draw.plate(x + (CAR - 6) / 2, y + 25, name, 9))
        if place % per < per - 1 and place + 1 < len(shown):
            parts.append(draw.stroke(f"M{x + CAR - 6} {y + 17}h6", theme.INK2, 2))
        if block in frame.touched:
            parts.append(draw.ring(x, y, CAR - 6, CAR_TALL))
    if not shown:
        parts.append(draw.words(0, 14, EMPTY.to(lang), fill=theme.INK3))
    rows = max(-(-len(shown) // per), 1)
    return parts, rows * (CAR_TALL + 8)


def block_pool_text(frame: BlockFrame, lang: Lang = "en") -> str:
    """Return the blocks and the free queue as text, one block a line."""
    tier = frame.state.tiers["L1"]
    lines = []
    for block in range(1, tier.num_blocks):
        state = block_state(tier, block)
        look = theme.LOOKS[state]
        named = Words(look.name.en, VLLM_CHINESE[state])
        ref, name = tier.ref_cnt.get(block, 0), short_hash(tier.names.get(block))
        lines.append(f"{block:>6} {look.char} {named.to(lang)}  ref_cnt {ref}  {name}")
    queue = " ".join(
        MORE.to(lang).format(n=len(tier.free) - 2 * ENDS) if b is None
        else f"{b}:{short_hash(tier.names.get(b))}"
        for b in cars(tier)
    )  # fmt: skip
    return "\n".join([*lines, f"{TRAIN.to(lang)}: {queue or EMPTY.to(lang)}"])
