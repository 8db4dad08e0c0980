"""What should a learner's one sentence say, in notebooks 01 to 04?

Bytes, the three states, free in vLLM, eviction. Which statement holds is read off the
notebook's own runs.
Left out: how a sentence is sorted (grading.py).
"""

from __future__ import annotations

from random import Random

from ...capacity import GIB, Deployment, capacity
from ...model_table import known_shape
from ...record import block_events as be
from ...record import events as ev
from ...views.theme import Words
from ..kinds import Belief, Case, Sentence, point
from ..questions import first, moment, state_at
from ..scenarios.nb02 import one_life
from ..scenarios.nb03 import free_is_not_empty
from ..scenarios.nb04 import one_missing

TIMES = {"eight": ("eight times as many tokens", "八倍的 token"),
         "one": ("as many tokens as one", "和一张卡一样多")}  # fmt: skip


def _eightfold(random: Random) -> Case:
    def times(model: str) -> int:
        one, eight = (
            capacity(known_shape(model), Deployment(tp=tp, kv_memory=60 * GIB))
            for tp in (1, 8)
        )
        return round((eight.pool_tokens or 0) / (one.pool_tokens or 1))

    models = {"heads": "llama-3-70b", "latent": "deepseek-v3"}
    named = {8: "eight", 1: "one"}
    return Case(
        {part: named[times(model)] for part, model in models.items()},
        beliefs=(
            Belief({"latent": "eight"}, Words(
                "Eight KV heads can be split eight ways; one latent cannot.",
                "8 个 KV head 可以八等分，一个 latent 不行。")),
            Belief({"heads": "one"}, Words(
                "Each GPU keeps one head of eight, so it holds eight times as many.",
                "每张卡只存 8 个 head 中的 1 个，能放八倍的 token。")),
        ),
    )  # fmt: skip


EIGHTFOLD = Sentence(
    id="01.E4",
    asks=Words(
        "In one sentence: when do eight GPUs hold eight times as many tokens, and when "
        "not?",
        "一句话：八张卡什么时候能放八倍的 token，什么时候不能？"),
    points={
        "heads": point("Of a model with 8 KV heads, TP8 holds",
                       "8 个 KV head 的模型，TP8 能放", **TIMES),
        "latent": point("Of an MLA model, plain TP8 holds",
                        "MLA 模型，普通 TP8 能放", **TIMES),
    },
    case=_eightfold,
    model=Words(
        "Eightfold if the KV heads can be split among the eight; not with MLA, whose "
        "one latent every GPU keeps whole.",
        "KV head 能在八张卡上切分时是八倍；MLA 不行，它唯一的 latent 每张卡都存整份。"),
)  # fmt: skip


def _in_between(random: Random) -> Case:
    trace = one_life().trace
    at = moment(trace, lambda e: isinstance(e, ev.Step) and e.number > 3) - 1
    account, grown = state_at(trace, at).account(), first(trace, ev.Grow)
    outputs = sum(isinstance(event, ev.Grow) for event in trace.events[:at])
    amounts = {
        "decoded": outputs,
        "evictable": account.evictable,
        "prompt": account.protected,
    }
    (which,) = (name for name, size in amounts.items() if size == account.held)
    where = "request" if account.held else "tree"
    return Case(
        {"which": which, "where": where}, {}, trace, grown,
        beliefs=(
            Belief({"which": "evictable"}, Words(
                "evictable is no part of used.", "evictable 不属于 used。"), grown),
            Belief({"where": "tree"}, Words(
                "What a decode step writes joins the tree at the end of the request.",
                "解码写出的 token 要到请求结束才进树。"), grown),
        ),
    )  # fmt: skip


IN_BETWEEN = Sentence(
    id="02.E4",
    asks=Words(
        "In one sentence: why is protected less than used while a request decodes?",
        "一句话：请求在解码时，protected 为什么小于 used？"),
    points={
        "which": point("The tokens that make the difference are",
                       "差出来的是哪些 token",
            prompt=("those of the prompt", "prompt 的"),
            decoded=("those that decode has written", "解码写出的"),
            evictable=("those that are evictable", "可逐出的")),
        "where": point("They are", "它们在哪里",
            tree=("on the tree, locked", "在树上，已加锁"),
            request=("held by the request, outside the tree", "由请求持有，不在树上"),
            free=("on the free list", "在空闲列表里")),
    },
    case=_in_between,
    model=Words(
        "What decode has written is held by the request and is not on the tree, and "
        "protected counts the tree only.",
        "解码写出的 token 由请求持有、还没进树，而 protected 只数树上的。"),
)  # fmt: skip


def _free_block(random: Random) -> Case:
    trace = free_is_not_empty().trace
    ended, forgot = first(trace, ev.Finish), first(trace, be.Forget)
    account = state_at(trace, ended).tiers["L1"].account()
    taken = isinstance(trace.events[trace.events[forgot - 1].cause], ev.Step)
    lost = "ended" if forgot <= ended else "taken" if taken else "watermark"
    return Case(
        {"free": "nobody" if account.evictable else "empty", "lost": lost}, {}, trace,
        forgot, {"free": ended, "lost": forgot},
        beliefs=(
            Belief({"free": "empty"}, Words(
                "Two of the free blocks kept their hash, and their content was hit.",
                "free 块里有两块保留哈希，内容后来被命中。"), ended),
            Belief({"lost": "watermark"}, Words(
                "The watermark evicts nothing; it holds admissions back.",
                "水位线不逐出，只拦准入。"), forgot),
            Belief({"lost": "ended"}, Words(
                "Nothing was forgotten when the request ended.",
                "请求结束时什么也没有丢。"), ended),
        ),
    )  # fmt: skip


FREE_BLOCK = Sentence(
    id="03.E4",
    asks=Words(
        "In one sentence: what is a free block in vLLM, and when is what it holds "
        "lost?",
        "一句话：vLLM 的 free 块是什么？它里面的内容何时丢失？"),
    points={
        "free": point("A free block is one", "free 块是",
            empty=("that is empty", "空的块"),
            nobody=("that nobody holds", "没人持有的块")),
        "lost": point("What it holds is lost", "里面的内容何时丢失",
            ended=("when its request ends", "请求结束时"),
            taken=("when somebody else is given the block", "块被分给别人时"),
            watermark=("when usage crosses the watermark", "占用率越过水位线时")),
    },
    case=_free_block,
    model=Words(
        "A free block is one that nobody holds; it keeps its hash and can be hit until "
        "it is given to somebody else.",
        "没人持有的块就是 free；哈希还在、随时可命中，直到块被分给别人。"),
)  # fmt: skip


def _on_demand(random: Random) -> Case:
    trace = one_missing().trace
    room = moment(trace, lambda e: isinstance(e, ev.MakeRoom) and e.ask > 0)
    done = first(trace, ev.Evicted)
    asked, evicted = trace.events[room - 1], trace.events[done - 1]
    assert isinstance(asked, ev.MakeRoom), "a moment is the event's"
    assert isinstance(evicted, ev.Evicted), "a moment is the event's"
    before = state_at(trace, room).account()
    full = before.available == 0
    over = evicted.freed > evicted.ask
    return Case(
        {"when": "missing" if full else "waterline", "more": "leaf" if over else
         "exact"}, {}, trace, room, {"when": room, "more": done},
        beliefs=(
            Belief({"when": "waterline"}, Words(
                "There is no waterline: the pool was full to the last slot.",
                "没有水位线：池子一直用到最后一个槽位。"), room),
            Belief({"more": "exact"}, Words(
                "Leaves go whole: a shortfall of 1 and a coldest leaf of 7 free 7.",
                "叶子整个逐出：缺 1 个，最冷的叶子有 7 个，就腾出 7 个。"), done),
        ),
    )  # fmt: skip


ON_DEMAND = Sentence(
    id="04.E4",
    asks=Words(
        "In one sentence: when does SGLang 0.5.23 evict, and how much more than the "
        "shortfall can it free?",
        "一句话：SGLang 0.5.23 何时逐出？最多会比缺口多腾出多少？"),
    points={
        "when": point("It evicts", "什么时候逐出",
            waterline=("when 90 % of the pool is used", "用到池子的 90 % 时"),
            missing=("when slots are missing", "缺槽位时")),
        "more": point("Beyond the shortfall it can free", "比缺口最多多腾出",
            exact=("nothing: it frees exactly the shortfall", "零：正好是缺口"),
            leaf=("the last leaf less one token", "最后一个叶子减一个 token"),
            page=("no more than one page", "不超过一页")),
    },
    case=_on_demand,
    model=Words(
        "Only when slots are missing, in whole leaves: at most the last leaf less one "
        "token too much.",
        "缺槽位才逐出，而且整叶逐出：最多多出最后一个叶子减一个 token。"),
)  # fmt: skip
