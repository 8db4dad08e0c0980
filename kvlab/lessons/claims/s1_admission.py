"""Article 1, section 1.2: how is a request admitted?

Two engines, two budget lines, one counter that both read.
Left out: what the states of a slot are (s1_states.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from ...block_config import BlockConfig
from ...record import block_events as be
from ...record import events as ev
from ...run.accelerators import accelerator
from ...run.block_script import RequestSpec
from ...run.model_shapes import model_shape
from ...run.startup import start_up
from ...schedule.token_ratio import NewTokenRatio, estimate
from ..stages import Blocks
from .ledger import Case, Ledger, case
from .scenes import NEW, bench, new, prefill, seen

LEDGER = Ledger()
claim = LEDGER.claim


LLAMA = "llama-3-70b"


# --- 1.2 two budget lines


def _asks(number: int, size: int) -> list[RequestSpec]:
    starts = count(0, 1000)
    return [
        RequestSpec(f"r{i}", list(range(at, at + size)), out=4)
        for i, at in zip(range(number), starts, strict=False)
    ]


@claim(
    "S1-1.2-1", "05",
    ("vLLM admits by three lines: token budget, sequences, allocate_slots.",
     "vLLM 按三条线准入：token 预算、并发条数、allocate_slots。"),
    ("Each of the three does stop requests, but a fourth does too: the whole prompt "
     "must fit, not only the chunk (scheduler_reserve_full_isl); and a step that "
     "preempted admits nobody.",
     "三条线都会拦人，但还有第四条：整个 prompt 要放得下，而不只是这一块"
     "（scheduler_reserve_full_isl）；发生过抢占的一步也不准入任何人。"),
)  # fmt: skip
def three_lines() -> Iterator[Case]:
    """How many of four requests the first step takes, under each limit alone."""
    limits = (
        ("token budget", {"max_num_batched_tokens": 20}, 2),
        ("sequences", {"max_num_seqs": 3}, 3),
        ("blocks", {"num_gpu_blocks": 12}, 2),
    )
    for name, knob, least in limits:
        knobs: dict[str, Any] = {"num_gpu_blocks": 64} | knob
        engine = Blocks(*_asks(4, 16), **knobs)
        taken = len(engine.step()["admitted"])
        yield case(name, taken == least, admitted=taken, of=4)
    engine = Blocks(*_asks(1, 60), num_gpu_blocks=12, max_num_batched_tokens=16)
    taken = len(engine.step()["admitted"])
    stopped = [slots for slots in engine.seen(be.Slots) if not slots.fits]
    yield case(
        "a first chunk that all three allow", taken == 1, admitted=taken,
        line=stopped[0].line if stopped else "none",
    )  # fmt: skip


@claim(
    "S1-1.2-2", "05",
    ("vLLM's num_gpu_blocks is fixed at start: what a profile run leaves, over the "
     "bytes of a block.",
     "vLLM 的 num_gpu_blocks 启动时定死：profile 之后剩下的显存 ÷ 每块字节数。"),
    ("The quotient is exact; what the profile takes is an estimate here, not measured.",
     "除法是精确的；profile 占用在这里是估计值，没有实测。"),
)  # fmt: skip
def profile() -> Iterator[Case]:
    """The start-up plan: what is left, over the bytes of a block of 16 on a GPU."""
    plan = start_up(model_shape(LLAMA), accelerator("h100"), engine="vllm", tp=8)
    per_gpu = 320 * 1024 // 8
    seen = plan.memory - plan.driver // 2
    left = int(seen * plan.fraction) - plan.weights - plan.activations
    blocks = left // (16 * per_gpu)
    yield case(
        "TP8 on H100", blocks == plan.pool_tokens // 16, left_bytes=left, blocks=blocks,
        pool_tokens=plan.pool_tokens,
    )  # fmt: skip


@claim(
    "S1-1.2-3", "03",
    ("vLLM's block_size is 16 unless told.", "vLLM 的 block_size 默认 16。"),
    ("As the recorded 0.33.0 states have it.", "与录制的 0.33.0 状态一致。"),
)  # fmt: skip
def block_size() -> Iterator[Case]:
    """Blocks that 33 tokens take in an engine with no option set."""
    untold = BlockConfig().block_size
    engine = Blocks(RequestSpec("a", list(range(33)), out=1), block_size=untold)
    engine.step()
    (held,) = engine.seen(be.Hold)
    yield case("33 tokens", len(held.blocks) == 3, blocks=len(held.blocks))


@claim(
    "S1-1.2-4", "05",
    ("SGLang's budget: available + evictable, less what is promised already.",
     "SGLang 预算 remaining_total = available + evictable − total_offset。"),
    ("And equality refuses: the need must be below it.", "且相等也拒绝："
     "必须严格小于。"),
)  # fmt: skip
def remaining_total() -> Iterator[Case]:
    """The test's terms and its verdict, one token apart, on a half-cached pool."""
    for max_new, fits in ((22, True), (23, False)):
        desk = bench(NEW)
        desk.insert(range(100, 140))
        desk.ack_write()
        prefill(desk, new("a", range(40), max_new))
        asked = next(e for e in seen(desk, ev.Admit) if e.request == "a")
        need = asked.extend + asked.max_new + asked.page
        left = asked.available + asked.evictable - asked.promised
        yield case(
            f"max_new {max_new}", asked.added == fits == (need < left), need=need,
            available=asked.available, evictable=asked.evictable,
            promised=asked.promised,
        )  # fmt: skip


@claim(
    "S1-1.2-5", "05",
    ("Each admission reserves extend + max_new_tokens + page_size.",
     "每准入一个请求预留 extend_input_len + max_new_tokens + page_size。"),
    ("With max_new cut at 4,096 (CLIP_MAX_NEW_TOKENS), and extend rounded up to pages.",
     "max_new 会被截到 4096（CLIP_MAX_NEW_TOKENS），extend 按页上取整。"),
)  # fmt: skip
def reserved() -> Iterator[Case]:
    """What the second candidate finds promised after the first was admitted."""
    for max_new in (100, 5000):
        desk = bench(NEW, pool_tokens=20_000, host_tokens=20_001)
        prefill(desk, new("a", range(50), max_new), new("b", range(60, 90), 1))
        second = next(e for e in seen(desk, ev.Admit) if e.request == "b")
        yield case(
            f"max_new {max_new}", second.promised == 50 + max_new + 1,
            promised=second.promised, said=50 + max_new + 1,
        )  # fmt: skip


@claim(
    "S1-1.2-6", "05",
    ("new_token_ratio starts at 0.7 x conservativeness and falls linearly to a floor.",
     "new_token_ratio 从 0.7 × conservativeness 起步，线性衰减到下限。"),
    ("0.7 to 0.098, in 600 decode rounds without a retraction.",
     "0.7 到 0.098，需 600 轮没有撤回的解码。"),
)  # fmt: skip
def ratio() -> Iterator[Case]:
    """Start, half way, floor, and after."""
    for rounds, said in ((0, 0.7), (300, 0.399), (600, 0.098), (900, 0.098)):
        now = NewTokenRatio()
        now.decay(rounds)
        yield case(f"{rounds} rounds", abs(now.value - said) < 1e-9, ratio=now.value)


@claim(
    "S1-1.2-7", "05",
    ("A retraction sets it back to its high start at once.",
     "发生 retract 时立刻调回高值重新保守。"),
    ("It is estimated anew from what the survivors have written: higher or lower than "
     "before. Only an idle engine goes back to 0.7.",
     "实际是按留下的请求已生成的量重新估计，可能更高也可能更低；"
     "只有空闲时才回到 0.7。"),
)  # fmt: skip
def after_retraction() -> Iterator[Case]:
    """The estimate for young, middle-aged and old survivors."""
    for name, written, allowed in (("young", 2, 400), ("half way", 190, 400)):
        found = estimate([(written, allowed)] * 4)
        yield case(
            f"{name} survivors", abs(found - 0.7) < 1e-9, outputs=written,
            max_new=allowed, ratio=found,
        )  # fmt: skip


@claim(
    "S1-1.2-8", "05",
    ("Both engines' budget lines read L1's counters; L2's size stands in no formula.",
     "两条预算线读的都是 L1 的计数器，L2 有多少空间一次都不出现。"),
    ("In no formula. But a vLLM block that is being copied out stays held: the larger "
     "L2 takes more copies, and here a request waits a step longer for their blocks.",
     "公式里确实没有。但 vLLM 正在拷出的块仍被占用：L2 越大拷贝越多，这里有一个请求因此"
     "多等了一步。"),
)  # fmt: skip
def l2_in_no_formula() -> Iterator[Case]:
    """The same two requests with ten times the L2: every term and verdict."""
    terms = []
    for host in (65, 640):
        desk = bench(NEW, host_tokens=host)
        desk.insert(range(100, 120))
        desk.ack_write()
        prefill(desk, new("a", range(30), 8), new("b", range(40, 70), 8))
        terms.append([(e.request, e.available, e.evictable, e.promised, e.verdict)
                      for e in seen(desk, ev.Admit)])  # fmt: skip
    yield case("SGLang, L2 65 or 640", terms[0] == terms[1], answers=len(terms[0]))
    taken = []
    for cpu in (4, 400):
        engine = Blocks(*_asks(4, 30), l2={"num_cpu_blocks": cpu})
        taken.append([record["admitted"] for record in engine.run()])
    small, large = (
        next(at for at, admitted in enumerate(steps) if "r3" in admitted)
        for steps in taken
    )
    yield case(
        "vLLM, L2 4 or 400, copies under way", taken[0] == taken[1],
        small_l2_admits_r3_at=small, large_l2_admits_r3_at=large,
    )  # fmt: skip
