"""How is the proof shown in one command?

        python -m kvlab.lessons.proof
        python -m kvlab.lessons.proof --latent --dtype bfloat16 --host-order page_first
        python -m kvlab.lessons.proof --fault gap --record gap.jsonl.gz

It prints three ways to one answer, what conversations came to, and how each planted
fault fails. With `--record` it writes the run of one fault, in which every op was
followed by a check: `kvlab play` shows the wrong slots, and `kvlab compare` with the
same story told by the sound cache (`--sound`) the event where they part.
Left out: speed. On CUDA the copies run on streams of their own (`--device cuda`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch

from ..errors import ConfigError, InputError
from ..record.trace_file import write_trace
from ..rule import DEFAULT
from ..rules import Rules
from ..run.model import Spec
from .command import command, parser
from .planted import FAULTS, tell
from .reuse import Setting, churn, other_chunks, paths


def prove(setting: Setting) -> tuple[dict[str, Any], bool]:
    """Return all findings, ready for JSON, and whether the proof holds and fails where
    a fault is planted."""
    ways, apart, talks = paths(setting), other_chunks(setting), churn(setting)
    holds = (
        all(way.same and way.rows == way.of for way in ways)
        and apart < setting.tolerance
    )
    holds = holds and not talks.strange and not talks.wrong and talks.said == talks.of
    faults = {}
    for name in FAULTS:
        how: dict[str, Any] = {
            "spec": setting.spec,
            "host_order": setting.host_order,
            "device": setting.device,
            "release": setting.release,
        }
        sound, harm = tell(name, planted=False, **how), tell(name, **how)
        holds = holds and not sound.wrong and sound.difference == 0.0
        holds = holds and bool(harm.wrong) and harm.difference > setting.tolerance
        faults[name] = {"line": harm.line, "difference": harm.difference}
    told = {
        "paths": [way._asdict() for way in ways],
        "other_chunks": apart,
        "conversations": talks._asdict(),
        "faults": faults,
        "holds": holds,
    }
    return told, holds


def report(setting: Setting, told: dict[str, Any]) -> str:
    """Return the findings as text."""
    spec, form = setting.spec, setting.spec.form
    kind = "MLA" if spec.rank is not None else "GQA"
    lines = [
        f"{kind}, {spec.layers} layers, {form.dtype}: {form.token_bytes} bytes of KV a "
        f"token; host {setting.host_order}, {setting.write_policy}, SGLang "
        f"{setting.release}, {setting.device}",
        "",
        "path         L1  loaded  computed  rows equal  logits",
    ]
    for way in told["paths"]:
        logits = "equal, every bit" if way["same"] else f"{way['difference']:.2g} apart"
        lines.append(
            f"{way['name']:10} {way['device_hit']:4} {way['loaded']:7} "
            f"{way['computed']:9} {way['rows']:4} of {way['of']:3}   {logits}"
        )
    talks, events = told["conversations"], told["conversations"]["events"]
    lines += [
        f"other chunks: logits {told['other_chunks']:.2g} apart at most, within "
        f"{setting.tolerance:g}: sums in another order",
        "",
        f"conversations: {talks['said']} of {talks['of']} answers equal the model's "
        f"without a cache; {talks['rows']:,} rows compared, {talks['strange']} differ",
        f"  {events['Demote']} demotions, {events['Load']} loads, {events['Split']} "
        f"splits, {events['Delete']} deletions, {events['EvictHost']} lost on L2",
        "",
        "planted faults (the sound cache: nothing wrong, no bit)",
    ]
    for name, fault in told["faults"].items():
        lines.append(f"  {name}: logits {fault['difference']:.2g} apart")
        lines.append(f"    {fault['line']}")
    return "\n".join([*lines, "", "holds" if told["holds"] else "FAILS"])


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Print the proof; 0 if it holds, 1 if not, 2 for what cannot be."""
    arguments = _parser().parse_args(argv)
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("highest")
    setting = _setting(arguments)
    if arguments.record is not None:
        return _record(setting, arguments)
    told, holds = prove(setting)
    print(
        msgspec.json.encode(told).decode() if arguments.json else report(setting, told)
    )
    return 0 if holds else 1


def _parser() -> argparse.ArgumentParser:
    options = parser("proof", __doc__)
    add = options.add_argument
    add("--latent", action="store_true", help="MLA instead of GQA")
    add("--dtype", default="float32", choices=("float32", "bfloat16", "fp8"))
    add("--host-order", default="layer_first", choices=("layer_first", "page_first"))
    add("--write-policy", default="write_through",
        choices=("write_through", "write_back"))  # fmt: skip
    add("--rules", default=DEFAULT, metavar="RELEASE", help="of SGLang")
    add("--device", default="cpu", help="cpu, or cuda where there is one")
    add("--json", action="store_true", help="print one JSON object")
    add("--record", type=Path, metavar="RUN", help="write a fault's run, to be played")
    add("--fault", default="early unlock", choices=tuple(FAULTS), help="which one")
    add("--sound", action="store_true", help="record its story with the sound cache")
    return options


def _setting(arguments: argparse.Namespace) -> Setting:
    device = arguments.device
    if device != "cpu" and not (device == "cuda" and torch.cuda.is_available()):
        built = device != "cuda" or torch.version.cuda is not None
        why = "" if built else f" (torch {torch.__version__} is built without CUDA)"
        raise ConfigError(f"no device {device!r} here{why}; use --device cpu")
    Rules.named(arguments.rules)
    spec = Spec(rank=16 if arguments.latent else None, dtype=arguments.dtype)
    return Setting(
        spec, arguments.host_order, arguments.write_policy, device, arguments.rules
    )


def _record(setting: Setting, arguments: argparse.Namespace) -> int:
    path: Path = arguments.record
    if path.is_dir():
        raise InputError(str(path), "a directory", "name a file")
    harm = tell(
        arguments.fault, planted=not arguments.sound, spec=setting.spec,
        host_order=setting.host_order, device=setting.device, release=setting.release,
    )  # fmt: skip
    write_trace(harm.trace, path)
    found = harm.line or "nothing is wrong"
    print(f"{path}: {len(harm.trace):,} events; {found}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
