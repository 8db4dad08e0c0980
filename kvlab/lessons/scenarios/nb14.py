"""Which runs does notebook 14, What changed, and why, play?

Three scenes of an operator, each under the rules that it is given: a prompt that lacks
two slots, a prefix that comes home to a full device, and a host too small for a victim.
They are scripts, so that a release that would refuse to start with them plays them too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...config import EngineConfig
from ...record import events as ev
from ...record.trace import Trace
from ...rule import OLD
from ...rules import Rules
from ...run import script as sc
from ...run.whole import run_whole

A, B, C = range(100, 110), range(200, 210), range(300, 310)
NEWCOMER = range(400, 412)
X, Y, Z = range(1000, 1020), range(2000, 2030), range(3000, 3020)
_ALL = sc.EvictOp(64)


@dataclass
class Scene:
    """A script, its run, and what ended it early."""

    script: sc.Script
    trace: Trace
    fault: str | None


def scene(name: str, rules: str, knobs: dict[str, Any], ops: list[sc.AnyOp]) -> Scene:
    """Play the ops under the rules of that name.

    Raises: ConfigError for rules or settings that are none.
    """
    script = sc.Script(
        name=name, about="", config=EngineConfig.of(knobs), rules=Rules.named(rules),
        manual_dma=True, ops=ops,
    )  # fmt: skip
    return Scene(script, *run_whole(script))


def two_missing(rules: str = OLD, **knobs: Any) -> Scene:
    """Three cached prompts fill 30 of 40 slots; a fourth needs 12 and finds 10.

    Source: SGLang 0.5.14, mem_cache/common.py, evict_from_tree_cache.
    """
    settings = {"pool_tokens": 40, "tree": "radix", **knobs}
    ops = [sc.InsertOp(list(tokens)) for tokens in (A, B, C, NEWCOMER)]
    return scene("two slots missing", rules, settings, list[sc.AnyOp](ops))


def coming_home(rules: str = OLD, **knobs: Any) -> Scene:
    """X (20 tokens) lies on L2 alone, Y (30) on L1 alone; X is wanted on L1, where 2
    of 32 slots are free. L2 has 40, of which 20 are free. Then somebody asks for X.

    Source: SGLang 0.5.14, mem_cache/hiradix_cache.py, load_back.
    """
    settings = {
        "pool_tokens": 32, "host_tokens": 40, "write_policy": "write_back", **knobs,
    }  # fmt: skip
    ops: list[sc.AnyOp] = [
        sc.InsertOp(list(X)), _ALL, sc.InsertOp(list(Y)), sc.LoadBackOp(list(X)),
        sc.AckLoadOp(), sc.MatchOp(list(X)),
    ]  # fmt: skip
    return scene("coming home", rules, settings, ops)


def small_host(rules: str = OLD, **knobs: Any) -> Scene:
    """X (20 tokens) lies on L2 alone and fills it, Y (30) on L1 alone and fills that;
    Z (20) wants to be inserted.

    0.5.14 itself would not start with so small an L2; 0.5.23 warns.
    Source: SGLang 0.5.14, mem_cache/hiradix_cache.py, evict.
    """
    settings = {
        "pool_tokens": 30, "host_tokens": 20, "write_policy": "write_back", **knobs,
    }  # fmt: skip
    ops: list[sc.AnyOp] = [
        sc.InsertOp(list(X)), _ALL, sc.InsertOp(list(Y)), sc.InsertOp(list(Z)),
    ]  # fmt: skip
    return scene("a small host", rules, settings, ops)


SCENARIOS: dict[str, Callable[..., Scene]] = {
    "two_missing": two_missing, "coming_home": coming_home, "small_host": small_host,
}  # fmt: skip
PICTURES = (("14-before.svg", "coming_home", "load_back", "pool"),)


def served(trace: Trace) -> str:
    """Return what the request for X (node 1) got of `coming_home`: its KV `alone` or
    with Y kept, `both`; `wrong` KV; or `none`."""
    events = trace.events
    load = next((i for i, e in enumerate(events) if isinstance(e, ev.Load)), None)
    if load is None:
        return "none"
    if any(isinstance(e, ev.EvictHost) and e.node == 1 for e in events[:load]):
        return "wrong"
    gone = any(isinstance(e, ev.Delete) and e.node == 2 for e in events)
    return "alone" if gone else "both"


def admitted(trace: Trace) -> str:
    """Return what became of Z and of Y (node 2) in `small_host`: Y `kept` or `lost`,
    or Z in a `stall`."""
    if not any(isinstance(e, ev.Add) and e.node == 3 for e in trace.events):
        return "stall"
    gone = any(isinstance(e, ev.Delete) and e.node == 2 for e in trace.events)
    return "lost" if gone else "kept"
