"""Where is every block of a vLLM engine, in one sum?

used + free with a hash + free without = blocks. Under it vLLM's own gauge, which knows
only `free`, with its numbers, and what the watermark keeps from admission.
Left out: which blocks they are (block_pool_map.py).
"""

from __future__ import annotations

from ..glossary import GLOSSARY, VLLM_CHINESE
from . import draw, theme
from .account import EQUATION_HEIGHT, Sum, Term, bar, equation
from .block_frame import BlockFrame
from .block_pool_map import BLOCKS
from .markup import Markup
from .theme import Lang, State, Words

ACCOUNT = Words("Account of the blocks", "块的账目")


def block_sum(frame: BlockFrame) -> Sum:
    """Return L1's account in blocks: used + free with a hash + free without."""
    now = frame.state.tiers["L1"].account()
    then = frame.before.tiers["L1"].account()
    states: list[tuple[State, str]] = [
        ("used", "used"), ("evictable", "evictable"), ("available", "blank")
    ]  # fmt: skip
    terms = []
    for state, name in states:
        count, before = getattr(now, name), getattr(then, name)
        word = GLOSSARY[state].word("vllm")
        words = Words(word, f"{VLLM_CHINESE[state]} {word}")
        terms.append(Term(state, words, count, count - before))
    return Sum(tuple(terms), now.total)


def usage_line(frame: BlockFrame) -> str:
    """Return vLLM's gauge with its numbers, and what the watermark keeps."""
    tier, config = frame.state.tiers["L1"], frame.header.config
    free, total = len(tier.free), tier.num_blocks - 1
    usage = 1 - free / total if total else 0.0
    said = f"kv_cache_usage_perc = 1 − {free} / ({tier.num_blocks} − 1) = {usage:.3f}"
    kept = int(config.watermark * config.num_gpu_blocks)
    return f"{said}   watermark = {kept}"


def block_account_svg(frame: BlockFrame, lang: Lang = "en") -> Markup:
    """Return the account as a picture of its own."""
    account, wide = block_sum(frame), 560.0
    body = [
        draw.page(),
        draw.move(16, 16, [bar(account, wide, 16)]),
        draw.move(16, 40, [equation(account, lang, wide, BLOCKS)]),
        draw.code(16, 40 + EQUATION_HEIGHT + 20, usage_line(frame), font_weight=400),
    ]
    return draw.document(body, wide + 32, 112, ACCOUNT.to(lang), lang)


def block_account_text(frame: BlockFrame, lang: Lang = "en") -> str:
    """Return the account as text."""
    account = block_sum(frame)
    told = (f"{t.name.to(lang)} {theme.num(t.tokens)}" for t in account.terms)
    total = f"{theme.num(account.total)} {BLOCKS.to(lang)}"
    return " + ".join(told) + f" = {total}\n{usage_line(frame)}"
