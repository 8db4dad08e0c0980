"""Which lines of an engine are in this text, and what stands before each?

A text may hold a piece of one record, one, or several (two processes writing at once).
`find_records` cuts it at the places where a message of SGLang, vLLM or LMCache begins;
`read_record` says what one says, or that it is not whole.
Left out: joining pieces (lines.py), the formats themselves (sglang_lines.py and so on).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from . import sglang_lines, vllm_lines
from .fields import fill, split
from .samples import Values

_STARTS = (
    ("batch", " batch", sglang_lines.BATCH),
    ("retract", "etract", sglang_lines.RETRACT),
    ("retract", "memory happened", sglang_lines.RETRACT),
    ("stats", "Avg prompt", vllm_lines.STATS),
    ("preempted", "is preempted ", vllm_lines.PREEMPTED),
    ("hits", "hit rate: GPU", vllm_lines.HITS),
    ("lmcache", "LMCache", vllm_lines.LMCACHE),
)
"""Kind, a word that a line of it always has, where its message begins."""
HEADER = re.compile(
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\[\d\d:\d\d:\d\d|\(\w+ (?:rank=\d+ )?pid=|"
    r"(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)\b"
)


class Found(NamedTuple):
    """A record as it stands: which kind begins here, what is before it, its text."""

    kind: str
    header: str
    text: str


class Read(NamedTuple):
    """What a record says. `test`: a retraction that was asked for."""

    engine: str
    kind: str
    group: str
    tag: str
    values: Values
    key: tuple[str, str] | None = None
    test: bool = False
    aggregated: bool = False


def find_records(text: str) -> list[Found]:
    """Return the records that begin in the text, in order."""
    starts = sorted(
        {
            (start.start(), start.end(), kind)
            for kind, word, pattern in _STARTS
            if word in text
            for start in pattern.finditer(text)
        }
    )
    found, begin = [], 0
    for index, (first, behind, kind) in enumerate(starts):
        end = len(text)
        if index + 1 < len(starts):
            end = _cut(text, behind, starts[index + 1][0])
        found.append(Found(kind, text[begin:first], text[first:end]))
        begin = end
    return found


def _cut(text: str, first: int, last: int) -> int:
    """Return where the header of the next record begins: the first of those that stand
    together right before it."""
    at = last
    for found in HEADER.finditer(text, first, last):
        if last - found.start() <= 160:
            at = found.start()
            break
    return at


def read_at_once(text: str) -> tuple[Found, Read] | None:
    """Return the record of a line that is nothing but one batch line of SGLang, of a
    form that is known to be whole; None for any other. The same as the long way."""
    form, said = split(text)
    known = sglang_lines.batch_form(form)
    if known is None or len(known.slots) != len(said) or form.count("\0") != len(said):
        return None
    values = fill(known.slots, said)
    values["usage"] = max(values[name] for name in known.binding)
    at = text.index("] ") + 2
    group = sglang_lines.group_of(known.tag)
    if not _is_possible(values):
        return None
    found = Found("batch", text[:at], text[at:])
    return found, Read("sglang", known.kind, group, known.tag, values)


def read_record(found: Found) -> Read | None:
    """Return what the record says; None if it is not whole, or says what cannot be."""
    read = _read(found)
    return read if read is not None and _is_possible(read.values) else None


_MOST = {"usage": 1.1, "usage_cpu": 1.1, "hit_rate_logged": 1.0}
"""No share is larger; SGLang's may pass 1 by what a running batch borrows."""


def _is_possible(values: Values) -> bool:
    if min(values.values(), default=0.0) < 0:
        return False
    return not any(values[name] > _MOST[name] for name in _MOST.keys() & values.keys())


def _read(found: Found) -> Read | None:
    text = found.text.rstrip()
    if found.kind in ("batch", "retract"):
        return _read_sglang(found.kind, found.header, text)
    group = vllm_lines.group_of(found.header)
    if found.kind == "stats":
        values = vllm_lines.read_stats(text)
        many = vllm_lines.is_aggregated(found.header)
        return None if values is None else Read(
            "vllm", "stats", group, group, values, aggregated=many
        )  # fmt: skip
    if found.kind in ("preempted", "hits"):
        read = {"preempted": vllm_lines.read_preempted, "hits": vllm_lines.read_hits}
        values = read[found.kind](text)
        return None if values is None else Read("vllm", found.kind, group, "", values)
    said = vllm_lines.read_lmcache(text)
    return None if said is None else Read("vllm", said[0], group, "", said[1])


def _read_sglang(kind: str, header: str, text: str) -> Read | None:
    tag = sglang_lines.tag_of(header)
    group = sglang_lines.group_of(tag)
    if kind == "batch":
        said = sglang_lines.read_batch(text)
        return None if said is None else Read("sglang", said[0], group, tag, said[1])
    told = sglang_lines.read_retraction(text)
    if told is None:
        return None
    key = (told.before, told.after)
    return Read("sglang", "retract", group, tag, told.values, key, told.test)
