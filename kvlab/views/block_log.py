"""What does the player need of a block run, and how does it travel?

The same blob as log.py's, so that one player opens both: entries, causes, fields,
patches and, once, all words and cards. `blocks` among the contents says which panes to
draw. Left out: how events become columns (log_writer.py), the patches
(block_patches.py), drawing (player/blocks.js).
"""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from ..glossary import GLOSSARY, VLLM_CHINESE
from ..record import block_events as be
from ..record.block_snapshot import BlockState
from ..record.events import Event
from ..record.trace import BlockHeader, BlockTrace
from .block_meanings import BLOCK_MEANINGS
from .block_patches import BLOCK_ACCOUNT, BLOCK_COLUMNS, STATUS, BlockPatches
from .block_phrases import BLOCK_PHRASES, BLOCK_VERDICTS, block_entry
from .block_pool_map import shown_digits
from .block_questions import BLOCK_QUESTIONS
from .block_whys import (
    BLOCK_LABELS,
    BLOCK_LINES,
    BLOCK_SWATCHES,
    BLOCK_WHYS,
    BY_PRIORITY,
    block_source,
)
from .cards import kind_of
from .grades import BlockGrades, Grade
from .kind_words import BLOCK_KIND_WORDS
from .log_writer import NUMBER, Field, LogWriter, shown_fields
from .player_tables import (
    IN_GLOSSARY,
    asked,
    glossary,
    looks,
    primer,
    ruled,
    words_of,
)
from .player_words import UI_WORDS
from .primer import BLOCK_MARKS, BLOCK_PANES, BLOCK_STATES
from .questions import CONFIDENCE
from .sentences import TIMES
from .streams import Stream, pack
from .theme import Words, num
from .theme_dark import colours

KINDS: dict[type[Event], str] = {
    kind: kind.__name__.lower() for kind in (*be.BLOCK_CHANGES, *be.BLOCK_DECISIONS)
}
_UNSHOWN = {"names", "priority", "token"}
_RISING = ("place", "table", "name1", "name2")
"""Columns of which a value is near the one before."""

MOST_DIGITS = 4096
"""Contents that the first digits of their hashes are to tell apart: of more, one in
sixteen shares its digits with another, and they are most of the page's bytes."""
NUMBERED = Words(
    "{n} hashes: each is shown as # and its place in the order of first registration",
    "共 {n} 个哈希：各以 # 加首次登记的序号表示",
)

BLOCK_WATCHES: dict[str, Words] = {
    "evicted": Words("a block is evicted", "块被逐出"),
    "preempted": Words("a request is preempted", "请求被抢占"),
    "none": Words("allocate_slots says None", "allocate_slots 返回 None"),
    "revived": Words("a free block is hit", "命中空闲块"),
    "shared": Words("a block gets a second owner", "块有了第二个持有者"),
    "full": Words("no block is free", "没有空闲块"),
    "remote": Words("a request's hit is on L2", "请求命中 L2"),
    "back": Words("a load from L2 is done", "从 L2 的取回完成"),
    "no_store": Words("the CPU pool refuses a store", "CPU 池拒收"),
}
BY_ENTRY = {
    "slots none": "none", "lookup remote": "remote", "copiedin": "back",
    "offer refused": "no_store", "preempt": "preempted",
}  # fmt: skip
"""Watches that follow from how an event is told."""


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
    made = writer.patches
    contents = {
        **_tables(trace.header),
        **writer.contents(),
        "name": trace.header.name,
        "of": whole,
        "fault": fault,
        "account": BLOCK_ACCOUNT,
        "stages": STATUS,
        "sizes": _sizes(made),
        **(extra or {}),
    }
    streams = [*writer.streams(_RISING), Stream("rows", []), Stream("tree", [0, 0])]
    for name, numbers in zip(("turn", "size", "back"), made.parts, strict=True):
        streams.append(Stream(f"parts.{name}", numbers, delta=name == "turn"))
    for name, numbers in zip(
        ("event", "tier", "turn", "size"), made.marks, strict=True
    ):
        streams.append(
            Stream(f"marks.{name}", numbers, delta=name in ("event", "turn"))
        )
    digits = [*map(shown_digits, made.names)]
    if len(digits) > MOST_DIGITS and min(digits) < 0:
        digits = [*range(1, len(digits) + 1)]
        contents["notes"] = [
            [note.replace("{n}", num(len(digits))) for note in NUMBERED]
        ]
    streams.append(Stream("names", digits, delta=True))
    return pack(contents, streams)


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
        "kinds": words_of(BLOCK_KIND_WORDS),
        "paths": {},
        "leaves": {},
        "times": TIMES,
        "rise": ["take", "share"],
        "fall": ["release", "forget", "preempt"],
        "copies": {"copyout": "copiedout", "copyin": "copiedin"},
        "looks": _looks(),
        "colours": colours(),
        "ui": words_of(UI_WORDS | BLOCK_UI),
        "phrases": words_of(BLOCK_PHRASES),
        "verdicts": words_of(BLOCK_VERDICTS),
        "meanings": words_of(BLOCK_MEANINGS),
        "lines": words_of(BLOCK_LINES),
        "whys": {entry: _why(entry, config.policy) for entry in BLOCK_WHYS},
        "digits": {},
        "swatches": BLOCK_SWATCHES,
        "labels": BLOCK_LABELS,
        "primer": primer(BLOCK_PANES, BLOCK_STATES, BLOCK_MARKS),
        "questions": asked(BLOCK_QUESTIONS),
        "confidence": [list(words) for words in CONFIDENCE],
        "watches": words_of(BLOCK_WATCHES),
        "terms": glossary("vllm") | _own_chinese(),
        "inGlossary": IN_GLOSSARY,
    }


def _own_chinese() -> dict[str, list[str]]:
    return {
        key: [GLOSSARY[key].word("vllm"), GLOSSARY[key].other("vllm"), words]
        for key, words in VLLM_CHINESE.items()
    }


def _looks() -> dict[str, Any]:
    found = looks()
    for state, words in VLLM_CHINESE.items():
        found[state]["name"][1] = words
    return found


# fmt: off
BLOCK_UI: dict[str, Words] = {
    "tree": Words("Requests and blocks", "请求与块表"),
    "tree_note": Words("computed / known · blocks in order",
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


def _why(entry: str, policy: str) -> dict[str, Any]:
    why = BLOCK_WHYS[entry]
    if policy == "priority" and entry.startswith("pickvictim"):
        why = why._replace(own=BY_PRIORITY)
    return ruled(why, block_source(entry))


def _sizes(made: BlockPatches) -> dict[str, int]:
    """Return how many rows each column has: requests, but for pools and account."""
    sizes = dict.fromkeys(BLOCK_COLUMNS, max(len(made.requests), 1))
    for column, painting in made.paintings.items():
        beside = BLOCK_COLUMNS[made.at[column] + 1]
        sizes[column] = sizes[beside] = len(painting.turns)
    return sizes | {"account": len(BLOCK_ACCOUNT)}


class _Writer(LogWriter):
    """The columns of a block run."""

    def __init__(self, trace: BlockTrace, length: int) -> None:
        self.patches = BlockPatches(trace)
        schema = {kind: shown_fields(kind, _UNSHOWN) for kind in KINDS}
        schema[be.Forget].append(Field("lost", NUMBER))
        super().__init__(self.patches, trace.events[:length], schema, BLOCK_WATCHES)
        self._grades = BlockGrades()
        forgot = self.values["forget.lost"].append
        self._writes[be.Forget][-1] = (forgot, lambda event: self._grades.lost)

    def told(self, index: int, event: Event) -> tuple[str, Grade, list[str]]:
        """As `LogWriter.told`."""
        after = self.events[index + 1] if index + 1 < len(self.events) else None
        grade = self._grades.of(event)
        entry = block_entry(event, after, self._grades.lost)
        return entry, grade, _seen(event, entry, self.patches.state)


def _seen(event: Event, entry: str, state: BlockState) -> list[str]:
    """Return the watches that the event, about to follow the state, sets off."""
    found = [BY_ENTRY[entry]] if entry in BY_ENTRY else []
    if entry.startswith("forget evicted"):
        found = ["evicted"]
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
