"""Article 2, sections 1 to 2.2: why is there an L2, and what starts a copy to it?

0.5.14 throughout; 0.5.23 stands beside it where it differs.
Left out: the copy itself (s2_copy.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...capacity import Deployment, capacity
from ...model_table import known_shape
from ...run.model_shapes import model_shape
from .ledger import Case, Ledger, case
from .scenes import bench, written

LEDGER = Ledger()
claim = LEDGER.claim

A, LONG, B = range(100, 112), range(100, 120), range(200, 212)


# --- 1


@claim(
    "S2-1-1", "01",
    ("Llama-3-8B in bf16: 128 MB of KV for 1K tokens, 16 GB for 128K.",
     "Llama-3-8B（BF16）：每 1K token 约 128MB，128K 就是 16GB。"),
    ("In MiB and GiB exactly.", "按 MiB、GiB 计精确成立。"),
)  # fmt: skip
def eight_b() -> Iterator[Case]:
    """Bytes of 1,024 and of 131,072 tokens."""
    a_token = capacity(known_shape("llama-3-8b"), Deployment()).bytes_per_token_full
    for tokens, said in ((1024, 128 << 20), (131072, 16 << 30)):
        found = a_token * tokens
        yield case(f"{tokens} tokens", found == said, bytes=found)


@claim(
    "S2-1-2", "01",
    ("Its weights take about 16 GB of an H100.", "其权重约占 H100 的 16GB。"),
    ("8.03 billion parameters of two bytes.", "80.3 亿参数，每个 2 字节。"),
)  # fmt: skip
def weights() -> Iterator[Case]:
    """Parameters times bytes."""
    shape = model_shape("llama-3-8b")
    found = shape.weights * shape.weight_bytes / 1e9
    yield case("bf16", abs(found - 16) < 0.5, gigabytes=found)


@claim(
    "S2-1-3", "07",
    ("What is dropped must be prefilled again by the next request with that prefix.",
     "丢弃之后，后续共享该前缀的请求必须重新预填充。"),
    ("As it says.", "如其所言。"),
)  # fmt: skip
def dropped() -> Iterator[Case]:
    """The hit after a drop, on an engine without L2."""
    desk = bench(tree="radix")
    desk.insert(A)
    before = desk.match(A)["device_hit"]
    desk.evict(12)
    after = desk.match(A)["device_hit"]
    yield case("12 tokens", (before, after) == (12, 0), before=before, after=after)


# --- 2.1 when


@claim(
    "S2-2.1-1", "06",
    ("write_through backs a node up at its second access.",
     "write_through：node 被第二次访问时立即备份。"),
    ("At its first insert: that is hit 1, and the threshold is 1. At the second is "
     "write_through_selective.",
     "首次插入就备份：插入本身计 1 次，阈值为 1。第二次才备份的是 "
     "write_through_selective。"),
)  # fmt: skip
def second_access() -> Iterator[Case]:
    """Copies after the first and the second insert, under both policies."""
    for policy in ("write_through", "write_through_selective"):
        desk = bench(write_policy=policy)
        desk.insert(A)
        first = written(desk)
        desk.insert(A)
        yield case(policy, (first, written(desk)) == (0, 1),
                   beside=policy != "write_through", after_first=first,
                   after_second=written(desk))  # fmt: skip


@claim(
    "S2-2.1-2", "06",
    ("write_through_threshold is 1 unless told.", "write_through_threshold 默认 1。"),
    ("For write_through; 2 for the other policies.", "仅 write_through 为 1，"
     "其他策略为 2。"),
)  # fmt: skip
def threshold() -> Iterator[Case]:
    """The default of each policy."""
    for policy in ("write_through", "write_through_selective"):
        desk = bench(write_policy=policy)
        found = desk.trace.header.config.backup_threshold
        yield case(policy, found == 1, threshold=found)


@claim(
    "S2-2.1-3", "06",
    ("write_back writes at the eviction, and not before.",
     "write_back 延迟到被迫逐出时才备份。"),
    ("As it says.", "如其所言。"),
)  # fmt: skip
def at_eviction() -> Iterator[Case]:
    """Copies after three inserts, and after the eviction."""
    desk = bench(write_policy="write_back")
    for _ in range(3):
        desk.insert(A)
    before = written(desk)
    desk.evict(12)
    yield case("three inserts, one eviction", (before, written(desk)) == (0, 1),
               before=before, after=written(desk))  # fmt: skip


# --- 2.2 write_through


@claim(
    "S2-2.2-1", "06",
    ("A match counts the hit: prefill, match_prefix, _inc_hit_count, write_backup.",
     "触发路径：预填充 → match_prefix → _inc_hit_count → write_backup。"),
    ("Only an insert counts. A match may split a node, but never counts.",
     "只有 insert 计数；match 可能分裂节点，但从不计数。"),
)  # fmt: skip
def match_counts() -> Iterator[Case]:
    """The hit count after five matches, and after one insert more."""
    desk = bench(write_policy="write_through_selective")
    desk.insert(A)
    (node,) = (n for n in desk.state.nodes.values() if len(n.tokens) == 12)
    before = node.hit_count
    for _ in range(5):
        desk.match(A)
    matched = desk.state.nodes[node.id].hit_count
    desk.insert(A)
    inserted = desk.state.nodes[node.id].hit_count
    yield case("five matches", matched > before, before=before, after=matched,
               after_one_insert=inserted)  # fmt: skip


@claim(
    "S2-2.2-2", "06",
    ("write_back skips the hit count.", "write_back 直接跳过命中计数。"),
    ("So lfu and slru fall back to recency under it.", "因此 lfu、slru "
     "在其下退化为按时间。"),
)  # fmt: skip
def no_count() -> Iterator[Case]:
    """Hit counts after three inserts under both policies."""
    for policy, said in (("write_back", 0), ("write_through", 3)):
        desk = bench(write_policy=policy)
        for _ in range(3):
            desk.insert(A)
        found = max(n.hit_count for n in desk.state.nodes.values())
        yield case(policy, found == said, hits=found)


@claim(
    "S2-2.2-3", "06",
    ("The middle chunks of a chunked prefill count no hit.",
     "chunked prefill 的中间 chunk 不计命中。"),
    ("So a chunk may stand in the tree without a copy.", "因此 chunk "
     "可能在树上却没有副本。"),
)  # fmt: skip
def chunks() -> Iterator[Case]:
    """Copies after a middle chunk, and after the last."""
    desk = bench()
    desk.insert(A, chunked=True)
    middle = written(desk)
    desk.insert(LONG)
    yield case("middle, then last", middle == 0 and written(desk) > 0,
               after_middle=middle, after_last=written(desk))  # fmt: skip
