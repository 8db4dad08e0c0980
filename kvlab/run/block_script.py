"""What can a script ask of a vLLM engine?

A script is a *scenario*: requests for the whole engine (mode `sched`), operations on
the block manager alone (`kv`) or on the CPU pool alone (`cpu`). A recorded golden
carries its scenario. A file is checked as a whole before anything runs.
Left out: carrying it out (block_runner.py, block_ops.py).
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ..block_config import BlockConfig, ChunkPolicy
from ..errors import ConfigError, InputError
from ..record.chunk_state import Key


class RequestSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """A request of a scenario. Units: `arrival` and `abort` in steps, `out` in tokens.

    It may end early: before step `abort` its client leaves, and a token of `stop` is
    its last. Of its first load the blocks from number `bad_load` on cannot be read.
    """

    id: str
    prompt: list[int]
    out: int
    arrival: int = 0
    priority: int = 0
    cache_salt: str | None = None
    skip_read: bool = False
    out_tokens: list[int] = []
    stop: list[int] = []
    abort: int | None = None
    bad_load: int | None = None


class BlockOp(Struct, frozen=True, tag_field="op"):
    """One operation on the block manager."""


class NewOp(BlockOp, frozen=True, tag="new"):
    """Make a request known and name its blocks."""

    id: str
    tokens: list[int]
    out: int = 1
    cache_salt: str | None = None
    skip_read: bool = False


class LookupOp(BlockOp, frozen=True, tag="lookup"):
    """Find the request's prefix and remember it."""

    id: str


class AllocOp(BlockOp, frozen=True, tag="alloc"):
    """Ask for slots for `n` tokens, behind the remembered hit if `use_hit`."""

    id: str
    n: int = 0
    use_hit: bool = False
    external: int = 0
    delay_cache: bool = False
    full_fit: bool = False
    reserved: int = 0
    has_scheduled: bool = True


class AppendOp(BlockOp, frozen=True, tag="append"):
    """Append output tokens."""

    id: str
    tokens: list[int]


class CacheBlocksOp(BlockOp, frozen=True, tag="cache_blocks"):
    """Register the full blocks within `n` tokens."""

    id: str
    n: int


class FreeOp(BlockOp, frozen=True, tag="free"):
    """Give the request's blocks back."""

    id: str


class PreemptOp(BlockOp, frozen=True, tag="preempt"):
    """Give the blocks back and forget what was computed."""

    id: str


class ResetOp(BlockOp, frozen=True, tag="reset"):
    """Forget all contents, if no block is used."""


class EvictOp(BlockOp, frozen=True, tag="evict"):
    """Forget the contents of these blocks."""

    blocks: list[int]


class StatsOp(BlockOp, frozen=True, tag="stats"):
    """Report the hit counts since the last report."""


AnyBlockOp = (
    NewOp | LookupOp | AllocOp | AppendOp | CacheBlocksOp | FreeOp | PreemptOp
    | ResetOp | EvictOp | StatsOp
)  # fmt: skip


class ChunkOp(Struct, frozen=True):
    """One operation on the CPU pool; `pos` are the positions of the keys."""

    op: str
    req: str = ""
    keys: list[Key] = []
    pos: list[int] | None = None
    ok: bool = True


class ChunkConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The knobs of the CPU pool. Units: chunks; offers for `store_threshold`."""

    num_chunks: int
    policy: ChunkPolicy = "lru"
    store_threshold: int = 0


class Scenario(Struct, frozen=True, kw_only=True):
    """A checked scenario, and what a recording adds to it.

    `where` names its file; `raw_ops` are the operations as the file has them;
    `records` and `summary` are None for a scenario that is not a golden.
    """

    name: str
    mode: str
    where: str = "the script"
    config: BlockConfig = BlockConfig()
    chunks: ChunkConfig | None = None
    record_blocks: bool = False
    max_steps: int = 5000
    requests: list[RequestSpec] = []
    ops: list[AnyBlockOp] = []
    chunk_ops: list[ChunkOp] = []
    raw_ops: list[dict[str, Any]] = []
    records: list[dict[str, Any]] | None = None
    summary: dict[str, Any] | None = None


_CHUNK_OPS = (
    "lookup", "store", "store_done", "load", "load_done", "touch", "finish", "reset",
)  # fmt: skip


def is_scenario(data: Any) -> bool:
    """Does a decoded file hold a vLLM scenario or golden?"""
    return isinstance(data, dict) and ("scenario" in data or "mode" in data)


def read_scenario(where: str, data: dict[str, Any]) -> Scenario:
    """Check a decoded scenario or golden; `where` names its file.

    Raises: InputError with file, what is wrong and what to do.
    """
    inner = data.get("scenario", data)
    try:
        scenario = _scenario(where, inner, data)
    except (msgspec.ValidationError, ConfigError) as error:
        raise InputError(where, str(error), "mend the scenario") from None
    _check(where, scenario)
    return scenario


def _scenario(where: str, inner: dict[str, Any], data: dict[str, Any]) -> Scenario:
    mode = inner.get("mode", "sched")
    config = dict(inner.get("config") or {})
    common = {
        "name": inner.get("name", ""),
        "mode": mode,
        "where": where,
        "raw_ops": inner.get("ops", []),
        "records": data.get("records"),
        "summary": data.get("summary"),
    }
    if mode == "cpu":
        chunks = msgspec.convert(config, ChunkConfig)
        ops = msgspec.convert(inner.get("ops", []), list[ChunkOp])
        return Scenario(**common, chunks=chunks, chunk_ops=ops)
    record_blocks = msgspec.convert(config.pop("record_blocks", False), bool)
    max_steps = msgspec.convert(config.pop("max_steps", 5000), int)
    return Scenario(
        **common,
        config=BlockConfig.of(config),
        record_blocks=record_blocks,
        max_steps=max_steps,
        requests=msgspec.convert(inner.get("requests", []), list[RequestSpec]),
        ops=msgspec.convert(inner.get("ops", []), list[AnyBlockOp]),
    )


def _check(where: str, scenario: Scenario) -> None:
    if scenario.mode not in ("sched", "kv", "cpu"):
        raise InputError(where, f"mode {scenario.mode!r}", "use sched, kv or cpu")
    seen: set[str] = set()
    for number, request in enumerate(scenario.requests):
        here = f"{where}: requests[{number}]"
        if not request.prompt or request.out < 1 or request.arrival < 0:
            raise InputError(
                here, "no prompt, out below 1 or arrival below 0", "give each"
            )
        if request.abort is not None and request.abort < request.arrival:
            raise InputError(here, "abort before arrival", "let it arrive first")
        if request.bad_load is not None and request.bad_load < 0:
            raise InputError(here, "bad_load below 0", "use 0 or more")
        l2 = scenario.config.l2
        if request.bad_load is not None and l2 and l2.connector == "offloading":
            raise InputError(
                here, "bad_load: no load of this connector fails", "leave it out"
            )
        if request.id in seen:
            raise InputError(here, f"a second request {request.id!r}", "name it anew")
        seen.add(request.id)
    for number, op in enumerate(scenario.chunk_ops):
        if op.op not in _CHUNK_OPS:
            known = ", ".join(_CHUNK_OPS)
            raise InputError(f"{where}: ops[{number}]", f"op {op.op!r}", f"use {known}")
