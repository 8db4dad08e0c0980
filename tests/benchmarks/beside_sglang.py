"""How fast is kvlab beside SGLang itself, in the same minutes on the same machine?

    pip download --no-deps sglang==0.5.14
    unzip -q sglang-0.5.14-*.whl -d sglang-0.5.14
    python tests/benchmarks/beside_sglang.py conversation_trace.jsonl sglang-0.5.14

In turns: SGLang 0.5.14's own RadixCache and allocator serve the first 2,000 requests
one by one from a pool of 3 M tokens; kvlab does the same; and kvlab's engine on a clock
serves the whole trace. Rates are requests per CPU-second on one thread: those of one
machine differ by half from hour to hour, the ratios of one run by far less. Of SGLang
only these classes are run; for what else its modules ask, a stand-in answers.
"""

from __future__ import annotations

import gc
import importlib
import importlib.abc
import importlib.machinery
import json
import statistics
import subprocess
import sys
import time
from array import array
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from kvlab.cli.parser import Help, Parser
from kvlab.config import EngineConfig
from kvlab.record.request_trace import read_requests, tokens_of
from kvlab.rules import Rules
from kvlab.run.replay_trace import replay_trace

REQUESTS, POOL = 2_000, 3_000_000
HERE = Path(__file__).parent
WANTED = ("radix_cache", "base_prefix_cache", "cache_init_params", "events", "utils",
          "evict_policy", "allocator")  # fmt: skip
"""The modules of sglang.srt.mem_cache that run; a stand-in answers for all others."""


class StandIn(ModuleType):
    """A module in which every name is an empty class."""

    __path__: Sequence[str] = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda self, *_, **__: None})


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes them, for SGLang's other modules and for Triton."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        parts = name.split(".")
        wanted = parts[:3] == ["sglang", "srt", "mem_cache"] and parts[3] in WANTED
        if parts[0] not in ("sglang", "triton") or wanted:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def sglang_at(folder: Path) -> Any:
    """Return SGLang's tree, its allocators and their words, from an unpacked wheel."""
    sys.meta_path.insert(0, StandIns())
    for depth, name in enumerate(("sglang", "sglang.srt", "sglang.srt.mem_cache")):
        package = sys.modules[name] = StandIn(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")[: depth + 1]))]
    names = ("radix_cache", "base_prefix_cache", "cache_init_params", "allocator")
    modules = [importlib.import_module(f"sglang.srt.mem_cache.{n}") for n in names]
    found: dict[str, Any] = {}
    for module in modules:
        found |= vars(module)
    return SimpleNamespace(**found)


def serve(sglang: Any, prompts: Sequence[array[int]], page: int) -> tuple[float, int]:
    """Let SGLang serve the prompts one by one; return requests per CPU-second, and hit
    tokens. Each is matched, locked, given room, inserted and released."""
    if page > 1:
        pool = sglang.PagedTokenToKVPoolAllocator(
            POOL, page, torch.int64, "cpu", None, False
        )
    else:
        pool = sglang.TokenToKVPoolAllocator(POOL, torch.int64, "cpu", None, False)
    tree = sglang.RadixCache(
        sglang.CacheInitParams(
            disable=False, req_to_token_pool=None, token_to_kv_pool_allocator=pool,
            page_size=page,
        )
    )  # fmt: skip
    gc.collect()
    hits, begin = 0, time.process_time()
    for prompt in prompts:
        key = sglang.RadixKey(prompt[: len(prompt) - 1], None)
        match = tree.match_prefix(sglang.MatchPrefixParams(key=key))
        cached, whole = len(match.device_indices), len(prompt) // page * page
        hits += cached
        tree.inc_lock_ref(match.last_device_node)
        need = whole - cached
        if pool.available_size() < need:
            tree.evict(sglang.EvictParams(num_tokens=need))
        slots = torch.cat([match.device_indices, pool.alloc(need)])
        key = sglang.RadixKey(prompt[:whole], None)
        known = tree.insert(sglang.InsertParams(key=key, value=slots)).prefix_len
        if known > cached:
            pool.free(slots[cached:known])
        tree.dec_lock_ref(match.last_device_node)
    return len(prompts) / (time.process_time() - begin), hits


def timed(trace: Path) -> float:
    """Return the rate of kvlab's engine on a clock over the whole trace."""
    command = [sys.executable, HERE / "timed_replay.py", trace, "--traced", "no"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    rate: float = json.loads(told.stdout)["requests_per_cpu_s"]
    return rate


def main() -> int:
    """Print the rates and their ratios; return 1 if the two hit different tokens."""
    parser = Parser(description=__doc__, formatter_class=Help)
    parser.add_argument("trace", type=Path)
    parser.add_argument("sglang", type=Path, help="the unpacked wheel of 0.5.14")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    sglang = sglang_at(arguments.sglang)
    requests = read_requests(arguments.trace, REQUESTS).requests
    prompts = [array("q", tokens_of(r).astype("int64").tobytes()) for r in requests]
    rates: dict[str, list[float]] = {}
    for _ in range(arguments.runs):
        for page in (1, 64):
            rate, hits = serve(sglang, prompts, page)
            rates.setdefault(f"SGLang, pages of {page}", []).append(rate)
            config = EngineConfig(pool_tokens=POOL, page_size=page, tree="radix")
            figures, _ = replay_trace(requests, config, Rules.v0_5_14())
            rates.setdefault(f"kvlab, pages of {page}", []).append(
                figures["requests_per_cpu_s"]
            )
            if figures["device_hit_tokens"] != hits:
                print(f"pages of {page}: SGLang hits {hits:,} tokens, kvlab others")
                return 1
        rates.setdefault("kvlab on a clock", []).append(timed(arguments.trace))
    told = rates["SGLang, pages of 1"]
    for name, found in rates.items():
        ratios = [ours / theirs for ours, theirs in zip(found, told, strict=True)]
        print(
            f"{name:20} {statistics.median(found):8,.0f} a CPU-second "
            f"({min(found):,.0f} to {max(found):,.0f}), "
            f"{statistics.median(ratios):.2f} of SGLang with pages of 1 "
            f"({min(ratios):.2f} to {max(ratios):.2f})"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
