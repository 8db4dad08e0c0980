"""Article 1, title and section 1.1: what decides how many requests run at once?

Left out: how one is admitted (s1_admission.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

from ...capacity import GIB, Capacity, Deployment, capacity
from ...model_table import known_shape
from ...run.accelerators import accelerator
from ...run.cost import Cost, Factors
from ...run.generators import shared_system, unique
from ...run.model_shapes import model_shape
from ..title_collapse import SETTINGS
from .ledger import Case, Ledger, case
from .scenes import collapse, serve

LEDGER = Ledger()
claim = LEDGER.claim

LLAMA, DEEPSEEK = "llama-3-70b", "deepseek-v3"


def _fits(model: str, context: int = 32768, tp: int = 1) -> Capacity:
    plan = Deployment(tp=tp, kv_memory=60 * GIB, context=context)
    return capacity(known_shape(model), plan)


# --- the title


@claim(
    "S1-0-1", "09",
    ("P99 TTFT can collapse while L2 is still more than half empty.",
     "L2 还空着一大半时，P99 TTFT 就可能先崩。"),
    ("Under write_back and selective L2 is nearly empty then. write_through fills it "
     "from the first insert on: it is about half full when P99 collapses.",
     "write_back 与 selective 下此刻 L2 几乎是空的；write_through 从首次插入就开始写 "
     "L2，P99 崩溃时已约半满。"),
)  # fmt: skip
def title() -> Iterator[Case]:
    """The ramp of title_collapse under each write policy, three seeds each."""
    for setting in SETTINGS[:3]:
        found = [collapse(setting.name, seed) for seed in range(3)]
        fills = [each.l2_fill for each in found]
        collapsed = all(each.collapse_at is not None for each in found)
        yield case(
            setting.name, collapsed and sum(fills) / 3 < 0.5,
            calm_p99_s=found[0].calm_p99, worst_p99_s=found[0].worst_p99,
            l2_fill_least=min(fills), l2_fill_most=max(fills),
        )  # fmt: skip


@claim(
    "S1-0-2", "09",
    ("Concurrency is booked in L1's ledger; L2 only books cache.",
     "并发记在 L1 的账本上，L2 只记缓存的账。"),
    ("Twice the L2 changes nothing, twice the L1 doubles what runs.",
     "L2 翻倍毫无变化，L1 翻倍，并发也翻倍。"),
)  # fmt: skip
def ledger_of_concurrency() -> Iterator[Case]:
    """Peak running requests with twice the L2, and with twice the L1."""
    base, more_l2 = collapse("write_back"), collapse("twice the L2")
    more_l1 = collapse("twice the L1")
    yield case(
        "twice the L2", more_l2.peak_running == base.peak_running,
        before=base.peak_running, after=more_l2.peak_running,
    )  # fmt: skip
    yield case(
        "twice the L1", more_l1.peak_running > 1.9 * base.peak_running,
        before=base.peak_running, after=more_l1.peak_running,
    )  # fmt: skip


# --- 1.1 the formula


@claim(
    "S1-1.1-1", "01",
    ("KV of a token = 2 x layers x KV heads x head_dim x bytes of the type.",
     "每 token KV = 2 × 层数 × KV head 数 × head_dim × 字节数。"),
    ("For MHA and GQA. An MLA latent has neither the 2 nor the heads.",
     "适用于 MHA/GQA；MLA 的 latent 既没有 2，也没有 head 数。"),
)  # fmt: skip
def formula() -> Iterator[Case]:
    """The formula against the bytes that a pool of the model takes."""
    for model, layers, heads, dim in (
        (LLAMA, 80, 8, 128), ("llama-3-8b", 32, 8, 128), (DEEPSEEK, 61, 128, 128),
    ):  # fmt: skip
        said, found = 2 * layers * heads * dim * 2, _fits(model).bytes_per_token_full
        yield case(model, said == found, formula=said, pool=found)


@claim(
    "S1-1.1-2", "01",
    ("Llama-3-70B in bf16 takes 320 KiB a token.",
     "Llama-3-70B（bf16）每 token 320 KiB。"),
    ("Exactly.", "精确成立。"),
)  # fmt: skip
def llama_bytes() -> Iterator[Case]:
    """Bytes of a token, all GPUs together."""
    found = _fits(LLAMA).bytes_per_token_full
    yield case("bf16", found == 320 * 1024, bytes=found)


@claim(
    "S1-1.1-3", "01",
    ("60 GiB hold about 190,000 of its tokens.", "60 GiB 约能放 19 万 token。"),
    ("196,608.", "196,608。"),
)  # fmt: skip
def llama_pool() -> Iterator[Case]:
    """Tokens in 60 GiB."""
    found = _fits(LLAMA).pool_tokens or 0
    yield case("60 GiB", abs(found - 190_000) < 10_000, tokens=found)


@claim(
    "S1-1.1-4", "01",
    ("TP8 multiplies the pool by eight: 1.57 M tokens.",
     "TP8 把池子放大 8 倍：157 万 token。"),
    ("With eight KV heads or a multiple. Plain TP gives every GPU the whole MLA "
     "latent, and fewer heads than ranks are copied.",
     "仅当 KV head 数是 8 的倍数。普通 TP 下每张卡都存整份 MLA latent；head "
     "少于卡数时要存多份。"),
)  # fmt: skip
def tensor_parallel() -> Iterator[Case]:
    """Pool tokens on eight GPUs against one."""
    for model in (LLAMA, DEEPSEEK, "qwen2.5-7b"):
        one, eight = (_fits(model, tp=tp).pool_tokens or 0 for tp in (1, 8))
        yield case(model, eight == 8 * one, one=one, eight=eight)


@claim(
    "S1-1.1-5", "01",
    ("That is 48 requests of 32K, or 12 of 128K.",
     "折合 32K 上下文 48 路，128K 只剩 12 路。"),
    ("Exactly.", "精确成立。"),
)  # fmt: skip
def seats() -> Iterator[Case]:
    """Sequences that fit at both lengths, on eight GPUs."""
    for context, said in ((32768, 48), (131072, 12)):
        found = _fits(LLAMA, context, tp=8).max_concurrency or 0
        yield case(f"{context // 1024}K", found == said, said=said, found=found)


@claim(
    "S1-1.1-6", "01",
    ("Twice the context, half the concurrency.", "上下文翻倍，并发减半。"),
    ("Where every layer keeps the whole context. Layers with a window keep only that.",
     "前提是每层都保留全部上下文；滑动窗口层只保留窗口。"),
)  # fmt: skip
def halving() -> Iterator[Case]:
    """Sequences at 64K against 32K, without and with window layers."""
    for model in (LLAMA, DEEPSEEK, "gemma-3-27b"):
        short, long = (
            _fits(model, at, tp=8).max_concurrency_exact or 0 for at in (32768, 65536)
        )
        half = abs(2 * long - short) < 0.01
        yield case(model, half, at_32k=f"{short:.2f}", at_64k=f"{long:.2f}")


@claim(
    "S1-1.1-7", "01",
    ("DeepSeek-V3's latent of 576 elements over 61 layers: 68.6 KiB a token.",
     "DeepSeek-V3：576 元素 latent × 61 层，每 token 68.6 KiB。"),
    ("68.625 KiB.", "68.625 KiB。"),
)  # fmt: skip
def latent() -> Iterator[Case]:
    """Bytes of a token."""
    found = _fits(DEEPSEEK).bytes_per_token_full
    yield case("bf16", round(found / 1024, 1) == 68.6, bytes=found)


@claim(
    "S1-1.1-8", "01",
    ("One of its requests of 128K takes about 9 GB.", "它的一个 128K 请求约 9 GB。"),
    ("8.6 GiB, which is 9.2 GB.", "8.6 GiB，即 9.2 GB。"),
)  # fmt: skip
def long_request() -> Iterator[Case]:
    """Bytes of 131,072 tokens."""
    found = _fits(DEEPSEEK).bytes_per_token_full * 131072
    yield case("131,072 tokens", abs(found / 1e9 - 9) < 0.5, bytes=found)


@claim(
    "S1-1.1-9", "01",
    ("Concurrency is at most pool tokens over mean sequence length.",
     "并发数 ≤ 池子 token 数 ÷ 平均序列长度。"),
    ("Where nothing is shared. A shared prefix lies in the pool once and counts in "
     "every sequence, so more can run.",
     "前提是没有共享。共享前缀在池中只占一份，却算进每条序列的长度，因此能跑得更多。"),
)  # fmt: skip
def ceiling() -> Iterator[Case]:
    """Peak running against the quotient: nothing shared, then nine tenths shared."""
    for name, share in (("nothing shared", 0.0), ("90 % shared", 0.9)):
        asks = shared_system(
            40, repeat(0), length=1000, outputs=64, share=share
        )  # fmt: skip
        tallies = serve(asks, pool_tokens=10_000)
        bound = 10_000 / 1064
        yield case(
            name, tallies.peak_running <= bound, bound=bound,
            peak_running=tallies.peak_running,
        )  # fmt: skip


@claim(
    "S1-1.1-10", "11",
    ("The pool is the only hard limit of concurrency.", "KV Pool 是并发唯一的硬约束。"),
    ("max_running_requests (vLLM: max_num_seqs) is another, and looks alike from the "
     "queue alone.",
     "max_running_requests（vLLM 为 max_num_seqs）是另一个；只看队列两者无从区分。"),
)  # fmt: skip
def only_limit() -> Iterator[Case]:
    """Peak running in a roomy pool, without and with a cap."""
    for name, cap in (("no cap", None), ("capped at 4", 4)):
        asks = unique(40, repeat(0), length=1000, outputs=64)
        tallies = serve(asks, pool_tokens=20_000, max_running=cap)
        filled = tallies.peak_running * 1064 > 0.8 * 20_000
        yield case(name, filled, peak_running=tallies.peak_running, pool=20_000)


@claim(
    "S1-1.1-11", "01",
    ("Short of compute a request runs slowly; short of pool it does not get in.",
     "算力不够，请求可以慢慢跑；Pool 装不下，请求进不来。"),
    ("A tenth of the compute takes longer and runs no fewer at once; half the pool "
     "runs fewer.",
     "算力只剩一成，时间变长，同时运行的不减；池子减半，同时运行的变少。"),
)  # fmt: skip
def slow_or_out() -> Iterator[Case]:
    """Forty unique prompts all at once, with a tenth of the compute, with half the
    pool."""
    weak = Cost(
        model_shape("llama-3-70b"), accelerator("h100"), tp=8, link_rate=50e9,
        factors=Factors(prefill_flops=0.065, attention_flops=0.045),
    )  # fmt: skip
    asks = list(unique(40, repeat(0), length=900, outputs=100))
    plain = serve(asks, pool_tokens=20_000)
    slow = serve(asks, pool_tokens=20_000, cost=weak)
    small = serve(asks, pool_tokens=10_000)
    longer = max(r.end for r in slow.done) / max(r.end for r in plain.done)
    yield case("a tenth of the compute",
               longer > 1 and slow.peak_running >= plain.peak_running,
               times_as_long=longer, peak_running=slow.peak_running,
               peak_before=plain.peak_running)  # fmt: skip
    yield case("half the pool", small.peak_running < plain.peak_running,
               peak_running=small.peak_running,
               peak_before=plain.peak_running)  # fmt: skip
