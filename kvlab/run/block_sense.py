"""Which operations of a script make no sense to the block manager or the CPU pool?

Where the real classes raise an assertion, or go on with a broken account, a script is
refused, with its place and what to do. What only the run shows (may this chunk be
read?) is asked there; the rest before anything runs.
Source: vLLM 0.33.0, v1/core/kv_cache_manager.py, v1/kv_offload/cpu/manager.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..blocks.chunk_pool import Answer, ChunkPool
from ..errors import InputError
from ..record.chunk_state import Key
from . import block_script as sc


def check_block_ops(scenario: sc.Scenario) -> None:
    """Refuse requests that nobody made, or made twice, and blocks that there are not.

    Raises: InputError.
    """
    known: set[str] = set()
    for number, op in enumerate(scenario.ops):
        here = f"{scenario.where}: ops[{number}]"
        match op:
            case sc.NewOp(id=id):
                if id in known or not op.tokens:
                    wrong = "has no tokens" if id not in known else "is made twice"
                    raise InputError(here, f"request {id!r} {wrong}", "make it anew")
                known.add(id)
            case sc.EvictOp(blocks=blocks):
                most = scenario.config.num_gpu_blocks - 1
                if any(not 1 <= block <= most for block in blocks):
                    raise InputError(here, f"blocks {blocks}", f"use 1 to {most}")
            case sc.ResetOp() | sc.StatsOp():
                pass
            case _ if op.id not in known:
                raise InputError(here, f"no request {op.id!r}", "make it with op new")
            case sc.AllocOp() if min(op.n, op.external, op.reserved) < 0:
                raise InputError(here, "a count below 0", "use 0 or more")


def check_chunk_ops(scenario: sc.Scenario) -> None:
    """Refuse keys that an operation names twice, or without their positions.

    Raises: InputError.
    """
    for number, op in enumerate(scenario.chunk_ops):
        here = f"{scenario.where}: ops[{number}]"
        if len({*op.keys}) < len(op.keys):
            raise InputError(here, "names a key twice", "name each once")
        if op.pos is not None and len(op.pos) != len(op.keys):
            raise InputError(
                here,
                f"{len(op.keys)} keys and {len(op.pos)} positions",
                "give one each",
            )


def check_alloc(here: str, op: sc.AllocOp, *, found: int, holds: bool) -> None:
    """Refuse an allocation of nothing, and a hit for who holds blocks already.

    Raises: InputError.
    """
    if not (op.n or op.external or found):
        raise InputError(here, f"{op.id!r} asks for no token", "give n")
    if holds and (found or op.external):
        raise InputError(
            here, f"{op.id!r} holds blocks already", "a hit comes before all others"
        )


def check_cached(here: str, id: str, length: int, held: int) -> None:
    """Refuse to make findable what the request has no blocks for.

    Raises: InputError.
    """
    if length > held:
        raise InputError(
            here, f"{id!r} has blocks for {held} tokens of {length}", "allocate first"
        )


def check_chunks(here: str, pool: ChunkPool, op: sc.ChunkOp) -> None:
    """Refuse to read chunks that are not here, and to end what nobody reads.

    Raises: InputError.
    """
    wrong: Sequence[Key] = []
    if op.op == "load":
        answers = zip(op.keys, pool.lookup(op.keys), strict=True)
        wrong = [key for key, answer in answers if answer is not Answer.HIT]
    elif op.op == "load_done":
        wrong = [key for key in op.keys if pool.refs.get(key, 0) < 1]
    if wrong:
        what = "not here to be read" if op.op == "load" else "not being read"
        raise InputError(here, f"chunks {wrong} are {what}", "look them up first")
