"""Are the figures of the real SGLang on whole request traces reproduced?

    python tests/benchmarks/scale.py scale.json traces/ [part of an id]

Replays every SGLang configuration of the file, or those whose id contains the part,
and prints OK or each figure that differs: recorded, then replayed. Exit 1 if any does.
All of them take about a minute.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from kvlab.cache.radix import RadixCache
from kvlab.cli.parser import Help, Parser
from kvlab.config import EngineConfig
from kvlab.record.metrics import tree_digest
from kvlab.record.request_trace import (
    TracedRequest,
    read_requests,
    tokens_of,
    unit_tokens_of,
)
from kvlab.rules import Rules
from kvlab.run.engine import Engine
from kvlab.run.serial import SerialReplay

UNLIMITED = 1_000_000
"""Units of a pool whose capacity is given as null."""

Figures = dict[str, Any]


def main(scale: Path, traces: Path, part: str = "") -> int:
    """Replay the configurations; return 1 if a figure differs."""
    data = json.loads(scale.read_text())
    files = {
        name: Path(facts["file"]) for name, facts in data["meta"]["traces"].items()
    }
    wrong = 0
    for config in data["configs"]:
        if config["engine"] != "sglang" or part not in config["id"]:
            continue
        begin = time.perf_counter()
        requests = read_requests(traces / files[config["trace"]].name)
        found = replayed(config, requests.requests[: config["requests"]])
        differing = list(differences(config["result"], found))
        took = time.perf_counter() - begin
        print(f"{config['id']}: {'; '.join(differing) or 'OK'} ({took:.1f} s)")
        wrong += bool(differing)
    return int(wrong > 0)


def engine_config(config: Figures) -> EngineConfig:
    """Return the settings of a configuration; a radix tree has no host."""
    pool = config.get("pool", config.get("capacity"))
    page = config["page"]
    return EngineConfig(
        pool_tokens=UNLIMITED if pool is None else pool // page * page,
        page_size=page,
        tree=config["tree"],
        hicache_ratio=config.get("host_ratio", 2.0),
        eviction_policy=config["policy"],
        write_policy=config.get("write_policy", "write_through"),
    )


def replayed(config: Figures, requests: tuple[TracedRequest, ...]) -> Figures:
    """Serve the requests and return the figures under the names of the file."""
    engine = Engine(engine_config(config), Rules.v0_5_14(), mode="ledger")
    unit = config["mode"] == "unit"
    replay = SerialReplay(engine, unit=unit, engine_room=config["need"] == "engine")
    lines, before = sha256(), (0, 0, 0)
    for number, request in enumerate(requests):
        replay.serve(unit_tokens_of(request) if unit else tokens_of(request))
        after = hits(replay)
        own = [a - b for a, b in zip(after, before, strict=True)]
        lines.update(f"{number} {' '.join(map(str, own))}\n".encode())
        before = after
    return {
        **{name: getattr(replay.sums, name) for name in vars(replay.sums)},
        **totals(engine.cache),
        "requests_sha256": lines.hexdigest(),
        "tree_sha256": tree_digest(engine.cache.tree_lines()),
        "final": final(engine),
    }


def hits(replay: SerialReplay) -> tuple[int, int, int]:
    sums = replay.sums
    return sums.device_hit_tokens, sums.host_hit_tokens, sums.loaded_back_tokens


def totals(cache: RadixCache) -> Figures:
    sums = cache.totals
    return {
        "evicted_tokens": sums.evicted,
        "backed_up_tokens": sums.backed_up,
        "host_evicted_tokens": sums.host_evicted,
        "lost_tokens": sums.lost,
    }


def final(engine: Engine) -> Figures:
    """Return the sizes after the last request."""
    cache = engine.cache
    nodes = cache.tree.nodes()
    device = [len(node.key) for node in nodes if not node.evicted]
    host = [len(node.key) for node in nodes if node.backed_up]
    both = [len(n.key) for n in nodes if n.backed_up and not n.evicted]
    return {
        "device_total": cache.allocator.total,
        "device_available": cache.allocator.available,
        "device_evictable": cache.evictable_size,
        "device_protected": cache.protected_size,
        "device_tokens_in_tree": sum(device),
        "nodes": len(nodes),
        "nodes_on_device": len(device),
        "host_total": engine.host_total,
        "host_available": engine.host_available,
        "host_tokens_in_tree": sum(host),
        "nodes_on_host": len(host),
        "nodes_on_both": len(both),
        "tokens_on_both": sum(both),
    }


def differences(recorded: Figures, found: Figures) -> Iterator[str]:
    """Yield every figure that both name and that differs."""
    for name in found.keys() & recorded.keys():
        if name == "final":
            yield from differences(recorded[name], found[name])
        elif recorded[name] != found[name]:
            yield f"{name} {recorded[name]}, not {found[name]}"


if __name__ == "__main__":
    options = Parser(description=__doc__, formatter_class=Help)
    options.add_argument("scale", type=Path, metavar="SCALE.JSON")
    options.add_argument("traces", type=Path, metavar="FOLDER")
    options.add_argument("part", nargs="?", default="", help="of an id")
    sys.exit(main(**vars(options.parse_args())))
