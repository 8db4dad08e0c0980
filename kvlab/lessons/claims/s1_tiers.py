"""Article 1, sections 4 and 4.1: what does L2 do for L1 when something is evicted?

Left out: the way back (s1_loads.py), each operation of its own (s2_*.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...config import EngineConfig
from ...record import events as ev
from .ledger import Case, Ledger, case
from .scenes import NEW, OLD, bench, seen

LEDGER = Ledger()
claim = LEDGER.claim

A, B = range(100, 112), range(200, 212)

LEDGER.unmodelled(
    "S1-4.0-1", "08",
    ("There is an L3 below: distributed storage.", "下面还有 L3：分布式存储。"),
    ("kvlab has one device pool and one host pool; no recorded state covers L3.",
     "kvlab 只有一个 device 池和一个 host 池，录制的状态也不含 L3。"),
)  # fmt: skip
LEDGER.unmodelled(
    "S1-4.0-2", "08",
    ("vLLM's counterparts are OffloadingConnector, SimpleCPUOffloadConnector and "
     "LMCacheConnectorV1.",
     "vLLM 侧对应 OffloadingConnector、SimpleCPUOffloadConnector、"
     "LMCacheConnectorV1。"),
    ("Of these kvlab plays SimpleCPUOffloadConnector as recorded, "
     "OffloadingConnector by its source alone, and LMCache, a project of its own, not "
     "at all.",
     "其中 kvlab 按录制重放 SimpleCPUOffloadConnector，OffloadingConnector 只依据源码，"
     "LMCache 是独立项目，没有建模。"),
)  # fmt: skip


@claim(
    "S1-4.1-1", "07",
    ("Under write_back an eviction becomes a demotion: first the copy to L2, then the "
     "slots of L1.",
     "write_back 下逐出变成降级：先备份到 L2，再释放 L1。"),
    ("In both releases the device slots wait for the copy.",
     "两个版本里 device 槽位都要等拷贝完成。"),
)  # fmt: skip
def write_back_demotes() -> Iterator[Case]:
    """The order of Backup, BackupDone and Demote in one eviction."""
    for rules in (NEW, OLD):
        desk = bench(rules, write_policy="write_back")
        desk.insert(A)
        desk.evict(12)
        kinds = [type(e) for e in desk.trace.events]
        order = [kinds.index(k) for k in (ev.Backup, ev.BackupDone, ev.Demote)]
        yield case(
            rules.name, order == sorted(order) and desk.match(A)["host_hit"] == 12,
            beside=rules is OLD, host_hit=desk.match(A)["host_hit"],
        )  # fmt: skip


@claim(
    "S1-4.1-2", "07",
    ("It takes write_back for an eviction to lose nothing.",
     "逐出不丢缓存，靠的是 write_back 策略。"),
    ("Under write_through the copy is there already: the same demotion, without a "
     "copy.",
     "write_through 下副本早已写好：同样是降级，而且无需拷贝。"),
)  # fmt: skip
def only_write_back() -> Iterator[Case]:
    """What can be had from L2 after the eviction, under each policy."""
    for policy in ("write_back", "write_through"):
        desk = bench(NEW, write_policy=policy)
        desk.insert(A)
        desk.ack_write()
        copies = len(seen(desk, ev.Backup))
        desk.evict(12)
        hit = desk.match(A)["host_hit"]
        copied = len(seen(desk, ev.Backup)) - copies
        yield case(policy, (hit == 12) == (policy == "write_back"), host_hit=hit,
                   copies_at_the_eviction=copied)  # fmt: skip


@claim(
    "S1-4.1-3", "07",
    ("Without L2 an eviction is the end of the prefix: it must be computed again.",
     "没有 L2 时，逐出意味着缓存作废，前缀要整段重算。"),
    ("As it says.", "如其所言。"),
)  # fmt: skip
def without_l2() -> Iterator[Case]:
    """The hit after an eviction, without and with L2."""
    for name, tree, kept in (("no L2", "radix", 0), ("L2", "hiradix", 12)):
        desk = bench(NEW, tree=tree)
        desk.insert(A)
        if tree == "hiradix":
            desk.ack_write()
        desk.evict(12)
        found = desk.match(A)
        hit = found["device_hit"] + found["host_hit"]
        yield case(name, hit == kept, hit_tokens=hit)


@claim(
    "S1-4.1-4", "06",
    ("hicache_ratio is 2.0 unless told.", "hicache_ratio 默认 2.0。"),
    ("And one page more than twice: SGLang always adds one.",
     "实际还会多一页：SGLang 总是加一页。"),
)  # fmt: skip
def default_ratio() -> Iterator[Case]:
    """L2's tokens of an engine of 64 with no option set."""
    config = EngineConfig(pool_tokens=64)
    found = config.host_pages * config.page_size
    yield case("64 tokens of L1", config.hicache_ratio == 2.0 and found == 129,
               ratio=config.hicache_ratio, host_tokens=found)  # fmt: skip


@claim(
    "S1-4.1-5", "06",
    ("A backup does not touch L1's ledger.", "备份不占 L1 的记账。"),
    ("Once it is acknowledged. Until then write_through locks the path: its tokens are "
     "protected, and cannot be cleared.",
     "要等 ack 之后。在途期间 write_through 会锁住路径：这些 token 是 protected，"
     "清不掉。"),
)  # fmt: skip
def backup_and_l1() -> Iterator[Case]:
    """The account of L1 while the copy is under way, and after."""
    desk = bench(NEW)
    desk.insert(A)
    for name in ("under way", "acknowledged"):
        now = desk.account()
        yield case(name, now.protected == 0, protected=now.protected,
                   evictable=now.evictable)  # fmt: skip
        desk.ack_write()


@claim(
    "S1-4.1-6", "06",
    ("The size of L2 makes L1's available neither larger nor smaller.",
     "L2 空间的大小不会让 L1 的 available_size 变大或变小。"),
    ("The same requests, ten times the L2: the same account at every step.",
     "同样的请求、十倍的 L2：每一步的账都相同。"),
)  # fmt: skip
def l2_size() -> Iterator[Case]:
    """L1's account after each of seven operations, L2 of 65 and of 650."""
    accounts = []
    for host in (65, 650):
        desk = bench(NEW, host_tokens=host)
        told = []
        for start in range(100, 800, 100):
            desk.insert(range(start, start + 16))
            desk.ack_write()
            told.append(desk.account())
        accounts.append(told)
    yield case("seven inserts of 16 into 64", accounts[0] == accounts[1],
               available=accounts[0][-1].available,
               with_ten_times_l2=accounts[1][-1].available)  # fmt: skip
