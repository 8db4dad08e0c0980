"""Article 1, section 5: what does a full L1 do to TTFT, and how full is L2 then?

Left out: what helps (s1_remedies.py), the metrics by name (s1_metrics.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import accumulate, repeat

from ...run.block_script import RequestSpec
from ...run.generators import poisson, shared_system, unique
from ...run.parts import Part
from ...run.tallies import Tallies
from ..stages import Blocks
from .ledger import Case, Ledger, case
from .scenes import (
    SECOND,
    collapse,
    mean,
    p99,
    serve,
)  # fmt: skip

LEDGER = Ledger()
claim = LEDGER.claim


# --- what it does to TTFT


@claim(
    "S1-5.4-1", "10",
    ("Recomputation after a retraction flows into TTFT.",
     "retract 之后的重算延迟落进 TTFT。"),
    ("In SGLang never into the victim's: it retracts only who has begun to answer, so "
     "it shows between two tokens. vLLM may preempt in the midst of a prefill.",
     "SGLang 里不会进入被撤回请求自己的 TTFT：只撤回已开始回答的，重算表现为 token 间延"
     "迟。vLLM 则可能在预填充半途抢占。"),
)  # fmt: skip
def into_ttft() -> Iterator[Case]:
    """Recompute time of a run's victims; a preemption before the first token."""
    tallies = crowded()
    victims = [r for r in tallies.done if r.retracted]
    again = sum(r.part(Part.RECOMPUTE) for r in victims)
    before = (Part.QUEUE, Part.LOAD, Part.PREFILL)
    into = sum((r.ttft or 0) != sum(map(r.part, before)) for r in victims)
    yield case("SGLang's victims", into > 0, victims=len(victims),
               recompute_s=again / SECOND, ttft_with_recompute=into)  # fmt: skip
    engine = Blocks(
        RequestSpec("old", list(range(20)), out=30),
        RequestSpec("young", list(range(100, 134)), out=3, arrival=1),
        max_num_batched_tokens=20, long_prefill_token_threshold=4,
    )  # fmt: skip
    records = engine.run()
    lost = next(r for r in records if r["preempted"] == ["young"])
    first = next(r["step"] for r in records if "young" in r["sampled"])
    yield case("vLLM, in the midst of a prefill", lost["step"] < first,
               preempted_at_step=lost["step"], first_token_at_step=first,
               computed_before=lost["preempted_computed"][0])  # fmt: skip


@cache
def crowded() -> Tallies:
    """Return a run on a clock with retractions and a queue."""
    asks = unique(60, poisson(6.0), length=300, outputs=400)
    return serve(asks, pool_tokens=4000, chunked_prefill_size=1024)


@claim(
    "S1-5.4-2", "09",
    ("The mean is protected, P99 is dragged away by queue and retraction.",
     "均值被缓存命中保护着，P99 被排队与撤回拖着。"),
    ("Where most prompts hit. Where nothing is shared the mean collapses with it.",
     "多数请求命中时如此；没有共享时均值一起崩。"),
)  # fmt: skip
def mean_protected() -> Iterator[Case]:
    """Mean against P99 of TTFT: nothing shared, and most requests in a lull."""
    for name, tallies in (
        ("nothing shared", crowded()),
        ("a burst in a lull", _burst()),
    ):
        yield case(name, p99(tallies) > 10 * mean(tallies), mean_s=mean(tallies),
                   p99_s=p99(tallies))  # fmt: skip


def _burst() -> Tallies:
    """Return a calm run of cached prompts with one burst of twenty in its middle."""
    gaps = [*repeat(SECOND, 200), *repeat(0, 20), *repeat(SECOND, 200)]
    asks = shared_system(
        400, iter(accumulate(gaps)), length=400, outputs=60, share=0.95,
    )  # fmt: skip
    return serve(asks, pool_tokens=700)


@claim(
    "S1-5.5-1", "09",
    ("L2 is empty all along.", "全程 L2 空着。"),
    ("It depends on the write policy: write_through has filled half of it when P99 "
     "collapses, and all of it later.",
     "取决于写策略：write_through 在 P99 崩溃时已写满约一半，之后更多。"),
)  # fmt: skip
def empty_throughout() -> Iterator[Case]:
    """L2's fill at the collapse under each policy."""
    for name in ("write_back", "write_through", "selective"):
        fill = collapse(name).l2_fill
        yield case(name, fill < 0.25, l2_fill=fill)
