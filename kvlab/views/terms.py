"""Which numbers does the card of a decision reckon with?

The fields of the event, as the engine compared them, and a few facts from the state
before it or from the settings. Nothing that the event tells is worked out again.
Left out: what is done with them (why.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..config import EngineConfig
from ..record import events as ev
from ..record.events import Decision
from ..record.snapshot import State
from . import theme
from .frame import node_of
from .markup import plain
from .why import Value


def terms_of(event: Decision, before: State) -> dict[str, Value]:
    """Return the terms of a decision by name, given the state before it."""
    terms = {
        name: _value(getattr(event, name))
        for name in event.__struct_fields__
        if name != "cause"
    }
    if isinstance(event, ev.Admit):
        terms["chunk_left"] = chunk_left(event)
    node = node_of(before, getattr(event, "node", 0))
    copied = node is not None and node.host_pages is not None
    above = None if node is None else node_of(before, node.parent)
    return {
        **terms,
        **facts_of(before.config),
        "host_free": before.host_account().available,
        "copied": int(copied),
        "uncopied": None if copied else 1,
        "parent_copied": int(above is None or above.host_pages is not None),
        "whole": whole_of(event, before) if isinstance(event, ev.Admit) else None,
        **_prefix_of(event, before),
    }


def _prefix_of(event: Decision, before: State) -> dict[str, Value]:
    """Of a chunk that goes on: the tokens that are `done`, and those `loaded` from L2
    that are still on their way. Where its prompt was found, the first prefill told.
    Of any chunk: those left to `later` ones."""
    known = isinstance(event, ev.Prefill) and before.requests.get(event.request)
    if not isinstance(event, ev.Prefill) or not known:
        return {"done": None, "later": None}
    total = known.prompt_len + known.outputs - event.extend
    if known.stage != "chunked":
        later = total - event.device_hit - event.loaded
        return {"done": None, "later": later if later > 0 else None}
    path = before.path(known.node)
    coming = sum(len(node.tokens) for node in path if node.loading is not None)
    later = total - known.kv_len
    return {
        "device_hit": None, "host_hit": None, "loaded": coming,
        "done": known.kv_len - coming, "later": later if later > 0 else None,
    }  # fmt: skip


def facts_of(config: EngineConfig) -> dict[str, Value]:
    """Return the facts that hold for a whole run; `counted` is None where the write
    policy counts no hits, `key_says` and `pass_says` name entries of why_cache.KEYS.
    Units: tokens."""
    write_back = config.tree == "hiradix" and config.write_policy == "write_back"
    return {
        "page_size": config.page_size,
        "host_total": config.host_pages * config.page_size,
        "write_back": int(write_back),
        "key_says": f"key {config.eviction_policy}",
        "pass_says": "key pass",
        "counted": None if config.write_policy == "write_back" else 1,
    }


def whole_of(event: ev.Admit, before: State) -> int | None:
    """Return the tokens not on L1 with which a request was tested, where what it
    brings was then cut to a chunk, else None. What comes from L2 is no cut."""
    known = before.requests.get(event.request)
    if known is None or not event.added:
        return None
    whole = known.prompt_len + known.outputs - event.device_hit
    if event.extend == whole:
        return None
    rest = event.extend == whole - event.host_hit
    return None if rest and _loads_from(event.device_hit, before) else whole


def _loads_from(start: int, state: State) -> bool:
    """Whether a load is under way that begins behind so many tokens of a prompt."""
    loading = (n.id for n in state.nodes.values() if n.loading is not None)
    return any(state.start_of(node) == start for node in loading)


def chunk_left(event: ev.Admit) -> int | None:
    """Return the chunk budget where that is what refused a request, else None."""
    return event.rem_chunk if event.line == "chunk_budget" else None


def key_text(key: tuple[int, ...] | tuple[float, ...]) -> str:
    """Return an eviction key as a card shows it: whole numbers, in parentheses.

    >>> key_text((1.0, 40.0))
    '(1, 40)'
    """
    return f"({', '.join(theme.num(int(part)) for part in key)})"


def _value(value: Any) -> Value:
    if isinstance(value, np.ndarray):
        return len(value)
    if isinstance(value, tuple):
        floats = all(isinstance(part, float) for part in value) and value
        return key_text(value) if floats else len(value)
    if isinstance(value, str):
        return plain(value)
    return int(value) if isinstance(value, bool) else value
