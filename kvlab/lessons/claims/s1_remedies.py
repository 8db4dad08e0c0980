"""Article 1, section 5 and the checklist: what brings P99 down?

Left out: why it rises (s1_timeline.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...cache.eviction import STRATEGIES
from ...record import events as ev
from .ledger import Case, Ledger, case
from .scenes import (
    NEW,
    bench,
    collapse,
    mean,
    p99,
    seen,
    tiers,
)  # fmt: skip

LEDGER = Ledger()
claim = LEDGER.claim


# --- when L2 helps


@claim(
    "S1-5.6-1", "09",
    ("L2 pays where prefixes are shared; a batch that shares nothing gains nothing.",
     "L2 在共享前缀比例高的负载才派上用场；互不共享的新请求，L1 该满还是满。"),
    ("Where nothing is shared it even costs: what a leaver has written is locked until "
     "its copy is seen done; who is refused meanwhile waits for the next to leave.",
     "互不共享时甚至要付代价：刚离开的请求写下的 KV 锁到引擎看到拷贝完成为止，"
     "这期间被拒绝的要等下一个离开。"),
)  # fmt: skip
def where_it_pays() -> Iterator[Case]:
    """Mean TTFT with and without L2: 90 % shared, and nothing shared."""
    for name, share in (("90 % shared", 0.9), ("nothing shared", 0.0)):
        without, with_l2 = (mean(tiers(share, host)) for host in (0, 655_360))
        better = with_l2 < 0.9 * without
        yield case(name, better == (share > 0), mean_without_s=without,
                   mean_with_l2_s=with_l2)  # fmt: skip


@claim(
    "S1-5.6-2", "09",
    ("L2 mends the hit rate only; do not expect it to save P99.",
     "L2 / HiCache / LMCache 只解决命中率，别拿它救 P99。"),
    ("With a shared prefix and a link that keeps up it does: guests leave sooner. "
     "Without sharing it saves nothing, and on a slow link it harms.",
     "有共享前缀且链路跟得上时确实能救：客人走得更快。没有共享则救不了，"
     "链路太慢反而更糟。"),
)  # fmt: skip
def saves_p99() -> Iterator[Case]:
    """P99 of TTFT with and without L2, in three situations."""
    for name, share, link in (
        ("shared, 50 GB/s", 0.9, 50e9), ("nothing shared", 0.0, 50e9),
        ("shared, 0.5 GB/s", 0.9, 0.5e9),
    ):  # fmt: skip
        without, with_l2 = p99(tiers(share, 0)), p99(tiers(share, 655_360, link=link))
        yield case(name, with_l2 > 0.95 * without, p99_without_s=without,
                   p99_with_l2_s=with_l2)  # fmt: skip


# --- the checklist


@claim(
    "S1-5.7-1", "11",
    ("A high hit rate with a bad P99 proves a problem of concurrency, not of the "
     "cache.",
     "命中率高而 P99 差，坐实是并发账问题，不是缓存账问题。"),
    ("Not if the hits come over a slow link: then they are the problem.",
     "如果命中来自慢链路则不然：慢的正是这些命中。"),
)  # fmt: skip
def hits_and_p99() -> Iterator[Case]:
    """Which mends it more, twice the L1 or a link a hundred times as fast?"""
    for name, rate, link in (("crowded", 3.0, 50e9), ("0.5 GB/s", 1.1, 0.5e9)):
        now = tiers(0.9, 655_360, rate=rate, link=link)
        more_l1 = p99(tiers(0.9, 655_360, rate=rate, link=link, pool=131_072))
        faster = p99(tiers(0.9, 655_360, rate=rate, link=100 * link))
        hits = now.device_hit_tokens + now.host_hit_tokens
        yield case(name, more_l1 < faster, hit_rate=hits / now.input_tokens,
                   p99_s=p99(now), with_twice_l1_s=more_l1,
                   with_faster_link_s=faster)  # fmt: skip


@claim(
    "S1-5.7-2", "09",
    ("Three prescriptions bring P99 down: fewer bytes a token, more L1, admission "
     "control.",
     "处方三条：降每 token 体积、加 L1、准入控制。"),
    ("All three, and twice the L2 does not.", "三条都有效，L2 翻倍无效。"),
)  # fmt: skip
def prescriptions() -> Iterator[Case]:
    """P99 under each prescription against the title's run."""
    base = collapse("write_back").p99
    for name in ("half the KV", "twice the L1", "queue of 8 at most"):
        found = collapse(name).p99
        yield case(name, found < 0.5 * base, p99_before_s=base, p99_after_s=found)
    found = collapse("twice the L2").p99
    yield case("twice the L2", found < 0.98 * base, beside=True, p99_before_s=base,
               p99_after_s=found)  # fmt: skip


@claim(
    "S1-6.0-1", "04",
    ("SGLang's eviction heap supports several strategies, LRU and LFU among them.",
     "SGLang 的 eviction heap 支持 LRU/LFU 等多种策略。"),
    ("Seven in 0.5.14's class, four of them on the command line. 0.5.23 adds tlru, "
     "which kvlab does not have.",
     "0.5.14 的类里有 7 种，命令行可选 4 种；0.5.23 另加 tlru，kvlab 没有。"),
)  # fmt: skip
def strategies() -> Iterator[Case]:
    """The first victim of one history under each of two."""
    victims: list[int] = []
    for policy in ("lru", "lfu"):
        desk = bench(NEW, eviction_policy=policy)
        for _ in range(2):
            desk.insert(range(100, 112))
        desk.insert(range(200, 212))
        desk.ack_write()
        desk.evict(1)
        victims.append(seen(desk, ev.Victim)[0].node)
    yield case("lru and lfu differ", victims[0] != victims[1],
               strategies=len(STRATEGIES), lru=victims[0], lfu=victims[1])  # fmt: skip


LEDGER.unmodelled(
    "S1-6.0-2", "08",
    ("Pools with sliding windows or hybrid layers keep two accounts; vLLM's hisparse "
     "has a tier of its own.",
     "SWA/hybrid 池有 full/swa 双侧记账，hisparse 有专用分层。"),
    ("kvlab models one pool of full attention; `kvlab capacity` knows the bytes of the "
     "others.",
     "kvlab 只建模全注意力的单池；其他模型的字节数由 `kvlab capacity` 计算。"),
)  # fmt: skip
