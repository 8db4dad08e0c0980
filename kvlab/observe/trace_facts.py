"""What can a request trace say by itself?

How much was asked for, how large the largest request is, and, where blocks have ids,
how much an endless cache could have reused. What an engine made of it, it cannot say.
Left out: reading (record/trace_formats.py), replaying (run/).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..record.diagnosis import Diagnosis
from ..record.trace_formats import open_requests
from ..record.trace_row import OpenTrace, TraceRow
from .causes import CAUSES
from .said import Lang, Text, say, to


def diagnose_trace(path: Path, lang: Lang = "en") -> Diagnosis:
    """Return what the trace says: facts, and that no engine was seen.

    Raises: InputError with file and line where the file is no trace. Cost: O(blocks).
    """
    trace = open_requests(path)
    facts = trace_facts(trace)
    if not facts["n_requests"]:
        raise InputError(str(path), "has no requests", "give a trace with rows")
    return Diagnosis(
        status="ok",
        engine="none",
        kind="trace",
        verdict="not_enough_evidence",
        cause="trace_only",
        confidence="certain",
        facts=facts,
        reasons=tuple(to(why, lang) for why in (_ALONE, _sharing(facts))),
        next=tuple(to(step, lang) for step in CAUSES["trace_only"].next),
        says=to(CAUSES["trace_only"].says, lang),
        inputs=(path.name,),
        lang=lang,
    )


_ALONE = "a trace alone says what the load could reuse, not what an engine did"


@dataclass
class _Tally:
    """Sums over the rows so far. Units: tokens, blocks, seconds."""

    requests: int = 0
    asked: int = 0
    made: int = 0
    failed: int = 0
    largest: int = 0
    blocks: int = 0
    hits: int = 0
    hit_tokens: int = 0
    untimed: int = 0
    first: float | None = None
    low: float | None = None
    high: float | None = None
    seen: set[int] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)

    def take(self, row: TraceRow, block: int | None) -> None:
        self.requests += 1
        self.asked += row.input_length
        self.made += row.output_length
        self.failed += row.output_length == 0
        self.largest = max(self.largest, row.input_length + row.output_length)
        if row.session:
            self.sessions.add(row.session)
        self.untimed += row.time is None
        if (time := row.time) is not None:
            self.first = time if self.first is None else self.first
            self.low = time if self.low is None else min(self.low, time)
            self.high = time if self.high is None else max(self.high, time)
        if block is not None:
            self._reuse(row, block)

    def _reuse(self, row: TraceRow, block: int) -> None:
        """Count the leading blocks that an endless cache would hold by now."""
        ids = row.hash_ids
        lead = next((i for i, id in enumerate(ids) if id not in self.seen), len(ids))
        self.blocks += len(ids)
        self.hits += lead
        self.hit_tokens += min(lead * block, row.input_length)
        self.seen.update(ids)


def trace_facts(trace: OpenTrace) -> dict[str, Any]:
    """Return the sums over the rows; a hit is a leading run of ids seen before.

    Units: tokens, blocks, seconds, None where a row has no time of its own; rates are
    0 to 1 and None without block ids.
    """
    sums = _Tally()
    for row in trace.rows:
        sums.take(row, trace.block_size)
    span = None
    if not sums.untimed and sums.high is not None and sums.low is not None:
        span = round(sums.high - sums.low, 6)
    told: dict[str, Any] = {
        "trace_format": trace.format,
        "timestamp_unit": trace.unit,
        "n_requests": sums.requests,
        "n_failed_zero_output": sums.failed,
        "n_sessions": len(sums.sessions) or None,
        "block_size": trace.block_size,
        "duration_s": span,
        "first_timestamp": sums.first if trace.unit == "s" else None,
        "total_input_tokens": sums.asked,
        "total_output_tokens": sums.made,
        "max_request_tokens": sums.largest,
        "has_prefix_identity": trace.block_size is not None,
    }
    return told | (_blocks(sums) if trace.block_size else dict.fromkeys(_BLOCKS))


_BLOCKS = (
    "total_blocks", "unique_blocks", "ideal_hit_blocks", "ideal_hit_tokens",
    "ideal_hit_rate_blocks", "ideal_hit_rate_tokens",
)  # fmt: skip


def _blocks(sums: _Tally) -> dict[str, Any]:
    rates = (
        round(part / whole, 4) if whole else None
        for part, whole in ((sums.hits, sums.blocks), (sums.hit_tokens, sums.asked))
    )
    counts = (sums.blocks, len(sums.seen), sums.hits, sums.hit_tokens)
    return dict(zip(_BLOCKS, (*counts, *rates), strict=True))


def _sharing(facts: dict[str, Any]) -> Text:
    if not facts["has_prefix_identity"] or facts["ideal_hit_rate_tokens"] is None:
        return "its rows have no prefix identity, so no hit rate can be derived"
    return say(
        "an endless cache could give {} of the prompt tokens",
        f"{facts['ideal_hit_rate_tokens']:.1%}",
    )
