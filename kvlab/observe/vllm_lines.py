"""What do the log lines of vLLM (V0 and V1) and LMCache say?

The stats line of every interval, V0's warning of every 50th preemption, what the engine
says at its start, LMCache's lookups and stores.
Left out: SGLang (sglang_lines.py).
"""

from __future__ import annotations

import re

from .fields import Layout, read_fields
from .samples import Values

STATS = re.compile(r"Avg prompt throughput: ")
_KNOWN = {
    "Avg prompt throughput": "prompt_tps",
    "Avg generation throughput": "gen_tps",
    "Running": "running",
    "Waiting": "queue",
    "Pending": "queue",
    "Swapped": "swapped",
    "Deferred": "deferred",
    "Preemptions": "preemptions",
    "GPU KV cache usage": "usage",
    "CPU KV cache usage": "usage_cpu",
    "Prefix cache hit rate": "hit_rate_logged",
    "External prefix cache hit rate": "external_hit_rate_logged",
    "Corrupted": "", "MM cache hit rate": "",
}  # fmt: skip
_PERCENT = frozenset(name for name in _KNOWN if name.endswith(("usage", "hit rate")))
_LAYOUT = Layout(
    _KNOWN,
    (
        ("Avg prompt throughput",), ("Avg generation throughput",), ("Running",),
        ("Waiting", "Pending"), ("GPU KV cache usage",),
    ),
    _PERCENT,
)  # fmt: skip
_FETCH = re.compile(
    r"KV fetch: (\d{1,18}) waiting to start, (\d{1,18}) in progress, "
    r"(\d{1,18}) completed waiting, "
)
_ENGINE = re.compile(r"\bEngine (\d{1,9}): ?$")
_TAG_DP = re.compile(r"\b(?:EngineCore|Worker)_DP(\d{1,9})(?!\d)")
MANY = re.compile(r"\b(?P<count>\d+) Engines Aggregated: ?$", re.I)


def group_of(header: str) -> str:
    """Return the engine that a line speaks of; "" where it names none.

    >>> group_of("INFO 06-03 14:20:10 [loggers.py:271] Engine 001: ")
    'engine 1'
    """
    found = _ENGINE.search(header) or _TAG_DP.search(header)
    return f"engine {int(found[1])}" if found else ""


def is_aggregated(header: str) -> bool:
    """Say whether the line sums several engines: its usage is an average."""
    return MANY.search(header) is not None


def read_stats(text: str) -> Values | None:
    """Return the fields of a stats line; None for one that is not whole."""
    fetch = _FETCH.search(text)
    if fetch:
        text = text[: fetch.start()] + text[fetch.end() :]
    values = read_fields(text.strip().rstrip("."), _LAYOUT)
    if values is not None and fetch:
        values["kv_fetch"] = float(sum(int(count) for count in fetch.groups()))
    return values


# --- V0's second line, and its preemptions

HITS = re.compile(r"Prefix cache hit rate: GPU: ")
_HITS = re.compile(r"Prefix cache hit rate: GPU: (-?\d+\.\d+)%, CPU: (-?\d+\.\d+)%\s*$")


def read_hits(text: str) -> Values | None:
    """Return V0's hit rates, of a line of their own; -1 is unset and left out. So is 0
    for the CPU: V0 prints it whether or not prefixes are kept there. Where the CPU
    alone has hits, it is the device."""
    found = _HITS.match(text)
    if found is None:
        return None
    names = ("hit_rate_logged", "external_hit_rate_logged")
    values = dict(zip(names, (float(rate) for rate in found.groups()), strict=True))
    if values[names[0]] == 0 < values[names[1]]:
        values = {names[0]: values[names[1]]}
    return {
        name: round(rate / 100, 6)
        for name, rate in values.items()
        if rate > 0 or (rate == 0 and name == "hit_rate_logged")
    }


PREEMPTED = re.compile(r"Sequence group \S+ is preempted (?:by|in) PreemptionMode\.")
_CUMULATIVE = re.compile(r"total_num_cumulative_preemption=(\d+)\s*$")


def read_preempted(text: str) -> Values | None:
    """Return the lifetime count that V0 prints with every 50th preemption."""
    found = _CUMULATIVE.search(text)
    return {"preemptions_lifetime": float(found[1])} if found else None


# --- the start

START = re.compile(
    r"# GPU blocks: |GPU KV cache size: |Maximum concurrency for |num_gpu_blocks is: |"
    r"non-default args: |Available KV cache memory: |Overriding num_gpu_blocks|"
    r"Initializing a V1 LLM engine|cannot handle more requests|exceeds the capacity of "
    r"block_manager|is too long and exceeds"
)
_SAID = (
    ("pool_blocks", re.compile(r"# GPU blocks: (\d+)(?=,)")),
    ("cpu_blocks", re.compile(r"# CPU blocks: (\d+)\s*$")),
    ("pool_tokens", re.compile(r"GPU KV cache size: ([\d,]+) tokens")),
    ("max_concurrency_logged", re.compile(r"tokens per request: ([\d.]+)x")),
    ("context_len", re.compile(r"Maximum concurrency for ([\d,]+) tokens per request")),
    ("pool_blocks", re.compile(r"num_gpu_blocks is: (\d+)")),
    ("max_running_requests", re.compile(r"['\"]?max_num_seqs['\"]?[=:] ?(\d+)")),
    ("block_size", re.compile(r"['\"]?block_size['\"]?[=:] ?(\d+)")),
    ("prefix_caching", re.compile(r"enable_prefix_caching['\"]?[=:] ?(True|False)")),
)


def read_start(text: str) -> Values:
    """Return what the engine says of itself when it starts, by our names."""
    values: Values = {}
    for name, pattern in _SAID:
        if found := pattern.search(text):
            said = found[1].replace(",", "")
            values[name] = float(said == "True") if said.isalpha() else float(said)
    if "exceeds the capacity" in text or "is too long and exceeds" in text:
        values["refused_too_long"] = 1.0
    return values


# --- LMCache

LMCACHE = re.compile(
    r"Reqid: |Stored \d+ out of total |Retrieved \d+ out of |"
    r"Failed to allocate memory|Num retrieved tokens: "
)
_LOOKUP = re.compile(
    r"Reqid: \S+, Total tokens (\d+), LMCache hit tokens: (\d+), need to load: (-?\d+)"
)
_STORED = re.compile(r"Stored (\d+) out of total (\d+) tokens")
_SHORT = re.compile(r"Num retrieved tokens: (\d+), num expected tokens: (\d+)(?!\d)")
_RETRIEVED = re.compile(r"Retrieved (\d+) out of (?:\d+ )?(?:required )?(?:tokens)?")


def read_lmcache(text: str) -> tuple[str, Values] | None:
    """Return kind and numbers of an LMCache line; None for one that is not whole.

    `need to load` may be negative: the GPU holds a block that L2 would have to give.
    """
    if found := _LOOKUP.match(text):
        return "lookup", {
            "lookup_tokens": float(found[1]),
            "lookup_hits": float(found[2]),
        }
    if found := _STORED.match(text):
        return "store", {"stored_tokens": float(found[1])}
    if found := _RETRIEVED.match(text):
        return "retrieve", {"retrieved_tokens": float(found[1])}
    if found := _SHORT.match(text):
        given, promised = (float(number) for number in found.groups())
        return "l2_short", {"given_tokens": given, "promised_tokens": promised}
    if text.startswith("Failed to allocate memory"):
        return "l2_refused", {"l2_refusals": 1.0}
    return None
