"""What does `kvlab replay --engine both` do?

It runs the same requests through SGLang's tree and through vLLM's blocks, one after the
other, and sets the figures side by side, each under its engine's own word.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..glossary import GLOSSARY
from ..record.request_trace import TracedRequest
from .shared import progress

Figures = dict[str, Any]
Run = Callable[..., tuple[Figures, Any]]

NAMED = {
    "device_hit_tokens": "device_hit", "host_hit_tokens": "host_hit",
    "loaded_back_tokens": "load", "computed_tokens": "extend",
    "backed_up_tokens": "write", "retractions": "retract",
}  # fmt: skip
"""Figures that the engines name differently, and their words in the glossary."""

FIGURES = (
    "requests", "input_tokens", "output_tokens", "device_hit_tokens",
    "host_hit_tokens", "loaded_back_tokens", "computed_tokens", "hit_rate",
    "evicted_tokens", "backed_up_tokens", "host_evicted_tokens", "lost_tokens",
    "retractions", "peak_running", "peak_waiting", "l2_peak_usage", "ttft_s",
    "virtual_s", "events", "requests_per_cpu_s",
)  # fmt: skip


def replay_both(
    runs: dict[str, Run], requests: Sequence[TracedRequest], **how: Any
) -> tuple[dict[str, Figures], dict[str, Any]]:
    """Run the requests through each engine; return figures and traces by engine."""
    figures, traces = dict[str, Figures](), dict[str, Any]()
    for engine, run in runs.items():
        with progress(len(requests), engine, " requests") as bar:
            figures[engine], traces[engine] = run(requests, progress=bar.update, **how)
    return figures, traces


def print_both(arguments: argparse.Namespace, figures: dict[str, Figures]) -> None:
    """Print one JSON object, or the table."""
    print(json.dumps(figures) if arguments.json else "\n".join(table(figures)))


def table(figures: dict[str, Figures]) -> list[str]:
    """Return the lines of the table: each engine's word and its figure.

    A figure that one engine lacks is a dash; digests are told in JSON alone.
    """
    sglang, vllm = figures["sglang"], figures["vllm"]
    vllm = vllm | {"retractions": vllm["preemptions"]}
    rows = [("SGLang", "", "vLLM", "")]
    for name in FIGURES:
        if name not in sglang and name not in vllm:
            continue
        values = [_shown(figures.get(name)) for figures in (sglang, vllm)]
        rows.append((_word(name, "sglang"), values[0], _word(name, "vllm"), values[1]))
    wide = [max(len(row[at]) for row in rows) for at in range(4)]
    return [
        f"{a:{wide[0]}}  {x:>{wide[1]}}    {b:{wide[2]}}  {y:>{wide[3]}}".rstrip()
        for a, x, b, y in rows
    ]


def beside(path: Path, engine: str) -> Path:
    """Return the path of one engine's run: its name before the endings.

    >>> beside(Path("a/run.jsonl.gz"), "vllm").name
    'run.vllm.jsonl.gz'
    """
    name, dot, endings = path.name.partition(".")
    return path.with_name(f"{name}.{engine}{dot}{endings}")


def _word(name: str, engine: Any) -> str:
    if name not in NAMED:
        return name.replace("_", " ")
    word = GLOSSARY[NAMED[name]].word(engine).split(",")[0]
    return word + (" tokens" if name.endswith("tokens") else ", times")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"P99 {value['p99']:,.3f}"
    if isinstance(value, float):
        return f"{value:,.3f}"
    return "–" if value is None else f"{value:,}"
