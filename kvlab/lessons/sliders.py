"""How does the ceiling of concurrency move with a model and a deployment?

`ceiling()` is a row of sliders over one curve: sequences that fit, by their length.
Left out: named models (`kvlab capacity`), MLA and windows, which have no such formula.
"""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from ..capacity import GIB, Deployment, capacity
from ..models import KvShape
from ..views.ceiling import ceiling_svg
from ..views.theme import Words
from .checks import language

CONTEXTS = tuple(1 << power for power in range(11, 18))
_SAID = Words(
    "<b>{kib:,.0f} KiB</b> a token · pool of <b>{pool:,} tokens</b> · "
    "<b>{seats}</b> sequences of {k}K fit",
    "每 token <b>{kib:,.0f} KiB</b> · 池子 <b>{pool:,} token</b> · "
    "{k}K 的序列能放 <b>{seats}</b> 条",
)

DIALS: dict[str, tuple[list[int], int, Words]] = {
    "layers": ([16, 32, 61, 80, 126], 80, Words("layers", "层数")),
    "kv_heads": ([1, 2, 4, 8, 32], 8, Words("KV heads", "KV head 数")),
    "head_dim": ([64, 128, 256], 128, Words("head_dim", "head_dim")),
    "element": ([1, 2, 4], 2, Words("bytes of a number", "每个数的字节")),
    "tp": ([1, 2, 4, 8], 8, Words("TP: GPUs", "TP：几张卡")),
    "gib": ([20, 40, 60, 100], 60, Words("GiB for KV, each GPU", "每卡给 KV 的 GiB")),
    "context": (
        [4, 8, 16, 32, 64, 128], 32, Words("K tokens a sequence", "序列长度，K token"),
    ),
}  # fmt: skip


def told(
    layers: int, kv_heads: int, head_dim: int, element: int, tp: int, gib: int,
    context: int,
) -> tuple[str, str]:  # fmt: skip
    """Return the sentence in this notebook's language, and the curve as SVG.

    Units: bytes of an element, GiB for KV on each GPU, context in thousands of tokens.
    """
    shape = KvShape(
        name="model", full_layers=layers, window_layers=0, state_layers=0,
        width=2 * kv_heads * head_dim, window_width=0, window=None, kv_heads=kv_heads,
        head_dim=head_dim, kv_bits=8 * element,
    )  # fmt: skip

    def at(tokens: int) -> Any:
        plan = Deployment(tp=tp, kv_memory=gib * GIB, context=tokens)
        return capacity(shape, plan)

    found = at(context * 1024)
    lang = language() or "en"
    said = _SAID.to(lang).format(
        kib=found.bytes_per_token_full / 1024, pool=found.pool_tokens,
        seats=found.max_concurrency, k=context,
    )  # fmt: skip
    points = [(tokens, at(tokens).max_concurrency_exact or 0.0) for tokens in CONTEXTS]
    return said, ceiling_svg(
        points, Words("sequences that fit", "能放几条序列").to(lang), lang
    )


def ceiling() -> widgets.VBox:
    """Return the sliders, the sentence and the curve. It starts at Llama-3-70B, TP8."""
    lang = language() or "en"
    dials = {
        name: widgets.SelectionSlider(
            options=values, value=value, description=label.to(lang),
            continuous_update=False, layout={"width": "420px"},
            style={"description_width": "150px"},
        )
        for name, (values, value, label) in DIALS.items()
    }  # fmt: skip
    said, curve = widgets.HTML(), widgets.HTML()

    def draw(_: object = None) -> None:
        said.value, curve.value = told(**{n: dial.value for n, dial in dials.items()})

    for dial in dials.values():
        dial.observe(draw, "value")
    draw()
    return widgets.VBox([*dials.values(), said, curve])
