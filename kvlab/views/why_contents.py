"""Which rules do the cards of a comparison of contents show?

Left out: what the engine itself decides (why_cache.py, why_schedule.py).
"""

from __future__ import annotations

from .theme import Words
from .why import BarOf, Own, Test, Why

# fmt: off
_COMPARED = Why(
    "yes",
    Words("Every settled slot is compared with the fingerprint of the prefix that ends "
          "there; copies under way are left out.",
          "凡已落定的槽位，都与以它结尾的前缀的指纹核对；拷贝途中的不查。"),
    (Test(("slots − wrong = right",)), Test(("wrong",), "wrong <= 0")),
    (BarOf(Words("slots", "槽位"), ("right", "wrong")),),
    own=Own("run", "check", "self._compare(part)"))
_WRONG = Why(
    "lost",
    Words("Whoever reads this slot gets the KV of another prefix, and no error.",
          "谁读这个槽位，就会拿到别的前缀的 KV，而且不会报错。"),
    (Test(("slot", "at", "by")), Test(("expected", "found"))),
    own=Own("run", "_compare", "there != held.prints"))

CONTENT_WHYS: dict[str, Why] = {
    "compared": _COMPARED,
    "compared wrong": _COMPARED._replace(sign="lost"),
    "wrong": _WRONG,
}
# fmt: on
