"""Article 1, section 2.1: which states has a slot of SGLang's L1, and who counts?

Left out: vLLM's blocks (s1_blocks.py), L2 (s1_tiers.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...record import events as ev
from ...run.script import DecodeOp, RequestStartOp
from ...run.workbench import Workbench
from .ledger import Case, Ledger, case
from .scenes import NEW, OLD, bench, seen

LEDGER = Ledger()
claim = LEDGER.claim

A, B, C = range(100, 112), range(200, 212), range(300, 316)


@claim(
    "S1-2.1-1", "02",
    ("A lock moves its path from evictable to protected at once.",
     "加锁瞬间，路径上的节点从 evictable 迁到 protected。"),
    ("Each node's whole length, root excluded.", "按节点全长计，root 除外。"),
)  # fmt: skip
def lock_moves() -> Iterator[Case]:
    """The account before and after a lock and its unlock."""
    desk = bench(NEW)
    desk.insert(A)
    desk.ack_write()
    before = desk.account()
    desk.lock("reader", A)
    locked = desk.account()
    desk.unlock("reader")
    after = desk.account()
    moved = (before.evictable - locked.evictable, locked.protected - before.protected)
    yield case("lock", moved == (12, 12), evictable=-moved[0], protected=moved[1])
    yield case("unlock", after == before, evictable=after.evictable)


def _decode_three(desk: Workbench, id: str) -> None:
    desk.do(RequestStartOp(id, list(B), max_new=8, first_out=900))
    desk.ack_write()
    for token in (901, 902, 903):
        desk.do(DecodeOp(id, token))


@claim(
    "S1-2.1-2", "02",
    ("total = protected + evictable + available.",
     "total = protected + evictable + available。"),
    ("Only while no request runs. What a request holds outside the tree (decoded "
     "tokens, a part of a page, a running chunk) is a term of its own.",
     "仅当没有请求在跑。请求在树外持有的槽位（解码出的 token、不满一页、进行中的 "
     "chunk）另成一项。"),
)  # fmt: skip
def three_terms() -> Iterator[Case]:
    """The three terms against the total: at rest, and three decode steps in."""
    desk = bench(NEW)
    desk.insert(A)
    desk.ack_write()
    for name in ("nobody runs", "three decode steps in"):
        now = desk.account()
        three = now.protected + now.evictable + now.available
        yield case(name, three == now.total, three=three, held=now.held,
                   total=now.total)  # fmt: skip
        _decode_three(desk, name)


@claim(
    "S1-2.1-3", "02",
    ("protected_size is the `used` of the three states.",
     "protected_size 就是三态里的 used。"),
    ("used is protected and held: what decode has written is used, and nobody's lock.",
     "used = protected + held：解码写下的槽位算 used，却不受任何锁保护。"),
)  # fmt: skip
def protected_is_used() -> Iterator[Case]:
    """num_used against protected, at rest and after three decode steps."""
    desk = bench(NEW)
    for name in ("nobody runs", "three decode steps in"):
        now = desk.account()
        used = now.total - now.available - now.evictable
        yield case(name, used == now.protected, used=used, protected=now.protected)
        _decode_three(desk, name)


@claim(
    "S1-2.1-4", "02",
    ("token_usage = (total - available - evictable) / total.",
     "token_usage = (total − available − evictable) / total。"),
    ("So a pool full of cache reads 0: usage counts what cannot be cleared.",
     "因此塞满缓存的池子读数为 0：usage 只计清不掉的部分。"),
)  # fmt: skip
def token_usage() -> Iterator[Case]:
    """A pool full of cache, and the same with a reader on a part of it."""
    desk = bench(NEW, pool_tokens=40, host_tokens=64)
    for leaf in (A, B, C):
        desk.insert(leaf)
    desk.ack_write()
    for name, said in (("full of cache", 0.0), ("16 of 40 locked", 0.4)):
        now = desk.account()
        usage = (now.total - now.available - now.evictable) / now.total
        yield case(name, usage == said, usage=usage, available=now.available)
        desk.lock("reader", C)


@claim(
    "S1-2.1-5", "04",
    ("Eviction frees exactly the shortfall: need minus available.",
     "正好逐出 shortfall = 需求 − available。"),
    ("0.5.23 asks for the shortfall, 0.5.14 for the whole need; both take whole "
     "leaves, so it is exact only by luck.",
     "0.5.23 按缺口要，0.5.14 按全部需求要；两者都整叶逐出，恰好相等只是碰巧。"),
)  # fmt: skip
def exactly_the_shortfall() -> Iterator[Case]:
    """Room for 14 with 4 available: leaves of 12 tokens, then leaves of 10."""
    for name, rules, size in (
        ("leaves of 10", NEW, 10), ("leaves of 12", NEW, 12), ("0.5.14", OLD, 12),
    ):  # fmt: skip
        desk = bench(rules, pool_tokens=3 * size + 4, host_tokens=128)
        for start in (100, 200, 300):
            desk.insert(range(start, start + size))
        desk.ack_write()
        desk.insert(range(400, 414))
        freed = sum(e.freed for e in seen(desk, ev.Evicted) if e.tier == "L1")
        beside = rules is OLD
        yield case(name, freed == 10, beside=beside, shortfall=10, freed=freed)


@claim(
    "S1-2.1-6", "04",
    ("There is no waterline: nothing is evicted before something is missing.",
     "没有水位线：缺多少才逐多少。"),
    ("The pool may stand at 100 %.", "池子可以停在 100 %。"),
)  # fmt: skip
def no_watermark() -> Iterator[Case]:
    """Evictions while the pool fills to the last slot, and at one token more."""
    for name, size, evictions in (("to the last slot", 16, 0), ("one more", 17, 1)):
        desk = bench(NEW, pool_tokens=40, host_tokens=64)
        for leaf in (A, B, range(300, 300 + size)):
            desk.insert(leaf)
            desk.ack_write()
        found = len(seen(desk, ev.MakeRoom)) and len(seen(desk, ev.Evict))
        yield case(name, found == evictions, evictions=found,
                   available=desk.account().available)  # fmt: skip
