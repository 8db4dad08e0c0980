"""How fast is the player in a real Chromium?

Prints, for runs of 10,000 and 1,000,000 events over 10,000 L1 slots and 20,000 L2
slots, and for as many of vLLM's over 10,000 blocks: bytes an event over an empty page;
time from navigation to the first picture; 200 key presses from the middle of the run,
one a frame, each until styles and layout of its frame are done, the first right after
opening; what a key costs the page's main thread in CPU time, for its own frame and
until the next key; real key presses until the frame that shows them is on the screen
(presses.py), in haste, after a rest and of a held key, and before all those of a page
that shows one digit, the floor of the method; seeks to random events; at how many of
1,000 random events (fewer in large pools) the state is the same from the front and from
the back; the heap; and drawing both pools at moments far apart, in all and for each
10,000 slots of the two pools together.
Small slots, all fragmented, are the worst case; a recorded run, SGLang's or vLLM's,
shows the usual one.
"""

from __future__ import annotations

import bisect
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.presses import (
    DIGIT,
    HASTE,
    HELD,
    REST,
    Press,
    pressed,
    told,
    told_presses,
    traced,
)
from lab_browser import chromium
from playwright.sync_api import Browser, Page

from kvlab import Workbench
from kvlab.block_config import BlockConfig
from kvlab.cli.parser import Help, Parser
from kvlab.record.trace import AnyTrace, BlockHeader, BlockTrace, Trace
from kvlab.record.trace_file import engine_of, read_block_trace, read_trace
from kvlab.run.accelerators import accelerator
from kvlab.run.block_timed_engine import TimedBlockEngine
from kvlab.run.cost import Cost
from kvlab.run.generators import poisson, shared_system
from kvlab.run.model_shapes import model_shape
from kvlab.run.workload import OpenLoop
from kvlab.views.page import to_html

KEYS = """async () => {
    const root = document.getElementById('kvlab'), took = [];
    root.focus();
    kvlab.show(Math.floor(kvlab.run.count / 2));
    for (let i = 0; i < 200; i++) {
        await new Promise(done => requestAnimationFrame(done));
        const began = performance.now();
        const key = {key: 'ArrowRight', bubbles: true};
        root.dispatchEvent(new KeyboardEvent('keydown', key));
        root.offsetHeight;  // styles and layout are part of the frame
        took.push(performance.now() - began);
    }
    return took;
}"""
COSTS = """async () => {
    const root = document.getElementById('kvlab');
    const frame = () => new Promise(done => requestAnimationFrame(done));
    for (let i = 0; i < 200; i++) {
        for (let k = 0; k < 3; k++) await frame();
        performance.mark('key');
        const key = {key: 'ArrowRight', bubbles: true};
        root.dispatchEvent(new KeyboardEvent('keydown', key));
    }
    await frame();
}"""
SEEKS = """() => {
    const took = [], n = kvlab.run.count;
    for (let i = 0; i < 200; i++) {
        const to = Math.floor(Math.abs(Math.sin(i * 12.9898) * 43758.5453 % 1) * n);
        const began = performance.now();
        kvlab.run.seek(to);
        took.push(performance.now() - began);
    }
    return took;
}"""
HASHED = 400_000_000
"""Places of a pool, slots or blocks, that are hashed in all to compare both ways."""
BOTH_WAYS = """(times) => {
    const { run } = kvlab, n = run.count;
    let same = 0;
    for (let i = 0; i < times; i++) {
        const e = Math.floor(Math.abs(Math.sin(i * 78.233) * 43758.5453 % 1) * n);
        const front = run.seek(0).seek(e).hash();
        if (run.seek(n).seek(e).hash() === front) same++;
    }
    return same;
}"""
DRAWS = """() => {
    const took = [];
    for (let i = 0; i < 60; i++) {
        kvlab.run.seek(Math.floor(kvlab.run.count * (0.3 + i / 100)));
        const began = performance.now();
        kvlab.drawPools();
        took.push(performance.now() - began);
    }
    return took;
}"""


def busy_run(events: int) -> Trace:
    """Return a run of about so many events: prompts that share prefixes, seeded."""
    bench = Workbench(name=f"{events} events", pool_tokens=10_000, host_tokens=20_000)
    draw = random.Random(7)
    while len(bench.trace) < events:
        family = draw.randrange(400)
        prompt = list(range(family * 1000, family * 1000 + draw.randrange(16, 64)))
        prompt += [draw.randrange(10**6) for _ in range(draw.randrange(16, 64))]
        if draw.random() < 0.3:
            bench.match(prompt)
        bench.insert(prompt)
        if draw.random() < 0.2:
            bench.ack_write()
    return bench.trace


def busy_blocks(events: int) -> BlockTrace:
    """Return a run of about so many events of vLLM's: conversations that share their
    first half, whose blocks come one at a time while they decode."""
    config = BlockConfig(num_gpu_blocks=10_001, hash_algo="chain64")
    trace = BlockTrace(BlockHeader(name=f"{events} events of blocks", config=config))
    cost = Cost(model_shape("llama-3-8b"), accelerator("h100"))
    asks = shared_system(
        events // 150, poisson(40.0, seed=7), length=2000, outputs=400, share=0.5,
        groups=100, spread=0.6,
    )  # fmt: skip
    TimedBlockEngine(config, cost, emit=trace).run(OpenLoop(asks))
    return trace


def run_of(what: str) -> AnyTrace:
    """Return a busy run of so many events, or the run in the file."""
    if what.startswith("blocks:"):
        return busy_blocks(int(what.removeprefix("blocks:")))
    if what.isdigit():
        return busy_run(int(what))
    return read_block_trace(what) if engine_of(what) == "vllm" else read_trace(what)


def costs(tab: Page) -> tuple[list[float], list[float]]:
    """Return the CPU milliseconds of each of 200 keys: of the task that handles it and
    makes its frame, and of all tasks until the next key.
    """
    kept = ["disabled-by-default-devtools.timeline", "blink.user_timing"]
    with traced(tab, kept) as events:
        tab.evaluate(COSTS)
    keys = [e for e in events if e["name"] == "key"]
    thread = keys[0]["pid"], keys[0]["tid"]
    mine = [e for e in events if (e["pid"], e["tid"]) == thread]
    marks = [e["ts"] for e in keys]
    tasks = [e for e in mine if e["name"] == "RunTask" and "tdur" in e]
    frame, whole = [0.0] * len(marks), [0.0] * len(marks)
    for task in tasks:
        end = task["ts"] + task["dur"]
        key = bisect.bisect(marks, end) - 1
        if key < 0:
            continue
        whole[key] += task["tdur"] / 1000
        if task["ts"] <= marks[key]:
            frame[key] += task["tdur"] / 1000
    return frame, whole


def floor(browser: Browser) -> list[Press]:
    """Return what key presses take where they change one digit."""
    tab = browser.new_page(viewport={"width": 1280, "height": 760})
    tab.set_content(DIGIT)
    took = pressed(tab, HASTE)
    tab.close()
    return took


def measure(trace: AnyTrace, browser: Browser, folder: str) -> None:
    """Print the figures of one run."""
    began = time.perf_counter()
    page = to_html(trace)
    print(f"{len(trace):,} events, written in {time.perf_counter() - began:.1f} s")
    path = Path(folder, "page.html")
    path.write_text(page, "utf-8")
    per_event = (path.stat().st_size - len(to_html(trace, length=0))) / len(trace)
    print(f"  page size      {per_event:.2f} bytes an event over an empty page")
    tab = browser.new_page(viewport={"width": 1280, "height": 760})
    began = time.perf_counter()
    tab.goto(path.as_uri())
    tab.wait_for_selector("[data-ready=true]", timeout=60_000)
    print(f"  opening        {time.perf_counter() - began:.2f} s")
    keys = tab.evaluate(KEYS)
    print(f"  key to frame   {told(keys)}; the first {keys[0]:.1f} ms")
    frame, whole = costs(tab)
    print(f"  CPU of a key   {told(frame)} for its frame; {told(whole)} in all")
    print(f"  key to paint   {told_presses(pressed(tab, HASTE))}")
    print(f"  after a rest   {told_presses(pressed(tab, REST))}")
    print(f"  a held key     {told_presses(pressed(tab, HELD))}")
    print(f"  seek           {told(tab.evaluate(SEEKS))}")
    places = sum(tab.evaluate("kvlab.log.pools"))
    times = min(1000, HASHED // places)
    same = tab.evaluate(BOTH_WAYS, times)
    print(f"  both ways      the same at {same:,} of {times:,} events")
    heap = tab.evaluate("performance.memory.usedJSHeapSize") / 1e6
    print(f"  heap           {heap:,.0f} MB")
    if not isinstance(trace, BlockTrace):
        drawn = tab.evaluate(DRAWS)
        slots = sum(tab.evaluate("kvlab.log.pools.map(n => n * kvlab.log.page)"))
        each = sorted(drawn)[len(drawn) // 2] / slots * 10_000
        print(f"  draw pools     {told(drawn)}; {each:.2f} ms for 10,000 of its slots")
    tab.close()


def main(runs: list[str]) -> None:
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        print(f"a digit's key to paint: {told_presses(floor(browser))}")
        for run in runs:
            measure(run_of(run), browser, folder)


if __name__ == "__main__":
    options = Parser(description=__doc__, formatter_class=Help)
    options.add_argument("runs", nargs="*", metavar="EVENTS|blocks:EVENTS|RUN",
        default=["10000", "1000000", "blocks:10000", "blocks:1000000"])  # fmt: skip
    main(options.parse_args().runs)
