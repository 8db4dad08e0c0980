"""What can a request trace say by itself?

How much was asked for, how large the largest request is, and, where blocks have ids,
how much an endless cache could have reused. What an engine made of it, it cannot say.
Left out: reading (record/trace_formats.py), replaying (run/).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import InputError
from ..record.diagnosis import Diagnosis
from ..record.trace_formats import OpenTrace, open_requests
from .causes import CAUSES


def diagnose_trace(path: Path) -> Diagnosis:
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
        reasons=(
            "a trace alone says what the load could reuse, not what an engine did",
            _sharing(facts),
        ),
        next=CAUSES["trace_only"].next,
        inputs=(path.name,),
    )


def trace_facts(trace: OpenTrace) -> dict[str, Any]:
    """Return the sums over the rows; a hit is a leading run of ids seen before.

    Units: tokens, blocks, seconds; rates are 0 to 1 and None without block ids.
    """
    seen: set[int] = set()
    sessions: set[str] = set()
    requests = asked = made = failed = largest = blocks = hits = hit_tokens = 0
    first = last = earliest = None
    for row in trace.rows:
        requests += 1
        asked += row.input_length
        made += row.output_length
        failed += row.output_length == 0
        largest = max(largest, row.input_length + row.output_length)
        if row.session:
            sessions.add(row.session)
        if row.time is not None:
            first = row.time if first is None else first
            earliest = row.time if earliest is None else min(earliest, row.time)
            last = row.time if last is None else max(last, row.time)
        if trace.block_size is not None:
            lead = next(
                (i for i, id in enumerate(row.hash_ids) if id not in seen),
                len(row.hash_ids),
            )
            blocks += len(row.hash_ids)
            hits += lead
            hit_tokens += min(lead * trace.block_size, row.input_length)
            seen.update(row.hash_ids)
    identity = trace.block_size is not None
    return {
        "trace_format": trace.format,
        "timestamp_unit": trace.unit,
        "n_requests": requests,
        "n_failed_zero_output": failed,
        "n_sessions": len(sessions) or None,
        "block_size": trace.block_size,
        "duration_s": None if last is None or earliest is None
        else round(last - earliest, 6),
        "first_timestamp": first if trace.unit == "s" else None,
        "total_input_tokens": asked,
        "total_output_tokens": made,
        "max_request_tokens": largest,
        "has_prefix_identity": identity,
        "total_blocks": blocks if identity else None,
        "unique_blocks": len(seen) if identity else None,
        "ideal_hit_blocks": hits if identity else None,
        "ideal_hit_tokens": hit_tokens if identity else None,
        "ideal_hit_rate_blocks": round(hits / blocks, 4) if blocks else None,
        "ideal_hit_rate_tokens": round(hit_tokens / asked, 4)
        if identity and asked else None,
    }  # fmt: skip


def _sharing(facts: dict[str, Any]) -> str:
    if not facts["has_prefix_identity"]:
        return "its rows have no prefix identity, so no hit rate can be derived"
    return (
        f"an endless cache could give {facts['ideal_hit_rate_tokens']:.1%} of the "
        "prompt tokens"
    )
