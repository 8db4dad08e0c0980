"""What does the player need of a block run, and how does it travel?

The same blob as log.py's, so that one player opens both: entries, causes, fields,
patches and, once, all words and cards. `blocks` among the contents says which panes to
draw. Left out: the patches (block_patches.py), drawing (player/blocks.js).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import msgspec
from msgspec import to_builtins

from ..record import block_events as be
from ..record.block_snapshot import BlockState
from ..record.events import Event
from ..record.folding import FoldError
from ..record.trace import BlockHeader, BlockTrace
from .block_patches import BLOCK_ACCOUNT, BLOCK_COLUMNS, STATUS, BlockPatches
from .block_phrases import BLOCK_PHRASES, BLOCK_VERDICTS, block_entry
from .block_pool_map import short_hash
from .block_questions import BLOCK_QUESTIONS
from .block_whys import BLOCK_LABELS, BLOCK_SWATCHES, BLOCK_WHYS, block_source
from .cards import kind_of
from .player_tables import (
    IN_GLOSSARY,
    asked,
    glossary,
    looks,
    own_lines,
    words_of,
)
from .player_words import UI_WORDS
from .questions import CONFIDENCE
from .streams import Stream, pack
from .theme import Words
from .theme_dark import colours

KINDS: dict[type[Event], str] = {
    kind: kind.__name__.lower() for kind in (*be.BLOCK_CHANGES, *be.BLOCK_DECISIONS)
}
_UNSHOWN = {"cause", "names", "priority", "token"}

BLOCK_WATCHES: dict[str, Words] = {
    "evicted": Words("a block is evicted", "块被逐出"),
    "preempted": Words("a request is preempted", "请求被抢占"),
    "none": Words("allocate_slots says None", "allocate_slots 返回 None"),
    "revived": Words("a free block is hit", "命中空闲块"),
    "shared": Words("a block gets a second owner", "块有了第二个持有者"),
    "full": Words("no block is free", "没有空闲块"),
}


def block_log(
    trace: BlockTrace, length: int | None = None, extra: dict[str, Any] | None = None
) -> bytes:
    """Return the log of the run's first `length` events; all, if None.

    A run that does not fold is shown up to its first bad event, with what is wrong.
    Cost: O(events), and the blocks they name.
    """
    whole = len(trace)
    writer = _Writer(trace, whole if length is None else min(length, whole))
    fault = writer.run()
    made = writer.made
    base = [0, *accumulate(made.most_held)]
    contents = {
        **_tables(trace.header),
        "name": trace.header.name,
        "events": writer.done,
        "of": whole,
        "fault": fault,
        "requests": list(made.requests),
        "texts": list(writer.texts),
        "fractions": list(writer.fractions),
        "fields": {n: [list(f) for f in _fields(k)] for k, n in KINDS.items()},
        "variants": list(writer.variants),
        "columns": BLOCK_COLUMNS,
        "deltas": [],
        "runs": [],
        "path": len(BLOCK_COLUMNS),
        "batch": len(BLOCK_COLUMNS) + 1,
        "account": BLOCK_ACCOUNT,
        "stages": STATUS,
        "sizes": _sizes(made, base),
        "base": base,
        "hashes": ["", *map(short_hash, made.names)],
        **(extra or {}),
    }
    return pack(contents, list(writer.streams(base)))


def _tables(header: BlockHeader) -> dict[str, Any]:
    """Return everything that does not depend on the events, ready for JSON."""
    config, start = header.config, BlockState.start(header.config)
    sizes = [max(tier.num_blocks - 1, 0) for tier in start.tiers.values()]
    kept = int(config.watermark * config.num_gpu_blocks)
    return {
        "blocks": True,
        "engine": f"vLLM {header.version}",
        "notes": [],
        "settings": {k: v for k, v in to_builtins(config).items() if v is not None},
        "books": [],
        "page": 1,
        "pools": sizes,
        "facts": {"kept": kept, "block_size": config.block_size},
        "decisions": [kind.__name__.lower() for kind in be.BLOCK_DECISIONS],
        "names": {name: kind_of(kind) for kind, name in KINDS.items()},
        "paths": {},
        "leaves": {},
        "rise": ["take", "share"],
        "fall": ["release", "forget", "preempt"],
        "copies": {},
        "looks": looks(),
        "colours": colours(),
        "ui": words_of(UI_WORDS | BLOCK_UI),
        "phrases": words_of(BLOCK_PHRASES),
        "verdicts": words_of(BLOCK_VERDICTS),
        "whys": {entry: _why(entry) for entry in BLOCK_WHYS},
        "digits": {},
        "swatches": BLOCK_SWATCHES,
        "labels": BLOCK_LABELS,
        "questions": asked(BLOCK_QUESTIONS),
        "confidence": [list(words) for words in CONFIDENCE],
        "watches": words_of(BLOCK_WATCHES),
        "terms": glossary("vllm"),
        "inGlossary": IN_GLOSSARY,
    }


# fmt: off
BLOCK_UI: dict[str, Words] = {
    "tree": Words("Requests and their block tables", "请求与块表"),
    "tree_note": Words("computed / known tokens · blocks in order",
                       "已计算 / 已知 token · 块按次序"),
    "memory": Words("Blocks", "块"),
    "cell_block": Words("one cell = one block = {n} tokens",
                        "一格 = 一块 = {n} 个 token"),
    "train": Words("Free queue: taken from the head, on the left",
                   "空闲队列：从左边队首取"),
    "train_note": Words("without a hash before those with one",
                        "无哈希的在前，有哈希的在后"),
    "slots": Words("blocks", "块"),
    "back": Words("preempted {n}×", "被抢占 {n} 次"),
    "deferred": Words("put aside", "暂缓"),
    "no_free": Words("no block is free", "没有空闲块"),
    "usage": Words("usage = 1 − free / (N − 1)", "usage = 1 − free / (N − 1)"),
    "gate": Words("watermark: admission behind running requests leaves {n} blocks",
                  "水位线：已有请求运行时，准入须留下 {n} 个块"),
    "also": Words("SGLang: {a}", "SGLang：{a}"),
    "blocks_of": Words("{n} blocks", "{n} 个块"),
    "l2": Words("L2 · CPU", "L2 · CPU"),
}
# fmt: on


def _why(entry: str) -> dict[str, Any]:
    why = BLOCK_WHYS[entry]
    fields = why._asdict()
    del fields["sources"]
    return {
        **fields,
        "tests": [test._asdict() for test in why.tests],
        "bars": [bar._asdict() for bar in why.bars],
        "instead": [choice._asdict() for choice in why.instead],
        "source": block_source(entry),
        "own": None if why.own is None else own_lines(why.own),
    }


def _fields(kind: type[Event]) -> list[tuple[str, str]]:
    """Return name and type of the fields that the player gets of a kind (log.py)."""
    shown = []
    for field in msgspec.structs.fields(kind):
        if field.name not in _UNSHOWN:
            shown.append((field.name, _type(field.name, str(field.type))))
    return shown


def _type(name: str, type_: str) -> str:
    if name == "request":
        return "r"
    if "None" in type_ or "float" in type_:
        return "f"
    if "ndarray" in type_ or "tuple" in type_:
        return "c"
    return "t" if "str" in type_ or "Literal" in type_ else "i"


def _sizes(made: BlockPatches, base: list[int]) -> dict[str, int]:
    tiers, requests = made.state.tiers, len(made.requests)
    sizes = dict.fromkeys(BLOCK_COLUMNS, max(requests, 1))
    for number, tier in ((1, tiers["L1"]), (2, tiers["L2"])):
        for name in ("ref", "name", "rank"):
            sizes[f"{name}{number}"] = tier.num_blocks
    return sizes | {"account": len(BLOCK_ACCOUNT), "table": max(base[-1], 1)}


class _Writer:
    """Columns that grow event by event."""

    def __init__(self, trace: BlockTrace, length: int) -> None:
        self.made = BlockPatches(trace)
        self.events = trace.events[:length]
        self.texts: dict[str, int] = {}
        self.fractions: dict[float | None, int] = {}
        self.variants: dict[str, int] = {}
        self.variant, self.cause, self.size = array("q"), array("q"), array("q")
        self.start = len(self.made.column)
        self.hits: dict[str, array[int]] = {name: array("q") for name in BLOCK_WATCHES}
        self.done = 0
        self._schema = {kind: _fields(kind) for kind in KINDS}
        self.values: dict[str, array[int]] = {
            f"{KINDS[kind]}.{name}": array("q")
            for kind, fields in self._schema.items()
            for name, _ in fields
        }

    def run(self) -> str | None:
        """Write every event that folds; return what is wrong with the next, if any."""
        for index, event in enumerate(self.events):
            after = self.events[index + 1] if index + 1 < len(self.events) else None
            entry = block_entry(event, after)
            hits = _seen(event, entry, self.made.state)
            try:
                size = self.made.step(index)
            except FoldError as fault:
                return str(fault)
            except (KeyError, ValueError) as problem:
                return str(problem)
            self.size.append(size)
            for name in hits:
                self.hits[name].append(index)
            self.variant.append(self.variants.setdefault(entry, len(self.variants)))
            self.cause.append(index - event.cause if event.cause >= 0 else 0)
            for name, type_ in self._schema[type(event)]:
                value = self._number(getattr(event, name), type_)
                self.values[f"{KINDS[type(event)]}.{name}"].append(value)
            self.done += 1
        return None

    def _number(self, value: Any, type_: str) -> int:
        if type_ == "r":
            return self.made.place_of(value)
        if type_ == "t":
            return self.texts.setdefault(value, len(self.texts))
        if type_ == "f":
            return self.fractions.setdefault(value, len(self.fractions))
        return len(value) if type_ == "c" else int(value)

    def streams(self, base: list[int]) -> Iterator[Stream]:
        """Yield every column; a table's row is its request's base and its place."""
        made, columns = self.made, range(len(BLOCK_COLUMNS))
        rows = [
            row if row >= 0 else base[(-1 - row) >> 24] + ((-1 - row) & 0xFFFFFF)
            for row in made.row
        ]
        yield Stream("variant", self.variant)
        yield Stream("cause", self.cause)
        yield Stream("size", self.size)
        yield Stream("column", made.column)
        first: list[list[int]] = [[] for _ in columns]
        value: list[list[int]] = [[] for _ in columns]
        for column, row, number in zip(made.column, rows, made.value, strict=True):
            first[column].append(row)
            value[column].append(number)
        for column, name in enumerate(BLOCK_COLUMNS):
            yield Stream(f"{name}.first", first[column], delta=True)
            yield Stream(f"{name}.value", value[column], delta=True)
        for name in ("path", "batch"):
            yield Stream(f"{name}.first", [])
            yield Stream(f"{name}.value", [])
        yield Stream("start", [self.start])
        yield Stream("rows", [])
        yield Stream("tree", [0, 0])
        for name, hits in self.hits.items():
            yield Stream(f"watch.{name}", hits, delta=True)
        for name, numbers in self.values.items():
            yield Stream(name, numbers)


def _seen(event: Event, entry: str, state: BlockState) -> list[str]:
    """Return the watches that the event, about to follow the state, sets off."""
    found = {"forget evicted": ["evicted"], "slots none": ["none"]}.get(entry, [])
    if isinstance(event, be.Preempt):
        return ["preempted"]
    if isinstance(event, be.Share):
        tier = state.tiers[event.tier]
        blocks = event.blocks.tolist()
        if any(block in tier.free for block in blocks):
            found = ["revived"]
        if any(tier.ref_cnt.get(block) for block in blocks):
            found = [*found, "shared"]
    if isinstance(event, be.Take):
        last = len(event.blocks) == len(state.tiers[event.tier].free)
        return ["full"] if last and event.tier == "L1" else found
    return found
