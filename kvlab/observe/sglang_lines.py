"""What do SGLang's log lines say, from 0.2 to 0.5.23?

Batch lines (period or comma style), the four wordings of a retraction, what the engine
says at its start.
Left out: leaks (leak_lines.py), vLLM (vllm_lines.py).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from .fields import Layout, Plan, plan, read_fields
from .samples import Values

BATCH = re.compile(r"(?P<kind>Prefill|Decode) batch(?: ?\[\d+\])?[.,] ?(?=#|\S+ ?:|$)")
RETRACT = re.compile(
    r"(?P<test>Testing retraction\. )?"
    r"(?:(?:KV cache pool is full\. Retract requests|Decode out of memory happened)"
    r"\.(?: #|\s*$)|#retracted_reqs: )"
)
_COUNT = re.compile(r"#retracted_reqs: (\d+)")
_RATIO = re.compile(r"#new_token_ratio: (?P<before>\d\.\d+) -> (?P<after>\d\.\d+)\s*$")
_ABORTED = re.compile(r"#aborted_retracted_reqs: (\d+)")
_GAINED = re.compile(r"#new_tokens_gained: (\d+)")

_USAGES = {
    "token usage": "usage_kv",
    "full token usage": "usage_full",
    "swa token usage": "usage_swa",
    "mamba usage": "usage_mamba",
    "gpu token usage": "usage_gpu",
    "cpu token usage": "usage_cpu",
}
BINDING = ("usage_kv", "usage_full", "usage_swa", "usage_mamba", "usage_gpu")
"""The pools of which the fullest binds; the CPU one does not admit requests."""

_COMMON = _USAGES | {
    "#running-req": "running",
    "#queue-req": "queue",
    "#token": "tokens",
    "#full token": "tokens_full",
    "#swa token": "tokens_swa",
    "#gpu token": "tokens_gpu",
    "#cpu token": "tokens_cpu",
    "mamba num": "mamba_slots",
    "#prealloc-req": "prealloc",
    "#transfer-req": "transfer",
    "#retracted-req": "retracted_queue",
    "pre-allocated usage": "usage_prealloc",
    "#pending-token": "pending_tokens",
    "cuda graph": "", "cpu graph": "", "npu graph": "", "musa graph": "",
}  # fmt: skip
_PREFILL = _COMMON | {
    "#new-seq": "new_seqs",
    "#new-token": "new_tokens",
    "#cached-token": "cached_tokens",
    "cache hit rate": "hit_rate_logged",
    "input throughput (token/s)": "prompt_tps",
    "#unbootstrapped-req": "bootstrap",
    "#bootstrap-req": "bootstrap",
    "#prealloc-req": "bootstrap",
    "#transferring-req": "inflight",
    "#inflight-req": "inflight",
    "#replay-token": "", "#optimistic-req": "", "waiting-image-req": "",
    "est. prefill TFLOPS/s (per GPU)": "", "fwd occupancy": "",
}  # fmt: skip
_DECODE = _COMMON | {
    "gen throughput (token/s)": "gen_tps",
    "accept len": "accept_len", "accept rate": "", "cap len": "",
    "block accept len": "", "#cached-token": "", "fwd occupancy": "",
}  # fmt: skip
_ANY_USAGE = tuple(_USAGES)
_PERCENT = frozenset({"cache hit rate"})
_PREFILL_LAYOUT = Layout(
    _PREFILL,
    (("#new-seq",), ("#new-token",), ("#cached-token",), _ANY_USAGE, ("#queue-req",)),
    _PERCENT,
)
_OLD_PREFILL_LAYOUT = Layout(
    _PREFILL,
    (
        ("#new-seq",),
        ("#new-token",),
        ("#cached-token",),
        ("cache hit rate",),
        ("#running-req",),
        ("#queue-req",),
    ),
    _PERCENT,
)
"""0.2 has no usage on its prefill lines."""
_DECODE_LAYOUT = Layout(
    _DECODE,
    (("#running-req",), _ANY_USAGE, ("gen throughput (token/s)",), ("#queue-req",)),
)
_RUNS = {"running", "bootstrap", "inflight"}

_TAG = re.compile(r"\b(?:DP|TP|PP|EP|CP)\d+\b")
_DP = re.compile(r"\bDP(\d+)\b")


class Retraction(NamedTuple):
    """One line about a retraction. `test`: it was asked for, no pool was full."""

    before: str
    after: str
    values: Values
    test: bool


def tag_of(header: str) -> str:
    """Return the rank that printed a line, from what stands before the message.

    >>> tag_of("[2026-01-20 10:00:06 DP0 TP0 EP0] ")
    'DP0 TP0 EP0'
    """
    return " ".join(_TAG.findall(header))


def group_of(tag: str) -> str:
    """Return the scheduler that a rank belongs to: its data-parallel rank. All tensor
    ranks of one say the same."""
    found = _DP.search(tag)
    return f"DP{found[1]}" if found else ""


def read_batch(text: str) -> tuple[str, Values] | None:
    """Return kind and fields of a batch line, from "Prefill" or "Decode" on; None for
    one that is not whole. `usage` is that of the fullest pool, where one is said."""
    found = BATCH.match(text)
    if found is None:
        return None
    prefill, fields = found["kind"] == "Prefill", text[found.end() :]
    values = read_fields(fields, _PREFILL_LAYOUT if prefill else _DECODE_LAYOUT)
    if values is None and prefill:
        values = read_fields(fields, _OLD_PREFILL_LAYOUT)
    if values is None or (prefill and not _RUNS & values.keys()):
        return None
    if usages := [values[name] for name in BINDING if name in values]:
        values["usage"] = max(usages)
    return ("prefill" if prefill else "decode"), values


class BatchForm(NamedTuple):
    """What all batch lines of one form have in common: everything but the numbers."""

    kind: str
    tag: str
    slots: Plan
    binding: tuple[str, ...]


_HEADER = re.compile(r"\[\0-\0-\0 \0:\0:\0((?: [A-Z]+\d+)*)\] ")


@lru_cache(maxsize=256)
def batch_form(form: str) -> BatchForm | None:
    """Return what the lines of a form (see fields.split) say; None for one that is no
    whole batch line behind a time and a rank, and nothing else."""
    header = _HEADER.match(form)
    found = header and BATCH.match(form, header.end())
    if not header or not found or len([*BATCH.finditer(form)]) > 1:
        return None
    prefill = found["kind"] == "Prefill"
    slots = plan(form[found.end() :], _PREFILL_LAYOUT if prefill else _DECODE_LAYOUT)
    names = {slot[0] for slot in slots or () if slot}
    if slots is None or (prefill and not _RUNS & names):
        return None
    binding = tuple(name for name in BINDING if name in names)
    kind = "prefill" if prefill else "decode"
    return BatchForm(kind, header[1].strip(), (None,) * 6 + slots, binding)


def read_retraction(text: str) -> Retraction | None:
    """Return what a retraction line says; None for one that is not whole."""
    found = RETRACT.match(text)
    if found is None:
        return None
    ratio, count = _RATIO.search(text), _COUNT.search(text)
    test = found["test"] is not None
    if count is None or (ratio is None and not test):
        return None
    values: Values = {"retracted": 0.0 if test else float(count[1])}
    for name, pattern in (("aborted", _ABORTED), ("tokens_gained", _GAINED)):
        if said := pattern.search(text):
            values[name] = float(said[1])
    before, after = (ratio["before"], ratio["after"]) if ratio else ("", "")
    if ratio:
        values |= {"ratio_before": float(before), "ratio_after": float(after)}
    return Retraction(before, after, values, test)


# --- the start

_L2_AT_WORK = (
    r"host memory for hierarchical KV cache|Prefetch operation \S+ bytes|"
    r"Backup to storage completed"
)
"""Lines that only a server with a host tier writes."""
_CAPPED = re.compile(
    r"max_running_requests (?:is capped to|was reduced from requested \d+ to) (\d+)"
)
_SLOTS_EACH = re.compile(r"\b(\d+) state slots per request")
START = re.compile(
    rf"{_CAPPED.pattern}|"
    r"max_total_num_tokens=\d+, .*max_prefill_tokens=|server_args=|ServerArgs\(|"
    r"(?:KV|Mamba) Cache is allocated\.|" + _L2_AT_WORK
)
_SAID = {
    "max_total_num_tokens": "pool_tokens",
    "chunked_prefill_size": "chunk_tokens",
    "max_running_requests": "max_running_requests",
    "context_len": "context_len",
    "page_size": "page_size",
    "max_mamba_cache_size": "state_slots",
    "schedule_conservativeness": "conservativeness",
    "dp_size": "dp_size",
    "hicache_ratio": "hicache_ratio",
}
_SETTING = re.compile(rf"\b({'|'.join(_SAID)})(?:=|: )(-?\d+(?:\.\d+)?)(?=[,)\s]|$)")
_POOL = re.compile(r"KV Cache is allocated\. .*?#tokens: (\d+)")
_FLAG = re.compile(r"\b(disable_radix_cache|enable_hierarchical_cache)=(True|False)")


def read_start(text: str) -> Values:
    """Return what the engine says of itself when it starts, by our names."""
    values = {_SAID[name]: float(value) for name, value in _SETTING.findall(text)}
    if pool := _POOL.search(text):
        values.setdefault("pool_tokens", float(pool[1]))
    if capped := _CAPPED.search(text):
        values["max_running_requests"] = float(capped[1])
        if each := _SLOTS_EACH.search(text):
            values["slots_each"] = float(each[1])
    for name, value in _FLAG.findall(text):
        values[name] = float(value == "True")
    if re.search(_L2_AT_WORK, text):
        values["enable_hierarchical_cache"] = 1.0
    return {name: value for name, value in values.items() if value >= 0}
