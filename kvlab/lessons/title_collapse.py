"""Why does TTFT collapse while L2 is mostly empty?

The first article's title, played: Llama-3-70B on eight H100 shares a pool of 1.57 M
tokens; long prompts that share nothing arrive faster and faster, until more requests
want to run than the pool holds. Then each prescription is played against the same
requests.

        python -m kvlab.lessons.title_collapse            the table, over ten seeds
        python -m kvlab.lessons.title_collapse --seeds 2 --json
        python -m kvlab.lessons.title_collapse --figure title.svg    one run, over time

A window is 60 seconds of arrivals. *Calm* is the second window; the *collapse* is the
first whose P99 TTFT is ten times that of the calm one or more. L2's fill is read at the
end of that window, where it is highest.
Left out: other models and machines; they move the ceiling, not the order of events.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace
from tqdm import tqdm

from ..config import EngineConfig, WritePolicy
from ..errors import InputError
from ..files import replace_file
from ..rule import DEFAULT, OLD
from ..rules import Rules
from ..run.accelerators import accelerator
from ..run.cost import Cost
from ..run.generators import ramp, unique
from ..run.model_shapes import model_shape
from ..run.samples import Sample, Sampler
from ..run.tallies import Record, percentile
from ..run.timed_engine import TimedEngine
from ..run.workload import OpenLoop
from ..views.theme import Lang, State, Words
from ..views.time_axis import Panel, time_axis
from .command import command, parser

SECOND = 10**9
WINDOW = 60 * SECOND
PAGE = 64
POOL = 1_572_864
"""60 GiB on each of eight devices, at 320 KiB a token (article 1, section 1.1)."""


class Setting(Struct, frozen=True, kw_only=True):
    """One way to run the engine against the ramp. Units: tokens, requests."""

    name: str
    write_policy: WritePolicy = "write_back"
    pool_tokens: int = POOL
    host_tokens: int = 2 * POOL + PAGE
    kv_share: float = 1.0
    max_queued: int | None = None
    rules: str = DEFAULT


SETTINGS = (
    Setting(name="write_back"),
    Setting(name="write_through", write_policy="write_through"),
    Setting(name="selective", write_policy="write_through_selective"),
    Setting(
        name="selective, 0.5.14", write_policy="write_through_selective", rules=OLD
    ),
    Setting(name="twice the L2", host_tokens=4 * POOL + PAGE),
    Setting(name="twice the L1", pool_tokens=2 * POOL, host_tokens=2 * POOL + PAGE),
    Setting(name="half the KV", pool_tokens=2 * POOL, kv_share=0.5,
            host_tokens=4 * POOL + PAGE),
    Setting(name="queue of 8 at most", max_queued=8),
)  # fmt: skip
"""The first is the article's picture; those after the fourth are its prescriptions."""


class Finding(Struct, frozen=True, kw_only=True):
    """What one seed under one setting came to.

    Units: seconds; fills 0 to 1. `collapse_at` is the start of the window, None where
    P99 never rose tenfold; then `l2_fill` is that at the end of the last arrivals.
    """

    setting: str
    seed: int
    calm_p99: float
    worst_p99: float
    p99: float
    collapse_at: float | None
    l2_fill: float
    retractions: int
    peak_running: int
    peak_waiting: int
    turned_away: int


def play(
    setting: Setting, seed: int, *, requests: int = 240
) -> tuple[Finding, list[Sample], list[Record]]:
    """Run the ramp once; return what it came to, its samples and its requests."""
    config = EngineConfig(
        pool_tokens=setting.pool_tokens, host_tokens=setting.host_tokens,
        page_size=PAGE, write_policy=setting.write_policy, chunked_prefill_size=8192,
    )  # fmt: skip
    model = model_shape("llama-3-70b")
    model = replace(model, kv_bytes=int(model.kv_bytes * setting.kv_share))
    cost = Cost(model, accelerator("h100"), tp=8, link_rate=50e9)
    sampler = Sampler(SECOND)
    rules = Rules.named(setting.rules)
    engine = TimedEngine(
        config, rules, cost, sampler=sampler, max_queued=setting.max_queued
    )
    arrivals = ramp(0.1, 1.0, 300, seed)
    asks = unique(requests, arrivals, length=12288, outputs=6000, spread=0.2, seed=seed)
    engine.run(OpenLoop(asks))
    samples = sampler.samples
    return _finding(setting, seed, engine, samples), samples, engine.tallies.done


def _finding(
    setting: Setting, seed: int, engine: TimedEngine, samples: Sequence[Sample]
) -> Finding:
    tallies = engine.tallies
    windows = p99_by_window(tallies.done)
    calm = windows[1]
    after = [at for at, p99 in windows.items() if at > 1 and p99 >= 10 * calm]
    collapse = min(after, default=None)
    read_at = (max(windows) if collapse is None else collapse) + 1
    sample = samples[min(read_at * WINDOW // SECOND, len(samples) - 1)]
    return Finding(
        setting=setting.name,
        seed=seed,
        calm_p99=calm,
        worst_p99=max(windows.values()),
        p99=_p99(record.ttft for record in tallies.done),
        collapse_at=None if collapse is None else collapse * WINDOW / SECOND,
        l2_fill=sample.host_fill,
        retractions=tallies.retractions,
        peak_running=tallies.peak_running,
        peak_waiting=tallies.peak_waiting,
        turned_away=tallies.turned_away,
    )


def p99_by_window(records: Iterable[Record]) -> dict[int, float]:
    """Return each window's P99 TTFT in seconds, by the window's number."""
    windows: dict[int, list[int | None]] = {}
    for record in sorted(records, key=lambda record: record.arrival):
        windows.setdefault(record.arrival // WINDOW, []).append(record.ttft)
    return {number: _p99(ttfts) for number, ttfts in windows.items()}


def _p99(ttfts: Iterable[int | None]) -> float:
    known = sorted(ttft for ttft in ttfts if ttft is not None)
    return percentile(known, 0.99) / SECOND if known else 0.0


# --- the table

LEGEND = """\
240 requests, 0.1 a second at first and 1 a second after five minutes: prompts of some
12,288 tokens that share nothing, some 6,000 outputs. Means over the seeds.
calm, P99   P99 TTFT of the second minute's arrivals, and of all; vs first: this P99
            against the first line's
collapse    seeds in which a minute's P99 is ten times the calm one or more
L2 then     how full L2 is at the end of that minute (where none is: of the arrivals);
            most: in the fullest seed
retr        retractions; run, wait: most requests that ran, and that waited, at once;
            away: turned away by a full queue"""


def table(findings: Sequence[Finding]) -> str:
    """Return the means over the seeds, one line a setting, as text."""
    head = (
        f"{'setting':20} {'calm':>6} {'P99':>7} {'vs first':>8} {'collapse':>8} "
        f"{'L2 then':>7} {'most':>5} {'retr':>5} {'run':>4} {'wait':>4} {'away':>4}"
    )
    names = dict.fromkeys(finding.setting for finding in findings)
    groups = [[f for f in findings if f.setting == name] for name in names]
    first = fmean(finding.p99 for finding in groups[0])
    return "\n".join([head, *(_line(group, first) for group in groups)])


def _line(group: Sequence[Finding], first: float) -> str:
    def mean(field: str) -> float:
        return fmean(getattr(finding, field) for finding in group)

    collapsed = sum(finding.collapse_at is not None for finding in group)
    return (
        f"{group[0].setting:20} {mean('calm_p99'):5.1f}s {mean('p99'):6.1f}s "
        f"{mean('p99') / first - 1:+8.1%} {f'{collapsed}/{len(group)}':>8} "
        f"{mean('l2_fill'):7.0%} {max(f.l2_fill for f in group):5.0%} "
        f"{mean('retractions'):5.1f} {mean('peak_running'):4.0f} "
        f"{mean('peak_waiting'):4.0f} {mean('turned_away'):4.0f}"
    )


def figure(
    setting: Setting, seed: int, lang: Lang = "en", others: Sequence[Finding] = ()
) -> str:
    """Return one run over time as SVG: usage, queue, retractions, L2's fill, TTFT. What
    `others`, runs of other seeds, came to is told below."""
    finding, samples, records = play(setting, seed)
    firsts = [(r.arrival / SECOND, r.ttft / SECOND) for r in records if r.ttft]
    end = max(at for at, _ in firsts) * 1.3
    shown = [sample for sample in samples if sample.at <= end * SECOND]
    at = finding.collapse_at
    span = None if at is None else (at, at + WINDOW / SECOND)
    moment = shown[-1] if span is None else shown[min(int(span[1]), len(shown) - 1)]

    def share(name: Words, field: str, state: State) -> Panel:
        points = [(s.at / SECOND, 100 * float(getattr(s, field))) for s in shown]
        then = f"{float(getattr(moment, field)):.0%}"
        return Panel(
            name=name, points=points, top=100, unit=" %", state=state, reading=then
        )

    def count(name: Words, field: str) -> Panel:
        points = [(s.at / SECOND, float(getattr(s, field))) for s in shown]
        top, then = max(1.0, *(y for _, y in points)), f"{getattr(moment, field)}"
        return Panel(name=name, points=points, top=top, reading=then)

    panels = [
        share(Words("usage of L1", "L1 占用率"), "usage", "used"),
        count(Words("requests waiting", "排队请求"), "waiting"),
        count(Words("retractions so far", "累计撤回"), "retractions"),
        share(Words("fill of L2", "L2 占用率"), "host_fill", "host_only"),
        Panel(
            name=Words("TTFT, by arrival", "TTFT（按到达）"), points=firsts,
            top=round(max(ttft for _, ttft in firsts)), unit=" s", dots=True,
            reading=f"P99 {finding.calm_p99:.1f} → {finding.worst_p99:.0f} s",
        ),
    ]  # fmt: skip
    title = Words(
        f"L1 is full, L2 is {moment.host_fill:.0%} full, and requests wait",
        f"L1 满了，L2 才占 {moment.host_fill:.0%}，请求却在排队",
    )
    note = _note([finding, *others]).to(lang)
    return time_axis(panels, title, end=end, span=span, note=note, lang=lang)


def _note(findings: Sequence[Finding]) -> Words:
    """Say what the shaded minute is, and how the picture stands over the seeds."""
    fallen = [f for f in findings if f.collapse_at is not None]
    fills = [f.l2_fill for f in fallen] or [0.0]
    least, most = f"{min(fills):.0%}", f"{max(fills):.0%}"
    run, seed = findings[0].setting, findings[0].seed
    return Words(
        "Shaded: the first minute whose P99 is ten times the calm one; readings at its "
        f"end. {run}, seed {seed}; {len(fallen)} of {len(findings)} seeds collapse, "
        f"L2 then {least} to {most} full.",
        "阴影：P99 首次达到平静时十倍的那一分钟，读数取自其末尾。"
        f"{run}，种子 {seed}；{len(findings)} 个种子中 {len(fallen)} 个崩溃，"
        f"此时 L2 占用 {least} 至 {most}。",
    )


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; return the exit status."""
    options = parser("title_collapse", __doc__)
    options.add_argument("--seeds", type=int, default=10, metavar="N")
    options.add_argument("--json", action="store_true", help="print every finding")
    options.add_argument(
        "--figure", type=Path, metavar="SVG", help="draw seed 0; its note counts all"
    )
    options.add_argument("--lang", default="en", choices=("en", "zh"))
    arguments = options.parse_args(argv)
    if not 1 <= arguments.seeds <= 1000:
        raise InputError(
            f"--seeds {arguments.seeds}", "is out of range", "use 1 to 1000"
        )
    if arguments.figure is not None:
        others = [play(SETTINGS[0], seed)[0] for seed in range(1, arguments.seeds)]
        drawn = figure(SETTINGS[0], 0, arguments.lang, others)
        replace_file(arguments.figure, drawn.encode())
        return 0
    runs = [(s, seed) for s in SETTINGS for seed in range(arguments.seeds)]
    quiet = not sys.stderr.isatty()
    findings = [
        play(setting, seed)[0]
        for setting, seed in tqdm(runs, unit=" runs", disable=quiet)
    ]
    if arguments.json:
        listed: list[Any] = to_builtins(findings)
        print(json.dumps(listed))
    else:
        print(f"{table(findings)}\n\n{LEGEND}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
