"""What does notebook 01, Bytes and ceiling, ask?

How many bytes a token takes, how many sequences fit, what tensor parallelism does.
Left out: the answers that are right (the tests hold them).
"""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from ...capacity import GIB, Deployment, capacity
from ...model_table import CONFIGS, known_shape
from ...record import events as ev
from ...views.theme import Words
from ..kinds import Belief, Case, Choice, Fill, Flaw, Function
from ..own_words.states import EIGHTFOLD
from ..questions import moment, state_at
from ..scenarios import fork_of
from ..scenarios.nb01 import LONG, PLAIN, SHORT, fits, seats, some_plan

DEEPSEEK = "deepseek-v3"


def _prediction(random: Random) -> Case:
    trace = seats().trace
    answer = {
        "short": len(seats(SHORT).state.running),
        "long": len(seats(LONG).state.running),
    }
    refused = moment(trace, lambda e: isinstance(e, ev.Admit) and not e.added)
    return Case(
        answer, trace=trace, step=refused, steps=dict.fromkeys(answer, refused),
        fork=fork_of(seats),
        beliefs=(
            Belief({"short": 6}, Words(
                "96 / 16 is the ceiling. Admission also adds a page to each and wants "
                "something left: 17 must be less than what is left.",
                "96 / 16 只是上限。准入还要给每个请求加一页，并且必须有剩："
                "17 要小于余量。"), refused),
            Belief({"short": 8}, Words(
                "Eight times 12 is 96, but each is still going to write 4 tokens.",
                "8 × 12 正好 96，但每个请求还要写 4 个 token。"), refused),
            Belief({"long": 3}, Words(
                "96 / 32 is the ceiling. With a page each is promised 33, and for the "
                "third 33 < 96 − 66 = 30 is false.",
                "96 / 32 只是上限。加一页后每个要许出 33，轮到第三个，"
                "33 < 96 − 66 = 30 不成立。"), refused),
        ),
    )  # fmt: skip


def _seen(random: Random) -> Case:
    trace = seats().trace
    refused = moment(trace, lambda e: isinstance(e, ev.Admit) and not e.added)
    left = state_at(trace, refused).account().available
    return Case(
        "yes" if left else "no", trace=trace, step=refused,
        beliefs=(Belief("no", Words(
            "Slots were free, but those who run had been promised them.",
            "还有空槽，但已经许给了在跑的请求。"), refused),),
    )  # fmt: skip


WHOLE_LATENT = Words(
    "Eight KV heads can be split eight ways; one latent cannot. Every GPU keeps a "
    "whole copy.",
    "8 个 KV head 可以八等分，一个 latent 不行：每张卡都存整份。",
)


def _latent(random: Random) -> Case:
    one, eight = (
        capacity(known_shape(DEEPSEEK), Deployment(tp=tp, kv_memory=60 * GIB))
        for tp in (1, 8)
    )
    ratio = (eight.pool_tokens or 0) // (one.pool_tokens or 1)
    return Case(
        str(ratio),
        beliefs=(Belief("8", WHOLE_LATENT), Belief("4", WHOLE_LATENT)),
    )


def _bytes(random: Random) -> Case:
    names = random.sample(PLAIN, 5)
    answer, terms = {}, {}
    beliefs = []
    for part, name in zip("abcde", names, strict=True):
        shape = known_shape(name)
        answer[part] = shape.bytes_full() / 1024
        beliefs += [
            Belief({part: answer[part] / 2}, Words(
                f"{part}: K and V, two rows for each head.",
                f"{part}：K 和 V，每个 head 两行。")),
            Belief({part: shape.bytes_full() / 1000}, Words(
                f"{part}: a KiB is 1,024 bytes, not 1,000.",
                f"{part}：1 KiB 是 1,024 字节，不是 1,000。")),
        ]  # fmt: skip
        layers, heads, dim = shape.full_layers, shape.kv_heads, shape.head_dim
        terms[part] = f"{name} ({layers}, {heads}, {dim})"
    return Case(answer, terms, beliefs=tuple(beliefs))


def _sequences(random: Random) -> Case:
    plan = some_plan(random)
    found = fits(plan)
    shape = known_shape(plan.model)
    terms = plan._asdict() | {
        "kib": shape.bytes_full() // 1024, "k": plan.context // 1024,
    }  # fmt: skip
    alone = fits(plan._replace(tp=1))
    return Case(
        {"tokens": found.pool_tokens, "fit": found.max_concurrency}, terms,
        beliefs=(Belief({"tokens": alone.pool_tokens}, Words(
            "Each GPU has that much: the heads are split, so the pool grows with them.",
            "那是一张卡的：head 被分到各卡，池子随之变大。")),),
    )  # fmt: skip


SHOWN = ("llama-3-8b", "llama-3-70b", "qwen2.5-7b", "mixtral-8x7b", "deepseek-v3",
         "deepseek-v2-lite")  # fmt: skip


class Told(NamedTuple):
    """A model as the exercise shows it; `element` is the bytes of a number."""

    layers: int
    kv_heads: int
    head_dim: int
    kv_lora_rank: int
    qk_rope_head_dim: int
    element: int


def _told(name: str, element: int) -> Told:
    config, shape = CONFIGS[name], known_shape(name)
    return Told(
        shape.full_layers, shape.kv_heads or 1, shape.head_dim or 0,
        config.get("kv_lora_rank", 0), config.get("qk_rope_head_dim", 0), element,
    )  # fmt: skip


def judge(function: Any, random: Random) -> Flaw | None:
    """Return what is wrong with a learner's bytes of a token, None if nothing is."""
    for name in SHOWN:
        for element in (2, 1):
            given = _told(name, element)
            said, found = function(given), known_shape(name).bytes_full(element)
            if said != found:
                return Flaw(Words(
                    f"{name}, element {element}: {found} bytes, yours {said!r}.",
                    f"{name}，element {element}：应为 {found} 字节，你的是 {said!r}。",
                ))  # fmt: skip
    return None


EXERCISES = (
    Fill(
        id="01.P",
        asks=Words(
            "L1 has 96 slots and is empty. Eight requests arrive at once. How many "
            "run, if each has 12 prompt tokens and may write 4? And if it has 28?",
            "L1 有 96 个空槽，同时来了 8 个请求。若每个 prompt 12 个 token、还可写 4 "
            "个，能跑几个？prompt 是 28 个呢？"),
        parts={"short": Words("12 + 4 tokens", "12 + 4 个 token"),
               "long": Words("28 + 4 tokens", "28 + 4 个 token")},
        case=_prediction,
    ),
    Choice(
        id="01.S",
        asks=Words("Were any slots free at the moment the first request was refused?",
                   "第一个请求被拒绝的那一刻，还有空闲槽位吗？"),
        options={"yes": Words("yes", "有"), "no": Words("no, none", "没有")},
        case=_seen,
    ),
    Choice(
        id="01.P2",
        asks=Words(
            "DeepSeek-V3, 60 GiB for KV on each GPU. How many times as many tokens "
            "does the pool hold on eight GPUs, with plain tensor parallelism, as on "
            "one?",
            "DeepSeek-V3，每张卡 60 GiB 给 KV。普通张量并行下，八张卡的池子能放的 "
            "token 是一张卡的几倍？"),
        options={"1": Words("as many", "一样多"), "4": Words("4 times", "4 倍"),
                 "8": Words("8 times", "8 倍")},
        case=_latent,
    ),
    Fill(
        id="01.E1",
        asks=Words(
            "How many KiB does a token take in bf16? Layers, KV heads and head_dim are "
            "in brackets.\na {a} · b {b} · c {c} · d {d} · e {e}",
            "bf16 下每个 token 占多少 KiB？括号内是层数、KV head 数与 head_dim。\n"
            "a {a} · b {b} · c {c} · d {d} · e {e}"),
        parts={part: Words(part, part) for part in "abcde"}, tolerance=0.01,
        case=_bytes,
    ),
    Fill(
        id="01.E2",
        asks=Words(
            "{model}: {kib} KiB a token. {gib} GiB for KV on each of {tp} GPUs. How "
            "many tokens does the pool hold, and how many sequences of {k}K fit?",
            "{model}：每 token {kib} KiB。{tp} 张卡，每张 {gib} GiB 给 KV。"
            "池子能放多少 token？{k}K 的序列能放几条？"),
        parts={"tokens": Words("tokens", "token"), "fit": Words("sequences", "序列")},
        tolerance=0.01, case=_sequences,
    ),
    Function(
        id="01.E3",
        asks=Words(
            "Write kv_bytes_per_token(model), MLA included. model.layers, .kv_heads, "
            ".head_dim, .element (bytes of a number); of MLA's latent .kv_lora_rank "
            "and .qk_rope_head_dim (512 and 64; both 0 without MLA).",
            "写出 kv_bytes_per_token(model)，包括 MLA。model.layers、.kv_heads、"
            ".head_dim、.element（每个数的字节数）；MLA 的 latent 有 .kv_lora_rank 与 "
            ".qk_rope_head_dim（512 与 64；没有 MLA 时都是 0）。"),
        start="def kv_bytes_per_token(model):\n    ...", judge=judge,
    ),
    EIGHTFOLD,
)  # fmt: skip
