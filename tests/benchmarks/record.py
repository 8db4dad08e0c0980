"""How fast is a recorded run written, read and entered, and how large is it?

    python tests/benchmarks/record.py              a run of 1 M events made here
    python tests/benchmarks/record.py run.jsonl    a run of yours

The run made here keeps some 80,000 nodes that share 3,000 prefixes and needs no engine.
Times are CPU time of this process, so a busy machine disturbs them less; they are
printed, not judged.
"""

from __future__ import annotations

import random
import resource
import tempfile
from collections import deque
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from kvlab.cli.parser import Help, Parser
from kvlab.config import EngineConfig
from kvlab.pages import FreeList, Pages
from kvlab.record import events as ev
from kvlab.record.events import Tier
from kvlab.record.metrics import metrics
from kvlab.record.replay import Replay
from kvlab.record.trace import Header, Trace
from kvlab.record.trace_file import read_trace, write_trace
from kvlab.rules import Rules

NUM_EVENTS = 1_000_000
PAGE = 16
SEEKS = 200


class Maker:
    """Says what an engine would: prompts that share prefixes, cached, written to the
    host, evicted oldest first, and dropped from the host in the end."""

    def __init__(self) -> None:
        config = EngineConfig(
            pool_tokens=PAGE * 100_000, host_tokens=PAGE * 200_000, page_size=PAGE
        )
        header = Header(config=config, rules=Rules.v0_5_14(), name="benchmark")
        self.trace = Trace(header)
        self.dice = random.Random(0)
        self.device = FreeList.of_range(1, config.device_pages + 1)
        self.host = FreeList.of_range(0, config.host_pages)
        self.prefixes = [0]
        self.pages: dict[int, tuple[Pages, Pages]] = {}
        self.on_device: deque[int] = deque()
        self.on_host: deque[int] = deque()
        self.last = self.clock = 0

    def batch(self) -> None:
        """Insert eight new leaves below one of the prefixes."""
        say = self.trace
        parent = self.dice.choice(self.prefixes)
        self.clock += 10
        with say.of(ev.Step, self.last, "batch", ""):
            say(ev.Touch, parent, self.clock, 1)
            say(ev.Lock, parent)
            for _ in range(8):
                self.insert(parent, self.dice.randint(1, 4))
            say(ev.Unlock, parent)

    def insert(self, parent: int, size: int) -> None:
        """Insert one new leaf and write it to the host."""
        say = self.trace
        self.last += 1
        node, time = self.last, self.clock
        self.make_room(size)
        pages = self.take("L1", self.device, size)
        tokens = np.arange(size * PAGE, dtype=np.int32) + node * 4 * PAGE
        with say.of(ev.Insert, len(tokens), 0, False):
            say(ev.Add, node, parent, "", tokens, pages, 0, time, time + 1)
            say(ev.Hit, node)
            copies = self.take("L2", self.host, size)
            say(ev.Backup, node, copies)
            say(ev.Lock, node)
        say(ev.BackupDone, node)
        say(ev.Unlock, node)
        self.pages[node] = (pages, copies)
        if len(self.prefixes) < 3000:
            self.prefixes.append(node)
        else:
            self.on_device.append(node)

    def take(self, tier: Tier, free: FreeList, size: int) -> Pages:
        pages = free.take(size)
        assert pages is not None, f"{tier} has {len(free)} pages, not {size}"
        self.trace(ev.Alloc, tier, pages)
        return pages

    def make_room(self, size: int) -> None:
        while len(self.device) < size:
            node = self.on_device.popleft()
            self.on_host.append(node)
            self.leave(node, ev.Demote, "L1", self.device, self.pages[node][0])
        while len(self.host) < size:
            node = self.on_host.popleft()
            self.leave(node, ev.EvictHost, "L2", self.host, self.pages.pop(node)[1])

    def leave(
        self, node: int, kind: type[ev.Event], tier: Tier, free: FreeList, pages: Pages
    ) -> None:
        fate = kind.__name__.lower()
        self.trace(ev.Victim, node, len(pages) * PAGE, (float(node),), fate)
        self.trace(kind, node)
        self.trace(ev.Free, tier, pages)
        (free.put_first if tier == "L1" else free.put)(pages)


def made_run(num_events: int = NUM_EVENTS) -> Trace:
    """Return a run of about `num_events` events, the same on every machine."""
    maker = Maker()
    while len(maker.trace) < num_events:
        maker.batch()
    return maker.trace


def measure(trace: Trace) -> None:
    """Print the figures of the run. Cost: about half a minute for 1 M events."""
    before = _peak_memory()
    replay = _timed("make a Replay", lambda: Replay(trace))
    print(f"  {_peak_memory() - before:.0f} MiB of keyframes and state")
    dice = random.Random(1)
    _seek(replay, [dice.randrange(len(trace) + 1) for _ in range(SEEKS)])
    print(f"  {len(replay.at(len(trace)).nodes)} nodes at the end")
    print(_timed("metrics", lambda: metrics(trace)))
    with tempfile.TemporaryDirectory() as folder:
        for ending in (".jsonl", ".jsonl.gz"):
            path = Path(folder) / f"run{ending}"
            _timed(f"write {ending}", lambda path=path: write_trace(trace, path))
            size = path.stat().st_size
            print(f"  {size / 1e6:.1f} MB, {size / len(trace):.2f} bytes an event")
            _timed(f"read {ending}", lambda path=path: read_trace(path))


def _peak_memory() -> float:
    """Return the most memory this process ever had, in MiB (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _seek(replay: Replay, steps: list[int]) -> None:
    times = []
    for step in steps:
        begin = process_time()
        replay.at(step)
        times.append((process_time() - begin) * 1e3)
    times.sort()
    print(
        f"seek, {len(times)} random steps: median {times[len(times) // 2]:.1f} ms, "
        f"worst {times[-1]:.1f} ms"
    )


def _timed(what: str, work: Callable[[], Any]) -> Any:
    begin = process_time()
    answer = work()
    print(f"{what}: {process_time() - begin:.2f} s")
    return answer


if __name__ == "__main__":
    options = Parser(description=__doc__, formatter_class=Help)
    options.add_argument("run", type=Path, nargs="?", metavar="RUN")
    given = options.parse_args().run
    run = _timed("run", made_run) if given is None else read_trace(given)
    print(f"{len(run)} events")
    measure(run)
